# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The kernel compiler: types, and what turns Python functions into code for CPUs and GPUs.

What belongs here is pure Python on top of llvmlite that knows no driver, no device and no graph, and imports nothing
else of cuda_graphs. What ties compiled kernels to graphs does not belong here: it goes above this folder.
"""
