# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a gradient reads what its call has read: nothing but arrays is kept between them, and calls in between may
have written these.

Of each call, copies of the arrays that its gradient reads are kept. Where one has changed, elements that the gradient
does not read may have, as with steps in time; so the gradient is computed with the array as it is and as it was, and
only where these differ something is wrong.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from cuda_graphs.kernels.field_names import name_fields
from cuda_graphs.kernels.ndarray import NDArray
from cuda_graphs.kernels.targets import current_device
from cuda_graphs.kernels.tensors import gradient_of, is_tensor, set_values, values_of

__all__ = ["Kept", "OverwrittenError", "check_kept", "kept_of"]


class OverwrittenError(RuntimeError):
    """A gradient needs what an array held when its kernel was called, and a later call has written other values
    there."""


class Kept(NamedTuple):
    """An array of a call, and what it held after it."""

    path: str
    line: int
    array: Any
    values: np.ndarray


def kept_of(function: Any, args: tuple[Any, ...]) -> list[Kept]:
    """Copies of what the gradient of a call reads. Raises CompileGradientError where there is no gradient."""
    info = function.grad.info(*args)
    known = arrays_of(function, args)
    return [Kept(path, line, known[path], read(known[path])) for path, line in info.repeats if path in known]


def arrays_of(function: Any, args: tuple[Any, ...]) -> dict[str, Any]:
    """The arrays of ours, NumPy and PyTorch that a call uses, by path; fields by their name in code."""
    info = function.grad.info(*args)
    names = list(inspect.signature(function.__wrapped__).parameters)
    found = {}
    for path, _, _ in info.arrays:
        root, *members = path.removesuffix(".grad").split(".")
        value = args[names.index(root)]
        for member in members:
            value = getattr(value, member)
        if isinstance(value, NDArray) or is_tensor(value) or is_changeable(value):
            found[path.removesuffix(".grad")] = value
    for field in function.fields(*args):
        if hasattr(field, "__cuda_graphs_field__"):  # the gradient of a field is an array
            found[field.__cuda_graphs_field__.name] = field
    return found


def is_changeable(value: Any) -> bool:
    return isinstance(value, np.ndarray) and bool(value.flags.writeable)


def read(array: Any) -> np.ndarray:
    """A copy of what an array holds, after all that the device does."""
    if isinstance(array, NDArray):
        return array.to_numpy()
    current_device().sync()
    return np.array(array) if isinstance(array, np.ndarray) else values_of(array)


def write(array: Any, values: np.ndarray) -> None:
    """Have an array hold other values."""
    if isinstance(array, NDArray):
        array.from_numpy(values)
    elif isinstance(array, np.ndarray):
        array[...] = values
    else:
        set_values(array, values)


def grads_of(arrays: Iterable[Any]) -> list[Any]:
    """The gradients that there are of arrays."""
    own = [each.grad for each in arrays if isinstance(each, NDArray) and each.grad is not None]
    return own + [
        gradient_of(each, "") for each in arrays if is_tensor(each) and each.requires_grad and each.is_leaf
    ]


def check_kept(function: Any, args: tuple[Any, ...], kept: list[Kept]) -> None:
    """Raise OverwrittenError where the gradient of a call would be another one with what its arrays held."""
    changed = [each for each in kept if not np.array_equal(read(each.array), each.values, equal_nan=True)]
    if not changed:
        return
    grads = grads_of(arrays_of(function, args).values())
    now = gradients(function, args, grads)
    for each in changed:
        current = read(each.array)
        write(each.array, each.values)
        then = gradients(function, args, grads)
        write(each.array, current)
        for one, other in zip(now, then, strict=True):
            size = float(np.max(np.abs(other), initial=0.0))
            if not np.allclose(one, other, rtol=0, atol=1e-6 * size, equal_nan=True):
                name = name_fields(each.path, function.__wrapped__)
                raise OverwrittenError(
                    f"the gradient of {function.__name__}() needs {name!r} as it was (line {each.line}), and it "
                    "has been written since: write to another array, or to another step of it, as in x[t + 1, i]"
                )


def gradients(function: Any, args: tuple[Any, ...], grads: list[Any]) -> list[np.ndarray]:
    """What the gradients become, which are as before then."""
    before = [read(each) for each in grads]
    function.grad(*args)
    found = [read(each) for each in grads]
    for each, values in zip(grads, before, strict=True):
        write(each, values)
    return found
