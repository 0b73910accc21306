# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: an alloc node with a shape is an array in each place of a graph that takes arrays, with the layout that NumPy
gives it, and in no place outside of graphs."""

import gc
import weakref

import numpy as np
import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE

DTYPES = [getattr(cg, name) for name in ("i8", "u16", "i32", "u64", "f16", "f32", "f64", "bool_")]
INDICES = {
    "an element": np.s_[2, 3],
    "a row": np.s_[1],
    "the last row": np.s_[-1],
    "rows": np.s_[1:3],
    "a block": np.s_[1:3, 2:5],
    "a column": np.s_[:, 4],
    "the end": np.s_[..., -2:],
    "all": np.s_[...],
    "no index": (),
    "every second": np.s_[::2, 1::3],
    "backwards": np.s_[::-1, 5],
    "nothing": np.s_[3:1],
    "beyond the end": np.s_[2:99],
}


@pytest.fixture(autouse=True)
def kernels_keep_no_code(device):
    yield
    device.sync()
    for each in (double, add_rows):
        each.forget()


@cg.kernel
def double(x: cg.types.ndarray(cg.f32, ndim=1)):
    for i in x:
        x[i] = 2 * x[i] + 1


@cg.kernel
def add_rows(x: cg.types.ndarray(cg.i32, ndim=2), to: cg.types.ndarray(cg.i32, ndim=1)):
    for i, j in x:
        cg.atomic_add(to[j], x[i, j])


def test_an_alloc_node_has_the_layout_that_numpy_gives(device):
    for dtype in DTYPES:
        for shape in ((), 5, (5,), (3, 4), [2, 3, 4]):
            like = np.empty(shape, np.dtype(dtype.dtype))
            m = cg.GraphDef().alloc(shape=shape, dtype=dtype)
            assert (m.shape, m.strides, m.ndim, m.size) == (like.shape, like.strides, like.ndim, like.size)
            assert (m.dtype, m.itemsize, m.nbytes, m.bytesize) == (
                dtype,
                like.itemsize,
                like.nbytes,
                like.nbytes,
            )
            assert m.element_shape == () and bool(m)


def test_arrays_of_a_graph_are_iterated_as_often_as_they_are_long(device):
    m = cg.GraphDef().alloc(shape=(2, 3), dtype=cg.f32)
    assert [(part.dptr - m.dptr, part.shape) for part in m] == [(0, (3,)), (12, (3,))]
    assert [part.dptr - m.dptr for part in m[1]] == [12, 16, 20]
    with pytest.raises(TypeError, match="has no length"):
        iter(cg.GraphDef().alloc(shape=(), dtype=cg.f32))


def test_a_type_of_numpy_stays_one(device):
    m = cg.GraphDef().alloc(shape=3, dtype=np.float32)
    assert m.dtype == np.dtype("f4") and m[1:].dtype == np.dtype("f4")


def test_vector_elements_are_not_dimensions_of_the_shape(device):
    m = cg.GraphDef().alloc(shape=(4,), dtype=cg.vec3)
    assert (m.shape, m.element_shape, m.itemsize, m.strides, m.bytesize) == ((4,), (3,), 12, (12,), 48)
    assert "size=48 f32 shape=(4,) element_shape=(3,)" in repr(m)
    view = m[1:].__cuda_graph_array__()
    assert (view.shape, view.strides, view.address) == ((3, 3), (12, 4), m.dptr + 12)


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_an_index_selects_what_it_selects_in_numpy(index, device):
    like = np.empty((4, 6), "i2")
    m = cg.GraphDef().alloc(shape=(4, 6), dtype=cg.i16)
    part, given = m[index], index if isinstance(index, tuple) else (index,)
    wanted = like[given if ... in given else (*given, ...)]  # an array, also of one element
    assert isinstance(part, cg.GraphArray) and part.node is m
    assert part.shape == wanted.shape and part.size == wanted.size and part.nbytes == wanted.nbytes
    if wanted.size:
        assert part.strides == wanted.strides
        assert part.dptr - m.dptr == wanted.ctypes.data - like.ctypes.data


def test_a_slice_of_a_slice_is_a_slice_of_the_memory(device):
    m = cg.GraphDef().alloc(shape=(8, 4), dtype=cg.f32)
    assert m[2:][1][3:].dptr == m[3, 3].dptr == m.dptr + 4 * (3 * 4 + 3)
    assert len(m[2:]) == 6 and len(m) == 8


def test_kernels_copies_and_fills_take_it_in_definitions(run, pinned):
    x, out = cg.ndarray(cg.f32, 10), cg.ndarray(cg.f32, 10)
    x.from_numpy(np.arange(10, dtype="f"))
    g = cg.GraphDef()
    m = g.alloc(shape=10, dtype=cg.f32)
    end = m.memcpy(m, x).call(double, m).call(double, m[2:5]).memset(m[7:8], np.float32(-1)).memcpy(out, m)
    end.free(m)
    assert not g.check()
    run(g)
    wanted = 2 * np.arange(10, dtype="f") + 1
    wanted[2:5] = 2 * wanted[2:5] + 1
    wanted[7] = -1
    np.testing.assert_array_equal(out.to_numpy(), wanted)


def test_slices_with_gaps_are_copied_and_filled_as_in_numpy(run, pinned):
    rows, target = pinned(np.arange(24, dtype="i4").reshape(4, 6)), pinned(np.zeros((4, 6), "i4"))
    g = cg.GraphDef()
    m = g.alloc(shape=(4, 6), dtype=cg.i32)
    m.memcpy(m, rows).memset(m[1:3, 2:4], 7).memcpy(m[:, 0], rows[:, 5]).memcpy(target, m).free(m)
    run(g)
    wanted = rows.copy()
    wanted[1:3, 2:4] = 7
    wanted[:, 0] = rows[:, 5]
    np.testing.assert_array_equal(target, wanted)


def test_kernels_in_bodies_take_it(run):
    total = cg.ndarray(cg.i32, 4)
    g = cg.GraphDef()
    m = g.alloc(shape=(3, 4), dtype=cg.i32)
    branch = m.memset(m, 2).if_then(g.create_condition(1))
    branch.then.call(add_rows, m, total).call(add_rows, m[1:], total)
    branch.free(m)
    run(g)
    np.testing.assert_array_equal(total.to_numpy(), [10] * 4)


def test_cuda_kernels_take_its_address(run, kernels, pinned):
    out = pinned(np.zeros(4, "i4"))
    g = cg.GraphDef()
    m = g.alloc(shape=4, dtype=cg.i32)
    m.memset(m, 5).launch(ONE, kernels.tally, m[2:]).launch(ONE, kernels.tally, m).memcpy(out, m).free(m.dptr)
    run(g)
    np.testing.assert_array_equal(out, [6, 5, 6, 5])


def test_an_alloc_node_of_bytes_is_an_operand_of_bytes(run, kernels, pinned):
    values, out = pinned(np.arange(4, dtype="i4")), pinned(np.zeros(4, "i4"))
    g = cg.GraphDef()
    m = g.alloc(16)
    assert (m.shape, m.dtype, m.ndim, m.strides, m.size, m.nbytes) == (None,) * 6
    m.memset(m, 255).memcpy(m, values, 8).launch(ONE, kernels.tally, m).memcpy(out, m).free(m)
    run(g)
    np.testing.assert_array_equal(out, [1, 1, -1, -1])
    with pytest.raises(TypeError, match=r"give alloc\(\) a shape and a dtype"):
        m[0]


def test_nodes_of_embedded_graphs_take_it(stream):
    out = cg.ndarray(cg.f32, 4)
    g = cg.GraphDef()
    m = g.alloc(shape=4, dtype=cg.f32)
    filled = m.memset(m, np.float32(3))
    child = cg.GraphDef()
    child.call(double, m)  # another definition may use the memory: it runs in between
    filled.embed(child).memcpy(out, m).free(m)
    graph = g.instantiate()
    graph.launch(stream)
    stream.sync()
    np.testing.assert_array_equal(out.to_numpy(), [7] * 4)


def test_captured_launches_take_it(stream, kernels):
    m, n = (cg.GraphDef().alloc(shape=4, dtype=dtype) for dtype in (cg.f32, cg.i32))
    with stream.create_graph_builder() as builder:
        double(m, stream=builder)
        cg.launch(builder, ONE, kernels.tally, n[1:])
    assert len(builder.graph_definition.nodes()) == 2


def test_a_node_that_uses_the_memory_does_not_keep_the_graph(kernels):
    g = cg.GraphDef()
    m = g.alloc(shape=4, dtype=cg.i32)
    m.call(add_rows, m.graph.alloc(shape=(1, 4), dtype=cg.i32), m).launch(ONE, kernels.tally, m[1:]).memset(
        m, 0
    ).memcpy(m[:2], m[2:]).free(m)
    dead = weakref.ref(m)
    part = m[1:]
    del g, m
    gc.collect()
    assert part.node is dead()  # a part keeps the graph
    del part
    gc.collect()
    assert dead() is None


def test_the_array_survives_the_python_object_of_the_node(device):
    g = cg.GraphDef()
    g.alloc(shape=(2, 3), dtype=cg.f32)
    gc.collect()
    (m,) = g.nodes()
    assert (m.shape, m.dtype) == ((2, 3), cg.f32)


USERS = {
    "a kernel": lambda place, m: place.call(double, m),
    "a kernel on a part": lambda place, m: place.call(double, m[1:]),
    "a fill": lambda place, m: place.memset(m, 0),
    "a copy": lambda place, m: place.memcpy(m[:2], m[2:]),
}


@pytest.mark.parametrize("use", USERS.values(), ids=USERS)
def test_a_user_that_the_free_node_reaches_is_refused(use, device):
    g = cg.GraphDef()
    m = g.alloc(shape=4, dtype=cg.f32, name="memory")
    free = m.free(m, name="end")
    late = free.join(g.join())
    body = late.if_then(g.create_condition(1)).then
    before = g.nodes()
    for place in (free, late, body):
        with pytest.raises(ValueError, match=r"AllocNode 'memory'.* and FreeNode 'end'.* frees it"):
            use(place, m)
    assert g.nodes() == before and not body.nodes()


def test_a_kernel_beside_the_free_node_is_added_and_found_by_check(device):
    g = cg.GraphDef()
    m = g.alloc(shape=4, dtype=cg.f32)
    m.free(m)
    user = m.call(double, m)
    assert any(user in finding.nodes for finding in g.check())


def test_an_update_to_memory_that_was_freed_before_is_refused(kernels):
    g = cg.GraphDef()
    x = cg.ndarray(cg.i32, 4)
    m = g.alloc(shape=4, dtype=cg.i32, name="memory")
    node = m.free(m, name="end").launch(ONE, kernels.tally, x)
    with pytest.raises(ValueError, match=r"'memory'.*'end'"):
        node.update(args=(m,))


def test_memory_that_is_reused_belongs_to_its_new_node(run):
    out = cg.ndarray(cg.f32, 4)
    g = cg.GraphDef()
    first = g.alloc(shape=4, dtype=cg.f32)
    second = first.free(first).alloc(shape=4, dtype=cg.f32)  # the driver may use the same address
    second.memset(second, np.float32(1)).call(double, second).memcpy(out, second).free(second)
    run(g)
    np.testing.assert_array_equal(out.to_numpy(), [3] * 4)


EXPORTS = {
    "numpy.asarray": (lambda m: np.asarray(m), TypeError),
    "numpy.from_dlpack": (lambda m: np.from_dlpack(m), BufferError),
    "from_dlpack": (lambda m: cg.from_dlpack(m), BufferError),
    "__dlpack__": (lambda m: m.__dlpack__(), BufferError),
    "the array interface": (lambda m: m.__cuda_array_interface__, AttributeError),
    "an element": (lambda m: m.__setitem__(0, 1), TypeError),
    "a call outside of graphs": (lambda m: double(m), RuntimeError),
}


@pytest.mark.parametrize(("export", "kind"), EXPORTS.values(), ids=EXPORTS)
def test_the_host_cannot_read_or_export_it(export, kind, device):
    m = cg.GraphDef().alloc(shape=4, dtype=cg.f32)
    for array in (m, m[1:]):
        with pytest.raises(kind, match=r"exists only while its graph runs: add a node that copies it"):
            export(array)


def test_a_launch_outside_of_graphs_refuses_it(stream, kernels):
    m = cg.GraphDef().alloc(shape=4, dtype=cg.i32)
    for array in (m, m[1:]):
        with pytest.raises(RuntimeError, match="exists only while its graph runs"):
            cg.launch(stream, ONE, kernels.tally, array)
    with pytest.raises(TypeError, match="exists only while"):
        bool(m[1:])


def test_wrong_arguments_of_alloc_are_refused_and_name_the_remedy(device):
    g = cg.GraphDef()
    for keywords, kind, text in (
        ({"size": 16, "shape": 4, "dtype": cg.f32}, TypeError, "size and shape or dtype exclude each other"),
        ({"size": 16, "shape": 4}, TypeError, "exclude each other"),
        ({"size": 16, "dtype": cg.f32}, TypeError, "exclude each other"),
        ({"shape": 4}, TypeError, "both shape and dtype"),
        ({"dtype": cg.f32}, TypeError, "both shape and dtype"),
        ({}, TypeError, "needs size, in bytes, or shape and dtype"),
        ({"shape": 4, "dtype": "f32"}, TypeError, "is not a type of numbers"),
        ({"shape": 4, "dtype": cg.pointer}, TypeError, "must be a type of numbers"),
        ({"shape": 4, "dtype": np.complex64}, TypeError, "is not a type of numbers"),
        ({"shape": "4", "dtype": cg.f32}, TypeError, "shape must be an int or a tuple of ints"),
        ({"shape": (2, 1.5), "dtype": cg.f32}, TypeError, "shape must be an int or a tuple of ints"),
        ({"shape": True, "dtype": cg.f32}, TypeError, "shape must be an int or a tuple of ints"),
        ({"shape": -1, "dtype": cg.f32}, ValueError, "extents must be from 0"),
        ({"shape": 2**31, "dtype": cg.f32}, ValueError, "extents must be from 0"),
        ({"shape": 0, "dtype": cg.f32}, cg.CUDAError, "INVALID_VALUE"),
    ):
        with pytest.raises(kind, match=text):
            g.alloc(**keywords)
    assert not g.nodes()


def test_wrong_indices_are_refused_and_name_the_array(device):
    m = cg.GraphDef().alloc(shape=(4, 6), dtype=cg.f32, name="memory")
    for index, kind, text in (
        (4, IndexError, "index 4 is out of bounds for axis 0 of .*'memory'"),
        (np.s_[0, -7], IndexError, "index -7 is out of bounds for axis 1"),
        (np.s_[0, 0, 0], IndexError, "takes 2 indices, got 3"),
        (np.s_[..., ...], IndexError, "only one"),
        (1.5, TypeError, "an int, a slice or '...', got float"),
        (True, TypeError, "an int, a slice or '...', got bool"),
        (None, TypeError, "got NoneType"),
        ([0, 1], TypeError, "got list"),
        (np.array([True]), TypeError, "got ndarray"),
    ):
        with pytest.raises(kind, match=text):
            m[index]


def test_kernels_refuse_the_wrong_type_and_gaps(device):
    g = cg.GraphDef()
    m = g.alloc(shape=(4, 6), dtype=cg.f32)
    for part, kind, text in (
        (m, ValueError, "takes 1 dimension"),
        (m[:, 0], ValueError, "has gaps: kernels take arrays in C order"),
        (g.alloc(shape=3, dtype=cg.i32), TypeError, "takes elements of f32, not i32"),
        (g.alloc(12), TypeError, "takes elements of f32, not u8"),
    ):
        with pytest.raises(kind, match=text):
            m.call(double, part)


def test_only_an_index_makes_a_graph_array():
    with pytest.raises(RuntimeError, match="no public constructor"):
        cg.GraphArray()
