# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A thread that finds ranks that have ended, errors of engines, and differences that debug mode reports.

Ranks of one host tell each other their process ids. The thread holds a pidfd for each, which Linux marks as readable
when the process ends (pidfd_open(2)): by a signal, by an exception, or at its regular end. So a slow rank is never
mistaken for a dead one, and a process id that is used again does no harm. Ranks of other hosts have no pidfd here: NCCL
reports a lost connection by its engine. MPI has no such report.
"""

from __future__ import annotations

import os
import select
import threading
import time
import weakref
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from .health import Health, debugged

__all__ = ["identify", "unwatch", "watch"]

TICK_MS = 100  # between two looks at the engines
GRACE_S = 0.5  # for collectives that the rank still took part in

_lock = threading.Lock()
_watched: dict[int, tuple[weakref.ref[Health], int, int]] = {}  # pidfd -> (health, rank, process id)
_known: weakref.WeakSet[Health] = weakref.WeakSet()


def identify() -> str:
    """Return the host and the process id of this process, in a form that ranks of the same host can compare."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{boot} {os.readlink('/proc/self/ns/pid')} {os.getpid()}"


def watch(health: Health, rank: int, identities: Sequence[str]) -> None:
    """Let `health` fail when another rank ends. `identities` are those of all ranks, by their numbers."""
    host = identities[rank].rpartition(" ")[0]
    for other, identity in enumerate(identities):
        place, _, process = identity.rpartition(" ")
        if other != rank and place == host and int(process) != os.getpid():
            add(health, other, int(process))
    with _lock:
        _known.add(health)
    start_thread()


def add(health: Health, rank: int, process: int) -> None:
    try:
        fd = os.pidfd_open(process)
    except ProcessLookupError:  # it has ended since it told its identity
        health.fail(text_of(rank, process))
        return
    with _lock:
        _watched[fd] = weakref.ref(health, lambda _: drop(fd)), rank, process


def unwatch(health: Health) -> None:
    with _lock:
        _known.discard(health)
        ended = [fd for fd, (known, _, _) in _watched.items() if known() is health]
    for fd in ended:
        drop(fd)


def drop(fd: int) -> None:
    if _watched.pop(fd, None) is not None:
        os.close(fd)


def text_of(rank: int, process: int) -> str:
    return (
        f"rank {rank} has ended (process {process}), so this communicator cannot be used any more. Results of its "
        "collectives that had not ended are undefined"
    )


@cache
def start_thread() -> None:
    threading.Thread(target=look, name="cuda_graphs ranks", daemon=True).start()


def look() -> None:
    while True:
        poll = select.poll()
        for fd in list(_watched):
            poll.register(fd, select.POLLIN)
        for fd, _ in poll.poll(TICK_MS):
            found = _watched.get(fd)
            health = None if found is None else found[0]()
            if found is not None and health is not None:
                wait_for_calls(health)
                health.fail(text_of(*found[1:]))
            drop(fd)
        for health in list(_known):
            if health.reason is None and health in debugged:
                health.find_difference()
            for engine in list(health.engines):
                error = None if health.reason else engine.find_error()
                if error is not None:
                    health.fail(error)


def wait_for_calls(health: Health) -> None:
    """Give collectives that the ended rank has completed the time to complete here as well."""
    end = time.monotonic() + GRACE_S
    while health.reason is None and (health.waits or health.is_busy) and time.monotonic() < end:
        time.sleep(0.01)
