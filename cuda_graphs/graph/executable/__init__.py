# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Graph, the executable form of a definition: its nodes, parameter values and updates.

Other rooms may import:
    difference        properties of nodes that are compared
    early_nodes       Nodes that begin early.
    executable        Graph
    explanation       GraphExplanation
    fused_nodes       Nodes that run as one launch.
    loop_control      The words that end the loops of an executable.
    executable_nodes  nodes of executables
    loop_count        LoopCount
"""
