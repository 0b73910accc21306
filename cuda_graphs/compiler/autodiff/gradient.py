# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The steps from a kernel to its gradient, its counting kernel and its sizing kernel."""

from __future__ import annotations

from cuda_graphs.compiler.autodiff.analysis.activity import Activity
from cuda_graphs.compiler.autodiff.analysis.hazards import check_hazards
from cuda_graphs.compiler.autodiff.analysis.program_points import Places
from cuda_graphs.compiler.autodiff.analysis.refusals import refuse_constructs, refuse_flows
from cuda_graphs.compiler.autodiff.analysis.size_expressions import Expression, leaves_of
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import i32, i64

from .counting import counting_body
from .normal import Normal, normal
from .plan import Plan, planned
from .prune import pruned
from .reverse import Recorder, Reverse
from .sizing import sizing_body
from .stacks import OVERFLOW

__all__ = ["counting", "gradient", "reads", "sizing"]


class _Work:
    """The common analysis of the gradient, the counting kernel and the sizing kernel."""

    def __init__(self, kernel: ir.Kernel) -> None:
        refuse_constructs(kernel)
        self.of = kernel
        self.normal = normal(kernel)
        self.places, self.active = Places(self.normal.kernel), Activity(self.normal.kernel)
        refuse_flows(self.normal.kernel, self.places, self.active)
        self.plan = plan_for(self.normal, self.places, self.active)
        self.writer = Reverse(self.normal, self.places, self.active, self.plan)
        body = self.writer.kernel()
        stacks = {stack.array for stack in self.writer.stacks.values()}
        statements = list(ir.walk(pruned(body, stacks)))
        loads = self.writer.loads
        needed = [loads[s] for s in statements if s in loads]
        check_hazards(self.normal.kernel, self.places, set(needed))
        self.repeats: dict[str, int] = {}
        for load in needed:
            line = ir.line_of(load.loc)
            self.repeats[load.array.path] = min(line, self.repeats.get(load.array.path, line))
        live = {s.array for s in statements if isinstance(s, ir.Load)} & stacks
        self.writer.guard(live)
        self.body = pruned(body, stacks)
        self.stacks = {
            local: stack.described(self.places)
            for local, stack in self.writer.stacks.items()
            if stack.array in live
        }


def plan_for(found: Normal, places: Places, active: Activity) -> Plan:
    """Return the plan of the values that the gradient saves."""
    recorder = Recorder(found, places, active)
    recorder.kernel()
    seen = {
        s.local
        for s in places.home
        if isinstance(s, ir.Get)
        and places.unit_of[s.local] is places.root
        and places.unit(s) is not places.root
    }
    return planned(places, recorder.demands, found.counts.values(), seen)


def gradient(kernel: ir.Kernel) -> ir.Kernel:
    """Return the gradient of a kernel.

    It adds to the gradients of the arrays that the kernel reads, and reads and clears the gradients of stored elements.
    The gradient of an array "x" is the array "x.grad".

    Raises:
        CompileGradientError: The kernel contains a construct without a gradient.
    """
    work = _Work(kernel)
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
    work = _Work(kernel)
    body = counting_body(work.places, work.plan, list(work.stacks))
    return ir.replace(
        kernel,
        name=f"{kernel.name}_count",
        body=pruned(body, set()),
        returns=(i32,) * len(work.stacks),
    )


def reads(expression: Expression | None) -> bool:
    """Return True if an expression reads elements of an array."""
    return expression is not None and any(leaf[0] == "read" for leaf in leaves_of(expression))


def sizing(kernel: ir.Kernel) -> ir.Kernel:
    """Return the sizing kernel, which evaluates the size expressions that read arrays, in the order of the stacks."""
    rooms = [stack.room for stack in _Work(kernel).stacks.values() if reads(stack.room)]
    return ir.replace(
        kernel, name=f"{kernel.name}_size", body=sizing_body(kernel, rooms), returns=(i64,) * len(rooms)
    )
