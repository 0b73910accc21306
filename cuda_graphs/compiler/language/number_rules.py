# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The types of numbers in the source of a kernel, and the default of kernels that are decorated in a `with` block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from cuda_graphs.compiler.ir.types import PYTHON, ScalarType, f32, i32

__all__ = ["USUAL", "NumberRules", "current_defaults", "default_types", "peer_rules"]


class NumberRules(NamedTuple):
    """Rules for the source of one kernel.

    Attributes:
        float: The type of a literal with a point, of `float`, and of a quotient of integers.
        int: The type of a literal without a point, and of `int`.
        strict: True if an implicit conversion that can lose bits or range is an error.
        lenient: True if a literal of any kind makes a number of any type, as in `f32(0)` and `i32(2.5)`; if an integer
            of the source is a real number where one is needed, as in `sin(3)` and `2 ** -1`; if a range takes floats,
            whose fractions are lost; if an integer argument of 64 bits gives its low bits to a smaller type; if debug
            kernels print which integer results do not fit, and go on; and if `print` writes numbers as the peers do.
        agrees: True if threads of a block agree on control flow around barriers that they could decide differently.
    """

    float: ScalarType = f32
    int: ScalarType = i32
    strict: bool = False
    lenient: bool = False
    agrees: bool = False

    def named(self, given: Any) -> Any:
        """Return the scalar type for a number type of Python or NumPy; another object itself."""
        if given is float:
            return self.float
        if given is int:
            return self.int
        return PYTHON.get(given, given) if isinstance(given, type) else given

    def checked(self, name: str) -> NumberRules:
        """Return the rules with scalar types for types of Python and NumPy. Raise TypeError for other types."""
        real, whole = (
            PYTHON.get(each, each) if isinstance(each, type) else each for each in (self.float, self.int)
        )
        if not isinstance(real, ScalarType) or real.kind != "float":
            raise TypeError(f"{name} takes a float type, cg.f32 or cg.f64, not {self.float!r}")
        if not isinstance(whole, ScalarType) or whole.kind != "int" or whole.size < i32.size:
            raise TypeError(f"{name} takes a signed integer type, cg.i32 or cg.i64, not {self.int!r}")
        return self._replace(float=real, int=whole, strict=bool(self.strict))


USUAL = NumberRules()
_defaults: ContextVar[NumberRules] = ContextVar("default_types", default=USUAL)


def current_defaults() -> NumberRules:
    """Return the rules for kernels that are decorated now."""
    return _defaults.get()


@contextmanager
def default_types(*, float: Any = None, int: Any = None) -> Iterator[None]:
    """Set the types of literals for kernels that are decorated in the `with` block.

        with cg.default_types(float=cg.f64, int=cg.i64):
            @cg.kernel
            def step(x: cg.Array1[cg.f64]) -> None: ...

    Args:
        float: The type of literals with a point, of `float` in annotations, and of quotients of integers: cg.f32 or
            cg.f64. None keeps the current one.
        int: The type of literals without a point and of `int` in annotations: cg.i32 or cg.i64. None keeps the current
            one.

    A keyword of `kernel` wins over the block. The block is one of the current thread or task.

    Raises:
        TypeError: A type is not a float type, or not a signed integer type of at least 4 bytes.
    """
    now = current_defaults()
    rules = now._replace(float=now.float if float is None else float, int=now.int if int is None else int)
    token = _defaults.set(rules.checked("default_types()"))
    try:
        yield
    finally:
        _defaults.reset(token)


@contextmanager
def peer_rules() -> Iterator[None]:
    """Let kernels that are decorated in the `with` block have the rules of the peers: `lenient` and `agrees`."""
    token = _defaults.set(current_defaults()._replace(lenient=True, agrees=True))
    try:
        yield
    finally:
        _defaults.reset(token)
