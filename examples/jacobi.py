# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Heat in a plate by Jacobi's iteration until nothing moves: kernels in Python in a loop on the device.

Three sides of the plate are at 0, the fourth follows a sine, so the answer is known: sin(x) sinh(y) / sinh(pi). How far
the values moved in a sweep is found by the kernels, and the loop ends on the device: the host waits once.
"""

import numpy as np

import cuda_graphs as cg

N = 48  # points along each side
TOLERANCE = 1e-6

Plane = cg.types.ndarray(cg.f64, ndim=2)

# A condition is set by CUDA C++: kernels in Python do not have that yet.
DECIDE = r"""
extern "C" __device__ __cudart_builtin__ void CUDARTAPI
cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);
extern "C" __global__ void decide(cudaGraphConditionalHandle more, const double* change, double tolerance) {
    cudaGraphSetConditional(more, change[0] > tolerance);
}
"""


@cg.kernel
def sweep(
    u: Plane, v: Plane, change: cg.types.ndarray(cg.f64, ndim=0), sweeps: cg.types.ndarray(cg.i32, ndim=0)
):
    change[()] = 0.0
    sweeps[()] += 1
    for i, j in cg.ndrange((1, N - 1), (1, N - 1)):
        v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
        cg.atomic_max(change[()], abs(v[i, j] - u[i, j]))
    for i, j in cg.ndrange((1, N - 1), (1, N - 1)):
        u[i, j] = v[i, j]


def main():
    device = cg.Device()
    device.set_current()
    stream = device.create_stream()
    decide = cg.Program(DECIDE, code_type="c++").compile("cubin").get_kernel("decide")

    u, v = cg.ndarray(cg.f64, (N, N)), cg.ndarray(cg.f64, (N, N))
    change, sweeps = cg.ndarray(cg.f64, ()), cg.ndarray(cg.i32, ())
    s = np.linspace(0, np.pi, N)
    plate = np.zeros((N, N))
    plate[:, -1] = np.sin(s)
    u.from_numpy(plate)

    g = cg.GraphDef()
    more = g.create_condition(default_value=1)
    loop = g.while_loop(more)
    last = loop.body.call(sweep, u, v, change, sweeps)
    last.launch(cg.LaunchConfig(grid=1, block=1), decide, more, change.buffer, g.param("tolerance", cg.f64))
    g.instantiate().launch(stream, tolerance=TOLERANCE)
    stream.sync()

    exact = np.sin(s)[:, None] * np.sinh(s)[None, :] / np.sinh(np.pi)
    error = np.abs(u.to_numpy() - exact).max()
    print(f"{sweeps[()]} sweeps in one launch; the last moved values by {change[()]:.1e}; error {error:.1e}")
    assert error < 2e-3


if __name__ == "__main__":
    main()
