# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The names of both peers at the top of their modules."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

import cuda_graphs as cg

from . import ad, math, simt, types
from .array_kinds import MatrixField, MatrixNdarray, Ndarray, ScalarField, ScalarNdarray, VectorNdarray
from .data import Layout, axes, field, ndarray, root
from .decompositions import eig, polar_decompose, solve, svd, sym_eig
from .elements import PeerVector
from .kernels import data_oriented, func, kernel, pyfunc, real_func
from .math import acos, asin, atan2, ceil, cos, exp, floor, frexp, log, rsqrt, sin, sqrt, tan, tanh
from .program import cfg, cpu, cuda, gpu, init, reset, sync, x64, x86_64
from .scalars import *  # noqa: F403
from .scalars import NAMES
from .simt import global_thread_idx
from .structs import Struct, dataclass
from .vectors import Matrix, Vector
from .words import Inlined, Word

i, j, k, l = (axes(n) for n in range(4))  # noqa: E741
ij, ik, il, jk, jl, kl = (axes(*each) for each in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)))
ijk, ijl, ikl, jkl, ijkl = (
    axes(*each) for each in ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3), (0, 1, 2, 3))
)


def chosen(condition: Any, a: Any, b: Any) -> Any:
    """Return `a` or `b`; by components for a vector of conditions."""
    if not isinstance(condition, np.ndarray):
        return a if condition else b
    return np.where(condition, a, b).view(PeerVector)


abs, max, min, pow, round = math.abs, math.max, math.min, math.pow, math.round
cast, bit_cast = Word(cg.cast, lambda x, dtype: dtype(x)), cg.bit_cast
select = Word(cg.select, chosen)
raw_div, raw_mod, bit_shr = cg.raw_div, cg.raw_mod, cg.bit_shr
zero, one, stop_grad, random = cg.zero, cg.one, cg.stop_grad, cg.random
atomic_add, atomic_sub, atomic_mul = cg.atomic_add, cg.atomic_sub, cg.atomic_mul
atomic_min, atomic_max, atomic_cas = cg.atomic_min, cg.atomic_max, cg.atomic_cas
atomic_and, atomic_or, atomic_xor = cg.atomic_and, cg.atomic_or, cg.atomic_xor
static, static_assert, static_print = cg.static, cg.static_assert, cg.static_print
ndrange, loop_config, template = cg.ndrange, cg.loop_config, cg.template
Field, StructField, Template = cg.Field, cg.StructField, cg.types.Template


def host_grouped(x: Any) -> Any:
    """Return the indices of a field or array, or the points of ndrange, as vectors."""
    points = np.ndindex(*x.shape) if hasattr(x, "shape") else x
    return (Vector(list(each)) for each in points)


grouped = Word(cg.grouped, host_grouped)


def itself(value: Any, *hints: Any) -> Any:
    return value


def nothing(*fields: Any) -> None:
    pass


# Hints for the peers' compilers. The compiler here finds these facts itself, or keeps atomic operations.
assume_in_range = loop_unique = volatile_load = Inlined(itself, itself)
block_local = cache_read_only = Inlined(nothing, nothing)


def normal(dt: cg.template = cg.f32) -> Any:
    return cg.random_normal(dt)


experimental = SimpleNamespace(real_func=real_func)
randn = Inlined(normal, lambda dt=None: float(np.random.default_rng().standard_normal()))

__all__ = [
    "Field", "Layout", "Matrix", "MatrixField", "MatrixNdarray", "Ndarray", "ScalarField", "ScalarNdarray",
    "Struct", "StructField", "Template", "Vector", "VectorNdarray", "abs", "acos", "ad", "asin",
    "assume_in_range", "atan2", "atomic_add", "atomic_and", "atomic_cas", "atomic_max", "atomic_min",
    "atomic_mul", "atomic_or", "atomic_sub", "atomic_xor", "axes", "bit_cast", "bit_shr", "block_local",
    "cache_read_only", "cast", "ceil", "cfg", "cos", "cpu", "cuda", "data_oriented", "dataclass", "eig", "exp",
    "experimental",
    "field", "floor", "frexp", "func", "global_thread_idx", "gpu", "grouped", "i", "ij", "ijk", "ijkl", "ijl", "ik",
    "ikl", "il", "init", "j", "jk", "jkl", "jl", "k", "kernel", "kl", "l", "log", "loop_config",
    "loop_unique", "math", "max", "min", "ndarray", "ndrange", "one", "polar_decompose", "pow", "pyfunc",
    "randn", "random", "raw_div", "raw_mod", "real_func", "reset", "root", "round", "rsqrt", "select", "simt", "sin",
    "solve", "sqrt", "static", "static_assert", "static_print", "stop_grad", "svd", "sym_eig", "sync",
    "tan", "tanh", "template", "types", "volatile_load", "x64", "x86_64", "zero", *NAMES,
]  # fmt: skip
