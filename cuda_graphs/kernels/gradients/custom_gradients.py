# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Python functions that call kernels and have their own gradient."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from .thread_hooks import hooks

__all__ = ["GradReplaced", "grad_for", "grad_replaced", "no_grad"]


class GradReplaced:
    """A Python function with its own gradient; `grad_replaced` makes it."""

    __name__: str

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.signature = inspect.signature(function)
        self.backward: Callable[..., Any] | None = None

    @property
    def is_constant(self) -> bool:
        """True if no derivative flows through the function."""
        return self.backward is _nothing

    def __get__(self, owner: Any, cls: type) -> Any:
        return self if owner is None else _Bound(self, owner)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Call the function; the open tape records this call, but not the kernels inside it."""
        args = self.in_order(args, keywords)
        if not hooks.enclosing():
            hooks.before(self, args, None)
        with hooks.enclosed_by(self):
            found = self.function(*args)
        hooks.after(self, args, None)
        return found

    def grad(self, *args: Any, **keywords: Any) -> Any:
        """Call the gradient.

        Raises:
            TypeError: The function has no gradient.
        """
        with hooks.enclosed_by(self):
            return self.require_gradient()(*self.in_order(args, keywords))

    def in_order(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, ...]:
        """Return the arguments in the order of the function's parameters, which the gradient shares."""
        if not keywords:
            return args
        bound = self.signature.bind(*args, **keywords)
        if bound.kwargs:
            raise TypeError(
                f"{self.__name__}() has its own gradient and cannot take keyword-only arguments: "
                + ", ".join(bound.kwargs)
            )
        return bound.args

    def require_gradient(self) -> Callable[..., Any]:
        if self.backward is None:
            raise TypeError(
                f"{self.__name__}() has no gradient: write one, decorated with @cg.ad.grad_for({self.__name__})"
            )
        return self.backward

    def __repr__(self) -> str:
        return f"<{self.__name__}() with its own gradient>"


class _Bound:
    """A GradReplaced bound to an object, as a method."""

    def __init__(self, of: GradReplaced, owner: Any) -> None:
        self.of, self.owner, self.__name__ = of, owner, of.__name__

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.of(self.owner, *args, **keywords)

    def grad(self, *args: Any, **keywords: Any) -> Any:
        """Call the gradient."""
        return self.of.grad(self.owner, *args, **keywords)


def _nothing(*args: Any) -> None:
    """Do nothing: the gradient of a function with `no_grad`."""


def grad_replaced(function: Callable[..., Any]) -> GradReplaced:
    """Decorates a Python function that calls kernels; `grad_for` defines its gradient.

    Raises:
        TypeError: `function` is a kernel, or is not a function.
    """
    if not hasattr(function, "__code__"):
        raise TypeError(f"grad_replaced decorates a Python function that calls kernels, not {function!r}")
    return GradReplaced(function)


def grad_for(primal: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorates the gradient of a function; a tape calls it with the arguments of the function.

    Raises:
        RuntimeError: `primal` is not decorated with `grad_replaced`, or already has a gradient.
        TypeError: The decorated object is not callable.
    """
    if not isinstance(primal, GradReplaced):
        raise RuntimeError(
            f"{primal!r} must be decorated with @cg.ad.grad_replaced, which takes a Python function, not a kernel"
        )
    if primal.backward is not None:
        raise RuntimeError(f"{primal!r} already has a gradient: {primal.backward.__name__}")

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(function):
            raise TypeError(
                f"grad_for decorates the gradient of {primal.__name__}(), a function, not {function!r}"
            )
        primal.backward = function
        return function

    return decorate


def no_grad(function: Callable[..., Any]) -> GradReplaced:
    """Decorates a Python function through which no gradient flows.

    Raises:
        TypeError: `function` is a kernel, or is not a function.
    """
    if not hasattr(function, "__code__"):
        raise TypeError(f"no_grad decorates a Python function that calls kernels, not {function!r}")
    made = GradReplaced(function)
    made.backward = _nothing
    return made
