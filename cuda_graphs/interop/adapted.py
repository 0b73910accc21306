# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What the adapters share: both plug-in protocols, and arguments that know who owns the memory they point to.

An adapter says how its library's kernel becomes a Kernel, and how values become what that takes: one value for each
parameter that the driver knows. All else, the checks of widths, named parameters and who keeps what alive, is done as
for any Kernel.
"""

from __future__ import annotations

import copy
import ctypes
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from cuda_graphs._objects.arguments import is_known_memory
from cuda_graphs._objects.array_view import ArrayView, view_array
from cuda_graphs._objects.kernel import Kernel
from cuda_graphs._objects.launch_config import LaunchConfig

__all__ = ["Adapted", "address_of", "checked_view", "cooperative", "needs_shared"]

# Of dynamic shared memory, a kernel has so many bytes without asking (CUDA Programming Guide, "Shared Memory").
USUAL_SHARED = 48 * 1024


class Adapted(ABC):
    """A kernel of another library, which stands where a `Kernel` does.

    In `launch` of streams and nodes it is given with a LaunchConfig, or with None where it has its own:
    ``adapted[grid, block]``, ``adapted[grid, block, shared bytes]`` or ``adapted[LaunchConfig]``, which
    ``node.call(adapted[...], *args)`` takes too. It takes the arguments that a launch by its own library takes.

    Nodes keep the compiled code and the arrays.
    """

    library: str  # that the kernel is of
    usage = "adapted[grid, block]"

    def __init__(self, kernel: Any, name: str) -> None:
        self.kernel, self.name = kernel, name
        self.config: Any = None

    def __getitem__(self, config: Any) -> Adapted:
        """The same kernel with a launch configuration of its own."""
        bound = copy.copy(self)
        bound.config = self._read_config(config)
        return bound

    def __cuda_graph_kernel__(
        self, config: LaunchConfig | Mapping[str, Any] | None, args: tuple[Any, ...]
    ) -> tuple[LaunchConfig, Kernel, tuple[Any, ...]]:
        """(config, Kernel, arguments) of one launch."""
        if config is not None and self.config is not None:
            raise ValueError(f"{self!r} has a launch configuration: give it None, or another one in brackets")
        if config is None and self.config is None:
            raise ValueError(f"{self!r} has no launch configuration: give one, or write {self.usage}")
        return self._launch(self.config if config is None else self._read_config(config), args)

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
    """An address among the arguments; `owner` keeps the memory."""

    owner: Any


def address_of(address: int, owner: Any) -> Address:
    """An address as an argument."""
    found = Address(address)
    found.owner = owner
    return found


def checked_view(value: Any, what: str) -> ArrayView | None:
    """The memory of an array; None for what is no array.

    Raises:
        TypeError: The device does not reach it.
    """
    view = view_array(value, what)
    if view is not None and not is_known_memory(view.address):
        raise TypeError(
            f"{what} is a {type(value).__name__} in memory of the host, which the device cannot reach: pass an array "
            "of the device, or in managed or pinned memory"
        )
    return view


def cooperative(config: LaunchConfig) -> LaunchConfig:
    """The same, of blocks that wait for one another."""
    if config.is_cooperative:
        return config
    changed = copy.copy(config)
    changed.is_cooperative = True
    return changed


def needs_shared(kernel: Kernel, size: int, allowed: int) -> None:
    """Have a kernel run with more dynamic shared memory than kernels usually may, if its library allows that."""
    if size > USUAL_SHARED:
        kernel.attributes.max_dynamic_shared_size_bytes = allowed
