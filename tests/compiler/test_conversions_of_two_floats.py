# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a kernel may convert floats and doubles to one type of integers side by side, as vectors or one by one.

LLVM 22.1 ended the process on such code for x86. The truth is the interpreter of the IR.
"""

import numpy as np
import pytest

from cuda_graphs.native import conversions
from tests.compiler.rig import function_of, run_all

N = 9
TYPES = {"i8": "i1", "u8": "u1", "i16": "i2", "u16": "u2", "i32": "i4", "u32": "u4", "i64": "i8", "u64": "u8"}
SIDE_BY_SIDE = """
def k(f: ndarray(f32, 2), d: ndarray(f64, 2), out: ndarray({0}, 2)):
    for i in range(out.shape[0]):
        out[i, 0] = cg.cast(f[i, 0], {0})
        out[i, 1] = cg.cast(f[i, 1], {0})
        out[i, 2] = cg.cast(d[i, 0], {0})
        out[i, 3] = cg.cast(d[i, 1], {0})
"""
VECTORS = """
def k(f: ndarray(cg.types.vec(2, f32), 1), d: ndarray(cg.types.vec(2, f64), 1), out: ndarray(cg.types.vec(4, {0}), 1)):
    for i in range(out.shape[0]):
        out[i] = cg.types.vec(4, {0})(f[i].x, f[i].y, d[i].x, d[i].y)
"""
CHOSEN = """
def k(f: ndarray(cg.types.vec(4, f32), 1), d: ndarray(cg.types.vec(4, f64), 1), out: ndarray(cg.types.vec(4, {0}), 1)):
    for i in range(out.shape[0]):
        v = cg.cast(f[i], {0})
        v.zw = cg.cast(d[i].xy, {0})
        out[i] = v if f[i].x > 0.5 else cg.cast(d[i], {0})
"""


def numbers(lanes, type, seed):
    source = np.random.default_rng(seed)
    special = [np.nan, np.inf, -np.inf, -0.0, 2.0**31, -(2.0**31), 2.0**63, 2.0**64, 255.5, -128.7]
    found = source.standard_normal((N, lanes)) * 10.0 ** source.integers(-2, 12, (N, lanes))
    found.flat[: len(special)] = source.permutation(special)[: found.size]
    return found.astype(type)


@pytest.mark.filterwarnings("ignore:.*invalid value:RuntimeWarning")
@pytest.mark.parametrize("text", [SIDE_BY_SIDE, VECTORS, CHOSEN], ids=["side by side", "vectors", "chosen"])
@pytest.mark.parametrize("type", TYPES)
def test_floats_and_doubles_become_integers_side_by_side(text, type):
    lanes = 4 if text is CHOSEN else 2
    f, d = numbers(lanes, "f4", 1), numbers(lanes, "f8", 2)
    out = np.zeros((N, 4), TYPES[type])
    run_all(function_of(text.format(type)), f=f, d=d, out=out)


def test_only_modules_with_both_kinds_change():
    floats = (
        "declare i32 @llvm.fptosi.sat.i32.f32(float)\n"
        "  %v1 = call i32 @llvm.fptosi.sat.i32.f32(float %x)\n"
        "  %v2 = call <8 x i32> @llvm.fptosi.sat.v8i32.v8f32(<8 x float> splat (float 1.0))"
    )
    other = "\ndeclare i64 @llvm.fptosi.sat.i64.f64(double)\ndeclare i32 @llvm.fptoui.sat.i32.f64(double)\n"
    assert conversions.without_mixed_conversions(floats + other) == floats + other
    both = conversions.without_mixed_conversions(floats + "\ndeclare i32 @llvm.fptosi.sat.i32.f64(double)\n")
    assert (
        "%v1.wide = fpext float %x to double\n  %v1 = call i32 @llvm.fptosi.sat.i32.f64(double %v1.wide)"
        in both
    )
    assert "fpext <8 x float> splat (float 1.0) to <8 x double>" in both
    assert "declare <8 x i32> @llvm.fptosi.sat.v8i32.v8f64(<8 x double>)" in both
    assert both.count("@llvm.fptosi.sat.i32.f64(double)\n") == 1
