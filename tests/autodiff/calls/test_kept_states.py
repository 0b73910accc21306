# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a tape that keeps few states computes the gradients of a tape that keeps all of them, and leaves the results."""

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.kernels.gradients.revolve import forward_steps
from tests.autodiff.calls.gradient_kernels import START, array, read_steps, slopes, squares

f64, i32 = cg.f64, cg.i32
ndarray = cg.types.ndarray


@cg.kernel
def diffuse(u: ndarray(f64, 2), v: ndarray(f64, 2)):
    """Change `u` into `v`. The gradient adds once to each element in each loop, so it has no float atomics."""
    for i, j in v:
        v[i, j] = u[i, j] - 0.2 * cg.sin(u[i, j])
    for i, j in cg.ndrange((1, v.shape[0]), v.shape[1]):
        v[i, j] += 0.05 * u[i - 1, j]
    for i, j in cg.ndrange(v.shape[0] - 1, v.shape[1]):
        v[i, j] += 0.05 * u[i + 1, j]
    for i, j in cg.ndrange(v.shape[0], (1, v.shape[1])):
        v[i, j] += 0.05 * u[i, j - 1]
    for i, j in cg.ndrange(v.shape[0], v.shape[1] - 1):
        v[i, j] += 0.05 * u[i, j + 1]


@cg.kernel
def energy(u: ndarray(f64, 2), loss: ndarray(f64, 0)):
    for _ in range(1):
        total = 0.0
        for i in range(u.shape[0]):
            for j in range(u.shape[1]):
                total += u[i, j] * u[i, j] * u[i, j]
        loss[()] += total


@cg.kernel
def turn(x: ndarray(f64, 1), y: ndarray(f64, 1)):
    for i in x:
        y[i] = 1.3 * cg.sin(x[i])


@cg.kernel
def turn_back(y: ndarray(f64, 1), x: ndarray(f64, 1)):
    for i in y:
        x[i] = 0.9 * cg.cos(y[i])


def turned(values, steps):
    """Return the values after `steps` calls of turn and turn_back, and their derivatives."""
    slope = np.ones(len(values))
    for n in range(steps):
        slope *= 1.3 * np.cos(values) if n % 2 == 0 else -0.9 * np.sin(values)
        values = 1.3 * np.sin(values) if n % 2 == 0 else 0.9 * np.cos(values)
    return values, slope


def run_turns(steps, x, other, loss, streams=(None,), **options):
    """Run the steps, with the squares of the last values as the loss. Return the tape."""
    x.from_numpy(START)
    other.fill(0)
    with cg.ad.Tape(loss=loss, **options) as tape:
        for n in range(steps):
            stream = streams[n % len(streams)]
            if n % 2 == 0:
                turn(x, other, stream=stream)
            else:
                turn_back(other, x, stream=stream)
        squares(x if steps % 2 == 0 else other, loss)
    return tape


def assert_turned(steps, x, other, loss):
    values, slope = turned(START, steps)
    np.testing.assert_allclose(x.grad.to_numpy(), 2 * values * slope, rtol=1e-12)
    np.testing.assert_allclose((x if steps % 2 == 0 else other).to_numpy(), values)
    np.testing.assert_allclose(loss[()], np.sum(values**2))


@pytest.fixture
def other(x):
    return array(np.zeros(len(START)))


# Values


def test_a_stencil_of_100_steps_keeps_12_states_and_has_the_full_gradient_to_the_bit(y):
    n, steps = 256, 100
    start = np.random.default_rng(0).random((n, n))
    states = [cg.ndarray(f64, (n, n), needs_grad=True) for _ in range(steps + 1)]
    states[0].from_numpy(start)
    with cg.ad.Tape(loss=y):
        for t in range(steps):
            diffuse(states[t], states[t + 1])
        energy(states[steps], y)
    full, loss = states[0].grad.to_numpy(), y[()]

    u, v = states[:2]
    u.from_numpy(start)
    with cg.ad.Tape(loss=y, max_states=12) as tape:
        for t in range(steps):
            diffuse(*((u, v) if t % 2 == 0 else (v, u)))
        energy(u, y)
    np.testing.assert_array_equal(u.grad.to_numpy(), full)
    np.testing.assert_array_equal(u.to_numpy(), states[steps].to_numpy())
    assert y[()] == loss
    stats = tape.stats
    assert stats.steps == steps + 1
    assert stats.most_states <= 12 and stats.most_bytes <= 12 * (2 * n * n + 1) * 8
    assert stats.forward_steps <= 1.02 * (1 + forward_steps(steps + 1, 11))


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 7, 20])
@pytest.mark.parametrize("most", [2, 3, 5, 50])
def test_each_number_of_states_gives_the_gradient(steps, most, x, other, y):
    tape = run_turns(steps, x, other, y, max_states=most)
    assert_turned(steps, x, other, y)
    assert tape.stats.most_states <= most
    assert tape.stats.forward_steps <= 1.14 * (1 + forward_steps(steps + 1, most - 1))


def test_the_gradient_agrees_with_central_differences(x, other, y):
    x.from_numpy(START)
    with cg.ad.Tape(loss=y, max_states=3, grad_check=[x], validation=True):
        for _ in range(4):
            turn(x, other)
            turn_back(other, x)
        squares(x, y)
    np.testing.assert_allclose(x.to_numpy(), turned(START, 8)[0])


def test_a_memory_limit_is_kept(x, other, y):
    state = (len(START) * 2 + 1) * 8
    for states in (2, 3, 6):
        tape = run_turns(20, x, other, y, memory_limit=states * state + 7)
        assert_turned(20, x, other, y)
        assert tape.stats.most_bytes <= states * state + 7
    with pytest.raises(
        ValueError, match=r"memory_limit=100 is too small: the kernels of this Tape write 56 bytes"
    ):
        run_turns(20, x, other, y, memory_limit=100)
    assert run_turns(20, x, other, y, memory_limit=10**6, max_states=4).stats.most_states <= 4
    assert_turned(20, x, other, y)


def test_arrays_that_are_written_late_have_their_first_contents_in_earlier_states(x, other, y):
    late = array(START + 1)

    @cg.kernel
    def weigh(x: ndarray(f64, 1), late: ndarray(f64, 1), y: ndarray(f64, 0)):
        for i in x:
            y[()] += x[i] * x[i] * late[i]

    @cg.kernel
    def scale(late: ndarray(f64, 1), x: ndarray(f64, 1)):
        for i in x:
            late[i] = 3.0 * x[i]

    x.from_numpy(START)
    with cg.ad.Tape(loss=y, max_states=2, grad_check=[x, late]):
        for _ in range(3):
            turn(x, other)
            weigh(other, late, y)
            turn_back(other, x)
        scale(late, x)
        weigh(other, late, y)


def test_an_array_without_changes_has_one_copy_in_all_states(x, other, y):
    big = cg.ndarray(f64, 10000)

    @cg.kernel
    def prepare(big: ndarray(f64, 1)):
        for i in big:
            big[i] = 2.0

    x.from_numpy(START)
    with cg.ad.Tape(loss=y, max_states=10) as tape:
        prepare(big)
        for _ in range(10):
            turn(x, other)
            turn_back(other, x)
        squares(x, y)
    assert_turned(20, x, other, y)
    assert tape.stats.most_bytes <= 80000 + 10 * 7 * 8


@cg.kernel
def count(n: ndarray(i32, 0), step: i32):
    for _ in range(1):
        n[()] += step


@pytest.mark.parametrize("most", [2, 3, 9])
@pytest.mark.parametrize("numbers", [(1, 2, 3, 4), (4, 3, 2, 1)], ids=str)
def test_stacks_have_room_for_the_bounds_of_each_state(numbers, most, x, y):
    n, step = cg.ndarray(i32, ()), numbers[1] - numbers[0]
    n.fill(numbers[0] - step)
    with cg.ad.Tape(loss=y, max_states=most):
        for _ in numbers:
            count(n, step)
            read_steps(x, n, y)
    np.testing.assert_allclose(x.grad.to_numpy(), sum(slopes(START, each) for each in numbers))
    x.grad.fill(0)
    y.grad.fill(1)
    read_steps.grad(x, n, y)  # with the results that the tape restored
    np.testing.assert_allclose(x.grad.to_numpy(), slopes(START, numbers[-1]))


def test_random_numbers_are_repeated(x, y):
    noise = cg.ndarray(f64, 3)
    drawn = []

    @cg.kernel
    def draw(noise: ndarray(f64, 1)):
        for i in noise:
            noise[i] = cg.random(f64)

    @cg.kernel
    def weigh(noise: ndarray(f64, 1), x: ndarray(f64, 1), y: ndarray(f64, 0)):
        for i in x:
            y[()] += noise[i] * x[i]

    with cg.ad.Tape(loss=y, max_states=2):
        for _ in range(9):
            draw(noise)
            weigh(noise, x, y)
            drawn.append(noise.to_numpy())
    np.testing.assert_allclose(x.grad.to_numpy(), np.sum(drawn, axis=0))
    np.testing.assert_array_equal(noise.to_numpy(), drawn[-1])


# Memory


def test_views_of_one_array_share_their_states(y):
    whole = array(np.concatenate([START, np.zeros(3)]))
    x, other = whole[:3], whole[3:]
    with cg.ad.Tape(loss=y, max_states=3):
        for _ in range(4):
            turn(x, other)
            turn_back(other, x)
        squares(whole, y)
    values, slope = turned(START, 8)
    before, slope_before = turned(START, 7)
    np.testing.assert_allclose(whole.to_numpy(), np.concatenate([values, before]))
    expected = 2 * values * slope + 2 * before * slope_before
    np.testing.assert_allclose(x.grad.to_numpy(), expected, rtol=1e-12)


def test_an_array_is_restored_although_a_view_of_it_was_written_first(x, y):
    whole = array(np.arange(6.0))

    @cg.kernel
    def add(x: ndarray(f64, 1), whole: ndarray(f64, 1), y: ndarray(f64, 0)):
        for i in whole:
            y[()] += whole[i] * whole[i] * x[i % 3]

    @cg.kernel
    def grow(part: ndarray(f64, 1)):
        for i in part:
            part[i] = part[i] + 1.0

    values, expected = np.arange(6.0), np.zeros(6)
    with cg.ad.Tape(loss=y, max_states=2):
        for n in range(6):
            grow(whole[1:3] if n < 3 else whole)
            values[1:3] += 1
            if n >= 3:
                values[[0, 3, 4, 5]] += 1
            expected += values**2
            add(x, whole, y)
    np.testing.assert_allclose(x.grad.to_numpy(), expected[:3] + expected[3:])
    np.testing.assert_array_equal(whole.to_numpy(), values)


def test_fields_are_part_of_a_state(y):
    a, b = (cg.field(f64, 3, needs_grad=True) for _ in range(2))
    a.from_numpy(START)

    @cg.kernel
    def forth():
        for i in a:
            b[i] = 1.3 * cg.sin(a[i])

    @cg.kernel
    def back():
        for i in a:
            a[i] = 0.9 * cg.cos(b[i])

    @cg.kernel
    def measure(y: ndarray(f64, 0)):
        for i in a:
            y[()] += a[i] * a[i]

    with cg.ad.Tape(loss=y, max_states=3):
        for _ in range(5):
            forth()
            back()
        measure(y)
    values, slope = turned(START, 10)
    np.testing.assert_allclose(a.grad.to_numpy(), 2 * values * slope, rtol=1e-12)
    np.testing.assert_allclose(a.to_numpy(), values)


@cg.kernel
def count_up(counter: ndarray(f64, 1), x: ndarray(f64, 1), y: ndarray(f64, 0)):
    for i in x:
        counter[i] = counter[i] + 1.0
    for i in x:
        y[()] += counter[i] * x[i] * x[i]


@pytest.mark.parametrize("kind", ["numpy", "torch"])
def test_arrays_of_other_libraries_are_part_of_a_state(kind, x, y):
    counter = np.zeros(3)
    if kind == "torch":
        counter = pytest.importorskip("torch").from_numpy(counter)
    with cg.ad.Tape(loss=y, max_states=2):
        for _ in range(5):
            count_up(counter, x, y)
    np.testing.assert_allclose(x.grad.to_numpy(), 2 * START * (1 + 2 + 3 + 4 + 5))
    assert list(counter) == [5, 5, 5]


def test_functions_with_their_own_gradient_are_repeated(x, other, y):
    hidden = cg.ndarray(f64, 3)

    @cg.kernel
    def save(x: ndarray(f64, 1), hidden: ndarray(f64, 1)):
        for i in x:
            hidden[i] = x[i]

    @cg.ad.grad_replaced
    def forth(x, other):
        save(x, hidden)
        turn(x, other)

    @cg.ad.grad_for(forth)
    def forth_back(x, other):
        turn.grad(hidden, other)  # no gradient flows to `hidden`
        x.grad.from_numpy(x.grad.to_numpy() + other.grad.to_numpy() * 1.3 * np.cos(hidden.to_numpy()))
        other.grad.fill(0)

    x.from_numpy(START)
    other.fill(0)
    with cg.ad.Tape(loss=y, max_states=2):
        for _ in range(4):
            forth(x, other)
            turn_back(other, x)
        squares(x, y)
    np.testing.assert_allclose(x.to_numpy(), turned(START, 8)[0])


def test_streams_of_the_calls_keep_their_order(x, other, y):
    device = cg.Device()
    device.set_current()
    streams = [device.create_stream() for _ in range(3)]
    run_turns(12, x, other, y, streams, max_states=4)
    device.sync()
    assert_turned(12, x, other, y)


# States


def test_a_tape_without_a_loss_keeps_its_states_until_it_goes_back(x, other, y):
    x.from_numpy(START)
    with cg.ad.Tape(max_states=3) as tape:
        for _ in range(4):
            turn(x, other)
            turn_back(other, x)
    x.grad.fill(1)
    other.grad.fill(0)
    tape.grad()
    np.testing.assert_allclose(x.grad.to_numpy(), turned(START, 8)[1], rtol=1e-12)
    with pytest.raises(RuntimeError, match="this Tape is done"):
        tape.grad()


def test_results_stay_after_an_error_on_the_way_back(x, other, y):
    @cg.ad.grad_replaced
    def forth(x, other):
        turn(x, other)

    @cg.ad.grad_for(forth)
    def forth_back(x, other):
        raise KeyError("no gradient today")

    x.from_numpy(START)

    def goes_back():
        with cg.ad.Tape(loss=y, max_states=2):
            forth(x, other)
            for _ in range(4):
                turn_back(other, x)
                turn(x, other)
            squares(other, y)

    with pytest.raises(KeyError, match="no gradient today"):
        goes_back()
    np.testing.assert_allclose(other.to_numpy(), turned(START, 9)[0])
    run_turns(6, x, other, y, max_states=2)
    assert_turned(6, x, other, y)


def test_a_tape_that_an_exception_left_keeps_no_states(x, other, y):
    tape = cg.ad.Tape(loss=y, max_states=5)

    def fails():
        with tape:
            for _ in range(5):
                turn(x, other)
                turn_back(other, x)
            raise KeyError

    with pytest.raises(KeyError):
        fails()
    assert tape.recomputation.kept.bytes == 0
    assert not tape.recomputation.kept.states


def test_writes_that_cannot_be_repeated_are_refused(x, other, y):
    def writes(write):
        x.from_numpy(START)
        with cg.ad.Tape(loss=y, max_states=3):
            turn(x, other)
            write()
            turn(x, other)
            squares(other, y)

    writes(lambda: turn_back.grad(x, other))  # it changes gradients only
    for write in (lambda: x.from_numpy(START), lambda: x.fill(2)):
        with pytest.raises(RuntimeError, match="was written after a call of the Tape had used it"):
            writes(write)

    @cg.kernel
    def reset(x: ndarray(f64, 1)):
        for i in x:
            x.grad[i] = 0.0

    with pytest.raises(RuntimeError, match=r"reset\(\) writes 'x.grad'"):
        writes(lambda: reset(x))
    with pytest.raises(RuntimeError, match="a gradient that the Tape computes"):
        writes(lambda: turn(other, x.grad))
    run_turns(6, x, other, y, max_states=2)
    assert_turned(6, x, other, y)


def test_limits_are_numbers_of_states_and_bytes(y):
    for options, error in (
        ({"max_states": 1}, "max_states must be at least 2"),
        ({"memory_limit": 0}, "memory_limit must be at least 1"),
    ):
        with pytest.raises(ValueError, match=error):
            cg.ad.Tape(loss=y, **options)
    with pytest.raises(TypeError, match="max_states must be an int, got float"):
        cg.ad.Tape(loss=y, max_states=2.0)
    assert cg.ad.Tape(loss=y).stats is None
