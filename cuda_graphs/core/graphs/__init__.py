# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""C++ handles of graph definitions, nodes and executables, with the records that the driver does not keep.

Other rooms may import:
    definition        Graphs that can be changed, and their nodes.
    definition_shape  Changes of a definition that executables notice.
    executable        Executable graphs.
    graph_handles     Cython declarations of this room.
    graph_memory      The memory of alloc nodes.
    launch_watch      The executables that are launched while a profile is recorded.
    named_parameter   Named parameters and their values.
    node_order        The order of edges.
    node_spec         The parameters of a node that is made or set.
    value_type        The types of named parameters.
"""
