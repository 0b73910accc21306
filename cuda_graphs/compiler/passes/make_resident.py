# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Chooses the tasks that become one launch whose threads stay resident: loops with their contents, chains, or both.

    0, while {1, 2}, 3   loops: 0, [while {1, 2}], 3   chains: 0, while {[1, 2]}, 3   both: [0, while {1, 2}, 3]

A task of one thread before or after a loop joins the loop's launch. One launch has one block size, and the shared
memory of all its tasks.
"""

from __future__ import annotations

from itertools import groupby

from cuda_graphs.compiler.artifact import (
    BARRIER,
    EXCHANGE,
    EXCHANGED,
    SHARED_ALIGNMENT,
    STOP,
    USUAL_SHARED,
    is_heavy,
    layout,
    settings_of,
    shared_layout,
)
from cuda_graphs.compiler.errors import CompileError, CompileResidentError, compile_error
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.collectives import EXCHANGE as EXCHANGE_BYTES
from cuda_graphs.compiler.ir.collectives import WARP
from cuda_graphs.compiler.ir.exchanges import OPERATIONS, TABLE_WORDS, TYPES, typestr_of
from cuda_graphs.compiler.ir.types import u32, u64

from .fuse_tests import ends_early
from .mark_bins import BIN_BYTES, COPIES_BYTES
from .privatise_atomics import MAX_BLOCK_SUMS

__all__ = ["bin_bytes", "make_resident"]

REDUCTION = "all_reduce"
BARRIER_WORDS = 96  # three counters, each in its own cache line (ptx_resident.py)
SUM = WARP * (8 + 4)  # bytes of a block's sum for one element (block_reductions.py)


def make_resident(
    program: ir.Program, loops: bool, chains: str | None, exchanges: tuple[str, ...] = ()
) -> ir.Program:
    """Returns the program with ir.Resident steps.

    `loops` makes loops resident. `chains` makes consecutive tasks resident: "all" of them, or the "light" ones. A call
    of all_reduce of an object among `exchanges` becomes an ir.Exchange there. Raises CompileResidentError if tasks
    cannot share a launch.
    """
    maker = _ResidentMaker(program, loops, chains, exchanges)
    plan = maker.plan(program.plan)
    temps = (*program.temps, *maker.barriers, *maker.stops, *maker.tables.values())
    return ir.replace(program, plan=plan, temps=temps)


class _ResidentMaker:
    def __init__(
        self, program: ir.Program, loops: bool, chains: str | None, exchanges: tuple[str, ...]
    ) -> None:
        self.program, self.loops, self.chains, self.exchanges = program, loops, chains, exchanges
        self.arrays = {array.path: array for array in program.kernel.arrays}
        self.tables: dict[str, ir.Array] = {}  # by the path of the object
        self.barriers: list[ir.Array] = []
        self.stops: list[ir.Array] = []

    def may_share_launch(self, step: ir.Step) -> bool:
        """Returns whether the step may share a launch with its neighbours."""
        if isinstance(step, ir.HostStep):
            return False
        if isinstance(step, ir.Branch):
            if self.loops:
                self.require_no_other_calls(step)
            return self.loops
        if isinstance(step, ir.Fork):
            return self.chains == "all"
        if isinstance(step, int) and self.loops and self.program.tasks[step].loop is None:
            return True
        tasks = [self.program.tasks[number] for number in ir.tasks_of((step,))]
        return self.chains == "all" or (self.chains == "light" and all(map(is_light, tasks)))

    def plan(self, plan: ir.Plan) -> ir.Plan:
        found: list[ir.Step] = []
        for is_shared, run in groupby(plan, self.may_share_launch):
            steps = tuple(run)
            if is_shared and (len(steps) > 1 or isinstance(steps[0], ir.Branch)):
                found.append(self.resident(steps))
            else:
                found += [self.inner_plans(step) for step in steps]
        return tuple(found)

    def require_no_other_calls(self, branch: ir.Branch) -> None:
        """Raises if an object of the host adds nodes in the control flow."""
        calls = [step for step in ir.all_steps((branch,)) if isinstance(step, ir.HostStep)]
        found = next((step for step in calls if not self.is_exchange(step)), None)
        if found is not None:
            raise compile_error(
                CompileResidentError, found.loc, f"{found.object}.{found.method} is a node of the graph, and a "
                "resident loop is one launch without nodes inside", "leave loop at \"auto\"",
            )  # fmt: skip

    def is_exchange(self, call: ir.HostStep) -> bool:
        """Returns whether a resident launch can do the work of a call, if the arrays are small enough."""
        if call.object not in self.exchanges or call.method != REDUCTION:
            return False
        source, target, op = call.args
        arrays = [self.arrays.get(each[1]) for each in (source, target) if each[0] == "array"]
        known = all(each is not None and typestr_of(each.element) in TYPES for each in arrays)
        return known and op[0] == "constant" and op[1] in OPERATIONS

    def with_exchanges(self, plan: ir.Plan) -> ir.Plan:
        return tuple(self.with_exchange(step) for step in plan)

    def with_exchange(self, step: ir.Step) -> ir.Step:
        if isinstance(step, ir.HostStep):
            source, target, op = step.args
            read = self.arrays[source[1]]
            written = self.arrays[target[1]] if target[0] == "array" else read
            return ir.Exchange(step, read, written, op[1], self.table(step.object))
        if isinstance(step, (ir.Branch, ir.Fork)):
            return ir.replace(step, plans=tuple(map(self.with_exchanges, step.plans)))
        return step

    def table(self, path: str) -> ir.Array:
        if path not in self.tables:
            name = f"{EXCHANGE}.{path}"
            self.tables[path] = ir.Array(name, u64, 1, ir.Space.TEMP, (TABLE_WORDS,))
        return self.tables[path]

    def inner_plans(self, step: ir.Step) -> ir.Step:
        if not isinstance(step, (ir.Branch, ir.Fork)):
            return step
        return ir.replace(step, plans=tuple(self.plan(inner) for inner in step.plans))

    def resident(self, steps: ir.Plan) -> ir.Resident:
        steps = self.with_exchanges(steps)
        tasks = [self.program.tasks[number] for number in ir.tasks_of(steps)]
        found = sharing_error(tasks)
        if found is not None:
            raise found
        barrier = ir.Array(f"{BARRIER}.{len(self.barriers)}", u32, 1, ir.Space.TEMP, (BARRIER_WORDS,))
        self.barriers.append(barrier)
        number = next(ir.tasks_of(steps))
        stop = self.stop_word() if any(map(is_loop, ir.all_steps(steps))) else None
        resident = ir.Resident(f"{self.program.kernel.name}_{number}_resident", steps, barrier, stop)
        layout(*tasks, words=resident.words)  # raises if there are too many parameters
        return resident

    def stop_word(self) -> ir.Array:
        word = ir.Array(f"{STOP}.{len(self.stops)}", u32, 0, ir.Space.TEMP, ())
        self.stops.append(word)
        return word


def is_loop(step: ir.Step) -> bool:
    return isinstance(step, ir.Branch) and step.kind in ir.LOOPS


def is_light(task: ir.Task) -> bool:
    """Returns whether the task gains more from sharing a launch with the next task than from its own launch shape."""
    return settings_of(task).block_dim is None and not is_heavy(task)


def sharing_error(tasks: list[ir.Task]) -> CompileError | None:
    """Returns the reason why the tasks cannot share a launch, or None."""
    blocks = [task for task in tasks if task.loop is not None and task.loop.block_dim]
    leaving = next((task for task in blocks if ends_early(task)), None)
    if leaving is not None:
        return compile_error(
            CompileResidentError, leaving.loc, "threads of a block may leave this task early, when a recursion is too "
            "deep, and threads that stay for the next task would wait for them",
            "leave loop and chain at \"auto\"",
        )  # fmt: skip
    first = next(iter(blocks), None)
    for task in blocks:
        assert task.loop is not None
        assert first is not None
        assert first.loop is not None
        if task.loop.block_dim != first.loop.block_dim:
            return compile_error(
                CompileResidentError, task.loc, f"this loop has blocks of {task.loop.block_dim} threads, and "
                f"the loop in line {ir.line_of(first.loc)} has blocks of {first.loop.block_dim}: one launch has "
                "one block size, so these tasks cannot be resident",
                "give both loops the same block size, or leave loop and chain at \"auto\"",
            )  # fmt: skip
    shared = sum(map(shared_by, tasks)) + least_bin_bytes(tasks)
    if shared > USUAL_SHARED - EXCHANGED:
        return compile_error(
            CompileResidentError, tasks[0].loc, f"these tasks need {shared} bytes of shared memory together, but "
            f"one launch has {USUAL_SHARED - EXCHANGED}: the tasks cannot be resident",
            "use less shared memory, or leave loop and chain at \"auto\"",
        )  # fmt: skip
    return None


def bin_bytes(tasks: list[ir.Task]) -> int:
    """Returns the bytes of shared memory for bins in a launch of these tasks, which use the same memory in turn."""
    left = USUAL_SHARED - EXCHANGED - sum(map(shared_by, tasks))
    return max(least_bin_bytes(tasks), min(COPIES_BYTES, left // SHARED_ALIGNMENT * SHARED_ALIGNMENT))


def least_bin_bytes(tasks: list[ir.Task]) -> int:
    """Returns the least bytes of shared memory for bins."""
    return BIN_BYTES * max(len(task.bins) for task in tasks)


def shared_by(task: ir.Task) -> int:
    """Returns the most bytes of shared memory that a GPU block uses in the task, except for bins."""
    exchange = -(-EXCHANGE_BYTES // SHARED_ALIGNMENT) * SHARED_ALIGNMENT
    reductions = exchange if task.loop is not None and task.loop.block_dim else 0
    return shared_layout(task.body)[1] + reductions + SUM * min(len(task.sums), MAX_BLOCK_SUMS)
