# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a function of the language that is bound to an object means in kernels what it means in Python, wherever the
kernel has it from, also after the object has changed."""

import dataclasses

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.compiler.cache.fingerprint import Fingerprint

i32 = cg.i32


@cg.func
def free(i):
    return i * 11


class Scale:
    def __init__(self, factor):
        self.factor, self.member = factor, free
        self.table = cg.field(i32, 4)

    @cg.func
    def times(self, i, more=0):
        return i * self.factor + more

    @cg.func
    def twice(self, i):
        return self.times(self.times(i)) + self.member(1) - 11

    @cg.func
    def at(self, i):
        return self.table[i % 4]

    @staticmethod
    @cg.func
    def fixed(i):
        return i + 100


scale = Scale(3)
bound = scale.times
several = [scale.times, free, scale.twice]
named = {"times": scale.times}


@cg.kernel
def by_captured_object(i: i32) -> i32:
    return scale.times(i)


@cg.kernel
def by_keyword(i: i32) -> i32:
    return scale.times(i=i, more=0)


@cg.kernel
def by_captured_method(i: i32) -> i32:
    return bound(i)


@cg.kernel
def by_captured_list(i: i32) -> i32:
    return several[0](i)


@cg.kernel
def by_captured_dict(i: i32) -> i32:
    return named["times"](i)


@cg.kernel
def by_static_loop(i: i32) -> i32:
    found = 0
    for function in cg.static([scale.times]):
        found += function(i)
    return found


@cg.kernel
def by_another_name(i: i32) -> i32:
    function = scale.times
    return function(i)


@cg.kernel
def of_template_object(value: cg.template, i: i32) -> i32:
    return value.times(i)


@cg.kernel
def of_template_method(value: cg.template, i: i32) -> i32:
    return value(i)


@cg.kernel
def of_template_list(value: cg.template, i: i32) -> i32:
    return value[1](i)


WAYS = {
    "captured object": by_captured_object,
    "keyword": by_keyword,
    "captured method": by_captured_method,
    "captured list": by_captured_list,
    "captured dict": by_captured_dict,
    "static loop": by_static_loop,
    "another name": by_another_name,
    "template object": lambda i: of_template_object(scale, i),
    "template method": lambda i: of_template_method(scale.times, i),
    "template list": lambda i: of_template_list([free, scale.times], i),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_method_of_an_object_from_outside_is_called_with_it(way, monkeypatch):
    for factor in (3, 4, 3):
        monkeypatch.setattr(scale, "factor", factor)
        assert WAYS[way](5) == 5 * factor


def test_methods_call_others_members_and_fields_of_their_object():
    scale = Scale(3)

    @cg.kernel
    def kernel(i: i32) -> i32:
        return scale.twice(i) * 1000 + scale.at(i) * 100 + scale.fixed(i) - 100

    scale.table.from_numpy(np.array([4, 5, 6, 7], "i4"))
    assert kernel(2) == 2 * 9 * 1000 + 6 * 100 + 2
    scale.factor = 2
    assert kernel(2) == 2 * 4 * 1000 + 6 * 100 + 2


@cg.data_oriented
class Sum:
    """Terms are bound to the same object, to another one, and to none."""

    def __init__(self, values, factor):
        self.values, self.factor, self.other, self.single = values, factor, Scale(7), free
        self.terms = [self.scaled, self.other.times, free]
        self.named = {"first": (self.value, self.scaled)}

    @cg.func
    def value(self, i):
        return self.values[i]

    @cg.func
    def scaled(self, i):
        return self.value(i) * self.factor

    @cg.kernel
    def all_terms(self, i: i32) -> i32:
        found = 0
        for k in cg.static(range(3)):
            found += self.terms[k](i)
        return found

    @cg.kernel
    def by_name(self, i: i32) -> i32:
        return self.named["first"][0](i) + self.named["first"][1](i)

    @cg.kernel
    def member(self, i: i32) -> i32:
        return self.single(i)

    @cg.kernel
    def of_other(self, i: i32) -> i32:
        return self.other.twice(i)


@pytest.fixture
def forgets(device):
    yield
    device.sync()
    for kernel in (Sum.all_terms, Sum.by_name, Sum.member, Sum.of_other):
        kernel.forget()


@pytest.mark.usefixtures("forgets")
def test_methods_in_members_of_self_are_called_with_their_object():
    """Arrays of the object are arguments also where only such a method uses them."""
    for values, factor in (([1, 2, 3], 2), ([5, 6, 7], 2), ([5, 6, 7], 9)):
        made = Sum(np.array(values, "i4"), factor)
        for i in range(3):
            assert made.all_terms(i) == values[i] * factor + 7 * i + 11 * i
            assert made.by_name(i) == values[i] * (1 + factor)
            assert made.member(i) == 11 * i
            assert made.of_other(i) == 49 * i
    made.factor, made.other.factor = 1, 2
    assert made.all_terms(1) == 6 + 2 + 11
    made.terms[0] = made.value
    made.single = made.terms[1]
    assert (made.all_terms(2), made.member(5)) == (7 + 4 + 22, 10)


@dataclasses.dataclass
class Kept:
    factor: int

    @cg.func
    def times(self, i):
        return i * self.factor


def fingerprint(value):
    found = Fingerprint()
    found.add(value)
    return found.digest()


def test_the_object_of_a_method_is_a_part_of_its_fingerprint():
    assert fingerprint(Kept(3).times) == fingerprint(Kept(3).times)
    assert fingerprint(Kept(3).times) != fingerprint(Kept(4).times)
    assert fingerprint([Kept(3).times]) != fingerprint([Kept(4).times])
