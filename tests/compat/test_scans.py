# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Reductions, scans, selection and sums by key in kernels of the peers give what NumPy gives, for any number of
elements, which is known on the device only."""

import numpy as np
import pytest

import cuda_graphs.compat.quadrants as qd

Any1 = qd.types.ndarray()
ROOM = 3000
COUNTS = (0, 1, 1023, 1024, 1025, ROOM)
algorithms = qd.algorithms
TYPES = {"i32": np.int32, "u32": np.uint32, "f32": np.float32, "i64": np.int64, "f64": np.float64}
BEFORE = {
    "add": lambda x: np.concatenate([[0], np.cumsum(x)[:-1]]),
    "min": lambda x: np.concatenate([[greatest(x.dtype)], np.minimum.accumulate(x)[:-1]]),
    "max": lambda x: np.concatenate([[least(x.dtype)], np.maximum.accumulate(x)[:-1]]),
}
WHOLE = {
    "add": np.sum,
    "min": lambda x: min([greatest(x.dtype), *x]),
    "max": lambda x: max([least(x.dtype), *x]),
}


def greatest(dtype):
    return np.inf if dtype.kind == "f" else np.iinfo(dtype).max


def least(dtype):
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def filled(dtype, numbers):
    found = qd.ndarray(dtype, ROOM)
    found.from_numpy(np.concatenate([numbers, np.zeros(ROOM - len(numbers), numbers.dtype)]))
    return found


def scratch_of(dtype, slots):
    return qd.ndarray(qd.u64 if dtype.size == 8 else qd.u32, slots)


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("op", WHOLE)
def test_reductions_and_scans_are_those_of_numpy(op, name):
    dtype, random = getattr(qd, name), np.random.default_rng(3)
    reduce, scan = getattr(algorithms, f"reduce_{op}"), getattr(algorithms, f"exclusive_scan_{op}")

    @qd.kernel
    def run(x: Any1, whole: Any1, before: Any1, scratch: Any1, n: Any1):
        reduce(x, whole, scratch, n[()], dtype, 2)
        scan(x, before, scratch, n[()], dtype, 2)

    n, scratch = qd.ndarray(qd.i32, ()), scratch_of(dtype, algorithms.exclusive_scan_scratch_slots(ROOM, 2))
    assert algorithms.reduce_scratch_slots(ROOM, 2) <= scratch.shape[0]
    for count in COUNTS:
        numbers = random.integers(0 if name == "u32" else -50, 50, count).astype(TYPES[name])
        whole, before = qd.ndarray(dtype, 1), qd.ndarray(dtype, ROOM)
        n[()] = count
        run(filled(dtype, numbers), whole, before, scratch, n)
        assert whole[0] == WHOLE[op](numbers)
        np.testing.assert_array_equal(before.to_numpy()[:count], BEFORE[op](numbers)[:count])
    run.forget()


@qd.kernel(graph=True)
def selected(x: Any1, flags: Any1, out: Any1, number: Any1, scratch: Any1, n: Any1):
    algorithms.select(x, flags, out, number, scratch, n[()], 2)


@pytest.mark.parametrize("count", COUNTS)
def test_selection_keeps_the_order_of_the_elements_with_a_flag(count):
    random = np.random.default_rng(count)
    numbers, flags = random.standard_normal(count).astype("f4"), random.integers(0, 2, count).astype("i4")
    n, number, out = qd.ndarray(qd.i32, ()), qd.ndarray(qd.i32, 1), qd.ndarray(qd.f32, ROOM)
    n[()] = count
    scratch = qd.ndarray(qd.u32, algorithms.select_scratch_slots(ROOM))
    selected(filled(qd.f32, numbers), filled(qd.i32, flags), out, number, scratch, n)
    expected = numbers[flags != 0]
    assert number[0] == len(expected)
    np.testing.assert_array_equal(out.to_numpy()[: len(expected)], expected)


@qd.kernel
def added(keys: Any1, x: Any1, keys_out: Any1, out: Any1, number: Any1, scratch: Any1, n: Any1):
    algorithms.reduce_by_key_add(keys, x, keys_out, out, number, scratch, n[()], qd.i32, 2)


@pytest.mark.parametrize("count", COUNTS)
def test_values_of_neighbours_with_one_key_are_added(count):
    random = np.random.default_rng(count)
    keys = np.repeat(random.integers(0, 3, count + 1), random.integers(1, 9, count + 1))[:count].astype("i4")
    numbers = random.integers(-9, 9, count).astype("i4")
    n, number = qd.ndarray(qd.i32, ()), qd.ndarray(qd.i32, 1)
    keys_out, out = qd.ndarray(qd.i32, ROOM), qd.ndarray(qd.i32, ROOM)
    n[()] = count
    scratch = qd.ndarray(qd.u32, algorithms.reduce_by_key_scratch_slots(ROOM))
    added(filled(qd.i32, keys), filled(qd.i32, numbers), keys_out, out, number, scratch, n)
    heads = np.flatnonzero(np.diff(keys, prepend=-1)) if count else np.zeros(0, int)
    assert number[0] == len(heads)
    np.testing.assert_array_equal(keys_out.to_numpy()[: len(heads)], keys[heads])
    sums = np.add.reduceat(numbers, heads) if count else numbers
    np.testing.assert_array_equal(out.to_numpy()[: len(heads)], sums)
