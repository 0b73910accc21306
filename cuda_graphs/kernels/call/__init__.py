# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A call of a kernel: arguments, the specialisation that fits, and its launch.

Other rooms may import:
    arguments         from Python arguments to leaves and keys
    call_hooks        the hook that tapes set
    capture_strategy  calls as nodes of a graph; gradients derive from it
    compile_all       cg.compile_all
    decorator         cg.kernel
    field_names       the program's names of fields in messages
    function          KernelFunction
    kernel_registry   cg.reset
    launch_strategy   calls that launch their tasks; gradients derive from it
    specialisation    the code of a kernel for one signature
"""
