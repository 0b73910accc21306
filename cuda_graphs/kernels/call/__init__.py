# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of kernels, with one strategy each for captures, replays and launches.

Other rooms may import:
    call_hooks        the hook that tapes set
    capture_strategy  calls as nodes of a graph; gradients derive from it
    compile_all       cg.compile_all
    decorator         cg.kernel
    function          KernelFunction
    kernel_registry   cg.reset
    launch_strategy   calls that launch their tasks; gradients derive from it
"""
