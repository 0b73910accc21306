# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Functions that mean something in kernels only: the frontend knows them by identity (frontend/calls.py).

Numbers are scalars, vectors and matrices, which are taken component by component. A place is what can be assigned to:
an element of an array or field, or a variable.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, TypeVar

from .types import f32

__all__ = [
    "ATOMICS",
    "OPERATIONS",
    "VECTORS",
    "acos",
    "asin",
    "atan",
    "atan2",
    "atomic_add",
    "atomic_and",
    "atomic_cas",
    "atomic_exchange",
    "atomic_max",
    "atomic_min",
    "atomic_mul",
    "atomic_or",
    "atomic_sub",
    "atomic_xor",
    "bit_cast",
    "bit_shr",
    "blocks",
    "cast",
    "ceil",
    "clz",
    "cos",
    "cosh",
    "cross",
    "determinant",
    "distance",
    "dot",
    "exp",
    "exp2",
    "ffs",
    "floor",
    "fma",
    "func",
    "grouped",
    "inverse",
    "isinf",
    "isnan",
    "length",
    "log",
    "log2",
    "log10",
    "loop_config",
    "ndrange",
    "norm",
    "normalize",
    "normalized",
    "outer",
    "popcnt",
    "random",
    "raw_div",
    "raw_mod",
    "reflect",
    "round",
    "rsqrt",
    "select",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "static",
    "static_assert",
    "static_print",
    "stop_grad",
    "tan",
    "tanh",
    "trace",
    "transpose",
    "trunc",
    "vector",
]

F = TypeVar("F", bound=Callable[..., Any])


def in_kernels_only(owner: str) -> Callable[[F], F]:
    """What has no meaning outside of kernels says so; `owner` is what its name follows: "cg"."""

    def decorate(function: F) -> F:
        name = f"{owner}.{function.__name__}"

        @wraps(function)
        def refuse(*args: Any, **keywords: Any) -> Any:
            raise RuntimeError(f"{name} has a meaning in kernels only: call it in a @cg.kernel or a @cg.func")

        return refuse  # type: ignore[return-value]

    return decorate


_in_kernels_only = in_kernels_only("cg")


def func(function: F) -> F:
    """A function that kernels can call: its body is inlined at each call."""

    @wraps(function)
    def only_in_kernels(*args: Any, **keywords: Any) -> Any:
        raise RuntimeError(f"{function.__name__} is a @cg.func: it is called from kernels")

    only_in_kernels.__cuda_graphs_func__ = function  # type: ignore[attr-defined]
    return only_in_kernels  # type: ignore[return-value]


def static(value: Any) -> Any:
    """In a kernel: evaluate the expression when compiling. Outside: the value itself."""
    return value


def ndrange(*extents: int | tuple[int, int]) -> Iterator[tuple[int, ...]]:
    """In a kernel: all points of a box, each extent n or (begin, end). Outside, and in cg.static: them as tuples."""
    return itertools.product(*(range(*each) if isinstance(each, tuple) else range(each) for each in extents))


@_in_kernels_only
def grouped(what: Any) -> Any:
    """In `for I in grouped(...)`: the index as one vector, of an ndrange or an array."""


@_in_kernels_only
def blocks(grid: Any, block: Any) -> Any:
    """In `for b, t in blocks(grid, block)`: blocks of at most 1024 threads; each an extent or a tuple of extents.

    `block` must be known when compiling. What threads do together: cg.block and cg.warp.
    """


@_in_kernels_only
def cast(x: Any, dtype: Any) -> Any:
    """x as another type. To an integer: towards 0, saturating; NaN is 0."""


@_in_kernels_only
def bit_cast(x: Any, dtype: Any) -> Any:
    """The bits of x as another type of the same size."""


@_in_kernels_only
def stop_grad(x: Any) -> Any:
    """x, through which no derivative flows: to gradients a constant. Of an array, as a statement: what is read of it
    from here to the end of the block, in blocks inside and functions that are called there, is such a constant."""


@_in_kernels_only
def select(condition: Any, a: Any, b: Any) -> Any:
    """a or b, both of which are evaluated."""


@_in_kernels_only
def random(dtype: Any = f32) -> Any:
    """The next random number: a float in [0, 1), or any integer."""


@_in_kernels_only
def vector(*components: Any) -> Any:
    """A vector of numbers, of their common type; of rows a matrix."""


@_in_kernels_only
def loop_config(
    block_dim: Any = None, serialize: Any = False, parallelize: Any = None, name: Any = None
) -> Any:
    """How the next loop runs: threads of a block, one iteration after the other, threads of a CPU that take part at
    most, its task's name."""


@_in_kernels_only
def static_assert(condition: Any, message: Any = "") -> Any:
    """An error when compiling, if the condition does not hold."""


@_in_kernels_only
def static_print(*what: Any) -> Any:
    """Print when compiling; of values their types."""


# Operations of the op table (ops.py): OPERATIONS says which.


@_in_kernels_only
def sqrt(x: Any) -> Any:
    """The square root; of an integer, as f32."""


@_in_kernels_only
def rsqrt(x: Any) -> Any:
    """1 / sqrt(x)."""


@_in_kernels_only
def floor(x: Any, dtype: Any = None) -> Any:
    """The greatest whole number that is not above x, as `dtype` if that is given."""


@_in_kernels_only
def ceil(x: Any, dtype: Any = None) -> Any:
    """The least whole number that is not below x."""


@_in_kernels_only
def trunc(x: Any, dtype: Any = None) -> Any:
    """x without its fraction."""


@_in_kernels_only
def round(x: Any, dtype: Any = None) -> Any:
    """The nearest whole number; halves go away from 0."""


@_in_kernels_only
def sign(x: Any) -> Any:
    """-1, 0 or 1; of NaN and of zeros x itself."""


@_in_kernels_only
def isnan(x: Any) -> Any:
    """Whether x is no number."""


@_in_kernels_only
def isinf(x: Any) -> Any:
    """Whether x is infinite."""


@_in_kernels_only
def bit_shr(a: Any, b: Any) -> Any:
    """a >> b with zeros coming in, for signed numbers too."""


@_in_kernels_only
def fma(a: Any, b: Any, c: Any) -> Any:
    """a * b + c, rounded once."""


@_in_kernels_only
def sin(x: Any) -> Any:
    """The sine."""


@_in_kernels_only
def cos(x: Any) -> Any:
    """The cosine."""


@_in_kernels_only
def tan(x: Any) -> Any:
    """The tangent."""


@_in_kernels_only
def asin(x: Any) -> Any:
    """The inverse sine."""


@_in_kernels_only
def acos(x: Any) -> Any:
    """The inverse cosine."""


@_in_kernels_only
def atan(x: Any) -> Any:
    """The inverse tangent."""


@_in_kernels_only
def atan2(y: Any, x: Any) -> Any:
    """The angle of the point (x, y); f64 if one is f64, else f32."""


@_in_kernels_only
def sinh(x: Any) -> Any:
    """The hyperbolic sine."""


@_in_kernels_only
def cosh(x: Any) -> Any:
    """The hyperbolic cosine."""


@_in_kernels_only
def tanh(x: Any) -> Any:
    """The hyperbolic tangent."""


@_in_kernels_only
def exp(x: Any) -> Any:
    """e ** x."""


@_in_kernels_only
def exp2(x: Any) -> Any:
    """2 ** x."""


@_in_kernels_only
def log(x: Any) -> Any:
    """The natural logarithm."""


@_in_kernels_only
def log2(x: Any) -> Any:
    """The logarithm to base 2."""


@_in_kernels_only
def log10(x: Any) -> Any:
    """The logarithm to base 10."""


@_in_kernels_only
def raw_div(a: Any, b: Any) -> Any:
    """The quotient of integers, towards 0, as C has it."""


@_in_kernels_only
def raw_mod(a: Any, b: Any) -> Any:
    """The remainder of integers, with the sign of a, as C has it."""


@_in_kernels_only
def popcnt(x: Any) -> Any:
    """How many bits are set."""


@_in_kernels_only
def clz(x: Any) -> Any:
    """How many bits above the highest that is set are 0."""


@_in_kernels_only
def ffs(x: Any) -> Any:
    """1 + the number of the lowest bit that is set; 0 of 0."""


# Vectors and matrices.


@_in_kernels_only
def dot(a: Any, b: Any) -> Any:
    """The sum of the products of the components."""


@_in_kernels_only
def cross(a: Any, b: Any) -> Any:
    """The cross product of vectors of 3 components."""


@_in_kernels_only
def outer(a: Any, b: Any) -> Any:
    """The matrix of all products of components."""


@_in_kernels_only
def norm(a: Any) -> Any:
    """The Euclidean length."""


@_in_kernels_only
def length(a: Any) -> Any:
    """The Euclidean length."""


@_in_kernels_only
def normalized(a: Any) -> Any:
    """The vector divided by its length."""


@_in_kernels_only
def normalize(a: Any) -> Any:
    """The vector divided by its length."""


@_in_kernels_only
def reflect(a: Any, normal: Any) -> Any:
    """a - 2 (a . n) n."""


@_in_kernels_only
def distance(a: Any, b: Any) -> Any:
    """The length of a - b."""


@_in_kernels_only
def transpose(m: Any) -> Any:
    """Columns as rows."""


@_in_kernels_only
def determinant(m: Any) -> Any:
    """The determinant of a matrix up to 4 x 4."""


@_in_kernels_only
def inverse(m: Any) -> Any:
    """The inverse of a matrix up to 4 x 4."""


@_in_kernels_only
def trace(m: Any) -> Any:
    """The sum of the diagonal."""


# Atomics. Each gives what was there before.


@_in_kernels_only
def atomic_add(place: Any, value: Any) -> Any:
    """`place += value` in one step, which no other thread sees half done."""


@_in_kernels_only
def atomic_sub(place: Any, value: Any) -> Any:
    """`place -= value` in one step, which no other thread sees half done."""


@_in_kernels_only
def atomic_mul(place: Any, value: Any) -> Any:
    """`place *= value` in one step, which no other thread sees half done."""


@_in_kernels_only
def atomic_min(place: Any, value: Any) -> Any:
    """`place = min(place, value)` in one step, which no other thread sees half done."""


@_in_kernels_only
def atomic_max(place: Any, value: Any) -> Any:
    """`place = max(place, value)` in one step, which no other thread sees half done."""


@_in_kernels_only
def atomic_and(place: Any, value: Any) -> Any:
    """`place &= value` in one step, which no other thread sees half done."""


@_in_kernels_only
def atomic_or(place: Any, value: Any) -> Any:
    """`place |= value` in one step, which no other thread sees half done."""


@_in_kernels_only
def atomic_xor(place: Any, value: Any) -> Any:
    """`place ^= value` in one step, which no other thread sees half done."""


@_in_kernels_only
def atomic_exchange(place: Any, value: Any) -> Any:
    """`place = value` in one step, which no other thread sees half done."""


@_in_kernels_only
def atomic_cas(place: Any, compare: Any, value: Any) -> Any:
    """`place = value`, if it is `compare`, in one step, which no other thread sees half done."""


OPERATIONS: dict[Callable[..., Any], str] = {
    sqrt: "sqrt",
    rsqrt: "rsqrt",
    floor: "floor",
    ceil: "ceil",
    trunc: "trunc",
    round: "round",
    sign: "sign",
    isnan: "is_nan",
    isinf: "is_inf",
    bit_shr: "shift_right_logical",
    fma: "fma",
    sin: "sin",
    cos: "cos",
    tan: "tan",
    asin: "asin",
    acos: "acos",
    atan: "atan",
    atan2: "atan2",
    sinh: "sinh",
    cosh: "cosh",
    tanh: "tanh",
    exp: "exp",
    exp2: "exp2",
    log: "log",
    log2: "log2",
    log10: "log10",
    raw_div: "trunc_div",
    raw_mod: "trunc_mod",
    popcnt: "popcount",
    clz: "leading_zeros",
    ffs: "first_set",
}
VECTORS: tuple[Callable[..., Any], ...] = (
    dot,
    cross,
    outer,
    norm,
    length,
    normalized,
    normalize,
    reflect,
    distance,
    transpose,
    determinant,
    inverse,
    trace,
)
ATOMICS: dict[Callable[..., Any], str] = {
    atomic_add: "add",
    atomic_sub: "sub",
    atomic_mul: "mul",
    atomic_min: "min",
    atomic_max: "max",
    atomic_and: "and",
    atomic_or: "or",
    atomic_xor: "xor",
    atomic_exchange: "exchange",
    atomic_cas: "cas",
}
