# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of named parameters in a definition: one name is one parameter of one type, and stands where its values can."""

import gc
import pickle
import weakref

import numpy as np
import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE

# ---- names and types


def test_the_same_name_is_the_same_parameter_in_the_whole_hierarchy(device):
    g = cg.GraphDef()
    p = g.param("alpha", cg.f32)
    body = g.if_then(g.create_condition(0)).then
    assert g.param("alpha", cg.f32) is p
    assert body.param("alpha", np.float32) is p
    inner = body.param("beta", cg.i32, default=7)
    assert g.param("beta", np.dtype("int32")) is inner
    assert g.param("beta", cg.i32, default=7) is inner


def test_another_definition_has_parameters_of_its_own(device):
    g, other = cg.GraphDef(), cg.GraphDef()
    p, q = g.param("alpha", cg.f32), other.param("alpha", cg.f32)
    assert p != q
    assert len({p, q}) == 2


def test_a_parameter_lives_as_long_as_someone_holds_it_and_comes_back_as_it_was(device):
    g = cg.GraphDef()
    p = g.param("alpha", cg.f32, default=0.5)
    alive = weakref.ref(p)
    del p
    gc.collect()
    assert alive() is None
    again = g.param("alpha", cg.f32)
    assert (again.name, again.type, again.default) == ("alpha", "f32", 0.5)
    del g
    assert repr(again) == "<Parameter 'alpha' f32 default=0.5>"


@pytest.mark.parametrize(
    ("given", "name"),
    [(getattr(cg, name), name) for name in ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")]
    + [(cg.f16, "f16"), (cg.bf16, "bf16"), (cg.f32, "f32"), (cg.f64, "f64"), (cg.bool_, "bool")]
    + [(cg.pointer, "pointer"), (np.int8, "i8"), (np.uint16, "u16"), (np.longlong, "i64"), (np.bool_, "bool")]
    + [(np.float16, "f16"), (np.dtype("f8"), "f64"), (np.dtype(np.uint64), "u64")],
)
def test_types_are_ours_or_of_numpy(given, name):
    p = cg.GraphDef().param("p", given)
    assert p.type == name
    assert repr(p) == f"<Parameter 'p' {name}>"


def test_any_object_that_follows_the_protocol_is_a_type():
    class Theirs:
        __cuda_graph_type__ = "u16"

    assert cg.GraphDef().param("p", Theirs()).type == "u16"


@pytest.mark.parametrize(
    "wrong",
    [None, int, float, "f32", 4, np.complex64, np.dtype(">f4"), np.dtype("i4,i4"), np.dtype("S4"), object()],
)
def test_wrong_type_of_a_parameter_is_a_type_error(wrong):
    with pytest.raises(TypeError, match="is not a type of numbers or pointers"):
        cg.GraphDef().param("p", wrong)


@pytest.mark.parametrize("name", ["", "two words", "1st", "stream", "self", "a.b"])
def test_names_are_such_that_launch_can_take_them(name):
    with pytest.raises(ValueError, match=r"keyword of Graph\.launch"):
        cg.GraphDef().param(name, cg.f32)


def test_a_name_is_a_str():
    with pytest.raises(TypeError, match="name must be a str, got int"):
        cg.GraphDef().param(7, cg.f32)


def test_a_name_cannot_have_two_types_or_two_defaults():
    g = cg.GraphDef()
    g.param("alpha", cg.f32, default=0.5)
    g.param("beta", cg.f32)
    with pytest.raises(ValueError, match=r"<Parameter 'alpha' f32 default=0\.5> exists already.* f64"):
        g.param("alpha", cg.f64)
    with pytest.raises(ValueError, match="its default cannot change"):
        g.param("alpha", cg.f32, default=0.25)
    with pytest.raises(ValueError, match="its default cannot change"):
        g.param("beta", cg.f32, default=0.0)
    assert g.param("alpha", cg.f32).default == 0.5
    assert g.param("beta", cg.f32).default is None


def test_a_default_is_converted_and_checked_as_any_value():
    g = cg.GraphDef()
    assert g.param("a", cg.f32, default=1 / 3).default == float(np.float32(1 / 3))
    with pytest.raises(OverflowError, match="parameter 'b' is u8; 256 does not fit"):
        g.param("b", cg.u8, default=256)
    assert g.param("b", cg.i16).type == "i16"


def test_parameters_are_made_by_definitions_only():
    with pytest.raises(RuntimeError, match="has no public constructor"):
        cg.Parameter()
    with pytest.raises(TypeError):
        pickle.dumps(cg.GraphDef().param("a", cg.f32))


def test_a_definition_that_was_destroyed_has_no_parameters(device):
    g = cg.GraphDef()
    branch = g.if_then(g.create_condition(0))
    body = branch.then
    branch.destroy()
    with pytest.raises(RuntimeError, match="no longer valid"):
        body.param("a", cg.f32)


# ---- where they can be used


@pytest.mark.parametrize("kind", [cg.i8, cg.f16, cg.f32, cg.f64, cg.u64, cg.pointer, cg.bool_])
def test_a_kernel_argument_has_the_type_of_the_kernels_parameter(kind, kernels, pinned):
    g, x = cg.GraphDef(), pinned([0])
    p = g.param("amount", kind)
    with pytest.raises(
        TypeError, match=r"parameter 2 of kernel 'add' takes int; <Parameter 'amount' .*> does not convert"
    ):
        g.launch(ONE, kernels.add, x.ctypes.data, 1, p)
    assert g.nodes() == set()


def test_a_parameter_of_another_definition_is_refused(kernels, pinned):
    g, x = cg.GraphDef(), pinned([0])
    theirs = cg.GraphDef().param("amount", cg.i32)
    where = cg.GraphDef().param("where", cg.pointer, default=x.ctypes.data)
    for add in (
        lambda: g.launch(ONE, kernels.add, x.ctypes.data, 1, theirs),
        lambda: g.memset(where, 0, 4),
        lambda: g.memcpy(x.ctypes.data, where, 4),
    ):
        with pytest.raises(ValueError, match="belongs to another definition"):
            add()
    assert g.nodes() == set()


def test_a_launch_on_a_stream_takes_none(kernels, pinned, stream):
    x = pinned([0])
    p = cg.GraphDef().param("amount", cg.i32, default=3)
    with pytest.raises(TypeError, match="<Parameter 'amount' i32 default=3> has no value here"):
        cg.launch(stream, ONE, kernels.add, x.ctypes.data, 1, p)
    stream.sync()
    assert x[0] == 0


def test_operands_have_types_that_make_sense(pinned, device):
    g, x = cg.GraphDef(), pinned([0, 0])
    where, much, real = g.param("where", cg.pointer), g.param("much", cg.u32), g.param("real", cg.f64)
    for wrong, message in (
        (lambda: g.memset(much, 0, 4), "dst must be an address, but <Parameter 'much' u32> is not a pointer"),
        (lambda: g.memset(where, real, 4), "value must have 1, 2 or 4 bytes"),
        (lambda: g.memset(where, where, 4), "value must have 1, 2 or 4 bytes"),
        (lambda: g.memset(where, 0, real), "width must be a count"),
        (lambda: g.memcpy(where, much, 4), "src must be an address"),
        (lambda: g.memcpy(real, x.ctypes.data, 4), "dst must be an address"),
        (lambda: g.memcpy(where, x.ctypes.data, where), "size must be a count"),
    ):
        with pytest.raises(TypeError, match=message):
            wrong()
    assert g.nodes() == set()
