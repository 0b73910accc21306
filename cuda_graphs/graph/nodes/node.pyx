# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""GraphNode: the base class of all nodes."""

import re

from cython.operator cimport dereference
from libc.stddef cimport size_t
from libc.stdint cimport uintptr_t
from libcpp.memory cimport make_shared, shared_ptr, unique_ptr
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport (
    CUDA_ERROR_INVALID_VALUE,
    CUDA_ERROR_NOT_SUPPORTED,
    CUDA_SUCCESS,
    CUgraph,
    CUgraphNode,
    CUresult,
)
from cuda_graphs.core.driver.cuda_graph cimport CUgraphEdgeData, CUgraphNodeType, graph_driver
from cuda_graphs.core.driver.seam cimport check_attempt, ensure_driver, raise_explained
from cuda_graphs.core.graphs.graph_handles cimport (
    AllocKind,
    DeclaredAccesses,
    Direction,
    Edges,
    GraphBox,
    GraphMemoryRef,
    NodeAccesses,
    NodeKind,
    NodeMetadata,
    NodeParameters,
    NodeRecord,
    NodeSpec,
    OwnerSlot,
    about_to_change,
    add_edges,
    destroy_node,
    drop_place_uses,
    holds,
    is_handed_out,
    list_edges_of,
    load_node,
    advance_memset_version,
    order_test,
    owners_of,
    remove_edges,
    set_allocation,
    set_node,
    show_wanted,
)
from cuda_graphs.objects.source cimport text_of
from .access_ranges cimport declaration_of, describe_accesses, list_accesses
from .labels cimport given_name, property_of_holder, set_name
from cuda_graphs.graph.operands.operands cimport accept_edge
from cuda_graphs.graph.operands.parameter cimport is_hidden, prepare_uses, temporaries_of
from .insertion_point cimport (
    InsertionPoint,
    attach,
    find_cause,
    hand_out,
    wrap_graph,
    wrap_node,
    wrap_raw,
)
from .causes cimport cause_of_other_graph
from .node_classes cimport register_class
from .places cimport use_places
from .spec cimport describe
from cuda_graphs.errors import CUDAError
from .adjacency import AdjacencySet
from cuda_graphs.graph.operands.edge_data import EdgeData
from .node_type import GraphNodeType

CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")
KEPT_BY_ARRAY = (
    "An array keeps its AllocNode and its FreeNode, since other nodes may use its memory.",
    "Build the definition again without the array.",
)
LEVELS_NAMED = 8  # number of graphs around a node that a message names


cdef bint is_of_place(const NodeRecord* record) noexcept:
    """Return True for an alloc or free node of a place."""
    return record.metadata and record.metadata.get().place


cdef int load_place(NodeSpec& spec, const GraphMemoryRef& place) except -1:
    """Fill the spec of an alloc or free node of a place. The driver's node is empty."""
    if spec.kind == NodeKind.kFree:
        spec.params.free.dptr = place.get().start()
        return 0
    set_allocation(spec, AllocKind.kDevice, place.get().device(), place.get().size(), vector[int]())
    spec.params.alloc.dptr = place.get().start()
    return 0


cdef unsigned changes_of(const NodeRecord* record) noexcept:
    """Return the number of changes of the parameters of a node."""
    return record.metadata.get().changes if record.metadata else 0


cdef int note_change(NodeMetadata& node) noexcept:
    """Forget the parameters that were read, also those that another thread is reading now."""
    node.changes += 1
    node.loaded.reset()
    return 0


cdef class GraphNode(InsertionPoint):
    """A node of a definition. Each kind has a class of its own. GraphNode itself is the class of unknown kinds.

    A node has at most one Python object at a time, so all methods return the same object for it. A node keeps its
    definition, and all definitions around it, alive. Properties show the current state of the driver. Properties of a
    destroyed node keep their last values, except objects that the node released: these raise RuntimeError.

    The driver is asked for the parameters of a node once, and again after `update`. Once the `handle` of a node or graph
    of the definition was read, other code may change nodes, and every property asks the driver.
    """

    @property
    def type(self):
        """The GraphNodeType that the driver reports; None for the entry node and a destroyed node."""
        cdef CUgraphNode raw = self._record().raw
        cdef CUgraphNodeType type
        cdef CUresult status
        if raw == NULL:
            return None
        with nogil:
            status = graph_driver().cuGraphNodeGetType(raw, &type)
        check_attempt(status, "ask for the type of a node")
        return GraphNodeType(<int>type)

    @property
    def graph(self):
        """The GraphDef that holds this node. For a node in a body or an embedded graph it is the inner graph."""
        return wrap_graph(self._ref.any(), self._record().graph)

    @property
    def handle(self):
        """The CUgraphNode as an int; None for the entry node and a destroyed node."""
        if self._record().raw != NULL:
            hand_out(self._record().graph)  # other code can get the graph from the node
        return self._raw()

    def _raw(self):
        """Return the handle, for internal use."""
        return <uintptr_t>self._record().raw or None

    @property
    def is_valid(self):
        """False once the node, or a node around its graph, was destroyed."""
        cdef NodeRecord* record = self._record()
        return record.graph.raw != NULL and record.is_alive()

    @property
    def name(self):
        """The given name of the node, else the name of its kernel or function, else the name of its kind.

        Assign a str to rename the node. Errors, DOT files and `GraphDef.check` use the name.
        """
        if self._record().kind == NodeKind.kEntry:
            return "entry"
        return self._own_name() or CAPITAL.sub("_", type(self).__name__.removesuffix("Node")).lower()

    @name.setter
    def name(self, str value not None):
        self._open()
        set_name(self._record(), value)

    @property
    def source(self):
        """The source line that added the node, "/path/file.py:12"; None if it is unknown.

        It is the innermost line outside of this package. For nodes that a kernel compiler adds in `call`, it is the line
        of the call.
        """
        cdef NodeRecord* record = self._record()
        return text_of(record.graph, record.source)

    @property
    def pred(self):
        """The predecessors of this node: a live set (AdjacencySet). Assign nodes to replace all edges."""
        return AdjacencySet(self, False)

    @pred.setter
    def pred(self, nodes):
        AdjacencySet(self, False).replace(nodes)

    @property
    def succ(self):
        """The successors of this node: a live set (AdjacencySet). Assign nodes to replace all edges."""
        return AdjacencySet(self, True)

    @succ.setter
    def succ(self, nodes):
        AdjacencySet(self, True).replace(nodes)

    def destroy(self):
        """Remove the node, its edges and the graphs inside it from the definition. Executables do not change.

        Raises CUDAError for the AllocNode and the FreeNode of an array, and for any node of a graph with other memory of alloc
        nodes (a rule of the driver). A second call does nothing.
        """
        cdef NodeRecord* record = self._record()
        cdef CUresult status
        if record.raw == NULL:
            return
        if is_of_place(record):
            raise_explained(CUDA_ERROR_NOT_SUPPORTED, f"destroy {self._identify(True)}", KEPT_BY_ARRAY)
        cdef shared_ptr[NodeSpec] last = self._parameters()
        name = self._own_name()
        status = destroy_node(record[0])
        if status:
            raise_explained(status, f"destroy {self._identify(True)}", self.graph._explain_removal())
        record.make_metadata().loaded = last
        if name is not None:
            set_name(record, name)

    def _function_name(self):
        """Return the name of the function that the node runs, or None."""
        return None

    def _given_name(self):
        """Return the given name of the node, or None."""
        return given_name(self._record())

    def _inner_graphs(self):
        """Return the graphs inside the node, as GraphDefs."""
        return ()

    def _parameter_names(self):
        """Return the names of the named parameters that the node uses, each once, in the order of their uses."""
        cdef NodeParameters* named = named_parameters(self._record())
        cdef dict names = {}
        if named != NULL:
            for use in named.uses:
                if not is_hidden(use.parameter):
                    names[use.parameter.get().name.decode()] = None
        return tuple(names)

    def _temporaries(self):
        """Return the Temporaries that the node itself uses, one for each use."""
        return temporaries_of(self._record())

    def _places(self):
        """Return the addresses of the stand-ins of the places that the node itself is given."""
        cdef NodeParameters* named = named_parameters(self._record())
        cdef set found = set()
        if named != NULL:
            for use in named.uses:
                if use.is_place():
                    found.add(use.parameter.get().place.get().start())
        return found

    def _device(self):
        """Return the ordinal of the device that does the work of the node, or None if the driver does not report it."""
        return None

    def _own_name(self):
        """Return the given name or the function name of the node, or None."""
        cdef NodeRecord* record = self._record()
        name = given_name(record)
        return self._function_name() if name is None and record.is_alive() else name

    def _identify(self, bint with_handle=False):
        """Return the name of the node in messages: class, name, source line, and the nodes around it."""
        if self._record().kind == NodeKind.kEntry:
            return self.graph._identify(with_handle)
        return self._label_with_holders(self._name_for_message(), with_handle)

    def _name_for_message(self):
        try:
            return self._own_name()
        except CUDAError:  # another error is being reported, which must not be hidden
            return given_name(self._record())

    cdef str _label_with_holders(self, name, bint with_handle):
        cdef GraphBox* graph = self._record().graph
        cdef GraphNode holder
        words = self._label(name, with_handle)
        for _ in range(LEVELS_NAMED):
            if graph.holder == NULL:
                return words
            holder = wrap_node(self._ref.any(), graph.holder)
            words += f" in {property_of_holder(graph)} of {holder._label(holder._name_for_message(), with_handle)}"
            graph = graph.holder.graph
        return words if graph.holder == NULL else f"{words} in {graph.depth} more"

    cdef str _label(self, name, bint with_handle):
        cdef NodeRecord* record = self._record()
        words = type(self).__name__
        if name is not None:
            words += f" {name!r}"
        details = [f"handle {<uintptr_t>record.raw:#x}"] if with_handle and record.raw != NULL else []
        source = text_of(record.graph, record.source)
        if source is not None:
            details.append(source)
        if details:
            words += f" ({', '.join(details)})"
        return words

    cdef shared_ptr[NodeSpec] _parameters(self) except *:
        cdef NodeRecord* record = self._record()
        cdef NodeParameters* named
        cdef shared_ptr[NodeSpec] loaded
        self._check_known()
        if record.metadata:
            loaded = record.metadata.get().loaded
        if record.raw == NULL:
            return loaded
        ensure_driver()  # raises in a forked child process
        if loaded and not is_handed_out(record.graph[0]):
            return loaded
        loaded = make_shared[NodeSpec]()
        self._load(dereference(loaded))
        named = named_parameters(record)
        if named != NULL:
            loaded.get().uses = named.uses
            show_wanted(dereference(loaded), named[0])
            drop_place_uses(loaded.get().uses)
        record.make_metadata().loaded = loaded
        return loaded

    cdef int _add_accesses(self, NodeAccesses& accesses) except -1:
        cdef NodeRecord* record = self._record()
        cdef const DeclaredAccesses* declared = declaration_of(record)
        cdef shared_ptr[NodeSpec] loaded
        if is_described_by_kind(record.kind) or declared != NULL and declared.is_known:
            loaded = make_shared[NodeSpec]()
            loaded.get().begin(record.kind)
        else:
            loaded = self._parameters()
        if record.metadata and record.metadata.get().condition:  # the driver may not report it
            loaded.get().params.conditional.handle = record.metadata.get().condition
        return describe_accesses(dereference(loaded), declared, accesses)

    def _accesses(self):
        """Return (list of (Span, mode, what), whether accesses are unknown), without those of graphs inside the node.

        The mode is "reads", "writes" or "may access". The words for `what` are "memory", "event" and "condition".
        """
        cdef NodeAccesses accesses
        self._add_accesses(accesses)
        return list_accesses(accesses), accesses.is_unknown

    def _is_barrier(self):
        """Return True for a node that a task flow keeps between all work before it and after it."""
        cdef NodeAccesses accesses
        self._add_accesses(accesses)
        return accesses.is_barrier

    cdef int _check_known(self) except -1:
        cdef NodeRecord* record = self._record()
        if record.raw == NULL and not (record.metadata and record.metadata.get().loaded):
            self._open()  # raises
        return 0

    cdef NodeRecord* _load(self, NodeSpec& spec) except NULL:
        cdef NodeRecord* record = self._record()
        cdef CUresult status
        cdef unsigned before
        while True:
            before = changes_of(record)
            spec.begin(record.kind)
            if is_of_place(record):
                load_place(spec, record.metadata.get().place)
                return record
            with nogil:
                status = load_node(record.raw, spec)
            if changes_of(record) == before:
                break  # else what was read may be gone: an instantiation in another thread gives a node a new callback
        if status:
            # The given name only: reading the function name would call the driver and fail in the same way.
            check_attempt(status, f"read the parameters of {self._label_with_holders(given_name(record), True)}")
        return record

    cdef int _load_with_owners(self, NodeSpec& spec) except -1:
        cdef NodeRecord* record = self._load(spec)
        spec.owners = owners_of(record.owners)
        cdef NodeParameters* named = named_parameters(record)
        if named == NULL:
            return 0
        spec.uses = named.uses
        drop_place_uses(spec.uses)  # their addresses are in the parameters of the node
        spec.rules = named.rules
        if record.kind != NodeKind.kKernel:  # the driver holds placeholders for missing values
            spec.params = named.wanted
        return 0

    cdef int _set(self, NodeSpec& spec) except -1:
        cdef GraphBox* graph = self._open()
        cdef NodeRecord* record = self._record()
        cdef unique_ptr[NodeParameters] parameters
        cdef OwnerSlot slot = record.owners
        cdef CUresult status
        cdef bint keeps
        use_places(graph, spec)
        if not spec.uses.empty():
            parameters = prepare_uses(graph, spec)  # adds the owners of placeholders
        keeps = holds(slot, spec.owners)
        if not keeps:
            slot = OwnerSlot()
            if spec.owners:
                attach(graph, spec.owners, &slot)
        record.make_metadata()  # now: it may fail, and after the driver's change nothing may
        with nogil:
            status = set_node(record.raw, spec)
        note_change(record.metadata.get()[0])
        if status:
            if not keeps:
                graph.owners.rollback(slot)
            raise_explained(
                status, f"change {self._identify(True)} to {describe(spec)}", find_cause(self._ref.any(), graph, spec)
            )
        if not keeps:
            graph.owners.commit(graph.raw, slot, record[0])
        if record.kind == NodeKind.kMemset or record.kind == NodeKind.kChild:
            advance_memset_version(graph[0])
        record.metadata.get().parameters.swap(parameters)
        return 0

    # Methods that AdjacencySet calls.

    def _neighbours(self, bint forward):
        cdef NodeRecord* record = self._record()
        cdef Edges edges
        cdef CUresult status
        if record.raw == NULL:
            return set()
        status = order_test(record.graph[0])
        if status == CUDA_SUCCESS:
            with nogil:
                status = list_edges_of(record.raw, direction(forward), edges)
        if status:
            check_attempt(status, f"ask for the edges of {self._identify(True)}")
        return {wrap_raw(self._ref.any(), record.graph, raw) for raw in (edges.target if forward else edges.source)}

    @staticmethod
    def _is_node(thing):
        return isinstance(thing, GraphNode)

    def _edge_data(self, node, bint forward):
        """Return the EdgeData of the edge to a neighbour, or None if there is no edge."""
        cdef Edges edges
        cdef NodeRecord* record = self._record()
        if record.raw == NULL or (<GraphNode?>node)._record().graph != record.graph:
            return None
        collect_present(self, (node,), forward, edges)
        if edges.size() == 0:
            return None
        return EdgeData(edges.data[0].from_port, edges.data[0].to_port, edges.data[0].type)

    def _change(self, remove, add, bint forward, data=EdgeData()):
        """Remove the edges to `remove` and add edges to `add` with `data`.

        After an error no edge has changed, unless the driver also refuses to restore the removed edges.
        """
        cdef CUgraph graph = self._record().graph.raw
        cdef Edges gone, new
        cdef CUresult status = CUDA_SUCCESS, restored = CUDA_SUCCESS
        collect_new(self, add, forward, accept_edge(data), new)
        if remove:
            collect_present(self, remove, forward, gone)
        about_to_change(self._record().graph[0])
        # Removal comes first, because a driver may refuse it for the whole graph.
        if gone.size() != 0:
            with nogil:
                status = remove_edges(graph, gone)
            if status:
                raise_explained(
                    status, f"remove edges between {self._identify(True)} and {names_of(remove)}",
                    self.graph._explain_removal(),
                )
        self._record().graph.edited = True
        if new.size() != 0:
            with nogil:
                status = add_edges(graph, new)
                if status and gone.size() != 0:
                    restored = add_edges(graph, gone)
            if status:
                along = "" if data == EdgeData() else f" with {data!r}"
                lost = f"; the edges with {names_of(remove)} were removed and could not be restored" if restored else ""
                check_attempt(status, f"add edges between {self._identify(True)} and {names_of(add)}{along}{lost}")

    def __hash__(self):
        # Hash of the record, so that a later Python object of the node has the same hash. Shifted, because a GraphDef and
        # its entry node share a record.
        return <Py_hash_t>(<uintptr_t>self._ref.node() >> 4)

    def __repr__(self):
        cdef NodeRecord* record = self._record()
        if record.kind == NodeKind.kEntry:
            return "<GraphNode entry>"
        if record.raw == NULL:
            return f"<{type(self).__name__} destroyed>"
        try:
            words = self._describe()
        except CUDAError:  # a repr must not raise while a program is debugged
            words = ""
        name = given_name(record)
        if name is not None:
            words += f" name={name!r}"
        return f"<{type(self).__name__} handle={<uintptr_t>record.raw:#x}{words}>"

    def _describe(self):
        """Return the part of the repr after the handle."""
        return ""


cdef bint is_described_by_kind(NodeKind kind) noexcept:
    """Return True for a kind whose accesses do not depend on the parameters that the driver reports."""
    return (
        kind != NodeKind.kKernel
        and kind != NodeKind.kAlloc
        and kind != NodeKind.kFree
        and kind != NodeKind.kMemset
        and kind != NodeKind.kMemcpy
        and kind != NodeKind.kEventRecord
        and kind != NodeKind.kEventWait
    )


cdef str names_of(nodes):
    return ", ".join([node._identify(True) for node in nodes])


cdef Direction direction(bint forward) noexcept nogil:
    return Direction.kSuccessors if forward else Direction.kPredecessors


cdef int collect_new(GraphNode self, object nodes, bint forward, CUgraphEdgeData data, Edges& edges) except -1:
    cdef CUgraphNode here, there
    for node in nodes:
        here, there = accept_neighbour(self, self), accept_neighbour(self, node)
        if here == there:  # checked here, because a driver may add the edges before the refused edge
            raise_explained(
                CUDA_ERROR_INVALID_VALUE, f"have {self._identify(True)} depend on itself",
                ("A node cannot depend on itself.", "Connect two different nodes."),
            )
        if forward:
            edges.add(here, there, data)
        else:
            edges.add(there, here, data)
    return 0


cdef int collect_present(GraphNode self, object nodes, bint forward, Edges& edges) except -1:
    """Collect the existing edges to `nodes` with their data, which the driver needs to find an edge."""
    cdef GraphBox* graph = self._record().graph
    cdef CUgraphNode raw = self._record().raw
    cdef Edges now
    cdef CUresult status
    cdef size_t i
    with nogil:
        status = list_edges_of(raw, direction(forward), now)
    if status:
        check_attempt(status, f"ask for the edges of {self._identify(True)}")
    for i in range(now.size()):
        if wrap_raw(self._ref.any(), graph, now.target[i] if forward else now.source[i]) in nodes:
            edges.copy(now, i)
    return 0


cdef tuple cause_of_no_node(NodeRecord* record):
    if record.kind == NodeKind.kEntry:
        return "The entry node is virtual: it has no edges.", "Connect nodes that methods of the definition have added."
    return "The node was destroyed, with its edges.", "Add the node again."


cdef CUgraphNode accept_neighbour(GraphNode self, object node) except NULL:
    if not isinstance(node, GraphNode):
        raise TypeError(f"expected GraphNode, got {type(node).__name__}")
    cdef NodeRecord* record = (<GraphNode>node)._record()
    if record.raw == NULL:
        raise_explained(
            CUDA_ERROR_INVALID_VALUE, f"change edges of {(<GraphNode>node)._identify(True)}, which has none",
            cause_of_no_node((<GraphNode>node)._record()),
        )
    if record.graph != self._record().graph:
        raise_explained(
            CUDA_ERROR_INVALID_VALUE,
            f"add an edge between {self._identify(True)} and {(<GraphNode>node)._identify(True)} of another graph",
            cause_of_other_graph(record.graph, self._record().graph),
        )
    return record.raw


register_class(NodeKind.kOther, GraphNode)
