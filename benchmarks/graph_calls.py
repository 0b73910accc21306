# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What the calls of a graph cost: add nodes, instantiate, launch; beside cuda.core and raw C in one run.

    python benchmarks/graph_calls.py [--driver host|cuda] [--json out.json]

On the host driver cuda.core is absent (it would talk to another driver). A peer that is not installed is reported as
absent, never as beaten. `raw` is benchmarks/raw, a C++ program on the same driver.
"""

import argparse
import ctypes
import json
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from timing import Figures, measure, per_call, show, write

import cuda_graphs as cg

ROOT = Path(__file__).resolve().parent.parent
CHAINS = (1, 10, 100, 1000)
SOURCE = 'extern "C" __global__ void add_one(int* x) { x[0] += 1; }'
LOOP_SOURCE = r"""
extern "C" __device__ __cudart_builtin__ void CUDARTAPI
cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);
extern "C" __global__ void count_down(cudaGraphConditionalHandle handle, int* left) {
    int now = --left[0];
    cudaGraphSetConditional(handle, now > 0);
}
"""


class Ours:
    """The calls through cuda_graphs."""

    def __init__(self) -> None:
        self.device = cg.Device()
        self.device.set_current()
        self.stream = self.device.create_stream()
        self.kernel = cg.Program(SOURCE, code_type="c++").compile("cubin").get_kernel("add_one")
        self.config = cg.LaunchConfig(grid=1, block=1)
        self.data = cg.DeviceMemoryResource(self.device).allocate(4, stream=self.stream)
        self.sync = self.stream.sync

    def chain(self, n: int) -> cg.GraphDef:
        graph = cg.GraphDef()
        config, kernel, data = self.config, self.kernel, self.data.handle
        node = graph.launch(config, kernel, data)
        for _ in range(n - 1):
            node = node.launch(config, kernel, data)
        return graph

    def instantiate(self, graph: cg.GraphDef) -> cg.Graph:
        return graph.instantiate()

    def launch_kernel(self) -> None:
        cg.launch(self.stream, self.config, self.kernel, self.data)


class Core:
    """The same calls through cuda.core."""

    def __init__(self) -> None:
        from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
        from cuda.core.graph import GraphDefinition

        self.definition, self.launch = GraphDefinition, launch
        device = Device()
        device.set_current()
        self.stream = device.create_stream()
        options = ProgramOptions(arch=f"sm_{device.arch}")
        self.kernel = Program(SOURCE, "c++", options).compile("cubin").get_kernel("add_one")
        self.config = LaunchConfig(grid=1, block=1)
        self.data = device.allocate(4, stream=self.stream)
        self.sync = self.stream.sync

    def chain(self, n: int):
        graph = self.definition()
        config, kernel, data = self.config, self.kernel, int(self.data.handle)
        node = graph.launch(config, kernel, data)
        for _ in range(n - 1):
            node = node.launch(config, kernel, data)
        return graph

    def instantiate(self, graph):
        return graph.instantiate()

    def launch_kernel(self) -> None:
        self.launch(self.stream, self.config, self.kernel, self.data)


Rig = Ours | Core


def add(rig: Rig, n: int) -> Callable[[], float]:
    """Microseconds a node, building a chain of n."""

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
    graph = rig.chain(n)
    kept: list[object] = []
    return per_call(lambda: kept.append(rig.instantiate(graph)), max(1, 100 // n), kept.clear)


def launch(rig: Rig, n: int) -> Callable[[], float]:
    """Host time of a launch call, 20 in a row."""
    graph = rig.instantiate(rig.chain(n))
    return per_call(partial(graph.launch, rig.stream), 20, rig.sync)


def launch_and_sync(rig: Rig, n: int) -> Callable[[], float]:
    graph = rig.instantiate(rig.chain(n))
    stream = rig.stream

    def call() -> None:
        graph.launch(stream)
        stream.sync()

    return per_call(call, 50)


def while_iteration(ours: Ours, iterations: int = 2000) -> Callable[[], float]:
    """Microseconds an iteration of a while node whose body is one tiny kernel."""
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


class Inside:
    """The bare calls from C in this process (inside/loops.c), on the graphs and executables of `ours`."""

    def __init__(self, library: str) -> None:
        built = ROOT / "build" / "loops.so"
        built.parent.mkdir(exist_ok=True)
        source = Path(__file__).parent / "inside" / "loops.c"
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", str(source), "-o", str(built)], check=True)
        self.loops = ctypes.CDLL(str(built))
        self.loops.launches.restype = self.loops.instantiation.restype = ctypes.c_double
        self.driver = ctypes.CDLL(library)

    def instantiate(self, ours: Ours, n: int) -> Callable[[], float]:
        graph = ours.chain(n)
        arguments = self.driver.cuGraphInstantiateWithFlags, self.driver.cuGraphExecDestroy
        return lambda: self.loops.instantiation(*arguments, ctypes.c_void_p(graph.handle))

    def launch(self, ours: Ours, n: int) -> Callable[[], float]:
        graph = ours.instantiate(ours.chain(n))
        handles = ctypes.c_void_p(graph.handle), ctypes.c_void_p(ours.stream.handle)

        def run() -> float:
            elapsed = self.loops.launches(self.driver.cuGraphLaunch, *handles, 20)
            assert graph.handle  # alive until here
            ours.sync()
            return elapsed

        return run


def raw_figures(library: str) -> dict[str, float]:
    """Row -> microseconds, from the C++ program on the same driver library."""
    program = Path(__file__).parent / "raw" / "run.py"
    output = subprocess.run(
        [sys.executable, program, library], check=True, capture_output=True, text=True
    ).stdout
    return json.loads(output)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--driver", default="auto", choices=("auto", "cuda", "host"))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    cg.use_driver(arguments.driver)
    info = cg.driver_info()
    ours = Ours()
    core = None
    if info.kind == "cuda":
        try:
            core = Core()
        except ImportError as error:
            print(f"cuda.core is absent: {error}")
    raw = raw_figures(info.path)
    inside = Inside(info.path)
    figures: Figures = {}

    def row(name: str, make: Callable[..., Callable[[], float]], *parameters: int) -> None:
        bare = getattr(inside, make.__name__, None)
        contestants = {
            "cuda_graphs": make(ours, *parameters),
            "cuda.core": core and make(core, *parameters),
            "C, same process": bare and bare(ours, *parameters),
        }
        figures[name] = {**measure(contestants, arguments.rounds), "raw C": raw.get(name)}

    for n in CHAINS:
        row(f"add one kernel node, chain of {n}", add, n)
    for n in CHAINS:
        row(f"instantiate, {n} nodes", instantiate, n)
    for n in CHAINS:
        row(f"launch call, {n} nodes", launch, n)
    for n in CHAINS:
        row(f"launch + sync, {n} nodes", launch_and_sync, n)
    row("launch one kernel on a stream", lambda rig: per_call(rig.launch_kernel, 50, rig.sync))
    figures["while node, one iteration"] = {
        **measure({"cuda_graphs": while_iteration(ours)}, arguments.rounds),
        "cuda.core": None,
        "C, same process": None,
        "raw C": raw.get("while node, one iteration"),
    }
    show(str(info), figures)
    write(arguments.json, {"driver": str(info), "figures": figures})


if __name__ == "__main__":
    main()
