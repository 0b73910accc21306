# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Hazards: rejects kernels whose memory accesses would make the gradient wrong.

A gradient reads the memory that the kernel has left. A kernel therefore must not overwrite an element that it has
read, if the gradient needs the value that was read. In a parallel loop, no iteration may access an element that
another iteration writes, since the gradient runs each iteration forward and back separately.

An access is safe if its indices prove it. Accesses without a proof are rejected. Each call checks whether two
parameters are the same array (kernels/gradients/stack_memory.pyx).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from cuda_graphs.compiler.ir import ir

from .activity import Activity
from .affine import Affine, affine
from .program_points import ProgramPoints
from .refusals import gradient_error
from .sampled_writes import meeting_writes

__all__ = ["check_hazards", "is_shared"]

Access = ir.Load | ir.Store | ir.Atomic


def check_hazards(kernel: ir.Kernel, points: ProgramPoints, active: Activity, needed: set[ir.Load]) -> None:
    """Reject a kernel in normal form whose gradient would be wrong.

    `needed` holds the loads that the gradient repeats.
    """
    statements = list(ir.walk(kernel.body))
    loads = [s for s in statements if isinstance(s, ir.Load)]
    writes = [s for s in statements if isinstance(s, (ir.Store, ir.Atomic)) and isinstance(s.array, ir.Array)]
    stores = [each for each in writes if isinstance(each, ir.Store) and each.array.needs_grad]
    check_races(kernel, points, active, stores)
    for load, write in product(loads, writes):
        if load.array is not write.array:
            continue
        path = load.array.path
        matters = load in needed or load.array.needs_grad
        if matters and conflicts_with_other_iteration(points, load, write) is not False:
            raise gradient_error(
                load.loc,
                f"an iteration may read an element of {path!r} that another iteration writes (line "
                f"{ir.line_of(write.loc)}): a gradient differentiates each iteration separately",
                "read and write only elements that belong to the iteration, read elements that an earlier loop has "
                "written, or write to another array",
            )  # fmt: skip
        if load in needed and written_after(points, load, write):
            raise gradient_error(
                load.loc,
                f"the gradient needs this element of {path!r} as it was read, but the kernel may write it later "
                f"(line {ir.line_of(write.loc)}): the gradient runs after that write",
                "write to another array, or to another element, as in x[t + 1, i] = f(x[t, i])",
            )  # fmt: skip


def enclosing(points: ProgramPoints, statement: ir.Statement) -> list[ir.Statement]:
    """Return the statement and the statements that enclose it, from the outermost on."""
    return [*reversed(list(points.around(statement))), statement]


def differences(a: Access, b: Access) -> list[Affine]:
    """Return the difference of the indices of two accesses, by dimension."""
    return [affine(x).plus(affine(y), -1) for x, y in zip(a.index, b.index, strict=True)]


def conflicts_with_other_iteration(points: ProgramPoints, access: Access, write: Access) -> bool | None:
    """Determine whether two iterations of a common parallel loop access one element, and the second one writes it.

    Return False if this never happens, True if it happens for all input values, and None if it is unknown.
    """
    loop = parallel_loop(points, access)
    if loop is None or loop not in set(points.around(write)):
        return False
    indices = {axis.index: axis for axis in loop.axes if not is_single(axis)}
    distinguished: set[ir.LoopIndex] = set()
    is_known = True
    for x, y in zip(write.index, access.index, strict=True):
        ours, theirs = affine(x), affine(y)
        difference = ours.plus(theirs, -1)
        others = [atom for atom in (*ours.factors, *theirs.factors) if atom not in indices]
        if difference.factors or any(is_loop_variant(points, atom, loop) for atom in others):
            is_known = False
            continue
        own = [atom for atom in ours.factors if atom in indices]
        if not own and difference.constant:
            return False
        if len(own) == 1:
            step = ours.factors[own[0]] * indices[own[0]].step
            if difference.constant % step:
                return False
            if not difference.constant:
                distinguished.add(own[0])
        is_known = is_known and len(own) < 2
    if distinguished == set(indices):
        return False
    return True if is_known else None


def parallel_loop(points: ProgramPoints, access: Access) -> ir.For | None:
    """Return the parallel loop around an access."""
    return next((each for each in points.around(access) if isinstance(each, ir.For) and each.parallel), None)


def writes_in_same_loop(points: ProgramPoints, store: ir.Store) -> list[ir.Store | ir.Atomic]:
    """Return all writes of the array in the parallel loop around a store, including the store."""
    loop = parallel_loop(points, store)
    if loop is None:
        return []
    writes = [s for s in ir.walk(loop.body) if isinstance(s, (ir.Store, ir.Atomic))]
    return [each for each in writes if each.array is store.array]


def is_shared(points: ProgramPoints, store: ir.Store) -> bool:
    """Return True if another iteration may write the same element. Only one iteration then gets its adjoint."""
    writes = writes_in_same_loop(points, store)
    return any(conflicts_with_other_iteration(points, store, each) is not False for each in writes)


def check_races(kernel: ir.Kernel, points: ProgramPoints, active: Activity, stores: list[ir.Store]) -> None:
    """Reject stores by several iterations to one element: the last iteration wins, and it is unknown.

    Without a derivative to pass on, any of the iterations may be the last one.
    """
    pairs = [
        (store, other)
        for store in stores
        for other in writes_in_same_loop(points, store)
        if store.value in active.varied or other.value in active.varied
        if conflicts_with_other_iteration(points, store, other) is not False
    ]
    found = meeting_writes(kernel, points, set(pairs)) if pairs else set()
    for store, other in pairs:
        if (store, other) in found:
            raise gradient_error(
                store.loc,
                f"several iterations write one element of {store.array.path!r} (line {ir.line_of(other.loc)}): the "
                "last iteration determines the result, but the order of the iterations is unknown",
                "write different elements in each iteration, write the element in a separate loop or outside loops, "
                "or add with +=",
            )  # fmt: skip


def is_single(axis: ir.Axis) -> bool:
    """Return True for an axis with at most one iteration, such as `for _ in range(1)`."""
    span = affine(axis.end).plus(affine(axis.begin), -1)
    return axis.step > 0 and not span.factors and span.constant <= axis.step


def is_loop_variant(points: ProgramPoints, atom: object, scope: ir.For | ir.While) -> bool:
    """Return True if an atom of an index may have different values in different iterations of a loop."""
    if not isinstance(atom, ir.Value) or atom not in points.home:
        return False
    block = points.home[atom]
    while True:
        if block in ir.blocks_of(scope):
            return True
        if block not in points.owner:
            return False
        block = points.home[points.owner[block]]


def written_after(points: ProgramPoints, load: ir.Load, write: Access) -> bool:
    """Return True if a write may overwrite the loaded element, later in the same thread or in a later task."""
    ours, theirs = enclosing(points, write), enclosing(points, load)
    common = [a for a, b in zip(ours, theirs) if a is b]
    for loop in common:
        serial = isinstance(loop, ir.While) or (isinstance(loop, ir.For) and not loop.parallel)
        if (
            serial
            and isinstance(loop, (ir.For, ir.While))
            and not is_disjoint_later(points, load, write, loop)
        ):
            return True
    depth = len(common)
    a, b = ours[depth], theirs[depth]
    if points.home[a] is not points.home[b] or points.number[a] < points.number[b]:
        return False  # the accesses are in two branches, or the write comes first
    return not any(not difference.factors and difference.constant for difference in differences(write, load))


def is_disjoint_later(points: ProgramPoints, load: ir.Load, write: Access, loop: ir.For | ir.While) -> bool:
    """Return True if writes in later iterations of a loop never overwrite an element that this iteration loaded."""
    axis = loop.axes[0] if isinstance(loop, ir.For) else None
    for x, y in zip(write.index, load.index, strict=True):
        ours, theirs = affine(x), affine(y)
        atoms: Iterable[object] = (*ours.factors, *theirs.factors)
        index = None if axis is None else axis.index
        if any(is_loop_variant(points, atom, loop) for atom in atoms if atom is not index):
            continue
        difference = ours.plus(theirs, -1)
        if difference.factors:
            continue
        step = 0 if axis is None else ours.factors.get(axis.index, 0) * axis.step
        if step == 0:
            if difference.constant:
                return True
            continue
        rounds, rest = divmod(-difference.constant, step)
        if rest or rounds < 1:
            return True
    return False
