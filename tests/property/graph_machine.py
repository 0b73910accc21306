# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A machine that changes definitions and their model (graph_model.py) together, and runs them.

Its rules are the operations of users on definitions. Its invariants compare all definitions with the model after each
rule, and each launch is compared word by word. test_graph_machine.py has the rules that change nodes in place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import cuda_graphs as cg
from tests.property.graph_model import BRANCHING, CONDITIONAL, MEMORY, Graph, Node, State, Work, launch, races
from tests.property.graph_world import (
    BODIES,
    CLASSES,
    DEFAULT,
    PARAMETERS,
    ROWS,
    WORDS,
    World,
    mark_of,
    match,
)

DEFINITIONS, EXECUTABLES, DEPTH, NODES = 3, 3, 3, 80
SIMPLE = ("kernel", "kernel", "kernel", "memset", "memcpy", "empty")  # may be everywhere
OUTSIDE = ("callback", "record", "wait")  # not in the body of a conditional node


class Choices:
    """The choices within a rule. Hypothesis draws each of them, so that a failure shrinks: to the first option, the
    smallest number, the shortest selection, and to False."""

    def __init__(self, data: st.DataObject) -> None:
        self.data = data

    def number(self, least: int, most: int) -> int:
        return self.data.draw(st.integers(least, most))

    def chance(self, percent: int) -> bool:
        return self.number(0, 99) >= 100 - percent

    def one_of(self, options: Sequence[Any]) -> Any:
        return options[self.number(0, len(options) - 1)]

    def some_of(self, options: Sequence[Any], most: int = 4, least: int = 0) -> list[Any]:
        """A few, none twice."""
        indices = st.integers(0, max(0, len(options) - 1))
        count = {"min_size": min(least, len(options)), "max_size": min(most, len(options))}
        return [options[i] for i in self.data.draw(st.lists(indices, unique=True, **count))]


CHOICES = st.builds(Choices, st.data())


EDITS: dict[str, Callable[[Any, set[Any]], None]] = {
    "update": lambda view, nodes: view.update(*nodes),
    "add": lambda view, nodes: [view.add(node) for node in nodes],
    "discard": lambda view, nodes: [view.discard(node) for node in nodes],
    "clear": lambda view, nodes: view.clear(),
    "|=": lambda view, nodes: view.__ior__(nodes),
    "-=": lambda view, nodes: view.__isub__(nodes),
    "&=": lambda view, nodes: view.__iand__(nodes),
    "^=": lambda view, nodes: view.__ixor__(nodes),
}
RESULTS: dict[str, Callable[[set[Any], set[Any]], set[Any]]] = {
    "update": set.union,
    "add": set.union,
    "discard": set.difference,
    "clear": lambda now, nodes: set(),
    "|=": set.union,
    "-=": set.difference,
    "&=": set.intersection,
    "^=": set.symmetric_difference,
    "=": lambda now, nodes: nodes,
}


@dataclass(eq=False)
class Handle:
    """A condition: the graph that it was created on, what it is for, and the node that uses it."""

    number: int
    home: Graph
    loops: bool
    default: int
    user: Node | None = None


@dataclass(eq=False)
class Executable:
    """An executable, and what it was made of: a copy of the model, with the copy of each node."""

    root: Graph
    snapshot: Graph
    twins: dict[Node, Node]
    graph: cg.Graph
    values: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PARAMETERS, DEFAULT))


class GraphMachine(RuleBasedStateMachine):
    def __init__(self, world: World) -> None:
        super().__init__()
        self.world = world
        world.forget()
        self.state = State([0] * WORDS)
        self.numbers = self.words = self.rows = 0
        self.definitions: list[Graph] = []
        self.executables: list[Executable] = []
        self.handles: list[Handle] = []
        self.gone: list[Any] = []  # wrappers of what was destroyed
        self.steps = 0

    # What there is.

    def graphs(self) -> list[Graph]:
        return [graph for root in self.definitions for graph in root.walk()]

    def real_graph(self, graph: Graph) -> cg.GraphDef:
        if graph.held is None:
            owner = self.real(graph.owner)
            inner = (owner.child_graph,) if graph.owner.work.kind == "child" else owner.branches
            graph.held = inner[graph.owner.inner.index(graph)]
        return graph.held

    def real(self, node: Node) -> cg.GraphNode:
        if node.held is None:
            (node.held,) = (n for n in self.real_graph(node.graph).nodes() if n.handle == node.handle)
        return node.held

    def draw_graph(self, choices: Choices) -> Graph:
        return choices.one_of(self.graphs())

    def draw_place(self, choices: Choices) -> tuple[Graph, list[Node], Any]:
        """A graph, the nodes to depend on (none or one), and the real place."""
        graph = self.draw_graph(choices)
        place = choices.one_of([None, *graph.before])
        return graph, [place] if place else [], self.real(place) if place else self.real_graph(graph)

    # Making nodes.

    def is_full(self, root: Graph) -> bool:
        return sum(1 for _ in root.works()) > NODES or self.words + 8 > WORDS or self.rows + 8 > ROWS

    def work(self, kind: str, **fields: Any) -> Work:
        self.numbers += 1
        return Work(kind, self.numbers, **fields)

    def new_word(self) -> int:
        self.words += 1
        return self.words - 1

    def new_row(self) -> int:
        self.rows += 1
        return self.rows - 1

    def put(self, graph: Graph, before: list[Node], place: Any, work: Work) -> Node:
        real = self.world.add(place, work)
        node = graph.add(work, before, BODIES.get(work.kind, 0))
        node.held, node.handle = real, real.handle
        return node

    def draw_value_word(self, choices: Choices) -> int:
        """A word of a kernel or copy, not the counter of a loop, which would not end."""
        words = {w.word for root in self.definitions for w in root.works() if w.kind in ("kernel", "memcpy")}
        return choices.one_of(sorted(words) or [self.new_word()])

    def draw_work(self, choices: Choices, kind: str) -> Work:
        most = 2**32 - 1
        if kind in ("kernel", "callback"):
            a, c = choices.number(2, most), choices.number(0, most)
            named = choices.one_of([*PARAMETERS, None, None]) if kind == "kernel" else None
            return self.work(kind, word=self.new_word(), row=self.new_row(), a=a, c=c, parameter=named)
        if kind == "memset":
            return self.work(kind, word=self.draw_value_word(choices))
        if kind == "memcpy":
            return self.work(kind, source=self.draw_value_word(choices), word=self.new_word())
        return self.work(kind)

    @initialize(choices=CHOICES)
    def begin(self, choices: Choices) -> None:
        self.define()
        self.add_some(choices, self.definitions[0], 30)

    def define(self) -> None:
        self.definitions.append(Graph(held=cg.GraphDef()))

    @rule()
    def new_definition(self) -> None:
        if len(self.definitions) < DEFINITIONS:
            self.define()

    @rule(choices=CHOICES)
    def add_nodes(self, choices: Choices) -> None:
        self.add_some(choices, self.draw_graph(choices), 12)

    def add_some(self, choices: Choices, graph: Graph, most: int) -> None:
        for _ in range(most):
            if not choices.chance(95) or self.is_full(graph.root()):
                return
            before = choices.some_of(list(graph.before))
            place = self.real(before[0]) if before else self.real_graph(graph)
            kinds = SIMPLE if in_body(graph) else SIMPLE + OUTSIDE
            if choices.chance(10) and may_branch(graph):
                self.add_conditional_at(choices, choices.one_of(CONDITIONAL), graph, before[:1], place)
                continue
            node = self.put(graph, before, place, self.draw_work(choices, choices.one_of(kinds)))
            node.held.pred |= [self.real(other) for other in before[1:]]

    @rule(choices=CHOICES)
    def join_nodes(self, choices: Choices) -> None:
        graph, before, place = self.draw_place(choices)
        if self.is_full(graph.root()):
            return
        others = [node for node in graph.before if node not in before]
        nodes = choices.some_of(others)
        real = place.join(*[self.real(node) for node in nodes])
        node = graph.add(self.work("empty"), [*before, *nodes])
        node.held, node.handle = real, real.handle

    @rule(choices=CHOICES)
    def add_memory(self, choices: Choices) -> None:
        """Allocate, store, load, free, one after the other."""
        root = choices.one_of(self.definitions)
        # A driver refuses changes of a graph with such nodes; more than some machines would be stuck with them.
        if self.is_full(root) or root.was_embedded or not choices.chance(25):
            return
        self.close_executables(root)
        memory, source = self.numbers, self.draw_value_word(choices)
        place, before = self.real_graph(root), []
        for kind, fields in (
            ("alloc", {}),
            ("store", {"source": source}),
            ("load", {"word": self.new_word()}),
            ("free", {}),
        ):
            node = self.put(root, before, place, self.work(kind, memory=memory, **fields))
            place, before = node.held, [node]

    # Conditional nodes.

    def draw_handle(self, choices: Choices, graph: Graph, loops: bool) -> Handle:
        """One whose node was destroyed; else a new one, of this graph or one around it."""
        for handle in self.handles:
            if handle.user is None and handle.loops == loops and handle.home.root() is graph.root():
                return handle
        home = choices.one_of(list(graph.outer()))
        default = choices.number(0, 1 if loops else 3)
        self.numbers += 1
        self.world.conditions[self.numbers] = self.real_graph(home).create_condition(default)
        self.handles.append(Handle(self.numbers, home, loops, default))
        return self.handles[-1]

    def put_conditional(
        self, choices: Choices, kind: str, graph: Graph, before: list[Node], place: Any, handle: Handle
    ) -> None:
        if kind == "while":
            times, word = choices.number(0, 3), self.new_word()
            setter = self.work("start", word=word, a=times, condition=handle.number)
        else:
            a, c = choices.number(1, 4), choices.number(0, 99)
            setter = self.work("decide", row=self.new_row(), a=a, c=c, condition=handle.number)
        if kind == "while" or choices.chance(50):  # else the default decides
            before = [self.put(graph, before, place, setter)]
            place = before[0].held
        work = self.work(kind, condition=handle.number, default=handle.default)
        node = handle.user = self.put(graph, before, place, work)
        if kind == "while":
            (body,) = node.inner
            counter = self.work("count", word=word, condition=handle.number)
            self.put(body, [], self.real_graph(body), counter)
        for body in node.inner:
            self.add_some(choices, body, 2)

    def add_conditional_at(
        self, choices: Choices, kind: str, graph: Graph, before: list[Node], place: Any
    ) -> None:
        handle = self.draw_handle(choices, graph, kind == "while")
        self.put_conditional(choices, kind, graph, before, place, handle)

    @rule(choices=CHOICES, kind=st.sampled_from(CONDITIONAL))
    def add_conditional(self, choices: Choices, kind: str) -> None:
        graph, before, place = self.draw_place(choices)
        if may_branch(graph) and not self.is_full(graph.root()):
            self.add_conditional_at(choices, kind, graph, before, place)

    def unused_handles(self, root: Graph) -> list[Handle]:
        return [h for h in self.handles if h.user is None and h.home.root() is root]

    # Clones.

    @rule(choices=CHOICES)
    def embed(self, choices: Choices) -> None:
        graph, before, place = self.draw_place(choices)
        child = choices.one_of(self.definitions)
        if child is graph.root() or self.is_full(graph.root()) or self.is_full(child):
            return
        if in_body(graph) and child.holds(*OUTSIDE):
            return
        if child.holds(*CONDITIONAL, *MEMORY) or self.unused_handles(child):
            refused = ValueError if in_body(graph) and child.holds(*MEMORY) else cg.CUDAError
            with pytest.raises(refused):
                place.embed(self.real_graph(child))
            return
        real = place.embed(self.real_graph(child))
        node = graph.add(self.work("child"), before)
        node.held, node.handle = real, real.handle
        node.inner = [child.copy(node)]
        child.was_embedded = True
        self.adopt(node.inner[0], real.child_graph)

    def adopt(self, graph: Graph, real: cg.GraphDef) -> None:
        """Find the nodes of a clone."""
        graph.held = real
        for node, found in match(graph, real, self.world).items():
            node.held, node.handle = found, found.handle
            for inner in node.inner:
                self.adopt(inner, found.child_graph)

    # Changes.

    @rule(choices=CHOICES, edit=st.sampled_from([*RESULTS]), forward=st.booleans())
    def edit_edges(self, choices: Choices, edit: str, forward: bool) -> None:
        graph = self.draw_graph(choices)
        if not graph.before:
            return
        node = choices.one_of(list(graph.before))
        ancestors = graph.ancestors()
        now = graph.after(node) if forward else graph.before[node]
        legal = [
            other
            for other in graph.before
            if other is not node
            and (other not in ancestors[node] if forward else node not in ancestors[other])
        ]
        chosen = set(choices.some_of(legal))
        wanted = RESULTS[edit](now, chosen)
        real, nodes = self.real(node), {self.real(other) for other in chosen}
        name = "succ" if forward else "pred"

        def do() -> None:
            if edit == "=":
                setattr(real, name, nodes)
            else:
                EDITS[edit](getattr(real, name), nodes)

        if not now <= wanted and graph.root().holds(*MEMORY):
            if graph.owner is None:
                with pytest.raises(cg.CUDAError):
                    do()
            return
        do()
        for other in graph.before:
            if forward and other is not node:
                graph.before[other].discard(node)
                graph.before[other] |= {node} if other in wanted else set()
        if not forward:
            graph.before[node] = set(wanted)

    @rule(choices=CHOICES)
    def remove_what_is_not_there(self, choices: Choices) -> None:
        graph = self.draw_graph(choices)
        absent = [(u, v) for u in graph.before for v in graph.before if u not in graph.before[v]]
        if absent:
            u, v = choices.one_of(absent)
            with pytest.raises(KeyError):
                self.real(u).succ.remove(self.real(v))

    @rule(choices=CHOICES)
    def add_illegal_edges(self, choices: Choices) -> None:
        graph, other = self.draw_graph(choices), self.draw_graph(choices)
        if not graph.before:
            return
        node = choices.one_of(list(graph.before))
        strangers = [node] if other is graph else list(other.before)
        fellows = [n for n in graph.before if n is not node and node not in graph.ancestors()[n]]
        if strangers:
            bad = [self.real(n) for n in (*fellows[:1], choices.one_of(strangers))]
            with pytest.raises(cg.CUDAError):
                self.real(node).pred.update(*bad)

    @rule(choices=CHOICES)
    def destroy(self, choices: Choices) -> None:
        graph = self.draw_graph(choices)
        nodes = [node for node in graph.before if node.work.kind != "count"]  # without it a loop has no end
        if not nodes or (graph.owner is not None and graph.root().holds(*MEMORY)):
            return
        node = choices.one_of(nodes)
        real = self.real(node)
        if graph.holds(*MEMORY):
            with pytest.raises(cg.CUDAError):
                real.destroy()
            return
        inside = [inner for body in node.inner for inner in body.walk()]
        wrappers = [real, *(self.real_graph(inner) for inner in inside)]
        wrappers += [other.held for inner in inside for other in inner.before if other.held]
        real.destroy()
        real.destroy()
        graph.remove(node)
        self.gone = [*wrappers, *self.gone][:20]
        for handle in self.handles:
            if handle.user is node or (handle.user and handle.user.graph in inside):
                handle.user = None
            if handle.home in inside:  # a driver keeps handles for the hierarchy
                handle.home = graph

    @rule(choices=CHOICES)
    def forget_wrappers(self, choices: Choices) -> None:
        """Drops wrappers; the next access to their objects makes new ones."""
        for graph in self.graphs():
            if graph.owner is not None and choices.chance(50):
                graph.held = None
            for node in graph.before:
                node.held = None if choices.chance(50) else node.held

    @rule(choices=CHOICES)
    def drop_definition(self, choices: Choices) -> None:
        """Executables do not need their definitions."""
        if len(self.definitions) > 1 and choices.chance(12):
            root = choices.one_of(self.definitions)
            self.definitions.remove(root)
            self.handles = [handle for handle in self.handles if handle.home.root() is not root]
            for graph in root.walk():
                graph.held = None
                for node in graph.before:
                    node.held = None

    # Running.

    def close_executables(self, root: Graph) -> None:
        for executable in self.executables:
            if executable.root is root:
                executable.graph.close()
        self.executables = [e for e in self.executables if e.root is not root]

    @rule(choices=CHOICES)
    def instantiate_a_cycle(self, choices: Choices) -> None:
        graph = self.draw_graph(choices)
        # libcuda does not notice a cycle through the node of a child graph that is empty.
        nodes = [node for node in graph.before if node.work.kind != "child"]
        pairs = [(u, v) for v in nodes for u in graph.before[v] if u in nodes]
        if not pairs or graph.root().holds(*MEMORY):
            return
        u, v = (self.real(node) for node in choices.one_of(pairs))
        v.succ.add(u)
        with pytest.raises(cg.CUDAError):
            self.real_graph(graph.root()).instantiate()
        v.succ.remove(u)

    @rule(choices=CHOICES)
    def instantiate(self, choices: Choices) -> None:
        self.make_executable(choices)

    def make_executable(self, choices: Choices) -> None:
        root = choices.one_of(self.definitions)
        real = self.real_graph(root)
        single = (*CONDITIONAL, *MEMORY)  # with these only one executable may live
        while unused := self.unused_handles(root):
            with pytest.raises(cg.GraphInstantiateError):
                real.instantiate()
            handle = unused[0]
            kind = "while" if handle.loops else choices.one_of(BRANCHING)
            self.put_conditional(choices, kind, handle.home, [], self.real_graph(handle.home), handle)
        while race := next(races(root), None):
            u, v = race
            self.real(v).pred.add(self.real(u))
            v.graph.before[v].add(u)
        if root.holds(*single):
            if any(e.root is root and e.snapshot.holds(*single) for e in self.executables):
                with pytest.raises(cg.CUDAError):
                    real.instantiate()
            self.close_executables(root)
        twins: dict[Node, Node] = {}
        snapshot = root.copy(twins=twins)
        self.executables.append(Executable(root, snapshot, twins, real.instantiate()))
        for executable in self.executables[:-EXECUTABLES]:
            executable.graph.close()
        self.executables = self.executables[-EXECUTABLES:]
        self.run(self.executables[-1])

    @rule(choices=CHOICES)
    def launch_again(self, choices: Choices) -> None:
        if self.executables:
            self.run(choices.one_of(self.executables))

    def run(self, executable: Executable, **values: int) -> None:
        executable.values |= values
        lists = launch(executable.snapshot, self.state, executable.values)
        self.world.write_table(lists)
        executable.graph.launch(self.world.stream, **values)
        self.world.stream.sync()
        assert self.world.words.tolist() == self.state.words

    # Invariants after each step.

    @invariant()
    def definitions_are_what_the_model_says(self) -> None:
        self.steps += 1
        for graph in self.graphs():
            compare(graph, self.real_graph(graph), self.world)

    @invariant()
    def what_was_destroyed_is_gone(self) -> None:
        for thing in self.gone:
            assert not thing.is_valid
            if isinstance(thing, cg.GraphNode):
                assert thing.handle is None
                assert not thing.pred
                assert not thing.succ

    def teardown(self) -> None:
        self.world.steps += self.steps
        self.__dict__.clear()  # Hypothesis holds on to the machine


def in_body(graph: Graph) -> bool:
    return any(around.owner and around.owner.work.kind in CONDITIONAL for around in graph.outer())


def in_child(graph: Graph) -> bool:
    return any(around.owner and around.owner.work.kind == "child" for around in graph.outer())


def may_branch(graph: Graph) -> bool:
    # libcuda does not instantiate a graph that got a conditional node after it had been embedded.
    return not in_child(graph) and not graph.root().was_embedded and len(list(graph.outer())) <= DEPTH


def compare(graph: Graph, real: cg.GraphDef, world: World) -> None:
    assert real.is_valid
    found = {node.handle: node for node in real.nodes()}
    assert found.keys() == {node.handle for node in graph.before}
    wanted = {(p.handle, node.handle) for node, before in graph.before.items() for p in before}
    assert {(u.handle, v.handle) for u, v in real.edges()} == wanted
    for node, before in graph.before.items():
        there = found[node.handle]
        assert node.held is None or there is node.held
        assert type(there) is CLASSES[node.work.kind]
        assert there.is_valid
        assert there.graph == real
        assert node.work.kind == "child" or mark_of(there) == world.mark(node.work)
        for view, others in ((there.pred, before), (there.succ, graph.after(node))):
            assert {id(other) for other in view} == {id(found[other.handle]) for other in others}
