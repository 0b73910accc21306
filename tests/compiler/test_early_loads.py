# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of early code: all threads wait, only free loads come before the wait, and the numbers stay the same."""

import re

import numpy as np
import pytest

from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.pipeline import compile_kernel, lower
from cuda_graphs.core.driver.choice import driver_info
from tests.compiler.rig import cg, function_of, on_gpu, on_ptx, ptx_target, run_all

GRIDS = [(1, 32), (2, 64), (3, 128), (40, 32), (1, 1)]  # blocks, and threads of a block
SIZES = [0, 1, 3, 4, 63, 64, 100, 1025]
HEAD = "def k(b: ndarray(f32, 1), c: ndarray(f32, 1), d: ndarray(i32, 1), m: ndarray(i32, 2)):\n"

# Body, the arrays that are free, and the most load instructions before the wait.
BODIES = {
    "update": ("    for i in b:\n        b[i] = b[i] * 1.01 + c[i]\n", "c", 1),
    "nothing_free": ("    for i in b:\n        b[i] = b[i] * 1.01 + c[i]\n", "", 0),
    "reversed": ("    for i in b:\n        b[i] = b[i] + c[c.shape[0] - 1 - i]\n", "c", 4),
    "gather": ("    for i in b:\n        b[i] = b[i] + c[d[i]]\n", "cd", 5),
    "gather_of_dependent_indices": ("    for i in b:\n        b[i] = b[i] + c[d[i]]\n", "c", 0),
    "branch": ("    for i in b:\n        x = c[i]\n        if b[i] > 3:\n            b[i] = x\n", "c", 1),
    "load_in_a_branch": ("    for i in b:\n        if b[i] > 3:\n            b[i] = c[i]\n", "c", 0),
    "behind_a_store": ("    for i in b:\n        b[i] = 2.0 * i\n        b[i] += c[i]\n", "c", 0),
    "inner_loop": (
        "    for i in b:\n        x = c[i]\n        for j in range(3):\n            b[i] += x + j\n", "c", 1
    ),
    "continue": (
        "    for i in b:\n        x = c[i]\n        if x > 2:\n            continue\n        b[i] += x\n", "c", 1
    ),
    "bound_in_memory": ("    for i in range(d[0]):\n        b[i] = b[i] + c[i]\n", "cd", 2),
    "bound_that_depends": ("    for i in range(d[0]):\n        b[i] = b[i] + c[i]\n", "c", 0),
    "bool": ("    for i in b:\n        x = d[i] > 3\n        if x:\n            b[i] = 7.0\n", "d", 1),
    "one_thread": ("    b[0] = b[1] + c[2] * c[1]\n", "c", 2),
    "sum": ("    for i in c:\n        b[0] += c[i] * 0.0 + 1.0\n", "c", 1),
    "tiles": ("    for i, j in m:\n        m[i, j] += d[j]\n", "d", 0),
}  # fmt: skip


def given(n):
    return {
        "b": np.arange(n, dtype="f4"),
        "c": np.arange(n, dtype="f4")[::-1].copy() / 2,
        "d": np.minimum(np.arange(n, dtype="i4")[::-1], max(n - 1, 0)).copy(),
        "m": np.arange(3 * n, dtype="i4").reshape(3, n),
    }


def early_text(function, arrays, free):
    found = compile_kernel(function, specialise(function, arrays), ptx_target(), early=tuple(free))
    assert found.early
    return found.code.decode()


def ways_through(text):
    """Yield the instructions of each way through the blocks of PTX without loops, as a list."""
    lines = [line.strip() for line in text[text.index("{") :].splitlines() if line.strip()]
    labels = {line[:-1]: number for number, line in enumerate(lines) if line.endswith(":")}

    def follow(at, passed, been):
        while at < len(lines):
            line = lines[at]
            if line.startswith(("ret", "}")):
                yield passed
                return
            jump = re.match(r"(@!?%p\d+\s+)?bra(?:\.uni)?\s+(\S+);", line)
            if jump:
                to = labels[jump[2]]
                if to not in been:
                    yield from follow(to, list(passed), been | {to})
                if not jump[1]:
                    return
            passed = [*passed, line]
            at += 1

    yield from follow(0, [], frozenset())


def is_load(line):
    return re.match(r"(@!?%p\d+\s+)?ld\.global", line)


def is_change(line):
    return re.match(r"(@!?%p\d+\s+)?(st\.global|atom|red)", line)


@pytest.mark.parametrize("name", BODIES)
def test_each_way_through_the_code_waits_before_its_stores_and_after_free_loads(name):
    body, free, count = BODIES[name]
    text = early_text(function_of(HEAD + body), given(8), free)
    early = []
    for way in ways_through(text):
        assert way.index("griddepcontrol.launch_dependents;") < way.index("griddepcontrol.wait;")
        before = way[: way.index("griddepcontrol.wait;")]
        assert not any(map(is_change, before))
        early.append(sum(bool(is_load(line)) for line in before))
    assert len(early) > 1 or name in ("one_thread", "tiles")
    assert max(early) == count


@pytest.mark.parametrize("name", BODIES)
def test_early_code_gives_the_numbers_of_other_code(name):
    body, free, _ = BODIES[name]
    function = function_of(HEAD + body)
    for n in SIZES if name != "one_thread" else [8]:
        arrays = given(n)
        if name.startswith("bound"):
            if n == 0:
                continue
            arrays["d"][0] = n
        wanted = run_all(function, **arrays)
        program, _ = lower(function, specialise(function, arrays), early=tuple(free))
        for grid in GRIDS:
            for machine in (on_ptx, *([on_gpu] if driver_info().kind == "cuda" else [])):
                found = {each: array.copy() for each, array in arrays.items()}
                machine(program, found, arrays, grid)
                for each, array in wanted.items():
                    np.testing.assert_array_equal(found[each], array, err_msg=f"{each}, n = {n}, {grid}")


def test_old_devices_have_no_early_code():
    function = function_of(HEAD + BODIES["update"][0])
    target = type(ptx_target())(arch="sm_80")
    found = compile_kernel(function, specialise(function, given(8)), target, early=("c",))
    assert not found.early
    assert b"griddepcontrol" not in found.code


def test_early_code_is_another_entry_of_the_cache():
    function = function_of(HEAD + BODIES["update"][0])
    texts = {early_text(function, given(8), free) for free in ("", "c")}
    plain = compile_kernel(function, specialise(function, given(8)), ptx_target()).code.decode()
    assert len({plain, *texts}) == 3
    assert cg.f32
