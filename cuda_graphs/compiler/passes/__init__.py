# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Passes over the IR between the frontend and LLVM. A pass takes a kernel or program and returns a new one."""
