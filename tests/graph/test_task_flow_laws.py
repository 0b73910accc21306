# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of task flows, for random programs (flow_programs.py): every legal order gives the results of program order, all
conflicting steps are ordered, and no edge is redundant.

The first law runs on the random schedules of the host driver, in other processes, and on the driver of the tests.
"""

import os
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import pytest

import cuda_graphs as cg
from tests.graph.flow_programs import Machine, add_program, program, run_program

ROOT = Path(__file__).parent.parent.parent
NIGHTLY = 10_000


@pytest.fixture
def machine(device):
    machine = Machine(device)
    yield machine
    machine.close()


def run_in_random_order(first_seed: int, count: int, schedule: int) -> None:
    environment = {
        "CUDA_GRAPHS_DRIVER": "host",
        "CUDA_GRAPHS_HOST_SCHEDULE": f"random:{schedule}",
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-W", "error", "-m", "tests.graph.flow_programs", str(first_seed), str(count)]
    result = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=3600, check=False
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("schedule", [1, 2])
def test_a_random_legal_order_gives_the_results_of_program_order(schedule):
    run_in_random_order(100 * schedule, 60, schedule)


@pytest.mark.nightly
def test_random_legal_orders_of_many_programs_give_the_results_of_program_order():
    each = NIGHTLY // 10
    for schedule in range(10):
        run_in_random_order(1_000_000 + each * schedule, each, schedule)


@pytest.mark.parametrize("seed", range(15))
def test_the_driver_gives_the_results_of_program_order(seed, machine):
    run_program(machine, 500 + seed)


def descendants(graph: cg.GraphDef) -> dict:
    """{node: the nodes that come after it}"""
    found: dict = {}
    successors = {node: set(node.succ) for node in graph.nodes()}

    def visit(node):
        if node not in found:
            found[node] = set()
            for after in successors[node]:
                found[node] |= {after} | visit(after)
        return found[node]

    for node in successors:
        visit(node)
    return found


def is_ordered_without(edge, edges, before, after) -> bool:
    """Is there a path from one node to another without one of the edges?"""
    reached, waiting = {before}, [before]
    while waiting:
        node = waiting.pop()
        for source, target in edges - {edge}:
            if source == node and target not in reached:
                reached.add(target)
                waiting.append(target)
    return after in reached


def check_structure(machine: Machine, seed: int) -> None:
    steps = program(seed)
    graph, nodes = add_program(machine, steps)
    after = descendants(graph)
    step_of = dict(zip(nodes, steps, strict=True))
    for one, other in combinations(nodes, 2):
        if step_of[one].conflicts(step_of[other]):
            assert other in after[one], f"{one!r} and {other!r} conflict, and have no order"
    edges = graph.edges()
    for before, behind in edges:
        if before in step_of and behind in step_of:
            assert step_of[before].conflicts(step_of[behind]), f"no reason for {before!r} -> {behind!r}"
            assert not is_ordered_without((before, behind), edges, before, behind), (
                f"{before!r} -> {behind!r} is redundant"
            )
    assert not [f for f in graph.check() if f.kind.startswith(("unordered", "use_", "never", "freed"))]


@pytest.mark.parametrize("seed", range(25))
def test_conflicting_steps_are_ordered_and_no_edge_is_redundant(seed, machine):
    check_structure(machine, 2000 + seed)


@pytest.mark.nightly
def test_conflicting_steps_of_many_programs_are_ordered_and_no_edge_is_redundant(machine):
    for seed in range(NIGHTLY // 10):
        check_structure(machine, 2_000_000 + seed)
