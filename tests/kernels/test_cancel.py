# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: `graph.cancel()` ends the device loops of all launches before it, and of no other launch and no other graph."""

import threading

import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE

COUNTS = cg.types.ndarray(cg.i32, ndim=1)
LIMIT = 20  # seconds; a loop that cancel() does not end lasts for ever


@cg.kernel
def step(x: COUNTS, goes_on: COUNTS, c: cg.Condition):
    """x[0] counts the iterations, and x[1] those of a launch; goes_on[0] is the number of iterations, or -1."""
    x[0] += 1
    x[1] += 1
    cg.set_condition(c, x[1] != goes_on[0])


@cg.kernel
def again(goes_on: COUNTS, c: cg.Condition):
    cg.set_condition(c, goes_on[0] < 0)


@cg.kernel
def count(x: COUNTS):
    for i in range(2):
        x[i] += 1


@cg.kernel
def begin(x: COUNTS):
    x[1] = 0
    x[2] += 1


@cg.kernel
def end(x: COUNTS):
    x[3] += 1


def whole(x: COUNTS, goes_on: COUNTS, flag: cg.types.ndarray(cg.i32, ndim=0)):
    x[2] += 1
    x[1] = 0
    while cg.graph_do_while(flag):
        for i in range(1):
            x[i] += 1
        x[1] += 1
        flag[()] = x[1] != goes_on[0]
    x[3] += 1


def whole_nested(x: COUNTS, goes_on: COUNTS, flag: cg.types.ndarray(cg.i32, ndim=0)):
    x[2] += 1
    x[1] = 0
    while cg.graph_while(x[1] != goes_on[0]):
        while cg.graph_while(x[1] != goes_on[0]):
            for i in range(1):
                x[i] += 1
            x[1] += 1
    x[3] += 1


KERNELS = {
    f"{function.__name__}, {loop}": cg.kernel(function, graph=True, loop=loop)
    for function in (whole, whole_nested)
    for loop in ("conditional", "resident")
}


def explicit(x, goes_on):
    g = cg.GraphDef()
    c = g.create_condition(default_value=1)
    loop = g.call(begin, x).while_loop(c)
    loop.body.call(step, x, goes_on, c)
    loop.call(end, x)
    return g


def nested(x, goes_on):
    """The inner loop lasts; the outer one would repeat it."""
    g = cg.GraphDef()
    outer = g.create_condition(default_value=1)
    loop = g.call(begin, x).while_loop(outer)
    inner = loop.body.create_condition(default_value=1)
    body = loop.body.while_loop(inner)
    body.body.call(step, x, goes_on, inner)
    body.call(again, goes_on, outer)
    loop.call(end, x)
    return g


def captured(x, goes_on):
    with cg.capture() as builder:
        begin(x)
        c = builder.create_condition(default_value=1)
        with builder.while_loop(c):
            step(x, goes_on, c)
        end(x)
    return builder


def of_kernel(kernel, is_captured):
    def define(x, goes_on):
        flag = cg.zeros((), cg.i32)
        if is_captured:
            with cg.capture() as builder:
                kernel(x, goes_on, flag)
            return builder
        g = cg.GraphDef()
        g.call(kernel, x, goes_on, flag)
        return g

    return define


def instantiate(definition):
    return definition.complete() if isinstance(definition, cg.GraphBuilder) else definition.instantiate()


def of_predicate(x, goes_on):
    g = cg.GraphDef()
    loop = g.call(begin, x).while_loop(lambda: x[1] != goes_on[0])
    loop.body.call(count, x)
    loop.call(end, x)
    return g


def captured_predicate(x, goes_on):
    with cg.capture() as builder:
        begin(x)
        with builder.while_loop(lambda: x[1] != goes_on[0]):
            count(x)
        end(x)
    return builder


DEFINITIONS = {
    "predicate": of_predicate,
    "captured predicate": captured_predicate,
    "explicit": explicit,
    "nested": nested,
    "captured": captured,
    **{f"{name}, a call": of_kernel(kernel, False) for name, kernel in KERNELS.items()},
    **{f"{name}, captured": of_kernel(kernel, True) for name, kernel in KERNELS.items()},
}


@pytest.fixture
def x(device):
    return cg.zeros(4, cg.i32)


@pytest.fixture
def goes_on(device):
    return cg.full(1, -1, cg.i32)


@pytest.fixture(autouse=True)
def kernels_of_the_table_forget():
    yield
    for kernel in KERNELS.values():
        kernel.forget()


@pytest.mark.parametrize("define", DEFINITIONS.values(), ids=DEFINITIONS)
def test_cancel_ends_the_launches_before_it_and_no_later_ones(define, x, goes_on, stream):
    graph = instantiate(define(x, goes_on))
    graph.cancel()  # of no launch
    for turn in range(3):
        for _ in range(2):
            graph.launch(stream)
        graph.cancel()
        stream.sync(timeout=LIMIT)
        assert x.to_numpy()[2:].tolist() == [3 * turn + 2, 3 * turn + 2]
        goes_on[0] = 5
        before = x[0]
        graph.launch(stream)
        stream.sync(timeout=LIMIT)
        assert x[0] - before >= 5
        assert x.to_numpy()[2:].tolist() == [3 * turn + 3, 3 * turn + 3]
        goes_on[0] = -1


def test_another_graph_goes_on(goes_on, device):
    """Bodies of one kernel would lose the context of a GPU (docs/concepts/conditions.md, "Loops at the same time")."""
    first, second = (of_predicate(cg.zeros(4, cg.i32), goes_on).instantiate() for _ in range(2))
    streams = [device.create_stream() for _ in range(2)]
    first.launch(streams[0])
    second.launch(streams[1])
    first.cancel()
    streams[0].sync(timeout=LIMIT)
    with pytest.raises(TimeoutError):
        streams[1].sync(timeout=0.001)
    second.cancel()
    streams[1].sync(timeout=LIMIT)


def test_a_graph_is_cancelled_more_often_than_it_has_words(x, goes_on, stream):
    graph = explicit(x, goes_on).instantiate()
    for _ in range(150):
        graph.launch(stream)
        graph.cancel()
        stream.sync(timeout=LIMIT)
    assert x.to_numpy()[2:].tolist() == [150, 150]


def test_any_thread_may_cancel(x, goes_on, stream, device):
    graph = explicit(x, goes_on).instantiate()
    graph.launch(stream)
    thread = threading.Thread(target=lambda: (device.set_current(), graph.cancel()))
    thread.start()
    stream.sync(timeout=LIMIT)
    thread.join()


def test_a_thread_without_a_current_device_may_cancel(x, goes_on, stream):
    graph = explicit(x, goes_on).instantiate()
    graph.launch(stream)
    threading.Timer(0.01, graph.cancel).start()
    stream.sync(timeout=LIMIT)


def test_loops_are_built_beside_a_loop_that_runs(x, goes_on, stream, device):
    """A free of device memory would wait for the loop. On a GPU the load of a kernel does, so all are loaded before."""
    definitions, done = [], threading.Event()
    flag = cg.zeros(1, cg.i32)
    conditions = flag, lambda: flag[0] > 0

    def build():
        for condition in conditions:
            definitions.append(cg.GraphDef())
            definitions[-1].while_loop(condition)
            definitions[-1].if_then(condition)

    def build_beside():
        device.set_current()
        build()
        done.set()

    build()  # loads the kernels of flags and of the predicate
    definitions.clear()
    graph = explicit(x, goes_on).instantiate()
    graph.launch(stream)
    thread = threading.Thread(target=build_beside)
    thread.start()
    try:
        assert done.wait(LIMIT)
    finally:
        graph.cancel()
        thread.join()
        stream.sync(timeout=LIMIT)
        cg.reset()


def test_an_updated_graph_is_cancelled(goes_on, stream):
    x, y = cg.zeros(4, cg.i32), cg.zeros(4, cg.i32)
    graph = explicit(x, goes_on).instantiate()
    graph.launch(stream)
    graph.update(explicit(y, goes_on))
    graph.launch(stream)
    graph.cancel()
    stream.sync(timeout=LIMIT)
    assert x.to_numpy()[2:].tolist() == y.to_numpy()[2:].tolist() == [1, 1]


@cg.kernel
def choose(x: COUNTS, c: cg.Condition):
    cg.set_condition(c, 1)


def test_branches_of_a_cancelled_launch_are_taken(x, goes_on, stream):
    g = cg.GraphDef()
    loop_condition, if_condition = g.create_condition(default_value=1), g.create_condition()
    loop = g.call(begin, x).while_loop(loop_condition)
    loop.body.call(step, x, goes_on, loop_condition)
    branch = loop.call(choose, x, if_condition).if_then(if_condition)
    branch.then.call(end, x)
    graph = g.instantiate()
    graph.launch(stream)
    graph.cancel()
    stream.sync(timeout=LIMIT)
    assert x.to_numpy()[2:].tolist() == [1, 1]


def test_hidden_words_are_no_parameters(x, goes_on):
    graph = explicit(x, goes_on).instantiate()
    assert dict(graph.params) == {}
    with pytest.raises(TypeError, match=r"has no parameter '\.stop 0'"):
        graph.set(**{".stop 0": 0})


SOURCE = """
extern "C" __device__ void cudaGraphSetConditional(unsigned long long, unsigned);
extern "C" __global__ void count(int* x, unsigned long long c) { cudaGraphSetConditional(c, ++x[0] != 3); }
"""


def test_a_loop_whose_condition_other_code_sets_is_refused(x, goes_on, stream):
    count = cg.Program(SOURCE, code_type="c++").compile("ptx").get_kernel("count")
    g, y = explicit(x, goes_on), cg.zeros(1, cg.i32)
    c = g.create_condition(default_value=1)
    g.while_loop(c).body.launch(ONE, count, y, c)
    graph = g.instantiate()
    with pytest.raises(RuntimeError, match=r"condition .* of a loop is not set by .*cg\.set_condition"):
        graph.cancel()
    goes_on[0] = 2
    graph.launch(stream)
    stream.sync(timeout=LIMIT)


def test_cancel_needs_an_open_graph_and_no_loop(x, stream):
    g = cg.GraphDef()
    g.call(end, x)
    graph = g.instantiate()
    graph.launch(stream)
    graph.cancel()
    stream.sync()
    assert x[3] == 1
    graph.close()
    with pytest.raises(RuntimeError, match="closed"):
        graph.cancel()


CALLS = (
    "cuMemcpyHtoDAsync",
    "cuStreamCreateWithPriority",
    "cuStreamSynchronize",
    "cuGraphExecKernelNodeSetParams",
)


@pytest.mark.parametrize("turn", range(3))
@pytest.mark.parametrize("name", CALLS)
def test_cancel_that_the_driver_refuses_can_be_repeated(x, goes_on, stream, driver_table, name, turn):
    graph = explicit(x, goes_on).instantiate()
    graph.launch(stream)
    left, original = [turn], driver_table.original(name)

    def refuse(*words):
        left[0] -= 1
        return 46 if left[0] == -1 else original(*words)

    driver_table.replace(name, refuse)
    try:
        graph.cancel()
        assert left[0] >= 0, "the refusal was swallowed"
    except cg.CUDAError:
        graph.cancel()
    driver_table.restore()
    stream.sync(timeout=LIMIT)
    assert x.to_numpy()[2:].tolist() == [1, 1]
    goes_on[0] = 3
    graph.launch(stream)
    stream.sync(timeout=LIMIT)
    assert x.to_numpy()[1:].tolist() == [3, 2, 2]
