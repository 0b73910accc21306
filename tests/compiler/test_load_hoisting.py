# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a short loop of a GPU's thread reads for several iterations before it computes, and computes what it would have
one iteration after the other, for any number of them."""

import re

import numpy as np
import pytest

from cuda_graphs.compiler.codegen.llvm import load_hoisting
from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.pipeline import compile_kernel
from tests.compiler.rig import cg, ptx_target, run_all

f32, i32 = cg.f32, cg.i32
floats, ints = cg.ndarray(f32, 1), cg.ndarray(i32, 1)


def straight(x: floats, at: ints, out: floats, begin: i32, ends: ints):
    for i in out:
        total = x[i]
        for j in range(begin, ends[i]):
            total = cg.sqrt(total * total + x[at[j]]) + x[j]
        out[i] = total


def by_twos(x: floats, at: ints, out: floats, begin: i32, ends: ints):
    for i in out:
        total = x[i]
        for j in range(begin, ends[i], 2):
            total = cg.sqrt(total + x[at[j]])
        out[i] = total


def backwards(x: floats, at: ints, out: floats, begin: i32, ends: ints):
    for i in out:
        total = x[i]
        for j in range(ends[i] - 1, begin - 1, -1):
            total = total / (1.0 + x[at[j]])
        out[i] = total


def carried(x: floats, at: ints, out: floats, begin: i32, ends: ints):
    """Each load has an address that the iteration before computed."""
    for i in out:
        place = i
        for j in range(begin, ends[i]):
            place = (at[place] + j) % at.shape[0]
        out[i] = x[place]


def written(x: floats, at: ints, out: floats, begin: i32, ends: ints):
    """An iteration may read what one before has written."""
    for i in range(7, 8):
        for j in range(begin, ends[i]):
            out[at[j] % out.shape[0]] = cg.sqrt(out[j % out.shape[0]] + x[j])


KERNELS = (straight, by_twos, backwards, carried, written)


def arguments():
    rng = np.random.default_rng(3)
    x, out = (rng.random(n, "f4") for n in (16, 14))
    at, ends = rng.permutation(16).astype("i4"), np.arange(1, 15, dtype="i4")
    return {"x": x, "at": at, "out": out, "begin": 2, "ends": ends}


@pytest.mark.parametrize("function", KERNELS, ids=lambda f: f.__name__)
def test_early_loads_change_no_result(function):
    run_all(function, **arguments())


def loads_before_the_first_root(function):
    """Counts, in each block of the PTX with a square root, the loads before it."""
    code = compile_kernel(function, specialise(function, arguments()), ptx_target()).code.decode()
    found = []
    for block in re.split(r"^\$L", code, flags=re.M):
        before, root, _ = block.partition("sqrt.rn")
        if root:
            found.append(len(re.findall(r"ld\.global", before)))
    return found


def test_loads_of_several_iterations_come_before_the_first_root():
    assert max(loads_before_the_first_root(straight)) == 3 * load_hoisting.GROUP  # at[j], x[at[j]], x[j]
    assert max(loads_before_the_first_root(by_twos)) == 2 * load_hoisting.GROUP


def test_loads_that_may_see_a_store_stay_where_they_are():
    assert max(loads_before_the_first_root(written)) <= 3  # out[...], x[j], and at[j] of the iteration itself
