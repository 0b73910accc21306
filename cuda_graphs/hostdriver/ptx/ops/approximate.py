# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The approximate functions, with the results of a GPU's special function unit (interpolator.py). Arguments are scaled
when the unit would flush them or their result, as NVIDIA's assembler does for sm_90.
"""

from cuda_graphs.hostdriver.ptx.lowering import interpolator
from cuda_graphs.hostdriver.ptx.lowering.function import FunctionLowering
from cuda_graphs.hostdriver.ptx.lowering.rounding import SMALLEST_NORMAL, flush, narrow, widen
from cuda_graphs.hostdriver.ptx.lowering.table import Op, row
from cuda_graphs.hostdriver.ptx.syntax.datatypes import Type

from .packed import apply


@row("sin:f cos:f lg2:f", types="f32", mods="approx ftz", operands="2")
def transcendental(f: FunctionLowering, op: Op, operands: tuple) -> None:
    apply(f, op, operands, approximate)


@row("ex2:f tanh:f", types="f32 f16 f16x2 bf16 bf16x2", mods="approx ftz", operands="2")
def exponential(f: FunctionLowering, op: Op, operands: tuple) -> None:
    apply(f, op, operands, approximate)


@row("rsqrt:f", types="f32 f64", mods="approx ftz", operands="2")
def reciprocal_root(f: FunctionLowering, op: Op, operands: tuple) -> None:
    apply(f, op, operands, approximate)


def approximate(f: FunctionLowering, op: Op, kind: Type, value: str) -> str:
    if kind.bits == 64:
        return _of_double(f, op, value)
    if kind.bits == 16:  # the unit's f32 result with fewer digits
        wide, _ = widen(f, value, kind)
        result = unit(f, op.name, wide)
        if kind.name == "f16":  # truncation alone would not give infinity
            is_large = f.let(f"fcmp oge float {result}, 65536.0")
            result = f.let(f"select i1 {is_large}, float 0x7FF0000000000000, float {result}")
        return narrow(f, result, kind, "rz")
    is_gradual = op.name in interpolator.GRADUAL and "ftz" not in op
    return unit(f, f"{op.name}.gradual" if is_gradual else op.name, value)


def quotient(f: FunctionLowering, op: Op, kind: Type, x: str, y: str) -> str:
    """Returns x * rcp(y). Both are scaled if rcp would flush y or, for .full, its result."""
    if kind.bits == 64:
        raise f.fail("an approximate quotient of f64 is not supported")
    if "ftz" in op:
        x = flush(f, x, "float")  # rcp flushes y itself
    size = f.call("llvm.fabs.f32", "float", [("float", y)])
    scale = "1.0"
    if "ftz" not in op:
        is_small = f.let(f"fcmp olt float {size}, {SMALLEST_NORMAL['float']}")
        scale = f.let(f"select i1 {is_small}, float {2.0**24}, float {scale}")
    if "full" in op:
        is_large = f.let(f"fcmp ogt float {size}, 0x47D0000000000000")  # 2^126
        scale = f.let(f"select i1 {is_large}, float 0.25, float {scale}")
    x, y = f.let(f"fmul float {x}, {scale}"), f.let(f"fmul float {y}, {scale}")
    result = f.let(f"fmul float {unit(f, 'rcp', y)}, {x}")
    return flush(f, result, "float") if "ftz" in op else result


def unit(f: FunctionLowering, name: str, x: str, kind: str = "float") -> str:
    return f.let(f"call {kind} @{f.module.prelude.interpolator(name)}({kind} {x})")


def _of_double(f: FunctionLowering, op: Op, value: str) -> str:
    if op.name == "rsqrt" and "ftz" not in op:
        return _root_of_double(f, value)
    if op.name == "sqrt" or "ftz" not in op:
        raise f.fail("for f64 only rcp.approx.ftz, rsqrt.approx and rsqrt.approx.ftz are supported")
    return unit(f, f"{op.name}.double", value, "double")


def _root_of_double(f: FunctionLowering, x: str) -> str:
    """Improves the unit's 21 digits y by one step: y + y e (1/2 + 3/8 e) with e = 1 - x y^2.

    A subnormal x is first multiplied by 2^54.
    """
    size = f.call("llvm.fabs.f64", "double", [("double", x)])
    small = f.let(f"fcmp olt double {size}, {SMALLEST_NORMAL['double']}")
    scaled = f.let(f"fmul double {x}, {f.let(f'select i1 {small}, double {2.0**54}, double 1.0')}")
    near = unit(f, "rsqrt.double", scaled, "double")
    minus = f.let(f"fneg double {f.let(f'fmul double {near}, {near}')}")
    error = _fma(f, scaled, minus, "1.0")
    step = f.let(f"fmul double {near}, {error}")
    better = _fma(f, _fma(f, error, "0.375", "0.5"), step, near)
    # For zeros, infinities and NaN the step gives NaN; the unit's result is right.
    better = f.let(
        f"select i1 {f.let(f'fcmp uno double {better}, {better}')}, double {near}, double {better}"
    )
    return f.let(f"fmul double {better}, {f.let(f'select i1 {small}, double {2.0**27}, double 1.0')}")


def _fma(f: FunctionLowering, a: str, b: str, c: str) -> str:
    return f.call("llvm.fma.f64", "double", [("double", a), ("double", b), ("double", c)])
