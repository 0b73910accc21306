# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of structures on the host: values without a class, elements of fields, and arguments of kernels."""

import copy

import numpy as np
import pytest

import cuda_graphs.compat.quadrants as qd
import cuda_graphs.compat.taichi as ti

Ball = qd.types.struct(count=qd.i32, mass=qd.f32, place=qd.math.vec2)


@qd.kernel
def total(ball: Ball) -> qd.f64:
    return ball.count + ball.mass + ball.place[1]


@pytest.mark.parametrize("peer", [qd, ti], ids=["quadrants", "taichi"])
def test_struct_has_its_members_by_attribute_and_by_name(peer):
    s = peer.Struct(a=1, b=2.0, v=[1, 2], inner={"c": 3})
    assert (s.a, s["b"], s.v[1], s.inner.c, s["inner"]["c"]) == (1, 2.0, 2, 3, 3)
    s.a, s["b"], s.v[0], s.inner.c = 2.5, 7, 9, 4
    assert s.to_dict() == {"a": 2.5, "b": 7, "v": [9, 2], "inner": {"c": 4}}
    assert (str(s), repr(s), len(s)) == (str(s.to_dict()), str(s.to_dict()), 4)
    assert (s.keys, dict(s.items)["b"], s.entries["a"]) == (["a", "b", "v", "inner"], 7, 2.5)
    assert peer.Struct({"a": 1}).a == 1
    assert copy.deepcopy(s).inner.to_dict() == {"c": 4}


def test_unknown_members_of_a_struct_raise():
    s = qd.Struct(a=1)
    with pytest.raises(AttributeError, match="'b'"):
        _ = s.b
    with pytest.raises(KeyError, match="b"):
        _ = s["b"]
    with pytest.raises(KeyError, match="b"):
        s["b"] = 1
    with pytest.raises(TypeError, match="a member of a Struct is a number, a vector or a structure, not 'x'"):
        qd.Struct(a="x")


def test_structures_are_structs():
    values = [qd.Struct(a=1), Ball(), Ball.field(shape=1)[0], 3, [1], Ball]
    assert [isinstance(each, qd.Struct) for each in values] == [True, True, True, False, False, False]


def test_elements_take_structures_and_dicts():
    f = Ball.field(shape=4)
    f[0] = {"count": 3, "mass": 4.5, "place": [1, 2]}
    f[1] = qd.Struct(count=7.9, mass=1, place=[3, 4])
    f[2] = Ball(count=8)
    f[3]["mass"] = 5
    assert f.to_numpy()["count"].tolist() == [3, 7, 8, 0]
    assert f.mass.to_numpy().tolist() == [4.5, 1, 0, 5]
    assert f[1].to_dict() == {"count": 7, "mass": 1.0, "place": [3.0, 4.0]}
    f.fill({"count": 2})
    assert [f[i].to_dict() for i in range(4)] == [{"count": 2, "mass": 0.0, "place": [0.0, 0.0]}] * 4
    f.fill(qd.Struct(count=1, mass=0.5, place=[1, 1]))
    assert (f.place.to_numpy() == 1).all()
    assert (f.keys, str(f)) == (["count", "mass", "place"], str(f.to_numpy()))


def test_kernels_take_structs_of_the_same_members():
    assert total(qd.Struct(count=1, mass=2.5, place=[3.0, 4.0])) == 7.5
    assert total(qd.types.struct(count=qd.i32, mass=qd.f32, place=qd.math.vec2)(1, 2, [3, 4])) == 7


def test_struct_outside_of_a_kernel_is_read_in_it():
    s = qd.Struct(a=1, b=2.5, v=qd.Vector([1.0, 2.0]))

    @qd.kernel
    def sum_of_members() -> qd.f64:
        return s.a + s.b + s.v[1]

    assert sum_of_members() == 5.5
    s.a = 3
    assert sum_of_members() == 7.5


def test_members_of_the_program_win():
    @qd.dataclass
    class Table:
        keys: qd.i32
        items: qd.f32

        def to_dict(self):
            return "own"

    table = Table(keys=3, items=0.5)
    assert (table.keys, table.items, table.to_dict(), len(table)) == (3, 0.5, "own", 2)
    field = Table.field(shape=2)
    field[0].keys = 4
    assert field.members["keys"].to_numpy().tolist() == [4, 0]


def test_text_of_fields_is_that_of_their_elements():
    x = qd.field(qd.f32, shape=(2, 2))
    x.from_numpy(np.arange(4.0).reshape(2, 2))
    assert (str(x), f"{qd.field(qd.i32, shape=())}") == (str(x.to_numpy()), "0")
    y = qd.field(qd.i32)
    assert str(y) == "<a field without a shape>"
    qd.root.dense(qd.i, 3).place(y)
    assert str(y) == "[0 0 0]"
