# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The memory of a definition that is saved: arrays that the caller names, words of loops and of kernels, and memory of
alloc nodes. An address becomes a reference: a row of the table `memory`, or an alloc node, and an offset.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Any, NamedTuple

from cuda_graphs.graph.nodes.restoring import read_bytes
from cuda_graphs.kernels.arrays.ndarray import NDArray
from cuda_graphs.kernels.arrays.struct_array import StructArray
from cuda_graphs.objects.code.arguments import is_known_memory
from cuda_graphs.objects.device.device import Device
from cuda_graphs.objects.memory.array_view import packed_strides, view_array
from cuda_graphs.objects.memory.buffer import Buffer
from cuda_graphs.objects.memory.memory_resource import ManagedMemoryResource, PinnedMemoryResource

from .codes import Blobs

__all__ = ["Memory", "NamedArray", "named_array", "parts_of"]

RESOURCES: dict[type, str] = {PinnedMemoryResource: "host", ManagedMemoryResource: "managed"}
LETTERS = {"i": "i", "u": "u", "f": "f", "b": "bool"}


class NamedArray(NamedTuple):
    """An array that the caller of `save` names.

    Attributes:
        address, size: Its memory, in bytes.
        type: [name, dimensions, shape of an element], a type of the manifest.
        shape: Its extents.
        place: "device", "host" or "managed".
    """

    address: int
    size: int
    type: list[Any]
    shape: tuple[int, ...]
    place: str


def parts_of(value: Any) -> Iterator[Any]:
    """Yield the arrays that an array of structures consists of, or an array itself."""
    if not isinstance(value, StructArray):
        yield value
    elif value._whole is not None:
        yield value._whole
    else:
        for member in value.members.values():
            yield from parts_of(member)


def named_array(value: Any, what: str) -> NamedArray:
    """Return the array that a caller gives as an input, an output, or for its contents.

    Raises:
        TypeError: It is no array or Buffer, has elements without a name, or is in pageable host memory.
        ValueError: It is empty, has gaps, or is memory of an alloc node.
    """
    if isinstance(value, StructArray):
        members = ", ".join(value.members)
        raise TypeError(
            f"{what} is an array of structures, and no parameter of a graph takes one: name it in include, or with the "
            f"layout 'soa' its members ({members})"
        )
    if isinstance(value, Buffer):
        return NamedArray(value.handle, value.size, ["u8", 1, []], (value.size,), place_of(value))
    view = None if isinstance(value, (int, float, str, bytes)) else view_array(value, what)
    if view is None:
        raise TypeError(f"{what} must be an array or a Buffer, got {value!r} ({type(value).__name__})")
    if view.node is not None:
        raise ValueError(f"{what} is memory of an alloc node, which each launch allocates: leave it out")
    size = view.itemsize * math.prod(view.shape)
    if size == 0:
        raise ValueError(f"{what} is an empty array of shape {view.shape}")
    if view.strides != packed_strides(view.shape, view.itemsize):
        raise ValueError(
            f"{what} must be in C order without gaps, got strides {view.strides}: name the whole array"
        )
    if not is_known_memory(view.address):
        raise TypeError(
            f"{what} is a {type(value).__name__} in pageable host memory, which no graph uses: name an array in pinned "
            "memory or on the device"
        )
    inner = value.element_shape if isinstance(value, NDArray) else ()
    shape = view.shape[: len(view.shape) - len(inner)]
    place = place_of(value.buffer) if isinstance(value, NDArray) else place_of_array(value)
    return NamedArray(
        view.address, size, [name_of_elements(value, view, what), len(shape), list(inner)], shape, place
    )


def place_of(buffer: Buffer) -> str:
    """Return the place of a Buffer's memory. It is "device" for all memory that `ndarray` allocates, on each driver."""
    resource = buffer.memory_resource
    if (
        isinstance(resource, ManagedMemoryResource)
        and Device().properties.direct_managed_mem_access_from_host
    ):
        return "device"  # managed memory stands for it there
    return next((place for kind, place in RESOURCES.items() if isinstance(resource, kind)), "device")


def place_of_array(value: Any) -> str:
    """Return the place of an array of another library: host memory, unless it has the protocol of devices."""
    return "device" if hasattr(value, "__cuda_array_interface__") else "host"


def name_of_elements(value: Any, view: Any, what: str) -> str:
    """Return the name of the type of an array's elements. NumPy and array interfaces have none for bfloat16."""
    if isinstance(value, NDArray):
        return str(value.dtype.name)
    if view.is_bfloat16 or str(getattr(value, "dtype", "")).endswith("bfloat16"):
        return "bf16"
    letter = LETTERS.get(view.dtype[1:2]) if view.dtype[:1] != ">" else None
    if letter is None:
        raise TypeError(
            f"{what} has elements of {view.dtype or 'an unknown type'}, which parameters do not have"
        )
    return letter if letter == "bool" else f"{letter}{8 * view.itemsize}"


class Memory:
    """The table `memory`, and the addresses of its rows and of alloc nodes."""

    def __init__(self, blobs: Blobs) -> None:
        self.rows: list[dict[str, Any]] = []
        self._blobs = blobs
        self._starts: list[int] = []
        self._ranges: list[tuple[int, int, list[Any]]] = []  # (start, end, reference), sorted

    def find(self, address: int) -> list[Any] | None:
        """Return the reference to an address, or None."""
        at = bisect_right(self._starts, address) - 1
        if at < 0 or address >= self._ranges[at][1]:
            return None
        start, _, (kind, number) = self._ranges[at]
        return [kind, number, address - start]

    def is_address(self, value: int) -> bool:
        """Return whether an unsigned number is an address of memory of the file, or of other memory of the driver."""
        return value > 0 and (self.find(value) is not None or is_known_memory(value))

    def add_array(self, array: NamedArray, what: str, has_contents: bool) -> int:
        """Return the number of the row of an array.

        Raises:
            ValueError: It shares memory with another array, but not all of it.
        """
        same = self.find(array.address)
        if same is not None and same[0] == "m":
            row = self.rows[same[1]]
            if same[2] or row.get("type") != array.type or row["shape"] != list(array.shape):
                raise ValueError(f"{what} shares memory with another named array: name the larger one alone")
            number: int = same[1]
        else:
            number = len(self.rows)
            self._insert(array.address, array.size, ["m", number], what)
            self.rows.append(
                {
                    "kind": "array",
                    "bytes": array.size,
                    "type": array.type,
                    "shape": list(array.shape),
                    "place": array.place,
                    "parameter": None,
                    "data": None,
                }
            )
        if has_contents:
            Device().sync()  # work on any stream may write the array
            self.rows[number]["data"] = self._blobs.add(read_bytes(array.address, array.size))
        return number

    def add_words(self, address: int, size: int) -> list[Any]:
        """Return a reference to memory that kernels need for themselves, zero at first."""
        found = self.find(address)
        if found is None:
            number = len(self.rows)
            self._insert(address, size, ["m", number], "memory of a kernel")
            self.rows.append({"kind": "words", "bytes": size})
            found = ["m", number, 0]
        return found

    def add_counter(self, counter: Any, memory: Buffer) -> int:
        """Return the number of the row of the counter of a loop."""
        self.rows.append({"kind": "counter", "bytes": memory.size, "limit": counter.limit})
        self._insert(memory.handle, memory.size, ["m", len(self.rows) - 1], "the counter of a loop")
        return len(self.rows) - 1

    def add_alloc(self, address: int, size: int, number: int) -> None:
        """Add the memory of an alloc node, which may have addresses of older ones that were freed before it.

        Raises:
            ValueError: An array that was added is in this memory.
        """
        found = self.find(address)
        if found is not None and found[0] == "m":
            raise ValueError(
                "an array in inputs, outputs or include is memory of an alloc node, which each launch allocates: "
                "leave it out"
            )
        self._drop_freed(address, size)
        self._insert(address, size, ["a", number], "memory of an alloc node")

    def _drop_freed(self, start: int, size: int) -> None:
        """Drop the alloc nodes that have memory in a range, which were freed."""
        first, last = max(0, bisect_right(self._starts, start) - 1), bisect_left(self._starts, start + size)
        for at in reversed(range(first, last)):
            _, end, reference = self._ranges[at]
            if reference[0] == "a" and end > start:
                del self._starts[at], self._ranges[at]

    def _insert(self, start: int, size: int, reference: list[Any], what: str) -> None:
        at = bisect_right(self._starts, start)
        before = at > 0 and self._ranges[at - 1][1] > start
        if before or (at < len(self._starts) and self._starts[at] < start + size):
            raise ValueError(f"{what} shares memory with another named array: name the larger one alone")
        self._starts.insert(at, start)
        self._ranges.insert(at, (start, start + size, reference))
