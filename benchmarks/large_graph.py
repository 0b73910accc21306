# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The cost of a node and the memory of a graph with 10^6 kernel nodes beside one with 10^4.

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
BARS = {"ratio": 1.3, "MiB on the host driver": 2048}


def memory() -> float:
    """Return the resident memory of this process in MiB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def one(driver: str, nodes: int) -> dict[str, float]:
    """Return the nanoseconds of each step for a node, and the MiB of the graph."""
    import cuda_graphs as cg

    cg.use_driver(driver)
    from contestants import Ours

    rig = Ours()
    first = rig.instantiate(rig.chain(1000))
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
        graph.launch(rig.stream)
        rig.sync()

    last = timed("build", lambda: rig.chain(nodes))
    graph = timed("instantiate", lambda: rig.instantiate(last))
    timed("first launch", launch)
    timed("launch", launch)
    timed("update", lambda: graph.update(last.graph))
    found["MiB"] = memory() - before
    timed("close", graph.close)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--driver", default="auto", choices=("auto", "cuda", "host"))
    parser.add_argument("--nodes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--one", type=int, help="measure one graph in this process, and print JSON")
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(one(arguments.driver, arguments.one)))
        return
    from contestants import machine
    from statistic import cell, ratio_cell, ratios, record
    from timing import write

    turns: dict[int, list[dict[str, float]]] = {nodes: [] for nodes in arguments.nodes}
    for _ in range(arguments.rounds):
        for nodes, taken in turns.items():
            command = [sys.executable, __file__, "--driver", arguments.driver, "--one", str(nodes)]
            taken.append(
                json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            )
    figures = {
        name: {str(nodes): record([turn[name] for turn in taken]) for nodes, taken in turns.items()}
        for name in next(iter(turns.values()))[0]
    }
    for name, row in figures.items():
        few, *_, many = row.values()
        unit = "MiB" if name == "MiB" else "ns a node"
        cells = "   ".join(f"{nodes} nodes: {cell(each)}" for nodes, each in row.items() if each is not None)
        print(f"{name} ({unit})   {cells}   ratio {ratio_cell(ratios(many, few))}")
    print(f"bars: {BARS}")
    write(arguments.json, {"machine": machine(), "figures": figures, "bars": BARS})


if __name__ == "__main__":
    main()
