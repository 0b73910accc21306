# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`GraphDef.check`: finds mistakes in a definition that the driver accepts.

The checker reads a definition into scopes, one per graph in it. The accesses of an inner graph (a body or an embedded
graph) count as accesses of the node that holds it, with the order of that node. Two branches of one node never
conflict. Therefore the checker compares each pair of nodes in one scope: that of the innermost graph around both nodes.

Each event and each condition is modelled as one byte outside of all memory. A record of an event writes its byte, and a
wait reads it. A conditional node writes the byte of its condition, and kernels that set the condition read the byte,
because any number of kernels may set it. Nodes whose accesses are unknown are listed in the report.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import methodcaller
from typing import TYPE_CHECKING, Any

from cuda_graphs.graph.nodes.node import GraphNode
from cuda_graphs.graph.nodes.node_kinds import (
    AllocNode,
    ConditionalNode,
    FreeNode,
    KernelNode,
    SwitchNode,
    WhileNode,
)
from cuda_graphs.graph.nodes.places import readable, reading_places
from cuda_graphs.graph.operands.spans import Span
from cuda_graphs.objects.device.device import Device

from .accesses import POSSIBLE, WRITES, NodeAccess, own_accesses
from .liveness import Lifetimes, find_lifetimes
from .order import Access, CyclicError, Order

if TYPE_CHECKING:
    from cuda_graphs.graph.nodes.protocols import Definition

__all__ = ["CheckReport", "Finding", "check"]

# Kind -> meaning. Reports list the kinds in this order.
KINDS = {
    "cycle": "nodes depend on one another in a circle",
    "unordered": "two nodes access the same memory, one of them writes, and no edges order them",
    "unordered_event": "a record of an event, and another record or a wait, that no edges order",
    "unordered_collective": "two collectives of one communicator that no edges order",
    "unordered_condition": "a kernel sets a condition, a node looks at it, and no edges order them",
    "use_after_free": "memory of an alloc node is accessed after its free node",
    "use_before_alloc": "memory of an alloc node is accessed before it",
    "freed_twice": "an allocation has two free nodes",
    "foreign_free": "a free node for memory that no alloc node of the definition allocates",
    "never_freed": "an allocation without a free node: it outlives each launch",
    "unused_condition": "a condition that no node looks at; instantiation refuses it",
    "unset_condition": "a condition without a default value that no kernel takes as an argument",
    "unset_loop": "a while node whose body holds no kernel that takes its condition: it runs never, or without an end",
    "empty_body": "a body of a conditional node that holds no nodes",
    "unused_parameter": "a parameter that no node uses",
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

    unknown      nodes whose accesses are not all known, also those in bodies and embedded graphs. Kernels and host
                 callbacks are known by `reads` and `writes`
    is_complete  False if `unknown` is not empty, or if there are more findings of one kind than the limit
    is_limited   True if there are more findings of one kind than the limit
    """

    findings: tuple[Finding, ...]
    unknown: tuple[GraphNode, ...] = ()
    is_limited: bool = False

    @property
    def is_complete(self) -> bool:
        return not self.unknown and not self.is_limited

    def __len__(self) -> int:
        return len(self.findings)

    def __getitem__(self, index: Any) -> Any:
        return self.findings[index]

    def __str__(self) -> str:
        lines = [str(finding) for finding in self.findings] or ["nothing found"]
        if self.is_limited:
            lines.append("There is more: raise `limit`.")
        if self.unknown:
            lines.append(f"The accesses of {self.named_unknown()} are unknown: give reads= and writes=.")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from cuda_graphs.drawing.table import html_table

        rows = [(number, finding.kind, finding.text) for number, finding in enumerate(self.findings, 1)]
        rest = str(self).splitlines()[max(1, len(rows)) :]
        caption = " ".join([f"{len(rows)} finding{'s' * (len(rows) != 1)}.", *rest])
        return html_table(caption, ("", "kind", "finding"), rows)

    def named_unknown(self) -> str:
        """Return the names of some of the unknown nodes."""
        rest = len(self.unknown) - NAMED
        return listed(self.unknown[:NAMED]) + (f" and {rest} more nodes" if rest > 0 else "")


# Number ranges above all addresses, for events, conditions and parameters. Each parameter has a range of its own.
SPACE = 1 << 64
SPACES = {"event": SPACE, "condition": 2 * SPACE}
PARAMETERS = 3 * SPACE
NAMED = 3  # unknown nodes that a report names
UNORDERED = {
    "memory": "unordered",
    "event": "unordered_event",
    "condition": "unordered_condition",
    "communicator": "unordered_collective",
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

    def may_set(self, condition: int) -> bool:
        """Return True if a kernel in this scope or in an inner one takes the condition, or if a node is not known."""
        kernels, others = self.nodes_of(KernelNode), self.nodes_of(GraphNode)
        return any(kernel._takes(condition) for kernel in kernels) or any(map(is_unknown_kind, others))

    def nodes_of(self, kind: type) -> list[Any]:
        """Return the nodes of a class in this scope and all inner scopes."""
        return [node for scope in self.all() for node in scope.nodes if isinstance(node, kind)]


def address_text(address: int) -> str:
    """Return an address in words, also that of an array of another definition."""
    with reading_places(0):
        return f"{readable(address):#x}"


class Checker:
    """Checks a definition and collects findings."""

    def __init__(self, root: Scope, limit: int) -> None:
        self.root = root
        self.limit = limit
        self.is_limited = False
        self.findings: dict[str, list[Finding]] = {kind: [] for kind in KINDS}
        # Name -> number of the parameter.
        self.parameters: dict[str, int] = {}
        self.unknown: list[GraphNode] = []
        self.allocated = {node._address for node in root.nodes_of(AllocNode)}
        self.devices = devices_of(root)
        # Unordered accesses of each checked scope, until the scope around it takes them over.
        self.accessed: dict[Scope, list[Access]] = {}

    def report(self) -> CheckReport:
        for scope in self.root.all():
            self.accessed[scope] = self.check_scope(scope)
        self.check_conditions()
        self.check_bodies()
        for parameter in self.root.graph._unused_parameters():
            self.add_finding("unused_parameter", [], f"no node uses {parameter!r}")
        found = [finding for findings in self.findings.values() for finding in findings]
        return CheckReport(tuple(found), tuple(self.unknown), self.is_limited)

    def add_finding(self, kind: str, nodes: Iterable[GraphNode], text: str) -> bool:
        """Record a finding. Returns False if the limit of its kind is reached."""
        findings = self.findings[kind]
        if len(findings) < self.limit:
            findings.append(Finding(kind, tuple(nodes), text))
            return True
        self.is_limited = True
        return False

    def check_scope(self, scope: Scope) -> list[Access]:
        """Check a graph, whose inner graphs are checked already. Returns its accesses, unordered."""
        edges = scope.graph.edges()
        try:
            order = Order(scope.nodes, edges)
        except CyclicError as error:
            self.add_finding("cycle", error.nodes, f"no order is possible of {self.listed(error.nodes)}")
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
        own, is_unknown = own_accesses(node)
        if is_unknown:
            self.unknown.append(node)
        for access in own:
            named = access._replace(place=self.place_of(node))
            yield Access(step, self.with_space(access), is_write(access), named)
        for inner in scope.inner.get(node, ()):
            for each in self.accessed.pop(inner):
                yield each._replace(step=step)

    def place_of(self, node: GraphNode) -> str:
        """Return the device of a node in words, if the definition has nodes on several devices."""
        device = self.devices.get(node)
        return "" if device is None else f" on device {device}"

    def name(self, node: GraphNode) -> str:
        return f"{node._identify()}{self.place_of(node)}"

    def listed(self, nodes: Iterable[GraphNode]) -> str:
        return ", ".join(map(self.name, nodes))

    def with_space(self, access: NodeAccess) -> Span:
        """Return the span of an access in the number range of its kind of object."""
        span = access.span
        if isinstance(span.start, str):
            number = self.parameters.setdefault(span.start, len(self.parameters))
            return span._replace(start=PARAMETERS + number * SPACE)
        return span._replace(start=SPACES[access.what] + span.start) if access.what in SPACES else span

    def check_order(self, order: Order, accesses: list[Access]) -> None:
        """Check that an order exists between conflicting accesses.

        A possible access conflicts with the allocation and the release of its memory only.
        """
        known = [access for access in accesses if access.origin.mode not in POSSIBLE]
        seen = self.check_pairs(order.unordered(known), set())
        if len(known) < len(accesses):
            ends = [access for access in known if isinstance(access.origin.node, (AllocNode, FreeNode))]
            others = [access for access in accesses if access.origin.mode in POSSIBLE]
            self.check_pairs(order.unordered(ends + others), seen)

    def check_pairs(self, pairs: Iterator[tuple[Access, Access]], seen: set[Any]) -> set[Any]:
        """Report pairs of accesses whose nodes are not in `seen`, and return the nodes of all pairs."""
        for one, other in pairs:
            pair = (one.origin.node, other.origin.node, one.origin.what)
            if pair in seen:
                continue
            seen.add(pair)
            text = f"{one.origin} and {other.origin}, with no order between them"
            if not self.add_finding(UNORDERED[one.origin.what], pair[:2], text):
                break
        return seen

    def check_allocations(self, order: Order, accesses: Sequence[Access]) -> None:
        foreign = [n for n in order.nodes if isinstance(n, FreeNode) and n._address not in self.allocated]
        for node in foreign:
            memory = address_text(node._address)
            text = f"{self.name(node)} frees {memory}, which no alloc node of the definition allocates"
            self.add_finding("foreign_free", [node], text)
        allocs = [(n._address, n.bytesize, order.steps[n]) for n in order.nodes if isinstance(n, AllocNode)]
        frees = [(n._address, order.steps[n]) for n in order.nodes if isinstance(n, FreeNode)]
        for lifetimes in find_lifetimes(order, allocs, frees):
            self.check_frees(order, lifetimes)
            self.check_lifetimes(order, lifetimes, accesses)

    def check_frees(self, order: Order, lifetimes: Lifetimes) -> None:
        for lifetime in lifetimes.all:
            node, ends = order.nodes[lifetime.begin], [order.nodes[step] for step in lifetime.ends]
            if not ends:
                self.add_finding("never_freed", [node], f"the memory of {self.name(node)} is never freed")
            elif len(ends) > 1:
                text = f"the memory of {self.name(node)} is freed by {self.listed(ends)}"
                self.add_finding("freed_twice", [node, *ends], text)

    def check_lifetimes(self, order: Order, lifetimes: Lifetimes, accesses: Sequence[Access]) -> None:
        for access in accesses:
            origin: NodeAccess = access.origin
            if (
                origin.what != "memory"
                or isinstance(origin.node, AllocNode)
                or access.step in lifetimes.matched
            ):
                continue
            for lifetime, is_over in lifetimes.misuses(access.step, access.span):
                alloc, ends = order.nodes[lifetime.begin], [order.nodes[step] for step in lifetime.ends]
                when = f"after {self.listed(ends)}" if is_over else "before it is allocated"
                text = f"{origin}, which is of {self.name(alloc)}, {when}"
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
                    text = f"{name} of {self.name(node)} has no default value, and no kernel takes it"
                    self.add_finding("unset_condition", [node], text)

    def check_bodies(self) -> None:
        for scope in self.root.all():
            for node, bodies in scope.inner.items():
                if isinstance(node, ConditionalNode):
                    self.check_empty(node, bodies)
                # The condition of a loop that other code made may be unknown.
                condition = node.condition if isinstance(node, WhileNode) else None
                if condition is not None and not bodies[0].may_set(condition.handle):
                    text = f"no kernel in the body of {self.name(node)} takes its condition"
                    self.add_finding("unset_loop", [node], text)

    def check_empty(self, node: ConditionalNode, bodies: list[Scope]) -> None:
        """Find bodies without nodes besides the test of a loop. A switch may have empty branches beside others."""
        empty = [body.graph._identify() for body in bodies if not {*body.nodes} - {body.graph._loop_test()}]
        if empty and (len(empty) == len(bodies) or not isinstance(node, SwitchNode)):
            self.add_finding("empty_body", [node], f"{', '.join(empty)} holds no nodes")


def devices_of(root: Scope) -> dict[GraphNode, int]:
    """Return the devices of the nodes of a definition with nodes on several devices; {} for other definitions."""
    if len(Device.get_all_devices()) == 1:
        return {}
    found = {node: node._device() for node in root.nodes_of(GraphNode)}
    known = {node: device for node, device in found.items() if device is not None}
    return known if len({*known.values()}) > 1 else {}


def is_write(access: NodeAccess) -> bool:
    """Return True for an access that conflicts with reads, in the model of this module."""
    if access.what == "condition":
        return isinstance(access.node, ConditionalNode)
    return access.mode == WRITES


def is_unknown_kind(node: GraphNode) -> bool:
    """Return True for a node that other code made, of a kind that this package does not know."""
    return type(node) in (GraphNode, ConditionalNode)


def listed(nodes: Iterable[GraphNode]) -> str:
    return ", ".join(node._identify() for node in nodes)


def check(graph: Definition, limit: int) -> CheckReport:
    """See GraphDef.check."""
    return Checker(Scope.of(graph), limit).report()
