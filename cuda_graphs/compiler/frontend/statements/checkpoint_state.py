# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Run-time state of checkpoints in memory: which checkpoints run, and when loops end.

Checkpoints are numbered from 1 on, in the order of the source. A checkpoint runs if its number is at least the *point*.
The point starts as 0 in a call, and as the number of a label in a resume. It becomes 0 when a checkpoint runs: the
resume position is found, and all later checkpoints run, also in further iterations of loops. A checkpoint that yields
makes the point larger than all numbers. Control flow between tasks is skipped as a whole if all checkpoints in it and
before it are skipped.
"""

from __future__ import annotations

from cuda_graphs.compiler.artifact import START, STATE, YIELDED
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.graph_state import Checkpoints
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import i32

__all__ = ["Guard", "begin_checkpoint", "end_checkpoint", "guard_of", "init_checkpoint_state", "new_number"]

POINT = 0
NOWHERE = int(i32.maximum)


def init_checkpoint_state(frame: Frame, params: list[ir.Param]) -> Checkpoints:
    """Emit the initial state of a launch; return the Checkpoints."""
    state = ir.Array(STATE, i32, 1, ir.Space.TEMP, (2,))
    frame.arrays.append(state)
    params.append(ir.Param(START, i32))
    store(frame, state, POINT, params[-1])
    store(frame, state, YIELDED, ir.Const(-1, i32))
    return Checkpoints(state)


def store(frame: Frame, state: ir.Array, at: int, value: ir.Value) -> None:
    frame.builder.put(ir.Store(state, (ir.Const(at, i32),), value, frame.builder.loc))


def checkpoints_of(frame: Frame) -> Checkpoints | None:
    """Return the kernel's Checkpoints; None without them, or inside a checkpoint."""
    graph_state = frame.root.graph_state
    found = None if graph_state is None else graph_state.checkpoints
    return None if found is None or found.current is not None else found


def new_number(checkpoints: Checkpoints, label: int | None, path: str | None) -> int:
    checkpoints.found.append((label, path))
    return len(checkpoints.found)


def point(frame: Frame, checkpoints: Checkpoints) -> ir.Value:
    return frame.builder.put(ir.Load(checkpoints.state, (ir.Const(POINT, i32),), frame.builder.loc))


def begin_checkpoint(frame: Frame, checkpoints: Checkpoints, number: int) -> ir.Value:
    """Emit the test whether a checkpoint runs; return it. If the checkpoint runs, all later ones do."""
    runs = frame.builder.compare("LtE", point(frame, checkpoints), ir.Const(number, i32))
    reached = ir.If(runs, ir.Block(), ir.Block(), frame.builder.loc)
    with frame.builder.into(reached.then):
        store(frame, checkpoints.state, POINT, ir.Const(0, i32))
    frame.builder.put(reached)
    return runs


def end_checkpoint(frame: Frame, checkpoints: Checkpoints, number: int, flag: ir.Array) -> None:
    """Emit the end of a checkpoint: nothing more runs if the flag is set."""
    is_set = frame.builder.truth(frame.builder.put(ir.Load(flag, (), frame.builder.loc)), "a flag")
    branch = ir.If(is_set, ir.Block(), ir.Block(), frame.builder.loc)
    with frame.builder.into(branch.then):
        store(frame, checkpoints.state, POINT, ir.Const(NOWHERE, i32))
        store(frame, checkpoints.state, YIELDED, ir.Const(number - 1, i32))
    frame.builder.put(branch)


class Guard:
    """The guard of control flow between tasks that may contain checkpoints."""

    def __init__(self, frame: Frame, checkpoints: Checkpoints) -> None:
        self.frame, self.checkpoints = frame, checkpoints
        self.last = ir.Const(0, i32)  # the last checkpoint in or before the guarded statement; set by `close`

    def is_entered(self) -> ir.Value:
        """Emit the test, before the statement, whether it is not skipped; return it."""
        return self.frame.builder.compare("LtE", point(self.frame, self.checkpoints), self.last)

    def continues(self) -> ir.Value:
        """Emit the test, after an iteration of a loop, whether no checkpoint has yielded; return it."""
        now = point(self.frame, self.checkpoints)
        return self.frame.builder.compare("NotEq", now, ir.Const(NOWHERE, i32))

    def close(self) -> None:
        """End the guarded statement after its translation."""
        self.last.value = len(self.checkpoints.found)


def guard_of(frame: Frame) -> Guard | None:
    """Return a guard, or None if nothing may be skipped: without checkpoints, or inside one."""
    checkpoints = checkpoints_of(frame)
    return None if checkpoints is None else Guard(frame, checkpoints)
