# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""How a call of a gradient finds how large its stacks become, by kind of bound, and what that costs: `grad_stats`."""

import dataclasses
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.kernels import rooms

f64, i32 = cg.f64, cg.i32
ndarray = cg.types.ndarray
START = np.array([0.3, 0.7, 1.1, 0.2])
BOUNDS = [4, 0, 9, 2]


def array(values):
    made = cg.ndarray(f64, np.shape(values), needs_grad=True)
    made.from_numpy(np.asarray(values, np.float64))
    return made


def ints(values, dtype=i32):
    made = cg.ndarray(dtype, np.shape(values))
    made.from_numpy(np.asarray(values))
    return made


def cosines(values, times):
    """What the gradient of `times` sines is."""
    v, d = np.array(values, np.float64), np.ones(len(values))
    times = np.broadcast_to(times, v.shape)
    for k in range(max(0, *times)):
        v, d = np.where(k < times, np.sin(v), v), np.where(k < times, d * np.cos(v), d)
    return d


def by_array():
    """A kernel with counters and memory of its own; the others are used by many tests, with arrays of their own."""

    @cg.kernel
    def of_array(x: ndarray(f64, 1), b: ndarray(ndim=1), y: ndarray(f64, 0)):
        for i in x:
            v = x[i]
            for _ in range(b[i]):
                v = cg.sin(v)
            y[()] += v

    return of_array


def by_while():
    @cg.kernel
    def of_while(x: ndarray(f64, 1), b: ndarray(i32, 1), y: ndarray(f64, 0)):
        for i in x:
            v = x[i]
            n = 0
            while n < b[i]:
                v = cg.sin(v)
                n += 1
            y[()] += v

    return of_while


@cg.kernel
def late(x: ndarray(f64, 1), b: ndarray(i32, 1), value: i32, rounds: i32):
    for i in b:
        v = x[0]
        for _ in range(rounds):
            v = v * 0.5 + 0.1
        b[i] = value + cg.cast(v * 1e-9, i32)


OF_ARRAY, OF_WHILE = by_array(), by_while()


@pytest.fixture
def y():
    made = cg.ndarray(f64, (), needs_grad=True)
    made.grad.fill(1)
    return made


def call(kernel, x, *args, wanted, **keywords):
    """The gradient of x, which is looked at, and what that did to the counters."""
    before = dataclasses.replace(kernel.grad_stats)
    x.grad.fill(0)
    kernel.grad(x, *args, **keywords)
    cg.Device().sync()
    np.testing.assert_allclose(x.grad.to_numpy(), wanted)
    after = dataclasses.asdict(kernel.grad_stats)
    return {
        name: after[name] - value
        for name, value in dataclasses.asdict(before).items()
        if after[name] != value
    }


def costs(found):
    """What waits for the device."""
    return {name: found.get(name, 0) for name in ("sizer_launches", "d2h_reads")}


NOTHING, A_LAUNCH = {"sizer_launches": 0, "d2h_reads": 0}, {"sizer_launches": 1, "d2h_reads": 1}


def test_constants_extents_and_numbers_take_no_launch_and_no_read(y):
    @cg.kernel
    def of_numbers(x: ndarray(f64, 1), n: i32, y: ndarray(f64, 0)):
        for i in x:
            v = x[i]
            for _ in range(n + x.shape[0] - 3):
                v = cg.sin(v)
            y[()] += v

    x = array(START)
    for n in (3, 20, 7):
        found = call(of_numbers, x, n, y, wanted=cosines(START, n + 1))
        assert costs(found) == NOTHING
        assert found["host_evals"] == 1
    assert "host_evals" not in call(of_numbers, x, 7, y, wanted=cosines(START, 8))
    assert of_numbers.grad_stats.meta_uploads == of_numbers.grad_stats.event_waits == 0


def test_of_fields_the_elements_that_count_are_read_once(y):
    bounds = cg.field(i32, 10)
    bounds.from_numpy(np.array([*BOUNDS, 100, 100, 100, 100, 100, 100]))

    @cg.kernel
    def of_field(x: ndarray(f64, 1), y: ndarray(f64, 0)):
        for i in x:
            v = x[i]
            for _ in range(bounds[i]):
                v = cg.sin(v)
            y[()] += v

    @cg.kernel
    def sets(value: i32):
        bounds[0] = value

    x = array(START)
    assert costs(call(of_field, x, y, wanted=cosines(START, BOUNDS))) == {"sizer_launches": 0, "d2h_reads": 4}
    found = call(of_field, x, y, wanted=cosines(START, BOUNDS))
    assert costs(found) == NOTHING and "host_evals" not in found
    bounds[1] = 400
    found = call(of_field, x, y, wanted=cosines(START, [4, 400, 9, 2]))
    assert found["heap_grows"] == 1
    assert costs(found) == {"sizer_launches": 0, "d2h_reads": 4}
    sets(2000)
    found = call(of_field, x, y, wanted=cosines(START, [2000, 400, 9, 2]))
    assert found["heap_grows"] == 1
    assert costs(call(of_field, x, y, wanted=cosines(START, [2000, 400, 9, 2]))) == NOTHING


def test_a_field_of_one_number_is_one_read(y):
    steps = cg.field(i32, ())
    steps[()] = 6

    @cg.kernel
    def of_number(x: ndarray(f64, 1), y: ndarray(f64, 0)):
        for i in x:
            v = x[i]
            for _ in range(steps[()]):
                v = cg.sin(v)
            y[()] += v

    x = array(START)
    assert costs(call(of_number, x, y, wanted=cosines(START, 6))) == {"sizer_launches": 0, "d2h_reads": 1}


def test_of_arrays_of_the_device_the_sizer_tells(y):
    of_array, x, b = by_array(), array(START), ints(BOUNDS)
    found = call(of_array, x, b, y, wanted=cosines(START, BOUNDS))
    assert costs(found) == A_LAUNCH
    assert (found["device_evals"], found["heap_grows"]) == (1, 1)
    assert costs(call(of_array, x, b, y, wanted=cosines(START, BOUNDS))) == NOTHING
    b[1] = 3
    found = call(of_array, x, b, y, wanted=cosines(START, [4, 3, 9, 2]))
    assert costs(found) == A_LAUNCH and "heap_grows" not in found
    b[1] = 640
    found = call(of_array, x, b, y, wanted=cosines(START, [4, 640, 9, 2]))
    assert costs(found) == A_LAUNCH and found["heap_grows"] == 1


@pytest.mark.parametrize("change", ["from_numpy", "fill", "copy_from", "setitem", "kernel"])
def test_each_change_of_an_array_is_seen(y, change):
    @cg.kernel
    def sets(b: ndarray(i32, 1)):
        for i in b:
            b[i] = 7

    of_array, x, b = OF_ARRAY, array(START), ints([7, 7, 7, 1])
    call(of_array, x, b, y, wanted=cosines(START, [7, 7, 7, 1]))
    b.fill(1)
    call(of_array, x, b, y, wanted=cosines(START, 1))
    {
        "from_numpy": lambda: b.from_numpy(np.full(4, 7, np.int32)),
        "fill": lambda: b.fill(7),
        "copy_from": lambda: b.copy_from(ints([7] * 4)),
        "setitem": lambda: [b.__setitem__(i, 7) for i in range(4)],
        "kernel": lambda: sets(b),
    }[change]()
    assert costs(call(of_array, x, b, y, wanted=cosines(START, 7))) == A_LAUNCH
    assert costs(call(of_array, x, b, y, wanted=cosines(START, 7))) == NOTHING


@pytest.mark.parametrize("how", ["handle", "buffer", "__cuda_array_interface__", "dlpack", "graph"])
def test_what_others_may_change_is_asked_each_time(y, how):
    """Whoever has the memory, as DLPack gives it away, may change bounds without anybody here knowing."""

    @cg.kernel
    def sets(b: ndarray(i32, 1), value: i32):
        for i in b:
            b[i] = value

    of_array, x, b = OF_ARRAY, array(START), ints(BOUNDS)
    if how == "graph":
        graph = sets.graph(b, 33).instantiate()
        change = lambda: graph.launch(cg.Device().default_stream)  # noqa: E731
    else:
        other = cg.from_dlpack(b) if how == "dlpack" else None
        if how != "dlpack":
            getattr(b, how)
        change = lambda: other.fill(33) if other is not None else b.fill(33)  # noqa: E731
    for _ in range(2):
        assert costs(call(of_array, x, b, y, wanted=cosines(START, BOUNDS))) == A_LAUNCH
    change()
    for _ in range(2):
        assert costs(call(of_array, x, b, y, wanted=cosines(START, 33))) == A_LAUNCH


def test_arrays_of_others_on_the_device_are_asked_there_each_time(y):
    """As a tensor of PyTorch or CuPy is: of its changes nobody here knows."""

    class Tensor:
        def __init__(self, array):
            self.array = array
            self.__cuda_array_interface__ = array.__cuda_array_interface__

    of_array, x, b = OF_ARRAY, array(START), ints(BOUNDS)
    tensor = Tensor(b)
    for bounds in (BOUNDS, BOUNDS, [31, 0, 2, 2]):
        b.from_numpy(np.array(bounds))
        assert costs(call(of_array, x, tensor, y, wanted=cosines(START, bounds))) == A_LAUNCH


def test_arrays_of_the_host_are_read_there(y):
    of_array, x, b = OF_ARRAY, array(START), np.array(BOUNDS, np.int64)
    for bounds in (b, np.repeat(b, 2)[::2], b.astype(np.uint8)):
        found = call(of_array, x, bounds, y, wanted=cosines(START, BOUNDS))
        assert costs(found) == NOTHING and found["host_evals"] == 1
    b[3] = 50
    assert costs(call(of_array, x, b, y, wanted=cosines(START, [4, 0, 9, 50]))) == NOTHING


def test_what_no_expression_says_is_counted_until_something_changes(y):
    of_while, x, b = OF_WHILE, array(START), ints(BOUNDS)
    found = call(of_while, x, b, y, wanted=cosines(START, BOUNDS))
    assert costs(found) == A_LAUNCH and found["device_evals"] >= 1 and "host_evals" not in found
    assert costs(call(of_while, x, b, y, wanted=cosines(START, BOUNDS))) == NOTHING
    b[1] = 40
    assert costs(call(of_while, x, b, y, wanted=cosines(START, [4, 40, 9, 2]))) == A_LAUNCH


def test_a_number_that_wraps_around_is_counted(y):
    @cg.kernel
    def wraps(x: ndarray(f64, 1), n: i32, b: ndarray(i32, 1), y: ndarray(f64, 0)):
        for i in x:
            v = x[i]
            for _ in range(n * n + 3):
                v = cg.sin(v)
            for _ in range(b[i] * b[i] + 2):
                v = cg.sin(v)
            y[()] += v

    x = array(START)
    found = call(wraps, x, 65536, ints([1, 0, 2, 1]), y, wanted=cosines(START, [6, 5, 9, 6]))
    assert costs(found) == {
        "sizer_launches": 2,
        "d2h_reads": 2,
    }  # the sizer, and counting what the host gave up
    found = call(wraps, x, 2, ints([65536, 0, 65536, 1]), y, wanted=cosines(START, [9, 9, 9, 10]))
    assert costs(found) == {"sizer_launches": 2, "d2h_reads": 2}
    assert costs(call(wraps, x, 2, ints([2, 0, 1, 1]), y, wanted=cosines(START, [13, 9, 10, 10]))) == A_LAUNCH


def test_a_large_field_is_left_to_the_sizer(y):
    bounds = cg.field(i32, 20_000)
    bounds.fill(5)

    @cg.kernel
    def of_large(x: ndarray(f64, 1), y: ndarray(f64, 0)):
        for i in x:
            v = x[i]
            for _ in range(bounds[i]):
                v = cg.sin(v)
            y[()] += v

    assert costs(call(of_large, array(START), y, wanted=cosines(START, 5))) == A_LAUNCH


def test_bounds_of_fields_and_of_arrays_in_one_kernel():
    """As K8 of the study, whose unused inputs are 100: a wrong element would show as 200."""
    most = cg.field(i32, 4)
    most.from_numpy(np.array([10, 9, 10, 8]))

    @cg.kernel
    def differences(x: ndarray(f64, 1), b: ndarray(i32, 1), y: ndarray(f64, 0)):
        for i in b:
            acc = f64(1.0)
            for k in range(most[i] - b[i]):
                acc *= 1 + x[k]
            y[()] += acc

    x, y = array(np.r_[np.full(8, 0.1), np.full(8, 100.0)]), cg.ndarray(f64, (), needs_grad=True)
    y.grad.fill(1)
    b = ints([2, 2, 5, 8])
    wanted = [sum(1.1 ** (trips - 1) for trips in (8, 7, 5, 0) if k < trips) for k in range(16)]
    found = call(differences, x, b, y, wanted=wanted)
    assert found["sizer_launches"] == 1
    assert differences.grad_stats.heap_bytes > 0
    assert costs(call(differences, x, b, y, wanted=wanted)) == NOTHING


def test_a_field_that_nobody_finds_is_left_to_the_sizer(y, monkeypatch):
    """The host knows fields by what the program keeps of them; the code knows where they are."""
    steps = cg.field(i32, ())
    steps[()] = 6

    @cg.kernel
    def of_lost(x: ndarray(f64, 1), y: ndarray(f64, 0)):
        for i in x:
            v = x[i]
            for _ in range(steps[()]):
                v = cg.sin(v)
            y[()] += v

    def nothing(name):
        raise KeyError(name)

    x = array(START)
    of_lost.grad(x, y)
    monkeypatch.setattr(rooms, "find_field", nothing)
    for _ in range(2):
        assert costs(call(of_lost, x, y, wanted=cosines(START, 6))) == A_LAUNCH


def test_threads_have_rooms_of_their_own_arrays(y):
    device = cg.Device()
    device.set_current()
    work = [(array(START), ints([3 + 11 * k] * 4), 3 + 11 * k, device.create_stream()) for k in range(4)]

    def calls(x, b, n, stream):
        device.set_current()
        for k in range(10):
            if k % 3 == 0:
                late(x, b, n, 10, stream=stream)
            OF_ARRAY.grad(x, b, y, stream=stream)
        stream.sync()

    with ThreadPoolExecutor(len(work)) as pool:
        for done in [pool.submit(calls, *each) for each in work]:
            done.result()
    for x, _, n, _ in work:
        np.testing.assert_allclose(x.grad.to_numpy(), 10 * cosines(START, n))


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


def test_what_another_stream_may_still_change_is_not_kept(streams, y):
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
    assert grows[-1] <= 2 and grows[2:] == [grows[2]] * 3
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
    info, _ = mixed.grad.info(x, 5, y)
    assert {stack.size for stack in info.stacks} >= {4, 8}
    assert max(cosines(START, 5)) > 0 and mixed.grad_stats.heap_bytes >= 500 * 8


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
