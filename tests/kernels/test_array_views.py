# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: slices, reshapes and views of arrays are the same memory as NumPy's, keep it, and refuse what NumPy's arrays in
C order would have to copy."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import cuda_graphs as cg

f32_1d = cg.types.ndarray(cg.f32, ndim=1)
DTYPES = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64", "bool_")
# (shape, index): parts whose elements follow one another.
PARTS = [
    (8, np.s_[2:5]),
    (8, np.s_[-3:]),
    (8, np.s_[3:3]),
    (8, np.s_[...]),
    (8, ()),
    (8, np.s_[7:6:-1]),
    ((3, 4), 1),
    ((3, 4), np.s_[-1, 1:3]),
    ((3, 4), np.s_[1:]),
    ((3, 4), np.s_[1:2, 1:3]),
    ((3, 4), np.s_[0:0, 1]),
    ((2, 3, 4), (1, ...)),
    ((2, 3, 4), (1, 2)),
    ((2, 3, 4), np.s_[..., 1:2, 0:4][1:]),
    ((), ...),
]
GAPS = [np.s_[::2], np.s_[:, 1], np.s_[:, 1:], np.s_[::-1], np.s_[1:, ::-1]]


@cg.kernel
def double(x: f32_1d):
    for i in x:
        x[i] = 2 * x[i]


@cg.kernel
def square_sum(x: f32_1d, s: f32_1d):
    for i in x:
        cg.atomic_add(s[0], x[i] * x[i])


def values(shape, dtype):
    count = int(np.prod(shape))
    return (np.arange(count) % (2 if dtype is cg.bool_ else 100)).reshape(shape).astype(dtype.dtype)


def made(shape, dtype=cg.f32, **more):
    array = cg.ndarray(dtype, shape, **more)
    array.from_numpy(values(shape, dtype))
    return array


@pytest.mark.parametrize("name", DTYPES)
def test_parts_share_the_memory_that_numpy_shares(device, name):
    dtype = getattr(cg, name)
    for shape, index in PARTS:
        host, array = values(shape, dtype), made(shape, dtype)
        part, wanted = array[index], host[index]
        assert (part.shape, part.dtype, part.base) == (wanted.shape, dtype, array)[:2] + (part.base,)
        assert part.base is array
        np.testing.assert_array_equal(part.to_numpy(), wanted)
        part.fill(1)
        host[index] = 1
        np.testing.assert_array_equal(array.to_numpy(), host)
        if wanted.size:
            assert part.handle - array.handle == wanted.__array_interface__["data"][0] - host.ctypes.data
            assert (part.buffer.handle, part.buffer.size) == (part.handle, wanted.nbytes)


def test_assignments_to_parts_are_those_of_numpy(device):
    host, array = values((3, 4), cg.f32), made((3, 4))
    for index, value in (
        (1, 7),
        (np.s_[2, 1:3], [8, 9]),
        (np.s_[1:], np.arange(8.0).reshape(2, 4)),
        (np.s_[:2], np.arange(4.0)),
        (..., 2.5),
    ):
        array[index] = value
        host[index] = value
        np.testing.assert_array_equal(array.to_numpy(), host)
    array[0] = made(4)
    np.testing.assert_array_equal(array[0].to_numpy(), values(4, cg.f32))
    for value, error in (
        ("1", TypeError),
        (np.zeros(3), ValueError),
        (made(3), ValueError),
        (None, TypeError),
    ):
        with pytest.raises(error):
            array[0] = value
    np.testing.assert_array_equal(array[0].to_numpy(), values(4, cg.f32))


def test_iteration_gives_rows_and_elements(device):
    assert [row.to_numpy().tolist() for row in made((2, 3))] == [[0, 1, 2], [3, 4, 5]]
    assert list(made(3)) == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("index", GAPS, ids=str)
def test_parts_with_gaps_are_refused_with_the_remedy(device, index):
    array = made((3, 4))
    with pytest.raises(ValueError, match=r"not next to each other in C order.*to_numpy"):
        array[index]
    with pytest.raises(ValueError, match="not next to each other in C order"):
        array[index] = 1
    np.testing.assert_array_equal(array.to_numpy(), values((3, 4), cg.f32))


def test_reshape_is_that_of_numpy(device):
    host, array = values((2, 3, 4), cg.f32), made((2, 3, 4))
    for shape in ((24,), (4, 6), (-1,), (2, -1), (1, 24, 1), (3, -1, 2)):
        for found in (array.reshape(*shape), array.reshape(shape), array.reshape(list(shape))):
            assert found.base is array and found.handle == array.handle
            np.testing.assert_array_equal(found.to_numpy(), host.reshape(shape))
    assert made(1).reshape(()).shape == ()
    assert cg.ndarray(cg.f32, (0, 3)).reshape(5, 0).shape == (5, 0)
    for shape, error in (
        ((5, 5), ValueError),
        ((-1, -1), ValueError),
        ((-1, 5), ValueError),
        (("6", 4), TypeError),
    ):
        with pytest.raises(error):
            array.reshape(*shape)


@pytest.mark.parametrize("name", DTYPES)
def test_view_is_that_of_numpy(device, name):
    for other in DTYPES:
        if "bool_" in (name, other):
            continue
        dtype, wanted = getattr(cg, name), getattr(cg, other)
        for shape in ((8,), (2, 8), (3, 2, 16)):
            host, array = values(shape, dtype), made(shape, dtype)
            found = array.view(wanted)
            assert found.dtype is wanted and found.base is array
            np.testing.assert_array_equal(found.to_numpy(), host.view(wanted.dtype))


def test_wrong_views_are_refused_and_name_the_array(device):
    for array, dtype, error, text in (
        (made((2, 3), cg.u8), cg.f32, ValueError, "last axis of <NDArray u8"),
        (made(9, cg.u8)[1:9], cg.f32, ValueError, "aligned elements of f32"),
        (made(()), cg.u8, ValueError, "has no last axis"),
        (made(4), "f32", TypeError, "dtype must be an element type"),
        (made(4), cg.vec3, TypeError, "dtype must be an element type"),
        (cg.ndarray(cg.vec3, 4), cg.f32, TypeError, "has vector elements"),
        (made(4, needs_grad=True), cg.u8, TypeError, "has a gradient or a dual"),
    ):
        with pytest.raises(error, match=text):
            array.view(dtype)
    assert made(()).view(cg.i32).shape == ()


def test_kernels_take_parts_in_calls_graphs_and_captures(device, stream):
    array = made(12)
    double(array[4:8])
    device.sync()
    double(array[6:], stream=stream)
    stream.sync()
    wanted = values(12, cg.f32)
    wanted[4:8] *= 2
    wanted[6:] *= 2
    np.testing.assert_array_equal(array.to_numpy(), wanted)
    g = cg.GraphDef()
    g.call(double, array.reshape(3, 4)[1]).memcpy(array[:2], array[10:])
    assert [span.run for node in g.nodes() if isinstance(node, cg.KernelNode) for span in node.writes] == [16]
    with stream.create_graph_builder() as builder:
        double(array[8:], stream=builder)
    for graph in (g.instantiate(), builder.complete()):
        graph.launch(stream)
    stream.sync()
    wanted[4:8] *= 2
    wanted[:2] = wanted[10:]
    wanted[8:] *= 2
    np.testing.assert_array_equal(array.to_numpy(), wanted)


def test_parts_see_what_the_array_gets_and_the_other_way_round(device):
    array = made(8)
    part = array[2:6]
    array[3] = 50
    assert part[1] == 50
    part[0] = 40
    assert array[2] == 40
    part.copy_from(made(4))
    assert array.to_numpy()[2:6].tolist() == [0, 1, 2, 3]
    array[4:].copy_from(array[:4])
    assert array.to_numpy().tolist() == [0, 1, 0, 1, 0, 1, 0, 1]


def test_parts_of_arrays_with_gradients_have_parts_of_the_gradient(device):
    array, total = made(6, needs_grad=True), cg.ndarray(cg.f32, 1, needs_grad=True)
    part = array[2:5]
    assert part.needs_grad and part.grad.base is array.grad
    square_sum(part, total)
    total.grad.fill(1)
    square_sum.grad(part, total)
    np.testing.assert_array_equal(array.grad.to_numpy(), [0, 0, 4, 6, 8, 0])
    array.reshape(2, 3)[1].grad.fill(9)
    np.testing.assert_array_equal(array.grad.to_numpy(), [0, 0, 4, 9, 9, 9])
    part.dual.fill(3)
    np.testing.assert_array_equal(array.dual.to_numpy(), [0, 0, 3, 3, 3, 0])
    dual = cg.ndarray(cg.f32, 4, needs_dual=True)
    dual[1:].dual.fill(2)
    np.testing.assert_array_equal(dual.dual.to_numpy(), [0, 2, 2, 2])


def test_parts_of_fields_and_of_vectors(device):
    field = cg.field(cg.f32, (2, 3))
    part = field[1]
    part.fill(4)
    assert isinstance(part, cg.NDArray) and not isinstance(part, cg.Field)
    np.testing.assert_array_equal(field.to_numpy(), [[0] * 3, [4] * 3])
    vectors = cg.ndarray(cg.vec3, 4)
    vectors[1:3] = [1, 2, 3]
    np.testing.assert_array_equal(vectors.to_numpy()[:, 2], [0, 3, 3, 0])
    assert vectors.reshape(2, 2)[1].shape == (2,)


def test_parts_keep_the_memory_and_graphs_do_too(device, stream):
    array = made(8)
    part = array[4:]
    dead = weakref.ref(array)
    del array
    gc.collect()
    assert dead() is part.base and part[0] == 4
    g = cg.GraphDef()
    g.call(double, part)
    exported = np.from_dlpack(part) if part.buffer.is_host_accessible else None
    del part
    graph = g.instantiate()
    del g  # whose node had the part among its `args`
    gc.collect()
    assert dead() is None
    graph.launch(stream)
    stream.sync()
    if exported is not None:
        assert exported.tolist() == [8, 10, 12, 14]


def test_copies_and_pickles_of_parts_are_arrays_of_their_own(device):
    array = made((3, 4), needs_grad=True)
    for clone in (copy.copy, copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a))):
        part = clone(array[1:])
        assert part.base is None and part.shape == (2, 4) and part.needs_grad
        part.fill(9)
        np.testing.assert_array_equal(array.to_numpy(), values((3, 4), cg.f32))


@pytest.fixture
def buffer(device, stream):
    memory = device.allocate(64, stream=stream)
    memory.fill(0, stream=stream)
    stream.sync()
    yield memory
    memory.close()


def test_a_view_of_a_buffer_is_an_array_of_its_memory(buffer, device, stream):
    for name in DTYPES:
        dtype = getattr(cg, name)
        view = buffer.view(dtype)
        assert (view.shape, view.dtype, view.base, view.handle) == (
            (64 // dtype.size,),
            dtype,
            buffer,
            buffer.handle,
        )
        assert view.device == device
    view = buffer.view(np.float32, (2, 4))
    view.from_numpy(np.arange(8, dtype="f").reshape(2, 4))
    double(view[1])
    assert buffer.view(cg.f32).to_numpy().tolist() == [0, 1, 2, 3, 8, 10, 12, 14] + 8 * [0]
    assert buffer.view(cg.vec3, 5).element_shape == (3,)
    assert cg.PinnedMemoryResource().allocate(16, stream=stream).view(cg.i32).shape == (4,)
    assert buffer.view(cg.f32, 0).shape == (0,)


def test_a_view_keeps_the_buffer(device, stream):
    view = device.allocate(16, stream=stream).view(cg.f32)
    gc.collect()
    view.fill(2)
    assert view.to_numpy().tolist() == [2] * 4


USES = {
    "to_numpy": lambda a: a.to_numpy(),
    "from_numpy": lambda a: a.from_numpy(np.zeros(4, "f")),
    "an element": lambda a: a[0],
    "an assignment": lambda a: a.__setitem__(0, 1),
    "a slice": lambda a: a[1:],
    "reshape": lambda a: a.reshape(2, 2),
    "view": lambda a: a.view(cg.u8),
    "fill": lambda a: a.fill(0),
    "copy_from": lambda a: a.copy_from(cg.ndarray(cg.f32, 4)),
    "copy_from it": lambda a: cg.ndarray(cg.f32, 4).copy_from(a),
    "asarray": lambda a: np.asarray(a),
    "dlpack": lambda a: a.__dlpack__(),
    "interface": lambda a: a.__cuda_array_interface__,
    "handle": lambda a: a.handle,
    "a kernel": lambda a: double(a),
    "a node": lambda a: cg.GraphDef().call(double, a),
    "a copy node": lambda a: cg.GraphDef().memset(a, 0),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_view_of_a_closed_buffer_says_so(use, buffer):
    view = buffer.view(cg.f32, 4)
    part = view[:]
    buffer.close()
    for array in (view, part):
        assert repr(array) == "<NDArray f32 shape=(4,)>"
        with pytest.raises(cg.ClosedBufferError, match="closed"):
            use(array)


def test_wrong_views_of_a_buffer_are_refused(buffer):
    host = np.zeros(16)
    pageable = cg.Buffer.from_handle(host.ctypes.data, 128, owner=host)
    odd = cg.Buffer.from_handle(int(buffer.handle) + 2, 32, owner=buffer)
    for of, arguments, error, text in (
        (buffer, ("f32", 4), TypeError, "dtype must be an element type"),
        (buffer, (cg.f32, "4"), TypeError, "shape must be an int"),
        (buffer, (cg.f32, -1), ValueError, "extents must be from 0"),
        (buffer, (cg.f32, 17), ValueError, "has 68 bytes, but .* has only 64"),
        (buffer, (cg.vec3,), ValueError, "not a multiple of the 12 bytes"),
        (odd, (cg.f32, 1), ValueError, "is not a multiple of 4, the size of f32"),
        (pageable, (cg.f32, 4), ValueError, "is not memory of the driver"),
    ):
        with pytest.raises(error, match=text):
            of.view(*arguments)
    buffer.close()
    with pytest.raises(cg.ClosedBufferError):
        buffer.view(cg.f32)
