# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: whatever is done to definitions, in whatever order, they are what a dict of sets says, and compute what it says.

The machine of graph_machine.py, and what changes nodes in place: of a definition, of an executable, of all nodes of an
executable at once. The suite takes a short walk; `make nightly` takes one of more than 10,000 steps.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import rule, run_state_machine_as_test

import cuda_graphs as cg
from tests.property.graph_machine import CHOICES, OUTSIDE, Choices, Executable, GraphMachine, in_body
from tests.property.graph_model import CONDITIONAL, MEMORY, Graph, Node, Work, races
from tests.property.graph_world import CHANGE, PARAMETERS, World

SWITCHABLE = ("kernel", "decide", "memset", "memcpy")


class UpdatingMachine(GraphMachine):
    def draw_change(self, choices: Choices, work: Work) -> Work:
        """The same kind of work with other numbers; it touches the same memory, but for what a copy reads."""
        if work.kind in ("kernel", "decide"):  # the configuration, which marks a kernel, stays
            named = work.parameter if choices.chance(50) else None
            return replace(work, a=choices.number(2, 9), c=choices.number(0, 99), parameter=named)
        if work.kind == "memcpy":
            return replace(work, source=self.draw_value_word(choices))
        self.numbers += 1
        return replace(work, number=self.numbers, c=choices.number(0, 99))

    def changeable(self, root: Graph) -> list[Node]:
        return [node for graph in root.walk() for node in graph.before if node.work.kind in CHANGE]

    @rule(choices=CHOICES)
    def change_nodes(self, choices: Choices) -> None:
        """For executables made later."""
        self.change_some(choices, choices.one_of(self.definitions))

    def change_some(self, choices: Choices, root: Graph) -> None:
        for node in choices.some_of(self.changeable(root), least=1):
            work = self.draw_change(choices, node.work)
            self.world.change(self.real(node), work)
            node.work = work

    @rule(choices=CHOICES)
    def change_child(self, choices: Choices) -> None:
        """Embeds anew; what was inside before is gone."""
        root = choices.one_of(self.definitions)
        nodes = [n for graph in root.walk() for n in graph.before if n.work.kind == "child"]
        child = choices.one_of(self.definitions)
        if not nodes or child is root or root.holds(*MEMORY) or self.is_full(root) or self.is_full(child):
            return
        node = choices.one_of(nodes)
        if in_body(node.graph) and child.holds(*OUTSIDE):
            return
        real = self.real(node)
        if child.holds(*CONDITIONAL, *MEMORY) or self.unused_handles(child):
            with pytest.raises(cg.CUDAError):
                real.update(self.real_graph(child))
            return
        before = [self.real_graph(graph) for graph in node.inner[0].walk()]
        real.update(self.real_graph(child))
        self.gone = [*before, *self.gone][:20]
        node.inner = [child.copy(node)]
        child.was_embedded = True
        self.adopt(node.inner[0], real.child_graph)

    def draw_executable(self, choices: Choices) -> Executable:
        """Draws an executable whose definition is alive; makes one if necessary."""
        if not any(e.root in self.definitions for e in self.executables):
            self.make_executable(choices)
        return choices.one_of([e for e in self.executables if e.root in self.definitions])

    def draw_executable_node(self, choices: Choices, *kinds: str) -> tuple[Executable, Node, Node] | None:
        """An executable, one of its nodes, and that node's twin in the definition."""
        executable = self.draw_executable(choices)
        pairs = [(executable.twins.get(node), node) for node in nodes_of(executable.root)]
        found = [(twin, node) for twin, node in pairs if twin and twin.work.kind in kinds]
        return (executable, *choices.one_of(found)) if found else None

    @rule(choices=CHOICES)
    def change_executable(self, choices: Choices) -> None:
        drawn = self.draw_executable_node(choices, *CHANGE)
        if not drawn:
            return
        executable, twin, node = drawn
        before, twin.work = twin.work, replace(self.draw_change(choices, twin.work), parameter=None)
        if next(races(executable.snapshot), None):
            twin.work = before  # the edges of an executable cannot be changed any more
            return
        self.world.set(executable.graph[self.real(node)], twin.work)
        self.run(executable)

    @rule(choices=CHOICES)
    def switch_node(self, choices: Choices) -> None:
        drawn = self.draw_executable_node(choices, *SWITCHABLE)
        if drawn:
            executable, twin, node = drawn
            view = executable.graph[self.real(node)]
            assert view.is_enabled == twin.enabled
            twin.enabled = choices.chance(50)
            (view.enable if twin.enabled else view.disable)()
            assert view.is_enabled == twin.enabled
            self.run(executable)

    @rule(choices=CHOICES)
    def set_parameters(self, choices: Choices) -> None:
        if not self.executables:
            self.make_executable(choices)
        executable = choices.one_of(self.executables)
        known = sorted(executable.graph.params)
        users = {twin.work.parameter: [] for twin in executable.twins.values()}
        for node, twin in executable.twins.items():
            users[twin.work.parameter].append(node)
        assert set(users) - {None} <= set(known) <= set(PARAMETERS)
        assert all(executable.graph.params[name] == ("u32", executable.values[name]) for name in known)
        values = {name: choices.number(0, 2**32 - 1) for name in choices.some_of(known)}
        if any(is_gone(node) for name in values for node in users.get(name, ())):
            with pytest.raises(RuntimeError):
                executable.graph.set(**values)
        elif choices.chance(50):
            executable.graph.set(**values)
            executable.values |= values
        else:
            self.run(executable, **values)
        self.run(executable)

    @rule(choices=CHOICES)
    def change_foreign_node(self, choices: Choices) -> None:
        """A node of a definition that the executable was not made of."""
        if self.executables:
            executable = choices.one_of(self.executables)
            node = choices.one_of([None, *self.changeable(choices.one_of(self.definitions))])
            if node and node.graph.root() is not executable.root:
                with pytest.raises(cg.CUDAError):
                    self.world.set(executable.graph[self.real(node)], replace(node.work, parameter=None))

    @rule(choices=CHOICES)
    def update_executable(self, choices: Choices) -> None:
        """All nodes at once, from the definition as it is now: of the same shape, or of another number of nodes."""
        executable = self.draw_executable(choices)
        root, real = executable.root, self.real_graph(executable.root)
        if root.holds(*MEMORY):
            return
        if choices.chance(70):
            self.change_some(choices, root)
        if self.unused_handles(root) or next(races(root), None):
            return
        if sizes(root) != sizes(executable.snapshot):
            with pytest.raises(cg.CUDAError):
                executable.graph.update(real)
        elif same_shape(root, executable):
            executable.graph.update(real)
            for node, twin in executable.twins.items():
                twin.work = node.work
        self.run(executable)


def is_gone(node: Node) -> bool:
    """Returns whether the node, or a node around it, was destroyed."""
    graph = node.graph
    inside = graph.owner is not None and (graph not in graph.owner.inner or is_gone(graph.owner))
    return node not in graph.before or inside


def nodes_of(root: Graph) -> list[Node]:
    return [node for graph in root.walk() for node in graph.before]


def sizes(root: Graph) -> list[int]:
    return sorted(len(graph.before) for graph in root.walk())


def same_shape(root: Graph, executable: Executable) -> bool:
    """The nodes that it was made of, with the same edges."""
    twins = executable.twins
    return set(nodes_of(root)) == set(twins) and all(
        {twins[other] for other in node.graph.before[node]} == twin.graph.before[twin]
        for node, twin in twins.items()
    )


def walk(device: cg.Device, stream: cg.Stream, **how: Any) -> int:
    """Let the machine run; the steps that it took."""
    world = World(device, stream)
    run_state_machine_as_test(
        lambda: UpdatingMachine(world),
        settings=settings(deadline=None, suppress_health_check=list(HealthCheck), **how),
    )
    return world.steps


def test_definitions_follow_the_model_on_a_short_walk(device, stream):
    walk(device, stream, derandomize=True, max_examples=20, stateful_step_count=40)


@pytest.mark.nightly
@pytest.mark.timeout(3000)
def test_definitions_follow_the_model_on_a_long_walk(device, stream):
    steps = walk(device, stream, max_examples=400, stateful_step_count=50)
    print(f"{steps} steps")
    assert steps >= 10_000
