# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: calls of a kernel with many tasks launch one graph where that is faster, and do what launches of them do."""

import contextlib
import threading

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs import testing
from cuda_graphs.core.driver.choice import driver_info
from cuda_graphs.kernels import shapes
from cuda_graphs.kernels.call.replay_strategy import MOST_GRAPHS
from cuda_graphs.objects.device.stream import PER_THREAD_DEFAULT_STREAM, default_stream
from tests.thread_rig import side_by_side

Floats = cg.Array1[cg.f32]
CALLS = 8  # the first of them launch the tasks
OWN_STREAM = "each thread has a default stream of its own, and launches there stay launches"


@pytest.fixture
def together(monkeypatch, device):
    """A driver for which four launches are slower than one graph."""
    kind = driver_info().kind
    monkeypatch.setitem(shapes.SHAPES, kind, shapes.SHAPES[kind]._replace(together=4))
    if default_stream() is PER_THREAD_DEFAULT_STREAM:
        pytest.skip(OWN_STREAM)


def stages(x: Floats, y: Floats, total: Floats, scale: cg.f32):
    for i in x:
        x[i] += scale
    for i in y:
        y[i] = x[i % x.shape[0]] * scale
    last = y[y.shape[0] - 1]
    for i in x:
        x[i] += last + y[0]
    total[0] += x[0]


def drawing(x: Floats, y: Floats, total: Floats, scale: cg.f32):
    for i in x:
        x[i] = cg.random(cg.f32) * scale
    total[0] += x[0]
    for i in y:
        y[i] = cg.random(cg.f32) + x[0]
    total[1] += y[0]


def given(number):
    sizes = (3, 700, 1)[number % 3], (5, 2, 900)[number % 3]
    return [cg.array(np.arange(size, dtype="f4")) for size in sizes]


def results(function, monkeypatch, count):
    """What eight calls with other arrays and numbers write, and the driver's launches of each call."""
    kind = driver_info().kind
    monkeypatch.setitem(shapes.SHAPES, kind, shapes.SHAPES[kind]._replace(together=count))
    kernel = cg.kernel(function)
    total, found, launches = cg.zeros(2), [], []
    is_counted = kind == "host"
    cg.random_seed(7)
    for number in range(CALLS):
        x, y = given(number)
        with testing.calls() if is_counted else contextlib.nullcontext({}) as made:
            kernel(x, y, total, 0.5 + number)
        launches.append({name: made[name] for name in ("cuGraphLaunch", "cuLaunchKernel") if made.get(name)})
        found += [x.to_numpy(), y.to_numpy(), total.to_numpy()]
    return found, launches


@pytest.mark.parametrize("function", [stages, drawing])
def test_one_graph_does_what_the_launches_do(together, function, monkeypatch, driver):
    wanted, one_by_one = results(function, monkeypatch, None)
    found, launches = results(function, monkeypatch, 4)
    for one, other in zip(found, wanted, strict=True):
        assert one.tobytes() == other.tobytes()
    if driver.kind == "host":  # which counts calls
        assert all(made.keys() == {"cuLaunchKernel"} and made["cuLaunchKernel"] >= 4 for made in one_by_one)
        is_graph = [made == {"cuGraphLaunch": 1} for made in launches]
        assert is_graph == [function is stages and number >= 3 for number in range(CALLS)]


@pytest.fixture
def counted(driver):
    if driver.kind != "host":
        pytest.skip("only the host driver counts calls")


def test_kernels_of_few_tasks_are_launched(together, counted):
    @cg.kernel
    def few(x: Floats):
        for i in x:
            x[i] += 1.0

    x = cg.zeros(4)
    for _ in range(CALLS):
        with testing.calls() as made:
            few(x)
    assert (made["cuLaunchKernel"], made.get("cuGraphLaunch", 0)) == (1, 0)


def test_other_streams_and_host_arrays_launch_the_tasks(together, counted, stream):
    kernel = cg.kernel(stages)
    x, y = given(1)
    total = cg.zeros(2)
    for _ in range(CALLS):
        kernel(x, y, total, 1.0)
    cg.Device().sync()
    with testing.calls() as made:
        kernel(x, y, total, 1.0, stream=stream)
    stream.sync()
    assert made.get("cuGraphLaunch", 0) == 0
    own = np.zeros(2, "f4")
    with testing.calls() as made:
        kernel(x, y, own, 1.0)
    assert made.get("cuGraphLaunch", 0) == 0
    assert own[0] == x.to_numpy()[0]


def test_forgotten_graphs_are_made_again(together, counted):
    kernel = cg.kernel(stages)
    for _ in range(2):
        x, y = given(0)
        total = cg.zeros(2)
        for _ in range(CALLS):
            kernel(x, y, total, 1.0)
        with testing.calls() as made:
            kernel(x, y, total, 1.0)
        assert made["cuGraphLaunch"] == 1
        kernel.forget()


def test_calls_of_many_threads_are_all_done(together):
    @cg.kernel
    def count(x: Floats, y: Floats):
        for i in x:
            x[i] += 1.0
        y[0] += 1.0
        for i in x:
            x[i] += 1.0
        y[1] += x[0] * 0.0 + 1.0

    arrays = [(cg.zeros(9), cg.zeros(2)) for _ in range(4)]
    start = threading.Barrier(len(arrays))

    def work(x, y):
        start.wait()
        for _ in range(CALLS * 4):
            count(x, y)

    side_by_side(*[lambda each=each: work(*each) for each in arrays])
    cg.Device().sync()
    for x, y in arrays:
        assert x.to_numpy().tolist() == [8.0 * CALLS] * 9
        assert y.to_numpy().tolist() == [4.0 * CALLS] * 2


def launches_of(kernel, *args):
    """Return the driver's launches in a call: (of graphs, of kernels, graphs made)."""
    with testing.calls() as made:
        kernel(*args)
    names = "cuGraphLaunch", "cuLaunchKernel", "cuGraphInstantiateWithParams"
    return tuple(made.get(name, 0) for name in names)


@pytest.mark.parametrize("status", ["CUDA_ERROR_OUT_OF_MEMORY", "CUDA_ERROR_NOT_SUPPORTED"])
@pytest.mark.parametrize(
    "function", ["cuGraphInstantiateWithParams", "cuGraphAddKernelNode", "cuGraphLaunch"]
)
@pytest.mark.parametrize("loop", ["auto", "host"])
def test_without_memory_for_a_graph_the_same_tasks_are_launched(together, counted, function, status, loop):
    kernel = cg.kernel(stages, loop=loop)
    x, y, total = (cg.ones(4) for _ in range(3))
    one_by_one = launches_of(kernel, x, y, total, 1.0)
    for _ in range(2):
        kernel(x, y, total, 1.0)
    with testing.fail(function, code=status) as failure:
        assert launches_of(kernel, x, y, total, 1.0)[1] == one_by_one[1]
    assert failure.happened
    assert [launches_of(kernel, x, y, total, 1.0) for _ in range(3)] == [one_by_one] * 3
    assert "1 specialisations" in repr(kernel)
    other, wanted = cg.kernel(stages), [cg.ones(4) for _ in range(3)]
    for _ in range(7):
        other(*wanted, 1.0)
    for one, another in zip((x, y, total), wanted, strict=True):
        assert one.to_numpy().tolist() == another.to_numpy().tolist()


def test_a_graph_whose_first_launch_fails_is_not_kept(together, counted):
    kernel, arrays = cg.kernel(stages), [cg.ones(4) for _ in range(3)]
    for _ in range(3):
        kernel(*arrays, 1.0)
    with testing.calls() as made, testing.fail("cuGraphLaunch", code="CUDA_ERROR_OUT_OF_MEMORY") as failure:
        kernel(*arrays, 1.0)
    assert failure.happened
    assert made["cuGraphInstantiateWithParams"] == made["cuGraphExecDestroy"] == 1


def test_a_kernel_with_its_most_graphs_launches_the_tasks_of_further_specialisations(together, counted):
    @cg.kernel
    def many(x: Floats, y: Floats, number: cg.template()):
        for i in x:
            x[i] += number
        for i in y:
            y[i] = x[0]
        for i in x:
            x[i] += y[0]
        y[0] += x[0]

    x, y = cg.zeros(4), cg.zeros(5)
    numbers = range(MOST_GRAPHS + 3)
    for _ in range(4):
        for number in numbers:
            many(x, y, number)
    found = [launches_of(many, x, y, number) for number in numbers]
    assert found == [(1, 0, 0)] * MOST_GRAPHS + [(0, 4, 0)] * 3
