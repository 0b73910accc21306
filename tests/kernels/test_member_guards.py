# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a call of a method notices each change of a member that the kernel uses, and takes the kernel of an earlier call
without computing a key if nothing has changed. Guards keep no object with arrays alive."""

import dataclasses
import gc
import random
import types
import weakref

import numpy as np
import pytest

import cuda_graphs as cg
import cuda_graphs.compat.quadrants as qd
from cuda_graphs.kernels.call import methods, outside_arrays

i32 = cg.i32
Numbers = cg.types.ndarray(i32, ndim=1)


@cg.func
def free(i):
    return i * 100


@dataclasses.dataclass
class Point:
    x: i32


class Plain:
    """An object of the user with a list, a dict and a set, and without arrays."""

    def __init__(self):
        self.list, self.dict, self.set = [3, [4]], {"key": 5}, {6}


class Slots:
    __slots__ = ("value",)

    def __init__(self):
        self.value = 7


class OwnList(list):
    pass


class Inner:
    def __init__(self):
        self.weights = cg.array(np.array([2, 3], "i4"))
        self.scale = 3


@cg.data_oriented
class Model:
    OFFSET = 1

    def __init__(self):
        self.x = cg.array(np.array([1, 2], "i4"))
        self.number, self.real = 2, 0.5
        self.plain, self.slots, self.inner = Plain(), Slots(), Inner()
        self.row = np.array([1, 2])
        self.vector = qd.Vector([1, 2], dt=i32)
        self.parts = [self.x, 4]
        self.names = {"a": self.x, "b": 5}
        self.terms = [self.term]
        self.own, self.others = self.term, OwnList([Plain()])
        self.points = cg.ndarray(Point, 2)
        self.points.fill(Point(8))
        self.function, self.root = free, self

    @property
    def doubled(self):
        return 1000 * self.number + 7

    @cg.func
    def term(self, i):
        return self.number * i

    @cg.func
    def scaled(self, i):
        return self.inner.weights[i] * self.inner.scale

    @cg.kernel
    def all(self, out: Numbers):
        for i in out:
            found = self.x[i] + self.number + self.doubled + self.OFFSET + self.scaled(i)
            found += (
                i32(self.real * 4.0) + self.parts[0][i] * self.parts[1] + self.names["a"][i] * self.names["b"]
            )
            found += self.own(i) + self.terms[0](i) + self.function(i) + self.points[i].x + self.vector[0]
            for _, _ in cg.ndrange(*self.row):
                found += cg.static(self.slots.value)
            found += cg.static(sum(each.dict["key"] for each in self.others))
            found += cg.static(self.plain.list[0] + self.plain.list[1][0] + sum(self.plain.set))
            out[i] = found

    def expected(self):
        """Return the results in Python."""
        return [self.expected_at(i) for i in range(2)]

    def expected_at(self, i):
        found = (
            self.x[i] + self.number + self.doubled + self.OFFSET + self.inner.weights[i] * self.inner.scale
        )
        found += int(self.real * 4) + self.parts[0][i] * self.parts[1] + self.names["a"][i] * self.names["b"]
        found += called(self.own, i) + called(self.terms[0], i) + called(self.function, i)
        found += self.points[i].x + self.vector[0] + np.prod(self.row) * self.slots.value
        found += sum(each.dict["key"] for each in self.others)
        return int(found + self.plain.list[0] + self.plain.list[1][0] + sum(self.plain.set))


def called(function, i):
    """Call a function of the language in Python."""
    plain = function.__cuda_graphs_func__
    return plain(function.__self__, i) if isinstance(function, types.MethodType) else plain(i)


class Other:
    @cg.func
    def term(self, i):
        return 17 * i


@cg.func
def more(self, i):
    return (self.inner.scale + 1) * self.inner.weights[i]


@cg.func
def negative(i):
    return -i


def swap(model):
    model.x, model.inner.weights = model.inner.weights, model.x


CHANGES = {
    "number": lambda m: setattr(m, "number", m.number + 1),
    "float": lambda m: setattr(m, "real", m.real + 1.25),
    "array": lambda m: setattr(m, "x", cg.array(np.array([5, 6], "i4"))),
    "array of NumPy": lambda m: setattr(m, "x", np.array([7, 8], "i4")),
    "swap": swap,
    "inner number": lambda m: setattr(m.inner, "scale", m.inner.scale + 2),
    "inner object": lambda m: setattr(m, "inner", Inner()),
    "item of a list with arrays": lambda m: m.parts.__setitem__(1, m.parts[1] + 3),
    "array in a list": lambda m: m.parts.__setitem__(0, cg.array(np.array([9, 1], "i4"))),
    "item of a dict with arrays": lambda m: m.names.__setitem__("b", m.names["b"] + 3),
    "unused item of a dict": lambda m: m.names.__setitem__("c", 1),
    "row": lambda m: m.row.__setitem__(0, m.row[0] + 1),
    "component of a vector": lambda m: m.vector.__setitem__(0, m.vector[0] + 1),
    "slot": lambda m: setattr(m.slots, "value", m.slots.value + 1),
    "list in a list": lambda m: m.plain.list[1].__setitem__(0, m.plain.list[1][0] + 1),
    "set": lambda m: m.plain.set.add(len(m.plain.set) + 50),
    "object in an own list": lambda m: m.others[0].dict.__setitem__("key", m.others[0].dict["key"] + 9),
    "own list": lambda m: m.others.append(Plain()),
    "other structures": lambda m: m.points.fill(Point(m.points[0].x + 1)),
    "method of another object": lambda m: m.terms.__setitem__(0, Other().term),
    "own method": lambda m: m.terms.__setitem__(0, m.term),
    "function": lambda m: setattr(m, "function", negative if m.function is free else free),
    "member that is a method": lambda m: setattr(m, "own", negative),
    "class attribute": lambda m: setattr(type(m), "OFFSET", type(m).OFFSET + 1),
    "class attribute that is hidden": lambda m: setattr(m, "OFFSET", 77),
}


@pytest.fixture
def model(device):
    """A model of a class of its own, whose attributes may change."""
    yield type("Model", (Model,), {"OFFSET": 1})()
    device.sync()
    Model.all.forget()


def result(model):
    out = cg.ndarray(i32, 2)
    model.all(out)
    return out.to_numpy().tolist()


@pytest.mark.parametrize("change", CHANGES)
def test_each_change_is_noticed(model, change):
    for _ in range(2):
        assert result(model) == model.expected()
    CHANGES[change](model)
    for _ in range(2):
        assert result(model) == model.expected()


def test_no_order_of_changes_hides_one(model):
    choice = random.Random(1)
    for _ in range(25):
        CHANGES[choice.choice(list(CHANGES))](model)
        assert result(model) == model.expected()


def test_method_that_is_replaced_in_the_class_is_noticed(model):
    plain = model.expected()
    assert result(model) == plain
    type(model).scaled = more
    assert result(model) == [plain[i] + model.inner.weights[i] for i in range(2)]
    del type(model).scaled
    assert result(model) == plain


@pytest.fixture
def walks(monkeypatch):
    """The objects whose members were read for a key."""
    found = []
    for module in (methods, outside_arrays):
        monkeypatch.setattr(module, "guarded_record", recorded(module.guarded_record, found))
    return found


def recorded(function, found):
    def wrapper(owner, *args):
        found.append(owner)
        return function(owner, *args)

    return wrapper


def test_unchanged_members_and_other_arrays_need_no_key(model, walks):
    result(model)
    assert walks == [model]
    for _ in range(3):
        swap(model)
        model.points = cg.ndarray(Point, 2)
        model.points.fill(Point(1))
        model.vector, model.real = qd.Vector([1, 2], dt=i32), float("0.5")
        assert result(model) == model.expected()
    assert walks == [model]


def test_objects_in_turn_need_a_key_each(walks):
    @cg.data_oriented
    class Scaled:
        def __init__(self, factor):
            self.factor = factor

        @cg.kernel
        def get(self) -> i32:
            return self.factor

    owners = [Scaled(k) for k in range(4)]
    for _ in range(3):
        assert [each.get() for each in owners] == [0, 1, 2, 3]
    assert walks == owners


def test_templates_and_globals_with_arrays_need_a_key_once_and_changes_are_noticed(walks):
    holder = types.SimpleNamespace(x=cg.array(np.array([1, 2], "i4")), factor=3)
    other = types.SimpleNamespace(x=cg.array(np.array([3, 4], "i4")), factor=5)

    @cg.kernel
    def total(value: cg.template) -> i32:
        found = 0
        for i in range(2):
            found += value.x[i] * value.factor + other.x[i] * other.factor
        return found

    for _ in range(3):
        assert total(holder) == 9 + 35
        holder.x, other.x = other.x, holder.x
        assert total(holder) == 21 + 15
        holder.x, other.x = other.x, holder.x
    assert walks == [holder, other]
    other.factor = 6
    assert total(holder) == 9 + 42
    holder.factor = 1
    assert total(holder) == 3 + 42


def test_member_that_appears_or_leads_to_an_enclosing_object_is_noticed():
    @cg.data_oriented
    class Open:
        def __init__(self):
            self.root, self.x = self, cg.array(np.array([4], "i4"))

        @cg.kernel
        def get(self) -> i32:
            found = self.x[0]
            if cg.static(hasattr(self, "extra")):
                found += self.extra
            return found

    owner = Open()
    assert [owner.get(), owner.get()] == [4, 4]
    owner.extra = 5
    assert [owner.get(), owner.get()] == [9, 9]
    del owner.extra
    assert owner.get() == 4


def test_members_that_change_while_they_are_read_are_read_in_each_call():
    @cg.data_oriented
    class Restless:
        count = 0

        @property
        def value(self):
            self.count += 1
            return self.count

        @cg.kernel
        def get(self) -> i32:
            return self.value

    owner, found = Restless(), []
    for _ in range(4):
        before = owner.count
        found.append(owner.get())
        assert before < found[-1] <= owner.count
    assert len(set(found)) == 4


def test_arrays_and_owners_die_with_the_program_s_last_reference():
    @cg.data_oriented
    class Owner:
        def __init__(self):
            self.x, self.inner, self.plain = cg.zeros(2), Inner(), Plain()
            self.inner.owner, self.list = self, [self.x, self.inner]

        @cg.kernel
        def get(self) -> i32:
            return i32(self.x[0] + self.list[0][1]) + self.inner.weights[0] + cg.static(self.plain.list[0])

    owner = Owner()
    assert [owner.get(), owner.get()] == [5, 5]
    dead = [weakref.ref(each) for each in (owner.x, owner.inner, owner.inner.weights, owner)]
    owner.x, owner.inner = cg.zeros(2), Inner()
    owner.list[:] = [owner.x, owner.inner]
    gc.collect()
    assert [each() for each in dead[:3]] == [None] * 3
    assert owner.get() == 5
    del owner
    gc.collect()
    assert dead[3]() is None
