# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Kept states: copies of the arrays that the kernels of a tape write, as they were after one of its steps.

An array that did not change between two kept states has one copy in both. A copy is made and read in the order of one
stream at a time: work on another stream waits for the work of the stream before it.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from cuda_graphs.kernels.arrays.tensors import is_tensor, wait_for_stream
from cuda_graphs.objects.device.device import current_device
from cuda_graphs.objects.device.stream import Stream
from cuda_graphs.objects.memory.buffer import Buffer
from cuda_graphs.objects.memory.memory_resource import SynchronousMemoryResource

__all__ = ["KeptStates", "Memory", "State", "StreamOrder"]


class Memory:
    """Memory that kernels write. Subclasses copy it.

    Attributes:
        begin, end: The addresses of the first byte and behind the last byte.
        change: The number of the call that wrote it last; -1 before the first one.
    """

    begin: int
    end: int

    def __init__(self, owner: Any) -> None:
        self.owner, self.change = owner, -1
        self.copies: weakref.WeakValueDictionary[int, Copy] = weakref.WeakValueDictionary()
        self.spare: list[Any] = []  # memory of copies that are no longer kept

    @property
    def size(self) -> int:
        """The bytes of a copy."""
        return self.end - self.begin

    def allocate(self, stream: Stream, captured: bool) -> Any:
        """Return memory for a copy, or None if `read` makes it."""
        return None

    def read(self, to: Any, stream: Stream) -> Any:
        """Return a copy of the contents, in `to` if it is not None."""
        raise NotImplementedError

    def write(self, values: Any, stream: Stream) -> None:
        """Set the contents to those of a copy."""
        raise NotImplementedError


class DeviceMemory(Memory):
    """The memory of an NDArray."""

    def __init__(self, owner: Buffer) -> None:
        super().__init__(owner)
        self.begin, self.end = owner.handle, owner.handle + owner.size

    def allocate(self, stream: Stream, captured: bool) -> Any:
        device = current_device()
        # The nodes of a graph keep the memory of their copies.
        resource = SynchronousMemoryResource(device) if captured else device.memory_resource
        return resource.allocate(self.size, stream=stream)

    def read(self, to: Any, stream: Stream) -> Any:
        if self.size:
            to.copy_from(self.owner, stream=stream)
        return to

    def write(self, values: Any, stream: Stream) -> None:
        if self.size:
            self.owner.copy_from(values, stream=stream)


class HostMemory(Memory):
    """The memory of a NumPy array."""

    def __init__(self, owner: np.ndarray) -> None:
        super().__init__(owner)
        self.begin, self.end = span_of(owner.ctypes.data, owner.itemsize, owner.shape, owner.strides)

    def read(self, to: Any, stream: Stream) -> Any:
        current_device().sync()
        return self.owner.copy()

    def write(self, values: Any, stream: Stream) -> None:
        current_device().sync()
        self.owner[...] = values


class TensorMemory(Memory):
    """The memory of a PyTorch tensor."""

    def __init__(self, owner: Any) -> None:
        super().__init__(owner.detach())
        size = owner.element_size()
        self.begin, self.end = span_of(
            owner.data_ptr(), size, owner.shape, [size * each for each in owner.stride()]
        )

    def read(self, to: Any, stream: Stream) -> Any:
        current_device().sync()
        found = self.owner.clone()
        wait_for_stream(found)
        return found

    def write(self, values: Any, stream: Stream) -> None:
        current_device().sync()
        self.owner.copy_(values)
        wait_for_stream(self.owner)


def span_of(address: int, size: int, shape: Sequence[int], strides: Sequence[int]) -> tuple[int, int]:
    """Return the first address of an array and the address behind it. Strides are in bytes and may be negative."""
    if 0 in shape:
        return address, address
    steps = [(extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)]
    return address + sum(min(each, 0) for each in steps), address + sum(max(each, 0) for each in steps) + size


# The copy of each kind of memory.
KINDS: tuple[tuple[Callable[[Any], bool], type[Memory]], ...] = (
    (lambda owner: isinstance(owner, Buffer), DeviceMemory),
    (lambda owner: isinstance(owner, np.ndarray), HostMemory),
    (is_tensor, TensorMemory),
)


class Copy:
    """The contents that a Memory had from the call number `change` on."""

    def __init__(self, of: Memory, values: Any) -> None:
        self.of, self.change, self.values = of, of.change, values


class State:
    """The contents of all written memory after a step.

    Attributes:
        position: The number of the step.
        copies: The Copy of each Memory.
    """

    def __init__(self, position: int) -> None:
        self.position = position
        self.copies: dict[Memory, Copy] = {}


class StreamOrder:
    """Orders work on several streams: the work of each stream follows the work before it."""

    def __init__(self) -> None:
        self.last: Stream | None = None
        self.used: dict[Stream, None] = {}

    def enter(self, stream: Stream) -> None:
        """Order the next work, which is on this stream."""
        if self.last is not None and stream != self.last:
            stream.wait(self.last)
        self.last = stream
        self.used[stream] = None

    def end(self) -> None:
        """Make all streams wait for the last one, so that memory of any of them may be released."""
        for stream in self.used:
            if self.last is not None and stream != self.last:
                stream.wait(self.last)


class KeptStates:
    """All memory that a tape knows as written, and its kept states in ascending order.

    Attributes:
        memories: The Memory objects in the order in which they were found. One may lie inside of a later one.
        states: The kept states, without the results.
        bytes: The bytes of all copies now.
        most_bytes: The most bytes at any time.
        most_states: The most states at any time, with the results.
        captured: Whether copies are nodes of a graph.
    """

    def __init__(self) -> None:
        self.memories: list[Memory] = []
        self.states: list[State] = []
        self.results: State | None = None
        self.order = StreamOrder()
        self.captured = False
        self.bytes = self.most_bytes = self.most_states = 0
        self.held: dict[Copy, int] = {}  # number of states of each copy
        self.known: dict[
            tuple[int, int], list[Memory]
        ] = {}  # memories that overlap a Buffer, by its address and size

    @property
    def state_bytes(self) -> int:
        """The bytes of a state that shares no copies."""
        return sum(each.size for each in self.memories)

    def find(self, owner: Any) -> tuple[Memory | None, list[Memory]]:
        """Return the new Memory of an array, if the known ones do not contain it, and all that overlap it.

        Raises:
            TypeError: The array is of a library whose arrays cannot be copied, or cannot be copied in a graph.
        """
        key = (owner.handle, owner.size) if isinstance(owner, Buffer) else None
        if key in self.known:
            return None, self.known[key]
        kind = next((made for is_kind, made in KINDS if is_kind(owner)), None)
        if self.captured and kind is not DeviceMemory:
            raise TypeError(
                f"a captured Tape with max_states keeps copies of cg.ndarray and cg.field in its graph, and none of a "
                f"{type(owner).__name__}: pass a cg.ndarray"
            )
        if kind is None:
            raise TypeError(
                f"a Tape with max_states copies arrays that kernels write: pass a cg.ndarray, cg.field, NumPy array or "
                f"PyTorch tensor, not a {type(owner).__name__}"
            )
        new = kind(owner)
        overlapping = [each for each in self.memories if each.begin < new.end and new.begin < each.end]
        if any(each.begin <= new.begin and new.end <= each.end for each in overlapping):
            if key is not None:
                self.known[key] = overlapping
            return None, overlapping
        self.known.clear()
        return new, [*overlapping, new]

    def complete(self, new: Memory, stream: Stream) -> None:
        """Add the contents of new memory, before it is written for the first time, to all kept states."""
        for state in self.states:
            self.hold(state, self.copy(new, stream))

    def keep(self, position: int, stream: Stream) -> State:
        """Keep the present contents as a state, the last one."""
        state = self.state(position, stream)
        self.states.append(state)
        self.most_states = max(self.most_states, len(self.states) + (self.results is not None))
        return state

    def keep_results(self, stream: Stream) -> None:
        """Keep the present contents, which `end` restores."""
        self.results = self.state(-1, stream)
        self.most_states = max(self.most_states, len(self.states) + 1)

    def state(self, position: int, stream: Stream) -> State:
        state = State(position)
        for memory in self.memories:
            self.hold(state, self.copy(memory, stream))
        return state

    def copy(self, memory: Memory, stream: Stream) -> Copy:
        """Return a copy of the present contents, which may exist."""
        found = memory.copies.get(memory.change)
        if found is None:
            self.order.enter(stream)
            to = memory.spare.pop() if memory.spare else memory.allocate(stream, self.captured)
            found = memory.copies[memory.change] = Copy(memory, memory.read(to, stream))
        return found

    def hold(self, state: State, copy: Copy) -> None:
        state.copies[copy.of] = copy
        self.held[copy] = self.held.get(copy, 0) + 1
        if self.held[copy] == 1:
            self.bytes += copy.of.size
            self.most_bytes = max(self.most_bytes, self.bytes)

    def give_up(self, index: int) -> None:
        """Drop the kept state with this index."""
        self.drop(self.states.pop(index))

    def drop(self, state: State) -> None:
        for copy in state.copies.values():
            self.held[copy] -= 1
            if not self.held[copy]:
                del self.held[copy]
                self.bytes -= copy.of.size
                del copy.of.copies[copy.change]
                if isinstance(copy.of, DeviceMemory):
                    copy.of.spare.append(copy.values)

    def restore(self, state: State, stream: Stream) -> None:
        """Set all memory to the contents of a state.

        A memory that was found late may contain an earlier one, whose contents are exact: the earlier one is written
        last.
        """
        self.order.enter(stream)
        stale = [memory for memory in self.memories if memory.change != state.copies[memory].change]
        for memory in reversed(self.memories):
            if any(memory.begin < each.end and each.begin < memory.end for each in stale):
                memory.write(state.copies[memory].values, stream)
                memory.change = state.copies[memory].change

    def note_writes(self, memories: Iterable[Memory], call: int) -> None:
        """Note that the call with this number has written memory."""
        for each in memories:
            each.change = call

    def end(self, stream: Stream) -> None:
        """Restore the results, if they were kept, and release all copies."""
        if self.results is not None:
            self.restore(self.results, stream)
        self.release()

    def release(self) -> None:
        """Release all copies, when the work with them is done."""
        self.order.end()
        self.states.clear()
        self.held.clear()
        self.results, self.bytes = None, 0
        for each in self.memories:
            each.spare.clear()
