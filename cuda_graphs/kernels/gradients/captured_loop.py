# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of graph kernels with control flow in a captured tape: while nodes forward and backward.

The nodes forward call the parts of the kernel by their plan (compiler/autodiff/parts.py). Before a part runs, its nodes
store the old contents of the memory that it writes, in the element of an array that belongs to the iteration. The nodes
backward have the mirrored plan: the last iteration comes first. For each part they call its gradient, which reads
the arrays as they were after the part. They then restore the old contents, which are those after the part before.

    while c: (part 0, part 1)    =>    forward   begin; while: (save, part 0, save, part 1, again)
                                       backward  begin; while: (gradient 1, restore, gradient 0, restore, again)
"""

from __future__ import annotations

from typing import Any

from cuda_graphs.compiler.ir.types import SCALARS, i64
from cuda_graphs.compiler.passes.report import AssertInfo
from cuda_graphs.graph.capture.captured_insertion_point import BorrowedCapture, CapturedInsertionPoint
from cuda_graphs.kernels.arrays.ndarray import NDArray, memory_of
from cuda_graphs.kernels.debug.reports import Report
from cuda_graphs.objects.device.device import current_device
from cuda_graphs.objects.device.stream import Stream
from cuda_graphs.objects.memory.buffer import Buffer
from cuda_graphs.objects.memory.memory_resource import SynchronousMemoryResource

from .loop_calls import variables_of
from .loop_steps import Choice, Level, Loop, Part, Set, backward, forward, variable

__all__ = ["CapturedLoop"]


class CapturedLoop:
    """One call of a graph kernel with control flow in a captured tape, which records it in place of the kernel.

    Args:
        function: The KernelFunction.
        plan: Its `parts` for the arguments of the call.
        with_duals: Whether the call also computes duals, in a FwdMode.

    Raises:
        RuntimeError: A loop has no `max_iterations`.
    """

    mode = None
    is_graph = False  # it has no parts of its own

    def __init__(self, function: Any, plan: tuple[Any, ...], with_duals: bool) -> None:
        self.function, self.plan, self.with_duals = function, plan, with_duals
        self.__name__ = function.__name__
        self.grad = _Gradient(self)
        self.steps: list[Any] = []
        self.root: Level | None = None
        self.variables: tuple[NDArray, ...] = ()
        self.asserts: list[AssertInfo] = []
        check_limits(function, plan)

    def fields(self, *args: Any) -> tuple[Any, ...]:
        return tuple(self.function.fields(*args))

    def has_gradient(self, *args: Any) -> bool:
        return bool(self.function.has_gradient(*args))

    def forward(self) -> CapturedLoop:
        return self

    def written(self, *args: Any) -> dict[str, Any]:
        of = self.function.forward() if self.with_duals else self.function
        found: dict[str, Any] = of.written(*args)
        return found

    def __call__(self, *args: Any, stream: Stream) -> None:
        """Add the nodes forward. A repeated call stores the same states in the same memory."""
        if self.root is None:
            self.build(args)
        assert self.root is not None
        self.root.memory.fill(0, stream=stream)
        self.add(lambda node: forward(self.steps, node, {}), stream)

    def go_back(self, stream: Stream) -> None:
        """Add the nodes backward, and let the arrays keep their results."""
        for each in self.variables:
            if each.grad is not None:
                memory_of(each.grad).fill(0, stream=stream)
        memories = {id(each): each for step in self.steps for each in step.memories()}
        resource = SynchronousMemoryResource(current_device())
        copies = [(each, resource.allocate(each.size, stream=stream)) for each in memories.values()]
        for memory, copy in copies:
            copy.copy_from(memory, stream=stream)
        self.add(lambda node: backward(self.steps, node), stream)
        for memory, copy in copies:
            memory.copy_from(copy, stream=stream)

    def add(self, nodes: Any, stream: Stream) -> None:
        with BorrowedCapture(stream):
            nodes(CapturedInsertionPoint(stream))

    def build(self, args: tuple[Any, ...]) -> None:
        """Allocate the memory of all states."""
        self.root = Level(1)
        self.variables = tuple(variable(SCALARS[kind]) for _, kind in variables_of(self.plan))
        made = _Builder(self, (*args, *self.variables))
        self.steps = made.steps(self.plan, self.root)
        if made.loops:
            report = Report(self.__name__, tuple(self.asserts), 8)
            word = Buffer.from_handle(report.handle, 8, owner=report).view(i64, 1)
            for number, loop in enumerate(made.loops):
                loop.overflow = word, number + 1


class _Gradient:
    """The gradient of a CapturedLoop, for its tape."""

    def __init__(self, of: CapturedLoop) -> None:
        self.of = of

    def __call__(self, *args: Any, stream: Stream) -> None:
        self.of.go_back(stream)

    def clear(self, args: tuple[Any, ...], fields: Any, done: dict[int, Any], stream: Any = None) -> None:
        """Fill the gradients of the array arguments and of `fields` with zeros, as GradientFunction.clear does."""
        self.of.function.grad.clear(args, fields, done, stream)


def check_limits(function: Any, plan: tuple[Any, ...]) -> None:
    for step in plan:
        if step[0] in ("while", "do"):
            if step[3] is None:
                raise RuntimeError(
                    f"the loop in line {step[4]} of {function.__name__}() has no max_iterations, and a captured Tape "
                    "stores the state of each iteration: write cg.graph_while(condition, max_iterations=100), or use "
                    "the Tape outside of the capture"
                )
            check_limits(function, step[5])
        elif step[0] in ("if", "switch"):
            for inner in step[2]:
                check_limits(function, inner)


class _Builder:
    """Makes the steps of one call."""

    def __init__(self, of: CapturedLoop, args: tuple[Any, ...]) -> None:
        self.of, self.args = of, args
        self.loops: list[Loop] = []

    def steps(self, plan: tuple[Any, ...], level: Level) -> list[Any]:
        made: list[Any] = []
        for step in plan:
            match step:
                case ("variable", *_):
                    pass  # one of `args`
                case ("part", number, condition):
                    made.append(self.part(number, condition, level))
                case ("set", condition, value):
                    made.append(Set(condition, value))
                case (("while" | "do") as kind, condition, initial, most, line, inner):
                    first = 1 if kind == "do" else initial
                    made += [] if first is None else [Set(condition, first)]
                    made.append(self.loop(Loop(condition, most, level), line, inner))
                case (kind, condition, plans):
                    blocks = [self.steps(inner, level) for inner in plans]
                    made.append(Choice(kind, condition, blocks, level))
        return made

    def part(self, number: int, condition: int | None, level: Level) -> Part:
        kernel = self.of.function.part(number, variables_of(self.of.plan))
        gradient = kernel.grad
        gradient.stack_room = self.of.function.grad.stack_room
        if self.of.with_duals:
            kernel, gradient = kernel.forward(), gradient.second()
        gradient.compile(*self.args)  # refusals come before nodes
        return Part(kernel, gradient, self.args, condition, level)

    def loop(self, loop: Loop, line: int | None, plan: tuple[Any, ...]) -> Loop:
        text = (
            f"the loop in line {line} has more than max_iterations={loop.most} iterations in a captured Tape, so its "
            "gradient is that of fewer iterations: raise the limit"
        )
        self.of.asserts.append(AssertInfo("adstack", (text,), None))
        self.loops.append(loop)
        loop.steps = self.steps(plan, loop.level)
        return loop
