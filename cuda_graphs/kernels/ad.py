# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`cg.ad`: derivatives of many calls. A Tape notes calls of kernels and goes back through them.

A call is noted by the thread that entered the tape, with its arguments and its stream. Nothing else is kept: what a
gradient reads of arrays is what is in them when it runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cuda_graphs._objects.stream import Stream, default_stream
from cuda_graphs.kernels.custom_gradients import GradReplaced, grad_for, grad_replaced, no_grad
from cuda_graphs.kernels.forward_mode import FwdMode
from cuda_graphs.kernels.grad_check import GradCheck, GradientCheckError
from cuda_graphs.kernels.losses import Loss, clear_gradient, has_gradient
from cuda_graphs.kernels.ndarray import NDArray, clear_duals, clear_fields
from cuda_graphs.kernels.validation import Kept, OverwrittenError, check_kept, kept_of
from cuda_graphs.kernels.watching import Call, watch

__all__ = [
    "FwdMode", "GradientCheckError", "OverwrittenError", "Tape", "clear_all_gradients", "grad_for", "grad_replaced",
    "no_grad",
]  # fmt: skip


class Tape:
    """Notes the calls of kernels in its block, and goes back through them at the end.

        with cg.ad.Tape(loss=loss):
            simulate(state)
            measure(state, loss)
        state.grad.to_numpy()

    When the block begins, `loss` becomes 0. When it ends, the gradients of all arrays that the calls were given, and of
    the fields that they used, become 0, that of `loss` becomes 1, and the gradients of the calls run, the last one
    first, each on the stream of its call. Kernels that a function with a gradient of its own calls count for the
    clearing, too. Calls that use no array with a gradient are passed over. After an exception nothing of that is done.

    Args:
        loss: An array, field or tensor of PyTorch of one element with a gradient; None: the block only notes, and
            `grad` goes back.
        clear_gradients: Whether gradients become 0 before.
        validation: Whether to look, before each gradient, if what it reads is still what the call has read: where it is
            not, and the gradient is another one for that, an OverwrittenError names array and line. For finding
            mistakes: it copies arrays with each call.
        grad_check: Arrays of f64 whose gradients are compared, at the end, with central differences of the block along
            a random direction: a GradientCheckError says where they differ by more than 1 %. For finding mistakes: it
            repeats the block many times, with what the host wrote to arrays between calls.

    Raises:
        TypeError: `loss` is no array, or what is to be checked is no array of f64.
        ValueError: It has more than one element, or no gradient.
    """

    def __init__(
        self,
        loss: Any = None,
        clear_gradients: bool = True,
        validation: bool = False,
        grad_check: Sequence[NDArray] | None = None,
    ) -> None:
        self.loss = loss
        self._loss = None if loss is None else Loss(loss)
        self.clear_gradients, self.validation = clear_gradients, validation
        self.check: GradCheck | None = None
        if grad_check is not None:
            if self._loss is None or not clear_gradients:
                raise ValueError(
                    "grad_check is for a Tape with a loss that clears gradients: they are compared"
                )
            self.check = GradCheck(grad_check, self._loss)
        self.calls: list[Call] = []
        self._users: list[Call] = []  # `calls`, and kernels that a GradReplaced among them has called
        self._kept: dict[int, list[Kept]] = {}  # by the number of the call
        self._state = "new"

    def __enter__(self) -> Tape:
        if self._state != "new":
            raise RuntimeError("a Tape is for one block: make a new one")
        watch.begin(self)
        try:
            if self._loss is not None:
                self._loss.begin()
        except BaseException:
            watch.end()
            raise
        self._state = "open"
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        watch.end()
        self._state = "closed" if error is None else "left by an exception"
        if self.loss is not None and error is None:
            self._go_back()
            if self.check is not None:
                self.check.compare(self.calls)

    def grad(self) -> None:
        """Go back through what was noted, with gradients as they are; for a tape without a loss, once.

        Raises:
            RuntimeError: The block has not ended, or by an exception, the tape has a loss, or this was done already.
        """
        if self._state != "closed" or self.loss is not None:
            raise RuntimeError(
                f"grad() is for a Tape without a loss whose block has ended, once; this one is {self._state}"
                + (", and has a loss" if self.loss is not None else "")
            )
        self._go_back()

    def _go_back(self) -> None:
        self._state = "done"
        calls = [(number, call) for number, call in enumerate(self.calls) if flows_through(call)]
        if self._loss is not None:
            if self.clear_gradients:
                done: dict[int, Any] = {}
                for function, args, _ in filter(flows_through, self._users):
                    clear(function, args, done)
            self._loss.seed()
        before: Stream | None = None
        for number, (function, args, stream) in reversed(calls):
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

    def before(self, call: Call, inside: tuple[Any, ...]) -> None:
        """A kernel, or a function with a gradient of its own, is about to be called."""
        if isinstance(call[0], GradReplaced):
            call[0].require_gradient()
        if self.check is not None:
            self.check.before(len(self.calls), call, inside)

    def after(self, call: Call, inside: tuple[Any, ...]) -> None:
        """Have the gradient of a call computed on the way back."""
        if self.check is not None:
            self.check.after(call)
        if not any(each.is_constant for each in inside):
            self._users.append(call)
        if inside:
            return
        function, args, _ = call
        if self.validation and not isinstance(function, GradReplaced) and function.has_gradient(*args):
            self._kept[len(self.calls)] = kept_of(function, args)
        self.calls.append(call)

    def captured(self, function: Any) -> None:
        """Refuse it: when it runs, and how often, the tape does not see."""
        raise RuntimeError(
            f"{function.__name__}() is captured in a Tape, which would not see it run: capture before, and launch the "
            "graph in a function that has a gradient of its own (cg.ad.grad_replaced)"
        )


def flows_through(call: Call) -> bool:
    """Whether a call has to do with gradients."""
    function, args, _ = call
    return (
        not function.is_constant if isinstance(function, GradReplaced) else bool(function.has_gradient(*args))
    )


def clear(function: Any, args: tuple[Any, ...], done: dict[int, Any]) -> None:
    """Fill the gradients of the arrays that a call was given, and of the fields that it uses, with zeros, except those
    that are `done`."""
    if not isinstance(function, GradReplaced):
        function.grad.clear(args, function.fields(*args), done)
        return
    for each in args:
        if has_gradient(each):
            clear_gradient(each)


def clear_all_gradients(kind: str = "grad") -> None:
    """Fill derivatives with zeros.

    Args:
        kind: "grad": the gradients of all fields; of an array `a.grad.fill(0)` does it. "dual": all duals.

    Raises:
        ValueError: There is no such kind.
    """
    if kind not in CLEARED:
        raise ValueError(f"kind is one of {', '.join(map(repr, CLEARED))}, not {kind!r}")
    CLEARED[kind]()


CLEARED = {"grad": clear_fields, "dual": clear_duals}
