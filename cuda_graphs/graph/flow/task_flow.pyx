# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""TaskFlow: the methods that add nodes, with edges that follow from the memory that the nodes access.

The handle layer finds the predecessors of each node (task_order.hpp). Most nodes are added together with their edges. The
others are in the journal of the graph: nodes of a call, nodes that other code adds, and conditional nodes, whose accesses
are known when their bodies are complete. The next use of the flow adds their edges.
"""

from libc.stddef cimport size_t
from libc.stdint cimport uintptr_t
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport CUgraphNode, CUresult
from cuda_graphs.core.driver.seam cimport check_attempt
from cuda_graphs.core.graphs.graph_handles cimport (
    Accessed,
    Dependencies,
    Direction,
    Edges,
    GraphBox,
    NodeAccesses,
    NodeKind,
    NodeRecord,
    NodeSpec,
    Task,
    TaskOrder,
    about_to_change,
    add_edges,
    edge_data,
    list_edges_of,
)
from cuda_graphs.graph.nodes.access_ranges cimport describe_accesses
from cuda_graphs.graph.nodes.insertion_point cimport InsertionPoint, wrap_graph, wrap_node
from cuda_graphs.graph.nodes.node cimport GraphNode
from cuda_graphs.graph.nodes.spec cimport describe

# State -> reason why the flow takes no nodes.
cdef dict STATES = {
    "new": "has not begun: write `with graph.task_flow() as tf:`",
    "open": None,
    "closed": "has ended: begin another one",
}


cdef TaskFlow make_task_flow(InsertionPoint graph):
    cdef TaskFlow self = TaskFlow.__new__(TaskFlow)
    graph._open()
    self._ref.refer(graph._ref.any(), graph._ref.node()[0])
    self._order.reset(new TaskOrder())
    self._tasks = {}
    self._state = "new"
    return self


cdef class TaskFlow(InsertionPoint):
    """Adds nodes in program order, and finds their edges. Made by `GraphDef.task_flow`; used with `with`.

    It has the methods of GraphDef that add nodes. A node gets an edge from each earlier node that accesses the same bytes,
    if one of the two writes them, unless it comes after that node by other edges. See `GraphDef.check` for what is known
    of the accesses of a node. A kernel of unknown accesses counts as one that reads and writes all memory that its arguments
    point into, a host callback of unknown accesses as one that reads and writes everything. Records of events and waits for
    events stay between the work before and after them. Different parameters are assumed to point to different memory.

    A conditional node comes after whatever its bodies access. The bodies must be complete at the next use of the flow.
    They may have task flows of their own.

    Nodes that the graph holds already, and nodes that are added in other ways inside the block, take part as well. At the end
    of the block the flow frees the memory that it allocated and that has no free node, after all its users. After an
    exception in the block the flow adds no more nodes.
    """

    def __dealloc__(self):
        if self._state == "open":
            self._record().graph.nodes.keep_journal(NULL)

    def __enter__(self):
        self._open()
        if self._state != "new":
            raise RuntimeError("a task flow is used in one `with` block only: call task_flow() again")
        self._begin()
        return self

    def __exit__(self, kind, error, traceback):
        self._record()
        if self._state != "open":
            raise RuntimeError(f"this task flow {STATES[self._state]}")
        try:
            if kind is None:
                self._settle()
                self._free_rest()
        finally:
            self._record().graph.nodes.keep_journal(NULL)
            self._state = "closed"

    @property
    def graph(self):
        """The GraphDef of the flow."""
        return wrap_graph(self._ref.any(), self._record().graph)

    def call(self, obj, *args, name=None):
        """Let `obj` add its nodes, which take part with the edges between them. See `GraphDef.call`."""
        self._check_open()
        self._settle()
        last = InsertionPoint.call(self, obj, *args, name=name)
        self._settle()
        return last

    def join(self, *nodes, name=None):
        """Add an EmptyNode that depends on `nodes`. It accesses nothing."""
        self._check_open()
        return InsertionPoint.join(self, *nodes, name=name)

    def explain(self, before, after):
        """Return an EdgeExplanation: why `after` depends on `before`, or why it does not.

        Both are nodes of this graph; this method may be called after the block, too. Raises TypeError for other objects,
        ValueError for nodes of another graph.
        """
        from .explanation import explain

        if self._state == "open":
            self._settle()
        return explain(self.graph, before, after)

    def _identify(self, bint with_handle=False):
        """Return the name of the graph in messages."""
        return self.graph._identify(with_handle)

    def __repr__(self):
        return f"<TaskFlow {self._state} of {self.graph!r}>"

    cdef int _check_open(self) except -1:
        self._open()
        if self._state != "open":
            raise RuntimeError(f"this task flow {STATES[self._state]}")
        return 0

    cdef int _begin(self) except -1:
        cdef GraphBox* graph = self._open()
        if graph.nodes.has_journal():
            raise RuntimeError(f"{self.graph._identify()} has an open task flow: end its block first")
        self._accept_existing()
        graph.nodes.keep_journal(&self._journal)
        self._state = "open"
        return 0

    cdef int _accept_existing(self) except -1:
        """Take the nodes of the graph as tasks, in an order that their edges allow, without new edges."""
        cdef NodeAccesses nothing
        cdef vector[NodeAccesses] all
        cdef vector[Task] given
        cdef size_t i
        nodes, edges = self.graph._listed()
        test = self.graph._loop_test()
        if test is not None:  # it comes after the nodes of the flow, which has no part in it
            nodes, edges = [node for node in nodes if node is not test], [edge for edge in edges if test not in edge]
        if not nodes:
            return 0
        from cuda_graphs.graph.analysis.order import CyclicError, Order

        early = self.graph._early_edges()
        edges = [edge for edge in edges if edge not in early] if early else edges
        try:
            order = Order(nodes, edges)
        except CyclicError as error:
            raise ValueError(f"{self.graph._identify()} has a cycle of edges, see check()") from error
        before = [[] for _ in nodes]
        for step, successors in enumerate(order.successors):
            for later in successors:
                before[later].append(step)
        for node in order.nodes:
            all.push_back(NodeAccesses())
            add_all_accesses(<GraphNode>node, all.back())
        for i in range(all.size()):
            given = before[i]
            self._order.get().find(nothing, given)
            self._add_task((<GraphNode>order.nodes[i])._record(), all[i])
            self._order.get().hold(<Task>i)
        for i in range(all.size()):
            self._order.get().release(<Task>i)
        return 0

    cdef InsertionPoint _add(self, NodeSpec& spec, object name, object edge):
        cdef NodeAccesses accesses
        cdef Dependencies place
        cdef vector[CUgraphNode] after
        cdef vector[Task] none, found
        cdef InsertionPoint node
        self._check_open()
        if edge is not None:
            raise ValueError("edge=... is not for a task flow, which finds the edges: call launch of a node")
        self._settle()
        cdef GraphBox* graph = self._open()
        place.graph, place.count = graph.raw, 0
        if has_bodies(spec.kind):
            return self._add_after(graph, spec, place, name, None)
        describe_accesses(spec, spec.declared.get(), accesses)
        if spec.kind == NodeKind.kChild:
            add_graph_accesses(<object>spec.child, accesses)
        self._check_not_freed(spec, accesses)
        found = self._order.get().find(accesses, none)
        for task in found:
            after.push_back(self._raw_of(task))
        place.after, place.count = after.data(), after.size()
        node = self._add_after(graph, spec, place, name, None)
        self._journal.clear()
        if spec.kind == NodeKind.kAlloc:
            # The address is known only now. The driver uses that of freed memory again only after its free node, so
            # the barriers, which `find` met, are all that comes before.
            accesses.all[0].span.start = spec.params.alloc.dptr
            self._allocated.push_back(<Task>self._nodes.size())
        self._add_task(node._record(), accesses)
        if spec.kind == NodeKind.kFree:
            self._note_freed(accesses)
        return node

    cdef int _check_accepts(self, NodeSpec& spec) except -1:
        cdef NodeAccesses accesses
        self._check_open()
        self._settle()
        describe_accesses(spec, spec.declared.get(), accesses)
        return self._check_not_freed(spec, accesses)

    cdef int _add_task(self, NodeRecord* record, const NodeAccesses& accesses) except -1:
        cdef TaskNode node
        node.record, node.generation = record, record.generation
        self._order.get().add(accesses)
        self._nodes.push_back(node)
        if record.kind == NodeKind.kAlloc and not self._freed.empty():
            self._forget_freed(accesses)
        return 0

    cdef int _settle(self) except -1:
        """Add the edges of the nodes in the journal. After an error the next use of the flow tries again."""
        cdef vector[NodeAccesses] all
        cdef vector[Edges] given
        cdef size_t i, done = 0
        if self._journal.empty() and not self._missing.size():
            return 0
        all.resize(self._journal.size())
        given.resize(self._journal.size())
        for i in range(all.size()):
            if self._journal[i].is_alive():
                add_all_accesses(<GraphNode>wrap_node(self._ref.any(), self._journal[i]), all[i])
                self._list_given(self._journal[i], given[i])
        first = self._order.get().size()
        try:
            for i in range(all.size()):
                if self._journal[i].is_alive():
                    self._order_node(self._journal[i], all[i], given[i])
                done += 1
        finally:
            for i in range(first, self._order.get().size()):
                self._order.get().release(<Task>i)
            self._journal.erase(self._journal.begin(), self._journal.begin() + done)
        return self._add_missing()

    cdef int _order_node(self, NodeRecord* record, const NodeAccesses& accesses, const Edges& edges) except -1:
        """Make a task of a node that has edges already, and note the edges that it needs beside them."""
        cdef GraphBox* graph = self._open()
        cdef vector[Task] given, found
        cdef vector[CUgraphNode] before
        cdef size_t i
        for i in range(self._indexed, self._nodes.size()):
            self._tasks[<uintptr_t>self._nodes[i].record] = i
        self._indexed = self._nodes.size()
        for i in range(edges.source.size()):
            task = self._tasks.get(<uintptr_t>graph.nodes.find(edges.source[i]))
            if task is not None:
                given.push_back(task)
        found = self._order.get().find(accesses, given)
        for each in found:
            before.push_back(self._raw_of(each))
        for raw in before:
            self._missing.add(raw, record.raw, edge_data(0, 0, 0))
        self._add_task(record, accesses)
        self._order.get().hold(<Task>(self._nodes.size() - 1))
        return 0

    cdef int _add_missing(self) except -1:
        cdef GraphBox* graph = self._open()
        cdef Edges nothing
        cdef CUresult status
        if not self._missing.size():
            return 0
        about_to_change(graph[0])
        with nogil:
            status = add_edges(graph.raw, self._missing)
        if status:
            check_attempt(status, f"add {self._missing.size()} edges to {self.graph._identify(True)}")
        graph.edited = True
        self._missing = nothing
        return 0

    cdef int _list_given(self, NodeRecord* record, Edges& edges) except -1:
        """List the edges that a node has already."""
        cdef CUresult status
        with nogil:
            status = list_edges_of(record.raw, Direction.kPredecessors, edges)
        if status:
            check_attempt(status, f"ask for the edges of {wrap_node(self._ref.any(), record)._identify(True)}")
        return 0

    cdef CUgraphNode _raw_of(self, Task task) except NULL:
        cdef TaskNode* node = &self._nodes[task]
        if node.record.raw == NULL or node.record.generation != node.generation:
            raise RuntimeError("a node was destroyed inside of the task flow, and later nodes have to follow it")
        return node.record.raw

    cdef int _note_freed(self, const NodeAccesses& accesses) except -1:
        """Note the memory of the free node that was added last."""
        cdef FreedMemory memory
        memory.start, memory.end = accesses.all[0].span.start, accesses.all[0].span.end()
        memory.by = <Task>(self._nodes.size() - 1)
        self._freed.push_back(memory)
        return 0

    cdef int _forget_freed(self, const NodeAccesses& accesses) except -1:
        """Forget freed memory whose addresses belong to a new alloc node: the driver may use them again."""
        cdef vector[FreedMemory] others
        for memory in self._freed:
            if memory.end <= accesses.all[0].span.start or accesses.all[0].span.end() <= memory.start:
                others.push_back(memory)
        self._freed.swap(others)
        return 0

    cdef int _check_not_freed(self, NodeSpec& spec, const NodeAccesses& accesses) except -1:
        """Raise ValueError for a node that accesses memory that the flow has freed."""
        cdef size_t i
        if self._freed.empty():
            return 0
        for i in range(accesses.all.size()):
            if accesses.all[i].what != Accessed.kMemory or not accesses.all[i].span.parameter.empty():
                continue
            for memory in self._freed:
                if memory.start < accesses.all[i].span.end() and accesses.all[i].span.start < memory.end:
                    free = wrap_node(self._ref.any(), self._nodes[memory.by].record)
                    raise ValueError(
                        f"cannot add {describe(spec)}: {free._identify()} has freed the memory before. Free memory after "
                        "its last use, or leave it to the task flow, which frees it at the end"
                    )
        return 0

    cdef int _free_rest(self) except -1:
        """Free the memory that the flow has allocated and that no node frees."""
        cdef size_t i
        cdef NodeRecord* freed
        for i in range(self._allocated.size()):
            self._raw_of(self._allocated[i])
            node = <InsertionPoint>wrap_node(self._ref.any(), self._nodes[self._allocated[i]].record)
            freed = node._record().metadata.get().freed_by if node._record().metadata else NULL
            if freed == NULL or not freed.is_alive():
                self.free(node)
        return 0


cdef bint has_bodies(NodeKind kind) noexcept:
    return (
        kind == NodeKind.kIf or kind == NodeKind.kIfElse or kind == NodeKind.kWhile or kind == NodeKind.kSwitch
    )


cdef int add_all_accesses(GraphNode node, NodeAccesses& accesses) except -1:
    """Append the accesses of a node and of all graphs inside it."""
    node._add_accesses(accesses)
    for graph in node._inner_graphs():
        add_graph_accesses(graph, accesses)
    return 0


cdef int add_graph_accesses(object graph, NodeAccesses& accesses) except -1:
    """Append the accesses of all nodes of a graph. A loop visits inner graphs, which may be nested deeply."""
    graphs = [graph]
    for each in graphs:  # the loop appends to the list
        if (<InsertionPoint>each)._open().nodes.has_journal():
            raise RuntimeError(f"the task flow of {each._identify()} is open: end its block first")
        for node in each._listed()[0]:
            (<GraphNode>node)._add_accesses(accesses)
            graphs += node._inner_graphs()
    return 0
