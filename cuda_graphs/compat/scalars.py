# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The types of numbers, by the peers' names."""

from typing import Any

import cuda_graphs as cg

i8, i16, i32, i64 = int8, int16, int32, int64 = cg.i8, cg.i16, cg.i32, cg.i64
u8, u16, u32, u64 = uint8, uint16, uint32, uint64 = cg.u8, cg.u16, cg.u32, cg.u64
f16, f32, f64 = float16, float32, float64 = cg.f16, cg.f32, cg.f64
u1 = uint1 = cg.bool_

NAMES = (
    "f16", "f32", "f64", "float16", "float32", "float64", "i16", "i32", "i64", "i8", "int16", "int32", "int64", "int8",
    "u1", "u16", "u32", "u64", "u8", "uint1", "uint16", "uint32", "uint64", "uint8",
)  # fmt: skip
NUMBERS: Any = (i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64, u1)
__all__ = list(NAMES)
