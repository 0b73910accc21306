# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the thread that finds ended ranks and errors of engines (cuda_graphs/distributed/watch.py)."""

import os
import signal
import subprocess
import time

import pytest

from cuda_graphs.distributed import watch
from cuda_graphs.distributed.health import Health

LIMIT_S = 5


class Engine:
    """Stands for an engine whose library has lost a connection."""

    def find_error(self):
        return "a connection is lost"

    def abort(self):
        pass


@pytest.fixture
def child():
    process = subprocess.Popen(["sleep", "60"])
    yield process
    process.kill()
    process.wait()


def watched(child):
    """Return the Health of a communicator whose rank 1 is a child process, and its engine."""
    health, engine = Health(), Engine()
    health.add_engine(engine)
    place = watch.identify().rpartition(" ")[0]
    watch.watch(health, 0, [f"{place} {os.getpid()}", f"{place} {child.pid}"], gather=None)
    return health, engine


def reason_of(health):
    end = time.monotonic() + LIMIT_S
    while health.reason is None and time.monotonic() < end:
        time.sleep(0.01)
    return health.reason


def test_the_end_of_a_rank_is_the_reason_also_if_a_library_sees_a_lost_connection_before(child):
    health, _engine = watched(child)
    time.sleep(0.5)
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert reason_of(health).startswith(f"rank 1 has ended (process {child.pid})")
    watch.unwatch(health)


def test_a_lost_connection_is_the_reason_if_no_rank_of_this_host_has_ended(child):
    health, _engine = watched(child)
    assert reason_of(health) == "a connection is lost"
    watch.unwatch(health)
