# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The syntax tree to LLVM text: functions, entries and the helper functions that they call.

Other rooms may import:
    barrier_state    records of threads that wait
    clusters         functions for clusters
    entry            the entry of a kernel
    function         lowers one function
    instrumentation  the instrumentation that the driver asks for
    interpolator     functions of a GPU's special function unit
    mbarriers        functions for mbarrier objects
    module_context   all that the functions of a module share
    rounding         results in the four rounding modes
    services         calls of the driver's services
    table            the table of instructions
"""
