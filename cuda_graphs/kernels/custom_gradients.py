# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of Python that call kernels, and have a gradient of their own."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from cuda_graphs.kernels.watching import watch

__all__ = ["GradReplaced", "grad_for", "grad_replaced", "no_grad"]


class GradReplaced:
    """A function of Python whose gradient is another one: `grad_replaced` makes it."""

    __name__: str

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.signature = inspect.signature(function)
        self.backward: Callable[..., Any] | None = None

    @property
    def is_constant(self) -> bool:
        """Whether no derivative flows through it."""
        return self.backward is _nothing

    def __get__(self, owner: Any, cls: type) -> Any:
        return self if owner is None else _Bound(self, owner)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Call the function, and have the tape that is open note it, without the kernels that it calls."""
        args = self.in_order(args, keywords)
        if not watch.place():
            watch.before(self, args, None)
        with watch.apart(self):
            found = self.function(*args)
        watch.after(self, args, None)
        return found

    def grad(self, *args: Any, **keywords: Any) -> Any:
        """Call the gradient.

        Raises:
            TypeError: It has none.
        """
        with watch.apart(self):
            return self.require_gradient()(*self.in_order(args, keywords))

    def in_order(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, ...]:
        """Arguments as the function lists them: the gradient is called with the same."""
        if not keywords:
            return args
        bound = self.signature.bind(*args, **keywords)
        if bound.kwargs:
            raise TypeError(
                f"{self.__name__}() has a gradient of its own, and takes no keyword-only arguments: "
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
        return f"<{self.__name__}() with a gradient of its own>"


class _Bound:
    """A GradReplaced of an object."""

    def __init__(self, of: GradReplaced, owner: Any) -> None:
        self.of, self.owner, self.__name__ = of, owner, of.__name__

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.of(self.owner, *args, **keywords)

    def grad(self, *args: Any, **keywords: Any) -> Any:
        """Call the gradient."""
        return self.of.grad(self.owner, *args, **keywords)


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
        TypeError: What is decorated cannot be called.
    """
    if not isinstance(primal, GradReplaced):
        raise RuntimeError(
            f"{primal!r} must be decorated with @cg.ad.grad_replaced: a function of Python, no kernel"
        )
    if primal.backward is not None:
        raise RuntimeError(f"{primal!r} has a gradient already: {primal.backward.__name__}")

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(function):
            raise TypeError(
                f"grad_for decorates the gradient of {primal.__name__}(), a function, not {function!r}"
            )
        primal.backward = function
        return function

    return decorate


def no_grad(function: Callable[..., Any]) -> GradReplaced:
    """Decorates a function of Python through which no gradient flows.

    Raises:
        TypeError: It is a kernel, or no function.
    """
    if not hasattr(function, "__code__"):
        raise TypeError(f"no_grad decorates a function of Python that calls kernels, not {function!r}")
    made = GradReplaced(function)
    made.backward = _nothing
    return made
