# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The cost of a task flow beside `g.launch`, and of the launch of its graph beside that of the same graph made by hand.

    python benchmarks/task_flow.py [--driver host|cuda] [--tasks 10000] [--json out.json]

The ratio of a row of building is the time of the flow divided by that of `GraphDef`, with the same arguments.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from contestants import machine
from statistic import Figures, ratio_cell, ratios
from timing import measure, per_call, show, warm_up, write

import cuda_graphs as cg

ARRAYS = 100
FLOATS = 1024
BARS = {"building": 4.0, "launching": 1.03}
SOURCE = """
extern "C" __global__ void axpy(float* y, const float* x, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
"""
F32S = cg.types.ndarray(cg.f32, 1)


@cg.kernel
def axpy(y: F32S, x: F32S, a: cg.f32):
    for i in range(y.shape[0]):
        y[i] = y[i] + a * x[i]


class Rig:
    """Arrays, a kernel of CUDA C++, and the arrays of each task."""

    def __init__(self, tasks: int) -> None:
        device = cg.Device()
        device.set_current()
        self.stream = device.create_stream()
        resource = cg.DeviceMemoryResource(device)
        self.buffers = [resource.allocate(4 * FLOATS, stream=self.stream) for _ in range(ARRAYS)]
        self.arrays = [cg.ndarray(cg.f32, (FLOATS,)) for _ in range(ARRAYS)]
        self.kernel = cg.Program(SOURCE, code_type="c++").compile("cubin").get_kernel("axpy")
        self.config = cg.LaunchConfig(grid=FLOATS // 128, block=128)
        draw = random.Random(7)
        self.pairs = [tuple(draw.sample(range(ARRAYS), 2)) for _ in range(tasks)]

    def declared(self, place: Any, y: int, x: int) -> Any:
        """Add a launch with reads and writes."""
        out, source = self.buffers[y], self.buffers[x]
        return place.launch(
            self.config, self.kernel, out, source, 1.0, FLOATS, reads=[source, out], writes=[out]
        )

    def undeclared(self, place: Any, y: int, x: int) -> Any:
        return place.launch(self.config, self.kernel, self.buffers[y], self.buffers[x], 1.0, FLOATS)

    def copy(self, place: Any, y: int, x: int) -> Any:
        return place.memcpy(self.buffers[y], self.buffers[x], 4 * FLOATS)

    def tile(self, place: Any, y: int, x: int) -> Any:
        """Fill one of 100 tiles of a matrix of 40 rows of 100 bytes."""
        return place.memset(self.buffers[0].handle + 10 * 40 * (y % 10) + 4 * (x % 10), y, 4, 10, 40)

    def compiled(self, place: Any, y: int, x: int) -> Any:
        return place.launch(None, axpy, self.arrays[y], self.arrays[x], 1.0)

    def called(self, place: Any, y: int, x: int) -> Any:
        return place.call(axpy, self.arrays[y], self.arrays[x], 1.0)


ROWS = {
    "launch with reads and writes": Rig.declared,
    "launch of unknown accesses": Rig.undeclared,
    "copy": Rig.copy,
    "fill of a tile of a matrix": Rig.tile,
    "launch of an @cg.kernel": Rig.compiled,
    "call of an @cg.kernel": Rig.called,
}


def build_plain(rig: Rig, add: Callable[..., Any], tasks: int) -> Callable[[], float]:
    """Return the microseconds of a task in a definition, without edges."""

    def run() -> float:
        graph = cg.GraphDef()
        start = time.perf_counter_ns()
        for y, x in rig.pairs[:tasks]:
            add(rig, graph, y, x)
        return (time.perf_counter_ns() - start) / tasks / 1e3

    return run


def build_flow(rig: Rig, add: Callable[..., Any], tasks: int) -> Callable[[], float]:
    """Return the microseconds of a task in a task flow, with its end."""

    def run() -> float:
        graph = cg.GraphDef()
        start = time.perf_counter_ns()
        with graph.task_flow() as flow:
            for y, x in rig.pairs[:tasks]:
                add(rig, flow, y, x)
        return (time.perf_counter_ns() - start) / tasks / 1e3

    return run


def graphs(rig: Rig, tasks: int) -> tuple[cg.Graph, cg.Graph]:
    """Return the graph of a flow, and the same graph made by hand, with the edges of the first."""
    definition = cg.GraphDef()
    with definition.task_flow() as flow:
        nodes = [rig.declared(flow, y, x) for y, x in rig.pairs[:tasks]]
    by_hand = cg.GraphDef()
    copies = [rig.declared(by_hand, y, x) for y, x in rig.pairs[:tasks]]
    copy_of = dict(zip(nodes, copies, strict=True))
    for node, copy in copy_of.items():
        if before := [copy_of[each] for each in node.pred]:
            copy.pred.update(before)
    return definition.instantiate(), by_hand.instantiate()


def launches(rig: Rig, graph: cg.Graph) -> Callable[[], float]:
    def call() -> None:
        graph.launch(rig.stream)
        rig.stream.sync()

    return per_call(call, 5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--driver", default="auto", choices=("auto", "cuda", "host"))
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path, help="write the figures here")
    arguments = parser.parse_args()
    cg.use_driver(arguments.driver)
    rig = Rig(arguments.tasks)
    warm_up()
    building: Figures = {}
    for name, add in ROWS.items():
        tasks = arguments.tasks if add in (Rig.declared, Rig.undeclared) else arguments.tasks // 10
        contestants = {
            "GraphDef": build_plain(rig, add, tasks),
            "task flow": build_flow(rig, add, tasks),
        }
        building[f"{name}, {tasks} tasks"] = measure(contestants, arguments.rounds)
    launching: Figures = {}
    for tasks in (100, 1000):
        flow, by_hand = graphs(rig, tasks)
        contestants = {"by hand": launches(rig, by_hand), "task flow": launches(rig, flow)}
        launching[f"launch + sync, {tasks} tasks"] = measure(contestants, 3 * arguments.rounds)
    for title, figures in (("building, a task", building), ("launching", launching)):
        show(title, figures)
        for row, (plain, flow) in ((row, tuple(each.values())) for row, each in figures.items()):
            print(f"{row}: ratio {ratio_cell(ratios(flow, plain))}")
    print(f"bars: {BARS}")
    document = {"machine": machine(), "building": building, "launching": launching, "bars": BARS}
    write(arguments.json, document)


if __name__ == "__main__":
    main()
