# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a change of a copy or a fill takes what is given, in any shape and from any array, and keeps the rest; what
cannot be is refused by name and changes nothing."""

import gc
import signal
import weakref

import numpy as np
import pytest

import cuda_graphs as cg
from tests.graph.arrays import Cuda

SHAPE = ("width", "height", "depth", "dst_pitch", "src_pitch", "dst_height", "src_height")


def shape_of(node):
    return tuple(getattr(node, name) for name in SHAPE)


def state(node):
    return repr(node), shape_of(node)


@pytest.fixture
def g(device):
    return cg.GraphDef()


@pytest.fixture
def block(pinned):
    """block(): pinned 8 x 8 ints, 1, 2, ...; block(0): zeros."""
    return lambda start=1: pinned(np.arange(64).reshape(8, 8) + 1 if start else np.zeros((8, 8)), "i4")


def test_a_copy_in_a_row_becomes_one_of_rows_and_of_planes_and_back(g, block, run):
    x, y = block(0), block()
    node = g.memcpy(x, y)
    node.update(dst=x[:3, :2], src=y[5:, 6:], width=8, height=3)
    assert shape_of(node) == (8, 3, 1, 32, 32, 3, 3)
    run(g)
    expected = np.zeros((8, 8), "i4")
    expected[:3, :2] = y[5:, 6:]
    assert (x == expected).all()
    a, b = x.reshape(2, 4, 8), y.reshape(2, 4, 8)
    node.update(dst=a, src=b, width=4, height=2, depth=2)
    assert shape_of(node) == (4, 2, 2, 32, 32, 4, 4)
    x[:] = 0
    run(g)
    expected = np.zeros((2, 4, 8), "i4")
    expected[:, :2, :1] = b[:, :2, :1]
    assert (a == expected).all()
    node.update(size=12)
    assert (shape_of(node)[:3], node.size) == ((12, 1, 1), 12)
    x[:] = 0
    run(g)
    assert list(x[0]) == [1, 2, 3, 0, 0, 0, 0, 0]


def test_another_array_brings_its_gaps_and_the_other_side_keeps_its_own(g, block, run):
    x, y, z = block(0), block(), block()
    node = g.memcpy(x[:4, :3], y[:4, :3])
    node.update(src=z[::2, 5:])
    assert shape_of(node)[:5] == (12, 4, 1, 32, 64)
    assert (node.dst, node.src) == (x.ctypes.data, z[:, 5:].ctypes.data)
    run(g)
    expected = np.zeros((8, 8), "i4")
    expected[:4, :3] = z[::2, 5:]
    assert (x == expected).all()
    packed = z.reshape(64)[:12]
    node.update(src=packed)
    assert shape_of(node)[:5] == (12, 4, 1, 32, 12)
    run(g)
    assert (x[:4, :3] == packed.reshape(4, 3)).all()


def test_another_address_keeps_the_pitch(g, block, run):
    x, y, z = block(0), block(), block()
    node = g.memcpy(x[:4, :3], y[:4, :3])
    node.update(src=z[4:, 2:].ctypes.data)
    assert shape_of(node)[:5] == (12, 4, 1, 32, 32)
    run(g)
    assert (x[:4, :3] == z[4:, 2:5]).all()
    node.update(height=2)
    node.update(dst_pitch=64)
    assert shape_of(node)[:5] == (12, 2, 1, 64, 32)


def test_an_array_of_another_size_is_refused(g, block):
    x, y = block(0), block()
    node = g.memcpy(x[:4, :3], y[:4, :3])
    before = state(node)
    for arguments, error, message in [
        ({"src": y[:4, :2]}, ValueError, "src has gaps: it is copied as a whole, 32 bytes"),
        ({"src": y.reshape(64)[:11]}, ValueError, "src has 44 bytes, and the node would touch 48"),
        ({"dst": y[:, ::3][:, :2], "src": y[:4, :4:3]}, ValueError, "has gaps"),
        ({"width": 100}, ValueError, "dst_pitch=32 is less than width=100"),
        ({"size": 8, "width": 8}, TypeError, "size is for copies in one dimension"),
        ({"width": 0}, ValueError, "one byte at least"),
        ({"height": -1}, OverflowError, "height=-1"),
        ({"dst_owner": x}, ValueError, "dst_owner requires dst"),
        ({"src_owner": x}, ValueError, "src_owner requires src"),
        ({"dst": x, "dst_owner": x}, ValueError, "dst_owner is for addresses only: dst is an array"),
        ({"src": np.zeros((4, 3), "i4")}, ValueError, "pageable"),
        ({"src": 1.5}, TypeError, "src must be an address"),
    ]:
        with pytest.raises(error, match=message):
            node.update(**arguments)
        assert state(node) == before


def test_a_flat_copy_takes_the_first_bytes_of_a_larger_array(g, block, run):
    x, y, z = block(0), block(), block()
    node = g.memcpy(x.reshape(64)[:4], y.reshape(64)[:4])
    node.update(src=z[1])
    assert node.size == 16
    run(g)
    assert list(x[0]) == [9, 10, 11, 12, 0, 0, 0, 0]


@pytest.mark.parametrize("dtype", ["f2", "f4", "i1", "i2", "i4", "u1", "u2", "u4"])
def test_a_number_for_a_fill_is_an_element_of_its_type(g, dtype, run, pinned):
    x = pinned(np.zeros(16), dtype)
    node = g.memset(x, 1)
    node.update(value=3)
    assert (node.element_size, node.width) == (x.itemsize, len(x))
    run(g)
    assert (x == 3).all()
    node.update(value=signal.SIGKILL)  # an int of a class of its own
    run(g)
    assert (x == 9).all()
    before = repr(node), node.element_size
    with pytest.raises((OverflowError, TypeError)):
        node.update(value="3" if dtype[0] == "f" else 1 << 40)
    assert (repr(node), node.element_size) == before


@pytest.mark.parametrize("value", [2, -0.5, 3.14159, np.float32(7), True])
@pytest.mark.parametrize("by_parameter", [False, True])
def test_a_number_for_a_fill_of_bfloat16_is_rounded_to_it(g, run, by_parameter, value):
    x, wanted = cg.zeros(6, cg.bf16), cg.zeros(6, cg.bf16)
    wanted.fill(float(value))
    dst = g.param("x", cg.Array1[cg.bf16], default=x) if by_parameter else x
    node = g.memset(dst, value)
    run(g)
    assert x.to_numpy().tolist() == wanted.to_numpy().tolist()
    node.update(dst=dst, value=1.5)
    run(g)
    assert x.to_numpy().tolist() == [1.5] * 6
    with pytest.raises(OverflowError, match="does not fit the type bf16"):
        node.update(dst=dst, value=1e39)
    assert node.element_size == 2


def test_a_number_for_a_fill_of_unknown_elements_is_refused(g, pinned):
    part = g.memset(pinned(np.zeros(8), "f8"), 0.0)
    x = cg.ones(4, cg.f32)
    with cg.capture() as builder:
        x.fill(3)
    (captured,) = builder.graph_definition.nodes()
    for node, words in (part, "a part of an element"), (captured, "is not known: pass dst too"):
        before = repr(node), node.element_size
        with pytest.raises(ValueError, match=words):
            node.update(value=5)
        assert (repr(node), node.element_size) == before
    captured.update(value=np.float32(5))
    assert captured.element_size == 4


def test_a_fill_is_changed_in_any_shape(g, block, run):
    x = block(0)
    node = g.memset(x[1:3, 2:5], 7)
    node.update(value=np.int32(-1))
    node.update(dst=x[4:, 2:])
    assert (node.width, node.height, node.pitch) == (3, 2, 32)
    node.update(dst=x[5:], height=3)
    run(g)
    expected = np.zeros((8, 8), "i4")
    expected[5:, :3] = -1
    assert (x == expected).all()
    node.update(dst=x, value=9)  # an element of the array
    assert (node.element_size, node.value) == (4, 9)
    with pytest.raises(ValueError, match="dst has 32 bytes, and the node would touch 76"):
        node.update(dst=x[0])
    with pytest.raises(ValueError, match="dst_owner requires dst"):
        node.update(dst_owner=x)


# ---- owners


@pytest.fixture
def on_device(device, stream):
    """on_device(): a device array of 16 ints, and a weak reference to it."""

    def make():
        memory = device.allocate(64, stream=stream)
        memory.fill(5, stream=stream)
        stream.sync()
        array = Cuda(memory, np.zeros(16, "i4"))
        return array, weakref.ref(array)

    return make


def test_an_operand_that_is_replaced_is_released_and_the_other_kept(g, on_device, pinned, eventually, run):
    (a, a_gone), (b, b_gone), (c, c_gone) = on_device(), on_device(), on_device()
    node = g.memcpy(a, b)
    node.update(src=c)
    del b
    eventually(lambda: b_gone() is None)
    del a, c
    gc.collect()
    assert None not in (a_gone(), c_gone())
    out = pinned(16)
    node.update(dst=out)
    eventually(lambda: a_gone() is None)
    run(g)
    assert (out == 0x05050505).all()
    node.update(src=out.ctypes.data)  # an address without an owner
    eventually(lambda: c_gone() is None)


def test_an_executable_keeps_what_its_definition_replaced(g, on_device, pinned, stream, eventually):
    (a, a_gone), (b, b_gone) = on_device(), on_device()
    out = pinned(16)
    node = g.memcpy(out, a)
    graph = g.instantiate()
    node.update(src=b)
    del a, b
    gc.collect()
    assert a_gone() is not None
    graph.launch(stream)
    stream.sync()
    assert (out == 0x05050505).all()
    graph.close()
    eventually(lambda: a_gone() is None)
    assert b_gone() is not None


def test_a_refused_change_releases_nothing_and_keeps_nothing(g, on_device, pinned, eventually):
    (a, a_gone), (b, b_gone) = on_device(), on_device()
    out = pinned(16)
    node = g.memcpy(out, a)
    with pytest.raises(ValueError, match="would touch"):
        node.update(src=b, size=65)
    with pytest.raises(cg.CUDAError):
        node.update(src=b, size=0)
    del a, b
    eventually(lambda: b_gone() is None)
    assert a_gone() is not None


# ---- executables


def test_an_executable_takes_arrays_without_gaps(g, block, stream, on_device):
    x, y, z = block(0), block(), block(0)
    copy = g.memcpy(x, y)
    fill = g.memset(z, 1)
    graph = g.instantiate()
    other = block()
    other += 100
    graph[copy].update(dst=x, src=other)
    graph[fill].update(dst=z, value=-3)
    graph.launch(stream)
    stream.sync()
    assert (x == other).all()
    assert (z == -3).all()
    assert copy.src == y.ctypes.data


def test_rows_stay_in_an_executable_and_the_error_says_so(g, block, stream):
    x, y, z = block(0), block(), block()
    z += 100
    node, flat = g.memcpy(x[:3, :2], y[:3, :2]), g.memcpy(x[7], y[7])
    graph = g.instantiate()
    graph[node].update(dst=x[:3, :2], src=y[:3, :2])
    for view, arguments in [
        (graph[node], {"src": z[:3, :2], "dst": x[:3, :2]}),
        (graph[node], {"src": z[0], "dst": x[0]}),
        (graph[flat], {"src": z[:3, :2], "dst": x[:3, :2]}),
        (graph[flat], {"src": z, "dst": x, "width": 8, "height": 2}),
    ]:
        with pytest.raises(cg.CUDAError, match=r"a copy of more than one row cannot change"):
            view.update(**arguments)
    with pytest.raises(cg.CUDAError) as caught:
        graph[flat].update(dst=x.ctypes.data, src=z.ctypes.data, size=0)
    assert "more than one row" not in str(caught.value)
    graph.launch(stream)
    stream.sync()
    expected = np.zeros((8, 8), "i4")
    expected[:3, :2], expected[7] = y[:3, :2], y[7]
    assert (x == expected).all()


def test_a_definition_with_changed_rows_makes_another_executable(g, block, run, stream):
    x, y, z = block(0), block(), block()
    z += 100
    node = g.memcpy(x[:3, :2], y[:3, :2])
    graph = g.instantiate()
    node.update(src=z[:3, :2])
    with pytest.raises(cg.CUDAError):
        graph.update(g)
    graph.launch(stream)
    stream.sync()
    assert (x[:3, :2] == y[:3, :2]).all()
    run(g)
    assert (x[:3, :2] == z[:3, :2]).all()


def test_edges_with_other_data_are_another_structure(g, kernels, stream):
    one = cg.LaunchConfig(grid=1, block=1)
    a = g.launch(one, kernels.nothing)
    b = a.launch(one, kernels.nothing, edge=cg.EdgeData.programmatic())
    graph = g.instantiate()
    graph.update(g)
    b.pred.add(a, cg.EdgeData())
    with pytest.raises(cg.GraphUpdateError):
        graph.update(g)
    b.pred.add(a, cg.EdgeData.programmatic())
    graph.update(g)
    graph.launch(stream)
    stream.sync()
