# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the compiler makes tasks of a function, or raises a CompileError with a place in the source, nothing else."""

import pytest

from cuda_graphs.compiler.errors import CompileError
from docs.language_page import PARAMETERS, function
from tests.fuzz import programs

IN_THE_SUITE = 1200
NIGHTLY = 60_000


def failures(numbers):
    """(number, body, what is wrong) of cases, and how many of them were programs."""
    found, valid = [], 0
    for number in numbers:
        body, wrong = programs.outcome(number)
        valid += wrong is not None
        if wrong:
            found.append(f"case {number}:\n{body}\n{wrong}")
    return found, valid


def test_damaged_programs_are_compiled_or_refused_with_a_place():
    found, valid = failures(range(IN_THE_SUITE))
    assert not found, "\n\n".join(found)
    assert valid > IN_THE_SUITE * 3 // 4


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(10))
def test_many_damaged_programs_are_compiled_or_refused_with_a_place(part):
    found, _ = failures(range(10**6 + part * NIGHTLY, 10**6 + (part + 1) * NIGHTLY))
    assert not found, "\n\n".join(found)


# Bodies for which the compiler once raised something else, or did not end.
ONCE_WRONG = [
    "v @= w",
    "t = n\nt @= 1",
    "x[n] += (1, 2, 3)",
    "points[n] += (1, 2)",
    "t = cg.mat([[a, b], [b, a], [a, a]]).trace()",
    "t = cg.mat([[a, b, a], [b, a, b]]).trace()",
    "t = cg.types.vec(0)(1)",
    "t = cg.types.mat(2, 2.5)(1)",
    "t = {{'a': n}: n}",
    "t = cg.static(*v)",
    "for i, j in cg.grouped(points):\n    pass",
    "t = 1 << 2**63",
    "t = cg.i64(2 ** 10**9)",
    "for i, j in cg.static(range(3)):\n    pass",
    "for i, j in cg.static([cg]):\n    pass",
    "t = [i for i in cg.static(range(2**63))]",
    "for i in cg.static(range(2**63)):\n    pass",
    "t = cg.f64(10**300 * 10**300)",
]


@pytest.mark.parametrize("body", ONCE_WRONG)
def test_each_mistake_that_once_left_the_compiler_raw_is_a_compile_error_with_a_place(body):
    made = function(body, PARAMETERS, {})
    with pytest.raises(CompileError) as caught, programs.time_limit():
        programs.lower(made, dict(PARAMETERS))
    assert caught.value.loc is not None
