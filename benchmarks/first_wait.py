# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""From `load` to the end of the first wait, in Python and in C: a saved chain of nodes is loaded and launched.

    python benchmarks/first_wait.py [--driver host|cuda] [--nodes 2 100 1000] [--rounds 15] [--cubins]
        [--json out.json]

Each turn is a process of its own, in which the context is present and cuda_graphs is imported. A byte has been
allocated and filled, since the first allocation makes the pool of the device. The bar is 1.2 times the time of the
program in C (raw/first_wait.c), which loads the same file by the library for C. With --cubins the file has machine
code for this GPU; else the driver compiles PTX, or finds it in its cache.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from saved import Chain, ways
from statistic import STATISTICS, ratio, record

import cuda_graphs as cg

HERE = Path(__file__).parent
IN_PYTHON = """
import sys, time
import cuda_graphs as cg
cg.Device().set_current()
stream = cg.Device().create_stream()
one = cg.Device().allocate(1, stream=stream)
one.fill(0, stream=stream)
stream.sync()
times = [time.perf_counter_ns()]
definition = cg.load(sys.argv[1])
times.append(time.perf_counter_ns())
graph = definition.instantiate()
times.append(time.perf_counter_ns())
graph.launch(stream)
times.append(time.perf_counter_ns())
stream.sync()
times.append(time.perf_counter_ns())
print(*(end - begin for begin, end in zip(times, times[1:])))
"""
PARTS = ("load", "instantiate", "launch", "wait")


def built(folder: Path) -> Path:
    """Return the program in C."""
    program, library = folder / "first_wait", Path(cg.__file__).parent / "runtime"
    command = ["gcc", "-O2", "-std=c99", HERE / "raw/first_wait.c", f"-I{cg.get_include()}", f"-L{library}"]
    subprocess.run([*command, "-lcuda_graphs", f"-Wl,-rpath,{library}", "-o", program], check=True)
    return program


def milliseconds(*command: object) -> list[float]:
    """Return the time of each part of a turn."""
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True, check=True)
    return [int(each) / 1e6 for each in done.stdout.split()]


def recorded(turns: list[list[float]]) -> dict[str, Any]:
    """Return the record of whole turns, with the median of each part."""
    medians = [statistics.median(part) for part in zip(*turns, strict=True)]
    return record([sum(turn) for turn in turns]) | {"parts": dict(zip(PARTS, medians, strict=True))}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--driver", choices=["host", "cuda"])
    parser.add_argument("--nodes", type=int, nargs="+", default=[2, 100, 1000])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--cubins", action="store_true")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    if args.driver:
        os.environ["CUDA_GRAPHS_DRIVER"] = args.driver
    cg.Device().set_current()
    os.environ["CUDA_GRAPHS_DRIVER"] = kind = cg.driver_info().kind
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its byte code
    (add, _) = ways().values()
    architectures = [f"sm_{cg.Device().arch}"] if args.cubins else []
    table: dict[str, dict[str, object]] = {}
    print(
        f"{kind} driver; ms, median and best of {args.rounds} processes; load average {os.getloadavg()[0]:.1f}"
    )
    with tempfile.TemporaryDirectory() as folder:
        program = built(Path(folder))
        for nodes in args.nodes:
            file = Path(folder, "chain.cgg")
            Chain(nodes, add, file, architectures)
            commands: dict[str, list[object]] = {
                "C": [program, file],
                "Python": [sys.executable, "-c", IN_PYTHON, file],
            }
            for command in commands.values():
                milliseconds(*command)  # caches of the driver, and byte code
            turns: dict[str, list[list[float]]] = {name: [] for name in commands}
            for _ in range(args.rounds):
                for name, command in commands.items():
                    turns[name].append(milliseconds(*command))
            table[str(nodes)] = found = {name: recorded(each) for name, each in turns.items()}
            for name, each in found.items():
                of_c = [f"{ratio(each, found['C'], one):.2f}" for one in STATISTICS]
                parts = ", ".join(f"{part} {time:.2f}" for part, time in each["parts"].items())
                print(
                    f"{nodes:5} nodes  {name:6} {each['median']:8.2f} {each['best']:8.2f}  {', '.join(of_c)} of C; "
                    f"{parts}"
                )
    if args.json:
        args.json.write_text(json.dumps(table, indent=1))


if __name__ == "__main__":
    main()
