# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: what a user object's destructor hands back is destroyed once, soon, on an ordinary thread."""

import gc
import threading
import time

from cuda_graphs.core.resources import boxes


class Marked:
    """Notes on which thread it goes."""

    def __init__(self, gone):
        self.gone = gone

    def __del__(self):
        self.gone.append(threading.current_thread())


def settle(gone, count, seconds=5.0):
    """The main thread runs bytecode until so many are gone; it asks for nothing to be drained."""
    end = time.monotonic() + seconds
    while len(gone) < count and time.monotonic() < end:
        time.sleep(0.0005)
    return len(gone)


def test_object_deferred_by_another_thread_is_destroyed_on_a_python_thread():
    """CPython runs pending calls on the main thread; 3.12 on any thread that runs bytecode."""
    gone = []

    def work():
        for _ in range(64):
            boxes.defer(Marked(gone))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert settle(gone, 64) == 64
    assert set(gone) <= {threading.main_thread(), thread}


def test_a_drain_takes_all_at_once():
    gone = []
    objects = [Marked(gone) for _ in range(1000)]
    while objects:
        boxes.defer(objects.pop())
    boxes.drain()
    assert settle(gone, 1000) == 1000


def test_many_threads_lose_nothing():
    gone = []
    barrier = threading.Barrier(8)

    def work():
        barrier.wait()
        for _ in range(500):
            boxes.defer(Marked(gone))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert settle(gone, 4000) == 4000


def test_a_destructor_may_defer_and_drain_again():
    gone = []

    class Nested:
        def __init__(self, depth):
            self.depth = depth

        def __del__(self):
            gone.append(self.depth)
            if self.depth:
                boxes.defer(Nested(self.depth - 1))
                boxes.drain()

    boxes.defer(Nested(20))
    boxes.drain()
    gc.collect()
    assert settle(gone, 21) == 21
    assert gone == list(range(20, -1, -1))


def test_an_error_in_a_destructor_loses_nobody_else(monkeypatch):
    reports, gone = [], []
    monkeypatch.setattr("sys.unraisablehook", lambda report: reports.append(report.exc_type))

    class Broken:
        def __del__(self):
            raise KeyError

    for _ in range(3):
        boxes.defer(Broken())
        boxes.defer(Marked(gone))
    boxes.drain()
    assert settle(gone, 3) == 3
    assert reports == [KeyError] * 3


def test_object_deferred_at_the_end_of_the_process_is_leaked_in_silence(run_child):
    child = run_child(
        """
import atexit, threading
from cuda_graphs.core.resources import boxes
class Loud:
    def __del__(self):
        print("gone")
keep = []
atexit.register(lambda: None)
def late():
    for _ in range(100):
        boxes.defer(keep)
class Last:
    def __del__(self):
        late()
last = Last()
"""
    )
    assert (child.returncode, child.stdout, child.stderr) == (0, "", "")
