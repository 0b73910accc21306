# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: calls with an object whose attributes are unchanged look at none of them, and each change is noticed."""

import dataclasses
import gc
import weakref

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.kernels.call import outside_arrays
from cuda_graphs.kernels.call.member_guards import Choices
from cuda_graphs.kernels.call.members import guarded_record
from cuda_graphs.kernels.specialisation import own_attributes

CALLS = 9  # calls after which both a guard and a reader know an object

Numbers = cg.types.ndarray(cg.i32, ndim=1)


@pytest.fixture(autouse=True, params=[True, False], ids=["versions", "no versions"])
def versions(request, monkeypatch):
    """Whether dicts have versions, as before Python 3.13."""
    monkeypatch.setattr(own_attributes, "HAS_VERSIONS", request.param and own_attributes.HAS_VERSIONS)


def numbers(*values, dtype="i4"):
    return cg.array(np.array(values, dtype))


def classes():
    """Return new classes of a method and of an argument, which tests may change."""

    class Base:
        OFFSET = 1

    @cg.data_oriented
    class Model(Base):
        def __init__(self):
            self.x, self.scale = numbers(0), 1

        @cg.kernel
        def step(self):
            for i in self.x:
                self.x[i] += self.scale + self.OFFSET

    @dataclasses.dataclass
    class State:
        x: Numbers
        scale: cg.i32

    @cg.kernel
    def step(s: State):
        for i in s.x:
            s.x[i] += s.scale + 1

    class Plain:
        def __init__(self):
            self.x, self.scale = numbers(0), 1

    @cg.kernel
    def step_template(s: cg.template):
        for i in s.x:
            s.x[i] += s.scale + 1

    return {
        "method": (Model, Model.step),
        "argument": (lambda: State(numbers(0), 1), step),
        "template": (Plain, step_template),
    }


@pytest.fixture(params=["method", "argument", "template"])
def known(request):
    """An object whose attributes a kernel knows, and the kernel as a function of an object."""
    make, kernel = classes()[request.param]
    found = make()
    step = (lambda each: each.step()) if request.param == "method" else kernel
    for _ in range(CALLS):
        step(found)
    assert found.x.to_numpy().tolist() == [2 * CALLS]
    return found, step


def test_array_that_replaces_another_one_is_written(known):
    found, step = known
    before, found.x = found.x, numbers(100)
    step(found)
    assert (found.x.to_numpy().tolist(), before.to_numpy().tolist()) == ([102], [2 * CALLS])


def test_array_that_replaces_another_one_in_the_dict_is_written(known):
    found, step = known
    vars(found)["x"] = numbers(100)
    step(found)
    assert found.x.to_numpy().tolist() == [102]


def test_attributes_of_a_new_dict_are_read(known):
    found, step = known
    found.__dict__ = {"x": numbers(100), "scale": 4}
    step(found)
    assert found.x.to_numpy().tolist() == [105]


def test_number_that_replaces_another_one_is_read(known):
    found, step = known
    found.scale = 10
    step(found)
    assert found.x.to_numpy().tolist() == [2 * CALLS + 11]


def test_property_of_the_same_name_is_read(known):
    found, step = known
    other = numbers(100)
    type(found).x = property(lambda self: other)
    step(found)
    assert other.to_numpy().tolist() == [102]


def test_getattribute_that_a_class_gets_later_is_called(known):
    found, step = known
    other = numbers(100)

    def read(self, name):
        return other if name == "x" else object.__getattribute__(self, name)

    type(found).__getattribute__ = read
    step(found)
    assert other.to_numpy().tolist() == [102]


def test_other_object_of_the_class_is_read(known):
    found, step = known
    other = object.__new__(type(found))
    other.x, other.scale = numbers(100), 5
    for _ in range(2):
        step(other)
        step(found)
    assert (other.x.to_numpy().tolist(), found.x.to_numpy().tolist()) == ([112], [2 * CALLS + 4])


def test_object_in_the_place_of_a_dead_one_is_read(known):
    found, step = known
    cls = type(found)
    for value in range(20):
        found = object.__new__(cls)  # mostly at the same address
        found.x, found.scale = numbers(value), 1
        step(found)
        assert found.x.to_numpy().tolist() == [value + 2]


def test_closed_memory_is_refused(known):
    found, step = known
    found.x.buffer.close()
    with pytest.raises(cg.ClosedBufferError):
        step(found)


def test_replaced_array_is_not_kept_alive(known):
    found, _ = known
    cg.Device().sync()
    seen = weakref.ref(found.x.buffer)
    found.x = numbers(0)
    gc.collect()
    assert seen() is None


def test_object_is_not_kept_alive(known):
    found, step = known
    other = object.__new__(type(found))  # pytest keeps the first one
    other.x, other.scale = numbers(0), 1
    for _ in range(2 * CALLS):
        step(other)
    cg.Device().sync()
    seen = weakref.ref(other)
    del other
    gc.collect()
    assert seen() is None


def test_constants_of_the_class_and_of_its_bases_are_read():
    make, _ = classes()["method"]
    found = make()
    for _ in range(CALLS):
        found.step()
    make.__base__.OFFSET = 5
    found.step()
    make.OFFSET = 7
    found.step()
    assert found.x.to_numpy().tolist() == [2 * CALLS + 6 + 8]


def test_array_of_another_type_gets_other_code():
    make, _ = classes()["method"]
    found = make()
    for _ in range(CALLS):
        found.step()
    found.x = numbers(0.5, dtype="f4")
    found.step()
    assert found.x.to_numpy().tolist() == [2.5]


def test_guard_looks_at_the_members_of_an_unchanged_object_once():
    class Holder:
        pass

    holder = Holder()
    holder.x, holder.n = numbers(0), 3
    choices, guard = Choices(), guarded_record(holder, None)
    choices.add((holder,), (guard,), "found")
    before = guard.passes
    for _ in range(5):
        assert choices.find((holder,)) == "found"
    assert guard.passes == before


def test_guard_looks_at_lists_in_each_call():
    class Holder:
        pass

    holder = Holder()
    holder.x, holder.n = numbers(0), [3]
    choices, guard = Choices(), guarded_record(holder, None)
    choices.add((holder,), (guard,), "found")
    assert choices.find((holder,)) == "found"
    holder.n[0] = 4
    assert choices.find((holder,)) is None


def test_template_that_loses_its_arrays_and_gets_others():
    class Holder:
        pass

    @cg.kernel
    def add(s: cg.template, out: Numbers):
        for i in out:
            if cg.static(hasattr(s, "x")):
                out[i] += s.x[i]
            else:
                out[i] += 100

    holder, out = Holder(), numbers(0)
    holder.x, holder.n = numbers(1), 3
    for _ in range(CALLS):
        add(holder, out)
    del holder.x
    for _ in range(CALLS):
        add(holder, out)
    holder.x = numbers(10000)
    add(holder, out)
    assert out.to_numpy().tolist() == [CALLS * 101 + 10000]


def test_arrays_of_an_unchanged_template_are_searched_once(monkeypatch):
    class Holder:
        pass

    @cg.kernel
    def add(s: cg.template):
        for i in s.x:
            s.x[i] += 1

    holder = Holder()
    holder.x = numbers(0)
    for _ in range(CALLS):
        add(holder)
    monkeypatch.setattr(outside_arrays, "has_references", lambda value: pytest.fail("searched again"))
    add(holder)
    assert holder.x.to_numpy().tolist() == [CALLS + 1]


def test_array_that_becomes_none_is_noticed(known):
    found, step = known
    found.x = None
    gc.collect()
    with pytest.raises((TypeError, cg.CompileError)):
        step(found)


@pytest.mark.parametrize("change", ["first", "last"])
def test_each_of_many_attributes_is_compared(change):
    @cg.kernel
    def add(s: cg.template, out: Numbers):
        for i in out:
            out[i] += s.a0[i] + s.a99[i]

    class Holder:
        pass

    holder, out = Holder(), numbers(0)
    for number in range(100):
        setattr(holder, f"a{number}", numbers(number))
    for _ in range(CALLS):
        add(holder, out)
    setattr(holder, {"first": "a0", "last": "a99"}[change], numbers(1000))
    add(holder, out)
    assert out.to_numpy().tolist() == [CALLS * 99 + {"first": 1099, "last": 1000}[change]]
