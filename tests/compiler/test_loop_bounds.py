# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a range has the iterations that Python gives it, wherever in its type it ends. Bounds may have wrapped."""

import numpy as np
import pytest

from cuda_graphs.compiler.ir import types as t
from tests.compiler.rig import cg, function_of, run_all

INTEGERS = {name: type for name, type in t.SCALARS.items() if type.kind in ("int", "uint")}
# (type, what is below all of the range, what is above it)
WIDE = [
    ("u64", 2**63 - 3, 2**63 + 4),  # where the sign would be
    ("i64", -(2**63), 2**63 - 1),
    ("u64", 0, 2**64 - 1),
    ("i32", -(2**31), 2**31 - 1),
]


def spans(name):
    """(begin, end, step): at both ends of the type and across it, both ways; each is empty with the other sign."""
    low, high = INTEGERS[name].minimum, INTEGERS[name].maximum
    for first, last in [(low, low + 7), (high - 7, high), *(span[1:] for span in WIDE if span[0] == name)]:
        for step in (1, 3) if last - first < 9 else ((last - first) // 3, (last - first) // 4):
            yield from ((first, last, step), (last, first, -step), (last, first, step), (first, last, -step))


IN_SUITE = ("i8", "u32", "i64", "u64")
NAMES = [pytest.param(name, marks=() if name in IN_SUITE else pytest.mark.nightly) for name in INTEGERS]


@pytest.mark.parametrize("name", NAMES)
def test_ranges_end_where_they_should(name):
    rows = list(spans(name))
    lines, given = ["def ranges({}, found: ndarray(u64, 2)):"], {}
    for k, (begin, end, step) in enumerate(rows):
        given |= {f"a{k}": begin, f"b{k}": end}
        lines += [
            f"    for i in range(a{k}, b{k}, {step}):",
            f"        before = cg.atomic_add(found[0, {k}], cg.cast(i, cg.u64))",
            f"        found[1, {k}] += before * 0 + 1",
            "    for _ in range(1):",
            f"        for i in range(a{k}, b{k}, {step}):",
            f"            before = cg.atomic_add(found[2, {k}], cg.cast(i, cg.u64))",
            f"            found[3, {k}] += before * 0 + 1",
        ]
    # Old values are used, so that no block gathers: forty-eight joins of a block take the host's translator minutes.
    lines[0] = lines[0].format(", ".join(f"{each}: {name}" for each in given))
    found = run_all(function_of("\n".join(lines)), found=np.zeros((4, len(rows)), "u8"), **given)["found"]
    for k, row in enumerate(rows):
        wanted = [sum(range(*row)) % 2**64, len(range(*row))]
        assert found[:, k].tolist() == wanted * 2, row


def wrapped(out: cg.ndarray(cg.i32, 1), n: cg.i32):
    for i in range(n, 2147483647):
        for _ in range(i + 100, -2147483500):
            out[0] += 1
        for _ in range(i + 3):
            out[1] += 1


def test_a_bound_may_have_wrapped_around():
    n = 2**31 - 3
    found = run_all(wrapped, out=np.zeros(2, "i4"), n=n)["out"]
    assert found.tolist() == [sum(len(range(i + 100 - 2**32, -2147483500)) for i in range(n, 2**31 - 1)), 0]


def left(out: cg.ndarray(cg.u64, 1), n: cg.u64):
    for _ in range(1):
        for i in range(n):
            if i > 4:
                break
            out[0] += i


def test_an_endless_range_may_be_left():
    assert run_all(left, out=np.zeros(1, "u8"), n=2**64 - 1)["out"].tolist() == [10]
