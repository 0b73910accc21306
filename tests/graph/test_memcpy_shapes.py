# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a memcpy node of two or three dimensions copies what NumPy copies, and says its shape when it is read back."""

import random

import numpy as np
import pytest

import cuda_graphs as cg

SHAPE = ("width", "height", "depth", "dst_pitch", "src_pitch", "dst_height", "src_height")


def shape_of(node):
    return tuple(getattr(node, name) for name in SHAPE)


@pytest.fixture
def block(device, stream):
    """block(nbytes): memory of the device."""
    return lambda nbytes: device.allocate(nbytes, stream=stream)


def numbers(shape, dtype="i4"):
    count = int(np.prod(shape))
    return (np.arange(count) % 251 + 1).astype(dtype).reshape(shape)


CUTS = {
    "rows": ((6, 10), np.s_[1:4, 2:9]),
    "every other row": ((8, 10), np.s_[::2]),
    "a column": ((8, 10), np.s_[:, 3]),
    "every third element": ((30,), np.s_[1::3]),
    "a block": ((5, 6, 7), np.s_[1:4, 2:5, 3:6]),
    "planes": ((5, 6, 7), np.s_[::2]),
    "every other row of every plane": ((3, 6, 7), np.s_[:, ::2]),
    "a block of a 4-D array with whole inner axes": ((4, 5, 3, 2), np.s_[1:3, 1:4]),
    "one element": ((4, 5), np.s_[2:3, 3:4]),
}


@pytest.mark.parametrize("name", CUTS)
@pytest.mark.parametrize("through", ["pinned", "device"])
def test_a_slice_is_copied_into_a_slice_and_nothing_else(name, through, pinned, block, run):
    shape, cut = CUTS[name]
    source, target = pinned(numbers(shape)), pinned(np.zeros(shape))
    part = source[cut]
    expected = np.zeros(shape, "i4")
    expected[cut] = part
    g = cg.GraphDef()
    if through == "pinned":
        g.memcpy(target[cut], part)
    else:  # the buffer holds the elements of the slice without gaps
        middle = block(part.nbytes)
        g.memcpy(middle, part).memcpy(target[cut], middle)
    run(g)
    assert (target == expected).all()


@pytest.mark.parametrize("seed", range(24))
def test_random_slices_of_random_arrays(seed, pinned, block, run):
    rng = random.Random(seed)
    dims = rng.randrange(1, 4)
    dtype = rng.choice(["u1", "i2", "f4", "f8"])
    shape = tuple(rng.randrange(2, 8) for _ in range(dims))
    cut = tuple(
        slice(rng.randrange(n), n, rng.choice([1, 1, 2]) if i < 1 else 1) for i, n in enumerate(shape)
    )
    source, target = pinned(numbers(shape), dtype), pinned(np.zeros(shape), dtype)
    expected = np.zeros(shape, dtype)
    expected[cut] = source[cut]
    middle = block(source[cut].nbytes)
    g = cg.GraphDef()
    g.memcpy(middle, source[cut]).memcpy(target[cut], middle)
    run(g)
    assert (target == expected).all()


def test_arrays_in_fortran_order_are_copied_in_the_order_of_memory(pinned, block, run):
    source, target = pinned(numbers((4, 6))), pinned(np.zeros((4, 6)))
    middle = block(96)
    g = cg.GraphDef()
    node = g.memcpy(middle, source.T)
    assert shape_of(node)[:3] == (96, 1, 1)
    node.memcpy(target.T, middle)
    run(g)
    assert (target == source).all()


def test_pitches_of_addresses(pinned, run):
    source, target = pinned(numbers(96), "u1"), pinned(np.zeros(96), "u1")
    expected = np.zeros((6, 16), "u1")
    expected[:4, :5] = source.reshape(8, 12)[:4, :5]
    g = cg.GraphDef()
    node = g.memcpy(target.ctypes.data, source.ctypes.data, width=5, height=4, dst_pitch=16, src_pitch=12)
    assert shape_of(node) == (5, 4, 1, 16, 12, 4, 4)
    assert node.size == 20
    run(g)
    assert (target.reshape(6, 16) == expected).all()


def test_planes_of_addresses(pinned, run):
    source, target = pinned(numbers(240), "u1"), pinned(np.zeros(240), "u1")
    expected = np.zeros((2, 6, 20), "u1")
    expected[:, :2, :5] = source.reshape(5, 6, 8)[:2, :2, :5]
    g = cg.GraphDef()
    node = g.memcpy(
        target.ctypes.data, source.ctypes.data,
        width=5, height=2, depth=2, dst_pitch=20, src_pitch=8, dst_height=6, src_height=6,
    )  # fmt: skip
    assert shape_of(node) == (5, 2, 2, 20, 8, 6, 6)
    run(g)
    assert (target.reshape(2, 6, 20) == expected).all()


def test_a_pitched_address_and_an_array(pinned, run):
    """One side is pitched memory as cudaMallocPitch returns it; the array on the other side gives the shape."""
    memory, source, target = (
        pinned(np.zeros(4 * 64), "u1"),
        pinned(numbers((4, 10))),
        pinned(np.zeros((4, 10))),
    )
    g = cg.GraphDef()
    there = g.memcpy(memory.ctypes.data, source, dst_pitch=64)
    assert shape_of(there) == (40, 4, 1, 64, 40, 4, 4)
    there.memcpy(target, memory.ctypes.data, src_pitch=64)
    run(g)
    assert (target == source).all()
    assert (memory.reshape(4, 64)[:, 40:] == 0).all()


def test_a_corner_of_arrays(pinned, run):
    source, target = pinned(numbers((5, 6, 7)), "u1"), pinned(np.zeros((5, 6, 9)), "u1")
    expected = np.zeros((5, 6, 9), "u1")
    expected[:3, :2, :4] = source[:3, :2, :4]
    g = cg.GraphDef()
    g.memcpy(target, source, width=4, height=2, depth=3)
    run(g)
    assert (target == expected).all()


def test_a_shape_is_the_same_when_it_is_read_back(pinned):
    x, y = pinned(np.zeros((5, 6, 8))), pinned(np.zeros((5, 6, 8)))
    g = cg.GraphDef()
    node = g.memcpy(x[:4, :3, :2], y[1:, 3:, 6:])
    said = shape_of(node), node.size, node.dst, node.src
    assert said == ((8, 3, 4, 32, 32, 6, 6), 96, x.ctypes.data, y[1:, 3:, 6:].ctypes.data)
    del node
    (again,) = g.nodes()
    assert isinstance(again, cg.MemcpyNode)
    assert (shape_of(again), again.size, again.dst, again.src) == said
    assert repr(again).endswith("(H) size=96>")


def test_a_copy_in_one_dimension_says_so(pinned):
    x, y = pinned(16), pinned(16)
    node = cg.GraphDef().memcpy(x, y)
    assert shape_of(node)[:3] == (64, 1, 1)
    assert node.size == 64


def test_shapes_in_bodies_and_children(pinned, device, run):
    source, target = pinned(numbers((6, 8))), pinned(np.zeros((6, 8)))
    g, child = cg.GraphDef(), cg.GraphDef()
    g.if_then(g.create_condition(1)).then.memcpy(target[:3, :4], source[:3, :4])
    child.memcpy(target[3:, 4:], source[3:, 4:])
    g.embed(child)
    run(g)
    expected = np.zeros((6, 8), "i4")
    expected[:3, :4], expected[3:, 4:] = source[:3, :4], source[3:, 4:]
    assert (target == expected).all()


def test_wrong_shapes_are_refused_and_nothing_is_added(pinned, block):
    x, y, buffer = pinned(np.zeros((4, 6))), pinned(np.zeros((6, 4))), block(96)
    a, b = x.ctypes.data, y.ctypes.data
    g = cg.GraphDef()
    cases = [
        (
            lambda: g.memcpy(a, b, width=16, height=2, dst_pitch=8),
            ValueError,
            "dst_pitch=8 is less than width=16",
        ),
        (lambda: g.memcpy(a, b, width=16, src_pitch=8), ValueError, "src_pitch=8 is less than width=16"),
        (
            lambda: g.memcpy(a, b, width=4, height=3, depth=2, src_height=2),
            ValueError,
            "src_height=2 is less than he",
        ),
        (lambda: g.memcpy(a, b, 16, width=16), TypeError, "size is for copies in one dimension"),
        (lambda: g.memcpy(a, b, height=2), TypeError, "width is needed"),
        (lambda: g.memcpy(buffer, b, height=2), TypeError, "width is needed"),
        (lambda: g.memcpy(a, b, width=0), ValueError, "one byte at least"),
        (lambda: g.memcpy(a, b, width=4, height=0), ValueError, "one byte at least"),
        (
            lambda: g.memcpy(buffer, b, width=16, height=4, dst_pitch=32),
            ValueError,
            "dst has 96 bytes, .* touch 112",
        ),
        (lambda: g.memcpy(a, b, width=-1), OverflowError, "width=-1"),
        (lambda: g.memcpy(a, b, width=1 << 64), OverflowError, "width="),
        (lambda: g.memcpy(a, b, width=4, dst_pitch="8"), TypeError, "dst_pitch must be an int"),
        (lambda: g.memcpy(a, b, width=4.0), TypeError, "width must be an int"),
        (lambda: g.memcpy(x, y.T), ValueError, "one memcpy node copies rows and planes of rows"),
        (lambda: g.memcpy(x, y[:3]), ValueError, "dst has 96 bytes and src 48"),
        (
            lambda: g.memcpy(x[:, :3], buffer, 16),
            ValueError,
            "dst has gaps: it is copied as a whole, 48 bytes",
        ),
        (lambda: g.memcpy(x, y[::-1]), ValueError, "go backwards"),
    ]
    for case, error, message in cases:
        with pytest.raises(error, match=message):
            case()
    assert g.nodes() == set()


def test_rows_past_the_end_are_the_drivers_business(block, pinned):
    x, y = block(4096), pinned(64)
    g = cg.GraphDef()
    with pytest.raises(cg.CUDAError, match=r"(?s)INVALID_VALUE.*memcpy"):
        g.memcpy(x.handle, y.ctypes.data, width=64, height=1 << 24, dst_pitch=1 << 20, src_pitch=64)
    assert g.nodes() == set()


def test_memory_of_alloc_nodes_in_shapes(pinned, run):
    source, target = pinned(numbers((8, 8))), pinned(np.zeros((8, 8)))
    g = cg.GraphDef()
    x = g.alloc(4 * 64)
    there = x.memcpy(x.dptr, source[:4, :5], dst_pitch=64)
    there.memcpy(target[2:6, 1:6], x.dptr, src_pitch=64).free(x.dptr)
    run(g, times=2)
    expected = np.zeros((8, 8), "i4")
    expected[2:6, 1:6] = source[:4, :5]
    assert (target == expected).all()
