# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Halo: the exchange of the borders of an array that ranks share by blocks, and its overlap with work on inner points.

Ranks form a grid over the axes of the array. Each rank has a block with `width` further layers at both ends of each
such axis, the ghost layers, which hold copies of the layers of its neighbours. Axes are exchanged one after the other,
each with the ghost layers of the axes before it, so corners arrive without messages of their own. Layers are copied
to buffers without gaps by a kernel on a view of three axes: the axes before the exchanged one, this axis, and the axes
after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import update_wrapper
from itertools import product
from math import prod
from typing import Any

from cuda_graphs.compiler.language.declarations import Array0, Array3, u32
from cuda_graphs.graph.capture.captured_insertion_point import CapturedInsertionPoint
from cuda_graphs.graph.nodes.node_kinds import KernelNode
from cuda_graphs.graph.operands.spans import Span
from cuda_graphs.kernels.arrays.creation import empty
from cuda_graphs.kernels.arrays.ndarray import NDArray
from cuda_graphs.kernels.call.decorator import kernel
from cuda_graphs.objects.device.current import stream as stream_block
from cuda_graphs.objects.memory.array_view import view_array

__all__ = ["Halo", "check_halo"]

Box = tuple[tuple[int, int], ...]  # (begin, end) of each axis


@kernel
def pack(x: Array3, buffer: Array3, first: int) -> None:
    for i, j, k in buffer:
        buffer[i, j, k] = x[i, first + j, k]


@kernel
def unpack(x: Array3, buffer: Array3, first: int) -> None:
    for i, j, k in buffer:
        x[i, first + j, k] = buffer[i, j, k]


@kernel
def unpack_if(condition: Array0[u32], x: Array3, buffer: Array3, first: int) -> None:
    for i, j, k in buffer:
        if condition[()] != 0:
            x[i, first + j, k] = buffer[i, j, k]


class Face:
    """The layers at one end of one axis, and the neighbour there.

    Attributes:
        rank: The number of the neighbour.
        sent, received: The first layer that is sent, and the first that is received.
        out, into: The buffers.
    """

    def __init__(self, rank: int, sent: int, received: int, view: NDArray, width: int) -> None:
        self.rank, self.sent, self.received = rank, sent, received
        shape = (view.shape[0], width, view.shape[2])
        self.out, self.into = (empty(shape, view.dtype) for _ in range(2))


class Exchange:
    """`halo.exchange`, which is also called between the tasks of graph kernels."""

    def __init__(self, halo: Halo, check: Callable[[Halo, Any], NDArray]) -> None:
        self._halo, self._check = halo, check
        update_wrapper(self, check)

    def __call__(self, x: Any, stream: Any = None) -> None:
        self._check(self._halo, x)
        if stream is None:
            self._halo()
            return
        with stream_block(stream):
            self._halo()

    def __cuda_graph_check__(self, args: tuple[Any, ...]) -> None:
        self._check(self._halo, *args)

    def __cuda_graph_emit__(self, node: Any, args: tuple[Any, ...]) -> Any:
        self.__cuda_graph_check__(args)
        if isinstance(node, CapturedInsertionPoint):  # of a graph kernel that is captured
            with stream_block(node.stream):
                self._halo()
            return CapturedInsertionPoint(node.stream)
        return self._halo.__cuda_graph_emit__(node, ())

    def __cuda_graph_run_if__(self, args: tuple[Any, ...], condition: Any, stream: Any) -> None:
        """Exchange at once, and keep what arrives if `condition`, a u32 of the device, is not 0 then."""
        self.__cuda_graph_check__(args)
        with stream_block(stream):
            for call, *arguments in self._halo._calls():
                if call is unpack:
                    unpack_if(condition, *arguments)
                else:
                    call(*arguments)


class Exchanging:
    """Decorator: the method of a Halo that checks the array becomes its Exchange."""

    def __init__(self, check: Callable[[Halo, Any], NDArray]) -> None:
        self._check = check
        update_wrapper(self, check)  # type: ignore[arg-type]

    def __get__(self, halo: Halo | None, owner: type) -> Any:
        return self if halo is None else Exchange(halo, self._check)


class Halo:
    """The exchange of the ghost layers of one array. Made by `Communicator.halo`.

    ``halo()`` exchanges at once on the current stream, or in its capture. ``node.call(halo)`` adds the exchange to a
    graph. ``node.call(halo.overlap, kernel, *args)`` also runs a kernel: on the inner points in a branch beside the
    exchange, and on the other points after both. A graph kernel with a parameter ``halo: cg.distributed.Halo`` calls
    ``halo.exchange(x)`` between its loops, where `x` is the array of the halo.

    Attributes:
        grid: The number of ranks along each axis of `axes`.
        place: The position of this rank in the grid.
        inner: The (begin, end) of each axis: points whose neighbours up to `width` are of this rank.
        borders: Boxes of the other points of this rank. They do not overlap.
    """

    __cuda_graph_calls__ = ("exchange",)  # for graph kernels (compiler/language/host_objects.py)

    def __init__(
        self, comm: Any, x: NDArray, width: int, axes: Sequence[int], grid: Sequence[int], periodic: bool
    ) -> None:
        self._comm, self._x, self._width = comm, x, width
        self.axes, self.grid = tuple(axes), tuple(grid)
        self.place = place_of(comm.rank, self.grid)
        self._faces = {
            axis: list(self._faces_of(number, axis, periodic)) for number, axis in enumerate(self.axes)
        }
        self.overlap = Overlap(self)

    @property
    def inner(self) -> Box:
        return self._box(dict.fromkeys(self.axes, 2 * self._width))

    @property
    def borders(self) -> tuple[Box, ...]:
        found, inside = [], dict.fromkeys(self.axes, self._width)
        for axis in self.axes:  # the two ends of an axis, without those of the axes before it
            w, end = self._width, self._x.shape[axis]
            middle = max(2 * w, end - 2 * w)
            for begin, stop in ((w, min(2 * w, end - w)), (middle, end - w)):
                box = list(self._box(inside))
                box[axis] = begin, stop
                found.append(tuple(box))
            inside[axis] = 2 * w
        return tuple(box for box in found if not is_empty(box))

    def _box(self, margins: dict[int, int]) -> Box:
        return tuple((margins.get(i, 0), size - margins.get(i, 0)) for i, size in enumerate(self._x.shape))

    def _faces_of(self, number: int, axis: int, periodic: bool) -> Iterator[Face]:
        view, w, end = self._view(axis), self._width, self._x.shape[axis]
        for step, sent, received in ((-1, w, 0), (1, end - 2 * w, end - w)):
            other = list(self.place)
            other[number] += step
            if periodic:
                other[number] %= self.grid[number]
            if 0 <= other[number] < self.grid[number]:
                yield Face(number_of(other, self.grid), sent, received, view, w)

    def _view(self, axis: int) -> NDArray:
        shape = self._x.shape
        return self._x.reshape(prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :]))

    def _calls(self) -> Iterator[tuple[Any, ...]]:
        """Yield the calls of the exchange in their order, each with its arguments."""
        for axis, faces in self._faces.items():
            view = self._view(axis)
            for face in faces:
                yield pack, view, face.out, face.sent
            messages = [face for face in faces if face.rank != self._comm.rank]
            # Two ranks that are neighbours at both ends exchange two messages, which are matched by their order.
            sends = [(self._comm.send, face.out, face.rank) for face in messages]
            receives = [(self._comm.recv, face.into, face.rank) for face in reversed(messages)]
            if not messages or messages[0].rank != messages[-1].rank:
                receives.reverse()
            if messages:
                yield self._comm.group, *sends, *receives
            for face, other in zip(faces, reversed(faces), strict=True):
                yield unpack, view, face.into if face.rank != self._comm.rank else other.out, face.received

    @Exchanging
    def exchange(self, x: Any) -> NDArray:
        """Exchange the ghost layers of `x`, the array of this halo: for graph kernels, which name what changes.

        Args:
            x: The array.

        Raises:
            ValueError: `x` is another array.
        """
        view, own = view_array(x, "exchange(): x"), view_array(self._x, "x")
        assert own is not None
        if view is None or (view.address, tuple(view.shape)) != (own.address, tuple(own.shape)):
            raise ValueError(
                f"exchange(): x is not the array of {self!r}: make a halo for it with comm.halo()"
            )
        return self._x

    def __cuda_graph_share__(self, definition: int, owner: Any) -> Any:
        return self._comm.__cuda_graph_share__(definition, owner)

    def __cuda_graph_settle__(self, owner: Any, refusal: str | None) -> Any:
        return self._comm.__cuda_graph_settle__(owner, refusal)

    def __call__(self) -> None:
        """Exchange on the current stream, or in its capture."""
        for call, *args in self._calls():
            call(*args)

    def __cuda_graph_emit__(self, node: Any, args: tuple[Any, ...]) -> Any:
        if args:
            raise TypeError("a halo takes no arguments: node.call(halo)")
        node = node.join()
        for call, *arguments in self._calls():
            node = node.call(call, *arguments)
            if call in (pack, unpack):
                self._declare_layers(node, call is pack, *arguments)
        return node

    def _declare_layers(self, node: Any, reads: bool, view: NDArray, buffer: NDArray, first: int) -> None:
        """Let the node of a copy declare that it accesses only the copied layers."""
        before, _, behind = view.shape
        layers = span_of(view, ((0, before), (first, first + self._width), (0, behind)))
        node.update(reads=[layers if reads else buffer], writes=[buffer if reads else layers])

    def __repr__(self) -> str:
        return f"<Halo of width {self._width} on axes {self.axes}, ranks {self.grid}, here {self.place}>"


class Overlap:
    """``node.call(halo.overlap, kernel, *args)``: the exchange beside the inner points, and then the other points.

    The kernel gets the box of its points as further arguments: begin and end of each axis of the array. In arrays of
    the shape of the halo's array it writes these points only, and reads their neighbours up to `width`, or the points
    alone in an array that it writes. Its nodes declare that, so that `GraphDef.check` finds no conflict of the boxes.
    """

    def __init__(self, halo: Halo) -> None:
        self._halo = halo

    def __cuda_graph_emit__(self, node: Any, args: tuple[Any, ...]) -> Any:
        if not args:
            raise TypeError(
                "halo.overlap takes a kernel and its arguments: node.call(halo.overlap, kernel, *args)"
            )
        halo = self._halo
        exchanged = node.call(halo)
        ready = exchanged
        if not is_empty(halo.inner):
            ready = exchanged.join(self._call(node, args, halo.inner))
        ends = [self._call(ready, args, box) for box in halo.borders]
        return ends[0].join(*ends[1:]) if ends else ready

    def _call(self, node: Any, args: tuple[Any, ...], box: Box) -> Any:
        """Add the kernel for the points of a box."""
        graph = getattr(node, "graph", node)
        before = graph.nodes()
        last = node.call(*args, *numbers(box))
        blocks = [each for each in args if isinstance(each, NDArray) and each.shape == self._halo._x.shape]
        for added in graph.nodes() - before:
            if isinstance(added, KernelNode) and added.writes is not None:
                declare_box(added, blocks, box, self._halo._width)
        return last


def declare_box(node: KernelNode, blocks: Sequence[NDArray], box: Box, width: int) -> None:
    """Let a node declare that it accesses a box of the arrays that its kernel accesses."""
    own = {span_of(each, [(0, n) for n in each.shape]): span_of(each, box) for each in blocks}
    wide = {
        span_of(each, [(0, n) for n in each.shape]): span_of(each, widened(box, each.shape, width))
        for each in blocks
    }
    reads, writes = node.reads or (), node.writes or ()
    around = {each: (own if each in writes else wide).get(each, each) for each in reads}
    node.update(reads=list(around.values()), writes=[own.get(each, each) for each in writes])


def widened(box: Box, shape: Sequence[int], width: int) -> Box:
    """Return the box with the neighbours of its points."""
    return tuple(
        (max(0, begin - width), min(n, end + width)) for (begin, end), n in zip(box, shape, strict=True)
    )


def span_of(array: NDArray, box: Sequence[tuple[int, int]]) -> Span:
    """Return the bytes of a box of an array."""
    view = view_array(array, "block")
    assert view is not None
    size = view.itemsize * prod(view.shape[len(array.shape) :])
    start, axes, stride = view.address, [], size
    for n, (begin, end) in zip(reversed(array.shape), reversed(box), strict=True):
        start += begin * stride
        axes.append((end - begin, stride))
        stride *= n
    return Span.of(start, size, *axes)


def is_empty(box: Box) -> bool:
    return any(begin >= end for begin, end in box)


def numbers(box: Box) -> list[int]:
    return [number for each in box for number in each]


def place_of(rank: int, grid: Sequence[int]) -> tuple[int, ...]:
    """Return the position of a rank; the last axis changes fastest."""
    found = []
    for size in reversed(grid):
        rank, position = divmod(rank, size)
        found.append(position)
    return tuple(reversed(found))


def number_of(place: Sequence[int], grid: Sequence[int]) -> int:
    number = 0
    for position, size in zip(place, grid, strict=True):
        number = number * size + position
    return number


def grid_of(ranks: int, axes: int) -> tuple[int, ...]:
    """Return the grid of ranks whose sides are as equal as possible, the larger ones first."""
    sides = [each for each in product(divisors(ranks), repeat=axes) if prod(each) == ranks]
    return min((tuple(sorted(each, reverse=True)) for each in sides), key=lambda each: (max(each), each))


def divisors(number: int) -> list[int]:
    return [each for each in range(1, number + 1) if number % each == 0]


def check_halo(
    x: Any, width: int, axes: Sequence[int], grid: Sequence[int] | None, ranks: int
) -> tuple[int, ...]:
    """Return the grid of a halo, after a check of the arguments of `Communicator.halo`."""
    if not isinstance(x, NDArray):
        raise TypeError(f"halo(): x must be an NDArray, such as cg.zeros(...), got {type(x).__name__}")
    if width < 1:
        raise ValueError(f"halo(): width must be 1 or more, got {width}")
    if not axes or len(set(axes)) != len(axes) or not all(0 <= axis < len(x.shape) for axis in axes):
        raise ValueError(
            f"halo(): axes must be different axes of x, from 0 to {len(x.shape) - 1}, got {tuple(axes)}"
        )
    sides = grid_of(ranks, len(axes)) if grid is None else tuple(grid)
    if len(sides) != len(axes) or prod(sides) != ranks:
        raise ValueError(
            f"halo(): grid must have a number for each of the {len(axes)} axes, whose product is the number of ranks, "
            f"{ranks}; got {sides}"
        )
    for axis in axes:
        if x.shape[axis] < 3 * width:
            raise ValueError(
                f"halo(): axis {axis} of x has {x.shape[axis]} layers: a block of {width} and {2 * width} ghost layers "
                f"need at least {3 * width}"
            )
    return sides
