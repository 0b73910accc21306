# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The shape of a memcpy node: converts operands and keywords to the parameters of CUDA.

CUDA copies `depth` planes of `height` rows of `width` bytes. On each side rows lie a pitch apart, and planes a whole
number of rows. The user gives a size, or extents and pitches. Both may be left out if an operand has a known size; then
the shape follows from the strides of both sides.
"""

from __future__ import annotations

from typing import NamedTuple

from cuda_graphs.objects.memory.array_view import ArrayView

from .layout import Layout, join, layout_of, pair

__all__: list[str] = []


class Operand(NamedTuple):
    """One side of a copy: an address without a known size, a Buffer with a size, or an array."""

    name: str
    size: int | None = None
    array: ArrayView | None = None

    def layout(self) -> Layout | None:
        if self.array is not None:
            return layout_of(self.name, self.array.shape, self.array.strides, self.array.itemsize)
        return None if self.size is None else Layout(self.size)

    def check_fits(self, layout: Layout) -> None:
        own = self.layout()
        if own is not None and layout.extent > own.extent:
            raise ValueError(f"{self.name} has {own.extent} bytes, and the node would touch {layout.extent}")


class Side(NamedTuple):
    """Bytes from row to row, and rows from plane to plane. May be 0 for a copy of one row or one plane."""

    pitch: int = 0
    rows: int = 0


class Shape(NamedTuple):
    """The parameters of a copy in CUDA: bytes of a row, rows of a plane, planes, and both sides."""

    width: int
    height: int = 1
    depth: int = 1
    dst: Side = Side()
    src: Side = Side()

    @property
    def size(self) -> int:
        return self.width * self.height * self.depth

    def layout(self, side: Side) -> Layout:
        """Return the layout of the bytes of one side."""
        axes = ((self.height, side.pitch), (self.depth, side.pitch * side.rows))
        return Layout(self.width, tuple(axis for axis in axes if axis[0] > 1))


class Extents(NamedTuple):
    """The keywords that describe a shape; None for a keyword that is not given."""

    width: int | None = None
    height: int | None = None
    depth: int | None = None
    dst_pitch: int | None = None
    src_pitch: int | None = None
    dst_height: int | None = None
    src_height: int | None = None


def shape_of(dst: Operand, src: Operand, size: int | None, before: Shape | None = None) -> Shape:
    """Return the shape of a copy of `src` to `dst`, or of the first `size` bytes.

    before  shape of the node that is changed. It gives the default of `size`, and the layout of operands that are not
            arrays

    Raises TypeError if the size is unknown. Raises ValueError for operands that are too small or of different sizes,
    and for a copy that needs more than one node.
    """
    if size is None:
        size = common_size(dst, src) if before is None else before.size
    if size == 0:
        return Shape(0)  # the driver decides whether it accepts this copy
    kept = before if before is not None and before.size == size else Shape(size)
    to = layout_for(dst, size, kept.layout(kept.dst))
    source = layout_for(src, size, kept.layout(kept.src))
    if dst.array is None or src.array is None:  # addresses and Buffers follow the memory order of the array
        to, source = to.in_memory_order(), source.in_memory_order()
    return node_shape(to, source)


def common_size(dst: Operand, src: Operand) -> int:
    layouts = [layout for operand in (dst, src) if (layout := operand.layout()) is not None]
    if not layouts:
        raise TypeError("size is needed: neither dst nor src is an object that knows its own")
    if layouts[0].size != layouts[-1].size:
        raise ValueError(
            f"dst has {layouts[0].size} bytes and src {layouts[1].size}: give size, or slices of one size"
        )
    return layouts[0].size


def layout_for(operand: Operand, size: int, kept: Layout) -> Layout:
    """Return the layout of `size` bytes of the operand. `kept` is the layout of an operand without strides."""
    if operand.array is None:
        operand.check_fits(kept)
        return kept
    own = operand.layout()
    assert own is not None
    if own.size == size:
        return own
    if own.in_memory_order().axes:
        raise ValueError(
            f"{operand.name} has gaps: it is copied as a whole, {own.size} bytes, or sliced, not {size}"
        )
    operand.check_fits(Layout(size))
    return Layout(size)


def node_shape(dst: Layout, src: Layout) -> Shape:
    """Return the shape of the node that copies `src` to `dst`, which have the same size."""
    width, axes = pair(dst, src) or (0, [])
    rows, planes = [*axes, (1, 0, 0), (1, 0, 0)][:2]
    to, source = (Side(rows[i], planes[i] // (rows[i] or 1)) for i in (1, 2))
    shape = Shape(width, rows[0], planes[0], to, source)
    whole = all(planes[i] % (rows[i] or 1) == 0 for i in (1, 2))
    if width == 0 or len(axes) > 2 or not whole or overlap(shape):
        raise ValueError(
            f"one memcpy node copies rows and planes of rows, in order. It cannot copy {src} to {dst}: copy in parts, "
            "or through a contiguous array"
        )
    return shape


def overlap(shape: Shape) -> str:
    """Return the reason why rows or planes overlap, which CUDA refuses; "" if they do not overlap.

    CUDA also checks the pitches of single rows and planes, unless they are 0 (tests/conformance/driver,
    copy_shape/bad_shapes).
    """
    for name, side in (("dst", shape.dst), ("src", shape.src)):
        if side.pitch < shape.width and (side.pitch or shape.height * shape.depth > 1):
            return f"{name}_pitch={side.pitch} is less than width={shape.width}"
        if side.rows < shape.height and (side.rows or shape.depth > 1):
            return f"{name}_height={side.rows} is less than height={shape.height}"
    return ""


def explicit_shape(dst: Operand, src: Operand, given: Extents, before: Shape | None = None) -> Shape:
    """Return the shape that the keywords describe.

    A missing keyword takes its value from `before`. Without `before` it takes the value of the arrays, seen as planes
    of rows. Without arrays the rows and planes have no gaps.
    """
    seen = [rows_of(operand) for operand in (dst, src)]
    whole = before or extents_of([shape for shape in seen if shape is not None], given)
    width = whole.width if given.width is None else given.width
    height = whole.height if given.height is None else given.height
    depth = whole.depth if given.depth is None else given.depth
    if 0 in (width, height, depth):
        raise ValueError(f"a node copies one byte at least, not {depth} x {height} x {width}")
    sides = []
    for operand, own, kept, pitch, rows in (
        (dst, seen[0], before and before.dst, given.dst_pitch, given.dst_height),
        (src, seen[1], before and before.src, given.src_pitch, given.src_height),
    ):
        if own is None and pitch is None and operand.array is not None and len(operand.array.shape) > 1:
            raise ValueError(f"{operand.name}_pitch is needed: {operand.name} is not made of contiguous rows")
        side = own.src if own is not None else kept or Side()
        between = side.rows if depth > 1 else 0
        sides.append(
            Side(side.pitch or width if pitch is None else pitch, between or height if rows is None else rows)
        )
    shape = Shape(width, height, depth, *sides)
    if problem := overlap(shape):
        raise ValueError(f"{problem}: they would overlap")
    dst.check_fits(shape.layout(shape.dst))
    src.check_fits(shape.layout(shape.src))
    return shape


def extents_of(seen: list[Shape], given: Extents) -> Shape:
    """Return the default extents: those of the arrays if `width` is not given, else those of one row."""
    if given.width is not None:
        return Shape(given.width)
    if not seen:
        raise TypeError("width is needed: neither dst nor src is an array with rows")
    first, last = seen[0], seen[-1]
    if first[:3] != last[:3]:
        raise ValueError(
            f"dst has {first[:3]} bytes, rows and planes, and src {last[:3]}: give width, height and depth"
        )
    return first


def rows_of(operand: Operand) -> Shape | None:
    """Return an array as planes of contiguous rows along its last axis; None if its strides do not allow it."""
    if operand.array is None or len(operand.array.shape) < 2:
        return None
    shape, strides, itemsize = operand.array.shape, operand.array.strides, operand.array.itemsize
    operand.layout()  # refuses strides that no node can handle
    if shape[-1] > 1 and strides[-1] != itemsize:
        return None
    _, planes = join([(n, s, s) for n, s in zip(shape[:-2], strides[:-2], strict=True)])
    depth, plane, _ = planes[0] if planes else (1, shape[-2] * strides[-2], 0)
    if len(planes) > 1 or plane % strides[-2]:
        return None
    return Shape(shape[-1] * itemsize, shape[-2], depth, src=Side(strides[-2], plane // strides[-2]))
