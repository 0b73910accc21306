# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Outer-loop vectorisation: neighbouring iterations of a parallel loop become lanes of vectors.

vectorisation_analysis.py chooses the loops, and finds the values that vary between lanes. A value that varies is a
vector; all other values stay scalars. Lanes diverge under a mask:

    x = 1 if i < n else 2    both sides, each for its lanes; a side with memory accesses or loops runs if it has lanes
    while far(x): ...        until no lane continues; lanes that have left keep their values
    break, continue          remove lanes from the mask, for the loop or for the current iteration

Each lane computes the same as its iteration, in the same order and with the same roundings. Without a
Vectorisation, the emitter is an ordinary Emitter. It emits the iterations that do not fill a vector.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cuda_graphs.compiler.codegen.llvm.emitter import EMIT, Emitter
from cuda_graphs.compiler.codegen.llvm.notation import llvm_type, number, suffix
from cuda_graphs.compiler.codegen.llvm.target import Target
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.ops import OPS, computing_type
from cuda_graphs.compiler.ir.types import ScalarType, bool_, i64

from . import sines
from .vectorisation_analysis import Vectorisation, is_contiguous, leaves_early, strided_axis

ALL = "splat (i1 true)"

# Vector versions of templates that contain constants. {t}: type of operands, {e}: of elements, {b}: of bools
OWN = {
    ("not", "bool"): f"xor {{t}} {{0}}, {ALL}",
    ("bit_not", "int"): "xor {t} {0}, splat ({e} -1)",
    ("bit_not", "uint"): "xor {t} {0}, splat ({e} -1)",
    ("neg", "int"): "sub {t} zeroinitializer, {0}",
    ("neg", "uint"): "sub {t} zeroinitializer, {0}",
    ("abs", "uint"): "add {t} {0}, zeroinitializer",
    **{("select", kind): "select {b} {0}, {t} {1}, {t} {2}" for kind in ("int", "uint", "float", "bool")},
}


class VectorEmitter(Emitter):
    """An Emitter that can emit vectors."""

    def __init__(self, target: Target, declarations: dict[str, str]) -> None:
        super().__init__(target, declarations)
        self.vectorisation: Vectorisation | None = None
        self.width = 0
        self.workers = 1  # of one block, in the indices of stacks
        self.varying: set[Any] = set()
        self.vectors: dict[Any, str] = {}
        self.memory: dict[ir.Local, str] = {}  # vector slots of variables that vary
        self.mask = ""  # the active lanes; "" is all
        # (lanes in the loop, lanes that wait for its next iteration), for each enclosing masked loop.
        self.masked_loops: list[tuple[str, str]] = []

    def vector_iteration(self, vectorisation: Vectorisation, first: str, loop: ir.For) -> None:
        """Emit `width` iterations of a loop, from the 64-bit index `first` on."""
        self.vectorisation, self.width, self.varying = (
            vectorisation,
            vectorisation.width,
            vectorisation.varying,
        )
        self.vectors = {}
        self.wide[vectorisation.index] = first
        wide = self.let(f"add nsw {self.vector_type(i64)} {self.splat('i64', first)}, {self.lane_numbers()}")
        narrow = wide
        if vectorisation.index.type.bits != 64:
            narrow = self.let(
                f"trunc {self.vector_type(i64)} {wide} to {self.vector_type(vectorisation.index.type)}"
            )
        self.vectors[vectorisation.index] = narrow
        if leaves_early(loop):
            b = self.vector_type(bool_)
            self.masked_loops.append((self.slot(b), self.slot(b)))
            self.line(f"store {b} {ALL}, ptr {self.masked_loops[-1][0]}")
            self.masked_body(loop.body)
            self.masked_loops.pop()
        else:
            self.block(loop.body)
        self.vectorisation, self.varying, self.mask = None, set(), ""

    # Vectors

    def vector_type(self, type: ScalarType) -> str:
        """Return the vector type of an element type."""
        return f"<{self.width} x {llvm_type(type)}>"

    def lane_numbers(self) -> str:
        return f"<{', '.join(f'i64 {lane}' for lane in range(self.width))}>"

    def splat(self, t: str, register: str) -> str:
        v = f"<{self.width} x {t}>"
        one = self.let(f"insertelement {v} poison, {t} {register}, i64 0")
        return self.let(f"shufflevector {v} {one}, {v} poison, <{self.width} x i32> zeroinitializer")

    def vector(self, value: ir.Value) -> str:
        """Return the vector of a value."""
        if value in self.varying:
            return self.vectors[value]
        if isinstance(value, ir.Const):
            return f"splat ({llvm_type(value.type)} {number(value.value, value.type)})"
        return self.splat(llvm_type(value.type), self.value(value))

    def wide_vector(self, value: ir.Value) -> str:
        """Return the vector of an index, in 64 bits."""
        if value not in self.varying:
            return self.splat("i64", self.widened(value))
        found = self.vectors[value]
        if value.type.bits == 64:
            return found
        extend = "sext" if value.type.kind == "int" else "zext"
        return self.let(f"{extend} {self.vector_type(value.type)} {found} to {self.vector_type(i64)}")

    def any(self, mask: str) -> str:
        """Emit the test whether a mask has a lane; return its name."""
        return self.call(f"llvm.vector.reduce.or.v{self.width}i1", "i1", [(self.vector_type(bool_), mask)])

    def mask_and(self, mask: str, other: str) -> str:
        return other if mask in ("", ALL) else self.let(f"and {self.vector_type(bool_)} {mask}, {other}")

    def mask_and_not(self, mask: str, other: str) -> str:
        """Return the lanes of `mask` that are not in `other`."""
        return self.mask_and(mask, self.let(f"xor {self.vector_type(bool_)} {other}, {ALL}"))

    def vector_op(self, op: ir.Op) -> str:
        row, kinds = OPS[op.name], tuple(arg.type for arg in op.args)
        operand = computing_type(row, kinds)
        args = [self.vector(arg) for arg in op.args]
        template = OWN.get((op.name, operand.kind)) or row.llvm.get(operand.kind) or row.llvm["any"]
        if template.startswith("!"):
            return sines.call(self, template[1:], self.width, args[0])
        if template.startswith("@"):
            return EMITTERS[template[1:]](self, operand, op.type, args)
        names = {
            "t": self.vector_type(operand),
            "e": llvm_type(operand),
            "b": self.vector_type(bool_),
            "r": self.vector_type(op.type),
        }
        text = template.format(*args, s=self.suffix(operand), f=self.fast, **names)
        if "@llvm." in text:
            self.declare_for(text)
        return self.let(text)

    def declare_for(self, text: str) -> None:
        """Declare the intrinsic of `call fast <8 x float> @llvm.fma.v8f32(<8 x float> %1, i1 false)`."""
        result = text[text.index("<") : text.index(" @")]
        name = text[text.index("@") + 1 : text.index("(")]
        args = text[text.index("(") + 1 : text.rindex(")")]
        kinds = ["i1" if part == "i1 false" else result for part in args.split(", ")]
        self.declare(name, f"declare {result} @{name}({', '.join(kinds)})")

    def suffix(self, type: ScalarType) -> str:
        return f"v{self.width}{suffix(type)}"

    # Statements

    def block(self, block: ir.Block) -> None:
        if self.vectorisation is None:
            super().block(block)
            return
        for number_, s in enumerate(block.body):
            if isinstance(s, (ir.Break, ir.Continue)):
                self.leave(s)
                return
            emit: Callable[[VectorEmitter, Any], None] = LANES.get(type(s), EMIT[type(s)])
            emit(self, s)
            if isinstance(s, ir.If) and removes_lanes(s):
                self.remaining_statements(ir.Block(block.body[number_ + 1 :]))
                return

    def remaining_statements(self, block: ir.Block) -> None:
        """Emit the statements after one that may have removed lanes."""
        if block.body:
            mask = self.mask
            self.guarded(mask, lambda: self.block(block))
            self.mask = mask

    def guarded(self, mask: str, body: Callable[[], None]) -> None:
        """Emit `body` so that it runs only if the mask has a lane."""
        some, end = self.label("some"), self.label("end")
        self.jump_if(self.any(mask), some, end)
        self.start(some)
        body()
        self.jump(end)
        self.start(end)

    def lanes_op(self, op: ir.Op) -> None:
        assert self.vectorisation is not None
        if op in self.vectorisation.sums:
            self.add_to_sum(op)
            return
        if op not in self.varying:
            EMIT[ir.Op](self, op)
            return
        flags, self.fast = self.fast, self.fast or ("reassoc " if op.loose else "")
        self.vectors[op] = self.vector_op(op)
        self.fast = flags

    def add_to_sum(self, op: ir.Op) -> None:
        """Emit the lanes' contributions to a sum over all iterations."""
        type, v, each = op.type, self.vector_type(op.type), self.vector(op.args[1])
        identity = f"splat ({llvm_type(type)} {number(-0.0 if type.kind == 'float' else 0, type)})"
        if self.mask:
            each = self.let(f"select {self.vector_type(bool_)} {self.mask}, {v} {each}, {v} {identity}")
        name, args = f"llvm.vector.reduce.add.{self.suffix(type)}", [(v, each)]
        if type.kind == "float":
            name = f"llvm.vector.reduce.fadd.{self.suffix(type)}"
            args.insert(0, (llvm_type(type), number(-0.0, type)))
        found = self.call(name, llvm_type(type), args, "reassoc " if type.kind == "float" else "")
        self.names[op] = self.computed("add", type, [self.value(op.args[0]), found])

    def lanes_get(self, get: ir.Get) -> None:
        if get not in self.varying:
            EMIT[ir.Get](self, get)
            return
        self.vectors[get] = self.let(f"load {self.vector_type(get.type)}, ptr {self.vector_slot(get.local)}")

    def lanes_set(self, statement: ir.Set) -> None:
        local = statement.local
        assert self.vectorisation is not None
        if local in self.vectorisation.reduced and statement.value is ir.TRUE and self.mask:
            self.guarded(self.mask, lambda: EMIT[ir.Set](self, statement))
            return
        if local not in self.varying:
            EMIT[ir.Set](self, statement)
            return
        v, at, found = self.vector_type(local.type), self.vector_slot(local), self.vector(statement.value)
        if self.mask:
            old = self.let(f"load {v}, ptr {at}")
            found = self.let(f"select {self.vector_type(bool_)} {self.mask}, {v} {found}, {v} {old}")
        self.line(f"store {v} {found}, ptr {at}")

    def vector_slot(self, local: ir.Local) -> str:
        if local not in self.memory:
            self.memory[local] = self.slot(self.vector_type(local.type))
        return self.memory[local]

    # Memory

    def element_pointers(self, access: ir.Load | ir.Store) -> str:
        """Return a vector of pointers to elements."""
        assert self.vectorisation is not None
        array, linear, kind = access.array, "", llvm_type(access.array.element)
        strided = None if self.mask else strided_axis(self.vectorisation, access)
        if strided is not None:
            return self.strided_pointers(access, strided)
        for axis, each in enumerate(access.index):
            part = self.wide_vector(each)
            if axis:
                extent = self.extent(array, axis)
                many = f"splat (i64 {extent})" if extent.isdigit() else self.splat("i64", extent)
                scaled = self.let(f"mul nsw {self.vector_type(i64)} {linear}, {many}")
                part = self.let(f"add nsw {self.vector_type(i64)} {scaled}, {part}")
            linear = part
        base = f"{self.pointer(array)} {self.addresses[array]}"
        return self.let(f"getelementptr inbounds {kind}, {base}, {self.vector_type(i64)} {linear}")

    def strided_pointers(self, access: ir.Load | ir.Store, axis: int) -> str:
        """Return the pointers where only the index of `axis` varies: distances that are the same in all iterations."""
        array, wide = access.array, self.vector_type(i64)
        kind, first = self.address(array, access.index)
        step = "1"
        for inner in range(axis + 1, len(access.index)):
            step = self.let(f"mul nsw i64 {step}, {self.extent(array, inner)}")
        distances = self.let(f"mul nsw {wide} {self.splat('i64', step)}, {self.lane_numbers()}")
        return self.let(f"getelementptr inbounds {kind}, {self.pointer(array)} {first}, {wide} {distances}")

    def lanes_load(self, load: ir.Load) -> None:
        if load not in self.varying:
            EMIT[ir.Load](self, load)
            return
        assert self.vectorisation is not None
        v, size, b = self.vector_type(load.type), load.type.size, self.vector_type(bool_)
        name = f"{self.suffix(load.type)}"
        if is_contiguous(self.vectorisation, load):
            _, at = self.address(load.array, load.index)
            if not self.mask:
                self.vectors[load] = self.let(f"load {v}, ptr {at}, align {size}")
                return
            args = [("ptr", at), ("i32", str(size)), (b, self.mask), (v, "poison")]
            self.vectors[load] = self.call(f"llvm.masked.load.{name}.p0", v, args)
            return
        pointers = f"<{self.width} x ptr>"
        args = [
            (pointers, self.element_pointers(load)),
            ("i32", str(size)),
            (b, self.mask or ALL),
            (v, "poison"),
        ]
        self.vectors[load] = self.call(f"llvm.masked.gather.{name}.v{self.width}p0", v, args)

    def lanes_store(self, store: ir.Store) -> None:
        assert self.vectorisation is not None
        if self.varying.isdisjoint(ir.operands_of(store)):  # all lanes write the same value
            if self.mask:
                self.guarded(self.mask, lambda: EMIT[ir.Store](self, store))
            else:
                EMIT[ir.Store](self, store)
            return
        v, size, b = self.vector_type(store.array.element), store.array.element.size, self.vector_type(bool_)
        found, name = self.vector(store.value), self.suffix(store.array.element)
        if is_contiguous(self.vectorisation, store):
            _, at = self.address(store.array, store.index)
            if not self.mask:
                self.line(f"store {v} {found}, ptr {at}, align {size}")
                return
            args = [(v, found), ("ptr", at), ("i32", str(size)), (b, self.mask)]
            self.call_void(f"llvm.masked.store.{name}.p0", args)
            return
        pointers = (f"<{self.width} x ptr>", self.element_pointers(store))
        args = [(v, found), pointers, ("i32", str(size)), (b, self.mask or ALL)]
        self.call_void(f"llvm.masked.scatter.{name}.v{self.width}p0", args)

    # Control

    def lanes_if(self, statement: ir.If) -> None:
        mask = self.mask
        if statement.condition not in self.varying:
            self.branch(statement)
        else:
            condition = self.vector(statement.condition)
            for block, lanes in ((statement.then, self.mask_and), (statement.orelse, self.mask_and_not)):
                if block.body:
                    self.mask = lanes(mask, condition)
                    self.masked_side(block)
        self.mask = self.remaining_lanes(mask) if removes_lanes(statement) else mask

    def branch(self, statement: ir.If) -> None:
        """Emit an If whose condition is the same in all lanes."""
        mask, (then, orelse, end) = self.mask, (self.label(stem) for stem in ("then", "else", "end"))
        self.jump_if(self.value(statement.condition), then, orelse)
        for label, block in ((then, statement.then), (orelse, statement.orelse)):
            self.start(label)
            self.mask = mask
            self.block(block)
            self.jump(end)
        self.start(end)

    def masked_side(self, block: ir.Block) -> None:
        """Emit one side of an If for the lanes of the mask."""
        if any(isinstance(s, (ir.Load, ir.Store, ir.For, ir.While)) for s in ir.walk(block)):
            self.guarded(self.mask, lambda: self.block(block))
        else:
            self.block(block)

    def remaining_lanes(self, mask: str) -> str:
        """Return the lanes of `mask` that no Break or Continue has removed."""
        (inside, waiting), b = self.masked_loops[-1], self.vector_type(bool_)
        left = self.mask_and(mask, self.let(f"load {b}, ptr {inside}"))
        return self.mask_and_not(left, self.let(f"load {b}, ptr {waiting}"))

    def leave(self, statement: ir.Break | ir.Continue) -> None:
        if self.vectorisation is None:
            super().leave(statement)
            return
        (inside, waiting), b = self.masked_loops[-1], self.vector_type(bool_)
        at = inside if isinstance(statement, ir.Break) else waiting
        old = self.let(f"load {b}, ptr {at}")
        if isinstance(statement, ir.Break):
            new = self.mask_and_not(old, self.mask or ALL)
        else:
            new = self.let(f"or {b} {old}, {self.mask or ALL}")
        self.line(f"store {b} {new}, ptr {at}")

    def lanes_for(self, loop: ir.For) -> None:
        """Emit a For that all lanes count together. Lanes that have left wait until the last lane leaves."""
        assert self.vectorisation is not None
        if loop not in self.vectorisation.masked:
            EMIT[ir.For](self, loop)
            return
        b, mask = self.vector_type(bool_), self.mask
        self.masked_loops.append((self.slot(b), self.slot(b)))
        self.line(f"store {b} {mask or ALL}, ptr {self.masked_loops[-1][0]}")
        EMIT[ir.For](self, loop)
        self.masked_loops.pop()
        self.mask = mask

    def iteration(self, statement: ir.For, following: str, leave: str) -> None:
        if self.vectorisation is None or statement not in self.vectorisation.masked:
            super().iteration(statement, following, leave)
            return
        self.masked_body(statement.body)
        left, more = (
            self.let(f"load {self.vector_type(bool_)}, ptr {self.masked_loops[-1][0]}"),
            self.label("more"),
        )
        self.jump_if(self.any(left), more, leave)
        self.start(more)

    def masked_body(self, block: ir.Block) -> None:
        """Emit the body of a masked loop for the lanes that are in it."""
        b, (inside, waiting) = self.vector_type(bool_), self.masked_loops[-1]
        self.line(f"store {b} zeroinitializer, ptr {waiting}")
        self.mask = self.let(f"load {b}, ptr {inside}")
        self.block(block)

    def lanes_while(self, loop: ir.While) -> None:
        assert self.vectorisation is not None
        if loop not in self.vectorisation.masked:
            EMIT[ir.While](self, loop)
            return
        b, mask = self.vector_type(bool_), self.mask
        inside = self.slot(b)
        self.masked_loops.append((inside, self.slot(b)))
        self.line(f"store {b} {mask or ALL}, ptr {inside}")
        head, asked, body, after = (self.label(s) for s in ("while", "asked", "body", "after"))
        self.jump(head)
        self.start(head)
        self.mask = self.let(f"load {b}, ptr {inside}")
        self.jump_if(self.any(self.mask), asked, after)
        self.start(asked)
        self.block(loop.head)
        going = self.mask_and(self.mask, self.vector(loop.condition))
        self.line(f"store {b} {going}, ptr {inside}")
        self.jump_if(self.any(going), body, after)
        self.start(body)
        self.masked_body(loop.body)
        self.jump(head)
        self.start(after)
        self.masked_loops.pop()
        self.mask = mask


def removes_lanes(statement: ir.If) -> bool:
    """Return whether a Break or Continue in an If belongs to a loop around it."""
    return leaves_early(ir.While(ir.Block(), statement.condition, ir.Block([statement])))


def cast(e: VectorEmitter, operand: ScalarType, result: ScalarType, args: list[str]) -> str:
    """Emit prelude.cast for vectors."""
    s, d, value = e.vector_type(operand), e.vector_type(result), args[0]
    if operand == result:
        return value
    if result.kind == "bool":
        return e.let(f"{'fcmp une' if operand.kind == 'float' else 'icmp ne'} {s} {value}, zeroinitializer")
    if operand.kind == "float" and result.kind == "float":
        return e.let(f"{'fpext' if result.size > operand.size else 'fptrunc'} {s} {value} to {d}")
    if operand.kind == "float":
        name = f"llvm.fpto{'s' if result.kind == 'int' else 'u'}i.sat.{e.suffix(result)}.{e.suffix(operand)}"
        return e.call(name, d, [(s, value)])
    if result.kind == "float":
        return e.let(f"{'sitofp' if operand.kind == 'int' else 'uitofp'} {s} {value} to {d}")
    if result.bits == operand.bits:
        return value
    if result.bits < operand.bits:
        return e.let(f"trunc {s} {value} to {d}")
    return e.let(f"{'sext' if operand.kind == 'int' else 'zext'} {s} {value} to {d}")


def shift(instruction: Callable[[ScalarType], str]) -> Callable[..., str]:
    """Return an emitter of shifts, which takes the count modulo the width."""

    def emitter(e: VectorEmitter, operand: ScalarType, result: ScalarType, args: list[str]) -> str:
        t = e.vector_type(operand)
        count = e.let(f"and {t} {args[1]}, splat ({llvm_type(operand)} {operand.bits - 1})")
        return e.let(f"{instruction(operand)} {t} {args[0]}, {count}")

    return emitter


def rsqrt(e: VectorEmitter, operand: ScalarType, result: ScalarType, args: list[str]) -> str:
    t, one = e.vector_type(operand), f"splat ({llvm_type(operand)} {number(1.0, operand)})"
    root = e.call(f"llvm.sqrt.{e.suffix(operand)}", t, [(t, args[0])], e.fast)
    return e.let(f"fdiv {e.fast}{t} {one}, {root}")


EMITTERS: dict[str, Callable[..., str]] = {
    "cast": cast,
    "shift_left": shift(lambda type: "shl"),
    "shift_right": shift(lambda type: "ashr" if type.kind == "int" else "lshr"),
    "shift_right_logical": shift(lambda type: "lshr"),
    "rsqrt": rsqrt,
}

LANES: dict[type, Callable[[VectorEmitter, Any], None]] = {
    ir.Op: VectorEmitter.lanes_op,
    ir.Load: VectorEmitter.lanes_load,
    ir.Store: VectorEmitter.lanes_store,
    ir.Get: VectorEmitter.lanes_get,
    ir.Set: VectorEmitter.lanes_set,
    ir.If: VectorEmitter.lanes_if,
    ir.For: VectorEmitter.lanes_for,
    ir.While: VectorEmitter.lanes_while,
}
