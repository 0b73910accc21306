# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Inputs, named after what they break. Deterministic: the name, the type and the place of an operand are the seed.

`operands` makes the inputs of one instruction: the special values of two operands meet in every pair first, then come
random ones. At most 20 special values a type, so that all pairs fit into a few hundred elements.
"""

import zlib
from collections.abc import Callable

import numpy as np

from tests.ptx.exact import FORMATS

COUNT = 640

DTYPES = {
    **{f"{k}{n}": np.dtype(f"{'i' if k == 's' else 'u'}{n // 8}") for k in "usb" for n in (8, 16, 32, 64)},
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(np.uint16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "f16x2": np.dtype(np.uint32),
    "bf16x2": np.dtype(np.uint32),
    "s16x2": np.dtype(np.uint32),
    "u16x2": np.dtype(np.uint32),
    "pred": np.dtype(np.uint32),
}


def bits_dtype(kind: str) -> np.dtype:
    return np.dtype(f"u{DTYPES[kind].itemsize}")


def random_bits(kind: str, rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.integers(0, 1 << (8 * DTYPES[kind].itemsize), n, dtype=bits_dtype(kind), endpoint=False)


def _int_specials(kind: str) -> list[int]:
    bits = 8 * DTYPES[kind].itemsize
    top, mask = 1 << (bits - 1), (1 << bits) - 1
    half = 1 << (bits // 2)
    return [
        *(0, 1, 2, 3, 7, top - 1, top, top + 1, mask, mask - 1, mask - 2),
        *(half - 1, half, half + 1, mask // 3, mask // 3 * 2, mask // 15, top | half),
    ]


def _float_specials(kind: str) -> list[int]:
    f = FORMATS[kind]
    one = f.bias << f.fraction_bits
    positive = [
        *(0, 1, (1 << f.fraction_bits) - 1, 1 << f.fraction_bits, f.greatest, f.infinity, f.nan),
        *(one, one + (1 << (f.fraction_bits - 1)), one - 1),
    ]
    return positive + [value | f.sign_bit for value in positive]


def _integers_of_any_length(kind: str, rng: np.random.Generator, n: int) -> np.ndarray:
    """Bits shifted by a random amount: small and large numbers alike; every other one negated."""
    made = random_bits(kind, rng, n) >> rng.integers(0, 8 * DTYPES[kind].itemsize, n).astype(bits_dtype(kind))
    return np.where(rng.integers(0, 2, n, dtype=bool), ~made, made)


def _floats_that_meet(kind: str, rng: np.random.Generator, n: int) -> np.ndarray:
    """A third random bits, a third of magnitudes near 1, a third with few bits so that results fall halfway."""
    f = FORMATS[kind]
    near = random_bits(kind, rng, n).astype(np.uint64)
    fraction = (np.uint64(1) << np.uint64(f.fraction_bits)) - np.uint64(1)
    span = min(f.bias // 2, f.p + 2)
    exponent = (f.bias + rng.integers(-span, span, n)).astype(np.uint64) << np.uint64(f.fraction_bits)
    sign = rng.integers(0, 2, n).astype(np.uint64) << np.uint64(f.bits - 1)
    near = near & fraction | exponent | sign
    keep = rng.choice([f.p - 1, (f.p + 1) // 2, f.p // 2, 1, 2], n).astype(np.uint64)
    few = near >> (np.uint64(f.p) - keep) << (np.uint64(f.p) - keep)
    last = np.uint64(1) << np.minimum(np.uint64(f.p) - keep, np.uint64(f.fraction_bits - 1))
    pick = rng.integers(0, 3, n)
    made = np.where(
        pick == 0, random_bits(kind, rng, n).astype(np.uint64), np.where(pick == 1, near, few | last)
    )
    return made.astype(bits_dtype(kind))


def _halfway_specials(kind: str) -> list[int]:
    """Around the integers and the halves between them, and around the ends of the integer types."""
    f = FORMATS[kind]
    values = [0.5, 1.5, 2.5, 0.75, 127.5, 255.5, 32767.5, 65535.0, 2.0**31, 2.0**63]
    made = []
    for value in values:
        mantissa, power = np.frexp(value)
        exponent = min(int(power) - 1 + f.bias, 2 * f.bias)
        bits = (exponent << f.fraction_bits) + int((float(mantissa) * 2 - 1) * 2**f.fraction_bits)
        made += [bits, bits | f.sign_bit]
    return made


def is_float(kind: str) -> bool:
    return kind in FORMATS


def _int_extremes(kind: str) -> list[int]:
    return _int_specials(kind)


def _shift_counts(kind: str) -> list[int]:
    mask = (1 << (8 * DTYPES[kind].itemsize)) - 1
    return [
        v & mask
        for v in (0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 1 << 31, -1, -32)
    ]


def _no_specials(kind: str) -> list[int]:
    return []


Filler = Callable[[str, np.random.Generator, int], np.ndarray]
GENERATORS: dict[str, tuple[Callable[[str], list[int]], Filler]] = {
    "random_bits": (_no_specials, random_bits),
    "int_extremes": (_int_extremes, _integers_of_any_length),
    "shift_counts_past_the_width": (
        _shift_counts,
        lambda kind, rng, n: rng.integers(0, 80, n).astype(bits_dtype(kind)),
    ),
    "nans_infs_zeros_denormals": (_float_specials, _floats_that_meet),
    "halfway_cases_for_rounding": (_halfway_specials, _floats_that_meet),
    "small_counts": (
        lambda kind: list(range(20)),
        lambda kind, rng, n: rng.integers(0, 7, n).astype(bits_dtype(kind)),
    ),
}


def usual(kind: str) -> str:
    """The hazards of a type where an instruction has no special ones."""
    if is_float(kind):
        return "nans_infs_zeros_denormals"
    return "random_bits" if kind.endswith("x2") else "int_extremes"


def operands(names: str | list[str], kinds: list[str], n: int = COUNT) -> list[np.ndarray]:
    """One array of each type. `names` is one generator for all, or one for each."""
    names = [names] * len(kinds) if isinstance(names, str) else names
    found, stride = [], 1
    for place, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        specials, fill = GENERATORS[name]
        rng = np.random.default_rng(zlib.crc32(f"{name} {kind} {place}".encode()))
        values = np.array(specials(kind), dtype=bits_dtype(kind))
        made = fill(kind, rng, n)
        if len(values) and place < 2:
            crossed = min(n, 400)
            made[:crossed] = values[np.arange(crossed) // stride % len(values)]
            stride *= len(values)
        elif len(values):
            chosen = rng.random(n) < 0.6
            made[chosen] = rng.choice(values, int(chosen.sum()))
        found.append(made.view(DTYPES[kind]))
    return found
