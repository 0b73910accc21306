# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Quaternions, in the language itself. A quaternion is a vector (x, y, z, w) of four components: `q.xyz` and `q.w`.

Sums, `dot`, `norm` and `normalized` are those of vectors. The product is quat_mul: `*` multiplies component by
component. Rotations are quaternions of length 1.
"""

from __future__ import annotations

from typing import Any

from . import intrinsics as cg

__all__ = [
    "quat_conjugate", "quat_from_axis_angle", "quat_from_matrix", "quat_identity", "quat_inverse", "quat_mul",
    "quat_rotate", "quat_slerp", "quat_to_matrix",
]  # fmt: skip


@cg.func
def quat_identity() -> Any:
    """Return the quaternion (0, 0, 0, 1), which rotates nothing."""
    return cg.vector(0.0, 0.0, 0.0, 1.0)


@cg.func
def quat_mul(a: Any, b: Any) -> Any:
    """Return the product of quaternions: the rotation b, and then the rotation a."""
    v = a.w * b.xyz + b.w * a.xyz + cg.cross(a.xyz, b.xyz)
    return cg.vector(v.x, v.y, v.z, a.w * b.w - cg.dot(a.xyz, b.xyz))


@cg.func
def quat_conjugate(q: Any) -> Any:
    """Return (-x, -y, -z, w): for a rotation, the inverse rotation."""
    return cg.vector(-q.x, -q.y, -q.z, q.w)


@cg.func
def quat_inverse(q: Any) -> Any:
    """Return the inverse of a quaternion of any length but 0."""
    return quat_conjugate(q) / q.norm_sqr()


@cg.func
def quat_rotate(q: Any, v: Any) -> Any:
    """Return a vector of 3 components, rotated."""
    t = 2.0 * cg.cross(q.xyz, v)
    return v + q.w * t + cg.cross(q.xyz, t)


@cg.func
def quat_from_axis_angle(axis: Any, angle: Any) -> Any:
    """Return the rotation about an axis of length 1 by an angle in radians."""
    v = axis * cg.sin(angle * 0.5)
    return cg.vector(v.x, v.y, v.z, cg.cos(angle * 0.5))


@cg.func
def quat_to_matrix(q: Any) -> Any:
    """Return the 3 x 3 matrix of a rotation."""
    x, y, z, w = q
    return cg.vector(
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
        (2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
        (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
    )


@cg.func
def quat_from_matrix(m: Any) -> Any:
    """Return the rotation of a 3 x 3 matrix with determinant 1."""
    a, b, c = m[0, 0], m[1, 1], m[2, 2]
    x, y, z = m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]
    w = 1.0 + a + b + c
    if a + b + c <= 0:  # w may be small
        if a >= b and a >= c:
            w, x, y, z = x, 1.0 + a - b - c, m[0, 1] + m[1, 0], m[0, 2] + m[2, 0]
        elif b >= c:
            w, x, y, z = y, m[0, 1] + m[1, 0], 1.0 - a + b - c, m[1, 2] + m[2, 1]
        else:
            w, x, y, z = z, m[0, 2] + m[2, 0], m[1, 2] + m[2, 1], 1.0 - a - b + c
    return cg.normalized(cg.vector(x, y, z, w))


@cg.func
def quat_slerp(a: Any, b: Any, t: Any) -> Any:
    """Return the rotation between a, at t = 0, and b, at t = 1, at constant speed on the shorter way."""
    end = cg.select(cg.dot(a, b) < 0, -b, b)
    start, stop = a * (1.0 - t), end * t
    if cg.dot(end - a, end - a) > 0:
        angle = 2.0 * cg.atan2(cg.norm(end - a), cg.norm(end + a))
        start, stop = (
            a * (cg.sin((1.0 - t) * angle) / cg.sin(angle)),
            end * (cg.sin(t * angle) / cg.sin(angle)),
        )
    return start + stop
