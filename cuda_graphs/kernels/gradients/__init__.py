# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Tapes, forward mode, calls of gradient kernels and their memory."""
