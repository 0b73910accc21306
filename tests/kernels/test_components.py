# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a component at a run-time index is checked in debug kernels, and gradients flow to the chosen component."""

import numpy as np
import pytest

import cuda_graphs as cg

RNG = np.random.default_rng(7)
POINTS = cg.types.ndarray(cg.vec3, ndim=1)


@cg.kernel(debug=True)
def component_of(x: POINTS, j: cg.i32) -> cg.f32:
    v = x[0]
    return v[j]


@cg.kernel(debug=True)
def set_component(x: POINTS, j: cg.i32):
    x[0][j] = 1.0


def test_debug_kernels_check_indices_of_components():
    x = cg.ndarray(cg.vec3, (2,))
    set_component(x, 2)
    assert component_of(x, 2) == 1
    for j in (-1, 3):
        with pytest.raises(cg.KernelIndexError, match=f"index {j} is outside of a vector of 3 components"):
            component_of(x, j)
        with pytest.raises(cg.KernelIndexError, match=f"index {j} is outside of axis 1 of 'x', which has 3"):
            set_component(x, j)


def pick(
    x: POINTS,
    j: cg.types.ndarray(cg.i32, ndim=1),
    loss: cg.types.ndarray(cg.f32, ndim=0),
):
    for i in x:
        v = x[i]
        v[j[i]] *= v[0]
        loss[()] += v[j[i]] * x[i][j[i]]


def test_gradients_flow_to_the_component_that_was_chosen():
    x = cg.ndarray(cg.vec3, (3,), needs_grad=True)
    loss = cg.ndarray(cg.f32, (), needs_grad=True)
    j = cg.ndarray(cg.i32, (3,))
    start, at = RNG.random((3, 3), "f4"), np.array([1, 2, 0], "i4")
    x.from_numpy(start)
    j.from_numpy(at)
    with cg.ad.Tape(loss=loss):
        cg.kernel(pick)(x, j, loss)
    wanted = np.zeros((3, 3))
    for i, k in enumerate(at):  # loss = x_k^2 x_0
        wanted[i, k] += 2 * start[i, k] * start[i, 0]
        wanted[i, 0] += start[i, k] ** 2
    np.testing.assert_allclose(x.grad.to_numpy(), wanted, rtol=1e-6)
