# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the shape that a copy of arrays gets is the copy that NumPy makes of them, or a ValueError. Without a driver."""

import random

import numpy as np
import pytest

from cuda_graphs.graph.operands.copy_shape import Extents, Operand, Shape, Side, explicit_shape, shape_of
from cuda_graphs.objects.memory.array_view import view_array


def operand(name, array):
    return Operand(name, array=view_array(array, name))


def carry_out(shape, to, at, source, start):
    """The copy as CUDA defines it, over memory as arrays of bytes; `at` and `start` are where the sides begin."""
    for plane in range(shape.depth):
        for row in range(shape.height):
            a = at + (plane * shape.dst.rows + row) * shape.dst.pitch
            b = start + (plane * shape.src.rows + row) * shape.src.pitch
            assert b + shape.width <= source.size
            to[a : a + shape.width] = source[b : b + shape.width]


def offset(array, memory):
    return array.ctypes.data - memory.ctypes.data


def cut(rng, shape, dtype):
    """(memory, array of the shape with gaps in it): each axis may lie in a longer one, or be every other element."""
    outer = [n + rng.choice([0, 0, 1, 3]) for n in shape]
    order = rng.choice(["C", "C", "F"])
    whole = np.zeros(outer, dtype, order)
    flat = np.ndarray(whole.size, dtype, whole)
    flat[:] = np.arange(1, whole.size + 1) % 251 + 1
    corner = [rng.randrange(total - n + 1) for total, n in zip(outer, shape, strict=True)]
    array = whole[tuple(slice(c, c + n) for c, n in zip(corner, shape, strict=True))]
    return flat.view(np.uint8), array


def fits_one_node(array):
    """Returns whether one node can copy the array: at most 3 levels, as CUDA has them."""
    try:
        shape_of(operand("dst", array), Operand("src", array.nbytes), None)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("seed", range(400))
def test_a_copy_of_arrays_is_that_of_numpy(seed):
    rng = random.Random(seed)
    shape = tuple(rng.choice([1, 2, 3, 5]) for _ in range(rng.randrange(1, 5)))
    dtype = np.dtype(rng.choice(["u1", "i2", "f4", "f8"]))
    to_memory, to = cut(rng, shape, dtype)
    from_memory, source = cut(rng, shape, dtype)
    expected_memory, before = to_memory.copy(), to_memory.copy()
    start = offset(to, to_memory)
    np.ndarray(shape, dtype, expected_memory, start, to.strides)[...] = source
    try:
        made = shape_of(operand("dst", to), operand("src", source), None)
    except ValueError:
        assert len(shape) > 2 or not (to.flags.forc and source.flags.forc) or to.flags.fnc != source.flags.fnc
        assert (to_memory == before).all()
        return
    carry_out(made, to_memory, start, from_memory, offset(source, from_memory))
    assert (to_memory == expected_memory).all()


@pytest.mark.parametrize("seed", range(100))
def test_a_side_without_a_shape_follows_the_order_of_the_others_memory(seed):
    rng = random.Random(seed)
    shape = tuple(rng.choice([2, 3, 5]) for _ in range(rng.randrange(1, 4)))
    memory, array = cut(rng, shape, np.dtype("i2"))
    packed = np.zeros(array.nbytes, np.uint8)
    if not fits_one_node(array):
        assert array.ndim == 3
        return
    made = shape_of(Operand("dst"), operand("src", array), None)
    carry_out(made, packed, 0, memory, offset(array, memory))
    order = sorted(range(array.ndim), key=lambda axis: -array.strides[axis])
    assert bytes(packed) == array.transpose(order).tobytes()


def test_contiguous_arrays_are_one_row_whatever_their_shapes():
    assert shape_of(
        operand("dst", np.zeros((4, 6), "i4")), operand("src", np.zeros((2, 12), "f4")), None
    ) == Shape(96)
    fortran = np.zeros((4, 6), "i4", "F")
    assert shape_of(operand("dst", fortran), operand("src", fortran.copy("F")), None) == Shape(96)


def test_every_other_element_is_a_row_of_one_element():
    made = shape_of(operand("dst", np.zeros(5, "f4")), operand("src", np.zeros(10, "f4")[::2]), None)
    assert made == Shape(4, 5, 1, Side(4, 0), Side(8, 0))


def test_a_flat_array_goes_into_rows():
    rows = np.zeros((4, 16), "u1")[:, :10]
    assert shape_of(operand("dst", rows), operand("src", np.zeros(40, "u1")), None) == Shape(
        10, 4, 1, Side(16, 0), Side(10, 0)
    )


def test_planes_of_rows():
    block = np.zeros((5, 7, 16), "u1")[:3, :4, :10]
    assert shape_of(operand("dst", np.zeros((3, 4, 10), "u1")), operand("src", block), None) == Shape(
        10, 4, 3, Side(10, 4), Side(16, 7)
    )


C = np.zeros((4, 6), "f4")
REFUSED = [
    ("a transposition", C.T, np.zeros((6, 4), "f4"), "one memcpy node copies rows and planes of rows, in order"),
    ("backwards", np.zeros(4, "f4"), np.zeros(4, "f4")[::-1], "strides .-4,., which go backwards or repeat elements"),
    ("one element many times", C, np.broadcast_to(np.float32(1), (4, 6)), "strides .0, 0."),
    ("empty", np.zeros((0, 4)), np.zeros((0, 4)), "dst is an empty array of shape .0, 4."),
    ("four levels", np.zeros((3,) * 4, "u1"), np.zeros((6,) * 4, "u1")[::2, ::2, ::2, ::2], "in parts"),
    ("two sizes", np.zeros(4, "u1"), np.zeros(5, "u1"), "dst has 4 bytes and src 5: give size"),
    ("shapes that do not divide", np.zeros((2, 8), "u1")[:, :6], np.zeros((3, 8), "u1")[:, :4], "in parts"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("to", "source", "message"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_copy_that_is_not_of_rows_is_refused_with_both_layouts(to, source, message):
    with pytest.raises(ValueError, match=message):
        shape_of(operand("dst", to), operand("src", source), None)


def test_a_size_is_of_what_has_no_gaps():
    assert shape_of(operand("dst", np.zeros(10, "u1")), Operand("src"), 7) == Shape(7)
    assert shape_of(Operand("dst", 10), Operand("src", 20), 10) == Shape(10)
    with pytest.raises(ValueError, match="dst has 10 bytes, and the node would touch 11"):
        shape_of(Operand("dst", 10), Operand("src"), 11)
    with pytest.raises(ValueError, match="src has 40 bytes, and the node would touch 41"):
        shape_of(Operand("dst"), operand("src", np.zeros(10, "i4")), 41)
    rows = np.zeros((4, 16), "u1")[:, :10]
    assert shape_of(operand("dst", rows), Operand("src"), 40).height == 4
    with pytest.raises(ValueError, match="dst has gaps: it is copied as a whole, 40 bytes"):
        shape_of(operand("dst", rows), Operand("src"), 20)


def test_addresses_need_a_size():
    with pytest.raises(TypeError, match="size is needed"):
        shape_of(Operand("dst"), Operand("src"), None)


def test_keywords_say_a_shape_without_gaps_unless_they_say_more():
    a, b = Operand("dst"), Operand("src")
    assert explicit_shape(a, b, Extents(8, 3)) == Shape(8, 3, 1, Side(8, 3), Side(8, 3))
    assert explicit_shape(a, b, Extents(8, 3, 2, 32, 16, 5, 4)) == Shape(8, 3, 2, Side(32, 5), Side(16, 4))
    assert explicit_shape(a, b, Extents(8, src_pitch=16)) == Shape(8, 1, 1, Side(8, 1), Side(16, 1))


def test_extents_without_a_keyword_are_those_of_the_arrays():
    block = np.zeros((5, 7, 16), "u1")[:3, :4, :10]
    whole = explicit_shape(operand("dst", block), Operand("src"), Extents(src_pitch=64))
    assert whole == Shape(10, 4, 3, Side(16, 7), Side(64, 4))
    part = explicit_shape(operand("dst", block), Operand("src"), Extents(width=2, height=3))
    assert part == Shape(2, 3, 1, Side(16, 3), Side(2, 3))
    both = explicit_shape(operand("dst", block), operand("src", np.zeros((3, 4, 10), "u1")), Extents(depth=2))
    assert both == Shape(10, 4, 2, Side(16, 7), Side(10, 4))


WRONG = [
    (Operand("dst"), Operand("src"), Extents(8, 2, dst_pitch=4), ValueError, "dst_pitch=4 is less than width=8"),
    (Operand("dst"), Operand("src"), Extents(8, 2, 2, src_height=1), ValueError, "src_height=1 is less than height=2"),
    (Operand("dst"), Operand("src"), Extents(height=2), TypeError, "width is needed"),
    (Operand("dst"), Operand("src"), Extents(8, 0), ValueError, "one byte at least"),
    (Operand("dst", 39), Operand("src"), Extents(8, 2, dst_pitch=32), ValueError, "dst has 39 bytes, .* touch 40"),
    (Operand("dst"), operand("src", C), Extents(8, 5), ValueError, "src has 96 bytes, .* touch 104"),
    (Operand("dst"), operand("src", C.T), Extents(8, 2), ValueError, "src_pitch is needed: src is not made of"),
    (operand("dst", C), operand("src", np.zeros((4, 5), "f4")), Extents(dst_pitch=24), ValueError, "give width"),
]  # fmt: skip


@pytest.mark.parametrize(("dst", "src", "given", "error", "message"), WRONG)
def test_a_shape_that_cannot_be_is_refused_by_name(dst, src, given, error, message):
    with pytest.raises(error, match=message):
        explicit_shape(dst, src, given)


def test_a_change_keeps_the_size_and_where_addresses_lie():
    before = Shape(8, 3, 1, Side(32, 0), Side(16, 0))
    assert shape_of(Operand("dst"), Operand("src"), None, before) == before
    packed = shape_of(Operand("dst"), operand("src", np.zeros(24, "u1")), None, before)
    assert packed == Shape(8, 3, 1, Side(32, 0), Side(8, 0))
    rows = np.zeros((3, 64), "u1")[:, :8]
    assert shape_of(Operand("dst"), operand("src", rows), None, before).src == Side(64, 0)
    assert shape_of(Operand("dst"), Operand("src"), 12, before) == Shape(12)
    with pytest.raises(ValueError, match="src has 39 bytes, and the node would touch 40"):
        shape_of(Operand("dst"), Operand("src", 39), None, before)
    assert explicit_shape(Operand("dst"), Operand("src"), Extents(dst_pitch=40), before) == Shape(
        8, 3, 1, Side(40, 3), Side(16, 3)
    )


def test_a_change_of_a_flat_copy_takes_the_first_bytes_of_a_larger_array():
    before = Shape(24)
    assert shape_of(Operand("dst"), operand("src", np.zeros(100, "u1")), None, before) == Shape(24)
    with pytest.raises(ValueError, match="src has 20 bytes"):
        shape_of(Operand("dst"), operand("src", np.zeros(20, "u1")), None, before)
