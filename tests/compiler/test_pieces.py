# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws: the pieces of a large CPU task compute the bits that the task in one function computes, however small they are;
only large tasks have them, and LLVM gets no part that is much larger than a piece."""

import itertools
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuda_graphs.compiler.codegen.llvm import large_tasks
from cuda_graphs.compiler.codegen.ptx.ptx_target import Ptx
from cuda_graphs.compiler.codegen.x86 import pieces
from cuda_graphs.compiler.codegen.x86.x86_target import X86
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.native import llvm, units
from tests.compiler.programs import arguments, programs
from tests.compiler.rig import cg, compare, function_of, lower, run_all
from tests.compiler.test_random_programs import FEW, flat_of, the_program

pytestmark = pytest.mark.skipif(
    "x86_64" not in llvm.requirements()["triple"], reason="objects of other CPUs are not merged"
)
TARGETS = ("interpreter", "x86")


@contextmanager
def pieces_of_size(size):
    """Cuts each task, into pieces of `size` statements."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large_tasks, "LARGE", 0)
        patch.setattr(pieces, "PIECE", size)
        yield


@pytest.mark.filterwarnings("ignore:.*the conversion can lose:cuda_graphs.CompileWarning")
@FEW
@given(programs(), arguments, st.sampled_from([1, 2, 7, 30]))
def test_random_programs_in_pieces_mean_what_the_interpreter_says(source, scalars, size):
    function, fields, given_values = the_program(source, scalars)
    program, _ = lower(function, specialise(function, given_values))
    with pieces_of_size(size):
        compare(program, flat_of(fields, given_values), targets=TARGETS)


def branches(x: cg.ndarray(cg.f64, 1), n: cg.i32, limit: cg.f64):
    for _ in range(1):
        total, last = 0.0, -1
        for i in range(n):
            if x[i] < 0.0:
                continue
            if x[i] > limit:
                break
            for k in range(i, n):
                if x[k] > 0.5:
                    total += x[k] * (i + 1)
                    last = k
                elif k > last:
                    total -= 0.25
            while total > 3.0:
                total -= 3.0
            x[i] = total
        x[n] = last


@pytest.mark.parametrize("size", [1, 3, 8])
def test_variables_keep_their_values_across_pieces_and_loops_end_where_they_should(size):
    x = np.append(np.sin(np.arange(20) * 1.7), 0.0)
    whole = run_all(branches, targets=TARGETS, x=x, n=20, limit=0.99)["x"]
    with pieces_of_size(size):
        cut = run_all(branches, targets=TARGETS, x=x, n=20, limit=0.99)["x"]
    assert cut.tobytes() == whole.tobytes()


@cg.func(inline=False)
def three(a: cg.f64, k: cg.i32) -> tuple[cg.f64, cg.i32, cg.f64]:
    total = a
    for i in range(k):
        total = total * 0.5 + i
    return total, k + 1, a - total


def calls(x: cg.ndarray(cg.f64, 1), y: cg.ndarray(cg.i32, 1)):
    for _ in range(1):
        for i in range(x.shape[0]):
            a, b, c = three(x[i], i % 4)
            if a > c:
                y[i] = b
            x[i] = a + c * b


@pytest.mark.parametrize("size", [1, 2, 5])
def test_all_results_of_a_call_stay_with_it(size):
    given_values = {"x": np.linspace(-2, 3, 9), "y": np.zeros(9, "i4")}
    with pieces_of_size(size):
        run_all(calls, targets=TARGETS, **given_values)


def chained(number):
    """`number` tasks with the same text but for their names, the later ones on what the earlier ones have made."""
    lines = ["def tasks(x: ndarray(i64, 2)):"]
    for _ in range(number):
        lines += [
            "    for _ in range(1):",
            "        for i in range(x.shape[0] - 1):",
            "            for k in range(x.shape[1]):",
            "                x[i + 1, k] = x[i, k] * 3 + x[i + 1, k] + k",
            "    for i in range(x.shape[1]):",
            "        x[0, i] += x[x.shape[0] - 1, i]",
        ]
    return function_of("\n".join(lines))


def test_equal_tasks_call_their_own_pieces():
    x = np.arange(12).reshape(3, 4)
    wanted = x.copy()
    for _ in range(10):
        for i, k in itertools.product(range(2), range(4)):
            wanted[i + 1, k] += wanted[i, k] * 3 + k
        wanted[0] += wanted[2]
    with pieces_of_size(1):
        found = run_all(chained(10), targets=TARGETS, x=x)["x"]
    np.testing.assert_array_equal(found, wanted)


def nested(count):
    """A serial task of about 14 * `count` statements in branches of one loop."""
    lines = [
        "def task(x: ndarray(f64, 1), n: i32):",
        "    cg.loop_config(serialize=True)",
        "    for i in range(n):",
    ]
    for number in range(count):
        lines += [
            f"        if x[i] > {number / count}:",
            f"            x[i] = x[i] * 0.5 + x[(i + {number}) % n]",
        ]
    return function_of("\n".join(lines))


def test_llvm_gets_no_part_that_is_much_larger_than_a_piece():
    n, count = 13, 200
    x = np.cos(np.arange(n) * 2.1)
    program, _ = lower(nested(count), specialise(nested(count), {"x": x, "n": n}))
    (task,) = program.tasks
    assert sum(1 for _ in ir.walk(task.body)) > large_tasks.LARGE
    parts = units.units_of(X86().module(program))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large_tasks, "LARGE", 10**9)
        (whole,) = units.units_of(X86().module(program))
    statements = sum(1 for _ in ir.walk(task.body))
    assert len(parts) >= statements // (2 * pieces.PIECE)
    assert max(len(each.text) for each in parts) < len(whole.text) * 2 * pieces.PIECE / statements
    wanted = x.copy()
    for i, number in itertools.product(range(n), range(count)):
        if wanted[i] > number / count:
            wanted[i] = wanted[i] * 0.5 + wanted[(i + number) % n]
    np.testing.assert_array_equal(run_all(nested(count), x=x, n=n)["x"], wanted)


def test_small_tasks_have_no_pieces():
    program, _ = lower(branches, specialise(branches, {"x": np.zeros(3), "n": 2, "limit": 1.0}))
    assert len(units.units_of(X86().module(program))) == 1


@pytest.mark.parametrize("count", [200, 450])
def test_only_huge_tasks_have_fewer_optimisations_on_gpus(count):
    program, _ = lower(nested(count), specialise(nested(count), {"x": np.zeros(3), "n": 3}))
    size = sum(1 for _ in ir.walk(program.tasks[0].body))
    assert (size >= 4000) == (count == 450)
    assert (llvm.HUGE in Ptx().module(program)) == (count == 450)
