# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Loading a saved graph beside building it: a definition of 1,000 nodes, and its executable.

    python benchmarks/saved.py [--driver host|cuda] [--nodes 1000] [--rounds 15] [--json out.json]

The definition is a chain of kernel nodes, and every tenth node is a fill. Both contestants make the definition, and
instantiate it. The bar is 1.3 times the time of building.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from timing import measure, warm_up

import cuda_graphs as cg

Floats = cg.types.ndarray(cg.f32, ndim=1)


@cg.kernel
def axpy(a: cg.f32, x: Floats, y: Floats):
    for i in x:
        y[i] += a * x[i]


PTX = b"""
.version 7.8
.target sm_80
.address_size 64
.visible .entry touch(.param .u64 .ptr .global y, .param .u64 .ptr .global x, .param .f32 a) { ret; }
"""


class Chain:
    """A chain of nodes, every tenth of which is a fill, and a file of it.

    Args:
        nodes: Their number.
        add: A function that adds a kernel node after a node.
        file: The path of the file.
        architectures: GPUs for which the file has cubins.
    """

    def __init__(
        self, nodes: int, add: Callable[..., Any], file: Path, architectures: Sequence[str] = ()
    ) -> None:
        self.nodes, self.add, self.file = nodes, add, file
        self.x, self.y = cg.ndarray(cg.f32, 1024), cg.ndarray(cg.f32, 1024)
        self.build().save(file, include=[self.x, self.y], architectures=architectures)

    def build(self) -> cg.GraphDef:
        g = cg.GraphDef()
        place: Any = g
        x, y, add = self.x, self.y, self.add
        for number in range(self.nodes):
            place = place.memset(y, 0.0) if number % 10 == 9 else add(place, x, y)
        return g

    def load(self) -> cg.GraphDef:
        return cg.load(self.file)


def ways() -> dict[str, Callable[..., Any]]:
    """Return the ways to add a kernel node, by name: the cheapest one is last."""
    touch = cg.ObjectCode.from_ptx(PTX).get_kernel("touch")
    config = cg.LaunchConfig(grid=8, block=128)
    return {
        "calls of a kernel of Python": lambda place, x, y: place.call(axpy, 2.0, x, y),
        "launches of a kernel of PTX": lambda place, x, y: place.launch(config, touch, y, x, 2.0),
    }


def timed(make: Callable[[], cg.GraphDef]) -> Callable[[], float]:
    """Return a function that makes and instantiates a definition, and returns the milliseconds of that."""

    def run() -> float:
        start = time.perf_counter_ns()
        g = make()
        graph = g.instantiate()
        elapsed = time.perf_counter_ns() - start
        del graph, g
        return elapsed / 1e6

    return run


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--driver", choices=["host", "cuda"], default=os.environ.get("CUDA_GRAPHS_DRIVER"))
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    if args.driver:
        cg.use_driver(args.driver)
    cg.Device().set_current()
    warm_up()
    table: dict[str, Any] = {}
    print(f"{args.nodes} nodes on the {cg.driver_info().kind} driver; ms, best of {args.rounds} turns")
    print(f"{'':30} {'build':>8} {'load':>8} {'ratio':>6}  bytes")
    with tempfile.TemporaryDirectory() as folder:
        for name, add in ways().items():
            chain = Chain(args.nodes, add, Path(folder, f"{len(table)}.cgg"))
            found = measure({"build": timed(chain.build), "load": timed(chain.load)}, args.rounds)
            table[name] = found
            build, load = (best_of(found[key]) for key in ("build", "load"))
            print(f"{name:30} {build:8.2f} {load:8.2f} {load / build:6.2f}  {chain.file.stat().st_size}")
    if args.json:
        args.json.write_text(json.dumps({"nodes": args.nodes, "ms": table}, indent=1))


def best_of(turns: Any) -> float:
    return float(turns["best"])


if __name__ == "__main__":
    main()
