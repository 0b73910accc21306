# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Threads of tests: in step for a fixed order of their operations, side by side for a random one. Also collects garbage
at a place that the test chooses."""

import gc
import sys
import threading
from contextlib import contextmanager

import cuda_graphs as cg

PATIENCE_S = 60


def in_step(*works):
    """Runs generators, each on a thread of its own with a device current. The code between two `yield`s of a generator
    runs beside the code between the same two of all others, and beside no other code. Raises the first failure."""
    barrier, failures = threading.Barrier(len(works), timeout=PATIENCE_S), []

    def run(work):
        try:
            cg.Device(0).set_current()
            for _ in work:
                barrier.wait()
        except threading.BrokenBarrierError:
            pass  # another thread has failed
        except BaseException as failure:
            failures.append(failure)
            barrier.abort()

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    assert not barrier.broken


def side_by_side(*works):
    """Calls each function on a thread of its own, all at once. The interpreter changes threads as often as it can."""

    def once(work):
        yield
        work()

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        in_step(*map(once, works))
    finally:
        sys.setswitchinterval(before)


@contextmanager
def no_collector():
    """Garbage is collected where the test says so, and nowhere else."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
