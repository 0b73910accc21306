# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Graph kernels: nodes for the tasks of a kernel, launches of the executable graph, statistics.

Other rooms may import:
    checkpoints   labels of checkpoints, and CheckpointStatus
    emission      the nodes of a kernel in a graph
    graph_stats   GraphStats
    host_calls    calls of host objects between the tasks
    lowering      the lowering of control flow for the current device, and its reason
    replay        the executable graph of a specialisation
    temporaries   memory for the temporary arrays of a graph
"""
