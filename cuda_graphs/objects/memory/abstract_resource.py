# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The base classes of memory resources."""

from __future__ import annotations

from typing import Any

__all__ = ["MemoryResource", "SelfFreeingResource"]


class MemoryResource:
    """The base of all memory resources. A subclass defines `allocate`, `deallocate` and the three properties.

    `allocate` returns ``Buffer.from_handle(address, size, mr=self)``; `deallocate` is called once for each such Buffer.
    """

    def allocate(self, size: int, *, stream: Any = None) -> Any:
        """Return a Buffer of `size` bytes, usable in the order of `stream`."""
        raise TypeError(f"{type(self).__name__}.allocate is abstract")

    def deallocate(self, ptr: int, size: int, *, stream: Any) -> None:
        """Free memory after the work that `stream` holds so far."""
        raise TypeError(f"{type(self).__name__}.deallocate is abstract")

    @property
    def is_device_accessible(self) -> bool:
        """True when kernels can use the memory."""
        raise TypeError(f"{type(self).__name__}.is_device_accessible is abstract")

    @property
    def is_host_accessible(self) -> bool:
        """True when the host can use the memory."""
        raise TypeError(f"{type(self).__name__}.is_host_accessible is abstract")

    @property
    def device_id(self) -> int:
        """The number of the device that has the memory."""
        raise TypeError(f"{type(self).__name__}.device_id is abstract")


class SelfFreeingResource(MemoryResource):
    """The base of the resources of this package, whose Buffers free themselves."""

    def deallocate(self, ptr: int, size: int, *, stream: Any) -> None:
        """Raise TypeError: Buffers of this resource free themselves."""
        raise TypeError(f"Buffers of a {type(self).__name__} free themselves; close them instead")
