# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Tapes that keep few states: `Tape(max_states=...)` and `Tape(memory_limit=...)`.

A step is a call through which a gradient flows, with the calls before it since the last step. The gradient of a step
reads the arrays as they were after the step. The tape keeps some of these states (revolve.py says which), and computes
the others again: it repeats the calls of the steps between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from cuda_graphs.kernels import seeds
from cuda_graphs.kernels.arrays.ndarray import NDArray, memory_of, note_restored, version_of
from cuda_graphs.kernels.arrays.tensors import is_tensor
from cuda_graphs.objects.device.stream import Stream, default_stream
from cuda_graphs.objects.numbers import need_int

from .call_arrays import arrays_of, flows_through
from .custom_gradients import GradReplaced
from .kept_states import KeptStates, Memory
from .revolve import position_to_give_up, split
from .tape_stats import TapeStats
from .thread_hooks import Call

__all__ = ["Recomputation"]


class RecordedCall(NamedTuple):
    """A call that can be repeated: its number, the memory that it writes, and its seeds of random numbers."""

    call: Call
    number: int
    writes: tuple[Memory, ...]
    seeds: list[int]


class Recomputation:
    """The steps of one tape, and their kept states.

    Args:
        max_states: The most states at any time, with the results of the block: at least 2. None for any number.
        memory_limit: The most bytes of all kept states. None for any number.

    Raises:
        TypeError: An argument is not an int.
        ValueError: An argument is too small.
    """

    def __init__(self, max_states: int | None, memory_limit: int | None) -> None:
        self.max_states = None if max_states is None else at_least(max_states, 2, "max_states", "the results")
        self.memory_limit = (
            None if memory_limit is None else at_least(memory_limit, 1, "memory_limit", "a byte")
        )
        self.kept = KeptStates()
        self.steps: list[list[RecordedCall]] = []
        self.rest: list[RecordedCall] = []  # calls after the last step
        self.pending: list[Memory] = []  # what the present call writes
        self.arrays: dict[NDArray, int] = {}  # what it uses, with the versions before it
        self.draws: list[int] = []
        self.versions: dict[NDArray, int] = {}
        self.written: dict[NDArray, None] = {}  # arrays of which recorded calls have made new versions
        self.count = 0  # number of the next call
        self.home = default_stream()  # stream of functions with their own gradient
        self.captured = self.in_forward_mode = False
        self.stats = TapeStats()

    # The block

    def begin(self, home: Stream, captured: bool, in_forward_mode: bool, number: int) -> None:
        """Begin to record.

        Args:
            home: The current stream.
            captured: Whether it is captured.
            in_forward_mode: Whether calls also compute duals, in a FwdMode.
            number: The number of the next call.
        """
        self.home, self.captured, self.in_forward_mode, self.count = home, captured, in_forward_mode, number
        self.kept.captured = captured

    def before(self, call: Call, inside: tuple[Any, ...]) -> None:
        """Prepare for a call: keep the state of the step before it, and the memory that the call writes first."""
        stream = call[2] or self.home
        if not inside:
            self.arrays = {each: version_of(each) for each in arrays_of(call)}
            self.check_versions(self.arrays)
            self.pending = []
            if self.steps and not self.rest:
                self.keep_last(stream)
            self.draws = []
            seeds.note_draws(self.draws)
        self.add_written(call, stream)
        self.kept.order.enter(stream)

    def after(self, call: Call, inside: tuple[Any, ...]) -> None:
        """Record a call. A call through which a gradient flows is the end of a step."""
        if inside:
            return
        seeds.note_draws(None)
        for each, before in self.arrays.items():
            self.versions[each] = version_of(each)
            if self.versions[each] != before:
                self.written[each] = None
        made = RecordedCall(call, self.count, tuple(dict.fromkeys(self.pending)), self.draws)
        self.kept.note_writes(made.writes, made.number)
        self.count += 1
        self.rest.append(made)
        if flows_through(call):
            self.steps.append(self.rest)
            self.rest = []
            self.stats.steps = len(self.steps)
            self.stats.forward_steps += 1

    def keep_last(self, stream: Stream) -> None:
        """Keep the state of the last step, or give it or an earlier one up if there are too many."""
        position = len(self.steps) - 1
        positions = [each.position for each in self.kept.states]
        if positions and positions[-1] == position:
            return
        most = self.room()
        positions.append(position)
        while len(positions) > most:
            index = position_to_give_up(positions, len(self.steps) + 1)
            del positions[index]
            if index < len(self.kept.states):
                self.kept.give_up(index)
        if positions[-1] == position:
            self.kept.keep(position, stream)
        self.note_most()

    def room(self) -> int:
        """Return the number of states that may be kept without the results, at least 1.

        Raises:
            ValueError: `memory_limit` is too small for the first state and the results.
        """
        most = [len(self.steps)] if self.max_states is None else [self.max_states - 1]
        if self.memory_limit is not None:
            size = max(1, self.kept.state_bytes)
            if self.memory_limit < 2 * size:
                raise ValueError(
                    f"memory_limit={self.memory_limit} is too small: the kernels of this Tape write {size} bytes, "
                    f"which the tape keeps after the first step and at the end, {2 * size} bytes"
                )
            most.append(self.memory_limit // size - 1)
        return max(1, min(most))

    def add_written(self, call: Call, stream: Stream) -> None:
        function, args, _ = call
        if isinstance(function, GradReplaced):  # its host code may write to its arguments
            arrays = arrays_of(call)
            if self.in_forward_mode:
                arrays += [each.dual for each in arrays if each.dual is not None]
            owners = [memory_of(each) for each in arrays]
            owners += [each for each in args if is_tensor(each) or isinstance(each, np.ndarray)]
        else:
            written = (function.forward() if self.in_forward_mode else function).written(*args)
            refuse_gradients(function, written)
            owners = list(written.values())
        for owner in owners:
            new, overlapping = self.kept.find(owner)
            if new is not None:
                self.kept.memories.append(new)
                while len(self.kept.states) > self.room():
                    positions = [each.position for each in self.kept.states]
                    self.kept.give_up(position_to_give_up(positions, len(self.steps)))
                self.kept.complete(new, stream)
            self.pending += overlapping
        self.note_most()

    def check_versions(self, arrays: Iterable[NDArray]) -> None:
        """Raise RuntimeError if an array of an earlier call was changed by anything but a recorded call.

        The host's writes during a capture come before all launches of the graph.
        """
        if self.captured:
            return
        for each in arrays:
            before = self.versions.get(each, 0)
            if before and version_of(each) != before:
                raise RuntimeError(
                    f"{each!r} was written after a call of the Tape had used it, and not by a recorded call. A Tape "
                    "with max_states, with memory_limit or with loops of graph kernels cannot compute its states "
                    "again: write it before the block, in a kernel, or in a function with its own gradient "
                    "(cg.ad.grad_replaced)"
                )

    def note_most(self) -> None:
        self.stats.most_states, self.stats.most_bytes = self.kept.most_states, self.kept.most_bytes

    def release(self) -> None:
        """Release all copies after an exception in the block."""
        seeds.note_draws(None)
        self.kept.release()

    # The way back

    def reverse(self, gradients: list[NDArray], gradient: Callable[[int, Call], None]) -> None:
        """Run `gradient` for the call at the end of each step, from the last to the first, with the state of the step.

        At the end, and after an error, the arrays have the contents from before.

        Args:
            gradients: All gradient arrays of the calls, which must not be part of a state.
            gradient: Runs the gradient of a call, of which it gets the number.
        """
        self.check_versions(self.versions)
        self.check_gradients(gradients)
        at = len(self.steps) - 1 if not self.rest else -1  # the step whose state the arrays have
        stream = self.home
        try:
            for position in reversed(range(len(self.steps))):
                call, number = self.steps[position][-1][:2]
                stream = call[2] or self.home
                if at != position:
                    self.compute(position, stream)
                self.kept.order.enter(stream)
                gradient(number, call)
                at = position
                while self.kept.states and self.kept.states[-1].position >= position:
                    self.kept.give_up(-1)
        finally:
            is_restored = self.kept.results is not None
            self.kept.end(stream)
            if is_restored:
                self.note_restored(stream)
            self.note_most()

    def note_restored(self, stream: Stream) -> None:
        """Give the arrays new versions: kept states do not know them. A version may have the capacities of stacks."""
        for each in self.written:
            note_restored(each, stream)

    def compute(self, position: int, stream: Stream) -> None:
        """Set the arrays to the state of a step: restore the last state before it, and repeat the steps between.

        Between them it keeps states for the steps before `position`, in the order of the binomial schedule.
        """
        if self.kept.results is None:
            self.kept.keep_results(stream)
        state = self.kept.states[-1]
        self.kept.restore(state, stream)
        self.note_restored(stream)
        at, most = state.position, self.room()
        while at < position:
            distance = split(position - at + 1, max(1, most - len(self.kept.states) + 1))
            for _ in range(distance):
                at += 1
                self.repeat(self.steps[at])
            if at < position:
                self.kept.keep(at, self.kept.order.last or stream)

    def repeat(self, step: list[RecordedCall]) -> None:
        """Call the kernels of a step again."""
        self.stats.forward_steps += 1
        for (function, args, stream), number, writes, drawn in step:
            self.kept.order.enter(stream or self.home)
            with seeds.repeated(drawn):
                if stream is None:
                    function(*args)
                else:
                    function(*args, stream=stream)
            self.kept.note_writes(writes, number)

    def check_gradients(self, gradients: list[NDArray]) -> None:
        for each in gradients:
            owner = memory_of(each)
            begin, end = owner.handle, owner.handle + owner.size
            if any(memory.begin < end and begin < memory.end for memory in self.kept.memories):
                raise RuntimeError(
                    f"a kernel in the block wrote to {each!r}, a gradient that the Tape computes, so its states cannot "
                    "be kept: write gradients outside of the block"
                )


def at_least(value: Any, least: int, name: str, what: str) -> int:
    number: int = need_int(value, name)
    if number < least:
        raise ValueError(f"{name} must be at least {least}, for {what}, not {number}")
    return number


def refuse_gradients(function: Any, written: dict[str, Any]) -> None:
    for path in written:
        if path.endswith(".grad"):
            raise RuntimeError(
                f"{function.__name__}() writes {path!r}, and a Tape with max_states or memory_limit would repeat this "
                "write while it computes gradients: call the kernel outside of the block"
            )
