# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What to write in place of Python that kernels do not have, as tables: the remedies of errors."""

from __future__ import annotations

import builtins
from typing import Any

from .values import Struct, Vector

__all__ = [
    "NAMES",
    "SYNTAX",
    "remedy_of_array_member",
    "remedy_of_call",
    "remedy_of_number",
    "remedy_of_operand",
]

# The names of classes of Python's syntax trees, as users know them.
NAMES = {
    "Try": "try", "Raise": "raise", "ClassDef": "class", "Import": "import", "ImportFrom": "import",
    "Delete": "del", "Yield": "yield", "YieldFrom": "yield from", "Global": "global", "Nonlocal": "nonlocal",
    "Match": "match", "With": "with",
    "AsyncFunctionDef": "async def", "AsyncWith": "async with", "AsyncFor": "async for",
    "Await": "await", "Set": "a set", "SetComp": "a set comprehension",
    "Starred": "*", "keyword": "**", "JoinedStr": "an f-string outside print and assert", "Slice": "a slice",
}  # fmt: skip
SYNTAX = {
    "Try": "check the condition with if", "Raise": "use assert", "ClassDef": "define the class outside of the kernel",
    "Import": "import outside of the kernel", "ImportFrom": "import outside of the kernel",
    "Delete": "leave it out: a name ends with its block", "Yield": "write the values to an array",
    "YieldFrom": "write the values to an array", "Global": "write to an array or a cg.field",
    "Nonlocal": "return the value, and assign it in the function around", "Match": "write if and elif",
    "With": "write the statements without with: only cg.graph_parallel, graph_section and checkpoint are contexts",
    "AsyncFunctionDef": "write def", "AsyncWith": "write the statements without with", "AsyncFor": "write for",
    "Await": "call the function without await", "Set": "use a tuple", "SetComp": "use a list: [f(i) for i in range(3)]",
    "Starred": "write each of them", "keyword": "write each of them",
    "JoinedStr": "write it in print or in the message of an assert", "Slice": "write a loop over the indices",
}  # fmt: skip

IN_STATIC = "a kernel knows types when it is compiled: write it in cg.static(...)"
TEXT = "text is for print and assert: write the values in print(...), or in the message of an assert"
INDEX = "write a loop over the indices: for i in range(x.shape[0])"
# Functions and types of Python, by name.
BUILTINS = {
    "isinstance": IN_STATIC, "issubclass": IN_STATIC, "hasattr": IN_STATIC, "type": IN_STATIC, "callable": IN_STATIC,
    "getattr": "write the name: x.name; cg.static(getattr(x, name)) takes a name that is known when compiling",
    "setattr": "write x.name = value",
    "sorted": "sort an array before the call, or compare in a loop: min(a, b), max(a, b)",
    "list": "write a list or a tuple of the items, [v.x, v.y]; arrays are made outside of the kernel",
    "tuple": "write a tuple of the items, (v.x, v.y), or (*v,)",
    "dict": "write {'a': x}, or use a dataclass", "set": "use a tuple, and `in`", "frozenset": "use a tuple, and `in`",
    "str": TEXT, "repr": TEXT, "format": TEXT, "ascii": TEXT, "chr": TEXT, "hex": TEXT, "bin": TEXT, "oct": TEXT,
    "bytes": "use an array of cg.u8", "bytearray": "use an array of cg.u8", "memoryview": "use an array of cg.u8",
    "ord": "write cg.static(ord('a'))", "complex": "kernels create no objects, and have no complex numbers: use a "
    "cg.vec2 of the real and the imaginary part",
    "map": "write a comprehension: [f(a) for a in v]", "filter": "write a loop with an if",
    "iter": INDEX, "next": INDEX, "slice": INDEX,
    "divmod": "write a // b and a % b", "hash": "compute the number before the call, and pass it",
    "id": "compute the number before the call, and pass it", "input": "read it before the call, and pass it",
    "open": "read the file before the call, and pass an array", "super": "write the name of the class",
    "eval": "write the expression", "exec": "write the statements", "object": "use a dataclass",
    "vars": IN_STATIC, "dir": IN_STATIC, "globals": "write the name of the global", "locals": "write the name",
}  # fmt: skip

# Functions of NumPy, by name, whose counterpart has another name here.
NUMPY = {
    "maximum": "write max(a, b)", "minimum": "write min(a, b)", "absolute": "write abs(a)", "fabs": "write abs(a)",
    "where": "write a if condition else b, or cg.select(condition, a, b)", "array": "write cg.vector(a, b, c)",
    "asarray": "write cg.vector(a, b, c)", "power": "write a ** b", "float_power": "write a ** b",
    "remainder": "write a % b", "floor_divide": "write a // b", "clip": "write min(max(a, low), high)",
    "sum": "add in a loop: for i in x: total += x[i]; v.sum() is the sum of a vector",
    "mean": "add in a loop, and divide by x.shape[0]", "prod": "multiply in a loop",
    "max": "take max(a, b) in a loop, or v.max() of a vector",
    "min": "take min(a, b) in a loop, or v.min() of a vector",
    "amax": "take max(a, b) in a loop, or v.max() of a vector",
    "amin": "take min(a, b) in a loop, or v.min() of a vector",
    "matmul": "write a @ b", "inv": "write m.inverse()", "det": "write m.determinant()",
    "arctan2": "write cg.atan2(a, b)",
    "arcsin": "write cg.asin(a)", "arccos": "write cg.acos(a)", "arctan": "write cg.atan(a)",
    "stack": "write cg.vector(v, w), whose rows are the vectors", "concatenate": "write cg.vector(*v, *w)",
}  # fmt: skip

# Functions of Python's math, by name, that the language lacks.
MATH = {
    "hypot": "write cg.sqrt(a * a + b * b)", "cbrt": "write cg.sign(a) * abs(a) ** (1 / 3)",
    "log1p": "write cg.log(1 + a)", "expm1": "write cg.exp(a) - 1",
    "copysign": "write abs(a) if b >= 0 else -abs(a)",
    "fmod": "write a - cg.trunc(a / b) * b", "remainder": "write a - cg.round(a / b) * b",
    "isfinite": "write not (cg.isnan(a) or cg.isinf(a))", "ldexp": "write a * 2.0 ** n",
    "modf": "write a - cg.trunc(a), and cg.trunc(a)",
    "asinh": "write cg.log(a + cg.sqrt(a * a + 1))", "acosh": "write cg.log(a + cg.sqrt(a * a - 1))",
    "atanh": "write cg.log((1 + a) / (1 - a)) / 2", "dist": "write cg.distance(v, w)", "prod": "multiply in a loop",
    "fsum": "add in a loop, in f64", "gcd": "write a loop: while b != 0: a, b = b, a % b",
    "isqrt": "write cg.i32(cg.sqrt(a))", "isclose": "write abs(a - b) <= tolerance",
}  # fmt: skip

# Members of arrays of NumPy.
ARRAY = {
    "ndim": "write len(x.shape)", "size": "multiply the extents: x.shape[0] * x.shape[1]",
    "T": "exchange the indices: x[j, i]", "transpose": "exchange the indices: x[j, i]",
    "sum": "add in a loop: for i in x: total += x[i]", "mean": "add in a loop, and divide by x.shape[0]",
    "max": "take max in a loop, or cg.atomic_max", "min": "take min in a loop, or cg.atomic_min",
    "copy": "write a loop: for i in x: y[i] = x[i]",
    "astype": "cast an element: cg.cast(x[i], cg.f32)", "reshape": "reshape it before the call, or compute the index",
    "ravel": "reshape it before the call, or compute the index",
    "flatten": "reshape it before the call, or compute the index",
    "dot": "multiply and add in a loop", "append": "arrays keep their length: write x[k] = value",
    "to_numpy": "read it outside of the kernel", "from_numpy": "write it outside of the kernel",
}  # fmt: skip


def remedy_of_call(name: str, function: Any) -> str:
    """Return what to write in place of a call of something that kernels cannot call."""
    own_name = getattr(function, "__name__", "")
    if own_name in BUILTINS and function is getattr(builtins, own_name):
        return BUILTINS[own_name]
    if isinstance(getattr(function, "__self__", None), str):
        return TEXT if function.__name__ == "format" else f"{TEXT}, or cg.static({name}(...)) of constants"
    if isinstance(getattr(function, "__self__", None), dict):
        return "a dict keeps its items: make another one, {**d, key: value}"
    if (getattr(function, "__module__", None) or "").startswith("cuda_graphs."):
        return "call it outside of the kernel, and pass what it makes as an argument"
    if isinstance(function, type):
        return "kernels create no objects: make it outside and pass it as an argument, or use variables for its members"
    return "call it in cg.static(...) to run it when compiling"


def remedy_of_number(found: Any) -> str:
    """Return what to write where a number is needed in place of another value."""
    if isinstance(found, complex):
        return "kernels have no complex numbers: use a cg.vec2 of the real and the imaginary part"
    if found is None:
        return "assign a number, such as 0"
    if isinstance(found, str):
        return TEXT
    if isinstance(found, Struct):
        return f"take a member of it: {', '.join(f'.{name}' for name in found.members)}"
    if isinstance(found, Vector):
        return "take a component, v.x, or for a condition v.any() or v.all()"
    return "take one element of it, or a component: x[i], v.x"


def remedy_of_operand(symbol: str, found: Any) -> str:
    """Return what to write in place of an operation with a value that is no number."""
    if isinstance(found, complex):
        return remedy_of_number(found)
    if found is None:
        return "write `x is None`: whether it is None is known when compiling"
    if isinstance(found, str):
        return f"{TEXT}; cg.static(...) takes text that is known when compiling"
    if isinstance(found, tuple) and symbol == "*":
        return "lists have lengths that are known when compiling, [0] * 12: use an array for others"
    return "write it in cg.static(...), if all of it is known when compiling"


def remedy_of_array_member(name: str) -> str:
    """Return what to write in place of a member that arrays of NumPy have."""
    return ARRAY.get(name, "it has shape, dtype, grad and fill")
