# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: one round of an exchange reduces in the order of the ranks bit by bit, and sends each word to each other rank.

One rank runs alone. The words of the other ranks are in its memory before it begins.
"""

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.compiler.codegen.ptx.ptx_exchange import TIER, exchange_entry
from cuda_graphs.compiler.ir.exchanges import (
    ENDING,
    FIRST_RANK,
    LARGEST_BYTES,
    MEMORY_BYTES,
    MOST_RANKS,
    PIECES,
    RANK,
    TABLE_WORDS,
)

REDUCTIONS = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}
KINDS = [("f4", "sum"), ("i4", "min"), ("u4", "max"), ("f8", "prod"), ("i8", "sum"), ("u8", "max")]
RANKS = [
    (1, 0),
    (2, 1),
    (3, 0),
    (TIER, 2),
    (TIER + 1, TIER),
    (TIER + 1, 0),
    (MOST_RANKS, 3),
]  # (ranks, this one)
ROUNDS = [1, 2, 2**31 + 2000, 2**32 - 1, 0]
UNTOUCHED = 0xAB  # bytes of the arrays behind their elements, which nothing writes


def pinned(size):
    """Return memory that both sides use, and its bytes for NumPy."""
    memory = cg.PinnedMemoryResource().allocate(size)
    values = np.from_dlpack(memory).view(np.uint8)
    values[:] = 0
    return memory, values


def words_of(values, number):
    """Return the words of the elements of a rank in a round, in pairs."""
    pieces = values.view(np.uint32)
    padded = np.zeros(-(-len(pieces) // 2) * 2, np.uint64)
    padded[: len(pieces)] = pieces
    return padded | np.uint64(number << 32)


def part(words, number, sender):
    """Return the words of a table's memory that a sender writes in a round."""
    begin = TABLE_WORDS + (number % 2 * MOST_RANKS + sender) * PIECES
    return words[begin : begin + PIECES]


def numbers(rng, count, kind):
    dtype = np.dtype(kind)
    if dtype.kind == "f":
        return rng.standard_normal(count).astype(dtype)
    return rng.integers(0, np.iinfo(dtype).max, count, dtype, endpoint=True)


def reduced(data, op):
    found = data[0]
    with np.errstate(over="ignore"):
        for values in data[1:]:
            found = REDUCTIONS[op](found, values)
    return found


@pytest.fixture
def memories(device):
    """The memory of each rank, and a word that ends no poll."""
    tables, ending = [pinned(MEMORY_BYTES) for _ in range(MOST_RANKS)], pinned(8)
    return [table for table, _ in tables], [values.view(np.uint64) for _, values in tables], ending[0]


def check_round(memories, kernel, kind, op, ranks, rank, count, block, number, in_place):
    tables, words, ending = memories
    dtype, stream = np.dtype(kind), cg.Device().create_stream()
    data = [numbers(np.random.default_rng([each, number]), count, kind) for each in range(ranks)]
    for each in words:
        each[:] = 0
    own = words[rank]
    own[0], own[ENDING], own[RANK] = number, ending.handle, rank | ranks << 32
    own[FIRST_RANK : FIRST_RANK + ranks] = [table.handle for table in tables[:ranks]]
    for sender in set(range(ranks)) - {rank}:
        sent = words_of(data[sender], number)
        part(own, number, sender)[: len(sent)] = sent
    (source, of_source), (target, of_target) = pinned(2 * LARGEST_BYTES), pinned(2 * LARGEST_BYTES)
    of_source[:] = of_target[:] = UNTOUCHED
    of_source.view(dtype)[:count] = data[rank]
    result = (of_source if in_place else of_target).view(dtype)
    cg.launch(
        stream,
        {"grid": 1, "block": block},
        kernel,
        tables[rank],
        source,
        source if in_place else target,
        np.uint32(count),
    )
    stream.sync()
    assert result[:count].tobytes() == reduced(data, op).tobytes()
    assert np.all(result[count:].view(np.uint8) == UNTOUCHED)
    assert int(own[0]) & 0xFFFFFFFF == (number + 1) % 2**32
    sent = words_of(data[rank], number)
    for receiver in set(range(ranks)) - {rank}:
        found = part(words[receiver], number, rank).copy()
        assert np.array_equal(found[: len(sent)], sent)
        refreshed = (number >> 1) % PIECES
        assert refreshed < len(sent) or int(found[refreshed]) >> 32 == number
        found[[*range(len(sent)), refreshed]] = 0
        assert not found.any()


@pytest.mark.parametrize(("kind", "op"), KINDS)
def test_a_round_reduces_in_the_order_of_the_ranks_and_sends_each_word(kind, op, memories):
    """Also with fewer threads than pairs, odd numbers of elements, in place, and as the number of the round wraps."""
    kernel = cg.ObjectCode.from_ptx(exchange_entry("e", kind, op).encode(), name="e").get_kernel("e")
    most = LARGEST_BYTES // np.dtype(kind).itemsize
    for case, (ranks, rank) in enumerate(RANKS):
        for count, block in ((1, 32), (33, 32), (most - 1, 96), (most, 512)):
            number = ROUNDS[(case + count) % len(ROUNDS)]
            check_round(memories, kernel, kind, op, ranks, rank, count, block, number, in_place=case % 2 == 0)


@pytest.mark.parametrize("number", [3, 0])
@pytest.mark.parametrize("lacking", [0, 1, 2, 65])
def test_a_round_takes_no_word_of_another_round(lacking, number, memories):
    """The word that ends polls is set: without it the rank would wait for ever. Nothing is stored then."""
    tables, words, _ = memories
    stop, stops = pinned(8)
    stops[0] = 1
    kernel = cg.ObjectCode.from_ptx(exchange_entry("e", "f4", "sum").encode(), name="e").get_kernel("e")
    stream, own, values = cg.Device().create_stream(), words[0], np.ones(66, np.float32)
    for each in words:
        each[:] = 0
    own[0], own[ENDING], own[RANK] = number, stop.handle, 2 << 32
    own[FIRST_RANK : FIRST_RANK + 2] = [table.handle for table in tables[:2]]
    sent = words_of(values, number)
    sent[lacking] = words_of(values, (number - 2) % 2**32)[lacking]
    part(own, number, 1)[: len(sent)] = sent
    (source, of_source), (target, of_target) = pinned(LARGEST_BYTES), pinned(LARGEST_BYTES)
    of_source.view(np.float32)[: len(values)], of_target[:] = values, UNTOUCHED
    cg.launch(stream, {"grid": 1, "block": 64}, kernel, tables[0], source, target, np.uint32(len(values)))
    stream.sync()
    found = of_target.reshape(-1, 8)  # of each pair
    pair = lacking // 2
    assert np.all(found[pair] == UNTOUCHED)
    others = np.delete(found[: len(values) // 2], pair, axis=0)
    assert np.all(others.view(np.float32) == 2.0)


def test_all_parts_of_a_table_begin_where_two_words_can_be_stored_at_a_time():
    assert TABLE_WORDS % 2 == 0 and FIRST_RANK + MOST_RANKS <= TABLE_WORDS
    assert PIECES & (PIECES - 1) == 0 and MEMORY_BYTES == 8 * (TABLE_WORDS + 2 * MOST_RANKS * PIECES)
