# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""From IR to LLVM, and from there to x86 code or PTX.

Other rooms may import:
    ptx  code for GPUs
    x86  code for this CPU
"""
