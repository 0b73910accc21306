# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Exchanges of small arrays between GPUs of one host: which ones there are, and the layout of their memory.

Each rank owns a table, and behind it memory for what the others send: words of 8 bytes, [2 halves][MOST_RANKS][PIECES].
The table of a rank has words of 8 bytes, and fills a cache line, so that what a warp sends fills cache lines, too:

    [0]      the number of the round, 4 bytes, which the exchange increments; the first one is 1
    [1]      the address of the word that ends polls, an i64
    [2]      the number of this rank, and in its upper half the number of ranks
    [3 + r]  the address of the table of rank r, for MOST_RANKS ranks; those of absent ranks are loaded and not used

Two words are stored and loaded at a time, so the parts of all senders begin at multiples of 16 bytes: TABLE_WORDS is
even, and PIECES is a power of two, which also counts rounds (`Exchange.refresh`).

The code that uses it is in codegen/ptx/ptx_exchange.py.
"""

from __future__ import annotations

from .types import ScalarType

__all__ = [
    "ENDING",
    "FIRST_RANK",
    "LARGEST_BYTES",
    "MEMORY_BYTES",
    "MOST_RANKS",
    "OPERATIONS",
    "PIECES",
    "RANK",
    "TABLE_WORDS",
    "TYPES",
    "typestr_of",
]

LARGEST_BYTES = 4096  # of the array of a rank
PIECES = LARGEST_BYTES // 4  # words of one sender in one half
MOST_RANKS = 8  # the code has a part for each of them
ENDING, RANK, FIRST_RANK = 1, 2, 3  # words of the table
TABLE_WORDS = 16
MEMORY_BYTES = 8 * (TABLE_WORDS + 2 * MOST_RANKS * PIECES)  # of a rank, with the table
TYPES = ("i4", "u4", "f4", "i8", "u8", "f8")  # of elements, as in a typestr
OPERATIONS = ("sum", "prod", "min", "max")
LETTERS = {"int": "i", "uint": "u", "float": "f"}


def typestr_of(element: ScalarType) -> str:
    """Return one of TYPES, or another text for types that cannot be exchanged."""
    return f"{LETTERS.get(element.kind, '?')}{element.size}"
