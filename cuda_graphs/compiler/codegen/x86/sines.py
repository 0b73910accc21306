# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Sine and cosine of f32 on a CPU, of a number or of each lane of a vector, as functions of LLVM.

They compute in f64, so that the final rounding sees nearly the true value. x = n pi/2 + r, where pi/2 is a sum of two
parts and n times the first part is exact. Polynomials of r^2 give the sine and the cosine of r. For |x| from 2^19 on,
and for NaN, they call libm's function. A number and a lane go through the same operations, so the iterations that do
not fill a vector get the same bits as lanes. Without lanes libm is faster.

The polynomials were fitted to sin(r)/r and cos(r) over [-pi/4, pi/4] (least squares at Chebyshev nodes, reweighted
until errors are even). Their errors are at most 6e-12 and 6e-11, where f32 has steps of 6e-8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from cuda_graphs.compiler.codegen.llvm.emitter import Emitter

__all__ = ["OF_F32", "call"]

OF_F32 = ("sin", "cos")
FAR = "0x4120000000000000"  # 2^19
TURNS = "0x1.45f306dc9c883p-1"  # 2/pi
HIGH, LOW = "0x1.921fb544p+0", "0x1.0b4611a626331p-34"  # 33 bits of pi/2, and the rest
SINE = ("-0x1.5555554c0573ap-3", "0x1.111108126da06p-7", "-0x1.a00f3322d4328p-13", "0x1.6cbee98920467p-19")
COSINE = ("-0x1.ffffffcce3175p-2", "0x1.55553ca4d23a3p-5", "-0x1.6c07ebae5b900p-10", "0x1.99111e9c6f73ap-16")


def call(e: Emitter, name: str, width: int, x: str) -> str:
    """Emit a call of the sine or cosine; return its register. `width` is the number of lanes, or 0 for a number."""
    symbol, v = f"{name}_f32_{width}", "<{} x {}>".format
    t, d, i, b = (v(width, each) if width else each for each in ("float", "double", "i32", "i1"))
    lanes = f"v{width}" if width else ""
    e.declare(f"llvm.{name}.f32", f"declare float @llvm.{name}.f32(float)")
    e.declare(f"llvm.fabs.{lanes}f32", f"declare {t} @llvm.fabs.{lanes}f32({t})")
    e.declare(f"llvm.rint.{lanes}f64", f"declare {d} @llvm.rint.{lanes}f64({d})")
    far = "%far"
    if width:
        e.declare(f"llvm.vector.reduce.or.{lanes}i1", f"declare i1 @llvm.vector.reduce.or.{lanes}i1({b})")
        far = f"call i1 @llvm.vector.reduce.or.{lanes}i1({b} %far)"
    e.declare(f"{symbol}_far", far_away(name, symbol, width, t))
    e.declare(symbol, near(name, symbol, (t, d, i, b), lanes, far))
    return e.let(f"call {t} @{symbol}({t} {x})")


def near(name: str, symbol: str, types: tuple[str, str, str, str], lanes: str, far: str) -> str:
    """Return the LLVM text of the function."""
    t, d, i, b = types

    def all_lanes(kind: str, value: str) -> str:
        return f"splat ({kind} {value})" if lanes else value

    def f64(text: str) -> str:
        return all_lanes("double", f"0x{int(np.float64(float.fromhex(text)).view(np.uint64)):016X}")

    def i32(value: int) -> str:
        return all_lanes("i32", str(value))

    lines = [
        f"%size = call {t} @llvm.fabs.{lanes}f32({t} %x)",
        f"%far = fcmp uge {t} %size, {all_lanes('float', FAR)}",
        *([f"%some = {far}"] if lanes else []),
        f"%wide = fpext {t} %x to {d}",
        f"%turns = fmul {d} %wide, {f64(TURNS)}",
        f"%nearest = call {d} @llvm.rint.{lanes}f64({d} %turns)",
        f"%n = fadd {d} %nearest, {f64('0x0p+0')}",  # for x = -0, n becomes +0 and r stays -0
        f"%k = fptosi {d} %n to {i}",
        f"%first = fmul {d} %n, {f64(HIGH)}",
        f"%left = fsub {d} %wide, %first",
        f"%second = fmul {d} %n, {f64(LOW)}",
        f"%r = fsub {d} %left, %second",
        f"%z = fmul {d} %r, %r",
        *polynomial("s", d, [f64(each) for each in SINE], f64("0x1p+0")),
        f"%sine = fmul {d} %r, %s",
        *polynomial("cosine", d, [f64(each) for each in COSINE], f64("0x1p+0")),
        f"%q = add {i} %k, {i32(int(name == 'cos'))}",
        f"%bit = and {i} %q, {i32(1)}",
        f"%odd = icmp ne {i} %bit, {i32(0)}",
        f"%value = select {b} %odd, {d} %cosine, {d} %sine",
        f"%half = and {i} %q, {i32(2)}",
        f"%under = icmp ne {i} %half, {i32(0)}",
        f"%minus = fneg {d} %value",
        f"%found = select {b} %under, {d} %minus, {d} %value",
        f"%rounded = fptrunc {d} %found to {t}",
        f"br i1 {'%some' if lanes else '%far'}, label %away, label %here",
        "away:",
        f"%called = call {t} @{symbol}_far({t} %x)",
        f"%either = select {b} %far, {t} %called, {t} %rounded",
        f"ret {t} %either",
        "here:",
        f"ret {t} %rounded",
    ]
    body = "\n".join(line if line.endswith(":") else f"  {line}" for line in lines)
    return f"define internal {t} @{symbol}({t} %x) nounwind {{\n{body}\n}}\n"


def polynomial(name: str, d: str, factors: list[str], one: str) -> list[str]:
    """Return the instructions for 1 + z * (factors[0] + z * (factors[1] + ...))."""
    lines, inner = [], factors[-1]
    for number, factor in enumerate([*factors[-2::-1], one]):
        lines.append(f"%{name}.times{number} = fmul {d} %z, {inner}")
        inner = f"%{name}" if factor is one else f"%{name}{number}"
        lines.append(f"{inner} = fadd {d} %{name}.times{number}, {factor}")
    return lines


def far_away(name: str, symbol: str, width: int, t: str) -> str:
    """Return the LLVM text of a function that calls libm's function lane by lane."""
    lines, found = [], "poison"
    for lane in range(width):
        lines += [
            f"%x{lane} = extractelement {t} %x, i64 {lane}",
            f"%y{lane} = call float @llvm.{name}.f32(float %x{lane})",
            f"%v{lane} = insertelement {t} {found}, float %y{lane}, i64 {lane}",
        ]
        found = f"%v{lane}"
    if not width:
        lines, found = [f"%y = call float @llvm.{name}.f32(float %x)"], "%y"
    body = "\n".join(f"  {line}" for line in [*lines, f"ret {t} {found}"])
    return f"define internal {t} @{symbol}_far({t} %x) noinline cold nounwind {{\n{body}\n}}\n"
