# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the programs: a device, its primary context, words of the host; and for programs of several processes a
context, a stream, and connections to processes that end in any case.
"""

import ctypes
import multiprocessing

import numpy as np
import pytest

from tests.standin.bindings import processes
from tests.standin.bindings.answers import d, ok

SPAWN = multiprocessing.get_context("spawn")


@pytest.fixture
def device():
    ok(d.cuInit(0))
    return ok(d.cuDeviceGet(0))


@pytest.fixture
def primary(device):
    """Its primary context, which is current."""
    context = ok(d.cuDevicePrimaryCtxRetain(device))
    ok(d.cuCtxSetCurrent(context))
    yield context
    ok(d.cuCtxSetCurrent(d.CUcontext(0)))
    ok(d.cuDevicePrimaryCtxRelease(device))


@pytest.fixture
def words(primary):
    """Pinned words that host and device share."""
    address = ok(d.cuMemAllocHost(64))
    words = np.frombuffer((ctypes.c_uint32 * 16).from_address(address), np.uint32)
    words[:] = 0
    yield words
    words[:] = 1  # what waits still, in a program that failed, goes on: what is freed is waited for
    ok(d.cuMemFreeHost(address))


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
