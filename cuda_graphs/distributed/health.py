# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Health: whether the ranks of a communicator can still exchange data.

A rank that has ended never answers, so the others would wait without end. The thread of watch.py finds the end, and
`Health.fail` then ends the waits of this process, in this order: it keeps the arrays of unfinished calls alive, lets
collectives on the device return (`word`, and the abort of NCCL), and cancels the loops of running graphs. The next wait
of the program raises RankError, and so does every later use of the communicator. Other work of the process goes on.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections import deque
from contextlib import suppress
from typing import Any

import numpy as np

from cuda_graphs.compiler.ir.types import SCALARS
from cuda_graphs.objects.device.device import current_device
from cuda_graphs.objects.memory.memory_resource import PinnedMemoryResource
from cuda_graphs.objects.waiting import on_wait

__all__ = ["Health", "RankError", "begin_debug_mode", "end_unfinished_work", "find_differences"]


class RankError(RuntimeError):
    """A rank of a communicator has ended, or ranks do different things. The communicator cannot be used any more."""


class Health:
    """The state of a communicator and of all engines that were made from it.

    Attributes:
        word: One i64. Kernels that wait for other ranks return when it is not 0. A kernel of debug mode also sets it.
        device_word: The same memory, as an argument of kernels.
        reason: The cause of the failure, None before a failure.
        waits: The number of waits on the host for other ranks.
    """

    def __init__(self) -> None:
        self._device = current_device()
        with self._device:
            memory = PinnedMemoryResource().allocate(8)
        self.device_word = memory.view(SCALARS["i64"], 1)
        self.word = np.from_dlpack(memory).view(np.int64)
        self.word[0] = 0
        self.reason: str | None = None
        self._error = RankError()
        self.waits = 0
        self._engines: weakref.WeakSet[Any] = weakref.WeakSet()
        self._leases: weakref.WeakSet[Any] = weakref.WeakSet()
        self._lock = threading.Lock()
        with _sets:
            _all.add(self)
        on_wait(raise_unraised)

    def add_engine(self, engine: Any) -> None:
        """Let `fail` abort an engine."""
        with _sets:
            self._engines.add(engine)

    def add_lease(self, lease: Any) -> None:
        """Let `fail` cancel the loops of a Lease."""
        with _sets:
            self._leases.add(lease)

    @property
    def engines(self) -> list[Any]:
        with _sets:
            return list(self._engines)

    @property
    def leases(self) -> list[Any]:
        with _sets:
            return list(self._leases)

    @property
    def is_busy(self) -> bool:
        """True if a collective of this process may still be running."""
        with self._device:
            return any(lease.is_busy for lease in self.leases)

    def check(self) -> None:
        """Raise RankError after a failure. The next wait then raises it no more."""
        if self.reason is not None:
            with suppress(ValueError):  # a wait has raised it, or nothing was running
                _unraised.remove(self._error)
            raise RankError(self.reason)

    def check_within(self, seconds: float) -> None:
        """Raise RankError if this communicator fails within some seconds.

        A library may see that a rank has ended before the thread of watch.py does.
        """
        end = time.monotonic() + seconds
        while self.reason is None and time.monotonic() < end:
            time.sleep(0.01)
        self.check()

    def find_difference(self) -> None:
        """Fail if debug mode has found a difference between ranks in a launch."""
        for lease in self.leases:
            found = lease.find_difference()
            if found is not None:
                self.fail(found, is_certain=True)

    def fail(self, reason: str, is_certain: bool = False) -> None:
        """End all waits of this process for the other ranks. Only the first call has an effect.

        Args:
            reason: The text of the errors.
            is_certain: True: the next wait raises in any case. False: only if a collective may be running.
        """
        with self._lock:
            if self.reason is not None:
                return
            self._error = error = RankError(reason)
            if not is_certain:
                _ended.append(reason)
            if is_certain or self.is_busy:
                _unraised.append(error)
            self.reason = reason  # last: `check` finds the error
        leases = self.leases
        for lease in leases:
            _kept.extend(lease.arrays())
        self.word[0] = 1
        for engine in self.engines:
            engine.abort()
        with self._device:
            for lease in leases:
                for refusal in lease.cancel():
                    error.add_note(refusal)


# For the sets below, and for those of each Health: no thread changes a set while another one reads it.
_sets = threading.RLock()
_all: weakref.WeakSet[Health] = weakref.WeakSet()
_debugged: weakref.WeakSet[Health] = weakref.WeakSet()  # those of communicators in debug mode
_ended: list[str] = []  # the reasons of failures by which a rank or a connection was lost
_unraised: deque[RankError] = deque()  # for the next wait of the program
# Arrays of calls that never end: a live rank may still send to them.
_kept: list[Any] = []


def raise_unraised() -> None:
    """Raise the error of a failure that no wait has raised yet."""
    if _debugged:
        find_differences()
    if _unraised:
        raise _unraised.popleft()


def find_differences() -> None:
    """Let the communicators in debug mode fail whose ranks are at different places."""
    with _sets:
        known = [health for health in _debugged if health.reason is None]
    for health in known:
        health.find_difference()


def begin_debug_mode(health: Health) -> None:
    with _sets:
        _debugged.add(health)


def end_unfinished_work(reason: str | None) -> bool:
    """Wait for the collectives of this process, or end them for a reason. Returns whether all ranks are there."""
    with _sets:
        known = list(_all)
    for health in known:
        if reason is not None:
            health.fail(reason)
        for lease in health.leases:
            lease.wait()
    _unraised.clear()
    return not _ended
