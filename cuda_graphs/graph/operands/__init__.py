# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Operands of nodes: arguments, named parameters, copies and fills, and the bytes that they access."""
