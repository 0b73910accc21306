# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`cg.ad`: gradients of many calls. A Tape notes calls of kernels and goes back through them; functions may have a
gradient of their own.

A call is noted by the thread that entered the tape, with its arguments and its stream. Nothing else is kept: what a
gradient reads of arrays is what is in them when it runs.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

from cuda_graphs._objects.stream import Stream, default_stream
from cuda_graphs.kernels.ndarray import NDArray, clear_fields
from cuda_graphs.kernels.recording import record_by
from cuda_graphs.kernels.validation import Kept, OverwrittenError, check_kept, kept_of

__all__ = ["OverwrittenError", "Tape", "clear_all_gradients", "grad_for", "grad_replaced", "no_grad"]

Call = tuple[Any, tuple[Any, ...], Stream | None]


class Tape:
    """Notes the calls of kernels in its block, and goes back through them at the end.

        with cg.ad.Tape(loss=loss):
            simulate(state)
            measure(state, loss)
        state.grad.to_numpy()

    When the block begins, `loss` becomes 0. When it ends, the gradients of all arrays that the calls were given, and of
    the fields that they used, become 0, that of `loss` becomes 1, and the gradients of the calls run, the last one
    first, each on the stream of its call. After an exception nothing of that is done.

    Args:
        loss: An array of one element with a gradient; None: the block only notes, and `grad` goes back.
        clear_gradients: Whether gradients become 0 before.
        validation: Whether to look, before each gradient, if what it reads is still what the call has read: where it is
            not, and the gradient is another one for that, an OverwrittenError names array and line. For finding
            mistakes: it copies arrays with each call.

    Raises:
        TypeError: `loss` is no array.
        ValueError: It has more than one element, or no gradient.
    """

    def __init__(
        self, loss: NDArray | None = None, clear_gradients: bool = True, validation: bool = False
    ) -> None:
        if loss is not None:
            if not isinstance(loss, NDArray):
                raise TypeError(f"loss is a cg.ndarray or cg.field, not a {type(loss).__name__}")
            if loss.size != 1 or loss.element_shape:
                raise ValueError(
                    f"loss has one element, a number, and {loss!r} has not: sum it up in a kernel"
                )
            if not loss.needs_grad:
                raise ValueError(f"loss has no gradient: make it with needs_grad=True, got {loss!r}")
        self.loss, self.clear_gradients = loss, clear_gradients
        self.calls: list[Call] = []
        self.validation = validation
        self._kept: dict[int, list[Kept]] = {}  # by the number of the call
        self._state = "new"

    def __enter__(self) -> Tape:
        if self._state != "new":
            raise RuntimeError("a Tape is for one block: make a new one")
        _recording.begin(self)
        try:
            if self.loss is not None:
                self.loss.fill(0)
        except BaseException:
            _recording.end()
            raise
        self._state = "open"
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        _recording.end()
        self._state = "closed"
        if self.loss is not None and error is None:
            self._go_back(seed=True)

    def grad(self) -> None:
        """Go back through what was noted, with gradients as they are; for a tape without a loss, once.

        Raises:
            RuntimeError: The block has not ended, the tape has a loss, or this was done already.
        """
        if self._state != "closed" or self.loss is not None:
            raise RuntimeError("grad() is for a Tape without a loss whose block has ended, once")
        self._go_back(seed=False)

    def _go_back(self, seed: bool) -> None:
        self._state = "done"
        if seed and self.clear_gradients:
            for function, args, _ in self.calls:
                if isinstance(function, GradReplaced):
                    clear_arrays(args)
                else:
                    function.grad.clear(*args)
        if seed and self.loss is not None and self.loss.grad is not None:
            self.loss.grad.fill(1)
        before: Stream | None = None
        for number, (function, args, stream) in reversed(list(enumerate(self.calls))):
            if number in self._kept:
                check_kept(function, args, self._kept[number])
            where = stream or default_stream()  # as kernels that a function calls without a stream
            if before is not None and where != before:
                where.wait(before)
            if stream is None:
                function.grad(*args)
            else:
                function.grad(*args, stream=stream)
            before = where

    def note(self, function: Any, args: tuple[Any, ...], stream: Stream | None) -> None:
        """Have `function.grad(*args)` called on the way back."""
        if self.validation and not isinstance(function, GradReplaced):
            self._kept[len(self.calls)] = kept_of(function, args)
        self.calls.append((function, args, stream))


def clear_arrays(args: tuple[Any, ...]) -> None:
    """Fill the gradients of the arrays among arguments with zeros."""
    for each in args:
        if isinstance(each, NDArray) and each.grad is not None:
            each.grad.fill(0)


class _Recording:
    """The tape that is open, and the thread that opened it. Calls in a function with its own gradient do not count."""

    def __init__(self) -> None:
        self.tape: Tape | None = None
        self.thread = 0
        self.inside = 0

    def begin(self, tape: Tape) -> None:
        if self.tape is not None:
            raise RuntimeError("a Tape is open already: tapes are not nested")
        self.tape, self.thread, self.inside = tape, threading.get_ident(), 0
        record_by(self.note)

    def end(self) -> None:
        self.tape = None
        record_by(None)

    def note(self, function: Any, args: tuple[Any, ...], stream: Stream | None) -> None:
        if self.tape is not None and not self.inside and threading.get_ident() == self.thread:
            self.tape.note(function, args, stream)


_recording = _Recording()


class GradReplaced:
    """A function of Python whose gradient is another one: `grad_replaced` makes it."""

    __name__: str

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.backward: Callable[..., Any] | None = None

    def __get__(self, owner: Any, cls: type) -> Any:
        return self if owner is None else _Bound(self, owner)

    def __call__(self, *args: Any) -> Any:
        return self.call(args)

    def call(self, args: tuple[Any, ...]) -> Any:
        """Call the function, whose kernels are not noted, and note it."""
        if self.backward is None and _recording.tape is not None:
            raise TypeError(
                f"{self.__name__}() has no gradient: write one, decorated with @cg.ad.grad_for({self.__name__})"
            )
        found = self._apart(self.function, args)
        _recording.note(self, args, None)
        return found

    def grad(self, *args: Any) -> Any:
        """Call the gradient."""
        if self.backward is None:
            raise TypeError(
                f"{self.__name__}() has no gradient: write one, decorated with @cg.ad.grad_for({self.__name__})"
            )
        return self._apart(self.backward, args)

    def _apart(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        _recording.inside += 1
        try:
            return function(*args)
        finally:
            _recording.inside -= 1

    def __repr__(self) -> str:
        return f"<{self.__name__}() with a gradient of its own>"


class _Bound:
    """A GradReplaced of an object."""

    def __init__(self, of: GradReplaced, owner: Any) -> None:
        self.of, self.owner = of, owner

    def __call__(self, *args: Any) -> Any:
        return self.of.call((self.owner, *args))

    def grad(self, *args: Any) -> Any:
        """Call the gradient."""
        return self.of.grad(self.owner, *args)


def _nothing(*args: Any) -> None:
    """The gradient of what has none."""


def grad_replaced(function: Callable[..., Any]) -> GradReplaced:
    """Decorates a function of Python, which calls kernels, and whose gradient `grad_for` gives.

    Raises:
        TypeError: It is a kernel, or no function.
    """
    if not hasattr(function, "__code__"):
        raise TypeError(f"grad_replaced decorates a function of Python that calls kernels, not {function!r}")
    return GradReplaced(function)


def grad_for(primal: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorates the gradient of a function: it is called with the same arguments, on the way back.

    Raises:
        RuntimeError: `primal` is not decorated with `grad_replaced`, or has a gradient already.
    """
    if not isinstance(primal, GradReplaced):
        raise RuntimeError(
            f"{primal!r} must be decorated with @cg.ad.grad_replaced: a function of Python, no kernel"
        )
    if primal.backward is not None:
        raise RuntimeError(f"{primal!r} has a gradient already: {primal.backward.__name__}")

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        primal.backward = function
        return function

    return decorate


def no_grad(function: Callable[..., Any]) -> GradReplaced:
    """Decorates a function of Python through which no gradient flows."""
    made = grad_replaced(function)
    made.backward = _nothing
    return made


def clear_all_gradients() -> None:
    """Fill the gradients of all fields that kernels have used with zeros. Of arrays: `a.grad.fill(0)`."""
    clear_fields()
