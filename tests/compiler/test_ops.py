# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: every operation of the table means the same on the interpreter, as x86 code and as PTX, for every type it takes.

One kernel a type computes all of them on hazardous operands. Bits are equal, except for functions that each machine has
its own of, whose results differ by a few units in the last place.
"""

import itertools

import numpy as np
import pytest

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir import types as t
from cuda_graphs.compiler.ir.ops import OPS, evaluate, result_type
from cuda_graphs.compiler.ir.scalars import memory_dtype, read, scalar, written
from cuda_graphs.compiler.passes.offload import offload
from tests.compiler.rig import execute, targets_here, written_as
from tests.ptx import exact

# Units in the last place of f32 and f64 (docs/design/2026-11-compiler.md).
ULPS = 4
SMALL = {t.f16: (2.0**-10, 2.0**-24), t.bf16: (2.0**-7, 2.0**-133)}  # one unit of 1, and the least number
TYPES = [type for type in t.SCALARS.values() if type.kind != "bool"]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 7.0, -7.5, 0.1, 100.7, 1e4, 65520.0, float("inf"),
          -float("inf"), float("nan"), 1e-7, 0.49999997, 2.0**-126]  # fmt: skip


def hazards(type):
    if type.kind == "float":
        return FLOATS
    near = [0, 1, 2, 3, 5, 7, 31, 100, type.maximum, type.maximum - 1, type.minimum, type.minimum + 1]
    # Just beside the middle of two values of bf16, and of f32, by less than an f64 holds.
    middles = (
        [(1 << 62) + (1 << middle) + off for middle in (38, 54) for off in (-1, 0, 1)]
        if type.bits == 64
        else []
    )
    return near + middles + ([-1, -2, -3, -7, *(-each for each in middles)] if type.kind == "int" else [])


def program_of(type, names):
    """out_name[i] = name(a[i], b[i], ...) for all operations."""
    inputs = [ir.Array(path, type, 1) for path in ("a", "b", "c")]
    flags = ir.Array("flag", t.bool_, 1)
    whole = ir.Array("whole", t.i64, 1)
    i = ir.LoopIndex("i")
    count = ir.Extent(inputs[0], 0)
    body, outputs = [], []

    def loaded(array):
        body.append(ir.Load(array, (i,)))
        return body[-1]

    for name in names:
        row = OPS[name]
        sources = {"select": [flags, *inputs[:2]], "power": [inputs[0], whole]}.get(
            row.rule, inputs[: row.arity]
        )
        args = tuple(loaded(array) for array in sources)
        kind = result_type(name, tuple(arg.type for arg in args))
        op = ir.Op(name, args, kind)
        outputs.append(ir.Array(f"out_{name}", kind, 1))
        body.extend([op, ir.Store(outputs[-1], (i,), op)])
    loop = ir.For((ir.Axis(i, ir.Const(0, t.i32), count),), ir.Block(body), parallel=True)
    arrays = (*inputs, flags, whole, *outputs)
    return offload(ir.Kernel("ops", (), arrays, ir.Block([count, loop]))), outputs


def names_for(type):
    return [n for n, row in OPS.items() if type.kind in row.kinds and row.rule not in ("cast", "bits")]


@pytest.mark.parametrize("type", TYPES, ids=repr)
def test_every_operation_agrees_on_hazardous_operands(type):
    names = names_for(type)
    program, outputs = program_of(type, names)
    pairs = list(itertools.product(hazards(type), repeat=2))
    random = np.random.default_rng(3)
    flat = {
        "a": written_as([a for a, _ in pairs], type),
        "b": written_as([b for _, b in pairs], type),
        "c": written_as(random.permutation([a for a, _ in pairs]), type),
        "flag": random.integers(0, 2, len(pairs)).astype(bool),
        "whole": random.integers(-9, 40, len(pairs)),
        **{out.path: np.zeros(len(pairs), written_as([0], out.element).dtype) for out in outputs},
    }
    wanted, _ = execute("interpreter", program, flat)
    for target in targets_here()[1:]:
        found, _ = execute(target, program, flat)
        for name, out in zip(names, outputs, strict=True):
            own = any(template.startswith("!") for template in OPS[name].llvm.values())
            same(found[out.path], wanted[out.path], out.element, own, f"{name} of {type} on {target}")


def same(found, wanted, type, own, what):
    """Equal, NaN to NaN; the zero of either sign from min and max."""
    found, wanted = (np.array([read(v, type) for v in values]) for values in (found, wanted))
    if own and type.size > 2:
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(
                found, wanted, rtol=ULPS * np.finfo(wanted.dtype).eps, atol=1e-37, err_msg=what
            )
    elif own:  # an f32 that is off by little may round to the neighbour
        epsilon, least = SMALL[type]
        np.testing.assert_allclose(
            found.astype("f"), wanted.astype("f"), rtol=epsilon, atol=least, err_msg=what
        )
    else:
        np.testing.assert_array_equal(found, wanted, err_msg=what)


def fma_of(f, a, b, c):
    """The bits of the definition: exact, rounded to f32 and then to the type, if that is smaller."""
    if f.bits > 16:
        return exact.fma(f, "rn", a, b, c)
    wide = (exact.convert(f, exact.F32, "rn", each) for each in (a, b, c))
    return exact.convert(exact.F32, f, "rn", exact.fma(exact.F32, "rn", *wide))


@pytest.mark.parametrize("type", [t.f16, t.bf16, t.f32, t.f64], ids=repr)
def test_fused_multiply_add_of_the_interpreter_is_exact(type):
    f = exact.FORMATS[repr(type)]
    one, least = f.bias << f.fraction_bits, 1 << f.fraction_bits
    specials = [0, 1, least - 1, least, one, one + 1, f.greatest, f.infinity, f.nan]
    specials += [value | f.sign_bit for value in specials]
    random = np.random.default_rng(7).integers(0, (1 << f.bits) - 1, (3000, 3), np.uint64, endpoint=True)
    for triple in (*itertools.product(specials, repeat=3), *random.tolist()):
        args = tuple(
            read(np.array(each, f"u{f.bits // 8}").view(memory_dtype(type))[()], type) for each in triple
        )
        found = written(evaluate("fma", (type,) * 3, args, type), type)
        bits, wanted = int(np.asarray(found).view(f"u{f.bits // 8}")), fma_of(f, *triple)
        assert bits == wanted or (f.is_nan(bits) and f.is_nan(wanted)), f"fma{args} is not {wanted:#x}"


@pytest.mark.parametrize("to", [t.f16, t.bf16, t.f32, t.f64], ids=repr)
@pytest.mark.parametrize("source", [t.i8, t.u16, t.i32, t.u32, t.i64, t.u64], ids=repr)
def test_casts_of_integers_by_the_interpreter_give_the_nearest_float(source, to):
    f = exact.FORMATS[repr(to)]
    random = np.random.default_rng(5).integers(
        source.minimum, source.maximum, 500, source.dtype, endpoint=True
    )
    for number in (*hazards(source), *random.tolist()):
        found = written(evaluate("cast", (source,), (scalar(number, source),), to), to)
        bits, wanted = int(np.asarray(found).view(f"u{f.bits // 8}")), exact.from_integer(f, "rn", number)
        assert bits == wanted, f"{number} is {bits:#x}, not {wanted:#x}"


@pytest.mark.parametrize("source", t.SCALARS.values(), ids=repr)
def test_every_cast_agrees_on_hazardous_operands(source):
    values = [False, True] if source.kind == "bool" else hazards(source)
    a, i = ir.Array("a", source, 1), ir.LoopIndex("i")
    body, outputs = [], []
    for name, to in itertools.product(("cast", "bit_cast"), t.SCALARS.values()):
        if name == "bit_cast" and (source.size != to.size or "bool" in (source.kind, to.kind)):
            continue
        load = ir.Load(a, (i,))
        op = ir.Op(name, (load,), to)
        outputs.append(ir.Array(f"{name}_{to}", to, 1))
        body += [load, op, ir.Store(outputs[-1], (i,), op)]
    count = ir.Extent(a, 0)
    loop = ir.For((ir.Axis(i, ir.Const(0, t.i32), count),), ir.Block(body), parallel=True)
    program = offload(ir.Kernel("casts", (), (a, *outputs), ir.Block([count, loop])))
    flat = {"a": written_as(values, source)}
    flat |= {out.path: np.zeros(len(values), written_as([0], out.element).dtype) for out in outputs}
    wanted, _ = execute("interpreter", program, flat)
    for target in targets_here()[1:]:
        found, _ = execute(target, program, flat)
        for out in outputs:
            what = f"{out.path} of {source} on {target}"
            same(found[out.path], wanted[out.path], out.element, False, what)
