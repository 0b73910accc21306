# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Forward mode: makes a kernel that computes the results of a kernel and their duals.

A dual is the derivative of a value along the seed direction. Each statement is followed by a statement on duals, so the
duals share the control flow of the kernel and no values are saved. A store also sets the dual of the element, and an
addition also adds to the dual. The dual of an array "x" is the array "x.dual". A value without a dual has the dual 0.
"""

from __future__ import annotations

from collections.abc import Iterator

from cuda_graphs.compiler.artifact import STACK
from cuda_graphs.compiler.autodiff.analysis.activity import edges
from cuda_graphs.compiler.autodiff.analysis.refusals import gradient_error, no_derivative, refuse_gradients
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.builder import Builder
from cuda_graphs.compiler.ir.collectives import COLLECTIVES
from cuda_graphs.compiler.ir.ops import OPS
from cuda_graphs.compiler.passes.copy import Copier

from .derivatives import contribution
from .forward import zero
from .gradient import gradient

__all__ = ["constant", "second", "tangent"]

Carrier = ir.Value | ir.Local | ir.Array


def tangent(kernel: ir.Kernel) -> ir.Kernel:
    """Return the kernel with duals of its arrays.

    Raises:
        CompileGradientError: A dual would flow through a construct without a derivative.
    """
    return _kernel(kernel, {array for array in kernel.arrays if array.needs_dual})


def constant(kernel: ir.Kernel) -> ir.Kernel:
    """Return the kernel with duals that treats all arrays it reads as constant: stored elements get the dual 0."""
    return _kernel(kernel, set())


def _kernel(kernel: ir.Kernel, sources: set[ir.Array]) -> ir.Kernel:
    refuse_gradients(kernel)
    if kernel.checkpoints:
        raise gradient_error(
            kernel.loc, "a kernel with checkpoints has no duals", "differentiate a kernel without checkpoints"
        )
    return _with_duals(kernel, sources)


def second(kernel: ir.Kernel) -> ir.Kernel:
    """Return the gradient of a kernel with duals of its arrays and of their gradients (forward over reverse).

    Raises:
        CompileGradientError: The kernel has no gradient, or a dual would flow through a construct without a derivative.
    """
    found = gradient(kernel)
    made = _with_duals(found, {array for array in found.arrays if array.needs_dual})
    stacks = tuple(ir.replace(each, with_duals=each.array.element.kind == "float") for each in found.stacks)
    return ir.replace(made, stacks=stacks)


def _with_duals(kernel: ir.Kernel, sources: set[ir.Array]) -> ir.Kernel:
    varied = varied_carriers(kernel, sources)
    refuse(kernel, varied)
    writer = _Tangent(varied)
    body = writer.block(kernel.body)
    return ir.replace(
        kernel,
        name=f"{kernel.name}_forward",
        body=body,
        arrays=(*kernel.arrays, *writer.arrays.values()),
    )


def varied_carriers(kernel: ir.Kernel, sources: set[ir.Array]) -> set[Carrier]:
    """Return all carriers that derivatives flow to from the arrays `sources`."""
    statements = list(ir.walk(kernel.body))
    found: set[Carrier] = set(sources)
    size = -1
    while size != len(found):
        size = len(found)
        for statement in statements:
            found.update(target for source, target in flows_of(statement) if source in found)
    return found


def flows_of(statement: ir.Statement) -> Iterator[tuple[Carrier, Carrier]]:
    """Yield (from, to) of the derivatives that flow through a statement.

    Arrays occur only as `from`: the caller determines whether an array has a dual.
    """
    yield from edges(statement)
    match statement:
        case ir.Load():
            yield statement.array, statement
        case ir.Store() if is_stack(statement.array):
            yield statement.value, statement.array
        case ir.Atomic():
            yield statement.array, statement
            if statement.type.kind == "float":
                yield statement.value, statement
        case ir.Collective() if statement.type.kind == "float":
            yield statement.args[0], statement


def refuse(kernel: ir.Kernel, varied: set[Carrier]) -> None:
    """Reject a kernel if a dual would flow through an operation or array without a derivative."""
    statements = list(ir.walk(kernel.body))
    used = {value for s in statements for value in ir.operands_of(s)}
    loaded = {s.array for s in statements if isinstance(s, ir.Load)}
    for s in statements:
        match s:
            case ir.Op() if OPS[s.name].derivative is None and s in used:
                if any(arg in varied for arg in s.args):
                    raise gradient_error(
                        s.loc, f"{OPS[s.name].spelling} has no derivative",
                        "apply it only to values that do not depend on arrays with a dual",
                    )  # fmt: skip
            case ir.Atomic():
                refuse_atomic(s, varied, used)
            case ir.Store() if not s.array.needs_dual and s.array in loaded and s.value in varied:
                if s.array.element.kind == "float" and not is_stack(s.array):
                    raise gradient_error(
                        s.loc, f"{s.array.path!r} passes a value on inside the kernel, but has no dual",
                        "make it with needs_grad=True or needs_dual=True, or keep the value in a variable",
                    )  # fmt: skip
            case ir.Collective() if s in varied and not is_linear(s):
                raise gradient_error(
                    s.loc, f"{COLLECTIVES[s.name].spelling} has no derivative: the thread with the result is unknown",
                    "use a sum or a shuffle",
                )  # fmt: skip


def refuse_atomic(atomic: ir.Atomic, varied: set[Carrier], used: set[ir.Value]) -> None:
    """Reject atomics on duals, except sums: other atomics have derivatives that depend on other iterations."""
    if atomic.type.kind != "float":
        return
    carries = atomic.array in varied or (isinstance(atomic.array, ir.Array) and atomic.array.needs_dual)
    if atomic.kind != "add" and (carries or atomic.value in varied):
        raise no_derivative(atomic)
    if atomic in used and atomic in varied:
        raise gradient_error(
            atomic.loc, "the result of an atomic depends on the order of iterations, which is unknown",
            "compute the index or value from the loop variables",
        )  # fmt: skip


def is_stack(array: ir.Array | ir.Local) -> bool:
    """Return True for the stack of a gradient with floats."""
    is_temporary = isinstance(array, ir.Array) and array.space is ir.Space.TEMP
    return is_temporary and array.path.startswith(STACK) and array.element.kind == "float"  # type: ignore[union-attr]


def is_linear(collective: ir.Collective) -> bool:
    row = COLLECTIVES[collective.name]
    return bool(row.source) or row.combine == "add"


class _Tangent(Copier):
    """Copies a kernel with duals.

    arrays, locals  dual of each array and local that has a dual
    duals           dual in the copy, for each value of the kernel
    """

    def __init__(self, varied: set[Carrier]) -> None:
        super().__init__()
        self.varied = varied
        self.arrays: dict[ir.Array, ir.Array] = {}
        self.locals: dict[ir.Local, ir.Local] = {}
        self.duals: dict[ir.Value, ir.Value] = {}

    def statement(self, statement: ir.Statement) -> list[ir.Statement]:
        made = super().statement(statement)
        builder = Builder()
        builder.loc = statement.loc
        self.put_duals(builder, statement)
        return [*made, *builder.block.body]

    def put_duals(self, builder: Builder, s: ir.Statement) -> None:
        """Generate the statements on duals for a statement."""
        match s:
            case ir.Op() if s in self.varied:
                self.op(builder, s)
            case ir.Load() if s in self.varied and is_stack(s.array):
                self.duals[s] = builder.put(ir.Load(s.array, self.in_stack(builder, s), s.loc))
            case ir.Store() if s.array in self.varied and is_stack(s.array):
                dual = self.duals.get(s.value, ir.Const(0.0, s.array.element))
                builder.put(ir.Store(s.array, self.in_stack(builder, s), dual, s.loc))
            case ir.Load() if s in self.varied:
                self.duals[s] = builder.put(ir.Load(self.array(s.array), self.part(s.index), s.loc))
            case ir.Get() if s in self.varied:
                self.duals[s] = builder.put(ir.Get(self.local(s.local), s.loc))
            case ir.Collective() if s in self.varied:
                args = (self.duals[s.args[0]], *(self.part(arg) for arg in s.args[1:]))
                self.duals[s] = builder.put(ir.Collective(s.name, args, s.type, s.loc))
            case ir.Set() if s.local in self.varied:
                local = self.local(s.local)
                builder.put(ir.Set(local, self.duals.get(s.value, zero(local)), s.loc))
            case ir.Store() if s.array.needs_dual:
                dual = self.duals.get(s.value, ir.Const(0.0, s.array.element))
                builder.put(ir.Store(self.array(s.array), self.part(s.index), dual, s.loc))
            case ir.Atomic() if s.value in self.duals:
                self.atomic(builder, s)

    def in_stack(self, builder: Builder, s: ir.Load | ir.Store) -> tuple[ir.Value, ...]:
        """Return the index of the dual of an element of a stack: the duals follow all values of the stack."""
        count, worker = self.part(s.index)
        capacity = builder.put(ir.Extent(s.array, 0))
        return builder.op("add", count, capacity), worker

    def op(self, builder: Builder, op: ir.Op) -> None:
        total: ir.Value | None = None
        for number, arg in enumerate(op.args):
            if arg not in self.duals:
                continue
            added = contribution(
                builder, op, number, self.duals[arg], lambda n: self.part(op.args[n]), forward=True
            )
            if added is not None:
                total = added if total is None else builder.op("add", total, added)
        if total is not None:
            self.duals[op] = total

    def atomic(self, builder: Builder, atomic: ir.Atomic) -> None:
        """Generate the sum of duals for an atomic sum."""
        array, dual = atomic.array, self.duals[atomic.value]
        if isinstance(array, ir.Local):
            builder.put(ir.Atomic("add", self.local(array), (), dual, None, atomic.loc))
        elif array.needs_dual:
            builder.put(ir.Atomic("add", self.array(array), self.part(atomic.index), dual, None, atomic.loc))

    def array(self, array: ir.Array) -> ir.Array:
        if array not in self.arrays:
            self.arrays[array] = ir.replace(
                array, path=f"{array.path}.dual", needs_grad=False, needs_dual=False
            )
        return self.arrays[array]

    def local(self, local: ir.Local) -> ir.Local:
        if local not in self.locals:
            self.locals[local] = ir.Local(f"{local.name}.dual", local.type)
        return self.locals[local]
