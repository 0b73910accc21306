# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: quaternions rotate as the matrices of Rodrigues' formula do."""

import numpy as np

import cuda_graphs as cg

RNG = np.random.default_rng(20)
COUNT = 500
VECTOR, QUATERNION = cg.types.vec(3, cg.f64), cg.types.vec(4, cg.f64)
VECTORS, QUATERNIONS = cg.types.ndarray(VECTOR, 1), cg.types.ndarray(QUATERNION, 1)


def axes_and_angles():
    axes = RNG.standard_normal((COUNT, 3))
    axes[:6] = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 0, 0], [0, -1, 0], [0, 0, -1]]
    angles = RNG.uniform(-np.pi, np.pi, COUNT)
    angles[:12] = [np.pi, 3.0, -3.0, np.pi, -np.pi, 2.5, 0, 1e-9, -1e-9, 1e-4, np.pi / 2, -np.pi / 2]
    return axes / np.linalg.norm(axes, axis=1)[:, None], angles


def rotations(axes, angles):
    """The matrices of Rodrigues' formula."""
    cross = np.zeros((len(axes), 3, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        cross[:, j, i], cross[:, i, j] = axes[:, k], -axes[:, k]
    sines, cosines = np.sin(angles)[:, None, None], np.cos(angles)[:, None, None]
    return np.eye(3) + sines * cross + (1 - cosines) * cross @ cross


def array(element, values=None):
    found = cg.ndarray(element, COUNT)
    if values is not None:
        found.from_numpy(values)
    return found


@cg.kernel
def made(axes: VECTORS, angles: cg.types.ndarray(cg.f64, 1), q: QUATERNIONS):
    for i in q:
        q[i] = cg.quat_from_axis_angle(axes[i], angles[i])


@cg.kernel
def used(
    q: QUATERNIONS,
    p: QUATERNIONS,
    v: VECTORS,
    turned: VECTORS,
    back: VECTORS,
    same: QUATERNIONS,
    both: VECTORS,
):
    for i in q:
        turned[i] = cg.quat_rotate(q[i], v[i])
        back[i] = cg.quat_rotate(cg.quat_inverse(q[i]), turned[i]) - cg.quat_rotate(
            cg.quat_conjugate(q[i]), turned[i]
        )
        same[i] = cg.quat_from_matrix(cg.quat_to_matrix(q[i]))
        both[i] = cg.quat_rotate(cg.quat_mul(p[i], q[i]), v[i])


@cg.kernel
def between(q: QUATERNIONS, p: QUATERNIONS, t: cg.f64, found: QUATERNIONS):
    for i in q:
        found[i] = cg.quat_slerp(q[i], p[i], t)


def quaternions(axes, angles):
    found = array(QUATERNION)
    made(array(VECTOR, axes), array(cg.f64, angles), found)
    return found


def test_quaternions_are_rotations():
    axes, angles = axes_and_angles()
    matrices = rotations(axes, angles)
    order = RNG.permutation(COUNT)
    q, p = quaternions(axes, angles), quaternions(axes[order], angles[order])
    v = RNG.standard_normal((COUNT, 3))
    turned, back, same, both = array(VECTOR), array(VECTOR), array(QUATERNION), array(VECTOR)
    used(q, p, array(VECTOR, v), turned, back, same, both)
    wanted = np.einsum("nij,nj->ni", matrices, v)
    np.testing.assert_allclose(turned.to_numpy(), wanted, atol=1e-14)
    np.testing.assert_allclose(back.to_numpy(), 0, atol=1e-14)
    np.testing.assert_allclose(both.to_numpy(), np.einsum("nij,nj->ni", matrices[order], wanted), atol=1e-14)
    found, given = same.to_numpy(), q.to_numpy()
    signs = np.sign((found * given).sum(1))[:, None]
    np.testing.assert_allclose(found * signs, given, atol=1e-14)


def test_slerp_turns_at_constant_speed_on_the_shorter_way():
    axes, angles = axes_and_angles()
    start = quaternions(axes, np.zeros(COUNT))
    end = quaternions(axes, angles)
    flipped = array(QUATERNION, -end.to_numpy())
    found, other = array(QUATERNION), array(QUATERNION)
    for t in (0.0, 0.3, 1.0):
        between(start, end, t, found)
        between(start, flipped, t, other)
        wanted = quaternions(axes, angles * t).to_numpy()
        inner = np.abs(angles) < 3.1  # both ways are as long at pi
        np.testing.assert_allclose(found.to_numpy()[inner], wanted[inner], atol=1e-14)
        np.testing.assert_allclose(other.to_numpy()[inner], wanted[inner], atol=1e-14)
