# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Analyses of a whole module or function that run before lowering.

Other rooms may import:
    bounds_guard  the guard of a kernel, and the threads that pass it
    call_graph    callees, with a summary of each function
    layout        offsets of shared variables
    parallel      whether accesses of different threads are independent
    pointers      registers that hold pointers
"""
