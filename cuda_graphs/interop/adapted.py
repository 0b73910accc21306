# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The common part of the adapters: both plug-in protocols, and arguments that keep the memory they point to
alive.

An adapter defines how its library's kernel becomes a Kernel, and how values become one argument for each
parameter that the driver reports. Checks of widths, named parameters and lifetimes are those of any Kernel.
"""

from __future__ import annotations

import copy
import ctypes
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from cuda_graphs.objects.code.arguments import is_known_memory
from cuda_graphs.objects.code.kernel import Kernel
from cuda_graphs.objects.code.launch_config import LaunchConfig
from cuda_graphs.objects.memory.array_view import ArrayView, view_array

__all__ = ["Adapted", "address_of", "checked_view", "cooperative", "needs_shared"]

# The bytes of dynamic shared memory that a kernel may use by default (CUDA Programming Guide, "Shared
# Memory").
USUAL_SHARED = 48 * 1024


class Adapted(ABC):
    """A kernel of another library, usable in place of a `Kernel`.

    `launch` of streams and nodes takes it with a LaunchConfig, or with None when the kernel has a
    configuration: ``adapted[grid, block]``, ``adapted[grid, block, shared bytes]`` or
    ``adapted[LaunchConfig]``, which ``node.call(adapted[...], *args)`` takes too. Its arguments are those of
    a launch by its own library.

    Nodes keep the compiled code and the arrays alive.
    """

    library: str  # name of the kernel's library
    usage = "adapted[grid, block]"

    def __init__(self, kernel: Any, name: str) -> None:
        self.kernel, self.name = kernel, name
        self.config: Any = None

    def __getitem__(self, config: Any) -> Adapted:
        """Return the same kernel with a launch configuration."""
        bound = copy.copy(self)
        bound.config = self._read_config(config)
        return bound

    def __cuda_graph_kernel__(
        self, config: LaunchConfig | Mapping[str, Any] | None, args: tuple[Any, ...]
    ) -> tuple[LaunchConfig, Kernel, tuple[Any, ...]]:
        """Return (config, Kernel, arguments) of one launch."""
        if config is not None and self.config is not None:
            raise ValueError(
                f"{self!r} has a launch configuration: pass None, or another configuration in brackets"
            )
        if config is None and self.config is None:
            raise ValueError(f"{self!r} has no launch configuration: give one, or write {self.usage}")
        config, kernel, args = self._launch(
            self.config if config is None else self._read_config(config), args
        )
        return config, kernel, with_widths(kernel, args)

    def __cuda_graph_emit__(self, node: Any, args: tuple[Any, ...]) -> Any:
        """Add a KernelNode after `node`."""
        return node.launch(None, self, *args)

    def _read_config(self, config: Any) -> Any:
        if isinstance(config, LaunchConfig):
            return config
        if isinstance(config, Mapping):
            return LaunchConfig(**config)
        if not isinstance(config, tuple) or len(config) not in (2, 3):
            raise TypeError(
                f"{self.usage} takes a LaunchConfig, or (grid, block) and bytes of shared memory, got {config!r}"
            )
        return LaunchConfig(grid=config[0], block=config[1], shmem_size=config[2] if config[2:] else None)

    @abstractmethod
    def _launch(self, config: Any, args: tuple[Any, ...]) -> tuple[LaunchConfig, Kernel, tuple[Any, ...]]: ...

    def __repr__(self) -> str:
        return f"<{self.library} kernel {self.name}{'' if self.config is None else f' with {self.config!r}'}>"


class Address(ctypes.c_uint64):
    """An address as an argument; `owner` keeps its memory alive."""

    owner: Any


# Bytes -> type of a number of that width.
WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
FLOATS = {2: np.float16, 4: np.float32, 8: np.float64}
COMPLEX = {8: np.complex64, 16: np.complex128}


def with_widths(kernel: Kernel, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Give Python numbers the widths of the kernel's parameters, whose types the kernel does not tell."""
    sizes = [each.size for each in kernel.arguments_info]
    if len(sizes) != len(args):  # the launch raises the error
        return args
    return tuple(with_width(value, size) for value, size in zip(args, sizes))


def with_width(value: Any, size: int) -> Any:
    if type(value) in (int, bool) and size in WORDS:
        if not -(1 << (8 * size - 1)) <= value < 1 << (8 * size):
            raise OverflowError(f"{value} does not fit a parameter of {size} bytes")
        return WORDS[size](value % (1 << 8 * size))
    if type(value) is float and size in FLOATS:
        return FLOATS[size](value)
    return COMPLEX[size](value) if type(value) is complex and size in COMPLEX else value


def address_of(address: int, owner: Any) -> Address:
    """Return an address as an argument."""
    found = Address(address)
    found.owner = owner
    return found


def checked_view(value: Any, what: str) -> ArrayView | None:
    """Return a view of an array, or None when `value` is not an array.

    Raises:
        TypeError: The device cannot access the memory.
    """
    view = view_array(value, what)
    if view is not None and not is_known_memory(view.address):
        raise TypeError(
            f"{what} is a {type(value).__name__} in memory of the host, which the device cannot reach: pass an array "
            "of the device, or in managed or pinned memory"
        )
    return view


def cooperative(config: LaunchConfig) -> LaunchConfig:
    """Return the same configuration for a cooperative launch, whose blocks can wait for each other."""
    if config.is_cooperative:
        return config
    changed = copy.copy(config)
    changed.is_cooperative = True
    return changed


def needs_shared(kernel: Kernel, size: int, allowed: int) -> None:
    """Allow a kernel more dynamic shared memory than the default, up to `allowed` bytes."""
    if size > USUAL_SHARED:
        kernel.attributes.max_dynamic_shared_size_bytes = allowed
