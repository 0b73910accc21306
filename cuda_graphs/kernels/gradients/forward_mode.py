# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`cg.ad.FwdMode`: directional derivatives, which kernels compute together with their results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cuda_graphs.kernels.arrays.captures import capture_of
from cuda_graphs.kernels.arrays.ndarray import NDArray, clear_duals
from cuda_graphs.kernels.arrays.struct_array import StructArray
from cuda_graphs.kernels.arrays.struct_values import converted, is_structured
from cuda_graphs.objects.device.current import current_stream

from .call_arrays import is_primal
from .custom_gradients import GradReplaced
from .thread_hooks import Call, hooks

__all__ = ["FwdMode"]

Array = NDArray | StructArray
Several = Array | Sequence[Array]


class FwdMode:
    """Computes the directional derivatives of all kernel calls in its block, along with their results.

        with cg.ad.FwdMode(loss=loss, param=x, seed=[1.0, 0.0, 0.0]):
            simulate(x, state)
            measure(state, loss)
        loss.dual.to_numpy()  # the derivative of the loss with respect to x[0]

    Each array and field with a gradient, or with needs_dual=True, has a `dual` of its type and shape. In the block, a
    store of a kernel also sets the dual of the element, and an atomic addition also adds to the dual. At the end,
    `loss.dual` holds the product of the Jacobian matrix of all calls and the seed. Forward mode saves no intermediate
    values: control flow costs no memory, and kernels may overwrite arrays. A graph that is captured in the block
    computes derivatives if it is launched in the block, which the seed does not outlive.

    A `Tape` in the block, and the gradient of a kernel, compute second derivatives: the `dual` of each gradient becomes
    the derivative of the gradient along the seed, as in ``x.grad.dual``.

    The kernels inside a function with its own gradient are differentiated. No derivative flows through a function with
    `cg.ad.no_grad`. The call of a kernel without a computable derivative raises CompileGradientError.

    Args:
        loss: The array or arrays to differentiate, of any shape.
        param: The array or arrays to differentiate with respect to.
        seed: The direction: the numbers for `param`, as an array of its shape or flat; for structures, a structured
            array of NumPy of its shape. For several params, a list with one direction for each. None means 1, for
            params of one number.
        clear_gradients: Whether all duals become 0 first.

    Raises:
        TypeError: `loss` or `param` is not an NDArray, or the seed does not consist of numbers.
        ValueError: An array has no dual, or is both `loss` and `param`; or the seed is missing or has the wrong size.
        RuntimeError: The block begins in a capture.
    """

    replaces = True

    def __init__(self, loss: Several, param: Several, seed: Any = None, clear_gradients: bool = True) -> None:
        self.losses, self.params = arrays_of(loss, "loss"), arrays_of(param, "param")
        if any(one is other for one in self.losses for other in self.params):
            raise ValueError("loss and param are the same array: copy it in a kernel")
        several = isinstance(param, (list, tuple))
        if several and seed is not None and not isinstance(seed, (list, tuple)):
            raise TypeError(f"seed must be a list with a part for each of several params, not {seed!r}")
        given = [seed] * len(self.params) if seed is None or not several else list(seed)
        if len(given) != len(self.params):
            raise ValueError(f"seed has {len(given)} parts for {len(self.params)} params: give one for each")
        self.seeds = [seed_of(each, part) for each, part in zip(self.params, given, strict=True)]
        self.clear_gradients = clear_gradients
        self._state = "new"

    def __enter__(self) -> FwdMode:
        if self._state != "new":
            raise RuntimeError("a FwdMode can be entered only once: make a new one")
        if capture_of(current_stream()):
            raise RuntimeError(
                "a FwdMode cannot begin in a capture, since the host writes its seed: begin it before the capture, and "
                "launch the graph in its block"
            )
        hooks.install(self)
        try:
            if self.clear_gradients:
                clear_duals()
            for each, seed in zip(self.params, self.seeds, strict=True):
                assert each.dual is not None
                each.dual.from_numpy(seed)
        except BaseException:
            hooks.remove()
            raise
        self._state = "open"
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        hooks.remove()
        self._state = "done"
        for each in self.params:
            assert each.dual is not None
            each.dual.fill(0)

    def before(self, call: Call, inside: tuple[Any, ...]) -> Callable[..., Any] | None:
        """Return the version of a kernel with duals, which runs in its place; None if the call stays as it is."""
        function = call[0]
        if isinstance(function, GradReplaced):
            return None
        if function.mode is not None and function.mode.startswith("reverse"):
            second: Callable[..., Any] = function.second()
            return second
        if not is_primal(function):  # already a kernel with duals
            return None
        found: Callable[..., Any] = function.forward(
            "constant" if any(each.is_constant for each in inside) else "forward"
        )
        return found

    def after(self, call: Call, inside: tuple[Any, ...]) -> None:
        """Do nothing: forward mode records no calls."""


def arrays_of(given: Several, what: str) -> tuple[Array, ...]:
    """Return one array or several as a tuple, and check that all have duals."""
    listed = given if isinstance(given, (list, tuple)) else (given,)
    found = tuple(each for each in listed if isinstance(each, (NDArray, StructArray)))
    if not found or len(found) != len(listed):
        raise TypeError(f"{what} must be a cg.ndarray, a cg.field, or a list of these, not {given!r}")
    for each in found:
        if not each.needs_dual:
            raise ValueError(
                f"{what} has no dual: make it with needs_grad=True or needs_dual=True, got {each!r}"
            )
    return found


def seed_of(param: Array, seed: Any) -> np.ndarray:
    """Return the direction as an array of the parameter's shape."""
    if isinstance(param, StructArray):
        return structured_seed(param, seed)
    shape = param.shape + param.element_shape
    size = int(np.prod(shape))
    if seed is None:
        if size != 1:
            raise ValueError(f"seed is missing: {param!r} has {size} numbers, so give the direction")
        return np.ones(shape)
    try:
        values = np.asarray(seed, np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"seed must be {size} numbers for {param!r}, not {seed!r}") from None
    if values.size != size or values.shape not in (shape, (size,)):
        raise ValueError(
            f"seed has the shape {values.shape} for {param!r}: give {size} numbers, flat or in its shape"
        )
    return values.reshape(shape)


def structured_seed(param: StructArray, seed: Any) -> np.ndarray:
    """Return the direction for an array of structures, as a structured array."""
    if not is_structured(seed) or seed.shape != param.shape or seed.dtype.names != param.dtype.names:
        raise TypeError(
            f"seed must be a structured array of NumPy for {param!r}: np.zeros({param.shape}, x.dtype) with the "
            f"direction in its fields, not {seed!r}"
        )
    return converted(seed, param.dtype)
