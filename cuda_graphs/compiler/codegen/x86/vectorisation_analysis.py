# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The analysis for outer-loop vectorisation (outer_loop_vectoriser.py): whether it pays, and the values that vary
between lanes.

LLVM vectorises innermost loops. If a parallel loop contains a loop that LLVM cannot vectorise (an orbit that leaves
when it is far away, a sum that may not be reordered), nothing becomes a vector. The iterations of the outer loop are
independent, however, and can become lanes.

A sum over all iterations that may be taken in any order (privatise_atomics.py) is one scalar. The lanes' contributions
are added up first.

The values that vary are the index of the last axis, all values computed from it, and variables that are set where only
some lanes are active. Every other value is one scalar for all lanes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cuda_graphs.compiler.codegen.llvm.emitter import SMALL, may_wrap
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.ops import OPS, computing_type
from cuda_graphs.compiler.ir.scalars import is_small
from cuda_graphs.compiler.ir.types import f32, i32, i64

from .sines import OF_F32

__all__ = ["Vectorisation", "leaves_early", "vectorisation_of"]

GLOBAL = (ir.Space.PARAM, ir.Space.FIELD, ir.Space.TEMP)
BYTES = 64  # of a vector
FEWEST, MOST = 8, 16  # lanes
PLAIN = (
    ir.Op, ir.Load, ir.Store, ir.Get, ir.Set, ir.Extent, ir.Worker, ir.If, ir.For, ir.While, ir.Break, ir.Continue,
)  # fmt: skip
# Rows with emitters whose instructions exist for vectors, too.
OF_VECTORS = ("cast", "shift_left", "shift_right", "shift_right_logical", "rsqrt")


@dataclass
class Vectorisation:
    """A loop whose iterations become lanes.

    index    the index of the axis whose iterations are neighbours
    width    the number of lanes
    varying  values and variables that vary between lanes
    masked   loops that some lanes may leave before others
    sums     operations that add to a sum over all iterations
    reduced  the variables of these sums, which live before and after the loop
    """

    index: ir.LoopIndex
    width: int = MOST
    varying: set[ir.Value | ir.Local] = field(default_factory=set)
    masked: set[ir.Statement] = field(default_factory=set)
    sums: set[ir.Op] = field(default_factory=set)
    reduced: set[ir.Local] = field(default_factory=set)


def vectorisation_of(task: ir.Task) -> Vectorisation | None:
    """Return how the task's loop becomes lanes, or None if that is impossible or does not pay."""
    loop = task.loop
    if loop is None or loop.block_dim or not needs_outer_loop(loop.body):
        return None
    if loop.axes[-1].step != 1 or may_wrap(loop.axes[-1]):
        return None
    if not all(isinstance(s, PLAIN) for s in ir.walk(loop.body)):
        return None
    found = Vectorisation(
        loop.axes[-1].index, varying={loop.axes[-1].index}, reduced=escaping_locals(task, loop)
    )
    found.sums = sums_of(found.reduced, loop)
    if not are_sums(found, loop):
        return None
    size = -1
    while size != (size := len(found.varying) + len(found.masked)):
        mark_varying(found, loop.body, leaves_early(loop))
    if not Profitability(found).block(loop.body, False):
        return None
    found.width = max(FEWEST, min(MOST, BYTES // max(v.type.size for v in found.varying)))
    return found


def needs_outer_loop(block: ir.Block) -> bool:
    """Return whether LLVM does not vectorise the block: it contains loops, or sines."""
    return any(
        isinstance(s, (ir.For, ir.While)) or (isinstance(s, ir.Op) and is_sine(s)) for s in ir.walk(block)
    )


def is_sine(op: ir.Op) -> bool:
    return op.name in OF_F32 and op.type == f32


def escaping_locals(task: ir.Task, loop: ir.For) -> set[ir.Local]:
    """Return the variables of the loop that are used outside it."""

    def locals_of(block: ir.Block, without: ir.Statement | None) -> set[ir.Local]:
        found: set[ir.Local] = set()
        for s in block.body:
            if s is not without:
                found |= {s.local} if isinstance(s, (ir.Get, ir.Set)) else set()
                found = found.union(*(locals_of(inner, None) for inner in ir.blocks_of(s)))
        return found

    return locals_of(task.body, loop) & locals_of(loop.body, None)


def sums_of(reduced: set[ir.Local], loop: ir.For) -> set[ir.Op]:
    """Return the additions to the old value of a variable of `reduced` whose result is assigned to that variable."""
    return {
        s.value
        for s in ir.walk(loop.body)
        if isinstance(s, ir.Set) and s.local in reduced and isinstance(s.value, ir.Op) and s.value.name == "add"
        and (s.value.loose or s.local.type.kind != "float")
        and isinstance(s.value.args[0], ir.Get) and s.value.args[0].local is s.local
    }  # fmt: skip


def are_sums(found: Vectorisation, loop: ir.For) -> bool:
    """Return whether the loop only adds to variables from outside, or sets them to true."""
    before = {op.args[0] for op in found.sums}
    for s in ir.walk(loop.body):
        if (
            isinstance(s, ir.Set)
            and s.local in found.reduced
            and not (s.value in found.sums or s.value is ir.TRUE)
        ):
            return False
        if isinstance(s, ir.Get) and s.local in found.reduced and s not in before:
            return False
        used = found.sums if isinstance(s, ir.Set) and s.local in found.reduced else ()
        for value in ir.operands_of(s):
            if (value in found.sums and value not in used) or (value in before and s not in found.sums):
                return False
    return True


def leaves_early(loop: ir.For | ir.While) -> bool:
    """Return whether the loop has a Break or Continue of its own."""

    def has_exit(block: ir.Block) -> bool:
        for s in block.body:
            if isinstance(s, (ir.Break, ir.Continue)):
                return True
            if isinstance(s, ir.If) and (has_exit(s.then) or has_exit(s.orelse)):
                return True
        return False

    return has_exit(loop.body)


def mark_varying(found: Vectorisation, block: ir.Block, some: bool) -> None:
    """Add the varying values of a block. `some` means that only some lanes may be active in it."""
    varying = found.varying
    for s in block.body:
        if isinstance(s, ir.Get):
            if s.local in varying:
                varying.add(s)
        elif isinstance(s, ir.Set):
            if (some or s.value in varying) and s.local not in found.reduced:
                varying.add(s.local)
        elif isinstance(s, ir.Worker):
            varying.add(s)
        elif isinstance(s, (ir.Op, ir.Load)):
            if s not in found.sums and not varying.isdisjoint(ir.operands_of(s)):
                varying.add(s)
        elif isinstance(s, ir.If):
            for inner in ir.blocks_of(s):
                mark_varying(found, inner, some or s.condition in varying)
        elif isinstance(s, (ir.For, ir.While)):
            if leaves_early(s) or (isinstance(s, ir.While) and (some or s.condition in varying)):
                found.masked.add(s)
            for inner in ir.blocks_of(s):
                mark_varying(found, inner, some or s in found.masked)


class Profitability:
    """Decides whether lanes are possible and pay: inside of loops they must compute, and not gather from far apart."""

    def __init__(self, found: Vectorisation) -> None:
        self.found = found
        self.varying = found.varying
        self.invariant: set[ir.Value] = {
            found.index
        }  # varying, but the same in each iteration of inner loops

    def block(self, block: ir.Block, looped: bool) -> bool:
        """Return whether all statements of a block are suitable. `looped` means that it is in an inner loop."""
        for s in block.body:
            if isinstance(s, ir.Value) and is_small(s.type):
                return False
            fine = {ir.Op: self.op, ir.Load: self.load, ir.Store: self.store, ir.For: self.loop}.get(type(s))
            if fine is not None and not fine(s, looped):  # type: ignore[operator]
                return False
            inner = looped or isinstance(s, (ir.For, ir.While))
            if not all(self.block(each, inner) for each in ir.blocks_of(s)):
                return False
            if isinstance(s, ir.Value) and (not looped or (isinstance(s, ir.Op) and self.is_invariant(s))):
                self.invariant.add(s)
        return True

    def op(self, op: ir.Op, looped: bool) -> bool:
        if op not in self.varying:
            return True
        row = OPS[op.name]
        kinds = tuple(arg.type for arg in op.args)
        computing = computing_type(row, kinds)
        template = row.llvm.get(computing.kind) or row.llvm["any"]
        if template[0] == "!":
            return is_sine(op)
        return template[0] not in "@!" or template[1:] in OF_VECTORS

    def load(self, load: ir.Load, looped: bool) -> bool:
        if not plain(load.array):
            return False
        if load not in self.varying or is_contiguous(self.found, load) or not looped:
            return True
        return self.is_invariant(load) and not self.found.masked  # LLVM moves the load out of the loop

    def is_invariant(self, value: ir.Value) -> bool:
        """Return whether the operands of a value are the same in each iteration of inner loops."""
        return all(v in self.invariant for v in ir.operands_of(value) if v in self.varying)

    def store(self, store: ir.Store, looped: bool) -> bool:
        if self.varying.isdisjoint(ir.operands_of(store)):
            return plain(store.array)  # all iterations write the same value
        if not plain(store.array) or self.varying.isdisjoint(store.index):
            return False  # all iterations write this element, and lanes do not keep their order
        return is_contiguous(self.found, store) or not looped

    def loop(self, loop: ir.For, looped: bool) -> bool:
        """Return whether all lanes have the same bounds."""
        return self.varying.isdisjoint(ir.operands_of(loop))


def plain(array: ir.Array) -> bool:
    return array.space in GLOBAL and array.element.kind != "bool" and not is_small(array.element)


def is_contiguous(found: Vectorisation, access: ir.Load | ir.Store) -> bool:
    """Return whether the lanes' elements are neighbours in memory.

    They are if only the last index varies, and is the lane's index plus a constant. In stacks, the last index is the
    worker, so lanes are neighbours there too.
    """
    *outer, last = access.index
    return found.varying.isdisjoint(outer) and is_neighbour(found, last)


def strided_axis(found: Vectorisation, access: ir.Load | ir.Store) -> int | None:
    """Return the axis along which the lanes' elements are one step apart, if it is the only index that varies."""
    axes = [axis for axis, each in enumerate(access.index) if each in found.varying]
    return axes[0] if len(axes) == 1 and is_neighbour(found, access.index[axes[0]]) else None


def is_neighbour(found: Vectorisation, value: ir.Value) -> bool:
    if isinstance(value, ir.Op) and value.name in ("add", "sub") and value.type in (i32, i64):
        step = value.args[1]
        return isinstance(step, ir.Const) and abs(step.value) < SMALL and is_neighbour(found, value.args[0])
    return value is found.index or isinstance(value, ir.Worker)
