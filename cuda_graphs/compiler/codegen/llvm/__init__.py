# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""LLVM text for tasks: all that the two targets share.

Other rooms may import:
    bins         private bins of histograms
    block_loops  loops of blocks of threads
    emitter      the emitter of a task
    large_tasks  the size of tasks
    load_hoisting  loads before computations, and short iterations
    notation     types, numbers and fast-math flags
    resident     resident tasks, and the parameters of entries
    target       the interface of target machines
"""
