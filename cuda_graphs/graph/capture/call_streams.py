# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The streams on which `capture_call` calls functions.

Libraries remember the stream of a call after it: PyTorch has a workspace of cuBLAS for each stream, and nvmath-python
frees a workspace in the order of the stream. Therefore these streams live until the process ends, as contexts do. A
stream belongs to one captured call as long as the graph with the call, or an executable of it, lives. So two graphs
never share what a library keeps for a stream. Then the stream is idle, and the next call takes it.
"""

from __future__ import annotations

from cuda_graphs.errors import CUDAError
from cuda_graphs.objects.device.context import Context
from cuda_graphs.objects.device.device import Device
from cuda_graphs.objects.device.stream import Stream

__all__ = ["Lease", "count_idle", "lease"]

idle: dict[Context, list[Stream]] = {}


class Lease:
    """A stream that is used by one captured call. With the last reference to the lease the stream becomes idle."""

    __slots__ = ("_home", "stream")

    def __init__(self, stream: Stream, home: list[Stream]) -> None:
        self.stream = stream
        self._home = home

    def __del__(self) -> None:
        self._home.append(self.stream)


def lease(device: Device) -> Lease:
    """Return a lease of an idle stream in the device's context, or of a new one.

    Raises:
        CUDAError: The device has not been made current on this thread, or a stream cannot be created.
    """
    home = idle.setdefault(device.context, [])
    return Lease(take(home) or device.create_stream(), home)


def count_idle() -> int:
    """Return the number of idle streams."""
    return sum(map(len, idle.values()))


def take(home: list[Stream]) -> Stream | None:
    """Remove an idle stream and return it. Drops streams that a function has left in a capture or closed, and those
    whose context other code has destroyed."""
    while home:
        try:
            stream = home.pop()
        except IndexError:  # another thread has taken the last one
            break
        if is_usable(stream):
            return stream
    return None


def is_usable(stream: Stream) -> bool:
    try:
        return isinstance(stream.is_nonblocking, bool)
    except (RuntimeError, CUDAError):
        return False
