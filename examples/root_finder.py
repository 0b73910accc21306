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

All conditions are created on the outer graph; conditional nodes inside bodies use them.

    python examples/root_finder.py [--driver cuda|host] [--eccentricity e] [--steps n] [--tolerance t]
"""

from __future__ import annotations

import argparse

import numpy as np

import cuda_graphs as cg

SOURCE = r"""
#include <cuda_graphs.h>

struct Orbit { double eccentricity, mean; };
struct Bracket { double low, high; };

__device__ double middle(const Bracket* b) { return 0.5 * (b->low + b->high); }
__device__ double excess(const Orbit* o, double x) { return x - o->eccentricity * sin(x) - o->mean; }

extern "C" __global__ void compare(const Orbit* orbit, const Bracket* bracket, cudaGraphConditionalHandle too_large) {
    cudaGraphSetConditional(too_large, excess(orbit, middle(bracket)) > 0);
}
extern "C" __global__ void lower_high(Bracket* bracket) { bracket->high = middle(bracket); }
extern "C" __global__ void raise_low(Bracket* bracket) { bracket->low = middle(bracket); }
extern "C" __global__ void count_down(int* left, cudaGraphConditionalHandle more) {
    *left -= 1;
    cudaGraphSetConditional(more, *left > 0);
}

extern "C" __global__ void judge(
    const Orbit* orbit, const Bracket* bracket, double tolerance, cudaGraphConditionalHandle rough
) {
    cudaGraphSetConditional(rough, fabs(excess(orbit, middle(bracket))) > tolerance);
}
extern "C" __global__ void newton(
    const Orbit* orbit, Bracket* bracket, int* taken, double tolerance, cudaGraphConditionalHandle again
) {
    double x = middle(bracket);
    x -= excess(orbit, x) / (1 - orbit->eccentricity * cos(x));
    bracket->low = bracket->high = x;
    *taken += 1;
    cudaGraphSetConditional(again, fabs(excess(orbit, x)) > tolerance && *taken < 50);
}
"""
KERNELS = ("compare", "lower_high", "raise_low", "count_down", "judge", "newton")
HALLEY = 0.96714
ONE = cg.LaunchConfig(grid=1, block=1)


class Solver:
    """A graph that solves Kepler's equation, and the pinned memory of its inputs and results."""

    def __init__(self, eccentricity: float, steps: int, tolerance: float) -> None:
        device = cg.Device()
        device.set_current()
        self.stream = device.create_stream()
        module = cg.Program(SOURCE, code_type="c++").compile("cubin")
        k = {name: module.get_kernel(name) for name in KERNELS}
        pinned = cg.PinnedMemoryResource()
        self.buffers = [pinned.allocate(16, stream=self.stream) for _ in range(3)]
        orbit, start, result = self.buffers
        self.orbit, self.start, self.result = (np.from_dlpack(b).view(np.float64) for b in self.buffers)
        self.orbit[:] = eccentricity, 0
        self.start[:] = 0, np.pi
        taken = pinned.allocate(4, stream=self.stream)
        self.taken = np.from_dlpack(taken).view(np.int32)
        self.found: list[tuple[float, int]] = []

        g = cg.GraphDef()
        more = g.create_condition(default_value=1)
        too_large = g.create_condition(default_value=0)
        rough = g.create_condition(default_value=0)
        again = g.create_condition(default_value=1)

        ends, left = g.alloc(16), g.alloc(4)
        ready = g.join(
            ends.memcpy(ends.dptr, start, 16),
            left.memset(left.dptr, np.int32(steps), 1),
            g.memset(taken, np.int32(0), 1),
        )

        halving = ready.while_loop(more)
        side = halving.body.launch(ONE, k["compare"], orbit, ends.dptr, too_large).if_else(too_large)
        side.then.launch(ONE, k["lower_high"], ends.dptr)
        side.else_.launch(ONE, k["raise_low"], ends.dptr)
        side.launch(ONE, k["count_down"], left.dptr, more)

        judged = halving.launch(ONE, k["judge"], orbit, ends.dptr, tolerance, rough)
        guard = judged.if_then(rough)
        polish = guard.then.while_loop(again)
        polish.body.launch(ONE, k["newton"], orbit, ends.dptr, taken, tolerance, again)

        done = guard.memcpy(result, ends.dptr, 16).callback(self.note)
        done.free(ends.dptr).free(left.dptr)
        self.graph = g.instantiate()

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
    return 0.5 * (low + high)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
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
