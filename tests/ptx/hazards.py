# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Inputs, named after what they break."""

import numpy as np

from tests.ptx.numbers import FORMATS
from tests.ptx.table import ARRAY


def random(kind: str, count: int, seed: int = 1) -> np.ndarray:
    """Random bit patterns."""
    size = ARRAY[kind].itemsize
    return np.frombuffer(np.random.default_rng(seed).bytes(count * size), ARRAY[kind]).copy()


def integers(kind: str, spread: int = 8) -> np.ndarray:
    """Zero, the limits and their neighbours, alternating bits, powers of two and their neighbours, and noise."""
    bits = 8 * ARRAY[kind].itemsize
    top = 1 << bits
    values = [
        0,
        1,
        2,
        3,
        7,
        10,
        top - 1,
        top - 2,
        top // 2,
        top // 2 - 1,
        top // 2 + 1,
        top // 3,
        2 * top // 3,
    ]
    values += [1 << bits // 2, (1 << bits // 2) - 1, (1 << bits // 4) + 1]
    unsigned = np.array([value % top for value in values], np.dtype(f"uint{bits}"))
    return np.concatenate([unsigned.view(ARRAY[kind]), random(kind, spread)])


def shift_amounts() -> np.ndarray:
    """Below, at and far over the widths."""
    return np.array(
        [0, 1, 5, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 1 << 31, (1 << 32) - 1], np.uint32
    )


def field_positions() -> np.ndarray:
    """Only the low byte counts."""
    return np.array([0, 1, 4, 8, 16, 31, 32, 33, 63, 64, 255, 256, 257], np.uint32)


def floats(kind: str, spread: int = 12) -> np.ndarray:
    """Zeros, subnormals, the normal limits, ties, infinities, NaN, ordinary values, and random bits."""
    bits, exponent_bits, fraction_bits, word = FORMATS[kind]
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    one = ((1 << exponent_bits - 1) - 1) << fraction_bits
    ulp_of_two = 1 << fraction_bits
    positive = [
        0,
        1,
        3,
        (1 << fraction_bits) - 1,  # the largest subnormal
        1 << fraction_bits,  # the smallest normal
        (1 << fraction_bits) + 1,
        one - 1,
        one,
        one + 1,
        one + ulp_of_two // 2,  # 1.5
        one + ulp_of_two + ulp_of_two // 4,  # 2.5
        one + 3 * ulp_of_two + 5,
        one + fraction_bits * ulp_of_two,
        infinity - 1,
        infinity,
    ]
    words = [*positive, *(value | 1 << bits - 1 for value in positive), infinity | 1 << fraction_bits - 1]
    noise = random(kind, spread)
    ordinary = np.random.default_rng(2).normal(size=spread)
    if kind == "bf16":
        ordinary = (ordinary.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return np.concatenate([np.array(words, word).view(ARRAY[kind]), noise, ordinary.astype(ARRAY[kind])])


def of(kind: str, spread: int = 8) -> np.ndarray:
    return floats(kind, spread) if kind in FORMATS else integers(kind, spread)


def every(*columns: np.ndarray, limit: int = 1 << 14) -> tuple[np.ndarray, ...]:
    """All combinations, thinned out evenly beyond the limit."""
    total = int(np.prod([len(column) for column in columns]))
    step = max(1, -(-total // limit)) | 1
    index = np.arange(0, total, step)
    found = []
    for column in reversed(columns):
        found.append(column[index % len(column)])
        index = index // len(column)
    return tuple(reversed(found))
