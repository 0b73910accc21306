# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.driver.cuda cimport CUgraph, CUgraphNode
from cuda_graphs.core.graphs.graph_handles cimport (
    Dependencies,
    GraphBox,
    NodeHandle,
    NodeKind,
    NodeRecord,
    NodeReference,
    NodeSpec,
    Owners,
    OwnerSlot,
)
from cuda_graphs.graph.operands.condition cimport Condition
from .condition_tests cimport ConditionTest
from cuda_graphs.graph.operands.loop_counter cimport LoopCounter


cdef class InsertionPoint:
    cdef NodeReference _ref  # the node to add after; the entry node for a definition
    cdef object __weakref__

    cdef NodeRecord* _record(self) except NULL

    # Returns the graph to add to. Raises RuntimeError if the node, or the graph around it, was destroyed.
    cdef GraphBox* _open(self) except NULL

    # Adds the node of a spec. `name` is a str or None. `edge` is an EdgeData, or None for a full edge.
    cdef InsertionPoint _add(self, NodeSpec& spec, object name, object edge)

    # Adds the node of a spec with these dependencies to the graph of `_open`. `edge` is the EdgeData of the dependencies, for
    # messages, or None.
    cdef InsertionPoint _add_after(
        self, GraphBox* graph, NodeSpec& spec, const Dependencies& place, object name, object edge)

    # Finds the memory that the spec of a free node frees.
    cdef int _find_freed(self, NodeSpec& spec) except -1

    # Adds a conditional node with `size` bodies on a Condition, a flag or a predicate. `do` and `counter` are for loops.
    cdef InsertionPoint _add_tested(
        self, object condition, object args, NodeKind kind, unsigned int size, object name, object do=*,
        LoopCounter counter=*)
    cdef InsertionPoint _add_conditional(self, object condition, NodeKind kind, unsigned int size, object name)

    # Raises the error of a node with this test, before anything is added.
    cdef int _try_test(self, ConditionTest test, unsigned int size, object name) except -1

    # Raises an error if a node of the spec cannot be added here, for reasons that are not in the spec.
    cdef int _check_accepts(self, NodeSpec& spec) except -1


# Adds the kernel that sets the condition at the end of each iteration to the body of a loop. `any` is a handle of its
# hierarchy.
cdef int add_loop_test(const NodeHandle& any, GraphBox* body, ConditionTest test, Condition condition) except -1

# Moves owners to a graph before the driver call that needs them.
cdef int attach(GraphBox* graph, Owners& owners, OwnerSlot* slot) except -1

# Returns the Python object of a recorded node: the living object or a new one. `any` is a handle of its hierarchy.
cdef InsertionPoint wrap_node(const NodeHandle& any, NodeRecord* record)

# Returns the Python object of a node that the driver lists. Records the node if it has no record.
cdef InsertionPoint wrap_raw(const NodeHandle& any, GraphBox* graph, CUgraphNode raw)

# Returns the driver's graph for use by other code, which may copy it: the graph then keeps the objects of its nodes
# alive, and its nodes no longer keep what the driver reported. Returns null once the graph is destroyed.
cdef CUgraph hand_out(GraphBox* graph) except? NULL

# Returns `child` as a GraphDef. Raises TypeError for other objects.
cdef InsertionPoint accept_graph(object child)

# Raises ValueError if one of the operands is memory of an alloc node whose free node reaches `self`.
cdef int check_not_freed(InsertionPoint self, tuple operands) except -1

# Returns True if a node at `place`, or a node that holds it, comes after the node `before`.
cdef bint is_reached(InsertionPoint place, InsertionPoint before) except -1

# Returns the cause of a driver's refusal to add the node of a spec to `graph`, as (explanation, remedy) for
# raise_explained; None if it is unknown.
cdef tuple find_cause(const NodeHandle& any, GraphBox* graph, NodeSpec& spec)

# Returns a GraphDef of a graph.
cdef InsertionPoint wrap_graph(const NodeHandle& any, GraphBox* graph)

# Gives a class of insertion points its own descriptor of `launch`. The interpreter calls a method without a detour only for
# objects of the very class that has the descriptor.
cdef int give_launch(type cls) except -1
