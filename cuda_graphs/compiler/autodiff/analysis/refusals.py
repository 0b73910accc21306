# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that reject kernels without a computable gradient, before any code is generated."""

from __future__ import annotations

from cuda_graphs.compiler.errors import CompileError, CompileGradientError, compile_error
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.ops import OPS

from .activity import Activity
from .program_points import ProgramPoints

__all__ = [
    "gradient_error",
    "no_derivative",
    "refuse_constructs",
    "refuse_flows",
    "refuse_gradients",
    "refuse_host_calls",
]


def gradient_error(loc: ir.Loc | None, cause: str, remedy: str) -> CompileError:
    """Return the CompileGradientError for a construct without a derivative."""
    return compile_error(CompileGradientError, loc, cause, remedy)


HOST_CALL = (
    "the call of an object of the host has no gradient",
    "call it between two kernels, and give it a gradient with cg.ad.grad_replaced",
)

# (cause, remedy) by the type of a statement.
CONSTRUCTS: dict[type, tuple[str, str]] = {
    ir.Random: (
        "a gradient would draw different random numbers than the kernel",
        "draw the numbers in a separate kernel, into an array that this kernel reads",
    ),
    **dict.fromkeys(
        (ir.Conditional, ir.SetCondition),
        ("control flow between tasks has a gradient in a tape only", "call the kernel in a cg.ad.Tape"),
    ),
    **dict.fromkeys(
        (ir.Collective, ir.Barrier, ir.Position, ir.Fence),
        ("threads that cooperate in blocks have no gradient", "write a loop without cg.blocks"),
    ),
}  # fmt: skip


# Types of statements with a gradient. A new type of statement is rejected until it is added here.
DIFFERENTIATED = (
    ir.Op, ir.Get, ir.Set, ir.Load, ir.Store, ir.Atomic, ir.Extent, ir.If, ir.For, ir.While, ir.Break, ir.Continue,
    ir.Print, ir.Assert, ir.Return, ir.Sections,
)  # fmt: skip


def refuse_constructs(kernel: ir.Kernel) -> None:
    """Reject a kernel that contains a construct without a gradient."""
    if not any(array.needs_grad for array in kernel.arrays):
        raise gradient_error(
            kernel.loc, f"no array that {kernel.name} uses has a gradient",
            "make arrays with needs_grad=True: cg.ndarray(cg.f32, n, needs_grad=True)",
        )  # fmt: skip
    refuse_gradients(kernel)
    if kernel.checkpoints:
        raise gradient_error(
            kernel.loc, "a kernel with checkpoints has no gradient", "differentiate one without checkpoints"
        )
    used = {value for s in ir.walk(kernel.body) for value in ir.operands_of(s)}
    for statement in ir.walk(kernel.body):
        if type(statement) in CONSTRUCTS:
            raise gradient_error(statement.loc, *CONSTRUCTS[type(statement)])
        if not isinstance(statement, DIFFERENTIATED):
            name = type(statement).__name__.lower()
            raise gradient_error(statement.loc, f"a {name} has no gradient", "put it into a separate kernel")
        if isinstance(statement, ir.For) and statement.block_dim:
            raise gradient_error(statement.loc, *CONSTRUCTS[ir.Barrier])
        if isinstance(statement, ir.Atomic) and statement in used:
            raise gradient_error(
                statement.loc, "the result of an atomic depends on the order of iterations, which is unknown",
                "compute the index or value from the loop variables",
            )  # fmt: skip


def refuse_host_calls(kernel: ir.Kernel) -> None:
    """Reject a kernel with calls of host objects."""
    for statement in ir.walk(kernel.body):
        if isinstance(statement, ir.HostCall):
            raise gradient_error(statement.loc, *HOST_CALL)


def refuse_gradients(kernel: ir.Kernel) -> None:
    """Reject a kernel that uses gradients, or calls of host objects."""
    refuse_host_calls(kernel)
    for array in kernel.arrays:
        if array.path.endswith(".grad"):
            raise gradient_error(
                kernel.loc, f"{kernel.name} uses {array.path}, and so has no derivatives itself",
                "differentiate a kernel that does not use gradients",
            )  # fmt: skip


def refuse_flows(kernel: ir.Kernel, points: ProgramPoints, active: Activity) -> None:
    """Reject a kernel if a derivative would flow through an operation or array without a derivative."""
    statements = list(ir.walk(kernel.body))
    used = {value for s in statements for value in ir.operands_of(s)}
    loaded = {s.array for s in statements if isinstance(s, ir.Load)}
    for statement in statements:
        match statement:
            case ir.Op() if OPS[statement.name].derivative is None and statement in used:
                if any(arg in active.varied for arg in statement.args):
                    raise gradient_error(
                        statement.loc, f"{OPS[statement.name].spelling} has no derivative",
                        "apply it only to values that do not depend on arrays with a gradient",
                    )  # fmt: skip
            case ir.Atomic():
                refuse_atomic(statement, points, active)
            case ir.Store() if not statement.array.needs_grad and statement.array in loaded:
                if statement.value in active.varied and statement.array.element.kind == "float":
                    raise gradient_error(
                        statement.loc,
                        f"{statement.array.path!r} passes a value on inside the kernel, but has no gradient",
                        "make it with needs_grad=True, or keep the value in a variable",
                    )  # fmt: skip
            case ir.Set() if points.unit_of[statement.local] is points.root:
                if points.unit(statement) is not points.root:
                    raise gradient_error(
                        statement.loc,
                        f"iterations of a parallel loop assign to {statement.local.name!r}, a variable of the kernel",
                        "use a variable that only the loop assigns, or add to the variable with +=",
                    )  # fmt: skip
            case ir.For() if statement.parallel:
                refuse_races(statement, points)


def refuse_atomic(atomic: ir.Atomic, points: ProgramPoints, active: Activity) -> None:
    """Reject atomics with an adjoint, except sums: other atomics have derivatives that depend on other iterations."""
    if atomic.kind == "add" or atomic.type.kind != "float":
        return
    has_adjoint = atomic.array in active if isinstance(atomic.array, ir.Local) else atomic.array.needs_grad
    if has_adjoint:
        raise no_derivative(atomic)


def no_derivative(atomic: ir.Atomic) -> CompileError:
    """Return the error of an atomic other than a sum."""
    is_product = atomic.kind == "mul"
    return gradient_error(
        atomic.loc,
        f"atomic {atomic.kind} has no derivative here: the iteration that set the result is unknown"
        + (" (*= in a parallel loop is atomic)" if is_product else ""),
        "add with +="
        + (", or write y[i] = y[i] * c if each iteration has an element of its own" if is_product else ""),
    )


def refuse_races(loop: ir.For, points: ProgramPoints) -> None:
    """Reject a parallel loop that reads a variable of the kernel which its iterations change atomically."""
    changed = {s.array for s in ir.walk(loop.body) if isinstance(s, ir.Atomic)}
    for statement in ir.walk(loop.body):
        if isinstance(statement, ir.Get) and statement.local in changed:
            raise gradient_error(
                statement.loc, f"{statement.local.name!r} is read while other iterations change it",
                "read it after the loop",
            )  # fmt: skip
