# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`cg.ad`: derivatives of many calls. A Tape records calls of kernels and runs their gradients in reverse order.

A tape records the calls of the thread that entered it: the kernel, its arguments and its stream. It saves no array
contents, and a gradient reads the contents that the arrays have when it runs, unless the tape keeps states
(recomputation.py).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from cuda_graphs.kernels.arrays.captures import capture_of
from cuda_graphs.kernels.arrays.ndarray import NDArray, clear_duals, clear_fields
from cuda_graphs.kernels.arrays.struct_array import StructArray
from cuda_graphs.objects.device.current import current_stream
from cuda_graphs.objects.device.stream import Stream, default_stream

from .call_arrays import arrays_of, flows_through, is_primal
from .custom_gradients import GradReplaced, grad_for, grad_replaced, no_grad
from .forward_mode import FwdMode
from .grad_check import GradCheck, GradientCheckError
from .kept_states import StreamOrder
from .loop_calls import LoopCall, has_control_flow
from .losses import Loss, clear_gradient, has_gradient
from .recomputation import Recomputation
from .tape_stats import TapeStats
from .thread_hooks import Call, hooks
from .validation import OverwrittenError, SavedArray, check_saved, save_arrays

if TYPE_CHECKING:
    from .captured_loop import CapturedLoop

__all__ = [
    "FwdMode", "GradientCheckError", "OverwrittenError", "Tape", "clear_all_gradients", "grad_for", "grad_replaced",
    "no_grad",
]  # fmt: skip


class Tape:
    """Records the calls of kernels in its block, and runs their gradients in reverse order at the end.

        with cg.ad.Tape(loss=loss):
            simulate(state)
            measure(state, loss)
        state.grad.to_numpy()

    The block sets `loss` to 0 when it begins. When the block ends, the tape clears the gradients of all arrays in the
    arguments of the calls, and of all fields that the calls used. It sets the gradient of `loss` to 1. It then runs the
    gradients of the calls in reverse order, each on the stream of its call.

    The arrays of kernels that run inside a function with its own gradient are cleared too. The tape skips calls that
    use no array with a gradient. If the current stream is being captured when the block begins, the calls and their
    gradients become nodes of the captured graph, and each launch computes them. If the block raises an exception, the
    tape neither clears nor computes gradients.

    The loops and branches between the tasks of a graph kernel run one iteration at a time in the block, and the host
    reads their conditions. In a capture they are conditional nodes, and the graph has memory for the states of
    `max_iterations` iterations. From such a call on the tape keeps states: all of them, unless `max_states` or
    `memory_limit` says how many.

    Args:
        loss: An array, field or PyTorch tensor of one element with a gradient. With None the block only records calls,
            and `grad` runs the gradients.
        clear_gradients: Whether the tape sets gradients to 0 first.
        validation: Whether to check, before each gradient, that the arrays still hold the values that the call read. If
            the values have changed and the gradient depends on them, an OverwrittenError names the array and the line.
            This option is for debugging: it copies arrays with each call.
        grad_check: Arrays of f64, or of structures whose float members are of f64. At the end their gradients are
            compared with central differences of the block along a random direction, for structures each member on its
            own. A GradientCheckError reports a difference of more than 1 %. This option is for debugging: it repeats
            the block many times, including the writes of the host to arrays between calls.
        max_states: The most states that the tape keeps, at least 2: copies of the arrays that kernels write in the
            block, as they were after a call. The tape then runs each gradient with the arrays as they were after its
            call, and repeats calls to compute states that it does not keep. At the end, the arrays have their results.
            With None the tape keeps no states: a later call must not overwrite values that an earlier gradient needs.
        memory_limit: The most bytes of all kept states, instead of or in addition to `max_states`.

    Attributes:
        stats: The TapeStats of a tape that keeps states, else None.

    Raises:
        TypeError: `loss` is not an array, or `grad_check` has something other than arrays of f64 and of structures.
        ValueError: `loss` has more than one element or no gradient; an array of `grad_check` has no gradient; or
            `max_states` or `memory_limit` is too small.
    """

    replaces = False

    def __init__(
        self,
        loss: Any = None,
        clear_gradients: bool = True,
        validation: bool = False,
        grad_check: Sequence[NDArray | StructArray] | None = None,
        max_states: int | None = None,
        memory_limit: int | None = None,
    ) -> None:
        self.loss = loss
        self._loss = None if loss is None else Loss(loss)
        self.clear_gradients, self.validation = clear_gradients, validation
        self.check: GradCheck | None = None
        if grad_check is not None:
            if self._loss is None or not clear_gradients:
                raise ValueError(
                    "grad_check needs a Tape with a loss and clear_gradients=True, as it compares the gradients"
                )
            self.check = GradCheck(grad_check, self._loss)
        keeps = max_states is not None or memory_limit is not None
        self.recomputation = Recomputation(max_states, memory_limit) if keeps else None
        # Calls before this one have no kept states.
        self._first_kept: int | None = 0 if keeps else None
        self.calls: list[Call] = []
        self._users: list[Call] = []  # `calls`, and the kernels that a GradReplaced called
        self._saved: dict[int, list[SavedArray]] = {}  # saved arrays, by the number of the call
        self._state = "new"
        self._home = default_stream()  # current stream when the block begins
        self._capture = 0  # capture of this stream
        self._in_forward_mode = False

    @property
    def stats(self) -> TapeStats | Any:
        return None if self.recomputation is None else self.recomputation.stats

    def __enter__(self) -> Tape:
        if self._state != "new":
            raise RuntimeError("a Tape can be entered only once: make a new one")
        self._in_forward_mode = hooks.current() is not None
        if self._in_forward_mode and self.check is not None:
            raise RuntimeError(
                "a Tape in a FwdMode cannot have grad_check, whose repetitions would change duals"
            )
        self._home = current_stream()
        self._capture = capture_of(self._home)
        if self._capture:
            self._check_options()
        hooks.install(self)
        try:
            if self._loss is not None:
                self._loss.begin(self._in_forward_mode)
            if self.recomputation is not None:
                self.recomputation.begin(self._home, self._capture != 0, self._in_forward_mode, 0)
        except BaseException:
            hooks.remove()
            raise
        self._state = "open"
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        hooks.remove()
        self._state = "closed" if error is None else "left by an exception"
        if self.recomputation is not None and error is not None:
            self.recomputation.release()
        if self.loss is not None and error is None:
            self._run_gradients()
            if self.check is not None:
                self.check.compare(self.calls)

    def _check_options(self) -> None:
        """Raise RuntimeError for options that read arrays, which a capture cannot do."""
        if self.validation or self.check is not None:
            raise RuntimeError(
                "a Tape in a capture cannot have validation or grad_check, which read arrays: use them outside"
            )
        if self.loss is not None and not isinstance(self.loss, NDArray):
            raise RuntimeError(
                "the loss of a Tape in a capture must be a cg.ndarray or cg.field, not a tensor"
            )

    def grad(self) -> None:
        """Run the gradients of the recorded calls in reverse order, without clearing gradients first.

        Only a tape without a loss has this method to call, and only once.

        Raises:
            RuntimeError: The block has not ended, or ended with an exception; the tape has a loss; or `grad` was called
                before.
        """
        if self._state != "closed" or self.loss is not None:
            raise RuntimeError(
                f"grad() needs a Tape without a loss whose block has ended, and runs once; this Tape is {self._state}"
                + (", and has a loss" if self.loss is not None else "")
            )
        self._run_gradients()

    def _run_gradients(self) -> None:
        if capture_of(self._home) != self._capture:
            raise RuntimeError(
                "a Tape that began in a capture computes its gradients in the same capture, which has ended: leave the "
                "block of the Tape first"
            )
        self._state = "done"
        order = StreamOrder() if self.recomputation is None else self.recomputation.kept.order
        if self._capture:
            for stream in dict.fromkeys(stream for _, _, stream in self.calls if stream is not None):
                order.enter(stream)
            order.enter(self._home)
        if self._loss is not None:
            if self.clear_gradients:
                done: dict[int, Any] = {}
                for function, args, _ in filter(flows_through, self._users):
                    clear(function, args, done, self._home if self._capture else None)
                if self._in_forward_mode:
                    clear_duals_of([each.grad for call in self._users for each in arrays_of(call)])
            self._loss.seed(self._in_forward_mode)
        if self.recomputation is not None:
            arrays = [each for call in self._users for each in arrays_of(call)]
            gradients = [each.grad for each in arrays if each.grad is not None]
            self.recomputation.reverse(gradients, self._run_gradient)
        for number, call in reversed(list(enumerate(self.calls[: self._first_kept]))):
            if flows_through(call):
                order.enter(call[2] or self._home)
                self._run_gradient(number, call)
        if self._capture:
            order.enter(self._home)

    def _run_gradient(self, number: int, call: Call) -> None:
        """Run the gradient of the call with this number."""
        function, args, stream = call
        if number in self._saved:
            check_saved(function, args, self._saved[number])
        if stream is None:
            function.grad(*args)
        else:
            function.grad(*args, stream=stream)

    def before(self, call: Call, inside: tuple[Any, ...]) -> Callable[..., None] | None:
        """Check a call of a kernel, or of a function with its own gradient, before it runs.

        Return the function that runs in its place, if the kernel has loops between its tasks.
        """
        if isinstance(call[0], GradReplaced):
            call[0].require_gradient()
        else:
            self._check_capture(call)
            if not inside and (found := self._loop_call(call)) is not None:
                return found
        if self.check is not None:
            self.check.before(len(self.calls), call, inside)
        if self.recomputation is not None and is_primal(call[0]):
            self.recomputation.before(call, inside)
        return None

    def _loop_call(self, call: Call) -> Callable[..., None] | None:
        """Return the calls of parts that take the place of a graph kernel, if a gradient flows through its loops."""
        function, args, _ = call
        if function.mode is not None or not function.is_graph or not function.has_gradient(*args):
            return None
        plan = function.parts(*args)
        if not has_control_flow(plan):
            return None
        captured = self._captured_loop(function, plan) if self._capture else None
        if self.recomputation is None:
            self.recomputation = Recomputation(None, None)
            self.recomputation.begin(self._home, self._capture != 0, self._in_forward_mode, len(self.calls))
            self._first_kept = len(self.calls)
        return LoopCall(function, plan) if captured is None else functools.partial(self._add_loop, captured)

    def _captured_loop(self, function: Any, plan: tuple[Any, ...]) -> CapturedLoop:
        from .captured_loop import CapturedLoop  # with kernels of its own, which few programs need

        return CapturedLoop(function, plan, self._in_forward_mode)

    def _add_loop(self, loop: CapturedLoop, *args: Any, stream: Stream) -> None:
        """Add the nodes of a loop to the captured graph, and record the call."""
        assert self.recomputation is not None
        call = (loop, args, stream)
        self.recomputation.before(call, ())
        loop(*args, stream=stream)
        self.after(call, ())

    def _check_capture(self, call: Call) -> None:
        """Raise RuntimeError if a call becomes a node of another graph than the gradients."""
        function, _, stream = call
        found = self._capture if stream is None else capture_of(stream)
        if found == self._capture:
            return
        if self._capture == 0:
            why = "began outside of the capture, and does not see launches of the graph"
            remedy = "enter the Tape in the capture, in a block of `with cg.capture()` or `with builder`"
        elif found == 0:
            why, remedy = "is captured, on a stream that is not", f"call it on {self._home!r}"
        else:
            why = "is in another capture or outside of this body of a conditional node"
            remedy = "enter the Tape in the block of the body"
        what = "is captured in" if found else "runs in"
        raise RuntimeError(f"{function.__name__}() {what} a Tape that {why}: {remedy}")

    def after(self, call: Call, inside: tuple[Any, ...]) -> None:
        """Record a call, so that `_run_gradients` runs its gradient."""
        if self.check is not None:
            self.check.after(call)
        if not any(each.is_constant for each in inside):
            self._users.append(call)
        if self.recomputation is not None:
            self.recomputation.after(call, inside)
        if inside:
            return
        function, args, _ = call
        if self.validation and not isinstance(function, GradReplaced) and function.has_gradient(*args):
            self._saved[len(self.calls)] = save_arrays(function, args)
        self.calls.append(call)


def clear(function: Any, args: tuple[Any, ...], done: dict[int, Any], captured: Stream | None) -> None:
    """Fill the gradients of the array arguments and of the fields of a call with zeros.

    `done` holds gradients that are already clear, by identity. The function skips these and adds new ones. `captured`
    is the current stream if it is being captured.
    """
    if not isinstance(function, GradReplaced):
        function.grad.clear(args, function.fields(*args), done, captured)
        return
    for each in args:
        if has_gradient(each):
            clear_gradient(each)


def clear_duals_of(gradients: Sequence[NDArray | None]) -> None:
    """Fill the duals of gradients with zeros, for second derivatives."""
    for each in gradients:
        if each is not None and each.dual is not None:
            each.dual.fill(0)


def clear_all_gradients(kind: str = "grad") -> None:
    """Fill derivatives with zeros.

    Args:
        kind: "grad" clears the gradients of all fields; call `a.grad.fill(0)` for an array. "dual" clears all duals.

    Raises:
        ValueError: `kind` is neither "grad" nor "dual".
    """
    if kind not in CLEARED:
        raise ValueError(f"kind must be one of {', '.join(map(repr, CLEARED))}, not {kind!r}")
    CLEARED[kind]()


CLEARED = {"grad": clear_fields, "dual": clear_duals}
