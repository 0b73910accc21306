# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The cost of a node and the memory of a graph with 10^6 kernel nodes beside one with 10^4, and beside calls from C.

    python benchmarks/large_graph.py [--driver host|cuda] [--nodes 10000 1000000] [--rounds 5] [--json out.json]

Each turn is a process of its own, and the makers and sizes take turns. The times are CPU time of all threads of the
process, in nanoseconds for a node, without the first 1,000 nodes of the process. The memory is what the process has in
addition to that before. "all steps" is the sum of the times.
"""

import argparse
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from statistic import Record, ratio_cell, ratios, record, values, verdict
from timing import show, write

SIZES = (10_000, 1_000_000)
OURS, BARE = MAKERS = "cuda_graphs", "C"
MEMORY = "MiB"  # the row that is no time
COST_BAR = 1.3  # of a node of the larger graph beside one of the smaller
HOST_MEMORY_BAR = 2048.0  # MiB, of the larger graph on the host driver
CUDA_MEMORY_BAR = 1.2  # of the larger graph on a GPU, beside the one from C


def memory() -> float:
    """Return the resident memory of this process in MiB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def one(driver: str, maker: str, nodes: int) -> dict[str, float]:
    """Return the nanoseconds of each step for a node, and the MiB of the graph."""
    import cuda_graphs as cg

    cg.use_driver(driver)
    from contestants import BareGraph, Inside, Ours

    rig = Ours()
    inside = Inside(cg.driver_info().path) if maker == BARE else None

    def build(n: int) -> cg.GraphDef | BareGraph:
        return rig.chain(n).graph if inside is None else inside.chain(rig, n)

    first = build(1000).instantiate()
    first.launch(rig.stream)
    rig.sync()
    first.close()
    del first
    gc.collect()
    before, found = memory(), {}

    def timed(name: str, step: Callable[[], object]) -> object:
        start = time.process_time_ns()
        made = step()
        found[name] = (time.process_time_ns() - start) / nodes
        return made

    def launch() -> None:
        executable.launch(rig.stream)
        rig.sync()

    graph = timed("build", lambda: build(nodes))
    executable = timed("instantiate", graph.instantiate)
    timed("first launch", launch)
    timed("launch", launch)
    timed("update", lambda: executable.update(graph))
    found[MEMORY] = memory() - before
    timed("close", executable.close)
    found["all steps"] = sum(each for name, each in found.items() if name != MEMORY)
    return found


def take_turns(driver: str, sizes: tuple[int, int], rounds: int) -> dict[str, dict[str, Record]]:
    """Return the Record of each row, by maker and size."""
    command = [sys.executable, __file__, "--driver", driver]
    turns: dict[str, list[dict[str, float]]] = {}
    for _ in range(rounds):
        for nodes in sizes:
            for maker in MAKERS:
                output = subprocess.check_output([*command, "--maker", maker, "--one", str(nodes)], text=True)
                turns.setdefault(place(maker, nodes), []).append(json.loads(output))
    rows = next(iter(turns.values()))[0]
    return {
        row: {where: record([turn[row] for turn in taken]) for where, taken in turns.items()} for row in rows
    }


def place(maker: str, nodes: int) -> str:
    return f"{maker}, {nodes} nodes"


def bar_lines(figures: dict[str, dict[str, Record]], sizes: tuple[int, int], is_host: bool) -> list[str]:
    """Return a line for each bar."""
    few, many, bare = place(OURS, sizes[0]), place(OURS, sizes[1]), place(BARE, sizes[1])
    costs = {row: ratios(found[many], found[few]) for row, found in figures.items() if row != MEMORY}
    lines = [
        f"bar: {row}, {many} beside {few}: <= {COST_BAR}: {ratio_cell(cost)}, {verdict(cost, COST_BAR)}"
        for row, cost in costs.items()
    ]
    found = figures[MEMORY]
    if is_host:
        used = values(found[many])
        return [*lines, f"bar: {MEMORY}, {many}: <= {HOST_MEMORY_BAR}: {verdict(used, HOST_MEMORY_BAR)}"]
    beside = ratios(found[many], found[bare])
    said = verdict(beside, CUDA_MEMORY_BAR)
    return [
        *lines,
        f"bar: {MEMORY}, {many} beside {bare}: <= {CUDA_MEMORY_BAR}: {ratio_cell(beside)}, {said}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--driver", default="auto", choices=("auto", "cuda", "host"))
    parser.add_argument("--nodes", type=int, nargs=2, default=SIZES, metavar=("FEW", "MANY"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--one", type=int, help="measure one graph in this process, and print JSON")
    parser.add_argument("--maker", default=OURS, choices=MAKERS, help="who makes that graph")
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(one(arguments.driver, arguments.maker, arguments.one)))
        return
    import cuda_graphs as cg

    cg.use_driver(arguments.driver)
    from contestants import machine

    sizes = (min(arguments.nodes), max(arguments.nodes))
    figures = take_turns(arguments.driver, sizes, arguments.rounds)
    show("Large graphs", figures, "nanoseconds a node, MiB")
    print(*bar_lines(figures, sizes, cg.driver_info().kind == "host"), sep="\n")
    write(arguments.json, {"machine": machine(), "figures": figures})


if __name__ == "__main__":
    main()
