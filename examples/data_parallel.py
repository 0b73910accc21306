# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Training on several processes: each has a part of the data, and one graph is a step of gradient descent.

The graph holds the forward call, the gradient of a tape, the sum of the gradients over all ranks, and the update of the
parameters. A loop on the device repeats it, so one launch trains the model. All ranks keep the same parameters. NumPy
trains on the whole data, and compares.

    mpiexec -n 4 python examples/data_parallel.py [--samples n] [--steps n]
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import cuda_graphs as cg

HIDDEN = 6
RATE = 0.05
Samples = cg.Array1[cg.f64]
Weights = cg.GradArray2[cg.f64]  # rows: the factor, the offset and the weight of each hidden unit
Loss = cg.GradArray0[cg.f64]


@cg.kernel
def loss_of(x: Samples, y: Samples, w: Weights, loss: Loss, count: int) -> None:
    """Add the mean squared error of the samples of this rank, as a part of all `count` samples."""
    for i in x:
        found = cg.f64(0.0)
        for h in range(HIDDEN):
            found += w[2, h] * cg.tanh(w[0, h] * x[i] + w[1, h])
        cg.atomic_add(loss[()], (found - y[i]) ** 2 / count)


@cg.kernel
def descend(w: Weights, loss: Loss, left: cg.Array1[cg.i64]) -> None:
    for row, h in w:
        w[row, h] -= RATE * w.grad[row, h]
    for _ in range(1):
        loss[()] = 0.0
        left[0] -= 1


def train(comm: Any, x: Any, y: Any, start: Any, steps: int, count: int) -> Any:
    """Return the weights after the training, by one launch on each rank."""
    w, loss = cg.ndarray(cg.f64, start.shape, needs_grad=True), cg.ndarray(cg.f64, (), needs_grad=True)
    w.from_numpy(start)
    samples, values, left = cg.array(x), cg.array(y), cg.array([steps], cg.i64)
    with cg.capture() as builder, builder.while_loop(lambda left: left[0] > 0, args=(left,), name="steps"):
        with cg.ad.Tape(loss=loss):
            loss_of(samples, values, w, loss, count)
        comm.all_reduce(w.grad)
        descend(w, loss, left)
    stream = cg.Device().create_stream()
    builder.complete().launch(stream)
    stream.sync()
    return w.to_numpy()


def train_by_numpy(x: Any, y: Any, w: Any, steps: int) -> Any:
    for _ in range(steps):
        hidden = np.tanh(np.outer(x, w[0]) + w[1])
        error = 2 * (hidden @ w[2] - y) / x.size
        inner = error[:, None] * w[2] * (1 - hidden**2)
        w = w - RATE * np.array([(inner * x[:, None]).sum(0), inner.sum(0), error @ hidden])
    return w


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--samples", type=int, default=60)
    parser.add_argument("--steps", type=int, default=200)
    options = parser.parse_args()
    comm = cg.distributed.init()
    random = np.random.default_rng(2)
    x = random.uniform(-2, 2, options.samples)
    y = np.sin(2 * x)
    start = random.standard_normal((3, HIDDEN))

    part = slice(comm.rank, None, comm.size)  # the samples of this rank
    w = train(comm, x[part], y[part], start, options.steps, options.samples)
    expected = train_by_numpy(x, y, start, options.steps)
    difference = np.abs(w - expected).max()
    print(f"rank {comm.rank} of {comm.size}: {options.steps} steps in one launch, difference {difference:.1e}", flush=True)
    if difference > 1e-9:
        raise SystemExit(f"rank {comm.rank} differs from NumPy")
    comm.barrier()
    if comm.rank == 0:
        print("NumPy agrees")


if __name__ == "__main__":
    main()
