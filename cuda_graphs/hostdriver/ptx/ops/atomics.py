# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""atom and red. Blocks run on several OS threads, so these are real atomics. Shared memory uses them too; it belongs to
one OS thread, which makes them cheap."""

from cuda_graphs.hostdriver.ptx.lowering.function import FunctionLowering
from cuda_graphs.hostdriver.ptx.lowering.rounding import arithmetic, flush, narrow, widen
from cuda_graphs.hostdriver.ptx.lowering.table import Op, row
from cuda_graphs.hostdriver.ptx.syntax.datatypes import Type
from cuda_graphs.hostdriver.ptx.syntax.syntax import Vector
from cuda_graphs.native.access_sites import AFTER, READ, RELEASE, STRONG, WRITE

from .memory import CACHE, SCOPES, SPACES, VECTORS, address, report_access, space_of
from .packed import join, lanes

OPERATIONS = {
    "add": "add",
    "and": "and",
    "or": "or",
    "xor": "xor",
    "exch": "xchg",
    "inc": "uinc_wrap",
    "dec": "udec_wrap",
    "min": "min",
    "max": "max",
}
ORDERINGS = {"relaxed": "monotonic", "acquire": "acquire", "release": "release", "acq_rel": "acq_rel"}
TYPES = "b16 b32 b64 b128 u32 u64 s32 s64 f32 f64 f16 bf16 f16x2 bf16x2"
MODS = f"{SPACES} {SCOPES} {CACHE} {' '.join(ORDERINGS)} {' '.join(OPERATIONS)} cas noftz {' '.join(VECTORS)}"
# Operation -> the types that it takes.
ALLOWED = {
    "add": "u32 s32 u64 s64 f32 f64 f16 bf16 f16x2 bf16x2",
    "min": "u32 s32 u64 s64 f16 bf16 f16x2 bf16x2",
    "max": "u32 s32 u64 s64 f16 bf16 f16x2 bf16x2",
    "and": "b32 b64 u32 s32 u64 s64",
    "or": "b32 b64 u32 s32 u64 s64",
    "xor": "b32 b64 u32 s32 u64 s64",
    "exch": "b32 b64 b128 u32 s32 u64 s64 f32",
    "inc": "u32",
    "dec": "u32",
    "cas": "b16 b32 b64 b128 u32 s32 u64 s64",
}


@row("atom atom:f", types=TYPES, mods=MODS, operands="3-5")
def atomic(f: FunctionLowering, op: Op, operands: tuple) -> None:
    _atomic(f, op, operands[0], operands[1], operands[2:])


@row("red red:f", types=TYPES, mods=MODS, operands="2-4")
def reduce(f: FunctionLowering, op: Op, operands: tuple) -> None:
    _atomic(f, op, None, operands[0], operands[1:])


def _atomic(f: FunctionLowering, op: Op, target: object, place: object, sources: tuple) -> None:
    kind = op.type
    name = op.one_of(*OPERATIONS, "cas")
    if len(sources) != 1 + (name == "cas") + ("L2::cache_hint" in op):
        raise f.fail("the number of operands is wrong")
    if kind.name not in ALLOWED.get(name, "").split():
        raise f.fail(f"the operation .{name} does not support .{kind.name}")
    order = ORDERINGS[op.one_of(*ORDERINGS, default="relaxed")]
    pointer = address(f, op, place)
    whole = kind.bytes * (len(sources[0].items) if isinstance(sources[0], Vector) else 1)
    flags = READ | WRITE | STRONG | (RELEASE if order in ("release", "acq_rel") else 0)
    report_access(f, place, space_of(op), pointer, whole, flags)
    if name == "cas":
        results = [_compare_and_swap(f, pointer, kind, order, *sources[:2])]
    else:
        items = sources[0].items if isinstance(sources[0], Vector) else (sources[0],)
        results = []
        for number, item in enumerate(items):
            at = f.let(f"getelementptr i8, ptr {pointer}, i64 {number * kind.bytes}") if number else pointer
            results.append(_one(f, op, name, order, at, item))
    report_access(f, place, space_of(op), pointer, whole, flags | AFTER)
    targets = target.items if isinstance(target, Vector) else (target,)
    if target is not None:
        if len(targets) != len(results):
            raise f.fail(f"{len(results)} values need as many registers, not {len(targets)}")
        for item, (value, t) in zip(targets, results, strict=True):
            f.write(item, value, t, kind.signed)


def _compare_and_swap(
    f: FunctionLowering, pointer: str, kind: Type, order: str, old: object, new: object
) -> tuple[str, str]:
    t = kind.storage
    expected, wanted = f.read(old, t), f.read(new, t)
    failure = "acquire" if order in ("acquire", "acq_rel") else "monotonic"
    pair = f.let(f"cmpxchg ptr {pointer}, {t} {expected}, {t} {wanted} {order} {failure}, align {kind.bytes}")
    return f.let(f"extractvalue {{ {t}, i1 }} {pair}, 0"), t


def _one(f: FunctionLowering, op: Op, name: str, order: str, pointer: str, source: object) -> tuple[str, str]:
    kind, t = op.type, op.type.storage
    value = f.read(source, t)
    # "atom.add.f32 on global memory flushes subnormal inputs and results to sign-preserving zero; whereas atom.add.f32
    # on shared memory supports subnormal inputs and results" (PTX ISA)
    flushes = kind.name == "f32" and name == "add" and space_of(op) != "shared"
    if kind.is_float and (kind.bits == 16 or flushes):
        bits = f"i{kind.total_bits}"
        found = _loop(f, name, kind, order, pointer, f.convert(value, t, bits), flushes=flushes)
        return f.convert(found, bits, t), t
    verb = OPERATIONS[name]
    if kind.kind == "f" and name == "add":
        verb = "fadd"
    elif name in ("min", "max") and not kind.signed:
        verb = "u" + verb
    if name == "exch" and t == "float":
        t, value = "i32", f.convert(value, "float", "i32")
    return f.let(f"atomicrmw {verb} ptr {pointer}, {t} {value} {order}, align {kind.bytes}"), t


def _loop(
    f: FunctionLowering, name: str, kind: Type, order: str, pointer: str, value: str, *, flushes: bool
) -> str:
    """Returns the old value of an atomic operation without a machine instruction: a compare-and-swap loop."""
    t = f"i{kind.total_bits}"
    again, done, before = f.label("again"), f.label("swapped"), f.label("first")
    f.jump(before)
    f.start(before)
    start = f.let(f"load atomic {t}, ptr {pointer} monotonic, align {kind.bytes}")
    f.jump(again)
    f.start(again)
    f.count += 1
    seen, after = f"%seen{f.count}", f"%after{f.count}"
    f.line(f"{seen} = phi {t} [ {start}, %{before} ], [ {after}, %{again} ]")
    wanted = _new_value(f, name, kind, seen, value, flushes=flushes)
    pair = f.let(f"cmpxchg ptr {pointer}, {t} {seen}, {t} {wanted} {order} monotonic, align {kind.bytes}")
    f.line(f"{after} = extractvalue {{ {t}, i1 }} {pair}, 0")
    success = f.let(f"extractvalue {{ {t}, i1 }} {pair}, 1")
    f.jump_if(success, done, again)
    f.start(done)
    return after


def _new_value(f: FunctionLowering, name: str, kind: Type, a: str, b: str, *, flushes: bool) -> str:
    """Returns the new word of an atomic operation, from the old word and the operand."""
    if kind.lanes == 1:
        word = f"i{kind.bits}"
        a, b = f.convert(a, word, kind.value), f.convert(b, word, kind.value)
        return f.convert(_combine(f, name, kind, a, b, flushes=flushes), kind.value, word)
    element = kind.element
    pairs = zip(lanes(f, a, element), lanes(f, b, element), strict=True)
    return join(f, [_combine(f, name, element, *pair, flushes=flushes) for pair in pairs], element)


def _combine(f: FunctionLowering, name: str, kind: Type, a: str, b: str, *, flushes: bool) -> str:
    a, b = widen(f, a, kind)[0], widen(f, b, kind)[0]
    if flushes:
        a, b = flush(f, a, "float"), flush(f, b, "float")
    if name == "add":
        result = arithmetic(f, "add", "rn", "float", a, b)
    else:
        result = f.call(f"llvm.{name}imumnum.f32", "float", [("float", a), ("float", b)])
    if flushes:
        result = flush(f, result, "float")
    return narrow(f, result, kind) if kind.bits == 16 else result
