# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`GraphDef.check`: finds mistakes in a definition that the driver accepts.

The checker reads a definition into scopes, one per graph in it. The accesses of an inner graph (a body or an embedded
graph) count as accesses of the node that holds it, with the order of that node. Two branches of one node never
conflict. Therefore the checker compares each pair of nodes in one scope: that of the innermost graph around both nodes.

Each event and each condition is modelled as one byte outside of all memory. A record of an event writes its byte, and a
wait reads it. A conditional node writes the byte of its condition, and kernels that set the condition read the byte,
because any number of kernels may set it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import methodcaller
from typing import TYPE_CHECKING, Any, NamedTuple

from cuda_graphs.graph.nodes.node_kinds import (
    AllocNode,
    ConditionalNode,
    EventRecordNode,
    EventWaitNode,
    FreeNode,
    KernelNode,
    MemcpyNode,
    MemsetNode,
)
from cuda_graphs.graph.operands.spans import Span

from .liveness import Lifetimes, find_lifetimes
from .order import Access, CyclicError, Order

if TYPE_CHECKING:
    from cuda_graphs.graph.nodes.node import GraphNode
    from cuda_graphs.graph.nodes.protocols import Definition

__all__ = ["CheckReport", "Finding", "check"]

# Kind -> meaning. Reports list the kinds in this order.
KINDS = {
    "cycle": "nodes depend on one another in a circle",
    "unordered": "two nodes access the same memory, one of them writes, and no edges order them",
    "unordered_event": "a record of an event, and another record or a wait, that no edges order",
    "unordered_condition": "a kernel sets a condition, a node looks at it, and no edges order them",
    "use_after_free": "memory of an alloc node is accessed after its free node",
    "use_before_alloc": "memory of an alloc node is accessed before it",
    "freed_twice": "an allocation has two free nodes",
    "foreign_free": "a free node for memory that no alloc node of the definition allocates",
    "never_freed": "an allocation without a free node: it outlives each launch",
    "unused_condition": "a condition that no node looks at; instantiation refuses it",
    "unset_condition": "a condition without a default value that no kernel takes as an argument",
}


@dataclass(frozen=True)
class Finding:
    """One mistake in a definition.

    kind   one of `KINDS`
    nodes  the nodes involved
    text   a description in one line
    """

    kind: str
    nodes: tuple[GraphNode, ...]
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


@dataclass(frozen=True)
class CheckReport(Sequence[Finding]):
    """The result of `GraphDef.check`: a sequence of Findings, false if it is empty. str() gives one line per finding.

    `is_complete` is False if there are more findings of one kind than the limit.
    """

    findings: tuple[Finding, ...]
    is_complete: bool = True

    def __len__(self) -> int:
        return len(self.findings)

    def __getitem__(self, index: Any) -> Any:
        return self.findings[index]

    def __str__(self) -> str:
        if not self.findings:
            return "nothing found"
        more = "" if self.is_complete else "\nThere is more: raise `limit`."
        return "\n".join(map(str, self.findings)) + more


class Origin(NamedTuple):
    """The cause of an access, for reports: the node, what it does, and the bytes that it names."""

    node: GraphNode
    verb: str
    what: str  # "memory", "event" or "condition"
    span: Span

    def __str__(self) -> str:
        accessed = str(self.span) if self.what == "memory" else f"{self.what} {self.span.start % SPACE:#x}"
        return f"{self.node._identify()} {self.verb} {accessed}"


# Number ranges above all addresses, for events, conditions and parameters. Each parameter has a range of its own.
SPACE = 1 << 64
EVENTS, CONDITIONS, PARAMETERS = (i * SPACE for i in (1, 2, 3))
UNORDERED = {"memory": "unordered", "event": "unordered_event", "condition": "unordered_condition"}


# The accesses of one node without its inner graphs: (span, whether it writes, verb, kind of object).
NodeAccesses = Iterator[tuple[Span, bool, str, str]]


def memset_accesses(node: MemsetNode) -> NodeAccesses:
    if node.height:
        span = Span.of(node.dptr, node.width * node.element_size, (node.height, node.pitch))
        yield span._replace(start=node._operand_parameters().get("dst", span.start)), True, "fills", "memory"


def memcpy_accesses(node: MemcpyNode) -> NodeAccesses:
    shape, parameters = node._shape, node._operand_parameters()
    to, source = shape.layout(shape.dst), shape.layout(shape.src)
    if shape.size:
        dst, src = parameters.get("dst", node.dst), parameters.get("src", node.src)
        yield Span.of(0, to.run, *to.axes)._replace(start=dst), True, "copies to", "memory"
        yield Span.of(0, source.run, *source.axes)._replace(start=src), False, "copies from", "memory"


def kernel_accesses(node: KernelNode) -> NodeAccesses:
    for span in node.writes:
        yield span, True, "writes", "memory"
    for span in node.reads:
        yield span, False, "reads", "memory"
    for handle in node._conditions:
        yield Span(CONDITIONS + handle, 1), False, "sets", "condition"


def alloc_accesses(node: AllocNode) -> NodeAccesses:
    yield Span(node.dptr, node.bytesize), True, "allocates", "memory"


def record_accesses(node: EventRecordNode) -> NodeAccesses:
    yield Span(EVENTS + node.event.handle, 1), True, "records", "event"


def wait_accesses(node: EventWaitNode) -> NodeAccesses:
    yield Span(EVENTS + node.event.handle, 1), False, "waits for", "event"


ACCESSES: dict[type, Callable[[Any], NodeAccesses]] = {
    MemsetNode: memset_accesses,
    MemcpyNode: memcpy_accesses,
    KernelNode: kernel_accesses,
    AllocNode: alloc_accesses,
    EventRecordNode: record_accesses,
    EventWaitNode: wait_accesses,
}


class Scope:
    """One graph of the definition, with the graphs inside its nodes."""

    def __init__(self, graph: Definition) -> None:
        self.graph = graph
        self.nodes = sorted(graph.nodes(), key=methodcaller("_raw"))  # makes reports reproducible
        self.inner: dict[GraphNode, list[Scope]] = {}

    @classmethod
    def of(cls, graph: Definition) -> Scope:
        """Return the scope of a graph with the scopes of all inner graphs.

        A loop visits them, because definitions may be nested deeper than Python calls.
        """
        root = cls(graph)
        scopes = [root]
        for scope in scopes:  # the loop appends to the list
            for node in scope.nodes:
                if graphs := node._inner_graphs():
                    scope.inner[node] = [cls(each) for each in graphs]
                    scopes += scope.inner[node]
        return root

    def all(self) -> list[Scope]:
        """Return this scope and all inner scopes, inner ones first."""
        found, waiting = [], [self]
        while waiting:
            scope = waiting.pop()
            found.append(scope)
            waiting += (inner for scopes in scope.inner.values() for inner in scopes)
        return found[::-1]

    def nodes_of(self, kind: type) -> list[Any]:
        """Return the nodes of a class in this scope and all inner scopes."""
        return [node for scope in self.all() for node in scope.nodes if isinstance(node, kind)]


class Checker:
    """Checks a definition and collects findings."""

    def __init__(self, root: Scope, limit: int) -> None:
        self.root = root
        self.limit = limit
        self.is_complete = True
        self.findings: dict[str, list[Finding]] = {kind: [] for kind in KINDS}
        # Name -> number of the parameter.
        self.parameters: dict[str, int] = {}
        # Address -> bytes. Two allocations may share an address if the first is freed before the second.
        self.sizes = {node.dptr: node.bytesize for node in root.nodes_of(AllocNode)}
        # Unordered accesses of each checked scope, until the scope around it takes them over.
        self.accessed: dict[Scope, list[Access]] = {}

    def report(self) -> CheckReport:
        for scope in self.root.all():
            self.accessed[scope] = self.check_scope(scope)
        self.check_conditions()
        found = [finding for findings in self.findings.values() for finding in findings]
        return CheckReport(tuple(found), self.is_complete)

    def add_finding(self, kind: str, nodes: Iterable[GraphNode], text: str) -> bool:
        """Record a finding. Returns False if the limit of its kind is reached."""
        findings = self.findings[kind]
        if len(findings) < self.limit:
            findings.append(Finding(kind, tuple(nodes), text))
            return True
        self.is_complete = False
        return False

    def check_scope(self, scope: Scope) -> list[Access]:
        """Check a graph, whose inner graphs are checked already. Returns its accesses, unordered."""
        edges = scope.graph.edges()
        try:
            order = Order(scope.nodes, edges)
        except CyclicError as error:
            self.add_finding("cycle", error.nodes, f"no order is possible of {listed(error.nodes)}")
            order = Order(scope.nodes, ())
            is_ordered = False
        else:
            is_ordered = True
            if early := scope.graph._early_edges():
                order = Order(scope.nodes, edges - early)
        accesses = [
            access for step, node in enumerate(order.nodes) for access in self.accesses_of(scope, node, step)
        ]
        if is_ordered:
            self.check_order(order, accesses)
            self.check_allocations(order, accesses)
        return accesses

    def accesses_of(self, scope: Scope, node: GraphNode, step: int) -> Iterator[Access]:
        """Yield the accesses of a node and of all graphs inside it."""
        if list_accesses := ACCESSES.get(type(node)):
            for span, writes, verb, what in list_accesses(node):
                if span.run:
                    yield Access(step, self.with_address(span), writes, Origin(node, verb, what, span))
        elif isinstance(node, FreeNode):
            span = Span(node.dptr, self.sizes.get(node.dptr, 1))
            yield Access(step, span, True, Origin(node, "frees", "memory", span))
        elif isinstance(node, ConditionalNode) and node.condition is not None:
            span = Span(CONDITIONS + node.condition.handle, 1)
            yield Access(step, span, True, Origin(node, "looks at", "condition", span))
        for inner in scope.inner.get(node, ()):
            for access in self.accessed.pop(inner):
                yield access._replace(step=step)

    def with_address(self, span: Span) -> Span:
        """Return the span, moved to the number range of its parameter if it begins at a parameter."""
        if not isinstance(span.start, str):
            return span
        number = self.parameters.setdefault(span.start, len(self.parameters))
        return span._replace(start=PARAMETERS + number * SPACE)

    def check_order(self, order: Order, accesses: list[Access]) -> None:
        seen = set()
        for one, other in order.unordered(accesses):
            pair = (one.origin.node, other.origin.node, one.origin.what)
            if pair in seen:
                continue
            seen.add(pair)
            text = f"{one.origin} and {other.origin}, with no order between them"
            if not self.add_finding(UNORDERED[one.origin.what], pair[:2], text):
                return

    def check_allocations(self, order: Order, accesses: Sequence[Access]) -> None:
        foreign = [n for n in order.nodes if isinstance(n, FreeNode) and n.dptr not in self.sizes]
        for node in foreign:
            text = f"{node._identify()} frees {node.dptr:#x}, which no alloc node of the definition allocates"
            self.add_finding("foreign_free", [node], text)
        allocs = [(n.dptr, n.bytesize, order.steps[n]) for n in order.nodes if isinstance(n, AllocNode)]
        frees = [(n.dptr, order.steps[n]) for n in order.nodes if isinstance(n, FreeNode)]
        for lifetimes in find_lifetimes(order, allocs, frees):
            self.check_frees(order, lifetimes)
            self.check_lifetimes(order, lifetimes, accesses)

    def check_frees(self, order: Order, lifetimes: Lifetimes) -> None:
        for lifetime in lifetimes.all:
            node, ends = order.nodes[lifetime.begin], [order.nodes[step] for step in lifetime.ends]
            if not ends:
                self.add_finding("never_freed", [node], f"the memory of {node._identify()} is never freed")
            elif len(ends) > 1:
                text = f"the memory of {node._identify()} is freed by {listed(ends)}"
                self.add_finding("freed_twice", [node, *ends], text)

    def check_lifetimes(self, order: Order, lifetimes: Lifetimes, accesses: Sequence[Access]) -> None:
        for access in accesses:
            origin: Origin = access.origin
            if origin.what != "memory" or origin.verb == "allocates" or access.step in lifetimes.matched:
                continue
            for lifetime, is_over in lifetimes.misuses(access.step, access.span):
                alloc, ends = order.nodes[lifetime.begin], [order.nodes[step] for step in lifetime.ends]
                when = f"after {listed(ends)}" if is_over else "before it is allocated"
                text = f"{origin}, which is of {alloc._identify()}, {when}"
                kind, nodes = (
                    ("use_after_free", [origin.node, alloc, *ends])
                    if is_over
                    else ("use_before_alloc", [origin.node, alloc])
                )
                self.add_finding(kind, nodes, text)

    def check_conditions(self) -> None:
        # One node per condition: the driver refuses a second one.
        nodes = self.root.nodes_of(ConditionalNode)
        readers = {node.condition.handle: node for node in nodes if node.condition is not None}
        kernels = self.root.nodes_of(KernelNode)
        for scope in self.root.all():
            for handle, has_default, source in scope.graph._conditions():
                name = f"condition {handle:#x}" + (f" ({source})" if source else "")
                if handle not in readers:
                    self.add_finding("unused_condition", [], f"no node looks at {name}")
                elif not has_default and not any(kernel._takes(handle) for kernel in kernels):
                    node = readers[handle]
                    text = f"{name} of {node._identify()} has no default value, and no kernel takes it"
                    self.add_finding("unset_condition", [node], text)


def listed(nodes: Iterable[GraphNode]) -> str:
    return ", ".join(node._identify() for node in nodes)


def check(graph: Definition, limit: int) -> CheckReport:
    """See GraphDef.check."""
    return Checker(Scope.of(graph), limit).report()
