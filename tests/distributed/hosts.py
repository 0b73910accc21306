# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Programs whose ranks take themselves for ranks of two hosts. test_hosts.py runs them.

    mpiexec -n 3 python -m tests.distributed.hosts PROGRAM

What ranks of different hosts do not have is a pidfd of each other, and direct reductions.
"""

import os
import signal
import subprocess
import sys
import time

import numpy as np

import cuda_graphs as cg
from cuda_graphs.distributed import communicator, links, watch
from cuda_graphs.distributed.mpi_engine import load_mpi
from tests.distributed.law_rig import raised

LATE_S = links.LOST_S + 3
LIMIT_S = 5


def take_for_hosts(count):
    """Let the ranks of this program take themselves for ranks of so many hosts."""
    number = load_mpi().COMM_WORLD.rank % count
    communicator.identify = lambda: f"host{number} {watch.identify()}"


def show_that_all_is_well(comm):
    x = cg.ones(3, cg.f64)
    comm.all_reduce(x)
    np.testing.assert_array_equal(x.to_numpy(), np.full(3, comm.size))


def late(comm):
    """The last rank is stopped for longer than a host may leave probes without an answer."""
    comm.barrier()
    if comm.rank == comm.size - 1:
        waker = subprocess.Popen(["sh", "-c", f"sleep {LATE_S}; kill -CONT {os.getpid()}"])
        begin = time.monotonic()
        os.kill(os.getpid(), signal.SIGSTOP)
        waker.wait()
        assert time.monotonic() - begin > links.LOST_S
    show_that_all_is_well(comm)


def sockets():
    found = [os.path.join("/proc/self/fd", each) for each in os.listdir("/proc/self/fd")]
    return sum(os.path.islink(each) and os.readlink(each).startswith("socket:") for each in found)


def closed(comm):
    """Communicators that are closed, or dropped and collected, keep no socket, and the others go on."""
    comm.barrier()
    before = sockets()
    parts = [comm.split(0) for _ in range(3)]
    between = sockets()
    assert between >= before + 3
    for part in parts:
        show_that_all_is_well(part)
        part.close()
    assert sockets() <= between - 3
    time.sleep(0.5)  # for a false alarm
    show_that_all_is_well(comm)


def until_an_error(comm):
    end = time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        comm.barrier()


def forked(comm):
    """A child that outlives its rank does not keep the connection open."""
    comm.barrier()
    if comm.rank == comm.size - 1:
        if os.fork() == 0:
            time.sleep(2 * LIMIT_S)
        os._exit(0)
    text = raised(cg.distributed.RankError, until_an_error, comm)
    assert text.startswith(f"rank {comm.size - 1} has ended (process "), text


def unreachable(comm):
    """Without a connection the ranks go on, and rank 0 has warned. Splits do not try again."""
    show_that_all_is_well(comm)
    watch.connect_hosts = fail_to_connect
    part = comm.split(0)
    show_that_all_is_well(part)
    part.close()


def fail_to_connect(*_):
    raise AssertionError("a split tries to connect again")


PROGRAMS = {function.__name__: function for function in (late, closed, forked, unreachable)}


def main(name):
    take_for_hosts(2)
    if name == "unreachable":
        links.addresses = lambda: ["host.invalid"]
        links.ACCEPT_S = 1
    comm = cg.distributed.init()
    PROGRAMS[name](comm)
    if name != "forked":
        comm.close()


if __name__ == "__main__":
    main(sys.argv[1])
