# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Training of a PyTorch model whose forward and backward passes are graphs, with a kernel of Python as a layer.

`make_graphed_callable` captures the model once for each shape of a batch; the last batch of an epoch is smaller. The
layer is a kernel with a gradient of its own. The losses are compared with those of the same model without graphs. On
the CPU the callable runs the model itself, so the program is the same. The example needs PyTorch.

python examples/torch_training.py [epochs]
"""

import copy
import importlib.util
import sys
import time
from typing import Any

import cuda_graphs as cg

if not importlib.util.find_spec("torch"):
    print("This example needs PyTorch, which is not here.")
    sys.exit(0)

import torch

Matrix = cg.Array2[cg.f32]


@cg.kernel
def snake(x: Matrix, frequency: cg.Array1[cg.f32], y: Matrix) -> None:
    for i, j in x:
        s = cg.sin(frequency[j] * x[i, j])
        y[i, j] = x[i, j] + s * s / frequency[j]


snake_of = cg.interop.torch(snake, out={"y": "x"})


class Snake(torch.nn.Module):
    """x + sin(a x)^2 / a with a frequency for each column."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.frequency = torch.nn.Parameter(torch.ones(width))

    def forward(self, x: Any) -> Any:
        return snake_of(x, self.frequency)


epochs = int(sys.argv[1]) if len(sys.argv) > 1 else 12
place = "cuda" if cg.driver_info().kind == "cuda" else "cpu"
torch.manual_seed(7)
x: Any = torch.linspace(-2, 2, 300, device=place).reshape(-1, 1)[torch.randperm(300)]
wanted: Any = torch.sin(3 * x) + 0.3 * x
model = torch.nn.Sequential(
    torch.nn.Linear(1, 32), Snake(32), torch.nn.Linear(32, 32), Snake(32), torch.nn.Linear(32, 1)
).to(place)


def train(run: Any, parameters: Any) -> tuple[list[float], float]:
    """Return the loss of each epoch, and the milliseconds of one epoch."""
    optimiser = torch.optim.Adam(parameters, lr=1e-2)
    losses = []
    begun = time.perf_counter()
    for _ in range(epochs):
        loss = x.new_zeros(())
        for batch, target in zip(x.split(128), wanted.split(128)):
            optimiser.zero_grad()
            loss = (run(batch) - target).square().mean()
            loss.backward()
            optimiser.step()
        losses.append(loss.item())
    return losses, (time.perf_counter() - begun) / epochs * 1e3


plain = copy.deepcopy(model)
model(x[:2]).sum().backward()  # compiles the kernels
eager, eager_ms = train(plain, plain.parameters())
graphed = cg.interop.make_graphed_callable(model, x[:128])
found, graphed_ms = train(graphed, model.parameters())

assert graphed.captures == 2  # batches of 128, and the last one
torch.testing.assert_close(torch.tensor(found), torch.tensor(eager), rtol=1e-2, atol=1e-4)
print(f"the loss falls from {found[0]:.3f} to {found[-1]:.5f}, with and without graphs")
print(f"an epoch takes {eager_ms:.1f} ms without graphs, {graphed_ms:.1f} ms with {graphed!r}")
