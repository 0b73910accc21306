# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Functions with a meaning in kernels only. The frontend recognises them by identity
(compiler/frontend/calls/calls.py).

Numbers are scalars, vectors and matrices. Operations apply to vectors and matrices component by component. A place is
an assignment target: an element of an array or field, or a variable.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from cuda_graphs.compiler.ir.types import f32, i32

from .call_settings import called_copy, checked_depth
from .host_vectors import host_vector

if TYPE_CHECKING:
    from .declarations import AnyCondition, AnyNumber, HostArray, M, Matrix, N, Number, T, Value, Vector
    from .function_types import Cast, FloatFunction, MakeVector, Predicate, Random, Rounding

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
    "fence",
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
    "one",
    "outer",
    "popcnt",
    "random",
    "random_integer",
    "random_normal",
    "raw_div",
    "raw_mod",
    "reflect",
    "replace_grad",
    "round",
    "rsqrt",
    "select",
    "set_condition",
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
    "zero",
]

F = TypeVar("F", bound=Callable[..., Any])


def in_kernels_only(owner: str) -> Callable[[F], F]:
    """Return a decorator for functions that raise RuntimeError outside of kernels. `owner` is the prefix, as "cg"."""

    def decorate(function: F) -> F:
        name = f"{owner}.{function.__name__}"

        @wraps(function)
        def refuse(*args: Any, **keywords: Any) -> Any:
            raise RuntimeError(f"{name} has a meaning in kernels only: call it in a @cg.kernel or a @cg.func")

        return refuse  # type: ignore[return-value]

    return decorate


_in_kernels_only = in_kernels_only("cg")

# The same decorator, for functions with several signatures.
_typed: Any = _in_kernels_only
_float_function: Callable[[Callable[..., Any]], FloatFunction] = _typed
_rounding: Callable[[Callable[..., Any]], Rounding] = _typed
_predicate: Callable[[Callable[..., Any]], Predicate] = _typed
_cast: Callable[[Callable[..., Any]], Cast] = _typed
_random: Callable[[Callable[..., Any]], Random] = _typed
_make_vector: Callable[[Callable[..., Any]], MakeVector] = _typed


inside_static: ContextVar[bool] = ContextVar("inside_static", default=False)
"""True while Python evaluates an operand of `static`, where functions of the language run as plain Python."""


@overload
def func(function: F, *, inline: bool = True, max_depth: int | None = None) -> F: ...
@overload
def func(*, inline: bool = True, max_depth: int | None = None) -> Callable[[F], F]: ...
def func(function: Any = None, *, inline: bool = True, max_depth: int | None = None) -> Any:
    """Make a function that kernels can call. Its body is inlined at each call.

    Args:
        inline: False to compile the function once for each signature, and to call it. This makes kernels that use a
            large function many times compile faster. A call costs some nanoseconds, and prevents vectorisation.
        max_depth: The most calls of the function inside one another, from 1 to 1024, for a function that calls itself.
            It needs inline=False. A call beyond that raises a KernelError after the kernel.
    """
    if max_depth is not None:
        max_depth = checked_depth(max_depth, inline)
    if function is None:
        return partial(func, inline=inline, max_depth=max_depth)
    if isinstance(function, classmethod):
        return classmethod(func(function.__func__, inline=inline, max_depth=max_depth))
    if not inline:
        function = called_copy(function, max_depth)

    @wraps(function)
    def only_in_kernels(*args: Any, **keywords: Any) -> Any:
        if inside_static.get():
            return function(*args, **keywords)
        raise RuntimeError(f"{function.__name__} is a @cg.func: it is called from kernels")

    only_in_kernels.__cuda_graphs_func__ = function  # type: ignore[attr-defined]
    return only_in_kernels


@overload
def static(value: Value, /) -> Value: ...
@overload
def static(*values: Any) -> tuple[Any, ...]: ...
def static(value: Any, *more: Any) -> Any:
    """Evaluate an expression at compile time in a kernel; return the value, or the tuple of several values."""
    return (value, *more) if more else value


def ndrange(*extents: int | tuple[int, int], axes: Sequence[int] | None = None) -> Iterator[tuple[int, ...]]:
    """Return all points of a box as tuples; each extent is n or (begin, end). A kernel loops over the points.

    Args:
        axes: The numbers of the dimensions from the outermost to the innermost loop; None: in their order. A point has
            its coordinates in the order of `extents`.
    """
    ranges = [range(*each) if isinstance(each, tuple) else range(each) for each in extents]
    if axes is None:
        return itertools.product(*ranges)
    places = [list(axes).index(number) for number in range(len(ranges))]
    points = itertools.product(*(ranges[each] for each in axes))
    return (tuple(point[place] for place in places) for point in points)


def grouped(what: Iterable[Any] | HostArray) -> Iterator[Vector[Any, int]]:
    """Loop over an ndrange or an array with the index as one vector: `for I in grouped(...)`.

    In `static(grouped(ndrange(3, 3)))`, the components are known when compiling.
    """
    if not inside_static.get():
        raise RuntimeError("cg.grouped has a meaning in kernels only: call it in a @cg.kernel or a @cg.func")
    shape = getattr(what, "shape", None)
    points: Any = what if shape is None else itertools.product(*map(range, shape))
    found: Any = (host_vector(i32, (len(each),), *each) for each in points)
    return found


@_in_kernels_only
def fence() -> None:
    """Order the accesses of this thread to memory: a thread of any block that sees a later write sees all earlier ones.

    The other thread needs a fence too, between its reads. No thread waits. The last block of a kernel, which a counter
    finds, can then use what all other blocks wrote.
    """


@_in_kernels_only
def blocks(grid: int | tuple[int, ...], block: int | tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Loop over blocks of at most 1024 threads: `for b, t in blocks(grid, block)`, with extents or tuples of extents.

    `block` must be known at compile time. Operations of the threads of a block are in cg.block and cg.warp.
    """


@_cast
def cast(x: Any, dtype: Any) -> Any:
    """Return x converted to another type. Conversion to an integer rounds towards 0 and saturates; NaN becomes 0."""


@_cast
def bit_cast(x: Any, dtype: Any) -> Any:
    """Return the bits of x as another type of the same size."""


@_in_kernels_only
def stop_grad(x: Value) -> Value:
    """Return x as a constant to gradients: no derivative flows through it.
    A call with an array, as a statement, makes later reads of the array such constants. That holds to the end of the
    block, in nested blocks, and in functions that the block calls.
    """


@_in_kernels_only
def replace_grad(x: Number, source: Number) -> Number:
    """Return x with the derivative of `source`, which is computed for gradients only."""


@_in_kernels_only
def select(condition: Any, a: Value, b: Value) -> Value:
    """Return a if the condition holds, else b. Both are evaluated."""


@_random
def random(dtype: Any = f32) -> Any:
    """Return the next random number: a float in [0, 1), or any integer."""


@_random
def random_normal(dtype: Any = f32) -> Any:
    """Return a random float of the normal distribution with mean 0 and standard deviation 1."""


@_in_kernels_only
def random_integer(low: int, high: int) -> int:
    """Return a random integer from low to high - 1, in their common type; low if high is not larger.

    All integers are as probable, up to a part of 2**-32; with 64 bits, up to a part of (high - low) / 2**64.
    """


@_make_vector
def vector(*components: Any) -> Any:
    """Return a vector of numbers, of their common type, or a matrix of rows.

    Vectors among numbers stand for their components: `cg.vector(v, 0.0)`. Vectors alone are rows.
    """


@_in_kernels_only
def zero(x: Number) -> Number:
    """Return 0 in the type of x; for a vector or matrix, one of its shape."""


@_in_kernels_only
def one(x: Number) -> Number:
    """Return 1 in the type of x; for a vector or matrix, one of its shape whose components are all 1."""


@_in_kernels_only
def set_condition(condition: AnyCondition, value: int) -> None:
    """Set a condition, the argument of a parameter `c: cg.Condition`, to an integer or a bool.

    A conditional node of the same graph reads the value as a u32. Several threads may set one condition: one of their
    values stays.
    """


@_in_kernels_only
def keep_condition(condition: AnyCondition, value: int) -> None:
    """Set a condition to 0 if the value is 0; otherwise leave it as it is. For kernels of the library."""


@_in_kernels_only
def loop_config(
    block_dim: int | None = None,
    serialize: bool = False,
    parallelize: int | None = None,
    name: str | None = None,
) -> None:
    """Configure the next loop: threads of a block, serial execution, the most CPU threads, the name of its task.

    Args:
        block_dim: The number of threads of a block.
        serialize: True runs the iterations one after the other.
        parallelize: The largest number of CPU threads that take part.
        name: The name of the loop's task.
    """


@_in_kernels_only
def static_assert(condition: Any, message: object = "") -> None:
    """Raise an error at compile time if the condition does not hold."""


@_in_kernels_only
def static_print(*what: object) -> None:
    """Print at compile time. Run-time values are printed as their types."""


# Operations of the op table (ops.py). OPERATIONS maps the functions to rows.


@_float_function
def sqrt(x: Any) -> Any:
    """Return the square root, of an integer as f32."""


@_float_function
def rsqrt(x: Any) -> Any:
    """Return 1 / sqrt(x)."""


@_rounding
def floor(x: Any, dtype: Any = None) -> Any:
    """Return the greatest whole number that is not above x, as `dtype` if that is given."""


@_rounding
def ceil(x: Any, dtype: Any = None) -> Any:
    """Return the least whole number that is not below x, as `dtype` if that is given."""


@_rounding
def trunc(x: Any, dtype: Any = None) -> Any:
    """Return x without its fraction, as `dtype` if that is given."""


@_rounding
def round(x: Any, dtype: Any = None) -> Any:
    """Return the nearest whole number, as `dtype` if that is given. Halves round away from 0."""


@_in_kernels_only
def sign(x: Number) -> Number:
    """Return -1, 0 or 1, or x itself for NaN and zeros."""


@_predicate
def isnan(x: Any) -> Any:
    """Return whether x is NaN."""


@_predicate
def isinf(x: Any) -> Any:
    """Return whether x is infinite."""


@_in_kernels_only
def bit_shr(a: Number, b: Number) -> Number:
    """Return a >> b with zeros shifted in, for signed numbers too."""


@_in_kernels_only
def fma(a: Number, b: Number, c: Number) -> Number:
    """Return a * b + c, rounded once."""


@_float_function
def sin(x: Any) -> Any:
    """Return the sine of x."""


@_float_function
def cos(x: Any) -> Any:
    """Return the cosine of x."""


@_float_function
def tan(x: Any) -> Any:
    """Return the tangent of x."""


@_float_function
def asin(x: Any) -> Any:
    """Return the inverse sine of x."""


@_float_function
def acos(x: Any) -> Any:
    """Return the inverse cosine of x."""


@_float_function
def atan(x: Any) -> Any:
    """Return the inverse tangent of x."""


@_in_kernels_only
def atan2(y: Number, x: Number) -> Number:
    """Return the angle of the point (x, y), as f64 if one of them is f64, else as f32."""


@_float_function
def sinh(x: Any) -> Any:
    """Return the hyperbolic sine of x."""


@_float_function
def cosh(x: Any) -> Any:
    """Return the hyperbolic cosine of x."""


@_float_function
def tanh(x: Any) -> Any:
    """Return the hyperbolic tangent of x."""


@_float_function
def exp(x: Any) -> Any:
    """Return e ** x."""


@_float_function
def exp2(x: Any) -> Any:
    """Return 2 ** x."""


@_float_function
def log(x: Any) -> Any:
    """Return the natural logarithm of x."""


@_float_function
def log2(x: Any) -> Any:
    """Return the logarithm of x to base 2."""


@_float_function
def log10(x: Any) -> Any:
    """Return the logarithm of x to base 10."""


@_in_kernels_only
def raw_div(a: Number, b: Number) -> Number:
    """Return the quotient a / b. That of integers is rounded towards 0 as in C."""


@_in_kernels_only
def raw_mod(a: Number, b: Number) -> Number:
    """Return the remainder of integers, with the sign of a as in C."""


@_in_kernels_only
def popcnt(x: Number) -> Number:
    """Return the number of bits that are set."""


@_in_kernels_only
def clz(x: Number) -> Number:
    """Return the number of zero bits above the highest bit that is set."""


@_in_kernels_only
def ffs(x: Number) -> Number:
    """Return 1 + the number of the lowest bit that is set, or 0 for 0."""


# Vectors and matrices.


@_in_kernels_only
def dot(a: Vector[N, T], b: Vector[N, T]) -> T:
    """Return the sum of the products of the components."""


@overload
def cross(a: Vector[Literal[3], T], b: Vector[Literal[3], T]) -> Vector[Literal[3], T]: ...
@overload
def cross(a: Vector[Literal[2], T], b: Vector[Literal[2], T]) -> T: ...
@_in_kernels_only
def cross(a: Any, b: Any) -> Any:
    """Return the cross product of vectors of 3 components; of 2 components its third one, a number."""


@_in_kernels_only
def outer(a: Vector[N, T], b: Vector[M, T]) -> Matrix[N, M, T]:
    """Return the matrix of all products of components."""


@_in_kernels_only
def norm(a: Vector[Any, Any]) -> float:
    """Return the Euclidean length."""


@_in_kernels_only
def length(a: Vector[Any, Any]) -> float:
    """Return the Euclidean length."""


@_in_kernels_only
def normalized(a: Vector[N, T]) -> Vector[N, T]:
    """Return the vector times the reciprocal of its length."""


@_in_kernels_only
def normalize(a: Vector[N, T]) -> Vector[N, T]:
    """Return the vector times the reciprocal of its length."""


@_in_kernels_only
def reflect(a: Vector[N, T], normal: Vector[N, T]) -> Vector[N, T]:
    """Return a - 2 (a . n) n."""


@_in_kernels_only
def distance(a: Vector[N, T], b: Vector[N, T]) -> float:
    """Return the length of a - b."""


@_in_kernels_only
def transpose(m: Matrix[N, M, T]) -> Matrix[M, N, T]:
    """Return the transposed matrix."""


@_in_kernels_only
def determinant(m: Matrix[N, N, T]) -> T:
    """Return the determinant of a matrix up to 4 x 4."""


@_in_kernels_only
def inverse(m: Matrix[N, N, T]) -> Matrix[N, N, T]:
    """Return the inverse of a matrix up to 4 x 4."""


@_in_kernels_only
def trace(m: Matrix[N, N, T]) -> T:
    """Return the sum of the diagonal."""


# Atomics. Each returns the previous value of the place. Other threads see the place before or after, not in between.


@_in_kernels_only
def atomic_add(place: Number, value: AnyNumber) -> Number:
    """Execute `place += value` atomically; return the previous value."""


@_in_kernels_only
def atomic_sub(place: Number, value: AnyNumber) -> Number:
    """Execute `place -= value` atomically; return the previous value."""


@_in_kernels_only
def atomic_mul(place: Number, value: AnyNumber) -> Number:
    """Execute `place *= value` atomically; return the previous value."""


@_in_kernels_only
def atomic_min(place: Number, value: AnyNumber) -> Number:
    """Execute `place = min(place, value)` atomically; return the previous value."""


@_in_kernels_only
def atomic_max(place: Number, value: AnyNumber) -> Number:
    """Execute `place = max(place, value)` atomically; return the previous value."""


@_in_kernels_only
def atomic_and(place: Number, value: AnyNumber) -> Number:
    """Execute `place &= value` atomically; return the previous value."""


@_in_kernels_only
def atomic_or(place: Number, value: AnyNumber) -> Number:
    """Execute `place |= value` atomically; return the previous value."""


@_in_kernels_only
def atomic_xor(place: Number, value: AnyNumber) -> Number:
    """Execute `place ^= value` atomically; return the previous value."""


@_in_kernels_only
def atomic_exchange(place: Number, value: AnyNumber) -> Number:
    """Execute `place = value` atomically; return the previous value."""


@_in_kernels_only
def atomic_cas(place: Number, compare: AnyNumber, value: AnyNumber) -> Number:
    """Execute `place = value` atomically if the place equals `compare`; return the previous value."""


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
    replace_grad: "replace_grad",
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
