# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Watchers of kernel calls: an open Tape or FwdMode watches the calls of the thread that entered it.

A thread has at most one watcher. A function with its own gradient counts as one call. For the calls inside it, the
watcher also gets this function.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from cuda_graphs.objects.device.stream import Stream

from .recording import watch_by

__all__ = ["Call", "Watcher", "watch"]

Call = tuple[Any, tuple[Any, ...], Stream | None]


class Watcher(Protocol):
    """Receives the calls of a thread. `inside` holds the functions with their own gradient around the call."""

    def before(self, call: Call, inside: tuple[Any, ...]) -> Callable[..., Any] | None:
        """Run before a call; return the function to call instead, or None."""

    def after(self, call: Call, inside: tuple[Any, ...]) -> None:
        """Run after a call."""

    def captured(self, function: Any) -> None:
        """Run before a capture turns a call into nodes."""


class _Watch:
    """The watcher of each thread, and the active functions with their own gradient in each thread."""

    def __init__(self) -> None:
        self.open: dict[int, Watcher] = {}  # by thread
        self.inside: dict[int, tuple[Any, ...]] = {}  # active functions, by thread
        self.lock = threading.Lock()

    def begin(self, watcher: Watcher) -> None:
        """Set the watcher of this thread. Raise RuntimeError if the thread already has a watcher."""
        now = self.now()
        if now is not None:
            raise RuntimeError(f"a {type(now).__name__} is already open: a Tape or FwdMode cannot be nested")
        with self.lock:
            self.open[threading.get_ident()] = watcher
            watch_by(self)

    def end(self) -> None:
        """Remove the watcher of this thread."""
        with self.lock:
            del self.open[threading.get_ident()]
            if not self.open:
                watch_by(None)

    def now(self) -> Watcher | None:
        """Return the watcher of this thread, or None."""
        return self.open.get(threading.get_ident())

    def place(self) -> tuple[Any, ...]:
        """Return the active functions with their own gradient in this thread, from the outermost on."""
        return self.inside.get(threading.get_ident(), ())

    @contextmanager
    def apart(self, function: Any) -> Iterator[None]:
        """Add a function with its own gradient to the active functions during the block."""
        if self.now() is None:
            yield
            return
        thread, outer = threading.get_ident(), self.place()
        self.inside[thread] = (*outer, function)
        try:
            yield
        finally:
            if outer:
                self.inside[thread] = outer
            else:
                del self.inside[thread]

    def before(self, function: Any, args: tuple[Any, ...], stream: Stream | None) -> Any:
        now = self.now()
        return None if now is None else now.before((function, args, stream), self.place())

    def after(self, function: Any, args: tuple[Any, ...], stream: Stream | None) -> None:
        now = self.now()
        if now is not None:
            now.after((function, args, stream), self.place())

    def captured(self, function: Any) -> None:
        now = self.now()
        if now is not None:
            now.captured(function)


watch = _Watch()
