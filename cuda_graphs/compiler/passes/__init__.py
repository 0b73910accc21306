# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Passes over the IR between the frontend and LLVM. A pass takes a kernel or program and returns a new one.

Other rooms may import:
    copy                  the base of passes that copy statements
    alias_classes         arrays that may be the same memory
    check_sections        independence of sections
    conditions_in_memory  conditions as memory
    debug                 checks of indices
    demote_atomics        atomics on elements of one iteration
    fuse_tasks            neighbouring tasks as one pass over memory
    fuse_tests            tests of conditions in the last task
    gather_additions      sums of what iterations add to their neighbours
    index_spaces          indices as a value plus a number
    limit_recursion       most calls of functions inside one another
    limit_loops           most iterations of loops between tasks
    lower_random          random numbers as operations
    make_resident         several tasks in one launch
    mark_bins             private bins of histograms
    mask_loops            loops whose iterations the host begins in advance
    offload               tasks
    privatise_atomics     sums of each thread
    propagate             constants and locals that are written once
    report                failed asserts
    stop_loops            words that end loops
    split_at_barriers     regions between barriers
"""
