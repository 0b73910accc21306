# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that a compiler of this kind got wrong, with the right results. Each also runs as a graph kernel, with
loops in each lowering. tests/compiler has the same on all targets, and against the interpreter."""

import numpy as np
import pytest

import cuda_graphs as cg
from tests.kernels.graph_kernels import array, counted, counters, i32_0d, i32_1d

f32_1d = cg.types.ndarray(cg.f32, ndim=1)
u8_1d = cg.types.ndarray(cg.u8, ndim=1)


# Nothing moves over the edge of a loop between tasks.


def bare_store(x: i32_1d, c: i32_0d, d: i32_0d):
    x[0] = 0
    while cg.graph_do_while(c):
        x[0] = x[0] + 1
        c[()] = c[()] - 1


def bare_store_in_loops(x: i32_1d, c: i32_0d, d: i32_0d):
    for _ in range(1):
        x[0] = 0
    while cg.graph_do_while(c):
        for _ in range(1):
            x[0] = x[0] + 1
        for _ in range(1):
            c[()] = c[()] - 1


def store_and_loop(x: i32_1d, c: i32_0d, d: i32_0d):
    x[0] = 9
    while cg.graph_do_while(c):
        for _ in range(1):
            x[1] = x[1] + 1
        c[()] = c[()] - 1


def store_and_bare_store(x: i32_1d, c: i32_0d, d: i32_0d):
    x[0] = 9
    while cg.graph_do_while(c):
        x[1] = x[1] + 1
        c[()] = c[()] - 1


def siblings(x: i32_1d, c: i32_0d, d: i32_0d):
    while cg.graph_do_while(c):
        x[0] = x[0] + 1
        c[()] = c[()] - 1
    while cg.graph_do_while(d):
        x[0] = x[0] + 10
        d[()] = d[()] - 1


def siblings_in_loops(x: i32_1d, c: i32_0d, d: i32_0d):
    while cg.graph_do_while(c):
        for _ in range(1):
            x[0] = x[0] + 1
        c[()] = c[()] - 1
    while cg.graph_do_while(d):
        for _ in range(1):
            x[0] = x[0] + 10
        d[()] = d[()] - 1


def nested(x: i32_1d, c: i32_0d, d: i32_0d):
    while cg.graph_do_while(c):
        x[0] = x[0] + 1
        d[()] = 2
        while cg.graph_do_while(d):
            x[1] = x[1] + 1
            d[()] = d[()] - 1
        c[()] = c[()] - 1


def nested_in_loops(x: i32_1d, c: i32_0d, d: i32_0d):
    while cg.graph_do_while(c):
        for _ in range(1):
            x[0] = x[0] + 1
        for _ in range(1):
            d[()] = 2
        while cg.graph_do_while(d):
            for _ in range(1):
                x[1] = x[1] + 1
            for _ in range(1):
                d[()] = d[()] - 1
        for _ in range(1):
            c[()] = c[()] - 1


def seeded(x: i32_1d, c: i32_0d, d: i32_0d):
    c[()] = 4
    while cg.graph_do_while(c):
        x[0] = x[0] + 1
        c[()] = c[()] - 1


def carried(x: i32_1d, c: i32_0d, d: i32_0d):
    t = 0
    while cg.graph_do_while(c):
        for i in x:
            x[i] += t
        t = t + 1
        c[()] = c[()] - 1
    x[1] = t


def read_before_and_after(x: i32_1d, c: i32_0d, d: i32_0d):
    before = x[0]
    while cg.graph_do_while(c):
        x[0] = x[0] + before + 1
        c[()] = c[()] - 1
    x[1] = x[0] - before


@pytest.mark.parametrize(
    ("function", "start", "wanted"),
    [
        (bare_store, [5, 0], [3, 0]),
        (bare_store_in_loops, [5, 0], [3, 0]),
        (store_and_loop, [5, 0], [9, 3]),
        (store_and_bare_store, [5, 0], [9, 3]),
        (siblings, [0, 0], [23, 0]),
        (siblings_in_loops, [0, 0], [23, 0]),
        (nested, [0, 0], [3, 6]),
        (nested_in_loops, [0, 0], [3, 6]),
        (seeded, [0, 0], [4, 0]),
        (carried, [0, 0], [3, 3]),
        (read_before_and_after, [2, 0], [11, 9]),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_nothing_moves_over_the_edge_of_a_loop(function, start, wanted, lowering):
    """3 rounds, of the second loop 2; once more with other arrays, in the same graph"""
    kernel = cg.kernel(function, graph=True, loop=lowering)
    for calls in range(3):
        x, c, d = array(start, cg.i32), array(3, cg.i32), array(2, cg.i32)
        kernel(x, c, d)
        assert x.to_numpy().tolist() == wanted
        assert c[()] == 0
        assert counters(kernel) == counted(lowering, replayed=calls > 0)


def test_a_condition_around_a_loop_is_refused_and_nothing_runs():
    @cg.kernel(graph=True)
    def conditional(x: i32_1d, c: i32_0d, n: cg.i32):
        if n > 0:
            while cg.graph_do_while(c):
                x[0] = x[0] + 1
                c[()] -= 1

    x = array([0], cg.i32)
    for n in (0, 1):
        with pytest.raises(cg.CompileError, match=r"(?s)not at the kernel top level.*if cg\.graph_if"):
            conditional(x, array(3, cg.i32), n)
    assert x[0] == 0


def test_a_condition_around_a_loop_may_be_one_of_the_graph(lowering):
    @cg.kernel(graph=True, loop=lowering)
    def conditional(x: i32_1d, c: i32_0d, n: cg.i32):
        if cg.graph_if(n > 0):
            while cg.graph_do_while(c):
                x[0] = x[0] + 1
                c[()] -= 1

    for n, wanted in ((0, 0), (1, 3), (-1, 0), (2, 3)):
        x = array([0], cg.i32)
        conditional(x, array(3, cg.i32), n)
        assert x[0] == wanted


# The language is the same with a graph and without.


@pytest.fixture(params=[False, True], ids=["plain", "graph"])
def kernel(request):
    return lambda function: cg.kernel(function, graph=request.param)


def test_statement_behind_a_false_guard_does_not_run(kernel):
    @cg.func
    def counts(x, at):
        x[at] += 1
        return x[at]

    @kernel
    def guarded(x: i32_1d, y: i32_1d):
        for i in range(1):
            if y[i] > 0 and counts(x, 0) > 0:
                x[5] = 1
            if y[i] == 0 or counts(x, 1) > 0:
                x[6] = 1
            x[7] = counts(x, 2) if y[i] > 0 else 3
            x[8] = 4 if y[i] == 0 else counts(x, 3)

    for guard, wanted in ((0, [0, 0, 0, 0, 0, 0, 1, 3, 4]), (1, [1, 1, 1, 1, 0, 1, 1, 1, 1])):
        x = array(np.zeros(9), cg.i32)
        guarded(x, array([guard], cg.i32))
        assert x.to_numpy().tolist() == wanted


def test_multiplying_in_a_parallel_loop_loses_nothing(kernel):
    """The product of 20,000 odd numbers, modulo 2**32; of 2 to the 100th, as a float"""

    @kernel
    def product(x: cg.types.ndarray(cg.u32, ndim=1), y: f32_1d):
        for i in range(20_000):
            x[0] *= cg.u32(2 * i + 1)
        for i in range(20_000):
            y[0] *= 2.0 if i % 200 == 0 else 1.0

    x, y = cg.ndarray(cg.u32, 1), array([1])
    x.fill(1)
    product(x, y)
    wanted = 1
    for i in range(20_000):
        wanted = wanted * (2 * i + 1) % 2**32
    assert (x[0], y[0]) == (wanted, 2.0**100)
    assert product.inspect(x, y).ir.count("atomic mul") == 2  # threads meet for sure on a GPU alone


def test_floats_become_bools_and_have_remainders(kernel):
    """`raw_mod` takes integers only, and says so; `%` takes floats too"""

    @kernel
    def convert(x: f32_1d, out: i32_1d, rest: f32_1d):
        for i in x:
            out[i] = cg.cast(x[i], cg.bool)
            rest[i] = x[i] % 2.0

    @kernel
    def refused(x: f32_1d):
        for i in x:
            x[i] = cg.raw_mod(x[i], 2.0)

    values = np.array([0.0, 0.5, -7.5, 7.5, 3.0, np.nan, np.inf], "f4")
    out, rest = array(np.zeros(7), cg.i32), array(np.zeros(7))
    convert(array(values), out, rest)
    assert out.to_numpy().tolist() == [0, 1, 1, 1, 1, 1, 1]
    assert rest.to_numpy()[:5].tolist() == [0, 0.5, 0.5, 1.5, 1]
    with pytest.raises(cg.CompileTypeError, match=r"raw_mod\(a, b\) does not take f32"):
        refused(array(values))


def test_wrong_indices_and_numbers_and_arrays_are_errors(kernel):
    field, x = cg.field(cg.i32, 3), array(np.zeros(3), cg.i32)

    @kernel
    def before_the_first(value: cg.i32):
        field[-1] = value

    @kernel
    def store(x: i32_1d, value: cg.i32):
        for i in x:
            x[i] = value

    with pytest.raises(cg.CompileError, match="-1"):
        before_the_first(7)
    for index in (3, -4, 100):
        with pytest.raises(IndexError):
            x[index] = 1
        with pytest.raises(IndexError):
            field[index]
    for number in (2**31, -(2**31) - 1, 2**40):
        with pytest.raises(OverflowError, match="'value'"):
            store(x, number)
    frozen = np.zeros(3, "i4")
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="'x' is read-only"):
        store(frozen, 1)
    assert frozen.tolist() == x.to_numpy().tolist() == field.to_numpy().tolist() == [0, 0, 0]


def test_nan_differs_from_itself(kernel):
    @kernel
    def compare(x: f32_1d, out: i32_1d):
        for i in x:
            out[i] = (1 if x[i] != x[i] else 0) + (2 if x[i] == x[i] else 0) + (4 if not x[i] == x[i] else 0)  # noqa: SIM201

    out = array(np.zeros(3), cg.i32)
    compare(array([np.nan, 1, np.inf]), out)
    assert out.to_numpy().tolist() == [5, 2, 2]


def test_a_bool_with_an_integer_is_the_integer_in_any_order(kernel):
    @kernel
    def add(flags: i32_1d, x: u8_1d, out: u8_1d):
        for i in flags:
            flag = flags[i] != 0
            out[3 * i] = flag + x[i]
            out[3 * i + 1] = x[i] + flag
            out[3 * i + 2] = (x[i] - flag) + (flag + flag)

    flags, x, out = array([0, 1, 1], cg.i32), cg.ndarray(cg.u8, 3), cg.ndarray(cg.u8, 9)
    x.from_numpy(np.array([200, 200, 255], "u1"))
    add(flags, x, out)
    assert out.to_numpy().tolist() == [200, 200, 200, 201, 201, 201, 0, 0, 0]
