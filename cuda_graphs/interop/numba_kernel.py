# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of numba-cuda: functions with `numba.cuda.jit`.

An argument becomes several parameters, which depend on its Numba type. An array becomes:

    meminfo, parent   pointers of Numba's own memory management: 0
    nitems, itemsize  64-bit integers
    data              the address
    shape, strides    a 64-bit integer for each dimension; strides in bytes

A complex number becomes its two parts, a tuple its elements. Numba does not guarantee this layout ("the Numba
ABI is not considered stable"). Therefore it is compared with the parameter sizes that the driver reports
before any launch.

The adapter uses `compile`, `overloads`, `typeof_pyval` and `py_func` of the dispatcher. From a compiled
overload it uses `library.get_cufunc().kernel`, a kernel of cuda.core with a `handle`. Numba documents no way
to the handle: this way works in numba-cuda 0.30.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from cuda_graphs.graph.operands.condition import Condition
from cuda_graphs.graph.operands.parameter import Parameter
from cuda_graphs.objects.code.kernel import Kernel
from cuda_graphs.objects.code.launch_config import LaunchConfig

from .adapted import Adapted, address_of, checked_view, cooperative, needs_shared

__all__ = ["numba"]

# (value, bytes) of one parameter of the compiled kernel
Part = tuple[Any, int]


def numba(kernel: Any) -> Adapted:
    """Return a kernel of `numba.cuda.jit` for nodes and launches, compiled for the types of its arguments.

    Numbers may be named parameters of a graph. Errors that Numba's `debug=True` detects are not reported.

    Raises:
        TypeError: It is not a kernel of numba.cuda.jit.
    """
    if not all(hasattr(kernel, name) for name in ("typeof_pyval", "overloads", "compile", "py_func")):
        raise TypeError(f"numba() takes a kernel of numba.cuda.jit, got {type(kernel).__name__}")
    return NumbaKernel(kernel, kernel.py_func.__name__)


class NumbaKernel(Adapted):
    library = "numba"

    def _launch(
        self, config: LaunchConfig, args: tuple[Any, ...]
    ) -> tuple[LaunchConfig, Kernel, tuple[Any, ...]]:
        if getattr(self.kernel, "extensions", ()):
            raise TypeError(
                f"{self!r} has extensions, which change the arguments of each launch: the arguments of a node are fixed"
            )
        names = list(inspect.signature(self.kernel.py_func).parameters)
        if len(args) != len(names):
            raise TypeError(f"{self!r} takes {len(names)} arguments ({', '.join(names)}), got {len(args)}")
        given = tuple(self._type(name, value) for name, value in zip(names, args))
        types, compiled = self._compiled(given)
        kernel = Kernel.from_handle(int(compiled.library.get_cufunc().kernel.handle), owner=compiled)
        parts = [part for n, t, v in zip(names, types, args) for part in flatten(t, v, f"argument {n!r}")]
        self._check(kernel, parts)
        if getattr(compiled, "cooperative", False):
            config = cooperative(config)
        needs_shared(kernel, config.shmem_size, config.shmem_size)
        return config, kernel, tuple(value for value, _ in parts)

    def _type(self, name: str, value: Any) -> Any:
        if isinstance(value, (Parameter, Condition)):
            value = sample(value, f"argument {name!r}")
        try:
            return self.kernel.typeof_pyval(value)
        except ValueError as error:
            raise TypeError(f"argument {name!r} of {self!r}: {error}") from error

    def _compiled(self, types: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any]:
        """Return the compiled types and the code: for these types, or for declared types that accept them."""
        overloads = self.kernel.overloads
        try:
            compiled = overloads[types] if types in overloads else self.kernel.compile(types)
        except RuntimeError:  # types were declared, so no others are compiled
            known = overloads.items()
        else:  # some versions return the declared overload
            known = [(tuple(compiled.signature.args), compiled)]
        for declared, compiled in known:
            if len(declared) == len(types) and all(
                accepts(have, want) for have, want in zip(types, declared)
            ):
                return declared, compiled
        given = ", ".join(map(str, types))
        listed = "; ".join(", ".join(map(str, declared)) for declared, _ in known)
        raise TypeError(f"{self!r} is not compiled for ({given}), only for ({listed})")

    def _check(self, kernel: Kernel, parts: list[Part]) -> None:
        wanted, found = [size for _, size in parts], [each.size for each in kernel.arguments_info]
        if wanted != found:
            raise TypeError(
                f"{self!r} has parameters of {found} bytes, but its arguments have {wanted}: this version of "
                "numba-cuda does not pass arguments as 0.30 does, which the adapter supports; launch it on a "
                "captured stream"
            )


# Sample values by the type of a named parameter: Numba gives the sample the same type.
SAMPLES = {
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "u8": np.uint8, "u16": np.uint16,
    "u32": np.uint32, "u64": np.uint64, "f16": np.float16, "f32": np.float32, "f64": np.float64, "bool": np.bool_,
}  # fmt: skip


def sample(value: Any, what: str) -> Any:
    """Return a value of the Numba type of a named parameter or condition."""
    if isinstance(value, Condition):
        return np.uint64(0)
    if value.type not in SAMPLES:
        raise TypeError(
            f"{what} is {value!r}: for Numba a named parameter must be a number, since an array is more than "
            "an address"
        )
    return SAMPLES[value.type](0)


def flatten(type_: Any, value: Any, what: str) -> Iterator[Part]:
    """Yield the parameters that one argument becomes."""
    for cls in type(type_).__mro__:
        if cls.__name__ in RULES:
            yield from RULES[cls.__name__](type_, value, what)
            return
    raise TypeError(f"{what} has the Numba type {type_}: nodes take numbers, arrays and tuples of them")


def array(type_: Any, value: Any, what: str) -> Iterator[Part]:
    view = checked_view(value, what)
    if view is None or len(view.shape) != type_.ndim:
        raise TypeError(f"{what} takes {type_}, got {value!r}")
    for word in (0, 0, math.prod(view.shape), view.itemsize):
        yield word, 8
    yield address_of(view.address, value), 8
    for word in (*view.shape, *view.strides):
        yield word, 8


def integer(type_: Any, value: Any, what: str) -> Iterator[Part]:
    if not isinstance(value, (Parameter, Condition)):
        value, bits = int(value), type_.bitwidth - type_.signed
        if not -(1 << bits) * type_.signed <= value < 1 << bits:
            raise OverflowError(f"{what} takes {type_}, got {value}")
    yield value, type_.bitwidth // 8


def real(type_: Any, value: Any, what: str) -> Iterator[Part]:
    if not isinstance(value, Parameter):
        value = float(value) if type_.bitwidth > 16 else np.float16(value)
    yield value, type_.bitwidth // 8


def boolean(_type: Any, value: Any, what: str) -> Iterator[Part]:
    yield value if isinstance(value, Parameter) else int(bool(value)), 1


def complex_number(type_: Any, value: Any, what: str) -> Iterator[Part]:
    value = complex(value)
    yield value.real, type_.bitwidth // 16
    yield value.imag, type_.bitwidth // 16


def elements(type_: Any, value: Any, what: str) -> Iterator[Part]:
    for i, (each, part) in enumerate(zip(type_.types, value, strict=True)):
        yield from flatten(each, part, f"{what}[{i}]")


# Converters by the class name of a Numba type.
RULES: dict[str, Callable[[Any, Any, str], Iterator[Part]]] = {
    "Array": array, "Integer": integer, "Float": real, "Boolean": boolean, "Complex": complex_number,
    "BaseTuple": elements,
}  # fmt: skip

# The kinds of parameters that accept a number of one kind.
WIDER = {
    "Boolean": ("Boolean", "Integer", "Float"),
    "Integer": ("Integer", "Float", "Complex"),
    "Float": ("Float", "Complex"),
    "Complex": ("Complex",),
}


def accepts(have: Any, want: Any) -> bool:
    """Return True when a parameter of type `want` accepts an argument of type `have`."""
    if have == want:
        return True
    kind, wanted = type(have).__name__, type(want).__name__
    if kind == wanted == "Array":
        same = (have.dtype, have.ndim) == (want.dtype, want.ndim)
        return same and want.layout in ("A", have.layout) and (have.mutable or not want.mutable)
    if hasattr(have, "types") and hasattr(want, "types"):  # tuples
        return len(have.types) == len(want.types) and all(map(accepts, have.types, want.types))
    return wanted in WIDER.get(kind, ())
