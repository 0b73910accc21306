# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: `kernel.grad` and `cg.ad` add the right gradients to arrays, keep all other arrays, and count what they did."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import cuda_graphs as cg
from tests.autodiff.calls.gradient_kernels import START, array, read_steps, sine_steps, squares, steps

f64, i32 = cg.f64, cg.i32
ndarray = cg.types.ndarray


@cg.kernel
def stores(x: ndarray(f64, 1), y: ndarray(f64, 1)):
    for i in x:
        y[i] = 3.0 * x[i]


def test_gradients_add_to_what_is_there(x, y):
    squares(x, y)
    y.grad.fill(1)
    squares.grad(x, y)
    squares.grad(x, y)
    np.testing.assert_allclose(x.grad.to_numpy(), 4 * START)
    assert y.grad[()] == 1  # of what was added to


def test_the_gradient_of_what_was_stored_is_taken(x):
    y = array(np.zeros(3))
    stores(x, y)
    y.grad.fill(2)
    stores.grad(x, y)
    stores.grad(x, y)
    np.testing.assert_allclose(x.grad.to_numpy(), 6)
    np.testing.assert_array_equal(y.grad.to_numpy(), 0)


def test_a_gradient_changes_no_array_of_the_kernel(x):
    y = array(np.zeros(3))
    stores(x, y)
    kept = x.to_numpy(), y.to_numpy()
    stores.grad(x, y)
    np.testing.assert_array_equal(kept, (x.to_numpy(), y.to_numpy()))


def test_rooms_of_numbers_and_extents_take_no_launch_and_no_read(x, y):
    for n in (1, 5, 20, 3):
        x.grad.fill(0)
        y.grad.fill(1)
        sine_steps.grad(x, n, y)
        np.testing.assert_allclose(x.grad.to_numpy(), steps(START, n)[1])
    before = dataclasses.replace(sine_steps.grad_stats)
    for _ in range(3):
        sine_steps.grad(x, 3, y)
    after = sine_steps.grad_stats
    assert (after.sizer_launches, after.d2h_reads, after.device_evals) == (0, 0, 0)
    assert (after.meta_uploads, after.meta_bytes, after.event_waits) == (0, 0, 0)
    assert after.calls == before.calls + 3
    assert after.host_evals == before.host_evals  # the same numbers
    assert after.heap_grows == before.heap_grows


def test_the_memory_of_stacks_grows_once_and_never_shrinks(x, y):
    @cg.kernel
    def fresh(x: ndarray(f64, 1), n: i32, y: ndarray(f64, 0)):
        for i in x:
            v = x[i]
            for _ in range(n):
                v = cg.sin(v) + 0.1
            y[()] += v

    grows = []
    for n in (50, 40, 5000, 4000, 5000, 10):
        fresh.grad(x, n, y)
        grows.append(fresh.grad_stats.heap_grows)
    assert grows == [1, 1, 2, 2, 2, 2]
    assert fresh.grad_stats.heap_bytes > 0


def test_rooms_of_what_is_in_arrays_are_counted(x, y):
    n = cg.ndarray(i32, ())
    for count in (5, 0, 64, 2):
        n[()] = count
        x.grad.fill(0)
        y.grad.fill(1)
        read_steps(x, n, y)
        before = dataclasses.replace(read_steps.grad_stats)
        read_steps.grad(x, n, y)
        np.testing.assert_allclose(x.grad.to_numpy(), steps(START, count)[1])
        after = read_steps.grad_stats
        assert after.sizer_launches == before.sizer_launches + 1
        assert after.d2h_reads == before.d2h_reads + 1


def test_a_stack_without_room_is_an_error_that_names_kernel_and_line(x, y):
    y.grad.fill(1)
    sine_steps.grad.stack_room = 4
    try:
        sine_steps.grad(x, 40, y)
        with pytest.raises(
            cg.AdstackOverflowError, match=r"kernel sine_steps.*(\n.*)+v = cg.sin\(v\) \+ 0.1"
        ):
            x.grad.to_numpy()
        np.testing.assert_array_equal(x.grad.to_numpy(), 0)  # told once, and nothing was added
        sine_steps.grad(x, 4, y)
        np.testing.assert_allclose(x.grad.to_numpy(), steps(START, 4)[1])
    finally:
        sine_steps.grad.stack_room = None
    sine_steps.grad(x, 40, y)
    np.testing.assert_allclose(x.grad.to_numpy(), steps(START, 4)[1] + steps(START, 40)[1])


@pytest.mark.parametrize("room", [0, -1, 1.5, "many", 2**31])
def test_a_room_is_a_positive_number(room):
    with pytest.raises(ValueError, match="stack_room of sine_steps must be an int from 1"):
        sine_steps.grad.stack_room = room


def test_many_threads(y):
    x = array(np.linspace(0, 1, 70_001))
    y.grad.fill(1)
    sine_steps.grad(x, 7, y)
    np.testing.assert_allclose(x.grad.to_numpy(), steps(x.to_numpy(), 7)[1])


def test_streams_have_stacks_of_their_own(y):
    device = cg.Device()
    device.set_current()
    streams = [device.create_stream() for _ in range(2)]
    arrays = [array(np.linspace(0, 1 + k, 4096)) for k in range(2)]
    y.grad.fill(1)
    for _ in range(3):
        for k, stream in enumerate(streams):
            sine_steps.grad(arrays[k], 5 + 20 * k, y, stream=stream)
    for k, stream in enumerate(streams):
        stream.sync()
        np.testing.assert_allclose(arrays[k].grad.to_numpy(), 3 * steps(arrays[k].to_numpy(), 5 + 20 * k)[1])


def test_threads_call_one_gradient_with_rooms_of_their_own(y):
    device = cg.Device()
    device.set_current()
    y.grad.fill(1)
    work = [(array(np.linspace(0, 1, 64)), 3 + 11 * k, device.create_stream()) for k in range(4)]

    def calls(x, n, stream):
        device.set_current()
        for _ in range(20):
            sine_steps.grad(x, n, y, stream=stream)
        stream.sync()

    with ThreadPoolExecutor(len(work)) as pool:
        for done in [pool.submit(calls, *each) for each in work]:
            done.result()
    for x, n, _ in work:
        np.testing.assert_allclose(x.grad.to_numpy(), 20 * steps(x.to_numpy(), n)[1])


def test_a_gradient_waits_for_what_its_stream_does_before(x, y):
    device = cg.Device()
    device.set_current()
    stream = device.create_stream()
    late = array(np.zeros(3))
    n = cg.ndarray(i32, ())
    y.grad.fill(1)

    @cg.kernel
    def produce(x: ndarray(f64, 1), late: ndarray(f64, 1), n: ndarray(i32, 0), rounds: i32):
        for i in x:
            v = x[i]
            for _ in range(rounds):
                v = v * 0.5 + x[i] * 0.5
            late[i] = v
            if i == 0:
                n[()] = 9

    produce(x, late, n, 200_000, stream=stream)
    read_steps.grad(late, n, y, stream=stream)
    stream.sync()
    np.testing.assert_allclose(late.grad.to_numpy(), steps(START, 9)[1])


def test_fields_have_gradients():
    weights = cg.field(f64, 3, needs_grad=True)
    total = cg.field(f64, (), needs_grad=True)
    weights.from_numpy(START)

    @cg.kernel
    def cubes():
        for i in weights:
            total[()] += weights[i] ** 3

    cubes()
    total.grad.fill(1)
    cubes.grad()
    np.testing.assert_allclose(weights.grad.to_numpy(), 3 * START**2)
    cg.ad.clear_all_gradients()
    np.testing.assert_array_equal(weights.grad.to_numpy(), 0)
    assert total.grad[()] == 0


def test_methods_have_gradients():
    @cg.data_oriented
    class Oscillator:
        def __init__(self):
            self.x, self.y = array(START), cg.ndarray(f64, (), needs_grad=True)
            self.k = 2.0

        @cg.kernel
        def energy(self):
            for i in self.x:
                self.y[()] += 0.5 * self.k * self.x[i] * self.x[i]

    made = Oscillator()
    with cg.ad.Tape(loss=made.y):
        made.energy()
    np.testing.assert_allclose(made.x.grad.to_numpy(), 2 * START)
    made.energy.grad()
    np.testing.assert_allclose(made.x.grad.to_numpy(), 4 * START)
    with pytest.raises(AttributeError, match="for second derivatives"):
        made.energy.grad.grad  # noqa: B018


def test_f32_and_vectors():
    x = cg.ndarray(cg.vec3, 2, needs_grad=True)
    y = cg.ndarray(cg.f32, (), needs_grad=True)
    values = np.arange(6, dtype=np.float32).reshape(2, 3) + 1
    x.from_numpy(values)

    @cg.kernel
    def lengths(x: ndarray(cg.vec3, 1), y: ndarray(cg.f32, 0)):
        for i in x:
            y[()] += x[i].norm()

    with cg.ad.Tape(loss=y):
        lengths(x, y)
    np.testing.assert_allclose(
        x.grad.to_numpy(), values / np.linalg.norm(values, axis=1, keepdims=True), rtol=1e-6
    )


def test_a_parameter_may_let_no_gradient_through(x, y):
    @cg.kernel
    def product(a: ndarray(f64, 1), b: ndarray(f64, 1, needs_grad=False), y: ndarray(f64, 0)):
        for i in a:
            y[()] += a[i] * b[i]

    b = array([5.0, 6.0, 7.0])
    with cg.ad.Tape(loss=y):
        product(x, b, y)
    np.testing.assert_allclose(x.grad.to_numpy(), [5, 6, 7])
    np.testing.assert_array_equal(b.grad.to_numpy(), 0)


def test_a_parameter_may_ask_for_a_gradient(x, y):
    @cg.kernel
    def wants(a: ndarray(f64, 1, needs_grad=True), y: ndarray(f64, 0)):
        for i in a:
            y[()] += a[i]

    wants(x, y)
    with pytest.raises(
        TypeError, match="'a' takes an array that has a gradient: make it with needs_grad=True"
    ):
        wants(cg.ndarray(f64, 3), y)


def test_arrays_of_numpy_are_inputs_without_a_gradient(x, y):
    @cg.kernel
    def product(a: ndarray(f64, 1), b: ndarray(f64, 1), y: ndarray(f64, 0)):
        for i in a:
            y[()] += a[i] * b[i]

    y.grad.fill(1)
    product.grad(x, np.array([5.0, 6.0, 7.0]), y)
    np.testing.assert_allclose(x.grad.to_numpy(), [5, 6, 7])


# Refused calls


def test_array_that_is_both_read_and_written_is_refused(x):
    @cg.kernel
    def sines(a: ndarray(f64, 1), b: ndarray(f64, 1)):
        for i in a:
            b[i] = cg.sin(a[i])

    with pytest.raises(ValueError, match="'b', which the kernel writes, and 'a' share memory"):
        sines.grad(x, x)
    np.testing.assert_array_equal(x.grad.to_numpy(), 0)


def test_a_gradient_as_an_argument_beside_its_array(x):
    y = array(np.zeros(3))
    with pytest.raises(ValueError, match="the gradient of 'x' shares memory with 'y'"):
        stores.grad(x, x.grad)
    stores.grad(x, y)


def test_array_passed_twice_and_only_read_has_both_gradients(x, y):
    @cg.kernel
    def product(a: ndarray(f64, 1), b: ndarray(f64, 1), y: ndarray(f64, 0)):
        for i in a:
            y[()] += a[i] * b[i]

    y.grad.fill(1)
    product.grad(x, x, y)
    np.testing.assert_allclose(x.grad.to_numpy(), 2 * START)


def test_kernel_without_a_gradient_says_so_when_its_gradient_is_called(x):
    @cg.kernel
    def in_place(x: ndarray(f64, 1)):
        for i in x:
            x[i] = cg.sin(x[i])

    in_place(x)
    with pytest.raises(
        cg.CompileGradientError, match=r"may write it later(.|\n)*Remedy: write to another array"
    ):
        in_place.grad(x)


# Tapes


def test_a_tape_goes_back_through_calls(x, y):
    z = array(np.zeros(3))
    x.grad.fill(7)
    with cg.ad.Tape(loss=y):
        stores(x, z)
        squares(z, y)
    np.testing.assert_allclose(x.grad.to_numpy(), 18 * START)
    assert y[()] == pytest.approx(9 * np.sum(START**2))
    with cg.ad.Tape(loss=y, clear_gradients=False):
        stores(x, z)
        squares(z, y)
    np.testing.assert_allclose(x.grad.to_numpy(), 36 * START)


def test_a_tape_of_steps_in_time():
    u = array(np.zeros((5, 3)))
    u[0, 0], u[0, 1], u[0, 2] = START
    y = cg.ndarray(f64, (), needs_grad=True)

    @cg.kernel
    def advance(u: ndarray(f64, 2), t: i32):
        for i in range(u.shape[1]):
            u[t + 1, i] = cg.sin(u[t, i]) + 0.1

    @cg.kernel
    def measure(u: ndarray(f64, 2), y: ndarray(f64, 0)):
        for i in range(u.shape[1]):
            y[()] += u[u.shape[0] - 1, i]

    with cg.ad.Tape(loss=y):
        for t in range(4):
            advance(u, t)
        measure(u, y)
    np.testing.assert_allclose(u.grad.to_numpy()[0], steps(START, 4)[1])
    np.testing.assert_array_equal(u.grad.to_numpy()[1:], 0)


def test_a_tape_without_a_loss_goes_back_when_asked(x):
    y = array(np.zeros(3))
    with cg.ad.Tape() as tape:
        stores(x, y)
    y.grad.from_numpy(START)
    tape.grad()
    np.testing.assert_allclose(x.grad.to_numpy(), 3 * START)
    with pytest.raises(RuntimeError, match="once"):
        tape.grad()


def test_validation_names_what_a_later_call_has_overwritten(x, y):
    z = array(np.zeros(3))

    @cg.kernel
    def sines(a: ndarray(f64, 1), b: ndarray(f64, 1)):
        for i in a:
            b[i] = cg.sin(a[i])

    def overwrites(validation):
        with cg.ad.Tape(loss=y, validation=validation):
            sines(x, z)
            sines(z, x)
            squares(x, y)

    overwrites(False)  # and the gradient is a wrong one
    x.from_numpy(START)
    with pytest.raises(
        cg.ad.OverwrittenError, match=r"gradient of sines\(\) needs the old values of 'a' \(line \d+\)"
    ):
        overwrites(True)


def test_validation_accepts_steps_in_time_and_fields():
    u = cg.field(f64, (5, 3), needs_grad=True)
    y = cg.field(f64, (), needs_grad=True)
    u.from_numpy(np.vstack([START, np.zeros((4, 3))]))

    @cg.kernel
    def advance(t: i32):
        for i in range(3):
            u[t + 1, i] = cg.sin(u[t, i]) + 0.1

    @cg.kernel
    def measure():
        for i in range(3):
            y[()] += u[4, i]

    with cg.ad.Tape(loss=y, validation=True):
        for t in range(4):
            advance(t)
        measure()
    np.testing.assert_allclose(u.grad.to_numpy()[0], steps(START, 4)[1])


def test_validation_says_at_the_call_what_has_no_gradient(x, y):
    @cg.kernel
    def in_place(x: ndarray(f64, 1)):
        for i in x:
            x[i] = cg.sin(x[i])

    with pytest.raises(cg.CompileGradientError), cg.ad.Tape(loss=y, validation=True):
        in_place(x)


def test_after_an_exception_no_gradient_runs(x, y):
    x.grad.fill(7)

    def fails():
        with cg.ad.Tape(loss=y):
            squares(x, y)
            raise KeyError

    with pytest.raises(KeyError):
        fails()
    np.testing.assert_array_equal(x.grad.to_numpy(), 7)
    with cg.ad.Tape(loss=y):  # and the next tape is as ever
        squares(x, y)
    np.testing.assert_allclose(x.grad.to_numpy(), 2 * START)


def test_tapes_are_for_one_block_and_not_nested(y):
    tape = cg.ad.Tape(loss=y)
    with tape, pytest.raises(RuntimeError, match="cannot be nested"), cg.ad.Tape():
        pass
    with pytest.raises(RuntimeError, match="make a new one"), tape:
        pass


@pytest.mark.parametrize(
    ("make", "kind", "words"),
    [
        (lambda: 1.0, TypeError, "not a float"),
        (lambda: cg.ndarray(f64, 2, needs_grad=True), ValueError, "one element"),
        (lambda: cg.ndarray(f64, ()), ValueError, "needs_grad=True"),
    ],
)
def test_a_loss_is_one_number_with_a_gradient(make, kind, words):
    with pytest.raises(kind, match=words):
        cg.ad.Tape(loss=make())


def test_functions_with_a_gradient_of_their_own(x, y):
    asked = []

    @cg.ad.grad_replaced
    def twice(x, y):
        squares(x, y)
        squares(x, y)

    @cg.ad.grad_for(twice)
    def twice_back(x, y):
        asked.append(y.grad[()])
        squares.grad(x, y)

    with cg.ad.Tape(loss=y) as tape:
        twice(x, y)
    assert len(tape.calls) == 1
    assert asked == [1.0]
    np.testing.assert_allclose(x.grad.to_numpy(), 2 * START)
    with pytest.raises(RuntimeError, match="already has a gradient: twice_back"):
        cg.ad.grad_for(twice)
    with pytest.raises(RuntimeError, match="must be decorated with @cg"):
        cg.ad.grad_for(squares)


def test_a_replaced_gradient_must_be_given(x, y):
    @cg.ad.grad_replaced
    def lonely(x, y):
        squares(x, y)

    lonely(x, y)
    with pytest.raises(TypeError, match=r"lonely\(\) has no gradient"), cg.ad.Tape(loss=y):
        lonely(x, y)


def test_functions_without_a_gradient(x, y):
    @cg.ad.no_grad
    def quietly(x, y):
        squares(x, y)

    with cg.ad.Tape(loss=y):
        quietly(x, y)
        squares(x, y)
    np.testing.assert_allclose(x.grad.to_numpy(), 2 * START)
