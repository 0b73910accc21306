# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The cost of another array in a launch, beside the driver's own call for the changed node.

    python benchmarks/changed_array.py [--driver host|cuda] [--rounds 200] [--json FILE]

The graph has one node, a kernel of Python with an array parameter. All contestants use the same executable, in turns
in one process. The last lines show the cost: a launch with another array minus a launch. The target is the cost in C
plus 0.15 microseconds.
"""

import argparse
import ctypes
import time
from collections.abc import Callable
from pathlib import Path

from contestants import Inside, machine
from statistic import STATISTICS, Record
from timing import measure, show, warm_up, write

import cuda_graphs as cg

PAIRS = 20  # pairs of launches in a turn
ALLOWED = 0.15  # microseconds beyond the cost in C


class KernelNodeParams(ctypes.Structure):
    """CUDA_KERNEL_NODE_PARAMS_v2 of cuda.h."""

    _fields_ = (
        ("func", ctypes.c_void_p),
        ("size", ctypes.c_uint * 7),  # grid, block, and bytes of dynamic shared memory
        ("arguments", ctypes.POINTER(ctypes.c_void_p)),
        ("extra", ctypes.c_void_p),
        ("kernel", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
    )


@cg.kernel
def scale(x: cg.types.ndarray(cg.f32, 1)):
    for i in range(x.shape[0]):
        x[i] = 0.5 * x[i]


class Rig:
    """One executable, and two arrays of the same shape for its parameter."""

    def __init__(self, elements: int) -> None:
        self.device = cg.Device()
        self.device.set_current()
        self.stream = self.device.create_stream()
        self.arrays = [cg.ndarray(cg.f32, elements) for _ in range(2)]
        definition = cg.GraphDef()
        x = definition.param("x", cg.types.ndarray(cg.f32, 1), default=self.arrays[0])
        self.node = definition.call(scale, x)
        self.graph = definition.instantiate()
        self.inside = Inside(cg.driver_info().path)
        self.parameters = [self.parameters_with(array) for array in self.arrays]

    def parameters_with(self, array: cg.NDArray) -> KernelNodeParams:
        """Return the parameters of the node with the address of an array."""
        found = KernelNodeParams()
        status = self.inside.driver.cuGraphKernelNodeGetParams_v2(
            ctypes.c_void_p(self.node.handle), ctypes.byref(found)
        )
        assert status == 0
        offset, size, values = ctypes.c_size_t(), ctypes.c_size_t(), []
        kernel = ctypes.c_void_p(found.kernel)
        while (
            self.inside.driver.cuKernelGetParamInfo(
                kernel, ctypes.c_size_t(len(values)), ctypes.byref(offset), ctypes.byref(size)
            )
            == 0
        ):
            values.append(
                ctypes.create_string_buffer(ctypes.string_at(found.arguments[len(values)], size.value))
            )
        address = self.arrays[0].handle.to_bytes(8, "little")
        places = [value for value in values if value.raw[:-1] == address]
        assert len(places) == 1, "the kernel reads the address from one argument"
        places[0].raw = array.handle.to_bytes(8, "little") + b"\0"
        found.values = values  # alive as long as the parameters
        found.arguments = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
        return found

    def launches(self) -> None:
        launch, stream = self.graph.launch, self.stream
        for _ in range(PAIRS):
            launch(stream)
            launch(stream)

    def changed_launches(self) -> None:
        launch, stream = self.graph.launch, self.stream
        a, b = self.arrays
        for _ in range(PAIRS):
            launch(stream, x=a)
            launch(stream, x=b)

    def bare_launches(self) -> float:
        took = self.inside.loops.launches(self.inside.driver.cuGraphLaunch, *self.handles(), 2 * PAIRS)
        self.stream.sync()
        return float(took)

    def bare_changed_launches(self) -> float:
        exec_, stream = self.handles()
        sets = (ctypes.c_void_p * 2)(*[ctypes.addressof(each) for each in self.parameters])
        driver = self.inside.driver
        took = self.inside.loops.changed_launches(
            driver.cuGraphExecKernelNodeSetParams_v2,
            driver.cuGraphLaunch,
            exec_,
            ctypes.c_void_p(self.node.handle),
            sets,
            stream,
            2 * PAIRS,
        )
        self.stream.sync()
        return float(took)

    def handles(self) -> tuple[ctypes.c_void_p, ctypes.c_void_p]:
        return ctypes.c_void_p(self.graph.handle), ctypes.c_void_p(self.stream.handle)

    def timed(self, launches: Callable[[], None]) -> Callable[[], float]:
        """Return a contestant: microseconds of a launch call, without waiting."""

        def run() -> float:
            start = time.perf_counter_ns()
            launches()
            elapsed = time.perf_counter_ns() - start
            self.stream.sync()
            return elapsed / (2 * PAIRS) / 1e3

        return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--driver", default="auto", choices=("auto", "cuda", "host"))
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    cg.use_driver(options.driver)
    rig = Rig(1024)
    warm_up()
    found: dict[str, Record | None] = measure(
        {
            "launch": rig.timed(rig.launches),
            "launch with another array": rig.timed(rig.changed_launches),
            "C: launch": rig.bare_launches,
            "C: set the node and launch": rig.bare_changed_launches,
        },
        options.rounds,
    )
    show(machine(), {"1 node": found})
    for statistic in STATISTICS:
        took = [0.0 if each is None else each[statistic] for each in found.values()]
        ours, bare = took[1] - took[0], took[3] - took[2]
        print(f"{statistic}: {ours:.3f} microseconds, in C {bare:.3f}, allowed {bare + ALLOWED:.3f}")
    write(options.json, {"machine": machine(), "figures": {"1 node": found}})


if __name__ == "__main__":
    main()
