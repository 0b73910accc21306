# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: what a kernel takes from outside and from template arguments is what it is now: never an older value, and code
is made once for each value."""

import collections
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
    """Returns the number of specialisations of a kernel."""
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


LEVEL = 7


def assigned_in_branches(out: i32_0d):
    if out[()] > 0:
        LEVEL = 1
    else:
        LEVEL = 2
    out[()] = LEVEL


def read_first(out: i32_0d):
    out[()] = LEVEL  # noqa: F823 - the mistake of this test
    LEVEL = 1  # noqa: F841


def assigned_in_another_loop(out: cg.types.ndarray(cg.i32, ndim=1)):
    for i in out:
        LEVEL = i
    for i in out:
        out[i] = LEVEL


def index_after_its_loop(out: i32_0d):
    for LEVEL in range(3):
        out[()] += LEVEL
    out[()] = LEVEL


def passed_by(value):
    if value > 0:
        LEVEL = 1
    return LEVEL


def in_a_helper(out: i32_0d):
    out[()] = passed_by(out[()])


@pytest.mark.parametrize(
    "function",
    [assigned_in_branches, read_first, assigned_in_another_loop, index_after_its_loop, in_a_helper],
)
def test_a_name_that_the_function_assigns_is_never_a_global(function):
    out = cg.zeros((2,) if function is assigned_in_another_loop else (), cg.i32)
    with pytest.raises(cg.CompileNameError, match="name 'LEVEL' is not defined here"):
        cg.kernel(function)(out)


def test_names_of_comprehensions_are_their_own():
    @cg.kernel
    def add(out: i32_0d):
        out[()] += sum(FACTOR for FACTOR in cg.static(WEIGHTS)) + FACTOR

    assert run(add) == sum(WEIGHTS) + FACTOR


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


@cg.func
def by_offset(x):
    return x + SHIFT


@cg.func
def by_product(x):
    return x * SHIFT


SHIFT = 2
TABLE = {"add": by_offset, "times": by_product}
HOLDER = types.SimpleNamespace(change=by_offset)


def plain(x):
    return x * deep_inside(1)


def deep_inside(x):
    return x + BASE


BASE = 100
Pair = collections.namedtuple("Pair", "left right")
PAIR = Pair(1, [2])


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


class Shared:
    """A class with an attribute that all of its objects share."""

    value = 5


OBJECTS = [Slotted(3), types.SimpleNamespace(value=4), Shared()]
OBJECT = types.SimpleNamespace(value=7, inner=types.SimpleNamespace(value=8))


def value_of(x):
    return x.value


def of_template(what, monkeypatch):
    @cg.kernel
    def apply(out: i32_0d, change: cg.template):
        out[()] = change(3)

    return lambda: run(apply, what), apply


def of_body(body):
    return lambda what, monkeypatch: (lambda: run(body), body)


@cg.kernel
def from_a_container(out: i32_0d):
    out[()] = TABLE["add"](3)


@cg.kernel
def from_an_attribute(out: i32_0d):
    out[()] = HOLDER.change(3)


@cg.kernel
def from_static(out: i32_0d):
    out[()] = cg.static(plain(3))


@cg.kernel
def from_a_list(out: i32_0d):
    out[()] = cg.static(sum(each.value for each in OBJECTS)) + PAIR.left + PAIR.right[0]


@cg.kernel
def from_an_object(out: i32_0d):
    s = OBJECT
    out[()] = s.value + cg.static(value_of(OBJECT.inner))


# (how the kernel is made, what it is given, what changes: (object, or None for this module, name, new value), before,
# after)
REACHED = {
    "template": (of_template, by_offset, (None, "SHIFT", 5), 5, 8),
    "template of Python": (of_template, plain, (None, "BASE", 200), 303, 603),
    "function in a container": (of_body(from_a_container), None, (None, "SHIFT", 5), 5, 8),
    "container itself": (of_body(from_a_container), None, (TABLE, "add", by_product), 5, 6),
    "function of an object": (of_body(from_an_attribute), None, (None, "SHIFT", 5), 5, 8),
    "object": (of_body(from_an_attribute), None, (HOLDER, "change", by_product), 5, 6),
    "function of Python in cg.static": (of_body(from_static), None, (None, "BASE", 200), 303, 603),
    "function that it calls": (of_body(from_static), None, (None, "deep_inside", lambda x: x), 303, 3),
    "slot of an object in a list": (of_body(from_a_list), None, (OBJECTS[0], "value", 30), 15, 42),
    "attribute of an object in a list": (of_body(from_a_list), None, (OBJECTS[1], "value", 40), 15, 51),
    "attribute of its class": (of_body(from_a_list), None, (Shared, "value", 50), 15, 60),
    "named tuple": (of_body(from_a_list), None, (None, "PAIR", Pair(2, [2])), 15, 16),
    "list in a named tuple": (of_body(from_a_list), None, (PAIR.right, 0, 9), 15, 22),
    "attribute of an object with another name": (of_body(from_an_object), None, (OBJECT, "value", 70), 15, 78),
    "what a function of Python looks at": (of_body(from_an_object), None, (OBJECT.inner, "value", 80), 15, 87),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::cuda_graphs.CompileWarning")
@pytest.mark.parametrize("what", REACHED)
def test_change_of_an_indirectly_used_value_is_seen(what, monkeypatch):
    make, given, (owner, name, value), before, after = REACHED[what]
    call, kernel = make(given, monkeypatch)
    kernel.forget()
    assert [call(), call()] == [before, before]
    assert count(kernel) == 1
    if owner is None:
        monkeypatch.setitem(globals(), name, value)
    elif isinstance(owner, (dict, list)):
        old = owner[name]
        owner[name] = value
    else:
        monkeypatch.setattr(owner, name, value)
    assert [call(), call()] == [after, after]
    assert count(kernel) == 2
    if isinstance(owner, (dict, list)):
        owner[name] = old
    monkeypatch.undo()
    assert call() == before
    assert count(kernel) == 2
