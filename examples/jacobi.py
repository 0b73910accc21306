# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Heat in a plate by Jacobi's iteration until it converges: one kernel in Python, one graph with a loop.

Three sides of the plate are at 0, the fourth follows a sine, so the solution is known: sin(x) sinh(y) / sinh(pi). The
device computes the largest change of a sweep and ends the loop, so the host waits only once. Other plates and
tolerances use the same graph.
"""

import numpy as np

import cuda_graphs as cg

N = 48  # points along each side

Plane = cg.Array2[cg.f64]
Number = cg.Array0[cg.f64]
Count = cg.Array0[cg.i32]


@cg.kernel(graph=True)
def solve(u: Plane, v: Plane, change: Number, sweeps: Count, go: Count, tolerance: cg.f64) -> None:
    while cg.graph_do_while(go):
        change[()] = 0.0
        sweeps[()] += 1
        for i, j in cg.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
            v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
            cg.atomic_max(change[()], abs(v[i, j] - u[i, j]))
        for i, j in cg.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
            u[i, j] = v[i, j]
        go[()] = 1 if change[()] > tolerance else 0


def main() -> None:
    cg.Device().set_current()
    s = np.linspace(0, np.pi, N)
    exact = np.sin(s)[:, None] * np.sinh(s)[None, :] / np.sinh(np.pi)
    for tolerance in (1e-4, 1e-6):
        u, v = cg.ndarray(cg.f64, (N, N)), cg.ndarray(cg.f64, (N, N))
        change, sweeps, go = cg.ndarray(cg.f64, ()), cg.ndarray(cg.i32, ()), cg.ndarray(cg.i32, ())
        plate = np.zeros((N, N))
        plate[:, -1] = np.sin(s)
        u.from_numpy(plate)
        go.fill(1)
        solve(u, v, change, sweeps, go, tolerance)
        error = np.abs(u.to_numpy() - exact).max()
        print(f"tolerance {tolerance:.0e}: {sweeps[()]} sweeps in one launch, error {error:.1e}")
    assert error < 2e-3
    print(solve.graph_stats)
    assert solve.graph_stats.builds <= 1


if __name__ == "__main__":
    main()
