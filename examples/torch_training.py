# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Training of a PyTorch model whose forward and backward passes are graphs, with a kernel of Python as a layer.

`make_graphed_callable` captures the model once for each shape of a batch; the last batch of an epoch is smaller. The
activation is a kernel with a gradient of its own: x + sin(a x)^2 / a, with a frequency a for each column. The losses
are compared with those of the same model without graphs. On the CPU the callable runs the model itself, so the program
is the same. The example needs PyTorch.

python examples/torch_training.py [epochs]
"""

import importlib.util
import sys
import time
from collections.abc import Callable
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


def make_model() -> tuple[Callable[[Any], Any], list[Any]]:
    """Return a model with the same weights in each call, and its parameters."""
    torch.manual_seed(7)
    first, second, last = torch.nn.Linear(1, 32), torch.nn.Linear(32, 32), torch.nn.Linear(32, 1)
    layers = torch.nn.ModuleList([first, second, last]).to(place)
    frequencies = torch.nn.ParameterList([torch.ones(32) for _ in range(2)]).to(place)

    def model(x: Any) -> Any:
        x = snake_of(first(x), frequencies[0])
        x = snake_of(second(x), frequencies[1])
        return last(x)

    return model, [*layers.parameters(), *frequencies.parameters()]


epochs = int(sys.argv[1]) if len(sys.argv) > 1 else 12
place = "cuda" if cg.driver_info().kind == "cuda" else "cpu"
torch.manual_seed(3)
x: Any = torch.linspace(-2, 2, 300, device=place).reshape(-1, 1)[torch.randperm(300)]
wanted: Any = torch.sin(3 * x) + 0.3 * x


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


(plain, plain_parameters), (model, parameters) = make_model(), make_model()
plain(x[:2]).sum().backward()  # compiles the kernels
eager, eager_ms = train(plain, plain_parameters)
graphed = cg.interop.make_graphed_callable(model, x[:128])
found, graphed_ms = train(graphed, parameters)

assert graphed.captures == 2  # batches of 128, and the last one
torch.testing.assert_close(torch.tensor(found), torch.tensor(eager), rtol=1e-2, atol=1e-4)
print(f"the loss falls from {found[0]:.3f} to {found[-1]:.5f}, with and without graphs")
print(f"an epoch takes {eager_ms:.1f} ms without graphs, {graphed_ms:.1f} ms with {graphed!r}")
