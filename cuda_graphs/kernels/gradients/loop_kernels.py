# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of the library for captured loops with a gradient (captured_loop.py).

Each loop has a slot, the number of its present iteration in all iterations that it may have in one launch. Stored
states are elements of arrays at this number. `outer` is the slot of the loop around, and `counts` has the number of
iterations of a loop for each slot of the loop around it.
"""

# mypy: ignore-errors
# The bodies are code of kernels, and the annotations are objects that the compiler reads.
from cuda_graphs.compiler.ir.types import i64, u32
from cuda_graphs.compiler.language.annotations import NDArray as Array
from cuda_graphs.compiler.language.intrinsics import set_condition
from cuda_graphs.graph.operands.condition import Condition
from cuda_graphs.kernels.call.decorator import kernel

__all__ = [
    "again_backward", "again_forward", "begin_backward", "begin_forward", "choose_backward", "choose_forward", "put",
    "restore", "save",
]  # fmt: skip

State = Array(dtype=u32, ndim=1)  # a condition of the kernel
Numbers = Array(dtype=i64, ndim=1)
Memory, Log = Array(ndim=1), Array(ndim=2)


@kernel
def save(log: Log, slot: Numbers, memory: Memory):
    """Store the contents of memory."""
    for i in memory:
        log[slot[0], i] = memory[i]


@kernel
def restore(log: Log, slot: Numbers, memory: Memory):
    """Set memory to its stored contents."""
    for i in memory:
        memory[i] = log[slot[0], i]


@kernel
def put(state: State, value: u32):
    state[0] = value


@kernel
def begin_forward(
    condition: Condition, state: State, outer: Numbers, slot: Numbers, counts: Numbers, most: i64
):
    slot[0] = outer[0] * most
    counts[outer[0]] = 0
    set_condition(condition, state[0] != 0)


@kernel
def again_forward(
    condition: Condition,
    state: State,
    outer: Numbers,
    slot: Numbers,
    counts: Numbers,
    most: i64,
    overflow: Numbers,
    number: i64,
):
    """End an iteration. A loop that would exceed its limit ends, and reports its number."""
    count = counts[outer[0]] + 1
    counts[outer[0]] = count
    slot[0] += 1
    if state[0] != 0 and count == most:
        overflow[0] = number
    set_condition(condition, state[0] != 0 and count < most)


@kernel
def begin_backward(condition: Condition, outer: Numbers, slot: Numbers, counts: Numbers, most: i64):
    slot[0] = outer[0] * most + counts[outer[0]] - 1
    set_condition(condition, counts[outer[0]] > 0)


@kernel
def again_backward(condition: Condition, outer: Numbers, slot: Numbers, counts: Numbers):
    counts[outer[0]] -= 1
    slot[0] -= 1
    set_condition(condition, counts[outer[0]] > 0)


@kernel
def choose_forward(condition: Condition, state: State, outer: Numbers, choices: State):
    choices[outer[0]] = state[0]
    set_condition(condition, state[0])


@kernel
def choose_backward(condition: Condition, outer: Numbers, choices: State):
    set_condition(condition, choices[outer[0]])
