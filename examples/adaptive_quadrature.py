# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""How long is an ellipse? Each thread integrates one arc length with a function that calls itself.

The length of a quarter of an ellipse with the axes 1 and b is the integral of sqrt(sin(t)^2 + b^2 cos(t)^2) from 0 to
pi / 2. It has no closed form, and flat ellipses bend sharply at their ends. Simpson's rule is applied to an interval as
a whole and to its halves. Where the two differ by too much, each half is divided again.

    python examples/adaptive_quadrature.py [--driver cuda|host] [--ellipses n] [--tolerance t]
"""

from __future__ import annotations

import argparse

import numpy as np

import cuda_graphs as cg

Numbers = cg.Array1[cg.f64]


@cg.func(inline=False)
def simpson(b: cg.f64, start: cg.f64, end: cg.f64) -> cg.f64:
    """The integral by one parabola."""
    return (end - start) / 6 * (speed(b, start) + 4 * speed(b, (start + end) / 2) + speed(b, end))


@cg.func
def speed(b: cg.f64, t: cg.f64) -> cg.f64:
    return cg.sqrt(cg.sin(t) ** 2 + (b * cg.cos(t)) ** 2)


@cg.func(inline=False, max_depth=40)
def length(b: cg.f64, start: cg.f64, end: cg.f64, tolerance: cg.f64) -> cg.f64:
    """The integral, divided where one parabola is not enough."""
    middle = (start + end) / 2
    fine = simpson(b, start, middle) + simpson(b, middle, end)
    if abs(fine - simpson(b, start, end)) < 15 * tolerance:
        return fine
    return length(b, start, middle, tolerance / 2) + length(b, middle, end, tolerance / 2)


@cg.kernel
def circumferences(b: Numbers, found: Numbers, tolerance: cg.f64) -> None:
    for i in range(b.shape[0]):
        found[i] = 4 * length(b[i], cg.f64(0.0), cg.f64(np.pi / 2), tolerance)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--driver", choices=("cuda", "host"))
    parser.add_argument("--ellipses", type=int, default=1000)
    parser.add_argument("--tolerance", type=float, default=1e-9)
    options = parser.parse_args()
    if options.driver:
        cg.use_driver(options.driver)
    b = np.linspace(0, 1, options.ellipses)
    found = cg.ndarray(cg.f64, (options.ellipses,))
    circumferences(b, found, options.tolerance)
    lengths = found.to_numpy()
    h = ((1 - b) / (1 + b)) ** 2
    estimate = np.pi * (1 + b) * (1 + 3 * h / (10 + np.sqrt(4 - 3 * h)))  # Ramanujan's formula
    print(f"flat ellipse: {lengths[0]:.9f}, circle: {lengths[-1]:.9f}")
    print(f"Ramanujan's formula differs by at most {np.abs(lengths - estimate).max():.6f}")


if __name__ == "__main__":
    main()
