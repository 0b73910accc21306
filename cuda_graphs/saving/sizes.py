# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The sizes of launches of kernels of Python.

A task runs all its iterations with any grid, and the best grid depends on the driver. A file has the description of
each task (TaskInfo). The loader computes the grid from it, as a call of the kernel does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from cuda_graphs.kernels.shapes import dynamic_shared, fitting_block, max_blocks, shape_of_driver
from cuda_graphs.objects.code.launch_config import LaunchConfig

from .schema import Row, check_index, check_int, check_list, fail

if TYPE_CHECKING:
    from cuda_graphs.compiler.artifact import TaskInfo
    from cuda_graphs.objects.code.kernel import Kernel

__all__ = ["TaskSize", "describe_task"]

FLAGS = ("parallel", "fixed_block_dim", "has_sums", "heavy")
NUMBERS = ("block_dim", "threads", "iterations")  # or None
OPERATIONS: Mapping[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floor_div": lambda a, b: a // b if b else 0,  # the grid does not decide what a loop does
    "min": min,
    "max": max,
}
MOST_STEPS = 64  # operations of a bound
MOST_THREADS = 1024
MOST_BLOCKS = 2**31 - 1


def describe_task(info: TaskInfo, is_inner: bool = False) -> dict[str, Any]:
    """Return the row of a task: what its size depends on. Bounds name arguments by their number."""
    places = {(slot.kind, slot.path, slot.axis): number for number, slot in enumerate(info.slots)}
    row: dict[str, Any] = {name: getattr(info, name) for name in (*FLAGS, *NUMBERS)}
    row["shared_bytes"], row["line"], row["traffic"] = info.dynamic_bytes, info.line, info.traffic
    row["axes"] = None if is_inner else bounds_of(info.axes, places)
    row["tasks"] = [
        describe_task(each, True) | {"axes": bounds_of(each.axes, places)} for each in info.resident_tasks
    ]
    return row


def bounds_of(axes: Any, places: Mapping[Any, int]) -> Any:
    """Return the bounds of a loop as lists, or None if they are unknown or no arguments of the entry."""
    if axes is None:
        return None
    try:
        return [[bound_of(begin, places), bound_of(end, places), step] for begin, end, step in axes]
    except KeyError:
        return None


def bound_of(bound: Any, places: Mapping[Any, int]) -> Any:
    if isinstance(bound, int):
        return bound
    kind, first, second = bound
    if kind in OPERATIONS:
        return [kind, bound_of(first, places), bound_of(second, places)]
    return ["argument", places[("extent", first, second) if kind == "extent" else ("scalar", first, 0)]]


class TaskSize:
    """Computes the config of a launch of one task from the values of its arguments.

    Attributes:
        arguments: The numbers of the arguments that decide.
        is_resident: Whether all blocks must run at the same time.
    """

    def __init__(self, row: Row, count: int) -> None:
        self._info = self._read(row, count)
        self.is_resident = bool(row.items("tasks"))
        for each in row.items("tasks"):
            self._info.resident_tasks.append(self._read(Row(each, f"a task of {row.where}"), count))
        loops = [self._info, *self._info.resident_tasks]
        found: set[int] = set()
        for each in loops:
            for axis in each.axes or ():
                for bound in axis[:2]:
                    arguments_of(bound, found)
        self.arguments = sorted(found)

    @staticmethod
    def _read(row: Row, count: int) -> Any:
        info = SimpleNamespace(**{name: row.flag(name) for name in FLAGS}, resident_tasks=[])
        for name in NUMBERS:
            setattr(info, name, None if row.get(name) is None else row.number(name))
        if info.block_dim is not None:
            row.number("block_dim", 1, MOST_THREADS)
        info.dynamic_bytes, info.line = row.number("shared_bytes", 0, 2**20), row.number("line")
        info.traffic = 0 if row.get("traffic") is None else row.number("traffic", 0)  # older files have none
        info.axes = None
        if row.get("axes") is not None:
            info.axes = [check_axis(axis, count, f"axes of {row.where}") for axis in row.items("axes")]
        if info.fixed_block_dim and info.block_dim is None:
            fail(row.where, "has blocks of a fixed size without the size")
        return info

    def config(self, kernel: Kernel, values: Mapping[int, int]) -> LaunchConfig:
        """Return the config of a launch for values of the arguments, by number. A lacking value is unknown."""
        info, shape = self._info, shape_of_driver()
        if info.resident_tasks:
            resident = shape.resident(kernel, info)
            loops = [each for each in info.resident_tasks if each.parallel]
            shares = [1 if each.fixed_block_dim and resident.block == 1 else resident.block for each in loops]
            grid = blocks(loops, shares, values, resident.max_blocks)
            if is_lone(loops, [resident.lone_iterations(each) for each in loops], values):
                has_sums = any(each.has_sums for each in info.resident_tasks)
                grid = grid if has_sums and blocks(loops, shares, values, MOST_BLOCKS) == 2 else 1
            shared = dynamic_shared(kernel, info)
            return LaunchConfig(grid=grid, block=resident.block, shmem_size=shared, is_cooperative=True)
        shared = dynamic_shared(kernel, info)
        if not info.parallel:
            return LaunchConfig(grid=1, block=1, shmem_size=shared)
        shape = shape.of(info)
        block = info.block_dim or shape.block
        if not info.fixed_block_dim:
            block = fitting_block(kernel, block)
        most = max_blocks(kernel, block, shared, shape.waves)
        if info.threads is not None and shape.block == 1:  # one thread runs a block on the CPU
            most = min(most, info.threads)
        share = info.block_dim if info.fixed_block_dim else max(1, shape.share * block // shape.block)
        return LaunchConfig(grid=blocks([info], [share], values, most), block=block, shmem_size=shared)


def blocks(loops: Sequence[Any], shares: Sequence[int], values: Mapping[int, int], most: int) -> int:
    """Return the number of blocks of a launch that runs loops, with a number of iterations for each block."""
    found = 1
    for loop, share in zip(loops, shares, strict=True):
        count = iterations(loop, values)
        found = max(found, most if count is None else -(-count // share))
    return min(found, most)


def is_lone(loops: Sequence[Any], most: Sequence[int], values: Mapping[int, int]) -> bool:
    """Return whether the numbers of iterations are known, and so small that one block is faster than several."""
    counts = [iterations(loop, values) for loop in loops]
    return all(count is not None and count <= limit for count, limit in zip(counts, most, strict=True))


def iterations(loop: Any, values: Mapping[int, int]) -> int | None:
    """Return the number of iterations of a loop, or None if it is unknown."""
    if loop.iterations is not None:
        return int(loop.iterations)
    if loop.axes is None:
        return None
    total = 1
    try:
        for begin, end, step in loop.axes:
            total *= len(range(evaluate(begin, values), evaluate(end, values), step))
    except (KeyError, OverflowError):  # a value is unknown; more iterations than a range counts
        return None
    return total


def evaluate(bound: Any, values: Mapping[int, int]) -> int:
    if isinstance(bound, int):
        return bound
    if bound[0] == "argument":
        return values[bound[1]]
    return OPERATIONS[bound[0]](evaluate(bound[1], values), evaluate(bound[2], values))


def arguments_of(bound: Any, found: set[int]) -> None:
    if not isinstance(bound, int):
        if bound[0] == "argument":
            found.add(bound[1])
        else:
            arguments_of(bound[1], found)
            arguments_of(bound[2], found)


def check_axis(axis: Any, count: int, where: str) -> list[Any]:
    begin, end, step = check_list(axis, where, 3)
    check_int(step, f"the step in {where}", -(2**31), 2**31)
    if step == 0:
        fail(f"the step in {where}", "is 0")
    check_bound(begin, count, where, [])
    check_bound(end, count, where, [])
    return [begin, end, step]


def check_bound(bound: Any, count: int, where: str, seen: list[Any]) -> None:
    """Check a bound, which has at most MOST_STEPS operations."""
    seen.append(bound)
    if len(seen) > MOST_STEPS:
        fail(where, f"have more than {MOST_STEPS} operations")
    if isinstance(bound, int):
        check_int(bound, f"a bound in {where}", -(2**63))
    elif type(bound) is list and bound[:1] == ["argument"]:
        check_index(check_list(bound, where, 2)[1], f"an argument in {where}", range(count))
    elif type(bound) is list and len(bound) == 3 and bound[0] in list(OPERATIONS):
        check_bound(bound[1], count, where, seen)
        check_bound(bound[2], count, where, seen)
    else:
        fail(f"a bound in {where}", "is no expression")
