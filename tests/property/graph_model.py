# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A model of a definition and of the results of its launches, in plain Python: dicts of sets and a list of words.

Every node that computes has a word of memory of its own. A kernel folds into it: x = a*x + c, and then x = 31*x + y for
the words y of the nodes before it. These steps do not commute, so a node that runs too early folds in an old y. A
kernel looks up the words in a table at its row, so that edges may come and go.

Only a race-free graph has the same result in every legal order: `races` lists the pairs of nodes that lack an edge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

MASK = 2**32 - 1
BRANCHING = ("if", "if_else", "switch")
CONDITIONAL = (*BRANCHING, "while")
MEMORY = ("alloc", "free")
FOLDING = ("kernel", "callback")  # what these write says that all before them was done


@dataclass(frozen=True, eq=False)
class Work:
    """The work of a node and of its clones. Each number is given once."""

    kind: str
    number: int
    word: int | None = None  # written
    source: int | None = None  # copied from
    a: int = 1
    c: int = 0
    row: int | None = None  # which words to fold in
    condition: int | None = None
    default: int = 0  # of the condition
    memory: int | None = None  # of which alloc node
    parameter: str | None = None  # whose value takes the place of c


@dataclass(eq=False)
class Node:
    graph: Graph
    work: Work
    inner: list[Graph] = field(default_factory=list)
    handle: int | None = None  # the driver's
    held: object = None  # our wrapper, as long as the machine keeps it
    enabled: bool = True  # of a node in an executable

    def __repr__(self) -> str:
        return f"{self.work.kind}{self.work.number}"


@dataclass(eq=False)
class Graph:
    """`before` is the model: node -> the nodes that it depends on."""

    owner: Node | None = None
    before: dict[Node, set[Node]] = field(default_factory=dict)
    held: object = None
    was_embedded: bool = False

    def after(self, node: Node) -> set[Node]:
        return {other for other, before in self.before.items() if node in before}

    def add(self, work: Work, before: Iterable[Node] = (), bodies: int = 0) -> Node:
        node = Node(self, work)
        node.inner = [Graph(owner=node) for _ in range(bodies)]
        self.before[node] = set(before)
        return node

    def remove(self, node: Node) -> None:
        del self.before[node]
        for before in self.before.values():
            before.discard(node)

    def ancestors(self) -> dict[Node, set[Node]]:
        """node -> all nodes that have to be done before it. In a topological order."""
        found: dict[Node, set[Node]] = {}
        waiting = dict(self.before)
        while waiting:
            ready = [node for node, before in waiting.items() if before <= found.keys()]
            assert ready, "the model has a cycle"
            for node in ready:
                before = waiting.pop(node)
                found[node] = before.union(*(found[other] for other in before))
        return found

    def copy(self, owner: Node | None = None, twins: dict[Node, Node] | None = None) -> Graph:
        """Clones the graph as the driver does: the same works in other nodes. `twins` gets the clone of each node."""
        clone = Graph(owner)
        twins = {} if twins is None else twins
        twins.update({node: clone.add(node.work) for node in self.before})
        for node, before in self.before.items():
            clone.before[twins[node]] = {twins[other] for other in before}
            twins[node].inner = [inner.copy(twins[node], twins) for inner in node.inner]
        return clone

    def walk(self) -> Iterator[Graph]:
        """This graph and all graphs inside it."""
        yield self
        for node in self.before:
            for inner in node.inner:
                yield from inner.walk()

    def works(self) -> Iterator[Work]:
        for graph in self.walk():
            for node in graph.before:
                yield node.work

    def holds(self, *kinds: str) -> bool:
        return any(work.kind in kinds for work in self.works())

    def root(self) -> Graph:
        return self if self.owner is None else self.owner.graph.root()

    def outer(self) -> Iterator[Graph]:
        """This graph and those around it."""
        yield self
        if self.owner is not None:
            yield from self.owner.graph.outer()


Lists = dict[int, frozenset[int]]


def words_of(node: Node) -> frozenset[int]:
    """The words that are written by a node and all that is inside it."""
    inner = (words_of(other) for graph in node.inner for other in graph.before)
    own = {node.work.word} if node.work.word is not None else set()
    return frozenset(own.union(*inner))


def lists_of(root: Graph) -> Lists:
    """row -> the words that are complete when a kernel of that row runs, in every copy of the kernel."""
    lists: Lists = {}

    def visit(graph: Graph, base: frozenset[int]) -> None:
        seen: dict[Node, frozenset[int]] = {}
        for node in graph.ancestors():
            before = graph.before[node]
            through = (words_of(p) | (frozenset() if p.work.kind in FOLDING else seen[p]) for p in before)
            seen[node] = frozenset().union(*through) if before else base
            if node.work.row is not None:
                lists[node.work.row] = lists.get(node.work.row, seen[node]) & seen[node]
            for inner in node.inner:
                visit(inner, seen[node])

    visit(root, frozenset())
    return lists


Cells = set[tuple[str, int]]


def touched(node: Node, lists: Lists) -> tuple[Cells, Cells]:
    """Returns the cells that a node and all nodes inside it read and write: words, conditions, memory."""
    work = node.work
    reads: Cells = {("word", word) for word in lists.get(work.row, ())} if work.row is not None else set()
    writes: Cells = {("word", work.word)} if work.word is not None else set()
    if work.source is not None:
        reads.add(("word", work.source))
    if work.condition is not None:
        writes.add(("condition", work.condition))
    if work.memory is not None:
        writes.add(("memory", work.memory))
    for graph in node.inner:
        for other in graph.before:
            more = touched(other, lists)
            reads |= more[0]
            writes |= more[1]
    return reads, writes


def races(root: Graph) -> Iterator[tuple[Node, Node]]:
    """Pairs of nodes that touch the same cell in no order, older node first, one at a time: add its edge, ask again."""
    lists = lists_of(root)
    for graph in root.walk():
        ancestors = graph.ancestors()
        cells = {node: touched(node, lists) for node in ancestors}
        nodes = sorted(ancestors, key=lambda node: node.work.number)
        for i, u in enumerate(nodes):
            for v in nodes[i + 1 :]:
                if u in ancestors[v] or v in ancestors[u]:
                    continue
                (ur, uw), (vr, vw) = cells[u], cells[v]
                if uw & vw or uw & vr or ur & vw:
                    yield u, v
                    return


@dataclass
class State:
    """The memory that launches work on. Conditions start anew with each launch, memory with each allocation; values of
    parameters are those of the executable."""

    words: list[int]
    values: dict[str, int] = field(default_factory=dict)
    conditions: dict[int, int] = field(default_factory=dict)
    memory: dict[int, int] = field(default_factory=dict)


def folded(work: Work, state: State, lists: Lists, start: int) -> int:
    for word in sorted(lists[work.row]):
        start = (31 * start + state.words[word]) & MASK
    return start


def fold(node: Node, state: State, lists: Lists) -> None:
    work = node.work
    c = state.values[work.parameter] if work.parameter else work.c
    state.words[work.word] = folded(work, state, lists, (work.a * state.words[work.word] + c) & MASK)


def decide(node: Node, state: State, lists: Lists) -> None:
    state.conditions[node.work.condition] = folded(node.work, state, lists, node.work.c) % node.work.a


def start(node: Node, state: State, lists: Lists) -> None:
    state.words[node.work.word] = node.work.a
    state.conditions[node.work.condition] = int(node.work.a > 0)


def count(node: Node, state: State, lists: Lists) -> None:
    left = state.words[node.work.word]
    state.words[node.work.word] = max(left, 1) - 1
    state.conditions[node.work.condition] = int(left > 1)


def fill(node: Node, state: State, lists: Lists) -> None:
    state.words[node.work.word] = node.work.number


def move(node: Node, state: State, lists: Lists) -> None:
    state.words[node.work.word] = state.words[node.work.source]


def store(node: Node, state: State, lists: Lists) -> None:
    state.memory[node.work.memory] = state.words[node.work.source]


def load(node: Node, state: State, lists: Lists) -> None:
    state.words[node.work.word] = state.memory[node.work.memory]


def embedded(node: Node, state: State, lists: Lists) -> None:
    run(node.inner[0], state, lists)


def choose(node: Node, state: State, lists: Lists) -> None:
    value = state.conditions[node.work.condition]
    # An if node runs its first body when the condition is not 0, an else body follows it; a switch counts.
    index = value if node.work.kind == "switch" else int(value == 0)
    if index < len(node.inner):
        run(node.inner[index], state, lists)


def repeat(node: Node, state: State, lists: Lists) -> None:
    while state.conditions[node.work.condition]:
        run(node.inner[0], state, lists)


def nothing(node: Node, state: State, lists: Lists) -> None:
    pass


EFFECT: dict[str, Callable[[Node, State, Lists], None]] = {
    "kernel": fold,
    "callback": fold,
    "decide": decide,
    "start": start,
    "count": count,
    "memset": fill,
    "memcpy": move,
    "store": store,
    "load": load,
    "child": embedded,
    "if": choose,
    "if_else": choose,
    "switch": choose,
    "while": repeat,
    "empty": nothing,
    "record": nothing,
    "wait": nothing,
    "alloc": nothing,
    "free": nothing,
}


def run(graph: Graph, state: State, lists: Lists) -> None:
    for node in graph.ancestors():
        if node.enabled:
            EFFECT[node.work.kind](node, state, lists)


def launch(root: Graph, state: State, values: dict[str, int]) -> Lists:
    """One launch; the lists that the table has to hold for it."""
    lists = lists_of(root)
    state.values = values
    state.conditions = {w.condition: w.default for w in root.works() if w.kind in CONDITIONAL}
    state.memory = {}
    run(root, state, lists)
    return lists
