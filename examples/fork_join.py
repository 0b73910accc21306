# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Two libraries fill two parallel branches of one graph; a kernel combines their results.

The libraries are CuPy and PyTorch on a GPU where both are installed, and two programs of CUDA C++ otherwise. Each
library gets a stream, and does not know about the graph or the other library.

python examples/fork_join.py [number of floats]
"""

import importlib.util
import sys
from collections.abc import Callable

import numpy as np

import cuda_graphs as cg

ROOT = 'extern "C" __global__ void root(const float* x, float* y, int n) {%s y[i] = sqrtf(2 * x[i] + 1); }'
SQUASH = 'extern "C" __global__ void squash(const float* x, float* z, int n) {%s z[i] = tanhf(x[i]); }'
SUM = 'extern "C" __global__ void sum(const float* y, const float* z, float* w, int n) {%s w[i] = y[i] + z[i]; }'
ELEMENT = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n)"


Work = Callable[[cg.GraphBuilder], None]


def kernel(source: str) -> cg.Kernel:
    name = source.split("(")[0].split()[-1]
    return cg.Program(source % ELEMENT, code_type="c++").compile("cubin").get_kernel(name)


def two_programs(
    config: cg.LaunchConfig, x: cg.Buffer, y: cg.Buffer, z: cg.Buffer, n: int
) -> tuple[str, Work, Work]:
    """Return a description, and two functions of a stream: the work of each library."""
    root, squash = kernel(ROOT), kernel(SQUASH)
    return (
        "two programs",
        lambda stream: cg.launch(stream, config, root, x, y, n),
        lambda stream: cg.launch(stream, config, squash, x, z, n),
    )


def cupy_and_torch(x: cg.Buffer, y: cg.Buffer, z: cg.Buffer) -> tuple[str, Work, Work]:
    """Return the same for CuPy and PyTorch, which use views of the same memory."""
    cupy, torch = importlib.import_module("cupy"), importlib.import_module("torch")
    of_cupy = [cupy.from_dlpack(memory).view("f4") for memory in (x, y)]
    of_torch = [torch.from_dlpack(memory).view(torch.float32) for memory in (x, z)]

    def root(stream: cg.GraphBuilder) -> None:
        with cupy.cuda.Stream.from_external(stream):
            source, target = of_cupy
            cupy.multiply(source, 2, out=target)
            target += 1
            cupy.sqrt(target, out=target)

    def squash(stream: cg.GraphBuilder) -> None:
        with torch.cuda.stream(torch.cuda.ExternalStream(stream.stream.handle)):
            torch.tanh(of_torch[0], out=of_torch[1])

    return f"CuPy {cupy.__version__} and PyTorch {torch.__version__}", root, squash


def are_here(*names: str) -> bool:
    return all(importlib.util.find_spec(name) for name in names)


n = int(sys.argv[1]) if len(sys.argv) > 1 else 1 << 20

device = cg.Device()  # GPU 0, or the CPU if there is no GPU
device.set_current()
stream = device.create_stream()
config = cg.LaunchConfig(grid=-(-n // 256), block=256)
x, y, z, w = (device.allocate(4 * n, stream=stream) for _ in range(4))
given, found = (cg.PinnedMemoryResource().allocate(4 * n, stream=stream) for _ in range(2))
stream.sync()
numbers = np.from_dlpack(given).view(np.float32)
result = np.from_dlpack(found).view(np.float32)

on_gpu = cg.driver_info().kind == "cuda" and are_here("cupy", "torch")
who, first, second = cupy_and_torch(x, y, z) if on_gpu else two_programs(config, x, y, z, n)
add = kernel(SUM)

with device.create_graph_builder() as gb:
    x.copy_from(given, stream=gb)
    left, right = gb.split(2)
    first(left)
    second(right)
    gb = cg.GraphBuilder.join(left, right)
    cg.launch(gb, config, add, y, z, w, n)
    w.copy_to(found, stream=gb)
graph = gb.complete()

for scale in (1, 10):
    numbers[:] = np.linspace(0, scale, n)
    graph.launch(stream)
    stream.sync()
    expected = np.sqrt(2 * numbers.astype("f8") + 1) + np.tanh(numbers.astype("f8"))
    assert np.allclose(result, expected, rtol=1e-5), np.abs(result - expected).max()

definition = gb.graph_definition
(fork,) = (node for node in definition.nodes() if len(node.succ) == 2)
(joined,) = (node for node in definition.nodes() if len(node.pred) == 2)
print(f"{who} on the {cg.driver_info().kind} driver: {len(definition.nodes())} nodes")
print(f"fork behind {type(fork).__name__}, joined by {type(joined).__name__}; NumPy agrees")
