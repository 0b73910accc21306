# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: each row of the op table has a derivative, and derivatives of floats are central differences."""

import numpy as np
import pytest

from cuda_graphs.compiler.autodiff.derivatives import contribution
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.builder import Builder
from cuda_graphs.compiler.ir.ops import OPS, evaluate, result_type
from cuda_graphs.compiler.ir.thread_interpreter import ThreadInterpreter
from cuda_graphs.compiler.ir.types import bool_, f32, f64, i64

FLOATS = [row for row in OPS.values() if "float" in row.kinds and row.rule != "bits"]
# replace_grad has the derivative of another value (tests/autodiff/calls/test_decompositions.py).
SMOOTH = [
    row.name
    for row in FLOATS
    if any(each != "0" for each in row.derivative or ()) and row.name != "replace_grad"
]
FLAT = [row.name for row in FLOATS if all(each == "0" for each in row.derivative or ("0",))]

# Operands in the domain of each; elsewhere these.
USUAL = ((0.3, 0.7, 1.1), (-0.6, 0.4, -0.9), (0.8, -1.3, 0.5))
POINTS = {
    "sqrt": ((0.3,), (2.5,)), "rsqrt": ((0.3,), (2.5,)), "log": ((0.3,), (2.5,)), "log2": ((0.3,), (2.5,)),
    "log10": ((0.3,), (2.5,)), "pow": ((0.3, 1.7), (2.5, -0.6)),
    "float_pow": ((0.3, 3), (-1.2, 2), (0.7, -2), (0.7, 0)),
    "select": ((True, 0.3, 0.7), (False, 0.3, 0.7)), "mod": ((2.3, 0.7), (-2.3, 0.7), (2.3, -0.9)),
    "asin": ((0.3,), (-0.6,)), "acos": ((0.3,), (-0.6,)),
}  # fmt: skip


def types_of(name):
    row = OPS[name]
    if row.rule == "select":
        return (bool_, f64, f64)
    return (f64, i64) if row.rule == "power" else (f64,) * row.arity


def partial(name, values, number, types=None):
    """Returns the table's partial derivative by an operand, or None where the table has no entry."""
    types = types or types_of(name)
    given = f64 if OPS[name].rule == "cast" else None
    params = [ir.Param(f"p{i}", type) for i, type in enumerate(types)]
    adjoint = ir.Param("g", result_type(name, types, given))
    op = ir.Op(name, tuple(params), adjoint.type)
    builder = Builder()
    found = contribution(builder, op, number, adjoint, lambda i: params[i])
    if found is None:
        return None
    machine = ThreadInterpreter({}, {}, None)
    for param, value in zip((*params, adjoint), (*values, 1.0), strict=True):
        machine.values[param] = np.dtype(param.type.dtype).type(value)
    with np.errstate(all="ignore"):
        machine.block(builder.block)
        return float(machine.value(found))


def difference(name, values, number, step=1e-6):
    types = types_of(name)

    def at(shift):
        moved = [
            np.dtype(type.dtype).type(value + shift if i == number else value)
            for i, (value, type) in enumerate(zip(values, types, strict=True))
        ]
        return float(evaluate(name, types, tuple(moved), f64))

    return (at(step) - at(-step)) / (2 * step)


@pytest.mark.parametrize("name", SMOOTH)
def test_a_derivative_is_the_central_difference(name):
    types = types_of(name)
    for values in POINTS.get(name, USUAL):
        values = values[: len(types)]
        for number, type in enumerate(types):
            if type.kind == "float":
                found = partial(name, values, number) or 0.0
                assert found == pytest.approx(difference(name, values, number), rel=1e-6, abs=1e-8), (
                    values,
                    number,
                )


@pytest.mark.parametrize("name", FLAT)
def test_piecewise_constant_operations_have_no_derivative(name):
    for number in range(OPS[name].arity):
        assert partial(name, (0.3, 0.7, 1.1)[: OPS[name].arity], number) is None


def test_every_row_says_what_its_derivative_is():
    for row in OPS.values():
        assert row.derivative is None or len(row.derivative) == row.arity, row.name
    assert [row.name for row in OPS.values() if row.derivative is None] == ["bit_cast"]


def test_derivatives_name_operands_and_never_the_result():
    for row in OPS.values():
        words = set(
            "".join(c if c.isalnum() or c == "_" else " " for c in " ".join(row.derivative or ())).split()
        )
        names = {word for word in words if not word[0].isdigit()}
        assert names <= {"g", "x", "y", "z", "cast", *OPS}, row.name
        assert not {"y", "z"}.intersection(names) or row.arity > 1


EDGES = [
    ("abs", (0.0,), 0, 0.0),
    ("sqrt", (0.0,), 0, np.inf),
    ("log", (-0.3,), 0, -1 / 0.3),
    ("pow", (-0.5, 1.5), 1, np.nan),
    ("pow", (0.0, 2.0), 1, 0.0),
    ("pow", (0.0, 0.0), 0, 0.0),
    ("float_pow", (0.0, 0), 0, 0.0),
    ("min", (0.4, 0.4), 0, 0.0),
    ("min", (0.4, 0.4), 1, 1.0),
    ("max", (0.4, 0.4), 0, 0.0),
    ("max", (0.4, 0.4), 1, 1.0),
    ("max", (0.4, np.nan), 0, 1.0),
    ("min", (np.nan, 0.4), 1, 1.0),
    ("mod", (2.3, 0.7), 1, -3.0),
    ("div", (3e200, 2e180), 1, -7.5e-161),  # the square of the divisor is infinite
    ("div", (3e-200, 2e-180), 1, -7.5e159),  # and 0
]


@pytest.mark.parametrize(("name", "values", "number", "wanted"), EDGES)
def test_edges(name, values, number, wanted):
    np.testing.assert_allclose(partial(name, values, number), wanted)


def test_casts_between_floats_keep_the_derivative():
    assert partial("cast", (0.3,), 0, (f32,)) == 1.0
