# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Where does the heat come from? Sources heat a plate from within, and thermometers measure it at a few points. The
gradient of the misfit finds the sources.

The plate is cold at first, and its rim stays cold: du/dt = D laplace(u) + q, with a constant source q. All steps are
kept in one array, u[t], because the gradient reads them. A tape runs the gradients of all steps, and q.grad is the
gradient of the loss. Nesterov's method uses it to change q, and keeps q non-negative.

    q --> step --> step --> ... --> step --> misfit at the thermometers --> loss
      <-- step <-- step <-- ... <-- step <--                            <--

    python examples/inverse_heat.py [--rounds 200] [--output inverse_heat.png]
"""

from __future__ import annotations

import argparse

import numpy as np

import cuda_graphs as cg

N = 33  # points along each side
STEPS = 80
COURANT = 0.2  # D dt / dx^2; above 0.25 the scheme blows up
EVERY = 4  # points between neighbouring thermometers
NOISE = 1e-3  # noise of the thermometers

f64 = cg.f64
Plane = cg.Array2[f64]
Planes = cg.Array3[f64]


@cg.kernel
def step(u: Planes, q: Plane, t: cg.i32) -> None:
    for i, j in cg.ndrange((1, N - 1), (1, N - 1)):
        around = u[t, i - 1, j] + u[t, i + 1, j] + u[t, i, j - 1] + u[t, i, j + 1]
        u[t + 1, i, j] = u[t, i, j] + COURANT * (around - 4.0 * u[t, i, j]) + q[i, j]


@cg.kernel
def misfit(u: Planes, seen: Planes, loss: cg.Array0[f64]) -> None:
    for t, i, j in seen:
        d = u[t + 1, EVERY * (i + 1), EVERY * (j + 1)] - seen[t, i, j]
        loss[()] += d * d


@cg.kernel
def descend(q: cg.GradArray2[f64], last: Plane, rate: f64, push: f64) -> None:
    """Do one step of Nesterov's method: `last` is the previous guess, `q` the extrapolated guess."""
    for i, j in q:
        better = max(q[i, j] - rate * q.grad[i, j], 0.0)
        q[i, j] = better + push * (better - last[i, j])
        last[i, j] = better


def true_source() -> np.ndarray:
    """Two hot spots."""
    x, y = np.meshgrid(np.arange(N), np.arange(N), indexing="ij")
    hot = [(10, 12, 2.0, 0.03), (22, 21, 3.0, 0.02)]
    spots = [power * np.exp(-((x - a) ** 2 + (y - b) ** 2) / (2 * r * r)) for a, b, r, power in hot]
    return np.asarray(np.sum(spots, axis=0))


class Plate:
    """The plate, the measurements of the thermometers, and the unknown source."""

    def __init__(self) -> None:
        count = len(range(EVERY, N - 1, EVERY))
        self.u = cg.ndarray(f64, (STEPS + 1, N, N), needs_grad=True)
        self.q = cg.ndarray(f64, (N, N), needs_grad=True)
        self.last = cg.ndarray(f64, (N, N))
        self.seen = cg.ndarray(f64, (STEPS, count, count))
        self.loss = cg.ndarray(f64, (), needs_grad=True)

    def warm(self) -> None:
        """Run all steps, from a cold plate: u[0] stays 0."""
        for t in range(STEPS):
            step(self.u, self.q, t)

    def observe(self, source: np.ndarray) -> None:
        """Return the measurements of the thermometers for a source."""
        self.q.from_numpy(source)
        self.warm()
        places = self.u.to_numpy()[1:, EVERY : N - 1 : EVERY, EVERY : N - 1 : EVERY]
        noise = NOISE * np.random.default_rng(0).standard_normal(places.shape)
        self.seen.from_numpy(places + noise)
        self.q.fill(0)

    def recover(self, rounds: int) -> list[float]:
        """Find the source, in `last`; return the loss of each round."""
        losses = []
        rate = 1.0
        for number in range(rounds):
            with cg.ad.Tape(loss=self.loss):
                self.warm()
                misfit(self.u, self.seen, self.loss)
            losses.append(self.loss[()])
            if number == 0:
                rate = self.largest_rate()
            descend(self.q, self.last, rate, number / (number + 3))
        return losses

    def largest_rate(self) -> float:
        """Return a rate that does not overshoot: 0.9 / the largest curvature, found by the power method."""
        assert self.q.grad is not None
        slope, direction = self.q.grad.to_numpy(), np.ones((N, N))
        size = 1.0
        for _ in range(8):
            self.q.from_numpy(direction / np.linalg.norm(direction))
            with cg.ad.Tape(loss=self.loss):
                self.warm()
                misfit(self.u, self.seen, self.loss)
            direction = self.q.grad.to_numpy() - slope
            size = float(np.linalg.norm(direction))
        self.q.fill(0)
        self.q.grad.from_numpy(slope)
        return 0.9 / size


def save(path: str, truth: np.ndarray, found: np.ndarray, losses: list[float]) -> None:
    """Draw the true source with the thermometers, the recovered source, and the loss."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 3.6), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    for axes, values, title in ((left, truth, "source, thermometers"), (middle, found, "recovered")):
        image = axes.imshow(values.T, origin="lower", vmin=0, vmax=truth.max(), cmap="inferno")
        axes.set_title(title)
    figure.colorbar(image, ax=[left, middle], label="heating per step")
    places = np.arange(EVERY, N - 1, EVERY)
    left.plot(*np.meshgrid(places, places), "w.", markersize=3)
    right.semilogy(losses)
    right.set(title="misfit", xlabel="rounds", ylabel="loss")
    right.grid(alpha=0.3)
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--output", default="inverse_heat.png")
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        raise SystemExit("--rounds must be 1 or more")

    plate, truth = Plate(), true_source()
    plate.observe(truth)
    losses = plate.recover(arguments.rounds)
    found = plate.last.to_numpy()

    error = np.linalg.norm(found - truth) / np.linalg.norm(truth)
    print(
        f"{plate.seen.shape[1] * plate.seen.shape[2]} thermometers, {STEPS} steps, {arguments.rounds} rounds"
    )
    print(f"misfit: {losses[0]:.4g} -> {losses[-1]:.4g}")
    print(
        f"heat: {truth.sum():.3f} a step, recovered {found.sum():.3f}; relative error of the source {error:.2f}"
    )
    save(arguments.output, truth, found, losses)
    print(f"wrote {arguments.output}")


if __name__ == "__main__":
    main()
