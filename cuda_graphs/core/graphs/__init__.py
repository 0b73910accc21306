# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""C++ handles of graph definitions, nodes and executables, with the records that the driver does not keep.

Other rooms may import:
    definition     Graphs that can be changed, and their nodes.
    graph_handles  Cython declarations of this room.
    launch_watch   The executables that are launched while a profile is recorded.
    node_spec      The parameters of a node that is made or set.
"""
