# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of sorting in kernels of the peers: keys are in order, equal keys keep theirs, and values move with the keys."""

import numpy as np
import pytest

import cuda_graphs as cg
import cuda_graphs.compat.quadrants as qd

Any1 = qd.types.ndarray()
ROOM = 2000
TYPES = {
    "u32": np.uint32, "i32": np.int32, "f32": np.float32, "u64": np.uint64, "i64": np.int64, "f64": np.float64,
}  # fmt: skip


def keys_of(dtype, n, random):
    """Return keys with repeats, negative ones where the type has them, and the whole range of bits."""
    bits = random.integers(0, 256, n * np.dtype(dtype).itemsize, dtype=np.uint8).tobytes()
    wide = np.frombuffer(bits, dtype).copy()
    wide[np.isnan(wide)] = 0
    small = random.integers(0, 5, n).astype(dtype) - (0 if np.dtype(dtype).kind == "u" else 2)
    return np.where(random.random(n) < 0.5, wide, small).astype(dtype)


@pytest.fixture(params=TYPES)
def sorter(request):
    """The name of a type of keys, and a graph kernel that sorts them; the number of keys is on the device."""
    dtype = getattr(qd, request.param)

    @qd.kernel(graph=True)
    def run(keys: Any1, tmp: Any1, values: Any1, tmp_values: Any1, scratch: Any1, n: Any1):
        qd.algorithms.sort(keys, tmp, values, tmp_values, scratch, n, dtype, True, 8 * dtype.size, 2)

    yield request.param, run
    run.forget()


def filled(dtype, numbers):
    found = qd.ndarray(dtype, ROOM)
    found.from_numpy(np.concatenate([numbers, np.zeros(ROOM - len(numbers), numbers.dtype)]))
    return found


def test_keys_are_in_order_and_equal_keys_keep_theirs(sorter):
    name, run = sorter
    dtype, random = getattr(qd, name), np.random.default_rng(7)
    scratch, n = qd.ndarray(qd.u32, qd.algorithms.sort_scratch_slots(ROOM)), qd.ndarray(qd.i32, ())
    for count in (0, 1, 2, 255, 256, 257, ROOM):
        given = keys_of(TYPES[name], count, random)
        keys, values = filled(dtype, given), filled(qd.i32, np.arange(count, dtype="i4"))
        n[()] = count
        run(keys, qd.ndarray(dtype, ROOM), values, qd.ndarray(qd.i32, ROOM), scratch, n)
        order = np.argsort(given + 0, kind="stable")  # -0.0 is before 0.0 in the order of bits
        found = keys.to_numpy()[:count]
        np.testing.assert_array_equal(found, given[order])
        moved = values.to_numpy()[:count]
        np.testing.assert_array_equal(given[moved], found)
        if np.dtype(TYPES[name]).kind != "f":
            np.testing.assert_array_equal(moved, order)
        assert not keys.to_numpy()[count:].any()


def test_low_bits_alone_are_sorted_without_values_in_each_round_of_a_loop():
    @qd.kernel(graph=True)
    def run(keys: Any1, tmp: Any1, scratch: Any1, n: Any1, rounds: Any1):
        while qd.graph_do_while(rounds):
            qd.algorithms.sort(keys, tmp, keys, tmp, scratch, n, qd.u32, False, 16, 1)
            for i in range(n[()]):
                keys[i] = keys[i] ^ qd.u32(0xFFFF)
            for _ in range(1):
                rounds[()] -= 1

    given = keys_of(np.uint32, ROOM, np.random.default_rng(3))
    keys, n, rounds = filled(qd.u32, given), qd.ndarray(qd.i32, ()), qd.ndarray(qd.i32, ())
    n[()], rounds[()] = ROOM, 3
    run(keys, qd.ndarray(qd.u32, ROOM), qd.ndarray(qd.u32, qd.algorithms.sort_scratch_slots(ROOM)), n, rounds)
    for _ in range(3):
        given = given[np.argsort(given & 0xFFFF, kind="stable")] ^ 0xFFFF
    np.testing.assert_array_equal(keys.to_numpy(), given)


def test_sort_says_which_bits_it_takes_and_that_kernels_call_it():
    keys = qd.ndarray(qd.u32, 4)

    @qd.kernel
    def run(keys: Any1, n: Any1):
        qd.algorithms.sort(keys, keys, keys, keys, keys, n, qd.u32, False, 24, 1)

    with pytest.raises(cg.CompileError, match="a multiple of 16"):
        run(keys, qd.ndarray(qd.i32, ()))
    with pytest.raises(RuntimeError, match="in kernels only"):
        qd.algorithms.sort(keys)


@pytest.mark.parametrize(("start", "bits"), [(3, 6), (8, 3)])
def test_ranks_of_a_block_are_those_of_a_stable_sort(start, bits):
    @qd.kernel
    def run(keys: Any1, ranks: Any1, bins: Any1, before: Any1):
        qd.loop_config(block_dim=64)
        for i in range(keys.shape[0]):
            counts = qd.simt.block.SharedArray((64,), qd.i32)
            prefix = qd.simt.block.SharedArray((64,), qd.i32)
            ranks[i] = qd.simt.block.radix_rank_match_atomic_or(keys[i], 64, 6, start, bits, counts, prefix)
            bins[i], before[i] = counts[i % 64], prefix[i % 64]

    given = np.random.default_rng(5).integers(0, 1 << 14, 256, dtype=np.uint32)
    keys, found = qd.ndarray(qd.u32, 256), [qd.ndarray(qd.i32, 256) for _ in range(3)]
    keys.from_numpy(given)
    run(keys, *found)
    ranks, bins, before = (each.to_numpy().reshape(4, 64) for each in found)
    for block, digits in enumerate(((given >> start) & ((1 << bits) - 1)).reshape(4, 64)):
        counts = np.bincount(digits, minlength=64)
        np.testing.assert_array_equal(np.argsort(ranks[block]), np.argsort(digits, kind="stable"))
        np.testing.assert_array_equal(bins[block], counts)
        np.testing.assert_array_equal(before[block], np.cumsum(counts) - counts)


def test_unique_is_true_where_all_lanes_agree():
    @qd.kernel
    def run(flags: Any1, found: Any1):
        qd.loop_config(block_dim=128)
        for i in range(128):
            found[i] = qd.simt.warp.unique(qd.u32(0xFFFFFFFF), flags[i])

    given = np.zeros(128, "i4")
    given[32:64], given[70] = 3, 1
    flags, found = qd.ndarray(qd.i32, 128), qd.ndarray(qd.i32, 128)
    flags.from_numpy(given)
    run(flags, found)
    assert found.to_numpy().reshape(4, 32).tolist() == [[value] * 32 for value in (1, 1, 0, 1)]
