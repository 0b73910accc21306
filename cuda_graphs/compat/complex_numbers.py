# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Complex numbers as vectors of two components, in kernels and on the host."""

from __future__ import annotations

import cmath
from collections.abc import Callable
from typing import Any

import cuda_graphs as cg

from .words import Inlined

__all__ = ["cconj", "cdiv", "cexp", "cinv", "clog", "cmul", "cpow", "csqrt"]


def conjugate(z: Any) -> Any:
    return cg.vector(z[0], -z[1])


def product(z1: Any, z2: Any) -> Any:
    return cg.vector(z1[0] * z2[0] - z1[1] * z2[1], z1[0] * z2[1] + z1[1] * z2[0])


def quotient(z1: Any, z2: Any) -> Any:
    return product(z1, conjugate(z2)) / z2.dot(z2)


def inverse(z: Any) -> Any:
    return conjugate(z) / z.dot(z)


def from_polar(radius: Any, angle: Any) -> Any:
    return cg.vector(radius * cg.cos(angle), radius * cg.sin(angle))


def exponential(z: Any) -> Any:
    return from_polar(cg.exp(z[0]), z[1])


def logarithm(z: Any) -> Any:
    return cg.vector(cg.log(z.norm()), cg.atan2(z[1], z[0]))


def power(z: Any, n: Any) -> Any:
    return from_polar(z.norm() ** n, n * cg.atan2(z[1], z[0]))


def root(z: Any) -> Any:
    return from_polar(cg.sqrt(z.norm()), 0.5 * cg.atan2(z[1], z[0]))


def on_pairs(function: Callable[..., complex]) -> Callable[..., Any]:
    """Return a function of complex numbers as one of pairs, whose result is a vector."""

    def call(*args: Any) -> Any:
        found = function(*(complex(each[0], each[1]) if hasattr(each, "__len__") else each for each in args))
        return cg.vec2(found.real, found.imag)

    return call


cconj = Inlined(conjugate, on_pairs(lambda z: z.conjugate()))
cmul, cdiv = Inlined(product, on_pairs(lambda a, b: a * b)), Inlined(quotient, on_pairs(lambda a, b: a / b))
cinv, cpow = Inlined(inverse, on_pairs(lambda z: 1 / z)), Inlined(power, on_pairs(lambda z, n: z**n))
cexp, clog = Inlined(exponential, on_pairs(cmath.exp)), Inlined(logarithm, on_pairs(cmath.log))
csqrt = Inlined(root, on_pairs(cmath.sqrt))
