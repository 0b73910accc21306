# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Emits atomic operations."""

from __future__ import annotations

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.scalars import is_small

from .values import ValueEmitter

__all__ = ["atomic", "non_atomic"]

# kind of atomic -> instruction by the kind of the type. Without an entry, the atomic is a loop around cmpxchg.
ATOMIC = {
    "add": {"float": "fadd", "int": "add", "uint": "add"},
    "min": {"float": "fmin", "int": "min", "uint": "umin"},
    "max": {"float": "fmax", "int": "max", "uint": "umax"},
    "and": {"int": "and", "uint": "and", "bool": "and"},
    "or": {"int": "or", "uint": "or", "bool": "or"},
    "xor": {"int": "xor", "uint": "xor", "bool": "xor"},
    "exchange": {"float": "xchg", "int": "xchg", "uint": "xchg", "bool": "xchg"},
}


def atomic(e: ValueEmitter, what: ir.Atomic, kind: str, pointer: str, at: str, value: str) -> str:
    """Emit an atomic; return the register of the previous value. `kind` and `value` are as in memory."""
    scope = e.target.atomic_scope()
    if what.kind == "cas":
        assert what.compare is not None
        expected = e.stored(what.compare)
        pair = e.let(f"cmpxchg {pointer} {at}, {kind} {expected}, {kind} {value}{scope} monotonic monotonic")
        return e.let(f"extractvalue {{ {kind}, i1 }} {pair}, 0")
    instruction = ATOMIC.get(what.kind, {}).get(what.type.kind)
    if instruction is not None and (not is_small(what.type) or what.kind == "exchange"):
        return e.let(f"atomicrmw {instruction} {pointer} {at}, {kind} {value}{scope} monotonic")
    return cmpxchg_loop(e, what, kind, pointer, at, value)


def non_atomic(e: ValueEmitter, what: ir.Atomic, kind: str, pointer: str, at: str, value: str) -> str:
    """Emit the operation without atomicity, for memory of one thread at a time.

    The accesses have no parallel metadata, as iterations share the memory.
    """
    old = e.let(f"load {kind}, {pointer} {at}")
    if what.kind == "cas":
        assert what.compare is not None
        equal = e.let(f"icmp eq {kind} {old}, {e.stored(what.compare)}")
        new = e.let(f"select i1 {equal}, {kind} {value}, {kind} {old}")
    elif what.kind == "exchange":
        new = value
    elif what.type.kind == "bool":
        new = e.let(f"{what.kind} {kind} {old}, {value}")
    else:
        new = e.computed(
            {"and": "bit_and", "or": "bit_or", "xor": "bit_xor"}.get(what.kind, what.kind),
            what.type,
            [old, value],
        )
    e.line(f"store {kind} {new}, {pointer} {at}")
    return old


def cmpxchg_loop(e: ValueEmitter, what: ir.Atomic, kind: str, pointer: str, at: str, value: str) -> str:
    """Emit an operation that no machine has as an atomic: retry cmpxchg until no other thread interferes."""
    bits = f"i{8 * what.type.size}"
    scope, last = e.target.atomic_scope(), e.slot(bits)
    first = e.let(f"load atomic {bits}, {pointer} {at}{scope} monotonic, align {what.type.size}")
    e.line(f"store {bits} {first}, ptr {last}")
    again, done = e.label("again"), e.label("done")
    e.jump(again)
    e.start(again)
    seen = e.let(f"load {bits}, ptr {last}")
    old = seen if kind == bits else e.let(f"bitcast {bits} {seen} to {kind}")
    changed = e.computed(what.kind, what.type, [old, value])
    new = changed if kind == bits else e.let(f"bitcast {kind} {changed} to {bits}")
    pair = e.let(f"cmpxchg {pointer} {at}, {bits} {seen}, {bits} {new}{scope} monotonic monotonic")
    e.line(f"store {bits} {e.let(f'extractvalue {{ {bits}, i1 }} {pair}, 0')}, ptr {last}")
    e.jump_if(e.let(f"extractvalue {{ {bits}, i1 }} {pair}, 1"), done, again)
    e.start(done)
    return old
