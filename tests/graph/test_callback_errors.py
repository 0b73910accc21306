# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the first wait that covers a launch raises the exceptions of its callbacks, once; no other wait does."""

import ctypes
import threading

import numpy as np
import pytest

import cuda_graphs as cg

PATIENCE_S = 60


class Fault(Exception):
    pass


def failing(text="mine"):
    def fail():
        raise Fault(text)

    return fail


def graph_of(*functions, **names):
    g = cg.GraphDef()
    node = g
    for function in functions:
        node = node.callback(function, **names)
    return g


@pytest.fixture(scope="module")
def spin(session_device):
    code = cg.Program(
        'extern "C" __global__ void spin(volatile int* flag) { while (*flag == 0) {} }'
    ).compile()
    return code.get_kernel("spin")


@pytest.fixture
def blocker(device, spin):
    """Blocks streams until `release` is called. A kernel blocks no callbacks of other streams."""
    flag = np.from_dlpack(cg.PinnedMemoryResource().allocate(4)).view(np.int32)
    flag[0] = 0

    class Blocker:
        @staticmethod
        def block(stream):
            cg.launch(stream, cg.LaunchConfig(grid=1, block=1), spin, flag.ctypes.data)

        @staticmethod
        def release():
            flag[0] = 1

    yield Blocker
    Blocker.release()
    device.sync()


def notes_of(error):
    return " ".join(getattr(error, "__notes__", ()))


WAITS = {
    "stream": lambda device, stream, event: stream.sync(),
    "stream with a timeout": lambda device, stream, event: stream.sync(timeout=PATIENCE_S),
    "event": lambda device, stream, event: event.sync(),
    "device": lambda device, stream, event: device.sync(),
    "array": lambda device, stream, event: cg.ndarray(cg.f32, 1).to_numpy(),
    "element": lambda device, stream, event: cg.ndarray(cg.f32, 1)[0],
}


@pytest.mark.parametrize("wait", WAITS)
def test_the_first_covering_wait_raises_once(wait, device, stream):
    graph_of(failing()).instantiate().launch(stream)
    event = stream.record()
    with pytest.raises(Fault, match="mine") as raised:
        WAITS[wait](device, stream, event)
    assert "host callback 'fail'" in notes_of(raised.value)
    for later in WAITS.values():
        later(device, stream, event)


def test_the_note_names_the_node(device, stream):
    graph_of(failing(), name="save results").instantiate().launch(stream)
    with pytest.raises(Fault) as raised:
        stream.sync()
    assert notes_of(raised.value) == "raised by the host callback 'save results' of a graph"


def test_a_timeout_does_not_raise_them_and_the_next_wait_does(device, stream, blocker):
    blocker.block(stream)
    graph_of(failing()).instantiate().launch(stream)
    with pytest.raises(TimeoutError):
        stream.sync(timeout=0.01)
    blocker.release()
    with pytest.raises(Fault):
        stream.sync()


def test_queries_raise_nothing(device, stream):
    graph_of(failing()).instantiate().launch(stream)
    event = stream.record()
    while not event.is_done:
        pass
    with pytest.raises(Fault):
        event.sync()


def test_several_come_as_a_group_in_the_order_of_the_launches(device, stream):
    graph = graph_of(failing("first"), failing("second")).instantiate()
    graph.launch(stream)
    graph.launch(stream)
    with pytest.raises(ExceptionGroup, match="4 host callbacks of graphs failed") as raised:
        stream.sync()
    assert [str(e) for e in raised.value.exceptions] == ["first", "second"] * 2
    assert all(isinstance(e, Fault) for e in raised.value.exceptions)
    stream.sync()


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt])
def test_exceptions_that_end_programs_are_raised_too(error, device, stream):
    def leave():
        raise error("now")

    graph_of(leave).instantiate().launch(stream)
    with pytest.raises(error, match="now"):
        stream.sync()
    graph_of(leave, failing()).instantiate().launch(stream)
    with pytest.raises(BaseExceptionGroup) as raised:
        stream.sync()
    assert [type(e) for e in raised.value.exceptions] == [error, Fault]


def test_the_graph_goes_on(device, stream):
    seen = []
    graph = graph_of(failing(), lambda: seen.append(1)).instantiate()
    for count in (1, 2):
        graph.launch(stream)
        with pytest.raises(Fault):
            stream.sync()
        assert len(seen) == count


def test_a_wait_for_another_stream_raises_nothing(device, stream, blocker):
    other = device.create_stream()
    graph_of(failing()).instantiate().launch(stream)
    event = other.record()
    other.sync()
    event.sync()
    cg.LEGACY_DEFAULT_STREAM.sync()
    with pytest.raises(Fault):
        stream.sync()


def test_an_event_covers_what_came_before_it(device, stream, blocker):
    before = stream.record()
    graph_of(failing("early")).instantiate().launch(stream)
    between = stream.record()
    blocker.block(stream)
    graph_of(failing("late")).instantiate().launch(stream)
    before.sync()
    with pytest.raises(Fault, match="early"):
        between.sync()
    blocker.release()
    with pytest.raises(Fault, match="late"):
        stream.sync()


@pytest.mark.parametrize("by", ["event", "stream"])
def test_a_stream_that_waits_for_the_launch_covers_it(by, device, stream):
    other, third = device.create_stream(), device.create_stream()
    graph_of(failing()).instantiate().launch(stream)
    other.wait(stream.record() if by == "event" else stream)
    third.wait(other)
    with pytest.raises(Fault):
        third.sync()
    for each in (other, stream):
        each.sync()


def test_launches_of_one_graph_on_several_streams_keep_their_errors_apart(device, stream, blocker):
    other = device.create_stream()
    texts = iter(["first", "second"])

    def fail():
        raise Fault(next(texts))

    graph = graph_of(fail).instantiate()
    graph.launch(stream)
    blocker.block(other)
    graph.launch(other)
    with pytest.raises(Fault, match="first"):
        stream.sync()
    blocker.release()
    with pytest.raises(Fault, match="second"):
        other.sync()
    stream.sync()


def test_a_later_launch_of_the_graph_covers_the_earlier_one(device, stream):
    other = device.create_stream()
    calls = []

    def fail_first():
        calls.append(1)
        if len(calls) == 1:
            raise Fault("of the first launch")

    graph = graph_of(fail_first).instantiate()
    graph.launch(stream)
    graph.launch(other)
    with pytest.raises(Fault, match="of the first launch"):
        other.sync()
    stream.sync()


def test_graphs_of_one_definition_keep_their_errors_apart(device, stream, blocker):
    other = device.create_stream()
    g = graph_of(failing())
    first, second = g.instantiate(), g.instantiate()
    blocker.block(stream)
    first.launch(stream)
    second.launch(other)
    with pytest.raises(Fault):
        other.sync()
    other.sync()
    blocker.release()
    with pytest.raises(Fault):
        stream.sync()


def test_a_callback_in_a_child_graph_counts_each_time(device, stream):
    child = graph_of(failing())
    g = cg.GraphDef()
    g.embed(child).embed(child)
    graph = g.instantiate()
    child.instantiate().launch(stream)
    with pytest.raises(Fault):
        stream.sync()
    graph.launch(stream)
    with pytest.raises(ExceptionGroup) as raised:
        stream.sync()
    assert len(raised.value.exceptions) == 2
    again = g.instantiate()
    again.launch(stream)
    graph.launch(stream)
    with pytest.raises(ExceptionGroup) as raised:
        stream.sync()
    assert len(raised.value.exceptions) == 4


def test_a_captured_callback(device, stream):
    with stream.create_graph_builder() as builder:
        builder.callback(failing("captured"), name="captured node")
    graph = builder.complete()
    graph.launch(stream)
    with pytest.raises(Fault, match="captured") as raised:
        stream.sync()
    assert "'captured node'" in notes_of(raised.value)


def test_an_updated_callback(device, stream):
    g = cg.GraphDef()
    node = g.callback(failing("old"), name="node")
    graph = g.instantiate()
    graph[node].update(failing("of the executable"))
    graph.launch(stream)
    with pytest.raises(Fault, match="of the executable") as raised:
        stream.sync()
    assert "'node'" in notes_of(raised.value)
    graph.update(graph_of(failing("of another definition")))
    graph.launch(stream)
    with pytest.raises(Fault, match="of another definition"):
        stream.sync()
    graph[node].update(failing("again"))
    graph.launch(stream)
    with pytest.raises(Fault, match="again"):
        stream.sync()
    node.update(failing("of the definition"))
    g.instantiate().launch(stream)
    with pytest.raises(Fault, match="of the definition"):
        stream.sync()


def test_an_updated_callback_of_an_embedded_graph(device, stream):
    g = cg.GraphDef()
    child = g.embed(graph_of(failing("old"), failing("other")))
    graph = g.instantiate()
    inner = next(node for node in child.child_graph.nodes() if not node.pred)
    graph[inner].update(failing("new"))
    for _ in range(2):
        graph.launch(stream)
        with pytest.raises(ExceptionGroup) as raised:
            stream.sync()
        assert [str(e) for e in raised.value.exceptions] == ["new", "other"]


def test_callbacks_and_c_functions_replace_each_other(device, stream):
    c_function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: None)
    g = cg.GraphDef()
    first = g.callback(failing("first"))
    first.callback(failing("second"))
    graph = g.instantiate()
    for function, texts in ((c_function, ["second"]), (failing("again"), ["again", "second"])):
        graph[first].update(function)
        for _ in range(2):
            graph.launch(stream)
            with pytest.raises(Exception, match=r"second|2 host callbacks") as raised:
                stream.sync()
            assert [str(e) for e in getattr(raised.value, "exceptions", [raised.value])] == texts


def test_a_refused_update_changes_nothing(device, stream):
    graph = graph_of(failing("mine")).instantiate()
    with pytest.raises(cg.CUDAError):
        graph.update(graph_of(failing("theirs"), failing("theirs")))
    for _ in range(2):
        graph.launch(stream)
        with pytest.raises(Fault, match="mine"):
            stream.sync()


def test_callbacks_that_run_side_by_side(device, stream):
    g = cg.GraphDef()
    for number in range(4):
        g.callback(failing(str(number)))
    graph = g.instantiate()
    for _ in range(5):
        graph.launch(stream)
        with pytest.raises(ExceptionGroup) as raised:
            stream.sync()
        assert sorted(str(e) for e in raised.value.exceptions) == ["0", "1", "2", "3"]


def test_an_exception_of_two_callbacks_gets_one_note(device, stream):
    error = Fault("the same")

    def fail():
        raise error

    graph = graph_of(fail, fail).instantiate()
    graph.launch(stream)
    with pytest.raises(ExceptionGroup) as raised:
        stream.sync()
    assert raised.value.exceptions == (error, error)
    assert len(error.__notes__) == 1


def test_an_updated_child_graph(device, stream):
    g = cg.GraphDef()
    node = g.embed(graph_of(failing("old")))
    graph = g.instantiate()
    graph[node].update(graph_of(failing("new")))
    graph.launch(stream)
    with pytest.raises(Fault, match="new"):
        stream.sync()


def test_the_callable_stays_the_same_object_for_all_graphs_of_a_definition(device):
    fn = failing()
    g = cg.GraphDef()
    node = g.callback(fn)
    for _ in range(3):
        g.instantiate()
        assert node.callback_fn is fn


def test_a_second_graph_of_a_definition_leaves_the_node_as_it_was(device):
    memory = device.allocate(8)
    g = cg.GraphDef()
    node = g.callback(failing(), name="node", reads=[memory])
    before = (node.name, node.reads, node.writes, node.callback_fn)
    for _ in range(2):
        g.instantiate()
    assert (node.name, node.reads, node.writes, node.callback_fn) == before


def test_a_closed_graph_keeps_its_errors(device, stream, blocker):
    blocker.block(stream)
    graph = graph_of(failing()).instantiate()
    graph.launch(stream)
    graph.close()
    del graph
    blocker.release()
    with pytest.raises(Fault):
        stream.sync()


def test_a_failed_launch_expects_no_calls(device, stream):
    graph = graph_of(failing()).instantiate()
    builder = device.create_graph_builder()
    builder.begin_building()
    with pytest.raises((RuntimeError, cg.CUDAError)):
        graph.launch(builder)
    builder.close()
    graph.launch(stream)
    with pytest.raises(Fault):
        stream.sync()


def test_many_launches_in_flight_keep_all_errors(device, stream, blocker):
    others = [stream, device.create_stream()]
    calls = []

    def fail():
        calls.append(1)
        if len(calls) % 2:
            raise Fault(str(len(calls)))

    graph = graph_of(fail).instantiate()
    blocker.block(stream)
    for number in range(60):  # a GPU takes about 1,000 operations before it is done
        graph.launch(others[number % 2])
    blocker.release()
    with pytest.raises(ExceptionGroup) as raised:
        others[1].sync()
    assert [int(str(e)) for e in raised.value.exceptions] == list(range(1, 60, 2))
    device.sync()


def test_streams_that_wait_for_each_other_keep_all_errors(device, stream):
    other = device.create_stream()
    graph = graph_of(failing()).instantiate()
    for _ in range(100):
        graph.launch(stream)
        other.wait(stream)
        graph.launch(other)
        stream.wait(other)
    with pytest.raises(ExceptionGroup) as raised:
        stream.sync()
    assert len(raised.value.exceptions) == 200
    other.sync()


def test_launches_of_several_threads_keep_their_errors_apart(device):
    """Each thread launches one graph on its own stream; each error comes to the thread of its launch."""
    calls, errors, streams = [], {}, [device.create_stream() for _ in range(4)]
    graph = graph_of(lambda: calls.append(1), failing()).instantiate()

    def run(stream):
        device.set_current()
        for _ in range(20):
            graph.launch(stream)
            try:
                stream.sync()
            except BaseExceptionGroup as group:
                errors[stream.handle] = errors.get(stream.handle, 0) + len(group.exceptions)
            except Fault:
                errors[stream.handle] = errors.get(stream.handle, 0) + 1

    threads = [threading.Thread(target=run, args=(stream,)) for stream in streams]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    try:
        device.sync()
    except (Fault, BaseExceptionGroup) as error:
        errors["left"] = len(getattr(error, "exceptions", (error,)))
    assert sum(errors.values()) == len(calls) == 80


def test_errors_that_no_wait_raised_are_reported_at_exit(run_child):
    child = run_child(
        """
import cuda_graphs as cg
device = cg.Device()
device.set_current()
stream = device.create_stream()
def fail():
    raise ValueError("never waited for")
g = cg.GraphDef()
g.callback(fail)
graph = g.instantiate()
graph.launch(stream)
event = stream.record()
while not event.is_done:
    pass
"""
    )
    assert child.returncode == 0
    assert "ValueError: never waited for" in child.stderr
    assert "Exception ignored in: <function fail" in child.stderr


def test_programs_with_callbacks_that_never_wait_keep_no_tickets(device, stream):
    word = np.zeros(1, np.int64)

    def count():
        word[0] += 1

    graph = graph_of(count).instantiate()
    for _ in range(100):
        graph.launch(stream)
    event = stream.record()
    while not event.is_done:
        pass
    graph.launch(stream)
    stream.sync()
    assert word[0] == 101
