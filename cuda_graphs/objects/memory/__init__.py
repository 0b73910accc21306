# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Buffers, the memory resources that allocate them, and views of other libraries' arrays."""
