# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes and their kinds, their edges, and the methods that add nodes.

Other rooms may import:
    access_ranges    the accesses of nodes
    callback         host callbacks
    condition_tests  flags and predicates of conditional nodes
    insertion_point  InsertionPoint, the methods that add nodes; the objects of nodes and graphs
    labels           names of nodes, and labels of embedded graphs
    launch_guards    objects that see the launches of executables, and may refuse them
    memory_nodes     the nodes that allocate, free, fill and copy memory
    node             GraphNode
    node_call        NodeCall, the call of a compiled kernel that has made nodes
    node_classes     the table of the classes of nodes, and of GraphDef
    node_kinds       the classes of nodes, one per kind
    node_sequence    NodeSequence, nodes that run in the order in which they were added
    node_type        GraphNodeType
    options          options of graph calls
    place_memory     memory of its own for the array of an alloc node whose address was read
    places           arrays of alloc nodes that have no address yet
    protocols        Definition, the type of a GraphDef in modules below it
    restoring        functions for saved definitions and `diff`
    sized_config     SizedConfig, a config that follows the values of parameters
    spec             from Python values to a NodeSpec, one function per kind
"""
