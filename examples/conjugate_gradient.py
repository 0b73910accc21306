# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Conjugate gradients until the residual is small: a solver in one launch. The device decides when it ends.

It solves the Poisson equation on a square with values 0 around it. An iteration has three parallel tasks. The scalars
between them never leave the device; the last scalar is the flag of the loop. Other right sides and tolerances use the
same graph.
"""

import numpy as np

import cuda_graphs as cg

N = 64  # unknowns along each side

Plane = cg.Array2[cg.f64]
Number = cg.Array0[cg.f64]
Count = cg.Array0[cg.i32]


@cg.func
def at(p: Plane, i: cg.i32, j: cg.i32) -> cg.f64:
    """Return p[i, j], or 0 outside of the square."""
    value = cg.f64(0.0)
    if i >= 0 and j >= 0 and i < p.shape[0] and j < p.shape[1]:
        value = p[i, j]
    return value


@cg.kernel(graph=True)
def solve(
    b: Plane,
    x: Plane,
    r: Plane,
    p: Plane,
    q: Plane,
    norm: Number,
    rounds: Count,
    go: Count,
    tolerance: cg.f64,
) -> None:
    start = cg.f64(0.0)
    for i, j in b:
        x[i, j] = 0.0
        r[i, j] = b[i, j]
        p[i, j] = b[i, j]
        start += b[i, j] * b[i, j]
    norm[()] = start
    rounds[()] = 0
    while cg.graph_do_while(go):
        curvature = cg.f64(0.0)
        for i, j in p:
            q[i, j] = 4.0 * p[i, j] - at(p, i - 1, j) - at(p, i + 1, j) - at(p, i, j - 1) - at(p, i, j + 1)
            curvature += p[i, j] * q[i, j]
        step = norm[()] / curvature
        rest = cg.f64(0.0)
        for i, j in x:
            x[i, j] = x[i, j] + step * p[i, j]
            r[i, j] = r[i, j] - step * q[i, j]
            rest += r[i, j] * r[i, j]
        turn = rest / norm[()]
        for i, j in p:
            p[i, j] = r[i, j] + turn * p[i, j]
        norm[()] = rest
        rounds[()] += 1
        go[()] = 1 if rest > tolerance * tolerance * start else 0


def laplace(x: np.ndarray) -> np.ndarray:
    padded = np.pad(x, 1)
    around = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
    return np.asarray(4 * x - around)


def main() -> None:
    cg.Device().set_current()
    b, x, r, p, q = (cg.ndarray(cg.f64, (N, N)) for _ in range(5))
    norm, rounds, go = cg.ndarray(cg.f64, ()), cg.ndarray(cg.i32, ()), cg.ndarray(cg.i32, ())
    random = np.random.default_rng(1)
    for tolerance in (1e-3, 1e-6, 1e-9):
        right = random.standard_normal((N, N))
        b.from_numpy(right)
        go.fill(1)
        solve(b, x, r, p, q, norm, rounds, go, tolerance)
        residual = np.linalg.norm(laplace(x.to_numpy()) - right) / np.linalg.norm(right)
        print(f"tolerance {tolerance:.0e}: {rounds[()]} rounds in one launch, residual {residual:.1e}")
        assert residual < 1.1 * tolerance
        assert rounds[()] < 4 * N
    print(solve.graph_stats)
    assert solve.graph_stats.builds <= 1


if __name__ == "__main__":
    main()
