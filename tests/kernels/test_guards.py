# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: whatever way the code of a kernel came to depend on something, a change of that is seen, and code that is the
same is made once. A row: how a kernel reads a value, what changes it, and what it is then."""

import collections
import contextlib
import dataclasses
import enum
import gc
import sys
import types
import weakref

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.kernels.specialisation.constants import Interned, freeze
from tests.kernels.test_constants import count, i32_0d

FACTOR = 5


@cg.func
def times(x):
    return x * FACTOR


def made(k):
    @cg.func
    def scaled(x):
        return x * k

    return scaled


def asked():
    return FACTOR + len(TABLE)


def told(record):
    return record.step


class Size:
    least = 3

    def number(self):
        return self.least + FACTOR


Pair = collections.namedtuple("Pair", "left right")

RECORD = types.SimpleNamespace(step=5)
OUTER = types.SimpleNamespace(inner=[types.SimpleNamespace(step=5)])
LIST, TABLE, FUNCTIONS = [RECORD], {"five": 5}, [times]
PAIR, ARRAYS = Pair(5, RECORD), [np.array([5, 6])]
SIZE = Size()
PICK = lambda: RECORD.step  # noqa: E731
TWICE, THRICE = made(2), made(3)


@cg.kernel
def through_a_list(out: i32_0d):
    out[()] = LIST[0].step


@cg.kernel
def through_a_record(out: i32_0d):
    out[()] = OUTER.inner[0].step


@cg.kernel
def through_a_named_tuple(out: i32_0d):
    out[()] = cg.static(PAIR.left + PAIR.right.step - 5)


@cg.kernel
def through_arrays_in_a_list(out: i32_0d):
    out[()] = cg.static(int(ARRAYS[0][0]))


@cg.kernel
def by_a_function_in_a_list(out: i32_0d):
    out[()] = FUNCTIONS[0](1)


@cg.kernel
def by_a_function_that_python_runs(out: i32_0d):
    out[()] = cg.static(asked() - 1)


@cg.kernel
def by_what_a_function_is_given(out: i32_0d):
    out[()] = cg.static(told(RECORD))


@cg.kernel
def by_a_lambda(out: i32_0d):
    out[()] = cg.static(PICK())


@cg.kernel
def by_a_method(out: i32_0d):
    out[()] = cg.static(SIZE.number() - 3)


class Part(enum.Enum):
    """An enumeration whose members have attributes."""

    WHEEL = 1

    def __init__(self, number):
        self.weight, self.sizes = 4 + number, [4 + number]


def weight_of(part):
    return part.weight


def size_of(part):
    return part.sizes[0]


@cg.kernel
def by_an_attribute_of_a_member(out: i32_0d):
    out[()] = cg.static(weight_of(Part.WHEEL))


@cg.kernel
def by_a_list_of_a_member(out: i32_0d):
    out[()] = cg.static(size_of(Part.WHEEL))


def put(owner, name, value):
    """Set an attribute; undone by an ExitStack."""

    def change(undo):
        if name in vars(owner):
            undo.callback(setattr, owner, name, getattr(owner, name))
        else:
            undo.callback(delattr, owner, name)
        setattr(owner, name, value)

    return change


def put_in(container, key, value):
    """Set an item."""

    def change(undo):
        if isinstance(container, dict) and key not in container:
            undo.callback(container.pop, key)
        else:
            undo.callback(container.__setitem__, key, container[key])
        container[key] = value

    return change


def both(first, second):
    return lambda undo: (first(undo), second(undo))


HERE = sys.modules[__name__]
SEVEN = put(HERE, "FACTOR", 7)
# kernel, what changes what it reads from 5 to 7
ROWS = [
    (through_a_list, put(RECORD, "step", 7)),
    (through_a_list, put_in(LIST, 0, types.SimpleNamespace(step=7))),
    (through_a_record, put(OUTER.inner[0], "step", 7)),
    (through_a_named_tuple, put(HERE, "PAIR", Pair(7, RECORD))),
    (through_a_named_tuple, put(RECORD, "step", 7)),
    (through_arrays_in_a_list, put_in(ARRAYS[0], 0, 7)),
    (by_a_function_in_a_list, SEVEN),
    (by_a_function_in_a_list, put_in(FUNCTIONS, 0, made(7))),
    (by_a_function_that_python_runs, SEVEN),
    (by_a_function_that_python_runs, both(put_in(TABLE, 6, 6), put_in(TABLE, 7, 7))),
    (by_what_a_function_is_given, put(RECORD, "step", 7)),
    (by_a_lambda, put(RECORD, "step", 7)),
    (by_a_method, SEVEN),
    (by_a_method, put(Size, "least", 5)),
    (by_a_method, put(SIZE, "least", 5)),
    (by_an_attribute_of_a_member, put(Part.WHEEL, "weight", 7)),
    (by_a_list_of_a_member, put_in(Part.WHEEL.sizes, 0, 7)),
    (by_a_list_of_a_member, put(Part.WHEEL, "sizes", [7])),
]


@pytest.mark.parametrize(
    ("kernel", "change"), ROWS, ids=[f"{i}-{row[0].__name__}" for i, row in enumerate(ROWS)]
)
def test_a_change_is_seen_and_nothing_else_makes_code(kernel, change):
    out = cg.ndarray(cg.i32, ())
    for _ in range(3):
        kernel(out)
        assert out[()] == 5
    assert count(kernel) == 1
    with contextlib.ExitStack() as undo:
        change(undo)
        for _ in range(3):
            kernel(out)
            assert out[()] == 7
    assert count(kernel) == 2
    kernel(out)
    assert out[()] == 5
    assert count(kernel) == 2


def test_globals_of_a_function_given_as_a_template_are_seen(monkeypatch):
    @cg.kernel
    def apply(out: i32_0d, function: cg.template):
        out[()] = function(2)

    out = cg.ndarray(cg.i32, ())
    found = []
    for factor in (5, 7, 5):
        monkeypatch.setattr(HERE, "FACTOR", factor)
        for function in (times, TWICE):
            apply(out, function)
            found.append(int(out[()]))
    assert found == [10, 4, 14, 4, 10, 4]
    assert count(apply) == 3


@dataclasses.dataclass
class Shape:
    width: int
    HEIGHT = 2


def test_class_attributes_of_a_template_are_part_of_its_value(monkeypatch):
    @cg.kernel
    def area(out: i32_0d, shape: cg.template):
        out[()] = shape.width * shape.HEIGHT

    out = cg.ndarray(cg.i32, ())
    for height in (2, 3, 2):
        monkeypatch.setattr(Shape, "HEIGHT", height)
        area(out, Shape(5))
        assert out[()] == 5 * height


def test_functions_of_one_source_have_values_of_their_own():
    @cg.kernel
    def both(out: i32_0d):
        out[()] = TWICE(1) + 10 * THRICE(1)

    out = cg.ndarray(cg.i32, ())
    for _ in range(3):
        both(out)
        assert out[()] == 32
    assert count(both) == 1


def test_templates_are_let_go_with_the_code_that_was_made_for_them():
    @cg.kernel
    def read(out: i32_0d, record: cg.template):
        out[()] = record.step

    class Record:
        step = 5

    out, record = cg.ndarray(cg.i32, ()), Record()
    gone = weakref.ref(record)
    read(out, record)
    del record
    gc.collect()
    assert gone() is not None
    read.forget()
    gc.collect()
    assert gone() is None
    assert count(read) == 0


def test_numbers_of_templates_are_never_given_twice():
    known = Interned()
    first = [known.number(value) for value in ("a", "b", "a")]
    known.forget()
    assert first == [0, 1, 0]
    assert [known.number(value) for value in ("b", "c")] == [2, 3]


class Rate:
    step = 5


WIDE = types.ModuleType("wide")
WIDE.step = 5
WIDE.Rate = Rate


class Colour(enum.Enum):
    RED = 5
    GREEN = 7


@cg.kernel
def through_modules_and_classes(out: i32_0d):
    out[()] = Rate.step + 10 * WIDE.step + 100 * WIDE.Rate.step + 1000 * cg.static(Colour.RED.value) + FACTOR


@pytest.mark.parametrize("calls", [1, 2, 5])
@pytest.mark.parametrize(
    ("owner", "name", "expected"),
    [(Rate, "step", 5660), (WIDE, "step", 5570), (sys.modules[__name__], "FACTOR", 5561)],
    ids=["class", "module", "global"],
)
def test_change_is_seen_however_often_the_unchanged_value_was_used(owner, name, expected, calls, monkeypatch):
    out = cg.zeros((), cg.i32)
    for _ in range(calls):
        through_modules_and_classes(out)
    assert out[()] == 5560
    monkeypatch.setattr(owner, name, 6)
    for _ in range(calls):
        through_modules_and_classes(out)
    assert out[()] == expected + (1 if owner is Rate else 0)
    monkeypatch.undo()
    for _ in range(calls):
        through_modules_and_classes(out)
    assert out[()] == 5560


def test_class_of_another_name_with_the_same_members_is_seen(monkeypatch):
    class Base:
        step = 5

    class Other:
        step = 6

    class Derived(Base):
        pass

    monkeypatch.setattr(sys.modules[__name__], "Rate", Derived)
    out = cg.zeros((), cg.i32)
    for _ in range(3):
        through_modules_and_classes(out)
    Derived.__bases__ = (Other,)
    through_modules_and_classes(out)
    assert out[()] == 5561


def test_objects_that_refer_to_each_other_are_frozen_in_polynomial_time_and_no_change_is_missed():
    parts = [types.SimpleNamespace(weight=float(i), others=[], names=set()) for i in range(30)]
    for part in parts:
        part.others.extend(parts)  # 30 ** 8 ways of length 8
    before = freeze(parts[0])
    assert freeze(parts[0]) == before
    for part in parts:
        part.weight += 1
        changed = freeze(parts[0])
        assert changed != before
        before = changed


def test_keys_of_classes_of_numpy_tell_them_apart():
    class Derived(np.ndarray):
        pass

    classes = [np.ndarray, Derived, np.float32, np.float64]
    assert len({freeze(each) for each in classes}) == len(classes)


def test_the_depth_of_a_key_does_not_depend_on_the_way_that_is_found_first():
    far = types.SimpleNamespace(value=1)
    chain = far
    for _ in range(7):
        chain = types.SimpleNamespace(next=chain)
    owner = types.SimpleNamespace(long=chain, short=far)
    before = freeze(owner)
    far.value = 2
    assert freeze(owner) != before


def test_a_class_with_instances_of_itself_is_not_kept_alive_by_its_key():
    class Mode:
        """Like an enumeration: its members are class attributes."""

    Mode.fast = Mode()
    before = freeze(types.SimpleNamespace(mode=Mode.fast))
    kept = weakref.ref(Mode)
    del before, Mode
    gc.collect()
    assert kept() is None
