# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The cost of graph calls (add nodes, instantiate, launch) beside cuda.core and raw C in one run.

    python benchmarks/graph_calls.py [--driver host|cuda] [--only TEXT ...] [--json out.json]

`--only` runs the rows whose names contain one of the texts, without the C++ program. The last lines compare rows with
their bars: targets of cuda_graphs, as multiples of the bare calls of the same run.

On the host driver cuda.core is absent, because it would use another driver. A peer that is not installed is reported as
absent, never as slower. `raw` is benchmarks/raw, a C++ program on the same driver, run in five processes.
"""

import argparse
import itertools
import json
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from contestants import CALLS_IN_A_ROW, Inside, Ours, Rig, core_or_none, machine
from extension_contestant import Extension
from statistic import STATISTICS, Figures, Record, cell, number, record, value, verdict
from timing import measure, per_call, repeat, show, warm_up, write

import cuda_graphs as cg

Make = Callable[..., Callable[[], float]]
"""Prepares a contestant: a function that returns the microseconds of a turn."""

CHAINS = (1, 10, 100, 1000)
NAMED_SOURCE = 'extern "C" __global__ void add(int* x, int amount) { x[0] += amount; }'
BARE = "C, same process"
LEAST = "least from Python"  # an extension module that releases the GIL, makes the bare call and does nothing else
TASKS = 10
RUNS_IN_A_TURN = 10  # of rows with a bar
CALL = f"call of a kernel of {TASKS} tasks, without a graph"

# Row -> (factor, microseconds): the target is `factor` times the bare calls, plus the microseconds.
BARS = {
    "launch one kernel on a stream": (1.08, 0.0),
    CALL: (1.0, 0.4 * TASKS),
    "add one kernel node, chain of 1000": (2.5, 0.0),
    "launch call, 1000 nodes": (1.0, 0.3),
}
LOOP_SOURCE = r"""
#include <cuda_graphs.h>
extern "C" __global__ void count_down(cudaGraphConditionalHandle handle, int* left) {
    int now = --left[0];
    cudaGraphSetConditional(handle, now > 0);
}
"""


def add(rig: Rig, n: int) -> Callable[[], float]:
    """Return the microseconds per node of building a chain of n."""

    def run() -> float:
        repeats = max(1, 200 // n)
        kept = []
        start = time.perf_counter_ns()
        for _ in range(repeats):
            kept.append(rig.chain(n))
        elapsed = time.perf_counter_ns() - start
        return elapsed / repeats / n / 1e3

    return run


def instantiate(rig: Rig, n: int) -> Callable[[], float]:
    last = rig.chain(n)
    kept: list[object] = []
    return per_call(lambda: kept.append(rig.instantiate(last)), max(1, 100 // n), kept.clear)


def launch(rig: Rig, n: int) -> Callable[[], float]:
    """Return the host time of a launch call, mean of 20 in a row."""
    graph, _ = rig.executable(n)
    return per_call(partial(graph.launch, rig.stream), 20, rig.sync)


def launch_kernel(rig: Rig) -> Callable[[], float]:
    """Return the host time of launching one kernel on a stream, mean of 50 in a row."""
    return per_call(rig.launch_kernel(), 50, rig.sync)


@cg.kernel(fuse=False)
def ten_tasks(x: cg.types.ndarray(cg.f32, 1)):
    for _ in cg.static(range(TASKS)):
        for i in x:
            x[i] = x[i] + 1.0


def call_kernel(data: cg.NDArray) -> Callable[[], float]:
    """Return the host time of a call on the default stream, mean of some in a row."""
    return per_call(partial(ten_tasks, data), CALLS_IN_A_ROW, cg.Device().default_stream.sync)


def capture_launch(rig: Rig) -> Callable[[], float]:
    """Return the host time of launching one kernel on a builder, mean of 50 in one capture."""

    def run() -> float:
        builder = rig.device.create_graph_builder()
        builder.begin_building()
        elapsed = per_call(rig.launch_on(builder), 50)()
        builder.end_building()
        builder.close()
        return elapsed

    return run


def read(rig: Rig, n: int) -> Callable[[], float]:
    """Time nodes() and edges() of a definition whose nodes have no Python objects yet."""

    def run() -> float:
        graph = rig.chain(n).graph
        start = time.perf_counter_ns()
        found = graph.nodes(), graph.edges()
        elapsed = time.perf_counter_ns() - start
        assert len(found[0]) == n
        return elapsed / 1e3

    return run


def read_again(rig: Rig, n: int) -> Callable[[], float]:
    """Time the same calls while the sets of the first call still exist."""
    graph = rig.chain(n).graph
    found = graph.nodes(), graph.edges()
    return per_call(lambda: (graph.nodes(), graph.edges()), 3, lambda: len(found))


def update(rig: Rig, n: int) -> Callable[[], float]:
    """Update the whole executable from its definition, 10 times."""
    graph, last = rig.executable(n)
    definition = last.graph
    return per_call(lambda: graph.update(definition), 10)


def set_node(rig: Rig, n: int) -> Callable[[], float]:
    """Set all parameters of the last node of an executable, 100 times."""
    graph, last = rig.executable(n)
    view = graph[last]
    again = partial(view.update, config=rig.config, kernel=rig.kernel, args=(rig.address,))
    return per_call(again, 100)


def launch_and_sync(rig: Rig, n: int) -> Callable[[], float]:
    graph, _ = rig.executable(n)
    stream = rig.stream

    def call() -> None:
        graph.launch(stream)
        stream.sync()

    return per_call(call, 50)


def while_iteration(ours: Ours, iterations: int = 2000) -> Callable[[], float]:
    """Return the microseconds per iteration of a while node whose body is one tiny kernel."""
    kernel = cg.Program(LOOP_SOURCE, code_type="c++").compile("cubin").get_kernel("count_down")
    graph = cg.GraphDef()
    more = graph.create_condition(default_value=1)
    start = graph.memset(ours.data.handle, iterations.to_bytes(4, "little"), 1)
    start.while_loop(more).body.launch(ours.config, kernel, more, ours.data.handle)
    executable = graph.instantiate()

    def call() -> None:
        executable.launch(ours.stream)
        ours.stream.sync()

    once = per_call(call, 3)
    return lambda: once() / iterations


def set_named(ours: Ours, n: int) -> Callable[[], float]:
    """Set a new value of a parameter that one of n kernels uses, 100 times."""
    kernel = cg.Program(NAMED_SOURCE, code_type="c++").compile("cubin").get_kernel("add")
    definition = ours.chain(n - 1).graph if n > 1 else cg.GraphDef()
    definition.launch(ours.config, kernel, ours.address, definition.param("amount", cg.i32, default=0))
    graph = definition.instantiate()
    values = itertools.count()
    return per_call(lambda: graph.set(amount=next(values)), 100)


def raw_figures(library: str) -> dict[str, Record | None]:
    """Times the C++ program on the same driver library; the median of a process is one turn."""
    program = Path(__file__).parent / "raw" / "run.py"
    output = subprocess.run(
        [sys.executable, program, library], check=True, capture_output=True, text=True
    ).stdout
    return {row: record(medians) for row, medians in json.loads(output).items()}


def bar_lines(figures: Figures) -> list[str]:
    """Return a line for each bar whose row was run; at its end what a call from Python takes at least."""
    lines = []
    for row, (factor, more) in BARS.items():
        ours, bare, least = (figures.get(row, {}).get(name) for name in ("cuda_graphs", BARE, LEAST))
        if ours is None or bare is None:
            continue
        # Median and best turn are compared with those of the bare calls.
        bars = {each: factor * (value(bare, each) or 0) + more for each in STATISTICS}
        found = {each: (value(ours, each) or 0) / bar for each, bar in bars.items()}
        ratio = (value(ours) or 0) / (value(bare) or 1)
        lines.append(
            f"bar: {row}: <= {factor:g} x bare + {more:g} us = {number(bars['median'])}: {cell(ours)}, "
            f"bare {cell(bare)}, {ratio:.2f} x bare, {verdict(found, 1.0)}; {LEAST} {cell(least)}"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--driver", default="auto", choices=("auto", "cuda", "host"))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", nargs="+", default=[""], help="texts in the names of the rows to run")
    arguments = parser.parse_args()
    cg.use_driver(arguments.driver)
    info = cg.driver_info()
    ours = Ours()
    core = core_or_none()
    raw = raw_figures(info.path) if arguments.only == [""] else {}
    inside = Inside(info.path)
    extension = Extension(inside)
    figures: Figures = {}
    warm_up()

    def is_wanted(name: str) -> bool:
        return any(text in name for text in arguments.only)

    def take_turns(name: str, contestants: dict[str, Callable[[], float] | None]) -> None:
        if name in BARS:
            contestants = {each: run and repeat(run, RUNS_IN_A_TURN) for each, run in contestants.items()}
        figures[name] = {**measure(contestants, arguments.rounds), "raw C": raw.get(name)}

    def row(name: str, make: Make, *parameters: int) -> None:
        if not is_wanted(name):
            return
        bare, least = (getattr(calls, make.__name__, None) for calls in (inside, extension))
        contestants = {
            "cuda_graphs": make(ours, *parameters),
            "cuda.core": core and make(core, *parameters),
            LEAST: least and least(ours, *parameters),
            BARE: bare and bare(ours, *parameters),
        }
        take_turns(name, contestants)

    for n in CHAINS:
        row(f"add one kernel node, chain of {n}", add, n)
    for n in CHAINS:
        row(f"instantiate, {n} nodes", instantiate, n)
    for n in CHAINS:
        row(f"launch call, {n} nodes", launch, n)
    for n in CHAINS:
        row(f"launch + sync, {n} nodes", launch_and_sync, n)
    row("whole-graph update, 1000 nodes", update, 1000)
    row("set one exec node's parameters", set_node, 1)
    row("set one exec node's parameters, 1000 nodes", set_node, 1000)
    row("nodes() + edges(), 1000 nodes, first call", read, 1000)
    row("nodes() + edges(), 1000 nodes, again", read_again, 1000)
    row("launch one kernel on a stream", launch_kernel)
    row("capture one kernel launch", capture_launch)

    def our_row(name: str, make: Make, make_bare: Make | None, *parameters: object) -> None:
        if not is_wanted(name):
            return
        contestants = {
            "cuda_graphs": make(*parameters),
            "cuda.core": None,
            LEAST: None,
            BARE: make_bare and make_bare(*parameters),
        }
        take_turns(name, contestants)

    for n in (1, 1000):
        our_row(f"set a named parameter of one of {n} nodes", set_named, inside.set_node, ours, n)
    our_row("while node, one iteration", while_iteration, None, ours)
    data = cg.zeros(1024, cg.f32)
    our_row(CALL, call_kernel, partial(inside.call_kernel, ten_tasks), data)
    if not figures:
        parser.error(f"no row has one of {arguments.only} in its name")
    show(str(info), figures)
    print(*bar_lines(figures), sep="\n")
    write(arguments.json, {"machine": machine(), "figures": figures})


if __name__ == "__main__":
    main()
