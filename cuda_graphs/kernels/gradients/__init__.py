# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Tapes, forward mode, calls of gradient kernels and their memory.

Other rooms may import:
    ad        cg.ad: tapes and forward mode
    gradient  GradientFunction, the gradient of one kernel
"""
