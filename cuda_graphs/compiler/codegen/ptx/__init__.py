# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Tasks as PTX kernels.

Other rooms may import:
    ptx_exchange  reductions between GPUs, also as a kernel of their own
    ptx_target    the target Ptx
"""
