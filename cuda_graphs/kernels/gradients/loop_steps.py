# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The steps of a captured loop (captured_loop.py): parts, loops and branches, with the memory of their states.

Each step adds its nodes forward, and those of its gradient.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from cuda_graphs.compiler.ir.types import i64, u8, u32, u64
from cuda_graphs.kernels.arrays.ndarray import NDArray
from cuda_graphs.kernels.arrays.packed_views import packed_view
from cuda_graphs.objects.device.device import current_device
from cuda_graphs.objects.memory.buffer import Buffer
from cuda_graphs.objects.memory.memory_resource import SynchronousMemoryResource

from . import loop_kernels

__all__ = ["Choice", "Level", "Loop", "Part", "Set", "backward", "forward", "variable"]

WORDS = (u64, u32, u8)  # elements of copies, from the widest


# ---- memory


def allocate(count: int, dtype: Any) -> Buffer:
    resource = SynchronousMemoryResource(current_device())  # safe in a thread that captures
    return resource.allocate(max(1, count) * dtype.size)


def cells(count: int, dtype: Any) -> NDArray:
    """Return an array in new memory."""
    found: NDArray = allocate(count, dtype).view(dtype, max(1, count))
    return found


def variable(dtype: Any) -> NDArray:
    """Return an array for a variable that passes between parts, whose gradient is memory of the same kind."""
    whole, whole_grad = (allocate(1, dtype).view(u8) for _ in range(2))
    return packed_view(whole, dtype, whole_grad if dtype.kind == "float" else None)


class Level:
    """The iterations of a loop, or the one call of the kernel.

    Attributes:
        capacity: The most iterations in one launch.
        slot: An array with the number of the present one.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity, self.memory = capacity, allocate(1, i64)
        self.slot: NDArray = self.memory.view(i64, 1)


class Log(NamedTuple):
    """The stored contents of memory, for each slot."""

    log: NDArray
    slot: NDArray
    contents: NDArray


def log_of(memory: Buffer, level: Level) -> Log:
    word = next(each for each in WORDS if math.gcd(int(memory.handle), memory.size) % each.size == 0)
    count = memory.size // word.size
    log = allocate(level.capacity * count, word).view(word, (level.capacity, count))
    return Log(log, level.slot, memory.view(word, count))


# ---- steps of a plan


class Part:
    """A part of the kernel."""

    def __init__(
        self, kernel: Any, gradient: Any, args: tuple[Any, ...], condition: int | None, level: Level
    ) -> None:
        self.kernel, self.gradient, self.args, self.condition = kernel, gradient, args, condition
        owners = [each for each in kernel.written(*args).values() if each.size]
        self.written = list({(int(each.handle), each.size): each for each in owners}.values())
        self.logs = [log_of(each, level) for each in self.written]

    def memories(self) -> list[Buffer]:
        return self.written

    def forward(self, node: Any, states: dict[int, NDArray]) -> Any:
        for each in self.logs:
            node = emit(node, loop_kernels.save, *each)
        node, results = self.kernel.add_part(node, self.args)
        if self.condition is not None:
            (memory,) = results
            states[self.condition] = memory.view(u32, 1)
        return node

    def backward(self, node: Any) -> Any:
        node = emit(node, self.gradient, *self.args)
        for each in self.logs:
            node = emit(node, loop_kernels.restore, *each)
        return node


class Set:
    """A constant state of a condition."""

    def __init__(self, condition: int, value: int) -> None:
        self.condition, self.value = condition, value
        self.state = cells(1, u32)

    def memories(self) -> list[Buffer]:
        return []

    def forward(self, node: Any, states: dict[int, NDArray]) -> Any:
        states[self.condition] = self.state
        return emit(node, loop_kernels.put, self.state, self.value)

    def backward(self, node: Any) -> Any:
        return node


class Loop:
    """A loop, which stores its numbers of iterations."""

    def __init__(self, condition: int, most: int, outer: Level) -> None:
        self.condition, self.most, self.outer = condition, most, outer
        self.level = Level(outer.capacity * most)
        self.counts = cells(outer.capacity, i64)
        self.steps: list[Any] = []
        self.overflow: tuple[NDArray, int] | None = None

    def memories(self) -> list[Buffer]:
        return [each for step in self.steps for each in step.memories()]

    def forward(self, node: Any, states: dict[int, NDArray]) -> Any:
        assert self.overflow is not None
        condition = condition_at(node)
        shared = self.outer.slot, self.level.slot, self.counts, self.most
        node = emit(node, loop_kernels.begin_forward, condition, states[self.condition], *shared)
        node = node.while_loop(condition)
        body = forward(self.steps, node.branches[0], states)
        state = states[self.condition]
        emit(body, loop_kernels.again_forward, condition, state, *shared, *self.overflow)
        return node

    def backward(self, node: Any) -> Any:
        condition = condition_at(node)
        shared = self.outer.slot, self.level.slot, self.counts
        node = emit(node, loop_kernels.begin_backward, condition, *shared, self.most)
        node = node.while_loop(condition)
        body = backward(self.steps, node.branches[0])
        emit(body, loop_kernels.again_backward, condition, *shared)
        return node


class Choice:
    """A branch or a switch, which stores its choices."""

    def __init__(self, kind: str, condition: int, blocks: list[list[Any]], outer: Level) -> None:
        self.kind, self.condition, self.blocks, self.outer = kind, condition, blocks, outer
        self.choices = cells(outer.capacity, u32)

    def memories(self) -> list[Buffer]:
        return [each for block in self.blocks for step in block for each in step.memories()]

    def forward(self, node: Any, states: dict[int, NDArray]) -> Any:
        condition = condition_at(node)
        state = states[self.condition]
        node = emit(node, loop_kernels.choose_forward, condition, state, self.outer.slot, self.choices)
        node = self.conditional(node, condition)
        for body, block in zip(node.branches, self.blocks, strict=True):
            forward(block, body, dict(states))
        return node

    def backward(self, node: Any) -> Any:
        condition = condition_at(node)
        node = emit(node, loop_kernels.choose_backward, condition, self.outer.slot, self.choices)
        node = self.conditional(node, condition)
        for body, block in zip(node.branches, self.blocks, strict=True):
            backward(block, body)
        return node

    def conditional(self, node: Any, condition: Any) -> Any:
        if self.kind == "switch":
            return node.switch(condition, len(self.blocks))
        return node.if_then(condition) if len(self.blocks) == 1 else node.if_else(condition)


# ---- nodes


def forward(steps: Sequence[Any], node: Any, states: dict[int, NDArray]) -> Any:
    """Add the nodes of steps after `node`, and return the last one.

    `states` has the memory of the present state of each condition.
    """
    for step in steps:
        node = step.forward(node, states)
    return node


def backward(steps: Sequence[Any], node: Any) -> Any:
    """Add the nodes of the gradient of steps after `node`, and return the last one."""
    for step in reversed(steps):
        node = step.backward(node)
    return node


def condition_at(node: Any) -> Any:
    """Return a new condition of the graph of `node`, a node or the body of a conditional node."""
    return getattr(node, "graph", node).create_condition()


def emit(node: Any, kernel: Any, *args: Any) -> Any:
    """Add a call of a kernel after `node`, and return the last node."""
    return kernel.__cuda_graph_emit__(node, args)
