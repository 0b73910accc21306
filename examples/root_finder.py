# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Where is Halley's comet? One graph solves Kepler's equation, and chooses its method on the device.

Kepler's equation, M = E - e sin(E), gives the position on an ellipse of eccentricity e. The mean anomaly M is
proportional to the time. The equation has no closed solution E. The graph halves a bracket around E a number of times.
Only if the middle of the bracket is not accurate enough, it continues with Newton's method until it is.

    copy bracket in --+
    set steps --------+-> while (steps are left)         -> if (the middle is rough) -> copy out -> callback -> free
    clear count ------+     if (the middle is too large)      while (still rough)
                              high = middle                     Newton step
                            else
                              low = middle
                            count down

The loops and branches are decided by arrays: the count is a flag, the others are predicates.

    python examples/root_finder.py [--driver cuda|host] [--eccentricity e] [--steps n] [--tolerance t]
"""

from __future__ import annotations

import argparse

import numpy as np

import cuda_graphs as cg

Numbers = cg.Array1[cg.f64]
Counter = cg.Array1[cg.i32]
LOW, HIGH = 0, 1  # elements of a bracket
ECCENTRICITY, MEAN = 0, 1  # elements of an orbit


@cg.func
def middle(bracket: Numbers) -> cg.f64:
    return 0.5 * (bracket[LOW] + bracket[HIGH])


@cg.func
def excess(orbit: Numbers, x: cg.f64) -> cg.f64:
    return x - orbit[ECCENTRICITY] * cg.sin(x) - orbit[MEAN]


@cg.func
def is_rough(orbit: Numbers, bracket: Numbers, tolerance: cg.f64) -> cg.bool:
    return abs(excess(orbit, middle(bracket))) > tolerance


@cg.kernel
def lower_high(bracket: Numbers) -> None:
    bracket[HIGH] = middle(bracket)


@cg.kernel
def raise_low(bracket: Numbers) -> None:
    bracket[LOW] = middle(bracket)


@cg.kernel
def count_down(left: Counter) -> None:
    left[0] -= 1


@cg.kernel
def newton(orbit: Numbers, bracket: Numbers, taken: Counter) -> None:
    x = middle(bracket)
    x -= excess(orbit, x) / (1 - orbit[ECCENTRICITY] * cg.cos(x))
    bracket[LOW] = x
    bracket[HIGH] = x
    taken[0] += 1


HALLEY = 0.96714


class Solver:
    """A graph that solves Kepler's equation, and the pinned memory of its inputs and results."""

    def __init__(self, eccentricity: float, steps: int, tolerance: float) -> None:
        device = cg.Device()
        device.set_current()
        self.stream = device.create_stream()
        self.orbit, self.start, self.result = (self.pinned(2, np.float64) for _ in range(3))
        self.orbit[:] = eccentricity, 0
        self.start[:] = 0, np.pi
        self.taken = self.pinned(1, np.int32)
        self.found: list[tuple[float, int]] = []
        orbit, taken = self.orbit, self.taken

        g = cg.GraphDef()
        ends, left = g.alloc(shape=2, dtype=cg.f64), g.alloc(shape=1, dtype=cg.i32)
        ready = g.join(ends.memcpy(ends, self.start), left.memset(left, steps), g.memset(taken, 0))

        halving = ready.while_loop(left)
        side = halving.body.if_else(lambda: excess(orbit, middle(ends)) > 0)
        side.then.call(lower_high, ends)
        side.else_.call(raise_low, ends)
        side.call(count_down, left)

        guard = halving.if_then(is_rough, args=(orbit, ends, tolerance))
        polish = guard.then.while_loop(lambda: is_rough(orbit, ends, tolerance) and taken[0] < 50, do=True)
        polish.body.call(newton, orbit, ends, taken)

        done = guard.memcpy(self.result, ends).callback(self.note)
        done.free(ends).free(left)
        self.graph = g.instantiate()

    def pinned(self, count: int, dtype: type) -> np.ndarray:
        """Return an array that the host and the device can access."""
        buffer = cg.PinnedMemoryResource().allocate(count * np.dtype(dtype).itemsize, stream=self.stream)
        return np.from_dlpack(buffer).view(dtype)

    def note(self) -> None:
        """Runs on the host, as a node of the graph."""
        self.found.append((float(self.result.mean()), int(self.taken[0])))

    def solve(self, mean: float) -> tuple[float, int]:
        """Return the eccentric anomaly and the number of Newton steps."""
        self.orbit[1] = mean
        self.graph.launch(self.stream)
        self.stream.sync()
        return self.found[-1]


def solve_in_numpy(means: np.ndarray, eccentricity: float) -> np.ndarray:
    """Return all roots, by bisection down to neighbouring doubles."""
    low, high = np.zeros_like(means), np.full_like(means, np.pi)
    for _ in range(64):
        middle = 0.5 * (low + high)
        too_large = middle - eccentricity * np.sin(middle) > means
        low, high = np.where(too_large, low, middle), np.where(too_large, middle, high)
    return np.asarray(0.5 * (low + high))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument(
        "--driver", choices=("auto", "cuda", "host"), help="default: CUDA_GRAPHS_DRIVER, else auto"
    )
    parser.add_argument("--eccentricity", type=float, default=HALLEY, help="0 <= e < 1")
    parser.add_argument("--steps", type=int, default=20, help="how often the bracket is halved")
    parser.add_argument("--tolerance", type=float, default=1e-13, help="of Kepler's equation, in radians")
    options = parser.parse_args()
    if not 0 <= options.eccentricity < 1:
        raise SystemExit("an ellipse has an eccentricity of 0 or more and less than 1")

    if options.driver:
        cg.use_driver(options.driver)
    solver = Solver(options.eccentricity, options.steps, options.tolerance)
    print(cg.driver_info())
    means = np.linspace(0.05, 3.1, 12)
    expected = solve_in_numpy(means, options.eccentricity)
    print("mean anomaly   eccentric anomaly   Newton steps   difference to NumPy")
    worst = 0.0
    for mean, wanted in zip(means, expected):
        found, taken = solver.solve(float(mean))
        difference = abs(found - wanted)
        worst = max(worst, difference * (1 - options.eccentricity * np.cos(wanted)))
        print(f"{mean:12.4f} {found:19.15f} {taken:14d} {difference:21.1e}")
    # The residual of the equation measures the error of a root, up to the rounding of its terms.
    if worst > options.tolerance + 2e-15:
        raise SystemExit(f"the graph and NumPy disagree: Kepler's equation is {worst:.1e} off")
    print(f"Kepler's equation holds within {options.tolerance:.0e}")


if __name__ == "__main__":
    main()
