# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Values of names and expressions other than scalars: compile-time values, and composites of scalars."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import ScalarType
from cuda_graphs.compiler.records import entity, record


@record
class Vector:
    """A small vector. Each component is a Value, or a Local if it is a variable. A matrix is a Vector of rows.

    numbers  the components row by row, if all of them are numbers of the source, so that their type is weak
    """

    components: tuple[Any, ...]
    numbers: tuple[Any, ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        first = self.components[0]
        return (len(self.components), *(first.shape if isinstance(first, Vector) else ()))

    def map(self, function: Callable[..., Any], *others: Any) -> Vector:
        """Return the vector of a function's results on all components, with those of others. Scalars are repeated."""

        def part(other: Any, i: int) -> Any:
            return other.components[i] if isinstance(other, Vector) else other

        def apply(i: int, component: Any) -> Any:
            rest = [part(other, i) for other in others]
            return (
                component.map(function, *rest)
                if isinstance(component, Vector)
                else function(component, *rest)
            )

        return Vector(tuple(apply(i, component) for i, component in enumerate(self.components)))

    def leaves(self) -> list[Any]:
        """Return all scalars, row by row."""
        return [leaf for c in self.components for leaf in (c.leaves() if isinstance(c, Vector) else [c])]


@record
class Struct:
    """An instance of a dataclass: its members by name."""

    cls: type
    members: dict[str, Any]

    def map(self, function: Callable[[Any], Any]) -> Struct:
        """Return the structure of a function's results on the members that are values or places. Others stay."""

        def apply(member: Any) -> Any:
            return function(member) if isinstance(member, PLACES) else member

        return Struct(self.cls, {name: apply(member) for name, member in self.members.items()})


@record
class StructArray:
    """An array of structures: an ir.Array, a Packed or a StructArray for each member."""

    cls: type
    members: dict[str, Any]


@record
class Packed:
    """A member of an array of structures whose members are not apart: a part of the last axis of an array."""

    array: ir.Array
    offset: int
    shape: tuple[int, ...]


@record
class Element:
    """A place in an array, which can be read and assigned to."""

    array: ir.Array
    index: tuple[ir.Value, ...]


@record
class VectorElement:
    """An element of an array of vectors, with the places of its components."""

    elements: Vector


@record
class Component:
    """A component of a vector of variables or values, at an index that is known at run time only.

    parts  what the index chooses from: Values, Locals, or Components of the rows of a matrix
    """

    parts: tuple[Any, ...]
    index: ir.Value

    def leaf(self) -> Any:
        """Return the first of the scalars that the index chooses from."""
        first = self.parts[0]
        return first.leaf() if isinstance(first, Component) else first


@record
class HostObject:
    """A parameter that is an object of the host, with the numbers that are its attributes."""

    path: str
    cls: type
    numbers: tuple[tuple[str, ir.Param], ...] = ()


@record
class HostMember:
    """A method of such an object."""

    owner: HostObject
    name: str


# Assignments to a name that is bound to one of these are stored there.
VARIABLES = (ir.Local, Vector, Struct, Element, VectorElement, Component)
# Members of a Struct that change at run time. Others are arrays, conditions and compile-time values.
PLACES = (ir.Value, *VARIABLES)


@record
class Stride:
    """The loop variable of a range whose step is known only at run time.

    The axis counts iterations. The loop variable, of type `type`, is `begin` plus that many steps. Both are i64, and
    their low bits wrap around as those of `type` do.
    """

    begin: ir.Value
    step: ir.Value
    type: ScalarType


@record
class RunTimeSlice:
    """A slice of a vector whose beginning is known at run time only: `v[n : n + 3]`."""

    begin: ir.Value
    count: int


@record
class Bounds:
    """The bounds of a slice of an array. None: from the first element on, or up to the last."""

    begin: Any
    end: Any


@record
class ArrayPart:
    """A part of an array, which slices name: `x[a:b, k]`.

    index  for each axis a Value, or the Bounds of a slice, both of them Values
    """

    array: ir.Array
    index: tuple[Any, ...]

    @property
    def ndim(self) -> int:
        """The number of slices, also in cg.static."""
        return sum(isinstance(each, Bounds) for each in self.index)


@record
class IndexRange:
    """A range to iterate over.

    axes       (begin, end, step) of each axis
    grouped    the loop variable is one index vector
    block_dim  threads of a block of cg.blocks
    stride     how the loop variable follows from the only axis
    order      the numbers of the axes from the outermost to the innermost loop, if not that of `axes`
    is_point   the indices of an array without dimensions: one iteration, whose index is ()
    """

    axes: tuple[tuple[ir.Value, ir.Value, int], ...]
    grouped: bool = False
    block_dim: int | None = None
    stride: Stride | None = None
    order: tuple[int, ...] | None = None
    is_point: bool = False


@record
class Static:
    """The operand of `cg.static`: a Python value, or an iterable at compile time."""

    value: Any


@record
class Computed:
    """The result of arithmetic on numbers of the source.

    exact     Python's result, for conversions
    constant  makes the constant of the op table for all other uses: an i32 that wraps, or an f32
    loses     the constant has fewer bits than the exact result, and its operands have all of theirs
    """

    exact: int | float
    constant: Callable[[], Any]
    loses: bool = False


@record
class Bound:
    """A method of a value: `x.dot`."""

    owner: Any
    name: str


@record
class ListName:
    """A name of a list of the kernel, whose methods change it.

    scope  the scope of the name
    """

    name: str
    scope: Any


@entity
class BoundFunction:
    """A function of the language that is a method of a structure: `self.area`."""

    function: Callable[..., Any]
    owner: Struct


@entity
class LocalFunction:
    """A lambda or function that a kernel defines: it sees the names of the block around its definition.

    source  the source of the function around it
    scope   the scope of its definition
    """

    tree: ast.FunctionDef
    signature: inspect.Signature
    source: Any
    scope: Any

    @property
    def __name__(self) -> str:  # as functions have
        return self.tree.name


@record
class TypeOf:
    """A scalar type as a callable: `cg.f32(x)`."""

    type: ScalarType


SIZES = ("n", "m")  # the numbers of rows and of columns, as members of vectors and matrices


def size_of(shape: tuple[int, ...], name: str) -> int:
    """Return the number of rows `n` or of columns `m`. A vector is one column."""
    return (*shape, 1)[SIZES.index(name)]


class KnownArray:
    """An array as a compile-time Python object: the type of its elements, its number of dimensions, and its extents.

    Vectors and matrices as elements have numbers of rows `n` and columns `m`. Only the extents of a field are known.
    `array` is the array in the kernel.
    """

    def __init__(self, array: ir.Array, shape: tuple[int, ...] | None = None) -> None:
        self.array, self.dtype = array, array.element
        outer = array.ndim - len(array.inner)
        shape = array.shape if shape is None else shape
        self.shape = Extents([None] * outer if shape is None else shape[:outer])
        self.shape.path = array.path
        for name in SIZES if array.inner else ():
            setattr(self, name, size_of(array.inner, name))

    def __getitem__(self, index: Any) -> Any:
        raise ValueError(f"elements of {self.array.path!r} are known at run time only")

    def __len__(self) -> int:
        return int(self.shape[0])

    def __bool__(self) -> bool:
        return True  # without a look at the length


class KnownVector:
    """A vector or matrix as a compile-time Python object: its numbers of rows `n` and columns `m`.

    `vector` is the vector in the kernel.
    """

    def __init__(self, vector: Vector) -> None:
        self.vector = vector
        for name in SIZES:
            setattr(self, name, size_of(vector.shape, name))

    def __len__(self) -> int:
        return len(self.vector.components)


# Python's errors name the classes of the objects in cg.static.
KnownArray.__name__, KnownVector.__name__ = "array", "vector"


class RunTimePart:
    """A value that only the running kernel has, as a part of a tuple or list in cg.static. Python passes it on."""

    def __init__(self, found: Any) -> None:
        self.found = found

    def refuse(self, *_: Any) -> Any:
        raise ValueError("a value that is known at run time only takes part in the expression")

    __bool__ = __eq__ = __hash__ = __lt__ = __gt__ = __le__ = __ge__ = __index__ = refuse


class Extents(tuple[Any, ...]):
    """A shape. For an array that comes with each call, only the length of the shape is known."""

    path: str

    def __getitem__(self, lvalue: Any) -> Any:
        found = super().__getitem__(lvalue)
        if found is None or (isinstance(found, tuple) and None in found):
            raise ValueError(f"the extents of {self.path!r} are known at run time only")
        return found

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(len(self))])


def describe(found: Any) -> str:
    """Return the description of a compile-time object for messages."""
    if isinstance(found, ir.Array):
        return f"the array {found.path!r}"
    if isinstance(found, ir.Condition):
        return f"the condition {found.name!r}"
    if isinstance(found, ir.Param):
        return f"the parameter {found.path!r}"
    if isinstance(found, (ir.Value, ir.Local)):
        return f"a number of type {found.type}"
    if type(found).__name__ in NOUNS:
        return NOUNS[type(found).__name__].format(found)
    name = getattr(found, "__name__", None)
    kind = type(found).__name__
    return f"{kind} {name}" if name else f"{'an' if kind[0] in 'aeio' else 'a'} {kind}"


# Names of the frontend's own classes in messages.
NOUNS = {
    "StructArray": "an array of {0.cls.__name__}", "Packed": "a member of an array",
    "ArrayPart": "a part of {0.array.path!r}",
    "Vector": "a vector", "VectorElement": "a vector", "Struct": "a {0.cls.__name__}",
    "Element": "an element of {0.array.path!r}", "Component": "a component of a vector",
    "IndexRange": "a range", "Bound": "the method {0.name!r}", "TypeOf": "the type {0.type}", "Static": "a cg.static",
    "ListName": "a list",
    "HostObject": "{0.path}, a {0.cls.__name__}", "HostMember": "the method {0.name!r}",
    "ScalarType": "the type {0}", "VectorType": "the type {0}", "Computed": "a number",
    "NoneType": "None", "tuple": "a tuple", "LocalFunction": "the function {0.tree.name}",
}  # fmt: skip
