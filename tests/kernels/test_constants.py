# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: what a kernel takes from outside and from template arguments is what it is now: never an older value, and code
is made once for each value."""

import types

import numpy as np
import pytest

import cuda_graphs as cg

i32_0d = cg.types.ndarray(cg.i32, ndim=0)
FACTOR = 3
WEIGHTS = [1, 2]
SETTINGS = types.SimpleNamespace(inner=types.SimpleNamespace(step=5))
MODULE = types.ModuleType("settings")
MODULE.offset = 1


@cg.func
def helper(x):
    return x * OFFSET


OFFSET = 10


@cg.kernel
def use(out: i32_0d):
    out[()] = FACTOR + helper(1) + SETTINGS.inner.step + MODULE.offset + WEIGHTS[1]


def count(kernel):
    """How many specialisations there are."""
    return int(repr(kernel).split(", ")[-1].split()[0])


def run(kernel, *args):
    out = cg.ndarray(cg.i32, ())
    kernel(out, *args)
    return out[()]


def test_globals_are_constants_and_a_changed_one_is_seen(monkeypatch):
    assert run(use) == 3 + 10 + 5 + 1 + 2
    monkeypatch.setitem(globals(), "FACTOR", 4)
    assert run(use) == 22
    monkeypatch.setitem(globals(), "OFFSET", 20)
    assert run(use) == 32
    monkeypatch.setattr(SETTINGS.inner, "step", 6)
    assert run(use) == 33
    monkeypatch.setattr(MODULE, "offset", 2)
    assert run(use) == 34
    WEIGHTS[1] = 7
    assert run(use) == 39
    assert count(use) == 6
    WEIGHTS[1] = 2
    monkeypatch.undo()
    assert run(use) == 21
    assert count(use) == 6


def test_a_function_that_is_replaced_is_seen(monkeypatch):
    assert run(use) == 21

    @cg.func
    def other(x):
        return x

    monkeypatch.setitem(globals(), "helper", other)
    assert run(use) == 12


def test_equal_numbers_need_no_other_code(monkeypatch):
    run(use)
    monkeypatch.setitem(globals(), "FACTOR", int("3"))
    monkeypatch.setitem(globals(), "WEIGHTS", [1, 2])
    run(use)
    assert count(use) == 1


def test_equal_numbers_of_another_type_do(monkeypatch):
    @cg.kernel
    def halve(out: cg.types.ndarray(cg.f32, ndim=0)):
        out[()] = 7 // FACTOR

    out = cg.ndarray(cg.f32, ())
    monkeypatch.setitem(globals(), "FACTOR", 2)
    halve(out)
    monkeypatch.setitem(globals(), "FACTOR", 2.0)
    halve(out)
    assert count(halve) == 2


def test_closure_variables_are_constants_too():
    step = 1

    @cg.kernel
    def use(out: i32_0d):
        out[()] = step

    assert run(use) == 1
    step = 2
    assert run(use) == 2


PRICES = {"tea": 4}


def test_a_method_of_a_value_is_asked_again_when_the_value_is_another_and_only_then(monkeypatch):
    amounts = np.arange(3)

    @cg.kernel
    def ask(out: i32_0d):
        out[()] = cg.static(PRICES.get("tea") * amounts.max())

    assert [run(ask), run(ask), run(ask)] == [8, 8, 8]
    assert count(ask) == 1
    monkeypatch.setitem(PRICES, "tea", 5)
    assert run(ask) == 10
    amounts[0] = 3
    assert [run(ask), run(ask)] == [15, 15]
    assert count(ask) == 3


def test_a_global_that_is_gone_is_an_error(monkeypatch):
    assert run(use) == 21
    monkeypatch.delitem(globals(), "FACTOR")
    with pytest.raises(cg.CompileNameError, match="FACTOR"):
        run(use)


@cg.kernel
def choose(out: i32_0d, what: cg.template):
    if cg.static(isinstance(what, tuple)):
        out[()] = what[0] + what[1]
    elif cg.static(what is None):
        out[()] = -1
    else:
        out[()] = what


def test_each_value_of_a_template_has_code_of_its_own():
    assert [run(choose, v) for v in (3, 4, (1, 2), None, 3, (1, 2))] == [3, 4, 3, -1, 3, 3]
    assert count(choose) == 4


def test_attributes_of_template_arguments_are_seen_when_they_change():
    @cg.kernel
    def use(out: i32_0d, settings: cg.template):
        out[()] = settings.step

    settings = types.SimpleNamespace(step=1)
    assert run(use, settings) == 1
    settings.step = 2
    assert run(use, settings) == 2
    assert count(use) == 2


def test_an_ndarray_is_no_template():
    with pytest.raises(TypeError, match="parameter 'what' is a template, and takes no NDArray"):
        run(choose, cg.ndarray(cg.i32, 3))


F = cg.field(cg.i32, (3, 4))
F.fill(0)  # its memory is there before any test, and after


@cg.kernel
def fill_field(value: cg.i32):
    for i, j in F:
        F[i, j] = value * i + j


def test_fields_are_used_by_their_name():
    F.fill(0)
    fill_field(10)
    np.testing.assert_array_equal(F.to_numpy(), 10 * np.arange(3)[:, None] + np.arange(4))


def test_another_field_by_that_name_is_seen(monkeypatch):
    fill_field(10)
    other = cg.field(cg.i32, (2, 2))
    monkeypatch.setitem(globals(), "F", other)
    fill_field(1)
    np.testing.assert_array_equal(other.to_numpy(), [[0, 1], [1, 2]])


def test_fields_are_template_arguments():
    @cg.kernel
    def add(a: cg.template, b: cg.template):
        for i in a:
            a[i] += b[i] * 2

    x, y = cg.field(cg.f32, 5), cg.field(cg.f32, 5)
    y.from_numpy(np.arange(5, dtype="f"))
    add(x, y)
    add(y, y)
    add(x, y)
    assert x.to_numpy().tolist() == [0, 8, 16, 24, 32]
    assert count(add) == 2


def test_fields_and_arrays_are_used_in_nodes_of_graphs(stream):
    g = cg.GraphDef()
    g.call(fill_field, 7)
    g.instantiate().launch(stream)
    stream.sync()
    np.testing.assert_array_equal(F.to_numpy(), 7 * np.arange(3)[:, None] + np.arange(4))


def test_array_types_have_code_of_their_own():
    @cg.kernel
    def double(x: cg.types.ndarray()):
        for i in cg.grouped(x):
            x[i] = x[i] * 2

    for array in (
        np.ones(3, "f"),
        np.ones(5, "f"),
        np.ones(3),
        np.ones((2, 2)),
        np.ones((2, 2, 2), "i8"),
        np.ones(9),
    ):
        double(array)
        np.testing.assert_array_equal(array, 2)
    assert count(double) == 4


def test_gradients_are_part_of_the_type():
    @cg.kernel
    def double(x: cg.types.ndarray()):
        for i in x:
            x[i] = x[i] * 2

    for needs_grad in (False, True, False):
        double(cg.ndarray(cg.f32, 3, needs_grad=needs_grad))
    assert count(double) == 2


def test_random_numbers_are_others_in_each_call_and_the_same_after_a_seed():
    @cg.kernel
    def noise(x: cg.types.ndarray(cg.f32, ndim=1)):
        for i in x:
            x[i] = cg.random()

    def draw():
        x = cg.ndarray(cg.f32, 50)
        noise(x)
        return x.to_numpy().tolist()

    cg.random_seed(7)
    first, second = draw(), draw()
    assert first != second
    assert all(0 <= v < 1 for v in first + second)
    cg.random_seed(7)
    assert [draw(), draw()] == [first, second]
    cg.random_seed(8)
    assert draw() != first
    with pytest.raises(TypeError, match="float"):
        cg.random_seed(1.5)
