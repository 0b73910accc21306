# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Hooks of kernel calls: an open Tape or FwdMode gets the calls of the thread that entered it.

A thread has at most one hook. A function with its own gradient counts as one call. For the calls inside it, the hook
also gets this function.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from cuda_graphs.kernels.call.call_hooks import set_hook
from cuda_graphs.objects.device.stream import Stream

__all__ = ["Call", "CallHook", "hooks"]

Call = tuple[Any, tuple[Any, ...], Stream | None]


class CallHook(Protocol):
    """Receives the calls of a thread. `inside` holds the functions with their own gradient around the call."""

    def before(self, call: Call, inside: tuple[Any, ...]) -> Callable[..., Any] | None:
        """Run before a call; return the function to call instead, or None."""

    def after(self, call: Call, inside: tuple[Any, ...]) -> None:
        """Run after a call."""


class ThreadHooks:
    """The hook of each thread, and the active functions with their own gradient in each thread."""

    def __init__(self) -> None:
        self.open: dict[int, CallHook] = {}  # by thread
        self.active: dict[int, tuple[Any, ...]] = {}  # active functions, by thread
        self.lock = threading.Lock()

    def install(self, hook: CallHook) -> None:
        """Set the hook of this thread. Raise RuntimeError if the thread already has a hook."""
        installed = self.current()
        if installed is not None:
            raise RuntimeError(
                f"a {type(installed).__name__} is already open: a Tape or FwdMode cannot be nested"
            )
        with self.lock:
            self.open[threading.get_ident()] = hook
            set_hook(self)

    def remove(self) -> None:
        """Remove the hook of this thread."""
        with self.lock:
            del self.open[threading.get_ident()]
            if not self.open:
                set_hook(None)

    def current(self) -> CallHook | None:
        """Return the hook of this thread, or None."""
        return self.open.get(threading.get_ident())

    def enclosing(self) -> tuple[Any, ...]:
        """Return the active functions with their own gradient in this thread, from the outermost on."""
        return self.active.get(threading.get_ident(), ())

    @contextmanager
    def enclosed_by(self, function: Any) -> Iterator[None]:
        """Add a function with its own gradient to the active functions during the block."""
        if self.current() is None:
            yield
            return
        thread, outer = threading.get_ident(), self.enclosing()
        self.active[thread] = (*outer, function)
        try:
            yield
        finally:
            if outer:
                self.active[thread] = outer
            else:
                del self.active[thread]

    def before(self, function: Any, args: tuple[Any, ...], stream: Stream | None) -> Any:
        hook = self.current()
        return None if hook is None else hook.before((function, args, stream), self.enclosing())

    def after(self, function: Any, args: tuple[Any, ...], stream: Stream | None) -> None:
        hook = self.current()
        if hook is not None:
            hook.after((function, args, stream), self.enclosing())


hooks = ThreadHooks()
