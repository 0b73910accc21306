# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The cost of a node and the memory of a graph with 10^6 kernel nodes beside one with 10^4, and beside calls from C.

    python benchmarks/large_graph.py [--driver host|cuda] [--nodes 10000 1000000] [--rounds 3] [--json out.json]

Each turn is a process of its own, and the sizes take turns. The times are CPU time of all threads of the process for a
node, without the first 1,000 nodes of the process. The memory is what the process has in addition to that before.
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

SIZES = (10_000, 1_000_000)
OURS, BARE = MAKERS = "cuda_graphs", "C"
BARS = {"cost of a node": 1.3, "MiB on the host driver": 2048, "memory on libcuda beside C": 1.2}


def memory() -> float:
    """Return the resident memory of this process in MiB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def one(driver: str, maker: str, nodes: int) -> dict[str, float]:
    """Return the nanoseconds of each step for a node, and the MiB of the graph."""
    import cuda_graphs as cg

    cg.use_driver(driver)
    from contestants import Inside, Ours

    rig = Ours()
    inside = Inside(cg.driver_info().path)
    build = {OURS: lambda n: rig.chain(n).graph, BARE: lambda n: inside.chain(rig, n)}[maker]
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
    executable = timed("instantiate", lambda: graph.instantiate())
    timed("first launch", launch)
    timed("launch", launch)
    timed("update", lambda: executable.update(graph))
    found["MiB"] = memory() - before
    timed("close", executable.close)
    found["all steps"] = sum(each for name, each in found.items() if name != "MiB")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--driver", default="auto", choices=("auto", "cuda", "host"))
    parser.add_argument("--nodes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--rounds", type=int, default=3)
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
    from statistic import cell, ratio_cell, ratios, record
    from timing import write

    turns: dict[tuple[str, int], list[dict[str, float]]] = {
        (maker, nodes): [] for nodes in arguments.nodes for maker in MAKERS
    }
    for _ in range(arguments.rounds):
        for (maker, nodes), taken in turns.items():
            command = [
                sys.executable,
                __file__,
                "--driver",
                arguments.driver,
                "--maker",
                maker,
                "--one",
                str(nodes),
            ]
            taken.append(
                json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            )
    few, *_, many = arguments.nodes
    figures = {}
    for name in next(iter(turns.values()))[0]:
        row = {place: record([turn[name] for turn in taken]) for place, taken in turns.items()}
        figures[name] = {f"{maker}, {nodes} nodes": each for (maker, nodes), each in row.items()}
        print(f"{name} ({'MiB' if name == 'MiB' else 'ns a node'})")
        for place, each in figures[name].items():
            print(f"    {place}: {cell(each)}")
        print(f"    {OURS}, {many} nodes beside {few}: {ratio_cell(ratios(row[OURS, many], row[OURS, few]))}")
        print(
            f"    {many} nodes, {OURS} beside {BARE}: {ratio_cell(ratios(row[OURS, many], row[BARE, many]))}"
        )
    print(f"bars: {BARS}")
    write(arguments.json, {"machine": machine(), "figures": figures, "bars": BARS})


if __name__ == "__main__":
    main()
