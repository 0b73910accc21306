# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The fundamental types of PTX and the LLVM types that stand for them.

Each PTX type has two LLVM types. `storage` is the type in registers and memory; floats narrower than 32 bits are stored
as their bits. `value` is the type for arithmetic. bf16 has no LLVM value type here, because hosts without native
support would call a library. Lowering widens bf16 to f32 explicitly.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Type:
    name: str
    kind: str  # "u", "s", "b" (untyped bits), "f" (IEEE), "bf" (bfloat16), "pred"
    bits: int  # bits of one element
    lanes: int = 1

    @property
    def signed(self) -> bool:
        return self.kind == "s"

    @property
    def is_float(self) -> bool:
        return self.kind in ("f", "bf")

    @property
    def total_bits(self) -> int:
        return self.bits * self.lanes

    @property
    def bytes(self) -> int:
        return max(1, self.total_bits // 8)

    @property
    def storage(self) -> str:
        if self.kind == "f" and self.lanes == 1 and self.bits >= 32:
            return FLOATS[self.bits]
        return f"i{self.total_bits}"

    @property
    def value(self) -> str:
        return FLOATS[self.bits] if self.kind == "f" and self.lanes == 1 else f"i{self.total_bits}"

    @property
    def element(self) -> "Type":
        return TYPES[self.name.removesuffix("x2")]


FLOATS = {16: "half", 32: "float", 64: "double"}
LLVM_BITS = {"i1": 1, "half": 16, "float": 32, "double": 64, "ptr": 64} | {
    f"i{n}": n for n in (8, 16, 32, 64, 128)
}

TYPES = {
    t.name: t
    for t in [
        *(Type(f"{kind}{bits}", kind, bits) for kind in "us" for bits in (8, 16, 32, 64)),
        *(Type(f"b{bits}", "b", bits) for bits in (8, 16, 32, 64, 128)),
        *(Type(f"f{bits}", "f", bits) for bits in (16, 32, 64)),
        Type("bf16", "bf", 16),
        Type("f16x2", "f", 16, 2),
        Type("bf16x2", "bf", 16, 2),
        Type("u16x2", "u", 16, 2),
        Type("s16x2", "s", 16, 2),
        Type("pred", "pred", 1),
    ]
}
PREDICATE = TYPES["pred"]
