# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`math` of the peers: functions of shading languages, in kernels and on the host."""

from __future__ import annotations

import builtins
import functools
import math as host
from collections.abc import Callable
from typing import Any

import numpy as np

import cuda_graphs as cg

from .absent import absent_names
from .complex_numbers import cconj, cdiv, cexp, cinv, clog, cmul, cpow, csqrt
from .elements import peer_type
from .words import Inlined, Word, for_kernels


def of_all(pair: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Return a function of the host that takes numbers and vectors of one shape, or a list of them."""
    return lambda *args: functools.reduce(pair, args if len(args) > 1 else args[0])


e, inf, nan, pi = cg.e, cg.inf, cg.nan, cg.pi
# Type checkers see the types of the language as those of Python.
vectors: Any = cg.types.vec
matrices: Any = cg.types.mat
vec2, vec3, vec4 = (peer_type(vectors(n, None)) for n in (2, 3, 4))
mat2, mat3, mat4 = (peer_type(matrices(n, n, None)) for n in (2, 3, 4))
ivec2, ivec3, ivec4 = (peer_type(vectors(n, cg.i32)) for n in (2, 3, 4))
uvec2, uvec3, uvec4 = (peer_type(vectors(n, cg.u32)) for n in (2, 3, 4))
abs, pow, round = builtins.abs, builtins.pow, Word(builtins.round, np.round)
max, min = Word(builtins.max, of_all(np.maximum)), Word(builtins.min, of_all(np.minimum))

acos, asin, atan2 = Word(cg.acos, np.arccos), Word(cg.asin, np.arcsin), Word(cg.atan2, np.arctan2)
ceil, floor, fract = (
    Word(cg.ceil, np.ceil),
    Word(cg.floor, np.floor),
    Word(cg.fract, lambda x: x - np.floor(x)),
)
cos, sin, tan, tanh = Word(cg.cos, np.cos), Word(cg.sin, np.sin), Word(cg.tan, np.tan), Word(cg.tanh, np.tanh)
exp, log, log2, sqrt = (
    Word(cg.exp, np.exp),
    Word(cg.log, np.log),
    Word(cg.log2, np.log2),
    Word(cg.sqrt, np.sqrt),
)
frexp = Word(cg.frexp, np.frexp)
rsqrt = Word(cg.rsqrt, lambda x: 1 / np.sqrt(x))
degrees, radians = Word(cg.degrees, np.degrees), Word(cg.radians, np.radians)
isinf, isnan, sign = Word(cg.isinf, np.isinf), Word(cg.isnan, np.isnan), Word(cg.sign, np.sign)
popcnt, clz, ffs = cg.popcnt, cg.clz, cg.ffs
clamp = Word(cg.clamp, lambda x, low, high: np.minimum(np.maximum(x, low), high))
mix = Word(cg.mix, lambda x, y, a: x * (1 - a) + y * a)
step = Word(cg.step, lambda edge, x: np.where(x < edge, 0.0, 1.0)[()])
mod = Word(cg.mod, lambda x, y: x - y * np.floor(x / y))
dot, cross = Word(cg.dot, lambda a, b: a.dot(b)), Word(cg.cross, lambda a, b: a.cross(b))
distance, length = Word(cg.distance, lambda a, b: a.distance(b)), Word(cg.length, lambda a: a.norm())
normalize = Word(cg.normalize, lambda a: a.normalized())
reflect = Word(cg.reflect, lambda a, n: a - 2 * a.dot(n) * n)
inverse, determinant = (
    Word(cg.inverse, lambda a: a.inverse()),
    Word(cg.determinant, lambda a: a.determinant()),
)


def host_smoothstep(low: Any, high: Any, x: Any) -> Any:
    t = clamp((x - low) / (high - low), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


smoothstep = Word(cg.smoothstep, host_smoothstep)


def refracted(x: Any, n: Any, eta: Any) -> Any:
    along = cg.dot(x, n)
    k = 1.0 - eta * eta * (1.0 - along * along)
    result = 0.0 * x
    if k >= 0.0:
        result = eta * x - (eta * along + cg.sqrt(k)) * n
    return result


def host_refract(x: Any, n: Any, eta: float) -> Any:
    along = x.dot(n)
    k = 1.0 - eta * eta * (1.0 - along * along)
    return 0.0 * x if k < 0 else eta * x - (eta * along + host.sqrt(k)) * n


refract = Inlined(refracted, host_refract)


def eye_of(n: cg.template) -> Any:
    return cg.vector([[1.0 if i == j else 0.0 for j in cg.static(range(n))] for i in cg.static(range(n))])


eye = Inlined(eye_of, lambda n: matrices(n, n, cg.f32)(np.eye(n).tolist()))


def vdir_of(angle: Any) -> Any:
    return cg.vec2(cg.cos(angle), cg.sin(angle))


vdir = Inlined(vdir_of, lambda angle: vec2(host.cos(angle), host.sin(angle)))


def rotation2d_of(angle: Any) -> Any:
    return cg.mat2(cg.cos(angle), -cg.sin(angle), cg.sin(angle), cg.cos(angle))


rotation2d = Inlined(
    rotation2d_of, lambda angle: mat2(host.cos(angle), -host.sin(angle), host.sin(angle), host.cos(angle))
)


def translate_by(dx: Any, dy: Any, dz: Any) -> Any:
    return cg.mat4(1.0, 0.0, 0.0, dx, 0.0, 1.0, 0.0, dy, 0.0, 0.0, 1.0, dz, 0.0, 0.0, 0.0, 1.0)


def scale_by(sx: Any, sy: Any, sz: Any) -> Any:
    return cg.mat4(sx, 0.0, 0.0, 0.0, 0.0, sy, 0.0, 0.0, 0.0, 0.0, sz, 0.0, 0.0, 0.0, 0.0, 1.0)


def rotation_by_axis(axis: Any, angle: Any) -> Any:
    """Return the matrix of the rotation about an axis by an angle, in homogeneous coordinates."""
    a = axis.normalized()
    c, s = cg.cos(angle), cg.sin(angle)
    d = (1.0 - c) * a
    return cg.mat4(
        c + d.x * a.x, d.x * a.y + s * a.z, d.x * a.z - s * a.y, 0.0,
        d.y * a.x - s * a.z, c + d.y * a.y, d.y * a.z + s * a.x, 0.0,
        d.z * a.x + s * a.y, d.z * a.y - s * a.x, c + d.z * a.z, 0.0,
        0.0, 0.0, 0.0, 1.0,
    )  # fmt: skip


def rotation_by_angles(yaw: Any, pitch: Any, roll: Any) -> Any:
    """Return the rotation about z by `roll` after that about x by `pitch` after that about y by `yaw`."""
    about_z = rotation_by_axis(cg.vec3(0.0, 0.0, 1.0), roll)
    about_x = rotation_by_axis(cg.vec3(1.0, 0.0, 0.0), pitch)
    return about_z @ about_x @ rotation_by_axis(cg.vec3(0.0, 1.0, 0.0), yaw)


def rotation_of_axes(ang_x: Any, ang_y: Any, ang_z: Any) -> Any:
    """Return the rotation about x by `ang_x`, about z by `ang_y`, and about y by `ang_z`, as the peers do."""
    return rotation_by_angles(ang_z, ang_x, ang_y)


translate, scale, rot_by_axis = (for_kernels(each) for each in (translate_by, scale_by, rotation_by_axis))
rot_yaw_pitch_roll, rotation3d = for_kernels(rotation_by_angles), for_kernels(rotation_of_axes)

__all__ = [
    "abs", "acos", "asin", "atan2", "cconj", "cdiv", "ceil", "cexp", "cinv", "clamp", "clog", "clz", "cmul",
    "cos", "cpow", "cross", "csqrt", "degrees", "determinant", "distance", "dot", "e", "exp", "eye", "ffs",
    "floor", "fract", "inf", "inverse", "isinf", "isnan", "ivec2", "ivec3", "ivec4", "length", "log", "log2",
    "mat2", "mat3", "mat4", "max", "min", "mix", "mod", "nan", "normalize", "pi", "popcnt", "pow", "radians",
    "reflect", "refract", "rot_by_axis", "rot_yaw_pitch_roll", "rotation2d",
    "rotation3d", "round", "scale", "sign", "sin", "smoothstep", "sqrt",
    "step", "tan", "tanh", "translate", "uvec2", "uvec3", "uvec4", "vdir", "vec2", "vec3", "vec4",
]  # fmt: skip
__getattr__ = absent_names("math", "math.")
