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
    """Receives the calls of a thread. `inside` holds the functions with their own gradient around the call.

    A hook that `replaces` all calls (FwdMode) may enclose one that records them (Tape).
    """

    replaces: bool

    def before(self, call: Call, inside: tuple[Any, ...]) -> Callable[..., Any] | None:
        """Run before a call; return the function to call instead, or None."""

    def after(self, call: Call, inside: tuple[Any, ...]) -> None:
        """Run after a call."""


class ThreadHooks:
    """The hooks of each thread, and the active functions with their own gradient in each thread."""

    def __init__(self) -> None:
        self.open: dict[int, tuple[CallHook, ...]] = {}  # from the outermost on, by thread
        self.active: dict[int, tuple[Any, ...]] = {}  # active functions, by thread
        self.lock = threading.Lock()

    def install(self, hook: CallHook) -> None:
        """Add a hook of this thread. Raise RuntimeError if it cannot be in the hook that the thread has."""
        installed = self.current()
        if installed is not None and (hook.replaces or not installed.replaces):
            raise RuntimeError(
                f"a {type(installed).__name__} is already open: a Tape or FwdMode cannot be nested, except a Tape in a "
                "FwdMode, for second derivatives"
            )
        with self.lock:
            thread = threading.get_ident()
            self.open[thread] = (*self.open.get(thread, ()), hook)
            set_hook(self)

    def remove(self) -> None:
        """Remove the innermost hook of this thread."""
        with self.lock:
            thread = threading.get_ident()
            outer = self.open.pop(thread)[:-1]
            if outer:
                self.open[thread] = outer
            if not self.open:
                set_hook(None)

    def current(self) -> CallHook | None:
        """Return the innermost hook of this thread, or None."""
        found = self.open.get(threading.get_ident())
        return None if found is None else found[-1]

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
        """Return the function that runs in place of a call, or None: that of the innermost hook that has one."""
        call, inside = (function, args, stream), self.enclosing()
        inner: list[CallHook] = []
        for hook in reversed(self.open.get(threading.get_ident(), ())):
            found = hook.before(call, inside)
            if found is not None:
                return found if not inner else observed(found, call, inside, inner)
            inner.append(hook)
        return None

    def after(self, function: Any, args: tuple[Any, ...], stream: Stream | None) -> None:
        for hook in reversed(self.open.get(threading.get_ident(), ())):
            hook.after((function, args, stream), self.enclosing())


def observed(
    replacement: Callable[..., Any], call: Call, inside: tuple[Any, ...], hooks: list[CallHook]
) -> Callable[..., Any]:
    """Return a replacement of a call that hooks see as this call."""

    def run(*args: Any, **keywords: Any) -> Any:
        found = replacement(*args, **keywords)
        for hook in hooks:
            hook.after(call, inside)
        return found

    return run


hooks = ThreadHooks()
