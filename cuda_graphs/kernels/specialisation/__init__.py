# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Specialisations: the code of a kernel for one combination of argument types. The arguments of a call select it.

Other rooms may import:
    constants       template values and their numbers
    field_names     the program's names of fields in messages
    guards          captured values that code depends on
    options         the options of a kernel
    origins         the origins of compiled kernels
    own_attributes  objects whose attributes are unchanged
    readers         from Python arguments to leaves and keys
    snapshots       results of functions of template values, until the values change
    specialisation  the code of a kernel for one signature
    specialiser     finds or compiles the specialisation of a call
    task_size       the grids of tasks in a graph with parameters
"""
