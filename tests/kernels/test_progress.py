# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of progress: it counts what was done, only long calls show themselves, and loops run as without it."""

import io
import re
import sys
import threading
import types
from typing import ClassVar

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.objects import progress
from tests.conftest import wait_until

NUMBERS = cg.types.ndarray(cg.i32, ndim=1)


@pytest.fixture(autouse=True)
def kernels_of_the_library_forget():
    yield
    cg.reset()


@pytest.fixture
def shown(monkeypatch):
    """The (name, done, total) of all displays, in place of bars."""
    tasks = []

    class Recorder:
        def show(self, name, done, total=None, text=""):
            tasks.append((name, done, total))

        def close(self):
            tasks.append("closed")

    monkeypatch.setattr(progress, "make_display", Recorder)
    return tasks


@pytest.fixture
def seen(monkeypatch, shown):
    """`shown`, as on a terminal, where calls show themselves at once."""
    monkeypatch.setattr(progress, "is_seen", lambda: True)
    monkeypatch.setattr(progress, "DELAY", 0.0)
    monkeypatch.setattr(progress, "STEP", 0.001)
    yield shown
    assert wait_until(lambda: progress.watcher is None)


@cg.kernel
def step(flag: NUMBERS, gate: NUMBERS, count: NUMBERS):
    count[0] += 1
    flag[0] = 1 if gate[0] == 0 else 0


@pytest.fixture
def loop(stream):
    """(graph, gate): a loop that runs until gate[0] is not 0, and counts."""
    gate = np.from_dlpack(cg.PinnedMemoryResource().allocate(4)).view(np.int32)
    gate[0] = 0
    flag, count = cg.array([1], cg.i32), cg.zeros(1, cg.i32)
    g = cg.GraphDef()
    made = g.while_loop(flag, do=True, name="march")
    made.body.call(step, flag, gate, count)
    yield g.instantiate(), gate, count
    gate[0] = 1
    stream.sync()


def test_a_wait_shows_the_iterations_of_the_loop_that_runs(stream, loop, shown):
    graph, gate, count = loop

    def open_later():
        wait_until(lambda: len(shown) > 2)
        gate[0] = 1

    opener = threading.Thread(target=open_later)
    graph.launch(stream)
    opener.start()
    stream.sync(progress=True)
    opener.join()
    assert shown[-1] == "closed"
    counts = [done for name, done, total in shown[:-1]]
    assert {name for name, _, _ in shown[:-1]} == {"march"}
    assert counts == sorted(counts) and counts[0] < counts[-1]
    assert counts[-1] == graph.iterations["march"].iterations == count[0]


def test_a_wait_with_progress_keeps_its_timeout(stream, loop, shown):
    graph, _, _ = loop
    graph.launch(stream)
    with pytest.raises(TimeoutError, match=r"is not done after 0\.15 s: "):
        stream.sync(0.15, progress=True)
    assert shown[-1] == "closed"


def test_a_limit_is_the_total(stream, shown, device):
    flag, count = cg.array([1], cg.i32), cg.zeros(1, cg.i32)
    gate = cg.zeros(1, cg.i32)
    g = cg.GraphDef()
    g.while_loop(flag, do=True, name="march", max_iterations=9).body.call(step, flag, gate, count)
    graph = g.instantiate()
    graph.launch(stream)
    stream.sync(progress=True)
    assert shown == [("march", 9, 9), "closed"]


def test_a_wait_without_loops_shows_seconds(stream, shown):
    stream.sync(progress=True)
    assert shown == [("waiting (seconds)", 0, None), "closed"]


@pytest.mark.parametrize("progress", [None, 2, "yes"])
def test_progress_is_true_or_false(stream, progress):
    with pytest.raises(TypeError, match="progress"):
        stream.sync(progress=progress)


@pytest.mark.parametrize(("timeout", "error"), [("1", TypeError), (-1, ValueError)])
def test_a_wrong_timeout_is_refused_as_without_progress(stream, timeout, error):
    with pytest.raises(error, match="timeout"):
        stream.sync(timeout, progress=True)


def test_a_long_instantiation_shows_its_seconds(seen, stream, monkeypatch):
    looked = threading.Event()
    original = progress.show_call

    def show(name, look):
        looked.set()
        original(name, look)

    g = cg.GraphDef()
    g.callback(int)

    def instantiate():
        """The graph grows each time: a short instantiation ends before the other thread looks."""
        for _ in range(len(g.nodes())):
            g.callback(int)
        g.instantiate()
        return looked.is_set()

    monkeypatch.setattr(progress, "show_call", show)
    assert wait_until(instantiate)  # until the other thread has looked during an instantiation
    assert wait_until(lambda: progress.watcher is None)
    assert {task[0] for task in seen if task != "closed"} <= {"instantiating a graph (seconds)"}
    assert seen[-1] == "closed"


def test_an_instantiation_that_fails_shows_nothing_more(seen, monkeypatch):
    def fail(*_):
        assert wait_until(lambda: seen)  # while it is shown
        raise ArithmeticError

    monkeypatch.setattr("cuda_graphs.graph.executable.fused_nodes.FusedNodes.find", fail)
    with pytest.raises(ArithmeticError):
        cg.GraphDef().instantiate(optimize=True)
    assert wait_until(lambda: seen[-1] == "closed")


def test_a_long_capture_shows_its_calls(seen, stream):
    with stream.create_graph_builder() as builder:
        for _ in range(5):
            builder.callback(int)
        assert wait_until(lambda: ("capturing a graph (calls)", 5, None) in seen)
    assert wait_until(lambda: seen[-1] == "closed")


def test_an_abandoned_capture_ends_its_display(seen, stream):
    builder = stream.create_graph_builder().begin_building()
    assert wait_until(lambda: ("capturing a graph (calls)", 0, None) in seen)
    builder.close()
    assert wait_until(lambda: seen[-1] == "closed")


def test_short_calls_show_nothing(shown, stream, monkeypatch):
    monkeypatch.setattr(progress, "is_seen", lambda: True)
    g = cg.GraphDef()
    g.callback(int)
    g.instantiate()
    assert wait_until(lambda: progress.watcher is None)
    assert shown == []


def test_no_thread_watches_without_a_reader(monkeypatch):
    monkeypatch.setattr(progress, "is_seen", lambda: False)
    cg.GraphDef().instantiate()
    assert progress.watcher is None


class Bar:
    """A stand-in for the bar of tqdm."""

    made: ClassVar[list] = []

    def __init__(self, total=None, desc="", position=0):
        self.total, self.desc, self.n, self.is_closed = total, desc, 0, False
        Bar.made.append(self)

    def set_description(self, text, refresh=True):
        self.desc = text

    def refresh(self):
        pass

    def close(self):
        self.is_closed = True


def test_bars_of_tqdm_have_the_amounts(monkeypatch):
    Bar.made.clear()
    monkeypatch.setitem(sys.modules, "rich.console", None)
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Bar))
    with progress.display() as bars:
        bars.show("a", 1, 4)
        bars.show("a", 3, 4, "three")
        bars.show("b", 7)
    assert [(bar.desc, bar.n, bar.total, bar.is_closed) for bar in Bar.made] == [
        ("three", 3, 4, True),
        ("b", 7, None, True),
    ]


class Stream(io.StringIO):
    asked = 0

    def isatty(self):
        self.asked += 1
        return self.is_terminal


class Slotted:
    """A stream without weak references."""

    __slots__ = ("isatty",)


def test_a_stream_is_asked_once_whether_it_is_a_terminal(monkeypatch):
    terminal, file, slotted = Stream(), Stream(), Slotted()
    terminal.is_terminal, file.is_terminal, slotted.isatty = True, False, lambda: True
    for stream, expected in ((terminal, True), (file, False), (slotted, True), (None, False), (file, False)):
        monkeypatch.setattr(sys, "stderr", stream)
        assert [progress.is_seen() for _ in range(3)] == [expected] * 3
    assert terminal.asked == file.asked == 1


def test_a_stream_that_cannot_tell_is_no_terminal(monkeypatch):
    closed = io.StringIO()
    closed.close()
    for stream in (closed, types.SimpleNamespace(write=print)):
        monkeypatch.setattr(sys, "stderr", stream)
        cg.GraphDef().instantiate()
        assert not progress.is_seen()


def test_notebooks_get_the_bars_of_tqdm(monkeypatch):
    shell = type("ZMQInteractiveShell", (), {})
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=shell))
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Bar))
    assert progress.is_seen()
    assert isinstance(progress.make_display(), progress.TqdmDisplay)


def test_without_packages_there_are_lines(monkeypatch, capfd):
    monkeypatch.setitem(sys.modules, "rich.console", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with progress.display() as lines:
        for done in range(1001):
            lines.show("steps", done, 1000)
    text = capfd.readouterr().err.splitlines()
    assert text[0] == "steps: 0 of 1000"
    assert text[-1] == "steps: 1000 of 1000"
    assert len(text) < 10
    assert all(re.fullmatch(r"steps: \d+ of 1000", line) for line in text)
