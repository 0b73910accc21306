# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What programs of several processes share: a context, a stream, and lines to other processes that end in any case."""

import multiprocessing

import pytest

from tests.standin.bindings import processes
from tests.standin.bindings.answers import d, ok

SPAWN = multiprocessing.get_context("spawn")


class Line:
    """A pipe to another process, which answers in time or not at all."""

    def __init__(self, connection):
        self.send = connection.send
        self.close = connection.close
        self._connection = connection

    def recv(self):
        assert self._connection.poll(processes.LIMIT), "the other process does not answer"
        return self._connection.recv()


@pytest.fixture
def context_of_processes():
    processes.ready()


@pytest.fixture
def stream(context_of_processes):
    stream = ok(d.cuStreamCreate(1))
    yield stream
    ok(d.cuStreamDestroy(stream))


@pytest.fixture
def other(context_of_processes):
    """other(function): a line to a process that runs it."""
    started = []

    def start(function):
        ours, theirs = SPAWN.Pipe()
        child = SPAWN.Process(target=processes.run, args=(function, theirs), daemon=True)
        child.start()
        theirs.close()
        line = Line(ours)
        started.append((child, line))
        return line

    yield start
    for _, line in started:
        line.close()  # one that still waits for a word ends
    for child, _ in started:
        child.join(processes.LIMIT)
        if child.is_alive():
            child.kill()
            child.join()
        assert child.exitcode == 0
