# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.capture.capture_handles cimport CapturedCall
from cuda_graphs.core.graphs.graph_handles cimport GraphBox, NodeKind, NodeRecord

# Raises ValueError if `graph` is in the body of a conditional node and bodies do not hold nodes of this kind. `name` is
# the name of the new node, or None.
cdef inline int check_fits_body(GraphBox* graph, NodeKind kind, object name) except -1:
    return 0 if graph.holder == NULL else check_kind_fits_body(graph, kind, name)
cdef int check_kind_fits_body(GraphBox* graph, NodeKind kind, object name) except -1

# Does the same for the node that a captured call will make.
cdef int check_call_fits_body(CapturedCall& call, NodeKind kind, object name=*) except -1

# Returns True if a node of `device` may be added to `graph`: unless the graph is in the body of a conditional node of
# another device. kNoDevice fits everywhere.
cdef bint device_fits_body(GraphBox* graph, int device) noexcept

# Raises ValueError for a new node of this kind that `device_fits_body` forbids. `name` is the name of the node, or None.
cdef int refuse_device(GraphBox* graph, int device, NodeKind kind, object name) except -1

# Raises the same error if `device_fits_body` is False.
cdef int check_device_fits_body(GraphBox* graph, int device, NodeKind kind, object name) except -1

# Returns the innermost conditional node around the graph, or NULL.
cdef NodeRecord* holder_of_body(GraphBox* graph) noexcept

# Raises ValueError as above for a copy of the GraphDef `child`.
cdef int check_copy_fits_body(GraphBox* graph, object child) except -1
