# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the kind of a loop bound decides how a call of a gradient finds the sizes of its stacks, and what that costs
(`grad_stats`)."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.kernels.gradients import stack_sizing
from tests.autodiff.calls.gradient_kernels import array
from tests.autodiff.calls.stack_rig import (
    A_LAUNCH,
    BOUNDS,
    NOTHING,
    OF_ARRAY,
    OF_WHILE,
    START,
    by_array,
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


def test_needed_elements_of_fields_are_read_once(y):
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


def test_sizer_reads_the_bounds_in_arrays_of_the_device(y):
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
def test_bounds_that_foreign_code_may_change_are_read_each_time(y, how):
    """Code that shares the memory, for example through DLPack, may change the bounds without notice."""

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
    """A tensor of PyTorch or CuPy changes without notice."""

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


def test_loop_without_a_size_expression_is_counted_again_after_a_change(y):
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
    """Unused inputs are 100, so that a wrong element would show as 200."""
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
    monkeypatch.setattr(stack_sizing, "find_field", nothing)
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
