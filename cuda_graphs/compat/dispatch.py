# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`perf_dispatch` of Quadrants: one function with several implementations, of which the fastest is used."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

from .program import sync

__all__ = ["Dispatcher", "perf_dispatch"]


class Trial:
    """The times of the implementations that can run for one geometry, until the fastest is known."""

    def __init__(self, choices: list[Callable[..., Any]], calls: int) -> None:
        """Prepare to time `calls` calls of each implementation. The last one counts, since the first may compile."""
        self.waiting = [each for each in choices for _ in range(calls)]
        self.times: dict[Callable[..., Any], float] = {}

    def call(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call the next implementation and time it."""
        chosen = self.waiting[0]
        sync()
        start = time.perf_counter()
        found = chosen(*args, **keywords)
        sync()
        self.times[chosen] = time.perf_counter() - start
        del self.waiting[0]
        return found

    def fastest(self) -> Callable[..., Any] | None:
        """Return the implementation with the shortest time; None until each one was timed."""
        return None if self.waiting else min(self.times, key=lambda each: self.times[each])


class Dispatcher:
    """A function that calls one of its implementations: the only one that can run, or the fastest of several."""

    def __init__(self, function: Callable[..., Any], geometry: Callable[..., Any], calls: int) -> None:
        functools.update_wrapper(self, function)
        self.geometry, self.calls = geometry, calls
        self.implementations: list[tuple[Callable[..., Any], Callable[..., bool] | None]] = []
        self.trials: dict[Any, Trial] = {}
        self.chosen: dict[Any, Callable[..., Any]] = {}
        # The last call, whose choice holds for the same arguments.
        self.last: tuple[tuple[Any, ...], dict[str, Any], Callable[..., Any]] | None = None

    def register(self, function: Any = None, *, is_compatible: Callable[..., bool] | None = None) -> Any:
        """Decorates an implementation. `is_compatible` returns whether it can run with the arguments of a call."""
        if function is None:
            return functools.partial(self.register, is_compatible=is_compatible)
        self.implementations.append((function, is_compatible))
        return function

    def compatible(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> list[Callable[..., Any]]:
        """Return the implementations that can run.

        Raises:
            RuntimeError: No implementation can run.
        """
        found = [each for each, can in self.implementations if can is None or can(*args, **keywords)]
        if not found:
            raise RuntimeError(f"{self.__name__}: no implementation can run with these arguments")  # type: ignore[attr-defined]
        return found

    def is_last(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
        """Return True if the last call had the same objects as arguments."""
        if self.last is None:
            return False
        before, named, _ = self.last
        return (
            len(args) == len(before)
            and all(a is b for a, b in zip(args, before, strict=True))
            and keywords.keys() == named.keys()
            and all(keywords[name] is named[name] for name in keywords)
        )

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if self.last is not None and self.is_last(args, keywords):
            return self.last[2](*args, **keywords)
        key = self.geometry(*args, **keywords)
        if key not in self.chosen:
            found = self.compatible(args, keywords)
            if len(found) > 1:
                return self.timed_call(key, found, args, keywords)
            self.chosen[key] = found[0]
        self.last = args, keywords, self.chosen[key]
        return self.chosen[key](*args, **keywords)

    def timed_call(
        self, key: Any, found: list[Callable[..., Any]], args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Any:
        """Call the implementation whose turn it is, and keep the fastest after the last turn."""
        trial = self.trials.setdefault(key, Trial(found, self.calls))
        result = trial.call(args, keywords)
        fastest = trial.fastest()
        if fastest is not None:
            self.chosen[key] = fastest
            del self.trials[key]
        return result


def perf_dispatch(
    *,
    get_geometry_hash: Callable[..., Any],
    first_warmup: int | None = None,
    warmup: int | None = None,
    active: int | None = None,
    repeat_after_count: int | None = None,
    repeat_after_seconds: float | None = None,
) -> Callable[[Callable[..., Any]], Dispatcher]:
    """Decorates the prototype of a function with several implementations. A choice is kept: it is not measured again.

    Args:
        get_geometry_hash: Returns a key for the arguments of a call. Calls with equal keys use the same implementation.
        first_warmup, active: The calls of each implementation before a choice is their sum.
        warmup, repeat_after_count, repeat_after_seconds: Ignored.
    """
    calls = (1 if first_warmup is None else first_warmup) + (1 if active is None else active)
    return lambda function: Dispatcher(function, get_geometry_hash, calls)
