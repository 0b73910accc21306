# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What code kernels become on each driver, and how the grid of a task is sized there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from cuda_graphs._driver.choice import driver_info, is_told_of_accesses
from cuda_graphs._objects.device import Device
from cuda_graphs._objects.kernel import Kernel
from cuda_graphs.compiler.artifact import TaskInfo
from cuda_graphs.compiler.target_ptx import Ptx
from cuda_graphs.compiler.target_x86 import X86

__all__ = [
    "CODE_TYPES",
    "Shape",
    "current_device",
    "dynamic_shared",
    "memory_may_go",
    "most_blocks",
    "target_named",
    "target_of",
]

# What ObjectCode calls the images of each target.
CODE_TYPES = {"ptx": "ptx", "x86": "native"}


@dataclass(frozen=True)
class Shape:
    """How a parallel task is launched.

    block      threads of a block, unless cg.loop_config says more
    share      iterations that are worth another block; on the host driver a block is a part of the loop, however many
               threads it has, and the driver gives several to one call
    waves      so many times the blocks that run at a time, at most: a second half evens out what the first has left
    gathering  of tasks in which each block has something to do once (TaskInfo.gathers); None: as of others
    uneven     of tasks whose iterations may take very different times (TaskInfo.heavy); None: as of others
    """

    block: int
    share: int
    waves: int = 2
    gathering: Shape | None = None
    uneven: Shape | None = None

    def of(self, info: TaskInfo) -> Shape:
        """The one of a task."""
        found = self.gathering if info.gathers else self.uneven if info.heavy else self
        return self if found is None else found

    def resident(self, kernel: Kernel, info: TaskInfo) -> Residents:
        """How tasks that stay are launched.

        A block of many threads needs no barrier between blocks for what it can do alone, and a grid of few blocks has
        a fast one. Heavy iterations have more of the device in small blocks.
        """
        if self.block == 1:  # a CPU: one thread runs all
            return Residents(1, 1)
        heavy = any(each.heavy for each in info.inside)
        largest = info.block_dim or (HEAVY if heavy else LARGEST)
        multiprocessors = current_device().properties.multiprocessor_count
        for block in (largest,) if info.blocks else (largest, *range((largest - 1) // WARP * WARP, 0, -WARP)):
            each = kernel.occupancy.max_active_blocks_per_multiprocessor(block, 0)
            if each:
                return Residents(block, each * multiprocessors)
        raise AssertionError(f"{kernel.name} fits no block")


class Residents(NamedTuple):
    """`block` threads of a block, and how many blocks there may be at the same time."""

    block: int
    most: int


WARP = 32
LARGEST = 1024  # threads of a block on every GPU
HEAVY = 256  # of a block whose iterations are heavy


def current_device() -> Device:
    """The current device, which a thread that has not used it yet makes current."""
    device = Device()
    if device._context is None:
        device.set_current()
    return device


def dynamic_shared(kernel: Kernel, info: TaskInfo) -> int:
    """How many bytes a launch of the task asks for, which the kernel is made to allow.

    Raises:
        ValueError: The device has less.
    """
    if info.dynamic_bytes == 0:
        return 0
    device = current_device()
    most = device.properties.max_shared_memory_per_block_optin - kernel.attributes.shared_size_bytes
    if info.dynamic_bytes > most:
        raise ValueError(
            f"line {info.line}: the blocks of this loop share {info.dynamic_bytes} bytes, and device "
            f"{device.device_id} has {most} for them: take smaller tiles, or a smaller type"
        )
    kernel.attributes.max_dynamic_shared_size_bytes = info.dynamic_bytes
    return info.dynamic_bytes


def most_blocks(kernel: Kernel, block: int, shared: int, waves: int) -> int:
    """As many blocks as run at a time, so many times."""
    resident = kernel.occupancy.max_active_blocks_per_multiprocessor(block, shared)
    return max(1, waves * resident * current_device().properties.multiprocessor_count)


def memory_may_go() -> bool:
    """Whether memory of an array is given back while work of other streams uses it. Managed memory, all that the host
    driver has, is given back after all work of the device."""
    return not current_device().properties.direct_managed_mem_access_from_host


def ptx_of_device(fast_math: bool) -> Ptx:
    """PTX for the current device, of a version that its driver knows."""
    from cuda.pathfinder import find_bitcode_lib

    return Ptx(fast_math, f"sm_{Device().arch}", isa_of(driver_info().version), find_bitcode_lib("device"))


# The PTX ISA that came with each CUDA (PTX ISA, "Release Notes"), as far as LLVM 22 writes it.
ISA = {
    (11, 8): 78,
    **{(12, minor): 80 + minor for minor in range(6)},
    **{(12, minor): 79 + minor for minor in range(7, 10)},
}


def isa_of(version: tuple[int, int]) -> int:
    """The newest PTX that a driver of this CUDA version knows."""
    return max((isa for since, isa in ISA.items() if since <= version), default=min(ISA.values()))


def x86_of_driver(fast_math: bool) -> X86:
    """This CPU; code that tells of its accesses, where the host driver looks for bugs."""
    return X86(fast_math, is_told_of_accesses())


# By the driver's kind.
TARGETS: dict[str, tuple[Callable[[bool], Any], Shape]] = {
    "cuda": (
        ptx_of_device,
        Shape(128, 128, gathering=Shape(512, 2048, waves=1), uneven=Shape(128, 128, waves=8)),
    ),
    "host": (x86_of_driver, Shape(block=1, share=128)),
}


def target_of(fast_math: bool) -> tuple[Any, Shape]:
    """The target of the compiler for the driver of this process, and how its tasks are launched."""
    make, shape = TARGETS[driver_info().kind]
    return make(fast_math), shape


def target_named(name: str | None, fast_math: bool) -> Any:
    """A target by its name, "x86" or "ptx"; None for that of the driver of this process.

    Raises:
        ValueError: There is no such target.
    """
    if name is None:
        return target_of(fast_math)[0]
    if name not in CODE_TYPES:
        raise ValueError(f"target must be one of {', '.join(CODE_TYPES)}, got {name!r}")
    return ptx_of_device(fast_math) if name == "ptx" else X86(fast_math)
