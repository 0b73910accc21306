# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a program as a child process, so that mpiexec of MPICH lets the other ranks live if a signal ends the program.

    mpiexec -disable-auto-cleanup -n 4 python -m cuda_graphs.distributed program.py [arguments]

With this option mpiexec goes on when a rank exits, but not when a signal ends it. This process exits instead, with the
status that a shell would report: 128 and the number of the signal.
"""

from __future__ import annotations

import ctypes
import os
import runpy
import signal
import sys

PR_SET_PDEATHSIG = 1  # prctl(2): the signal that a process gets when its parent ends


def main(program: str) -> int:
    """Run a program with the remaining arguments of the command line. Returns its exit status."""
    child = os.fork()
    if child == 0:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        sys.argv = sys.argv[1:]
        sys.path[0] = os.path.dirname(os.path.abspath(program))
        runpy.run_path(program, run_name="__main__")
        return 0
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)  # mpiexec sends it when another rank has ended
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: os.kill(child, number))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python -m cuda_graphs.distributed program.py [arguments]")
    sys.exit(main(sys.argv[1]))
