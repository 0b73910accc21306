# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What a kernel with checkpoints has in memory, and what goes by it: which checkpoints run, and when loops end.

Checkpoints are numbered from 1 on, in the order of the source. The *point* is the number from which on they run: 0 in a
call, that of a label in a resume, and no number is as large once one has yielded. It becomes 0 when one runs: then the
place to go on at was found, and all that comes, in further rounds of loops too, runs. Control flow between tasks is
skipped as a whole where all checkpoints in and before it are.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .. import ir
from ..artifact import START, STATE, YIELDED
from ..types import i32
from .functions import Frame

__all__ = ["Checkpoints", "Guard", "begin", "enter", "guard_of", "new_number", "yields"]

POINT = 0
NOWHERE = int(i32.maximum)


@dataclass
class Checkpoints:
    """Of a kernel: those that were come to."""

    state: ir.Array
    found: list[ir.Checkpoint] = field(default_factory=list)
    inside: ir.Block | None = None  # of one with a label: what is translated now


def begin(frame: Frame, params: list[ir.Param]) -> Checkpoints:
    """What a launch begins with."""
    state = ir.Array(STATE, i32, 1, ir.Space.TEMP, (2,))
    frame.arrays.append(state)
    params.append(ir.Param(START, i32))
    store(frame, state, POINT, params[-1])
    store(frame, state, YIELDED, ir.Const(-1, i32))
    return Checkpoints(state)


def store(frame: Frame, state: ir.Array, at: int, value: ir.Value) -> None:
    frame.builder.put(ir.Store(state, (ir.Const(at, i32),), value, frame.builder.loc))


def checkpoints_of(frame: Frame) -> Checkpoints | None:
    """Where what is translated now is not in a checkpoint already."""
    conditionals = frame.root.conditionals
    found = None if conditionals is None else conditionals.checkpoints
    return None if found is None or found.inside is not None else found


def new_number(checkpoints: Checkpoints, label: int | None, path: str | None) -> int:
    checkpoints.found.append((label, path))
    return len(checkpoints.found)


def point(frame: Frame, checkpoints: Checkpoints) -> ir.Value:
    return frame.builder.put(ir.Load(checkpoints.state, (ir.Const(POINT, i32),), frame.builder.loc))


def enter(frame: Frame, checkpoints: Checkpoints, number: int) -> ir.Value:
    """Whether the checkpoint runs: then all that comes does."""
    runs = frame.builder.compare("LtE", point(frame, checkpoints), ir.Const(number, i32))
    reached = ir.If(runs, ir.Block(), ir.Block(), frame.builder.loc)
    with frame.builder.into(reached.then):
        store(frame, checkpoints.state, POINT, ir.Const(0, i32))
    frame.builder.put(reached)
    return runs


def yields(frame: Frame, checkpoints: Checkpoints, number: int, flag: ir.Array) -> None:
    """At the end of a checkpoint: nothing more runs if the flag is set."""
    is_set = frame.builder.truth(frame.builder.put(ir.Load(flag, (), frame.builder.loc)), "a flag")
    branch = ir.If(is_set, ir.Block(), ir.Block(), frame.builder.loc)
    with frame.builder.into(branch.then):
        store(frame, checkpoints.state, POINT, ir.Const(NOWHERE, i32))
        store(frame, checkpoints.state, YIELDED, ir.Const(number - 1, i32))
    frame.builder.put(branch)


class Guard:
    """Of control flow between tasks that may hold checkpoints."""

    def __init__(self, frame: Frame, checkpoints: Checkpoints) -> None:
        self.frame, self.checkpoints = frame, checkpoints
        self.last = ir.Const(0, i32)  # the last checkpoint in or before it: `close` knows

    def opens(self) -> ir.Value:
        """Before it: whether it is not skipped."""
        return self.frame.builder.compare("LtE", point(self.frame, self.checkpoints), self.last)

    def goes_on(self) -> ir.Value:
        """After a round of a loop: whether nothing has yielded."""
        now = point(self.frame, self.checkpoints)
        return self.frame.builder.compare("NotEq", now, ir.Const(NOWHERE, i32))

    def close(self) -> None:
        """When all of it was translated."""
        self.last.value = len(self.checkpoints.found)


def guard_of(frame: Frame) -> Guard | None:
    """None where nothing may be skipped: without checkpoints, or in one."""
    checkpoints = checkpoints_of(frame)
    return None if checkpoints is None else Guard(frame, checkpoints)
