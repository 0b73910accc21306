# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""One Tape or FwdMode at a time is open, and watches the calls of kernels by the thread that entered it.

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
    """Who watches, and where the thread is."""

    def __init__(self) -> None:
        self.watcher: Watcher | None = None
        self.thread = 0
        self.inside: tuple[Any, ...] = ()

    def begin(self, watcher: Watcher) -> None:
        """Have calls told to `watcher`. RuntimeError: another one is open."""
        if self.watcher is not None:
            raise RuntimeError(
                f"a {type(self.watcher).__name__} is open already: tapes and the like are not nested"
            )
        self.watcher, self.thread, self.inside = watcher, threading.get_ident(), ()
        watch_by(self)

    def end(self) -> None:
        self.watcher = None
        watch_by(None)

    def now(self) -> Watcher | None:
        """Who watches this thread."""
        return self.watcher if threading.get_ident() == self.thread else None

    @contextmanager
    def apart(self, function: Any) -> Iterator[None]:
        """Calls in the block are made by a function that has a gradient of its own."""
        if self.now() is None:
            yield
            return
        outer, self.inside = self.inside, (*self.inside, function)
        try:
            yield
        finally:
            self.inside = outer

    def before(self, function: Any, args: tuple[Any, ...], stream: Stream | None) -> Any:
        now = self.now()
        return None if now is None else now.before((function, args, stream), self.inside)

    def after(self, function: Any, args: tuple[Any, ...], stream: Stream | None) -> None:
        now = self.now()
        if now is not None:
            now.after((function, args, stream), self.inside)

    def captured(self, function: Any) -> None:
        now = self.now()
        if now is not None:
            now.captured(function)


watch = _Watch()
