# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`cg.ad.FwdMode`: derivatives along a direction, computed beside the calls themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cuda_graphs.kernels.custom_gradients import GradReplaced
from cuda_graphs.kernels.ndarray import NDArray, clear_duals
from cuda_graphs.kernels.watching import Call, watch

__all__ = ["FwdMode"]

Several = NDArray | Sequence[NDArray]


class FwdMode:
    """Has the calls of kernels in its block compute how their results change when parameters change in a direction.

        with cg.ad.FwdMode(loss=loss, param=x, seed=[1.0, 0.0, 0.0]):
            simulate(x, state)
            measure(state, loss)
        loss.dual.to_numpy()  # the derivative of the loss with respect to x[0]

    Each array and field that has a gradient, or was made with needs_dual=True, has a `dual` of its type and shape. In
    the block a kernel sets the dual of what it stores, and adds to that of what it adds to: the product of the Jacobian
    matrix of all calls and the seed is in `loss.dual` at the end. Nothing is saved on the way, so control flow costs
    nothing, and arrays may be overwritten.

    A function with a gradient of its own is differentiated by way of the kernels that it calls; through one with
    `cg.ad.no_grad` nothing flows. Kernels with derivatives that nobody can compute are CompileGradientErrors of calls.

    Args:
        loss: The array, or arrays, whose derivative is asked for: of any shape.
        param: The array, or arrays, that change.
        seed: The direction: as many numbers as `param` has, an array of its shape or flat; of several params one for
            each. None: 1, of params of one number.
        clear_gradients: Whether all duals become 0 before.

    Raises:
        TypeError: `loss` or `param` is no array of ours, or the seed no numbers.
        ValueError: One has no dual, is both, or the seed has another size or is missing.
    """

    def __init__(self, loss: Several, param: Several, seed: Any = None, clear_gradients: bool = True) -> None:
        self.losses, self.params = arrays_of(loss, "loss"), arrays_of(param, "param")
        if any(one is other for one in self.losses for other in self.params):
            raise ValueError("loss and param are one array: copy it in a kernel")
        several = not isinstance(param, NDArray)
        if several and seed is not None and not isinstance(seed, (list, tuple)):
            raise TypeError(f"seed is a list with a part for each of several params, not {seed!r}")
        given = [seed] * len(self.params) if seed is None or not several else list(seed)
        if len(given) != len(self.params):
            raise ValueError(f"seed has {len(given)} parts for {len(self.params)} params: give one for each")
        self.seeds = [seed_of(each, part) for each, part in zip(self.params, given, strict=True)]
        self.clear_gradients = clear_gradients
        self._state = "new"

    def __enter__(self) -> FwdMode:
        if self._state != "new":
            raise RuntimeError("a FwdMode is for one block: make a new one")
        watch.begin(self)
        try:
            if self.clear_gradients:
                clear_duals()
            for each, seed in zip(self.params, self.seeds, strict=True):
                assert each.dual is not None
                each.dual.from_numpy(seed)
        except BaseException:
            watch.end()
            raise
        self._state = "open"
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        watch.end()
        self._state = "done"
        for each in self.params:
            assert each.dual is not None
            each.dual.fill(0)

    def before(self, call: Call, inside: tuple[Any, ...]) -> Callable[..., Any] | None:
        """What is called instead of a kernel: itself with duals."""
        function = call[0]
        if isinstance(function, GradReplaced):
            return None
        if function.mode == "reverse":
            raise RuntimeError(f"{function!r} is called in a FwdMode: there are no second derivatives")
        if function.mode is not None:  # made of a kernel already
            return None
        found: Callable[..., Any] = function.forward(
            "constant" if any(each.is_constant for each in inside) else "forward"
        )
        return found

    def after(self, call: Call, inside: tuple[Any, ...]) -> None:
        """Nothing is noted."""

    def captured(self, function: Any) -> None:
        """What is captured has duals, as what is called."""


def arrays_of(given: Several, what: str) -> tuple[NDArray, ...]:
    """One array or several, all with duals."""
    found = (
        (given,) if isinstance(given, NDArray) else tuple(given) if isinstance(given, (list, tuple)) else ()
    )
    if not found or not all(isinstance(each, NDArray) for each in found):
        raise TypeError(f"{what} is a cg.ndarray, a cg.field, or a list of such, not {given!r}")
    for each in found:
        if not each.needs_dual:
            raise ValueError(
                f"{what} has no dual: make it with needs_grad=True or needs_dual=True, got {each!r}"
            )
    return found


def seed_of(param: NDArray, seed: Any) -> np.ndarray:
    """The direction as an array of the parameter's shape."""
    shape = param.shape + param.element_shape
    size = int(np.prod(shape))
    if seed is None:
        if size != 1:
            raise ValueError(f"seed is missing: {param!r} changes in {size} numbers, give the direction")
        return np.ones(shape)
    try:
        values = np.asarray(seed, np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"seed is {size} numbers for {param!r}, not {seed!r}") from None
    if values.size != size or values.shape not in (shape, (size,)):
        raise ValueError(
            f"seed of the shape {values.shape} for {param!r}: give {size} numbers, flat or of its shape"
        )
    return values.reshape(shape)
