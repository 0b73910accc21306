# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A Tape or FwdMode that is open watches the calls of kernels by the thread that entered it, which may have one.

A function that has a gradient of its own counts as one call: what it calls is told to the watcher with it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from cuda_graphs._objects.stream import Stream
from cuda_graphs.kernels.recording import watch_by

__all__ = ["Call", "Watcher", "watch"]

Call = tuple[Any, tuple[Any, ...], Stream | None]


class Watcher(Protocol):
    """What is told of calls. `inside`: the functions with a gradient of their own that the call is made in."""

    def before(self, call: Call, inside: tuple[Any, ...]) -> Callable[..., Any] | None:
        """A call begins: what to call instead, or None."""

    def after(self, call: Call, inside: tuple[Any, ...]) -> None:
        """A call was made."""

    def captured(self, function: Any) -> None:
        """A call becomes nodes of a capture."""


class _Watch:
    """Who watches each thread, and the functions with a gradient of their own that the thread is in."""

    def __init__(self) -> None:
        self.open: dict[int, Watcher] = {}  # by thread
        self.inside: dict[int, tuple[Any, ...]] = {}
        self.lock = threading.Lock()

    def begin(self, watcher: Watcher) -> None:
        """Have calls of this thread told to `watcher`. RuntimeError: another one is open."""
        now = self.now()
        if now is not None:
            raise RuntimeError(f"a {type(now).__name__} is open already: tapes and the like are not nested")
        with self.lock:
            self.open[threading.get_ident()] = watcher
            watch_by(self)

    def end(self) -> None:
        """Have nobody told of calls of this thread."""
        with self.lock:
            del self.open[threading.get_ident()]
            if not self.open:
                watch_by(None)

    def now(self) -> Watcher | None:
        """Who watches this thread."""
        return self.open.get(threading.get_ident())

    def place(self) -> tuple[Any, ...]:
        """The functions that this thread is in, from the outermost on."""
        return self.inside.get(threading.get_ident(), ())

    @contextmanager
    def apart(self, function: Any) -> Iterator[None]:
        """Calls in the block are made by a function that has a gradient of its own."""
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
