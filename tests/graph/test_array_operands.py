# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: memset and memcpy take arrays of any library for what they are, keep their memory, and refuse by name what no
node can reach."""

import ctypes
import gc
import weakref

import numpy as np
import pytest

import cuda_graphs as cg
from tests.graph.arrays import Cuda, Host, Packed, pages, registered
from tests.graph_rig import ONE


@pytest.fixture
def on_device(device, stream):
    """on_device(array): an array of the device by `__cuda_array_interface__` with its layout, zeroed."""

    def make(like, **more):
        memory = device.allocate(
            max(like.nbytes if like.base is None else like.base.nbytes, 1), stream=stream
        )
        memory.fill(0, stream=stream)
        stream.sync()
        return Cuda(memory, like, **more)

    return make


VALUES = np.arange(1, 25, dtype="i4").reshape(4, 6)


def as_numpy(array):
    return array


def by_interface(array):
    return Host(array)


def by_dlpack(array):
    return Packed(array)


def by_old_dlpack(array):
    return Packed(array, version=None)


@pytest.mark.parametrize("wrap", [as_numpy, by_interface, by_dlpack, by_old_dlpack])
def test_pinned_arrays_are_operands_by_each_protocol(wrap, pinned, run):
    source, target = pinned(VALUES), pinned(np.zeros((4, 6)), "i4")
    g = cg.GraphDef()
    node = g.memcpy(wrap(target), wrap(source))
    assert (node.dst, node.src, node.size) == (target.ctypes.data, source.ctypes.data, 96)
    run(g)
    assert (target == VALUES).all()


def test_a_device_array_by_its_interface(on_device, pinned, run):
    source, target = pinned(VALUES), pinned(np.zeros((4, 6)), "i4")
    x = on_device(VALUES)
    g = cg.GraphDef()
    g.memcpy(x, source).memcpy(target, x)
    run(g)
    assert (target == VALUES).all()


def test_a_device_buffer_by_dlpack_is_asked_not_to_synchronise(device, stream, pinned, run):
    source, target = pinned(VALUES), pinned(np.zeros((4, 6)), "i4")
    x = Packed(device.allocate(96, stream=stream))
    g = cg.GraphDef()
    g.memcpy(x, source).memcpy(target, x)
    run(g)
    assert (target == VALUES).all()
    assert x.streams == [-1, -1]


def test_registered_pages_are_operands_as_far_as_they_go(pinned, run):
    target = pinned(4096, "u1")
    space = pages(2)
    space[:] = 7
    with registered(space[:4096]):
        g = cg.GraphDef()
        g.memcpy(target, space[:4096])
        run(g)
        with pytest.raises(ValueError, match="pageable"):
            g.memcpy(pinned(8192, "u1"), space)
    assert (target == 7).all()


REFUSED = {
    "numpy": (
        lambda a: a,
        r"^src, a numpy.ndarray at 0x[0-9a-f]+ is neither memory that the driver knows.*numpy.from_dlpack",
    ),
    "interface": (Host, r"^src, a tests.graph.arrays.Host at 0x[0-9a-f]+ is neither memory"),
    "dlpack": (Packed, r"^src, a tests.graph.arrays.Packed at 0x[0-9a-f]+ is neither memory"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_pageable_arrays_are_refused_by_name_with_a_remedy(name, pinned):
    wrap, message = REFUSED[name]
    target = pinned(16)
    g = cg.GraphDef()
    with pytest.raises(ValueError, match=message):
        g.memcpy(target, wrap(np.zeros(16, "i4")))
    with pytest.raises(ValueError, match=message.replace("src", "dst")):
        g.memset(wrap(np.zeros(16, "i4")), 0)
    assert g.nodes() == set()


def test_a_read_only_array_is_no_destination(pinned):
    x = pinned(16)
    x.flags.writeable = False
    y = pinned(16)
    g = cg.GraphDef()
    for array in (x, Host(x), Packed(x)):
        with pytest.raises(ValueError, match=r"dst is a read-only (ndarray|Host|Packed)"):
            g.memcpy(array, y)
        with pytest.raises(ValueError, match="dst is a read-only"):
            g.memset(array, 0)
        assert g.memcpy(y, array).size == 64


def test_other_arrays_are_refused_by_name(pinned, on_device):
    x = pinned(16)
    g = cg.GraphDef()
    with pytest.raises(ValueError, match=r"src is a Packed on a device that is not CUDA's .*10"):
        g.memcpy(x, Packed(x, kind=(10, 0)))
    with pytest.raises(ValueError, match="src is a masked array"):
        g.memcpy(x, on_device(VALUES, mask=x))
    with pytest.raises(TypeError, match="src is a Cuda whose array interface has no data address"):
        g.memcpy(x, on_device(VALUES, data=None))
    for wrong in (
        {"shape": None},
        {"shape": (1.5,)},
        {"typestr": "?!"},
        {"strides": (4,)},
        {"data": (-1, False)},
    ):
        with pytest.raises(TypeError, match="src is a Cuda whose array interface is malformed"):
            g.memcpy(x, on_device(VALUES, **wrong))
    with pytest.raises(ValueError, match="dst is an empty array"):
        g.memset(x[:0], 1)
    assert g.nodes() == set()


@pytest.mark.parametrize(
    "value", ["text", None, 1.5, [1], b"12", np.float32(1), object()], ids=lambda v: type(v).__name__
)
def test_operand_of_a_wrong_type_is_a_type_error(value, pinned):
    x = pinned(16)
    g = cg.GraphDef()
    with pytest.raises(TypeError, match=r"^src must be an address .int., a Buffer or an array, got "):
        g.memcpy(x, value, 4)
    with pytest.raises(TypeError, match=r"^dst must be an address"):
        g.memset(value, 0, 4)


def test_sizes_are_held_to_what_the_operands_have(pinned, device, stream):
    x, y = pinned(16), pinned(20)
    buffer = device.allocate(64, stream=stream)
    g = cg.GraphDef()
    with pytest.raises(ValueError, match="dst has 64 bytes and src 80: give size"):
        g.memcpy(x, y)
    with pytest.raises(ValueError, match="dst has 64 bytes and src 80"):
        g.memcpy(buffer, y)
    with pytest.raises(ValueError, match="dst has 64 bytes, and the node would touch 65"):
        g.memcpy(buffer, y, 65)
    with pytest.raises(ValueError, match="src has 64 bytes, and the node would touch 65"):
        g.memcpy(y, buffer, 65)
    with pytest.raises(ValueError, match="dst has 64 bytes, and the node would touch 68"):
        g.memset(buffer, np.int32(1), 17)
    with pytest.raises(ValueError, match="dst has 64 bytes, and the node would touch 96"):
        g.memset(x, 0, 8, 2, 64)
    with pytest.raises(TypeError, match="size is needed"):
        g.memcpy(x.ctypes.data, y.ctypes.data)
    with pytest.raises(TypeError, match="width is needed"):
        g.memset(x.ctypes.data, 0)
    assert g.nodes() == set()
    assert g.memcpy(buffer, y, 64).size == 64
    assert g.memcpy(y[4:], buffer).size == 64
    assert g.memset(buffer, np.int16(1)).width == 32


def test_the_smaller_of_address_and_array_decides(pinned, run):
    x, y = pinned(range(16)), pinned(20)
    g = cg.GraphDef()
    assert g.memcpy(y.ctypes.data, x).size == 64
    run(g)
    assert list(y) == [*range(16), 0, 0, 0, 0]


FILLS = [
    ("i1", -1), ("u1", 255), ("i2", -2), ("u2", 65535), ("i4", 7), ("u4", 0xDEADBEEF), ("f4", 1.5), ("f4", 3),
    ("f2", 0.5), ("?", True), ("c8", 1 + 1j), ("f8", 0), ("i8", -1), ("c16", 0j), ("f4", float("inf")),
    ("i4", np.int64(-5)), ("f4", np.float64(0.1)), ("i2", np.bool_(True)), ("i4", b"\x01\x02"), ("f4", np.float32(2)),
    (">i4", 258), ("M8[ns]", np.datetime64(0, "ns")), ("V4", b"abcd"),
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "value"), FILLS, ids=lambda v: f"{type(v).__name__}-{v}")
def test_a_fill_of_an_array_is_an_assignment(dtype, value, pinned, run):
    x = pinned(np.zeros(16 * np.dtype(dtype).itemsize), "u1").view(dtype)
    expected = np.zeros(16, dtype)
    if isinstance(value, bytes):
        expected.view(f"V{len(value)}")[:] = value
    else:
        expected[:] = value
    g = cg.GraphDef()
    node = g.memset(x, value)
    assert node.width * node.element_size == x.nbytes
    run(g)
    assert x.tobytes() == expected.tobytes()


WRONG_FILLS = [
    ("i4", 1.5, TypeError, "1.5 does not fit the type '<i4'"),
    ("f4", 1j, TypeError, "1j does not fit the type '<f4'"),
    ("u1", 256, OverflowError, r"256 does not fit the type '\|u1'"),
    ("i4", 2**40, OverflowError, "1099511627776 does not fit the type '<i4'"),
    ("f4", 1e300, OverflowError, r"1e\+300 does not fit the type '<f4'"),
    ("f4", 10**40, OverflowError, "10{40} does not fit the type '<f4'"),
    ("f2", -1e5, OverflowError, "-100000.0 does not fit the type '<f2'"),
    ("i4", "a", TypeError, "must be a number or an object of 1, 2 or 4 bytes, got str"),
    ("i4", [1, 2, 3], TypeError, "got list"),
    ("u1", -1, OverflowError, "-1"),
    ("f8", 1.5, ValueError, "1.5 of type '<f8' has 8 bytes that do not repeat"),
    ("i8", 1, ValueError, "fill with a kernel"),
    ("i4", b"abc", ValueError, "1, 2 or 4 bytes, got 3"),
    ("u1", b"ab", ValueError, "elements of 2 bytes do not fill 15 bytes evenly"),
]


@pytest.mark.parametrize(("dtype", "value", "error", "message"), WRONG_FILLS)
def test_a_fill_that_cannot_be_is_refused(dtype, value, error, message, pinned):
    x = pinned(np.zeros(15), dtype)
    g = cg.GraphDef()
    with pytest.raises(error, match=message):
        g.memset(x, value)
    assert g.nodes() == set()


def test_a_fill_leaves_the_gaps_of_an_array_alone(pinned, run):
    x = pinned(np.zeros((6, 8)), "i2")
    expected = np.zeros((6, 8), "i2")
    expected[1:4, 2:5] = -3
    expected[5, ::2] = 9
    expected[:, 7] = 5
    g = cg.GraphDef()
    node = g.memset(x[1:4, 2:5], -3)
    assert (node.width, node.height, node.pitch, node.element_size) == (3, 3, 16, 2)
    node.memset(x[5, ::2], 9).memset(x[:, 7], 5)
    run(g)
    assert (x == expected).all()


def test_a_fill_of_a_block_takes_more_than_a_node(pinned):
    x = pinned(np.zeros((4, 4, 4)), "i2")
    with pytest.raises(ValueError, match="one memset node fills rows"):
        cg.GraphDef().memset(x[:2, :2, :2], 1)


def test_a_width_of_rows_of_an_array(pinned, run):
    x = pinned(np.zeros((4, 16)), "u1")
    expected = np.zeros((4, 16), "u1")
    expected[:3, :5] = 1
    g = cg.GraphDef()
    assert g.memset(x, 1, 5, 3).pitch == 16
    run(g)
    assert (x == expected).all()


# ---- lifetimes


def test_an_array_operand_lives_until_graph_and_executable_are_gone(on_device, pinned, stream, eventually):
    target = pinned(np.zeros((4, 6)), "i4")
    x = on_device(VALUES)
    gone = weakref.ref(x)
    g = cg.GraphDef()
    node = g.memset(x, 6)
    node.memcpy(target, x)
    graph = g.instantiate()
    del x, g, node
    gc.collect()
    assert gone() is not None
    graph.launch(stream)
    stream.sync()
    assert (target == 6).all()
    graph.close()
    eventually(lambda: gone() is None)


def test_a_launch_in_flight_keeps_an_array_when_all_else_is_gone(
    on_device, pinned, kernels, stream, eventually
):
    target, flag = pinned(np.zeros((4, 6)), "i4"), pinned([0])
    x = on_device(VALUES)
    gone = weakref.ref(x)
    g, child = cg.GraphDef(), cg.GraphDef()
    child.memset(x, 8).memcpy(target, x)
    g.launch(ONE, kernels.wait_for, flag).embed(child)
    graph = g.instantiate()
    graph.launch(stream)
    graph.close()
    del x, g, child, graph
    gc.collect()
    assert gone() is not None
    flag[0] = 1
    stream.sync()
    assert (target == 8).all()
    eventually(lambda: gone() is None)


def test_a_dlpack_operand_keeps_the_memory_not_the_exporter(device, stream, pinned, eventually, run):
    target = pinned(np.zeros(16), "u1")
    buffer = device.allocate(16, stream=stream)
    x = Packed(buffer)
    exporter = weakref.ref(x)
    g = cg.GraphDef()
    g.memset(x, 3).memcpy(target, x)
    buffer.close()
    del x
    gc.collect()
    assert exporter() is None
    run(g)
    assert (target == 3).all()


class Owner:
    pass


@pytest.fixture
def owner():
    """owner(): an object and a weak reference to it."""

    def make():
        it = Owner()
        return it, weakref.ref(it)

    return make


def test_owners_of_addresses_are_kept_and_released_with_the_graph(owner, pinned, eventually):
    x, y = pinned(16), pinned(16)
    (a, a_gone), (b, b_gone), (c, c_gone) = owner(), owner(), owner()
    g = cg.GraphDef()
    g.memcpy(x.ctypes.data, y.ctypes.data, 64, dst_owner=a, src_owner=b)
    filled = g.memset(x.ctypes.data, 0, 64, dst_owner=c)
    del a, b, c
    gc.collect()
    assert None not in (a_gone(), b_gone(), c_gone())
    filled.destroy()
    eventually(lambda: c_gone() is None)
    assert None not in (a_gone(), b_gone())
    del g, filled
    eventually(lambda: a_gone() is None and b_gone() is None)


def test_a_buffer_as_owner_keeps_its_memory_though_it_is_closed(device, stream, pinned, run):
    target = pinned(np.zeros(16), "u1")
    buffer = device.allocate(16, stream=stream)
    g = cg.GraphDef()
    address = buffer.handle
    g.memset(address, 5, 16, dst_owner=buffer).memcpy(target, address, 16, src_owner=buffer)
    buffer.close()
    run(g)
    assert (target == 5).all()


def test_wrong_owners_are_refused_by_name(device, stream, pinned):
    x = pinned(16)
    buffer, closed = device.allocate(64, stream=stream), device.allocate(64, stream=stream)
    closed.close()
    g = cg.GraphDef()
    cases = [
        (lambda: g.memset(buffer, 0, dst_owner=x), "dst_owner is for addresses only: dst is a Buffer"),
        (lambda: g.memset(x, 0, dst_owner=x), "dst_owner is for addresses only: dst is an array"),
        (lambda: g.memcpy(buffer, x, dst_owner=x), "dst_owner is for addresses only: dst is a Buffer"),
        (lambda: g.memcpy(x, buffer, src_owner=x), "src_owner is for addresses only: src is a Buffer"),
        (lambda: g.memcpy(buffer, x, src_owner=x), "src_owner is for addresses only: src is an array"),
        (
            lambda: g.memset(x.ctypes.data, 0, 4, dst_owner=closed),
            "dst_owner is a closed Buffer, which has no active",
        ),
        (
            lambda: g.memcpy(x, x.ctypes.data, src_owner=closed),
            "src_owner is a closed Buffer, which has no active",
        ),
        (lambda: g.memcpy(closed, x), "dst is a closed Buffer, which has no active allocation"),
        (lambda: g.memcpy(x, closed), "src is a closed Buffer, which has no active allocation"),
    ]
    for case, message in cases:
        with pytest.raises(ValueError, match=message):
            case()
    assert g.nodes() == set()


def test_a_refused_node_keeps_nothing(owner, pinned, eventually):
    x = pinned(16)
    it, gone = owner()
    g = cg.GraphDef()
    with pytest.raises(cg.CUDAError):
        g.memcpy(x.ctypes.data, x.ctypes.data, 0, dst_owner=it)
    del it
    eventually(lambda: gone() is None)


# ---- arrays as kernel arguments


def test_arrays_are_kernel_arguments_and_kept(on_device, pinned, kernels, stream, eventually):
    target = pinned(np.zeros((4, 6)), "i4")
    x = on_device(VALUES)
    gone = weakref.ref(x)
    g = cg.GraphDef()
    wide = cg.LaunchConfig(grid=1, block=24)
    g.launch(wide, kernels.add, x, 24, 5).launch(wide, kernels.add, Packed(x.memory), 24, 6).memcpy(target, x)
    graph = g.instantiate()
    del x, g
    gc.collect()
    assert gone() is not None
    graph.launch(stream)
    stream.sync()
    assert (target == 11).all()
    graph.close()
    eventually(lambda: gone() is None)


def test_a_pinned_numpy_array_is_a_kernel_argument(pinned, kernels, run):
    x = pinned(range(16))
    g = cg.GraphDef()
    g.launch(cg.LaunchConfig(grid=1, block=16), kernels.add, x, 16, 1)
    run(g)
    assert list(x) == list(range(1, 17))


class Exporting(ctypes.c_int):
    """An array of the device that has the buffer protocol too."""


def test_an_array_of_the_device_is_an_address_though_it_exports_a_buffer(pinned, kernels, run):
    x, it = pinned(range(16)), Exporting(3)
    it.__cuda_array_interface__ = {
        "version": 3,
        "shape": (16,),
        "typestr": "<i4",
        "data": (x.ctypes.data, False),
    }
    g = cg.GraphDef()
    g.launch(cg.LaunchConfig(grid=1, block=16), kernels.add, it, 16, 2)
    run(g)
    assert list(x) == list(range(2, 18))


def test_a_pageable_array_is_no_kernel_argument(kernels, device):
    g = cg.GraphDef()
    for array in (np.zeros(16, "i4"), Host(np.zeros(16, "i4")), Packed(np.zeros(16, "i4"))):
        with pytest.raises(TypeError, match=r"^parameter 0 of kernel 'add' .*pageable host memory"):
            g.launch(ONE, kernels.add, array, 16, 1)
    with pytest.raises(
        TypeError, match=r"^parameter 1 of kernel 'add' takes int; an array is passed as an address"
    ):
        g.launch(ONE, kernels.add, 0, Host(np.zeros(16, "i4")), 1)
    assert g.nodes() == set()
