# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.graphs.graph_handles cimport GraphBox

# Return the cause as (explanation, remedy) for raise_explained: of the refusal of an edge between nodes of different graphs,
# and of a join of the node `self` with `nodes`, None if it is unknown.
cdef tuple cause_of_other_graph(GraphBox* graph, GraphBox* other)
cdef tuple cause_of_join(object self, tuple nodes)
