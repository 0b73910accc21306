# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The inference of a PyTorch model, captured once and launched as one graph.

A small model spends most of its time launching kernels one by one. A graph launches all of them at once. The example
needs a GPU and PyTorch with CUDA; if one is missing, it prints a message.

python examples/torch_inference.py [size of the batch]
"""

import importlib.util
import sys
import time
from collections.abc import Callable
from typing import Any

import cuda_graphs as cg


def pytorch() -> Any:
    """Return the module `torch`. Exit if the example cannot run."""
    missing = "PyTorch" if cg.driver_info().kind == "cuda" else "a CUDA device"
    if missing == "PyTorch" and importlib.util.find_spec("torch"):
        import torch

        if torch.cuda.is_available():
            return torch
        missing = "a PyTorch that was built with CUDA"
    print(f"This example needs {missing}, which is not here.")
    sys.exit(0)


torch = pytorch()
batch = int(sys.argv[1]) if len(sys.argv) > 1 else 16
device = cg.Device()
device.set_current()
torch.manual_seed(7)
torch.set_grad_enabled(False)

layers = [torch.nn.Linear(256, 256) if i % 2 == 0 else torch.nn.GELU() for i in range(24)]
model = torch.nn.Sequential(*layers, torch.nn.LayerNorm(256), torch.nn.Linear(256, 10)).cuda().eval()
x = torch.randn(batch, 256, device="cuda")  # the graph reads its input here

builder = device.create_graph_builder()
theirs = torch.cuda.ExternalStream(builder.stream.handle)  # the builder's stream as a stream of PyTorch
memory = torch.cuda.MemPool()  # memory that only the graph uses

torch.cuda.synchronize()
with torch.cuda.stream(theirs):
    for _ in range(3):  # the first runs create library handles and workspaces, which must not be captured
        model(x)
torch.cuda.synchronize()

with torch.cuda.use_mem_pool(memory), torch.cuda.stream(theirs), builder:
    y = model(x)  # the graph writes its output here
graph = builder.complete()
print(f"captured {len(builder.graph_definition.nodes())} nodes")

stream = device.create_stream()
for _ in range(5):
    x.copy_(torch.randn(batch, 256, device="cuda"))
    torch.cuda.synchronize()
    graph.launch(stream)
    stream.sync()
    assert torch.equal(y, model(x))
print("the graph gives what PyTorch gives, to the last bit")


def microseconds(run: Callable[[], object], times: int = 200) -> float:
    """Return the seconds of one run, averaged over consecutive runs."""
    run()
    torch.cuda.synchronize()
    begun = time.perf_counter()
    for _ in range(times):
        run()
    torch.cuda.synchronize()
    return (time.perf_counter() - begun) / times * 1e6


eager = microseconds(lambda: model(x))
launched = microseconds(lambda: graph.launch(stream))
print(f"eager {eager:.0f} us, as a graph {launched:.0f} us: {eager / launched:.1f} times as fast")
