# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Validation of a tape: checks that each gradient reads the same values as its call.

A call saves no values for its gradient, so a later call may overwrite an array that the gradient reads. For each call,
validation keeps copies of the arrays that the gradient reads. If an array has changed, the gradient may still be
right: the change may affect only elements that the gradient does not read, as in simulations with a time axis.
Validation therefore computes the gradient with the current and with the saved values, and raises an error only if the
results differ.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from cuda_graphs.kernels.arrays.ndarray import NDArray
from cuda_graphs.kernels.arrays.struct_array import StructArray
from cuda_graphs.kernels.arrays.tensors import gradient_of, is_tensor, set_values, values_of
from cuda_graphs.kernels.specialisation.field_names import name_fields
from cuda_graphs.objects.device.device import current_device

__all__ = ["OverwrittenError", "SavedArray", "check_saved", "save_arrays"]


class OverwrittenError(RuntimeError):
    """A gradient needs the values that an array had in the call of its kernel, but a later call overwrote them."""


class SavedArray(NamedTuple):
    """An array of a call, and its values after the call."""

    path: str
    line: int
    array: Any
    values: np.ndarray


def save_arrays(function: Any, args: tuple[Any, ...]) -> list[SavedArray]:
    """Return copies of the arrays that the gradient of a call reads.

    Raises:
        CompileGradientError: The kernel has no gradient.
    """
    info = function.grad.info(*args)
    known = arrays_of(function, args)
    return [
        SavedArray(path, line, known[path], read(known[path])) for path, line in info.repeats if path in known
    ]


def arrays_of(function: Any, args: tuple[Any, ...]) -> dict[str, Any]:
    """Return the NDArrays, NumPy arrays and PyTorch tensors of a call by path, and fields by their name in code."""
    info = function.grad.info(*args)
    names = list(inspect.signature(function.__wrapped__).parameters)
    found = {}
    for path, _, _ in info.arrays:
        root, *members = path.removesuffix(".grad").split(".")
        if root not in names:  # a variable of a graph kernel with loops, whose states the tape keeps
            continue
        value = args[names.index(root)]
        for member in members:
            value = member_of(value, member)
        if isinstance(value, NDArray) or is_tensor(value) or is_changeable(value):
            found[path.removesuffix(".grad")] = value
    for field in function.fields(*args):
        if hasattr(field, "__cuda_graphs_field__"):  # the gradient of a field is an array
            found[field.__cuda_graphs_field__.name] = field
    return found


def member_of(value: Any, name: str) -> Any:
    """Return a member of an object, of an array of structures, or of a structured array of NumPy."""
    if isinstance(value, np.ndarray):
        return value[name]
    return value.members[name] if isinstance(value, StructArray) else getattr(value, name)


def is_changeable(value: Any) -> bool:
    return isinstance(value, np.ndarray) and bool(value.flags.writeable)


def read(array: Any) -> np.ndarray:
    """Return a copy of the values of an array, after all work of the device."""
    if isinstance(array, NDArray):
        return array.to_numpy()
    current_device().sync()
    return np.array(array) if isinstance(array, np.ndarray) else values_of(array)


def write(array: Any, values: np.ndarray) -> None:
    """Set the values of an array."""
    if isinstance(array, NDArray):
        array.from_numpy(values)
    elif isinstance(array, np.ndarray):
        array[...] = values
    else:
        set_values(array, values)


def grads_of(arrays: Iterable[Any]) -> list[Any]:
    """Return the gradients of the arrays that have one."""
    own = [each.grad for each in arrays if isinstance(each, NDArray) and each.grad is not None]
    return own + [
        gradient_of(each, "") for each in arrays if is_tensor(each) and each.requires_grad and each.is_leaf
    ]


def check_saved(function: Any, args: tuple[Any, ...], saved: list[SavedArray]) -> None:
    """Raise OverwrittenError if the gradient of a call differs between saved and current values of its arrays."""
    changed = [each for each in saved if not np.array_equal(read(each.array), each.values, equal_nan=True)]
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
                    f"the gradient of {function.__name__}() needs the old values of {name!r} (line {each.line}), but a "
                    "later call overwrote them: write to another array, or to another time step, as in x[t + 1, i]"
                )


def gradients(function: Any, args: tuple[Any, ...], grads: list[Any]) -> list[np.ndarray]:
    """Return the gradients after a call of the gradient, and restore them."""
    before = [read(each) for each in grads]
    function.grad(*args)
    found = [read(each) for each in grads]
    for each, values in zip(grads, before, strict=True):
        write(each, values)
    return found
