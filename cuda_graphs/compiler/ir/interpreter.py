# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The reference semantics of the IR: executes a kernel with NumPy scalars, one iteration after the other.

Threads that cooperate in blocks run in lockstep (block_interpreter.py). The code favours clarity over speed. Tests
compare the targets with this interpreter; a target that differs is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from . import ir
from . import scalars as number
from .block_interpreter import run_blocks
from .host_calls import number_of, resolved
from .thread_interpreter import AssertionFailed, EndTask, ThreadInterpreter

__all__ = ["AssertionFailed", "interpret"]


def interpret(
    what: ir.Kernel | ir.Program,
    arrays: Mapping[str, np.ndarray],
    scalars: Mapping[str, Any],
    write: Any = None,
    objects: Mapping[str, Any] = MappingProxyType({}),
) -> tuple[Any, ...]:
    """Run a kernel, or the tasks of a program, and return the results of the kernel.

    `arrays` (which the run changes) and `scalars` are given by path. The array of a condition parameter is one u32.
    `write` is called with each text that the kernel prints. The capacity of a stack is a scalar under the path of its
    array. `objects` are those of the host, by path: their methods get NumPy arrays.
    """
    kernel = KernelInterpreter(arrays, scalars, write)
    kernel.objects = objects
    return kernel.tasks(what) if isinstance(what, ir.Program) else kernel.run(what)


class KernelInterpreter(ThreadInterpreter):
    """The thread that runs a kernel, or the tasks of a program."""

    def receive(self, kernel: ir.Kernel) -> None:
        for stack in kernel.stacks:
            capacity = int(self.scalars[stack.array.path])
            self.temps[stack.array] = np.zeros((capacity, 1), number.memory_dtype(stack.array.element))
        for param in kernel.params:
            self.values[param] = number.scalar(self.scalars[param.path], param.type)

    def run(self, kernel: ir.Kernel) -> tuple[Any, ...]:
        self.receive(kernel)
        self.parallel_loops = [s for s in ir.walk(kernel.body) if isinstance(s, ir.For) and s.parallel]
        self.block(kernel.body)
        return self.returned

    def tasks(self, program: ir.Program) -> tuple[Any, ...]:
        """Run each task with one thread, which executes all iterations. Return the results."""
        self.receive(program.kernel)
        self.plan(program, program.plan)
        return tuple(number.read(self.memory(array)[()], array.element) for array in program.results)

    def plan(self, program: ir.Program, plan: ir.Plan) -> None:
        for step in plan:
            if isinstance(step, ir.Resident):
                self.plan(program, step.plan)
                continue
            if isinstance(step, ir.Branch):
                blocks = [partial(self.plan, program, inner) for inner in step.plans]
                self.repeat(step.kind, step.condition, blocks)
                continue
            if isinstance(step, (ir.HostStep, ir.Exchange)):
                self.host_step(step.call if isinstance(step, ir.Exchange) else step)
                continue
            if isinstance(step, ir.Fork):  # any order is allowed
                for inner in step.plans:
                    self.plan(program, inner)
                continue
            with suppress(EndTask):
                self.block(program.tasks[step].body)

    def host_step(self, step: ir.HostStep) -> None:
        host = self.objects[step.object]

        def number(bound: Any) -> int:
            return number_of(
                bound,
                lambda path, axis: self.arrays[path].shape[axis],
                lambda path, _: int(self.scalars[path]),
            )

        values = [
            resolved(each, lambda path, *_: self.arrays[path], number, partial(getattr, host))
            for each in step.args
        ]
        getattr(host, step.method)(*values)

    def loop(self, statement: ir.For) -> None:
        if statement.block_dim:
            run_blocks(self, statement)
        else:
            super().loop(statement)
