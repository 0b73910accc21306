# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The sizes of grids on each driver."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from cuda_graphs.core.driver.choice import driver_info
from cuda_graphs.objects.device.device import current_device

if TYPE_CHECKING:
    from cuda_graphs.compiler.artifact import TaskInfo
    from cuda_graphs.objects.code.kernel import Kernel
    from cuda_graphs.objects.code.launch_config import LaunchConfig

__all__ = [
    "EarlyLimit",
    "Shape",
    "dynamic_shared",
    "early_limit",
    "fitting_block",
    "max_blocks",
    "may_release_during_work",
    "shape_of_driver",
]


class Shape(NamedTuple):
    """The launch parameters of a parallel task.

    block      threads of a block, unless cg.loop_config sets them
    share      iterations for each block; on the host driver, a block is a part of the loop, regardless of its threads,
               and the driver runs several blocks in one call
    waves      largest number of blocks, as a multiple of the resident blocks; a second wave balances the load
    gathering  Shape of tasks whose blocks have a fixed cost each (TaskInfo.has_sums); None for this Shape
    unordered  iterations from which on several blocks or calls run a loop, so that the order of sums is not fixed
    together   tasks from which on calls of a kernel launch one graph, though it is no graph kernel; None: never
    uneven     Shape of tasks whose iterations may take very different times (TaskInfo.heavy); None for this Shape. Its
               many waves are for loops whose number of iterations is known: blocks without an iteration take time too
    """

    block: int
    share: int
    waves: int = 2
    unordered: int = 1 << 16
    gathering: Shape | None = None
    uneven: Shape | None = None
    together: int | None = None

    def of(self, info: TaskInfo) -> Shape:
        """Return the Shape of a task."""
        is_known = info.iterations is not None or info.axes is not None
        found = self.gathering if info.has_sums else self.uneven if info.heavy and is_known else self
        return self if found is None else found

    def resident(self, kernel: Kernel, info: TaskInfo) -> ResidentShape:
        """Return the launch parameters of resident tasks.

        Large blocks are the default: a single block needs no barrier between blocks, and the barrier of a grid with few
        blocks is fast. Heavy iterations use small blocks, which occupy more of the device.
        """
        if self.block == 1:  # the host driver: one thread runs all iterations
            return ResidentShape(1, 1)
        heavy = any(each.heavy for each in info.resident_tasks)
        largest = info.block_dim or (HEAVY if heavy else LARGEST)
        multiprocessors = current_device().properties.multiprocessor_count
        for block in (
            (largest,) if info.fixed_block_dim else (largest, *range((largest - 1) // WARP * WARP, 0, -WARP))
        ):
            each = kernel.occupancy.max_active_blocks_per_multiprocessor(block, 0)
            if each:
                most = current_device().properties.max_threads_per_multiprocessor
                is_sparse = 2 * each * block <= most
                return ResidentShape(block, each * multiprocessors, is_sparse, LONE_BYTES, MANY_TASKS)
        raise AssertionError(f"{kernel.name} fits no block")


class ResidentShape(NamedTuple):
    """The launch parameters of resident tasks.

    Attributes:
        block: Threads of a block.
        max_blocks: Largest number of blocks that are on the device at the same time.
        is_sparse: Whether the registers of the launch leave half of the threads of the device or more without work.
        lone_bytes: The most bytes that a loop may access to be faster in one block than in several.
        many_tasks: The least parallel tasks of a loop of the graph that are faster as nodes, if their iterations
            need several blocks but not the whole device; None for no number of tasks.
    """

    block: int
    max_blocks: int
    is_sparse: bool = False
    lone_bytes: int = 0
    many_tasks: int | None = None

    def lone_iterations(self, info: TaskInfo) -> int:
        """Return the most iterations for which one block is faster than several, which wait for each other."""
        return max(self.block, self.lone_bytes // info.traffic) if info.traffic else self.block


WARP = 32
# Measured on an H200 (docs/design/2026-11-resident.md). A wait of blocks for each other takes about as long as one
# block needs for so many bytes of loads and stores. As a node a task takes 0.65 us, and with that wait 1.2 us, but a
# graph of nodes takes 4 us more for an iteration.
LONE_BYTES = 80 << 10
MANY_TASKS = 8
LARGEST = 1024  # most threads of a block on every GPU
HEAVY = 256  # threads of a block with heavy iterations


def dynamic_shared(kernel: Kernel, info: TaskInfo) -> int:
    """Return the bytes of dynamic shared memory of a task, and set the limit of the kernel to this size.

    Raises:
        ValueError: The device has less shared memory.
    """
    if info.dynamic_bytes == 0:
        return 0
    device = current_device()
    available = device.properties.max_shared_memory_per_block_optin - kernel.attributes.shared_size_bytes
    if info.dynamic_bytes > available:
        raise ValueError(
            f"line {info.line}: each block of this loop needs {info.dynamic_bytes} bytes of shared memory, but device "
            f"{device.device_id} has {available}: use smaller tiles or a smaller type"
        )
    kernel.attributes.max_dynamic_shared_size_bytes = info.dynamic_bytes
    return info.dynamic_bytes


def max_blocks(kernel: Kernel, block: int, shared: int, waves: int) -> int:
    """Return the largest number of blocks of a grid: `waves` times the resident blocks of the device."""
    resident = kernel.occupancy.max_active_blocks_per_multiprocessor(block, shared)
    return max(1, waves * resident * current_device().properties.multiprocessor_count)


def fitting_block(kernel: Kernel, threads: int) -> int:
    """Return the most threads of a block, up to `threads`, for which a multiprocessor has the registers."""
    most = kernel.attributes.max_threads_per_block
    return threads if threads <= most else most // WARP * WARP


class EarlyLimit(NamedTuple):
    """The largest kernels for which it pays that one begins before the other has ended.

    A GPU places the blocks of such a kernel more slowly: on an H200, 10 kernels of 128 blocks took 0.67 times as long
    with programmatic edges, and 10 of 2,048 blocks 1.33 times (docs/design/2026-11-early-edges.md).

    Attributes:
        blocks: The most blocks of the two kernels of an edge.
        threads: The most threads of a kernel and of all that begin early behind it, or before it.
    """

    blocks: int
    threads: int

    def allows(self, one: LaunchConfig, other: LaunchConfig) -> bool:
        """Return whether an edge between two kernels may be programmatic."""
        return blocks_of(one) + blocks_of(other) <= self.blocks and self.holds((one, other))

    def holds(self, configs: Sequence[LaunchConfig]) -> bool:
        """Return whether several kernels are on the device at the same time."""
        return sum(blocks_of(each) * prod(each.block) for each in configs) <= self.threads


EARLY_BLOCKS = 4  # of a multiprocessor


def early_limit() -> EarlyLimit | None:
    """Return the limit for the current device, or None on the host driver, which takes all edges as full ones."""
    if driver_info().kind == "host":
        return None
    found = current_device().properties
    count = found.multiprocessor_count
    return EarlyLimit(EARLY_BLOCKS * count, found.max_threads_per_multiprocessor * count)


def blocks_of(config: LaunchConfig) -> int:
    """Return the number of blocks of a launch."""
    return prod(config.grid) * prod(config.cluster or (1,))


def may_release_during_work() -> bool:
    """Return True if the memory of an array can be released while work on other streams uses it.

    Managed memory is released only after all work of the device. The host driver has only managed memory.
    """
    return not current_device().properties.direct_managed_mem_access_from_host


# By the kind of the driver.
SHAPES = {
    "cuda": Shape(128, 128, gathering=Shape(512, 2048, waves=1), uneven=Shape(128, 128, waves=8), together=4),
    "host": Shape(block=1, share=128, unordered=1 << 20),
}


def shape_of_driver() -> Shape:
    """Return the Shape for the driver of this process."""
    return SHAPES[driver_info().kind]
