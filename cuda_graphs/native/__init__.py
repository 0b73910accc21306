# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Native code, for the kernel compiler and for the PTX translator of the host driver: LLVM IR as text -> object file ->
code in this process, and the disk cache between processes.

This package knows neither of its users, and imports nothing else of cuda_graphs.
"""
