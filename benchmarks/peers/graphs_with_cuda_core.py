# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""CUDA graphs of cuda.core: kernels in CUDA C++, explicit nodes, and updates of nodes for other arrays."""

import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch
from cuda.core.graph import GraphDefinition

DRIVERS = ("cuda",)
BLOCK = 128
SOURCE = r"""
extern "C" __device__ __cudart_builtin__ void CUDARTAPI
cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);

extern "C" __global__ void add(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] + 1.0f;
}
extern "C" __global__ void count_down(cudaGraphConditionalHandle more, int* left) {
    int now = --*left;
    cudaGraphSetConditional(more, now != 0);
}
extern "C" __global__ void seed(int* left, int value) { *left = value; }
"""

device = Device()
device.set_current()
stream = device.create_stream()
sync = stream.sync
module = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")
add, count_down, seed = (module.get_kernel(name) for name in ("add", "count_down", "seed"))
ONE = LaunchConfig(grid=1, block=1)


def zeros(n):
    made = device.allocate(4 * n, stream=stream)
    made.fill(0, stream=stream)
    return made


def get(array) -> np.ndarray:
    host = array.copy_to(LegacyPinnedMemoryResource().allocate(array.size), stream=stream)
    sync()
    return np.from_dlpack(host).view(np.float32)


def launch_of(array) -> tuple:
    """Return (configuration, kernel, arguments) of a task."""
    n = array.size // 4
    return LaunchConfig(grid=(n + BLOCK - 1) // BLOCK, block=BLOCK), add, int(array.handle), np.int32(n)


def chain(variant, tasks, arrays):
    graph = GraphDefinition()
    node, nodes = graph, []
    for _ in range(tasks):
        node = node.launch(*launch_of(arrays[0]))
        nodes.append(node)
    executable = graph.instantiate()
    if len(arrays) == 1:
        return [lambda: executable.launch(stream)]
    views = [executable[node] for node in nodes]

    def call_with(array):
        config, kernel, *args = launch_of(array)

        def call():
            for view in views:
                view.update(config=config, kernel=kernel, args=tuple(args))
            executable.launch(stream)

        return call

    return [call_with(array) for array in arrays]


def loop(variant, array):
    left = device.allocate(4, stream=stream)
    graph = GraphDefinition()
    more = graph.create_condition(default_value=1)
    body = graph.while_loop(more).body
    body.launch(*launch_of(array)).launch(ONE, count_down, more, int(left.handle))
    executable = graph.instantiate()

    def begin(rounds):
        launch(stream, ONE, seed, int(left.handle), np.int32(rounds))

    return begin, lambda: executable.launch(stream)
