# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""C++ handles of graph definitions, nodes and executables, with the records that the driver does not keep.

Other rooms may import:
    definition     definitions and their hierarchy
    executable     executables: launches, parameters, updates
    graph_handles  Cython declarations of this room
    node_spec      the parameters and owners of a node that is made or set
"""
