# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A thread that finds ranks that have ended, errors of engines, and differences that debug mode reports.

Ranks of one host tell each other their process ids. The thread holds a pidfd for each, which Linux marks as readable
when the process ends (pidfd_open(2)): by a signal, by an exception, or at its regular end. A slow rank is therefore
never mistaken for a dead one, and a process id that is used again does no harm. Ranks of other hosts have no pidfd
here: the thread watches connections to them (links.py). NCCL also reports a lost connection by its engine.
"""

from __future__ import annotations

import os
import select
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from .health import Health, find_differences
from .links import Link, connect_hosts, text_of

__all__ = ["identify", "unwatch", "watch"]

TICK_MS = 100  # between two looks at the engines
GRACE_S = 0.5  # for collectives that the rank still took part in
CAUSE_S = (
    1.5  # from an error of an engine to the end of the process that caused it: its GPU is freed in between
)

# Weak references drop entries at any time, on any thread: loops go over copies.
_lock = threading.RLock()
_watched: dict[int, tuple[weakref.ref[Health], int, int]] = {}  # pidfd -> (health, rank, process id)
_links: dict[int, tuple[weakref.ref[Health], Link]] = {}  # by the number of the socket
_known: weakref.WeakSet[Health] = weakref.WeakSet()
_errors: weakref.WeakKeyDictionary[Health, float] = (
    weakref.WeakKeyDictionary()
)  # when its engine had the first one


def identify() -> str:
    """Return the host and the process id of this process, in a form that ranks of the same host can compare."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{boot} {os.readlink('/proc/self/ns/pid')} {os.getpid()}"


def watch(
    health: Health, rank: int, identities: Sequence[str], gather: Callable[[bytes], list[bytes]] | None
) -> bool:
    """Let `health` fail when another rank ends. All ranks call this. Returns False if hosts cannot connect.

    Args:
        health: That of the communicator.
        rank: The number of this rank.
        identities: The results of `identify` on all ranks, by their numbers.
        gather: A function that returns the bytes that each rank passes to it. None: hosts could not connect before.
    """
    places, _, processes = zip(*(each.rpartition(" ") for each in identities), strict=True)
    connects = gather is not None
    if gather is not None and len(set(places)) > 1:
        links = connect_hosts(rank, [int(each) for each in processes], gather)
        connects = bool(links)
        for link in links:
            add_link(health, link)
    for other, (place, process) in enumerate(zip(places, processes, strict=True)):
        if other != rank and place == places[rank] and int(process) != os.getpid():
            add(health, other, int(process))
    with _lock:
        _known.add(health)
    start_thread()
    return connects


def add(health: Health, rank: int, process: int) -> None:
    try:
        fd = os.pidfd_open(process)
    except ProcessLookupError:  # it has ended since it told its identity
        tell_and_fail(health, text_of(rank, process))
        return
    with _lock:
        _watched[fd] = weakref.ref(health, lambda _: drop(fd)), rank, process


def unwatch(health: Health) -> None:
    with _lock:
        _known.discard(health)
        ended = [fd for fd, (known, _, _) in list(_watched.items()) if known() is health]
        closed = [fd for fd, (known, _) in list(_links.items()) if known() is health]
    for fd in ended:
        drop(fd)
    for fd in closed:
        drop_link(fd)


def drop(fd: int) -> None:
    if _watched.pop(fd, None) is not None:
        os.close(fd)


def add_link(health: Health, link: Link) -> None:
    fd = link.fileno()
    with _lock:
        _links[fd] = weakref.ref(health, lambda _: drop_link(fd)), link


def drop_link(fd: int) -> None:
    found = _links.pop(fd, None)
    if found is not None:
        found[1].close()


def forget_links() -> None:
    """Close the sockets of a forked child. Otherwise the end of its parent would not be seen."""
    while _links:
        _links.popitem()[1][1].forget()


@cache
def start_thread() -> None:
    os.register_at_fork(after_in_child=forget_links)
    threading.Thread(target=look, name="cuda_graphs ranks", daemon=True).start()


def look() -> None:
    while True:
        poll = select.poll()
        for fd in [*_watched, *_links]:
            poll.register(fd, select.POLLIN)
        for fd, _ in poll.poll(TICK_MS):
            look_at_rank(fd)
            look_at_link(fd)
        find_differences()
        look_at_engines()


def look_at_rank(fd: int) -> None:
    """Let the communicator of a pidfd fail if the process has ended."""
    found = _watched.get(fd)
    health = None if found is None else found[0]()
    if found is not None and health is not None and has_ended(fd):
        tell_and_fail(health, text_of(*found[1:]))
        drop(fd)


def tell_and_fail(health: Health, reason: str) -> None:
    """Let a communicator fail. Rank 0 tells the others first: they would take its own end for the reason."""
    for known, link in list(_links.values()):
        if known() is health and link.tells:
            link.tell(reason)
    wait_for_calls(health)
    health.fail(reason)


def look_at_link(fd: int) -> None:
    """Let the communicator of a connection fail if a rank has ended."""
    found = _links.get(fd)
    health = None if found is None else found[0]()
    if found is None or health is None:
        return
    reason = found[1].find_reason()
    if _links.get(fd) is not found:  # another thread has closed it
        return
    if reason is not None:
        tell_and_fail(health, reason)
    if found[1].is_over:
        drop_link(fd)


def look_at_engines() -> None:
    """Let the communicators fail whose engines had errors for some time, which no end of a process explains."""
    with _lock:  # `unwatch` returns only when no engine is being asked
        for health in list(_known):
            error = None if health.reason else find_error(health)
            if (
                error is not None
                and time.monotonic() > _errors.setdefault(health, time.monotonic()) + CAUSE_S
            ):
                health.fail(error)


def find_error(health: Health) -> str | None:
    """Return the first error that an engine has found in the background, or None."""
    return next(
        (error for error in (each.find_error() for each in health.engines) if error is not None), None
    )


def has_ended(fd: int) -> bool:
    """Return whether the process of a pidfd has ended. Its number may have been that of another one a moment ago."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return any(event & select.POLLIN for _, event in poll.poll(0))


def wait_for_calls(health: Health) -> None:
    """Give collectives that the ended rank has completed the time to complete here as well."""
    end = time.monotonic() + GRACE_S
    while health.reason is None and (health.waits or health.is_busy) and time.monotonic() < end:
        time.sleep(0.01)
