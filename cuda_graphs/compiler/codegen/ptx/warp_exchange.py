# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Operations on the lanes of a GPU warp: shfl.sync, vote.sync and, for 32-bit integers, redux.sync.

`members` is always the mask of the lanes that exist in the warp. All of them execute the operation.
"""

from __future__ import annotations

from collections.abc import Callable

from cuda_graphs.compiler.codegen.llvm.emitter import Emitter
from cuda_graphs.compiler.codegen.llvm.notation import llvm_type
from cuda_graphs.compiler.ir.collectives import WARP
from cuda_graphs.compiler.ir.types import ScalarType, bool_

__all__ = ["FULL", "GpuWarp", "emit_if"]

FULL = "-1"  # the mask of all lanes
REDUX_SINCE = 80  # architectures with redux.sync
# Rows of the op table -> names of redux.sync, of ints and of uints (PTX ISA 9.7.9.25).
REDUX = {
    "add": ("add", "add"), "min": ("min", "umin"), "max": ("max", "umax"), "bit_and": ("and", "and"),
    "bit_or": ("or", "or"), "bit_xor": ("xor", "xor"),
}  # fmt: skip


class GpuWarp:
    """Emitter for the warp of a thread.

    thread  number of the thread in its block
    redux   True if the GPU has redux.sync
    """

    def __init__(self, e: Emitter, capability: int) -> None:
        self.e, self.redux = e, capability >= REDUX_SINCE
        self.thread = self.register("tid.x")

    def register(self, name: str) -> str:
        return self.e.call(f"llvm.nvvm.read.ptx.sreg.{name}", "i32", [])

    def lane(self) -> str:
        return self.e.let(f"and i32 {self.thread}, {WARP - 1}")

    def warp(self) -> str:
        return self.e.let(f"lshr i32 {self.thread}, 5")

    def vote(self, mode: str, flag: str, members: str) -> str:
        result = "i32" if mode == "ballot" else "i1"
        return self.e.call(f"llvm.nvvm.vote.{mode}.sync", result, [("i32", members), ("i1", flag)])

    def exchanged(self, mode: str, type: ScalarType, value: str, operand: str, members: str) -> str:
        """Emit shfl.sync for each 32-bit word of a value; return the result."""
        words = [
            self.e.call(
                f"llvm.nvvm.shfl.sync.{mode}.i32", "i32",
                [("i32", members), ("i32", word), ("i32", operand), ("i32", str(WARP - 1))],
            )
            for word in words_of(self.e, type, value)
        ]  # fmt: skip
        return from_words(self.e, type, words)

    def reduced(self, combine: str, type: ScalarType, value: str, identity: str, members: str) -> str:
        """Emit the join of all lanes' values by a row of the op table; return the result, which all lanes get.

        `identity` is the value of missing lanes. Lane 0 always has the result: missing lanes are the highest ones.
        """
        e = self.e
        if type == bool_:
            return self.vote("any" if combine == "bit_or" else "all", value, members)
        if self.redux and type.kind != "float" and type.size == 4 and combine in REDUX:
            name = REDUX[combine][type.kind == "uint"]
            return e.call(f"llvm.nvvm.redux.sync.{name}", "i32", [("i32", value), ("i32", members)])
        lane, t, distance = self.lane(), llvm_type(type), WARP // 2
        while distance:
            other = self.exchanged("bfly", type, value, str(distance), members)
            if members != FULL:
                partner = e.let(f"xor i32 {lane}, {distance}")
                bit = e.let(f"and i32 {e.let(f'lshr i32 {members}, {partner}')}, 1")
                there = e.let(f"icmp ne i32 {bit}, 0")
                other = e.let(f"select i1 {there}, {t} {other}, {t} {identity}")
            value = e.computed(combine, type, [value, other])
            distance //= 2
        return value if members == FULL else self.exchanged("idx", type, value, "0", members)

    def wait(self) -> None:
        """Emit a barrier of the block."""
        self.e.call_void("llvm.nvvm.barrier.cta.sync.aligned.all", [("i32", "0")])


def emit_if(e: Emitter, condition: str, body: Callable[[], None]) -> None:
    """Emit the code of `body` under a condition."""
    inside, end = e.label("when"), e.label("end")
    e.jump_if(condition, inside, end)
    e.start(inside)
    body()
    e.jump(end)
    e.start(end)


def words_of(e: Emitter, type: ScalarType, value: str) -> list[str]:
    """Return the value as words of 32 bits."""
    t, bits = llvm_type(type), type.bits
    if not t.startswith("i"):
        value = e.let(f"bitcast {t} {value} to i{bits}")
    if bits == 64:
        return [
            e.let(f"trunc i64 {value} to i32"),
            e.let(f"trunc i64 {e.let(f'lshr i64 {value}, 32')} to i32"),
        ]
    return [value if bits == 32 else e.let(f"zext i{bits} {value} to i32")]


def from_words(e: Emitter, type: ScalarType, words: list[str]) -> str:
    t, bits = llvm_type(type), type.bits
    if bits == 64:
        low, high = (e.let(f"zext i32 {word} to i64") for word in words)
        value = e.let(f"or i64 {low}, {e.let(f'shl i64 {high}, 32')}")
    else:
        value = words[0] if bits == 32 else e.let(f"trunc i32 {words[0]} to i{bits}")
    return value if t.startswith("i") else e.let(f"bitcast i{bits} {value} to {t}")
