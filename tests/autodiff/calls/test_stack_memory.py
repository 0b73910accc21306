# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: sizes of stacks are found in the order of streams, and a value that a stack cannot hold does no harm."""

import dataclasses
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

import cuda_graphs as cg
from tests.autodiff.calls.gradient_kernels import array
from tests.autodiff.calls.stack_rig import (
    A_LAUNCH,
    NOTHING,
    OF_ARRAY,
    OF_WHILE,
    START,
    call,
    cosines,
    costs,
    ints,
    late,
)

f64, i32 = cg.f64, cg.i32
ndarray = cg.types.ndarray


@pytest.fixture
def y(y):
    y.grad.fill(1)
    return y


# In the order of streams


@pytest.fixture
def streams():
    device = cg.Device()
    device.set_current()
    return [device.create_stream() for _ in range(3)]


@pytest.mark.parametrize("kernel", [OF_ARRAY, OF_WHILE])
def test_sizes_are_found_behind_a_producer_on_the_same_stream(streams, y, kernel):
    x, b = array(START), ints([1] * 4)
    stream = streams[0]
    for value in (30, 11, 60):
        late(x, b, value, 100_000, stream=stream)
        x.grad.fill(0)
        kernel.grad(x, b, y, stream=stream)
        stream.sync()
        np.testing.assert_allclose(x.grad.to_numpy(), cosines(START, value))


def test_fields_are_read_behind_a_producer_on_the_same_stream(streams, y):
    steps = cg.field(i32, ())

    @cg.kernel
    def late_steps(x: ndarray(f64, 1), value: i32, rounds: i32):
        v = x[0]
        for _ in cg.static(range(1)):
            n = 0
            while n < rounds:
                v = v * 0.5 + 0.1
                n += 1
        steps[()] = value + cg.cast(v * 1e-9, i32)

    @cg.kernel
    def of_steps(x: ndarray(f64, 1), y: ndarray(f64, 0)):
        for i in x:
            v = x[i]
            for _ in range(steps[()]):
                v = cg.sin(v)
            y[()] += v

    x = array(START)
    for value in (30, 11, 60):
        late_steps(x, value, 100_000, stream=streams[0])
        x.grad.fill(0)
        of_steps.grad(x, y, stream=streams[0])
        streams[0].sync()
        np.testing.assert_allclose(x.grad.to_numpy(), cosines(START, value))
    assert of_steps.grad_stats.sizer_launches == 0


def test_size_that_another_stream_may_still_change_is_not_kept(streams, y):
    of_array, x, b = OF_ARRAY, array(START), ints([1] * 4)
    before = of_array.grad_stats.sizer_launches
    late(x, b, 25, 1000, stream=streams[0])
    streams[1].wait(streams[0].record())
    of_array.grad(x, b, y, stream=streams[1])
    of_array.grad(x, b, y, stream=streams[1])
    assert of_array.grad_stats.sizer_launches == before + 2
    of_array.grad(x, b, y, stream=streams[0])
    of_array.grad(x, b, y, stream=streams[0])
    assert of_array.grad_stats.sizer_launches == before + 3
    for stream in streams:
        stream.sync()


def test_many_calls_on_streams_have_rooms_of_their_own(streams, y):
    """Sizes are parameters of each launch: the host may be any number of launches ahead, on any stream."""

    @cg.kernel
    def of_numbers(x: ndarray(f64, 1), n: i32, y: ndarray(f64, 0)):
        for i in x:
            v = x[i]
            for _ in range(n):
                v = cg.sin(v)
            y[()] += v

    arrays = [array(START + k) for k in range(3)]
    trips = [(7 * call + 5 * k) % 23 for k in range(3) for call in range(40)]
    for call_ in range(40):
        for k, stream in enumerate(streams):
            of_numbers.grad(arrays[k], trips[40 * k + call_], y, stream=stream)
    stats = of_numbers.grad_stats
    assert (stats.sizer_launches, stats.d2h_reads, stats.event_waits, stats.meta_uploads) == (0, 0, 0, 0)
    for k, stream in enumerate(streams):
        stream.sync()
        wanted = sum(cosines(START + k, n) for n in trips[40 * k : 40 * k + 40])
        np.testing.assert_allclose(arrays[k].grad.to_numpy(), wanted)


# Capacity


@pytest.mark.parametrize("dtype", [cg.u8, cg.i64, cg.u64])
def test_bounds_may_be_of_any_integer_type(y, dtype):
    of_array, x = OF_ARRAY, array(START)
    for bounds in ([4, 0, 9, 2], [40, 100, 9, 2], [1, 1, 1, 0]):
        assert costs(call(of_array, x, ints(bounds, dtype), y, wanted=cosines(START, bounds))) == A_LAUNCH


def test_begins_may_be_negative_and_ranges_empty(y):
    @cg.kernel
    def between(x: ndarray(f64, 1), low: ndarray(i32, 1), high: ndarray(i32, 1), z: i32, y: ndarray(f64, 0)):
        for i in x:
            v = x[i]
            for _ in range(low[i], high[i]):
                v = cg.sin(v)
            for _ in range(2 - (z - high[i])):
                v = cg.sin(v)
            y[()] += v

    x, low, high = array(START), ints([-20, 3, 5, -1]), ints([2, 3, -5, 30])
    wanted = [22 + max(0, 2 - (7 - 2)), 0, 0, 31 + 25]
    call(between, x, low, high, 7, y, wanted=cosines(START, wanted))
    assert between.grad_stats.device_evals == 1


def test_bounds_grow_and_shrink_and_memory_grows_once():
    @cg.kernel
    def segments(off: ndarray(i32, 1), x: ndarray(f64, 1), y: ndarray(f64, 0)):
        for i in range(3):
            acc = f64(1.0)
            for j in range(off[i + 1] - off[i]):
                acc *= 1 + x[off[i] + j]
            y[()] += acc

    x, y = array([0.2, 0.3, 0.4, 0.5, 0.6, 0.7]), cg.ndarray(f64, (), needs_grad=True)
    y.grad.fill(1)
    grows = []
    for off in ([0, 0, 1, 1], [0, 2, 3, 6], [0, 0, 6, 6], [0, 2, 3, 6], [0, 1, 1, 2]):
        x.grad.fill(0)
        segments.grad(ints(off), x, y)
        values, wanted = x.to_numpy(), np.zeros(6)
        for begin, end in pairwise(off):
            wanted[begin:end] = np.prod(1 + values[begin:end]) / (1 + values[begin:end])
        np.testing.assert_allclose(x.grad.to_numpy(), wanted)
        grows.append(segments.grad_stats.heap_grows)
    assert grows == sorted(grows) and grows[2:] == [grows[2]] * 3
    assert segments.grad_stats.heap_bytes > 0


def test_stacks_of_all_kinds_of_values_and_tasks_of_different_size(y):
    """Values of f64, i32, i64 and bool, in two tasks of which one has a hundred times the room of the other."""

    @cg.kernel
    def mixed(x: ndarray(f64, 1), n: i32, y: ndarray(f64, 0)):
        for i in x:
            v = x[i]
            at = 0
            far = cg.i64(1)
            for j in range(n):
                if v > 0.5:
                    v = v * x[at] * 0.9
                else:
                    v = v * v + 0.4
                at = (at * 3 + j) % x.shape[0]
                far = (far * 5 + cg.i64(at)) % cg.i64(7)
                v = v + 0.01 * x[cg.cast(far, i32) % x.shape[0]]
            y[()] += v
        for i in x:
            v = x[i]
            for _ in range(100 * n):
                v = cg.sin(v) + 0.05
            y[()] += v

    def value(values, n):
        total = 0.0
        for start in values:
            v, at, far = start, 0, 1
            for j in range(n):
                v = v * values[at] * 0.9 if v > 0.5 else v * v + 0.4
                at = (at * 3 + j) % len(values)
                far = (far * 5 + at) % 7
                v = v + 0.01 * values[far % len(values)]
            total += v
            v = start
            for _ in range(100 * n):
                v = np.sin(v) + 0.05
            total += v
        return total

    wanted = []
    for i in range(4):
        step = np.zeros(4)
        step[i] = 1e-6
        wanted.append((value(START + step, 5) - value(START - step, 5)) / 2e-6)
    x = array(START)
    x.grad.fill(0)
    mixed.grad(x, 5, y)
    np.testing.assert_allclose(x.grad.to_numpy(), wanted, rtol=1e-6, atol=1e-9)
    info = mixed.grad.info(x, 5, y)
    assert {stack.size for stack in info.stacks} >= {4, 8}
    assert mixed.grad_stats.heap_bytes >= 500 * 8


def test_memory_is_of_at_most_65536_threads(y):
    @cg.kernel
    def of_many(x: ndarray(f64, 1), b: ndarray(i32, 0), y: ndarray(f64, 0)):
        cg.loop_config(block_dim=192)
        for i in x:
            v = x[i]
            for _ in range(b[()]):
                v = cg.sin(v)
            y[()] += v

    x = array(np.linspace(0, 1, 65_700))
    call(of_many, x, ints(3), y, wanted=cosines(x.to_numpy(), 3))
    assert 3 * 8 <= of_many.grad_stats.heap_bytes <= 3 * 8 * 65536


def test_a_call_that_needs_more_memory_than_there_is_says_what_takes_it(y, driver_table):
    @cg.kernel
    def of_four(x: ndarray(f64, 1), n: cg.i64, y: ndarray(f64, 0)):
        for i in x:
            a = b = c = d = x[i]
            for _ in range(n):
                a = cg.sin(a)
                b = cg.sin(b)
                c = cg.sin(c)
                d = cg.sin(d)
            y[()] += a + b + c + d

    x = array(START)
    call(of_four, x, 3, y, wanted=4 * cosines(START, 3))
    before = dataclasses.replace(of_four.grad_stats)
    driver_table.refuse("cuMemAllocFromPoolAsync", 2)
    with pytest.raises(cg.CUDAOutOfMemoryError) as found:
        of_four.grad(x, 10_000, y)
    driver_table.restore()
    assert "stacks of the gradient of of_four() take" in found.value.__notes__[0]
    assert of_four.grad_stats.heap_grows == before.heap_grows
    with pytest.raises(
        MemoryError, match=r"a stack of the gradient of of_four.* would hold 8589934592 values"
    ):
        of_four.grad(x, 2**33, y)
    call(of_four, x, 5, y, wanted=4 * cosines(START, 5))


def test_ranges_of_the_sizer_have_no_end(y):
    """The index of the bound is a float's, so it may be any of the axis, which has more than 2**24 elements."""

    @cg.kernel
    def of_any(x: ndarray(f64, 1), b: ndarray(cg.u8, 1), y: ndarray(f64, 0)):
        for i in x:
            v = x[i]
            for _ in range(cg.cast(b[cg.cast(x[i], i32)], i32) * 3):
                v = cg.sin(v)
            y[()] += v

    x, b = array(START), cg.ndarray(cg.u8, 2**24 + 3)
    b.fill(0)
    b[0], b[1], b[2**24 + 1] = 5, 2, 7
    found = call(of_any, x, b, y, wanted=cosines(START, [15, 15, 6, 15]))
    assert costs(found) == A_LAUNCH
    least = of_any.grad_stats.heap_bytes
    b[2**24 + 2] = 200
    found = call(of_any, x, b, y, wanted=cosines(START, [15, 15, 6, 15]))
    assert costs(found) == A_LAUNCH
    # 600 values in place of 21 for each worker, of which a GPU has more; both are rounded up to the alignment.
    assert of_any.grad_stats.heap_bytes >= 600 * 8
    assert of_any.grad_stats.heap_bytes > 15 * least
    assert costs(call(of_any, x, b, y, wanted=cosines(START, [15, 15, 6, 15]))) == NOTHING


def test_no_room_is_an_error_and_the_next_call_is_right(y):
    """The room of 4 is forced: without it no bound can be too small, since bounds are read for each call."""
    of_array, x, b = OF_ARRAY, array(START), ints([40, 1, 40, 3])
    before = of_array.grad_stats.sizer_launches
    of_array.grad.stack_room = 4
    of_array.grad(x, b, y)
    with pytest.raises(cg.AdstackOverflowError, match=r"kernel of_array.*(\n.*)*v = cg.sin\(v\)"):
        cg.Device().sync()
    found = x.grad.to_numpy()
    np.testing.assert_allclose(found, cosines(START, [40, 1, 40, 3]) * [0, 1, 0, 1])  # what had room
    assert y.grad[()] == 1 and list(b.to_numpy()) == [40, 1, 40, 3]
    np.testing.assert_array_equal(x.to_numpy(), START)
    assert of_array.grad_stats.sizer_launches == before
    call(of_array, x, ints([4, 1, 0, 3]), y, wanted=cosines(START, [4, 1, 0, 3]))
    of_array.grad.stack_room = None
    call(of_array, x, b, y, wanted=cosines(START, [40, 1, 40, 3]))


def test_a_process_may_end_with_an_overflow_that_nobody_heard_of(tmp_path):
    script = tmp_path / "ends.py"
    script.write_text(
        "import numpy as np, cuda_graphs as cg\n"
        "@cg.kernel\n"
        "def steps(x: cg.types.ndarray(cg.f64, 1), n: cg.i32, y: cg.types.ndarray(cg.f64, 0)):\n"
        "    for i in x:\n"
        "        v = x[i]\n"
        "        for _ in range(n):\n"
        "            v = cg.sin(v)\n"
        "        y[()] += v\n"
        "x = cg.ndarray(cg.f64, 4, needs_grad=True)\n"
        "y = cg.ndarray(cg.f64, (), needs_grad=True)\n"
        "steps.grad.stack_room = 2\n"
        "steps.grad(x, 50, y)\n"
        "print('called')\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "called\n", "")
