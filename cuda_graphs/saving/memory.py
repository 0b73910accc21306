# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Memory of a saved graph in the process that loads it: the rows of the table `memory`, and places in them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from cuda_graphs.compiler.ir.types import SCALARS
from cuda_graphs.compiler.language.annotations import VectorType
from cuda_graphs.graph.nodes.restoring import memory_of_counter, new_counter, write_bytes
from cuda_graphs.kernels.arrays.ndarray import NDArray, number_array
from cuda_graphs.objects.device.device import Device
from cuda_graphs.objects.memory.memory_resource import ManagedMemoryResource, PinnedMemoryResource

from .schema import PLACES, WORDS, Row, check_int, check_type, fail

if TYPE_CHECKING:
    from cuda_graphs.objects.memory.buffer import Buffer

    from .archive import Archive

__all__ = ["LoadedMemory", "Place", "dtype_of", "load_memory"]

COUNTER_BYTES = 16
MOST_WORDS = 2**24  # bytes that a kernel needs for itself


class Place(NamedTuple):
    """Memory that an operand names.

    Attributes:
        address: Its first byte.
        size: The bytes from there to the end of the memory.
        owner: What keeps the memory, or None for memory of an alloc node.
    """

    address: int
    size: int
    owner: Any


class LoadedMemory:
    """A row of the table `memory`.

    Attributes:
        array: The array of a row of kind "array", else None.
        counter: The LoopCounter of a row of kind "counter", else None.
        parameter: The number of the parameter of an array, or None.
        contents: The contents of an array, until they are written.
    """

    def __init__(self, address: int, size: int, owner: Any) -> None:
        self.address, self.size, self.owner = address, size, owner
        self.array: NDArray | None = None
        self.counter: Any = None
        self.parameter: int | None = None
        self.contents: bytes | None = None

    def place(self, offset: Any, where: str) -> Place:
        if type(offset) is not int or not 0 <= offset < self.size:
            check_int(offset, f"the offset in {where}", 0, self.size - 1)
        return Place(self.address + offset, self.size - offset, self.owner)


def load_memory(archive: Archive, parameters: Sequence[Any]) -> list[LoadedMemory]:
    """Allocate all rows of the table `memory`, with their contents, on the current device.

    Raises:
        SavedGraphError: A row is wrong.
        CUDAError: The device has not enough memory.
    """
    rows = [Row(data, f"memory {number}") for number, data in enumerate(archive.manifest["memory"])]
    for row in rows:  # all are checked before the first is allocated
        row.choice("kind", LOADERS)
        row.number("bytes", 1)
        if row.get("parameter") is not None:
            row.index("parameter", parameters)
    found = [LOADERS[row.get("kind")](archive, row) for row in rows]
    # Arrays are filled with zeros on a stream of their own, and nodes use their addresses on any stream.
    device = Device()
    device.sync()
    for each in found:
        if each.contents is not None:
            write_bytes(each.address, each.contents)
            each.contents = None
    device.sync()
    return found


def load_array(archive: Archive, row: Row) -> LoadedMemory:
    name, ndim, inner = kind = check_type(row.get("type"), f"the type of {row.where}")
    shape = tuple(row.numbers("shape", max(ndim, 0), 1, 2**31 - 1))
    if ndim < 0 or WORDS[name] * math.prod(shape) * math.prod(inner) != row.number("bytes"):
        fail(row.where, "has other bytes than its type and shape")
    data = None
    if row.get("data") is not None:
        data = archive.blob(row.index("data", archive.manifest["blobs"]))
        if len(data) != row.number("bytes"):
            fail(f"data of {row.where}", f"has {len(data)} bytes")
    array = allocate(row.choice("place", PLACES), dtype_of(kind), shape, row.number("bytes"))
    found = LoadedMemory(array.handle, array.nbytes, array.buffer)
    found.contents = data
    found.array, found.parameter = array, row.get("parameter")
    return found


def dtype_of(kind: tuple[str, int, tuple[int, ...]]) -> Any:
    """Return the type of the elements of an array."""
    name, _, inner = kind
    return VectorType(SCALARS[name], inner) if inner else SCALARS[name]


def allocate(place: str, dtype: Any, shape: tuple[int, ...], size: int) -> NDArray:
    """Return an array of zeros."""
    if place == "device":
        return number_array(dtype, shape, False, False, None)
    resource = PinnedMemoryResource() if place == "host" else ManagedMemoryResource(Device())
    buffer: Buffer = resource.allocate(size)
    write_bytes(buffer.handle, bytes(size))
    return buffer.view(dtype, shape)


def load_words(archive: Archive, row: Row) -> LoadedMemory:
    size = row.number("bytes", 1, MOST_WORDS)
    words = number_array(SCALARS["u8"], (size,), False, False, None)
    return LoadedMemory(words.handle, size, words.buffer)


def load_counter(archive: Archive, row: Row) -> LoadedMemory:
    counter = new_counter(row.number("limit", 1))
    buffer = memory_of_counter(counter)
    if row.number("bytes") != COUNTER_BYTES:
        fail(row.where, f"must have {COUNTER_BYTES} bytes")
    found = LoadedMemory(buffer.handle, buffer.size, buffer)
    found.counter = counter
    return found


LOADERS = {"array": load_array, "words": load_words, "counter": load_counter}
