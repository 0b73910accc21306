# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The steps from a kernel to its gradient, its counting kernel and its sizing kernel."""

from __future__ import annotations

from cuda_graphs.compiler.autodiff.analysis.activity import Activity
from cuda_graphs.compiler.autodiff.analysis.hazards import check_hazards
from cuda_graphs.compiler.autodiff.analysis.program_points import ProgramPoints
from cuda_graphs.compiler.autodiff.analysis.refusals import refuse_constructs, refuse_flows
from cuda_graphs.compiler.autodiff.analysis.size_expressions import Expression, leaves_of
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import i32, i64

from .counting import counting_body
from .dead_code import eliminate_dead_code
from .normal_form import NormalForm, normalise
from .reverse import Recorder, Reverse
from .saved_values import SavedValues, choose_saved_values
from .sizing import sizing_body
from .stacks import OVERFLOW

__all__ = ["counting", "gradient", "reads_arrays", "sizing"]


class _Analysis:
    """The common analysis of the gradient, the counting kernel and the sizing kernel."""

    def __init__(self, kernel: ir.Kernel) -> None:
        refuse_constructs(kernel)
        self.of = kernel
        self.normal = normalise(kernel)
        self.points, self.active = ProgramPoints(self.normal.kernel), Activity(self.normal.kernel)
        refuse_flows(self.normal.kernel, self.points, self.active)
        self.saved = find_saved_values(self.normal, self.points, self.active)
        self.writer = Reverse(self.normal, self.points, self.active, self.saved)
        body = self.writer.kernel()
        stacks = {stack.array for stack in self.writer.stacks.values()}
        statements = list(ir.walk(eliminate_dead_code(body, stacks)))
        loads = self.writer.loads
        needed = [loads[s] for s in statements if s in loads]
        check_hazards(self.normal.kernel, self.points, self.active, set(needed))
        self.repeats: dict[str, int] = {}
        for load in needed:
            line = ir.line_of(load.loc)
            self.repeats[load.array.path] = min(line, self.repeats.get(load.array.path, line))
        live = {s.array for s in statements if isinstance(s, ir.Load)} & stacks
        self.writer.guard(live)
        self.body = eliminate_dead_code(body, stacks)
        self.stacks = {
            local: stack.describe(self.points)
            for local, stack in self.writer.stacks.items()
            if stack.array in live
        }


def find_saved_values(found: NormalForm, points: ProgramPoints, active: Activity) -> SavedValues:
    """Return the values that the gradient saves."""
    recorder = Recorder(found, points, active)
    recorder.kernel()
    seen = {
        s.local
        for s in points.home
        if isinstance(s, ir.Get)
        and points.unit_of[s.local] is points.root
        and points.unit(s) is not points.root
    }
    return choose_saved_values(points, recorder.demands, found.counts.values(), seen)


def gradient(kernel: ir.Kernel) -> ir.Kernel:
    """Return the gradient of a kernel.

    It adds to the gradients of the arrays that the kernel reads, and reads and clears the gradients of stored elements.
    The gradient of an array "x" is the array "x.grad".

    Raises:
        CompileGradientError: The kernel contains a construct without a gradient.
    """
    work = _Analysis(kernel)
    written = {
        s.array.path
        for s in ir.walk(kernel.body)
        if isinstance(s, (ir.Store, ir.Atomic)) and isinstance(s.array, ir.Array)
    }
    return ir.replace(
        kernel,
        name=f"{kernel.name}_grad",
        body=work.body,
        arrays=(*kernel.arrays, *work.writer.grads.values(), *([OVERFLOW] if work.stacks else [])),
        returns=(),
        stacks=tuple(work.stacks.values()),
        overwrites=tuple(sorted(written)),
        repeats=tuple(sorted(work.repeats.items())),
    )


def counting(kernel: ir.Kernel) -> ir.Kernel:
    """Return the counting kernel, which returns the peak number of values of each stack, in the gradient's order."""
    work = _Analysis(kernel)
    body = counting_body(work.points, work.saved, list(work.stacks))
    return ir.replace(
        kernel,
        name=f"{kernel.name}_count",
        body=eliminate_dead_code(body, set()),
        returns=(i32,) * len(work.stacks),
    )


def reads_arrays(expression: Expression | None) -> bool:
    """Return True if an expression reads elements of an array."""
    return expression is not None and any(leaf[0] == "read" for leaf in leaves_of(expression))


def sizing(kernel: ir.Kernel) -> ir.Kernel:
    """Return the sizing kernel, which evaluates the size expressions that read arrays, in the order of the stacks."""
    capacities = [
        stack.capacity for stack in _Analysis(kernel).stacks.values() if reads_arrays(stack.capacity)
    ]
    return ir.replace(
        kernel,
        name=f"{kernel.name}_size",
        body=sizing_body(kernel, capacities),
        returns=(i64,) * len(capacities),
    )
