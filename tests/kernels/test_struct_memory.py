# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: slices of arrays of structures, their small floats, and structured arrays of NumPy are as those of numbers."""

import copy
import pickle
from dataclasses import dataclass

import ml_dtypes
import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.kernels.arrays import foreign

LAYOUTS = ["soa", "aos"]
MAKES = [cg.ndarray, cg.field]


@dataclass
class Inner:
    rate: cg.f64
    way: cg.vec2


@dataclass
class Item:
    at: cg.vec3
    kind: cg.u8
    mass: cg.f64
    inner: Inner


DTYPE = np.dtype(
    [
        ("at", "f4", 3),
        ("kind", "u1"),
        ("mass", "f8"),
        ("inner", np.dtype([("rate", "f8"), ("way", "f4", 2)])),
    ],
    align=True,
)


@pytest.fixture(params=LAYOUTS)
def layout(request):
    return request.param


def values(*shape):
    rng, found = np.random.default_rng(7), np.zeros(shape, DTYPE)
    found["at"], found["kind"], found["mass"] = (
        rng.random((*shape, 3)),
        rng.integers(0, 9, shape),
        rng.random(shape),
    )
    found["inner"]["rate"], found["inner"]["way"] = rng.random(shape), rng.random((*shape, 2))
    return found


def array(layout, *shape, make=cg.ndarray, **options):
    found = make(Item, shape, layout=layout, **options)
    found.from_numpy(values(*shape))
    return found


@cg.kernel
def change(x: cg.types.ndarray(Item, 1), by: cg.f32):
    for i in x:
        x[i].at.y += by
        x[i].inner.rate += x[i].mass * i
        x[i].kind += cg.u8(len(x))


def changed(given, by):
    given["at"][:, 1] += np.float32(by)
    given["inner"]["rate"] += given["mass"] * np.arange(len(given))
    given["kind"] += len(given)


SLICES = [
    ((7,), np.s_[2:5]),
    ((7,), np.s_[-3:]),
    ((7,), np.s_[4:4]),
    ((7,), ...),
    ((4, 6), 1),
    ((4, 6), np.s_[2, 1:3]),
    ((4, 6), np.s_[-1, ..., 2:]),
]


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize(("shape", "index"), SLICES, ids=[str(index) for _, index in SLICES])
def test_a_slice_is_the_part_that_numpy_selects(shape, index, layout, make, device):
    x, wanted = array(layout, *shape, make=make), values(*shape)
    part = x[index]
    assert (part.shape, part.layout, part.dtype, part.cls) == (wanted[index].shape, layout, DTYPE, Item)
    np.testing.assert_array_equal(part.to_numpy(), wanted[index])
    for by in (1.5, 2.0):
        change(part, by)
        changed(wanted[index], by)
        np.testing.assert_array_equal(x.to_numpy(), wanted)
    if part.shape[0]:
        part[-1] = Item([1, 2, 3], 4, 5.0, Inner(6.0, [7, 8]))
        wanted[index][-1] = ([1, 2, 3], 4, 5.0, (6.0, [7, 8]))
        assert part[part.shape[0] - 1].inner.way == cg.vec2(7, 8)
    np.testing.assert_array_equal(x.to_numpy(), wanted)


def test_slices_of_slices_and_rows_share_the_memory(layout, device):
    x, wanted = array(layout, 3, 8), values(3, 8)
    part = x[1:][0][2:7]
    change(part[1:3], 1.0)
    changed(wanted[1:][0][2:7][1:3], 1.0)
    np.testing.assert_array_equal(x.to_numpy(), wanted)
    assert x[1:].shape == (2, 8) and x[:, :].shape == (3, 8)


def test_parts_are_assigned(layout, device):
    x, y, wanted = array(layout, 6), array(layout, 3), values(6)
    one = Item([1, 2, 3], 4, 5.0, Inner(6.0, [7, 8]))
    x[:2], wanted[:2] = one, np.array(([1, 2, 3], 4, 5.0, (6.0, [7, 8])), DTYPE)
    x[3:], wanted[3:] = y, values(3)
    x[2:3], wanted[2:3] = values(1), values(1)
    np.testing.assert_array_equal(x.to_numpy(), wanted)
    x[1:3], wanted[1:3] = values(1)[0:1], values(1)
    np.testing.assert_array_equal(x.to_numpy(), wanted)
    with pytest.raises(ValueError, match="elements of <StructArray Item shape=\\(3,\\)"):
        x[:2] = y
    with pytest.raises(TypeError, match="an element is a Item, got 'one'"):
        x[:2] = "one"
    np.testing.assert_array_equal(x.to_numpy(), wanted)


def test_a_slice_with_gaps_is_refused(layout, device):
    x = array(layout, 4, 6)
    for index in (np.s_[::2], np.s_[:, 1], np.s_[:, 1:3], np.s_[1, ::-1]):
        with pytest.raises(ValueError, match=r"not next to each other .*: index a copy"):
            x[index]
        with pytest.raises(ValueError, match=r"not next to each other .*: index a copy"):
            x[index] = 0
    for index, error in (
        (np.s_[1, 2, 3], IndexError),
        ("at", TypeError),
        (5, IndexError),
        (np.s_[1:, 9], IndexError),
    ):
        with pytest.raises(error, match="StructArray Item shape"):
            x[index]


def test_a_slice_keeps_the_memory(layout, device):
    part = array(layout, 5)[1:3]
    np.testing.assert_array_equal(part.to_numpy(), values(5)[1:3])


@pytest.mark.parametrize("make", MAKES)
def test_copies_have_memory_of_their_own(layout, make, device):
    x = array(layout, 5, make=make, needs_grad=True)
    x.grad.from_numpy(values(5)[::-1].copy())
    for copied in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert (type(copied), repr(copied)) == (type(x), repr(x))
        for each, wanted in ((copied, x), (copied.grad, x.grad)):
            np.testing.assert_array_equal(each.to_numpy(), wanted.to_numpy())
        copied[2] = 7
        change(copied[:], 1.0)
        np.testing.assert_array_equal(x.to_numpy(), values(5))
        assert copied.to_numpy()["at"][2].tolist() == [7, 8, 7]


@dataclass
class Small:
    a: cg.bf16
    way: cg.types.vec(3, cg.bf16)
    n: cg.i32
    h: cg.f16
    turn: cg.types.mat(2, 2, cg.f16)
    b: cg.bf16


@cg.kernel
def halve(x: cg.types.ndarray(Small, 1), by: cg.f32):
    for i in x:
        x[i].a = cg.bf16(x[i].a * by)
        x[i].way.y += cg.bf16(x[i].n)
        x[i].turn[1, 0] = cg.f16(x[i].h * by)
        p = x[i]
        p.b = cg.bf16(x[i].b + p.a)
        x[i] = p


def test_small_floats_are_members(layout, device):
    x = cg.ndarray(Small, 5, layout=layout)
    wanted = np.zeros(5, x.dtype)
    assert [wanted.dtype[name].base.str for name in ("a", "way", "h", "turn")] == ["<f4", "<f4", "<f2", "<f2"]
    rng = np.random.default_rng(3)
    for name in ("a", "way", "h", "turn", "b"):
        wanted[name] = rng.random(wanted[name].shape)
    wanted["n"] = np.arange(5)
    x.from_numpy(wanted)

    def rounded(given):
        return np.asarray(given, np.float32).astype(ml_dtypes.bfloat16)

    for name in ("a", "way", "b"):
        wanted[name] = rounded(wanted[name])
    np.testing.assert_array_equal(x.to_numpy(), wanted)
    halve(x, 0.7)
    wanted["a"] = rounded(rounded(wanted["a"]).astype("f4") * np.float32(0.7))
    wanted["way"][:, 1] = rounded(
        rounded(wanted["way"][:, 1]).astype("f4") + rounded(wanted["n"]).astype("f4")
    )
    wanted["turn"][:, 1, 0] = (wanted["h"].astype("f4") * np.float32(0.7)).astype("f2")
    wanted["b"] = rounded(wanted["b"] + wanted["a"])
    np.testing.assert_array_equal(x.to_numpy(), wanted)
    one = Small(0.1, [1, 2, 3.01], 4, 0.1, [[1, 2], [3, 4]], 1e39)
    x[1] = one
    read = x[1]
    assert (read.a, read.way, read.b) == (float(rounded(0.1)), cg.vec3(1, 2, float(rounded(3.01))), np.inf)
    x[2:4] = x[1:3]
    assert x[2] == read
    other = cg.ndarray(Small, 5, layout="aos" if layout == "soa" else "soa")
    other.copy_from(x)
    np.testing.assert_array_equal(other.to_numpy(), x.to_numpy())


@pytest.fixture(params=["in place", "staged"])
def staging(request, device, monkeypatch):
    """Structured arrays in place, and copied to the device and back."""
    if request.param == "staged":
        monkeypatch.setattr(foreign, "all_is_accessible", False)


FORMS = {
    "whole": lambda a: a,
    "part": lambda a: a[2:7],
    "gaps": lambda a: a[::2],
    "reversed": lambda a: a[::-1],
    "empty": lambda a: a[:0],
    "records": lambda a: a.view(np.recarray),
    "row": lambda a: a.reshape(3, 3)[:, 1],
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_kernels_take_structured_arrays_of_numpy(form, staging):
    given, wanted = values(9), values(9)
    change(form(given), 2.5)
    changed(form(wanted), 2.5)
    np.testing.assert_array_equal(given, wanted)


@cg.kernel
def add(x: cg.types.ndarray(Item, 1), y: cg.types.ndarray(Item, 1)):
    for i in x:
        x[i].mass += y[i].mass
        y[i].kind = cg.u8(1)


def test_one_array_may_be_two_arguments(staging):
    x, wanted = values(4), values(4)
    add(x, x)
    wanted["mass"] *= 2
    wanted["kind"] = 1
    np.testing.assert_array_equal(x, wanted)


def test_arrays_of_numpy_and_of_ours_have_the_same_code(device):
    add.forget()
    x, y = values(4), array("aos", 4)
    add(x, y)
    add(y, x)
    add(array("aos", 5, make=cg.field)[1:], y)
    assert "1 specialisations" in repr(add)


@cg.kernel
def of_small(x: cg.types.ndarray(Small, 2)):
    for i, j in x:
        x[i, j].b = cg.bf16(x[i, j].way.sum() + x[i, j].n)


def test_structured_arrays_have_bf16_of_ml_dtypes(staging):
    dtype = np.dtype(
        [
            ("a", ml_dtypes.bfloat16),
            ("way", ml_dtypes.bfloat16, 3),
            ("n", "i4"),
            ("h", "f2"),
            ("turn", "f2", (2, 2)),
            ("b", ml_dtypes.bfloat16),
        ],
        align=True,
    )
    x = np.zeros((2, 3), dtype)
    x["way"], x["n"] = 1.5, np.arange(6).reshape(2, 3)
    of_small(x)
    np.testing.assert_array_equal(x["b"].astype("f4"), 4.5 + np.arange(6).reshape(2, 3))


def test_other_structured_arrays_are_refused(device):
    packed = np.dtype([(name, DTYPE[name]) for name in DTYPE.names])
    others = [
        packed,
        np.dtype([("at", "f4", 3)]),
        np.dtype([(name, DTYPE[name]) for name in DTYPE.names[::-1]], align=True),
    ]
    for dtype in others:
        with pytest.raises(
            TypeError, match=r"parameter 'x' takes an array of Item, .*make it with the type .*aligned"
        ):
            change(np.zeros(3, dtype), 1.0)
    with pytest.raises(ValueError, match="parameter 'x' takes 1 dimensions, not 2"):
        change(values(2, 2), 1.0)
    fixed = values(3)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only, but the kernel writes it"):
        change(fixed, 1.0)
    np.testing.assert_array_equal(fixed, values(3))


def test_a_graph_refuses_arrays_that_the_device_cannot_access(device, monkeypatch):
    given = values(3)
    stream = device.create_stream()
    refused = pytest.raises(ValueError, match=r"parameter 'x.*is a ndarray that the device cannot access")
    with stream.create_graph_builder() as builder, refused:
        change(given, 1.0, stream=builder)
    builder.complete()
