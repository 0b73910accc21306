# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Bare calls of the driver from Python, the least that a library for Python can take."""

import ctypes
import importlib.util
import time
from collections.abc import Callable
from functools import partial

from contestants import Inside, Ours, built_of
from timing import per_call


class Extension:
    """The bare calls from Python (inside/extension.c), on the graphs and executables of `ours`.

    A call gets the objects that the same call of `ours` gets, and does not look at them. The difference to the time of
    ours is our work.
    """

    def __init__(self, inside: Inside) -> None:
        self.inside = inside
        specification = importlib.util.spec_from_file_location("extension", built_of("extension"))
        assert specification is not None and specification.loader is not None
        module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
        self.make_call = module.Call

    def call(self, name: str, *words: int) -> Callable[..., None]:
        function = ctypes.cast(getattr(self.inside.driver, name), ctypes.c_void_p).value
        return self.make_call(function, *words)

    def add(self, ours: Ours, n: int) -> Callable[[], float]:
        """Time the nodes only: the graphs are made before the clock starts."""
        parameters, node = self.inside.kernel_node(ours), ctypes.c_void_p()
        objects = ours.config, ours.kernel, ours.address
        create, destroy = self.inside.driver.cuGraphCreate, self.inside.driver.cuGraphDestroy
        repeats = max(1, 200 // n)

        def adding(graph: ctypes.c_void_p, dependencies: int) -> Callable[..., None]:
            place = ctypes.addressof(node)  # of the new node, and of the node before it
            words = place, graph.value, place, dependencies, ctypes.addressof(parameters)
            return self.call("cuGraphAddKernelNode_v2", *words)

        def run() -> float:
            graphs = [ctypes.c_void_p() for _ in range(repeats)]
            assert not any(create(ctypes.byref(graph), 0) for graph in graphs)
            calls = [(adding(graph, 0), adding(graph, 1)) for graph in graphs]
            start = time.perf_counter_ns()
            for first, further in calls:
                first(*objects)
                for _ in range(n - 1):
                    further(*objects)
            elapsed = time.perf_counter_ns() - start
            assert not any(destroy(graph) for graph in graphs)
            return elapsed / repeats / n / 1e3

        return run

    def launch(self, ours: Ours, n: int) -> Callable[[], float]:
        graph, _ = ours.executable(n)
        call = self.call("cuGraphLaunch", int(graph.handle), int(ours.stream.handle))
        return per_call(partial(call, ours.stream), 20, ours.sync)

    def launch_kernel(self, ours: Ours) -> Callable[[], float]:
        function, _, _ = self.inside.launch_kernel_arguments(ours)
        self.argument = ctypes.c_uint64(ours.address)
        self.arguments = (ctypes.c_void_p * 1)(ctypes.addressof(self.argument))
        size = 1, 1, 1, 1, 1, 1, 0
        words = function.value, *size, int(ours.stream.handle), ctypes.addressof(self.arguments), 0
        call = partial(self.call("cuLaunchKernel", *words), ours.stream, ours.config, ours.kernel, ours.data)
        return per_call(call, 50, ours.sync)
