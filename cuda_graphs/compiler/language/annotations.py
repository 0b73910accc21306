# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The annotations of kernel parameters, and the types of the parameters in one specialisation.

An annotation of the source becomes a Spec when the arguments are known (signature.py). A specialisation consists of a
kernel's function and the Spec of each parameter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, is_dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from cuda_graphs.compiler.ir.types import PYTHON, ScalarType, f32, pointer

from .host_vectors import HostVector, host_vector

__all__ = [
    "ArraySpec", "Captured", "ConditionSpec", "FieldSpec", "Fixed", "HostObjectSpec", "NDArray", "OutsideName",
    "OwnMethod", "PackedSpec", "Record", "ScalarSpec", "Spec", "StaticSpec", "StructArraySpec", "StructSpec",
    "Template", "Tensor", "VectorSpec", "VectorType", "data_oriented", "mat", "mat2", "mat3", "mat4", "ndarray",
    "template", "vec", "vec2", "vec3", "vec4",
]  # fmt: skip


@dataclass(frozen=True)
class Captured:
    """Stands for an array or a Parameter that a function captures by reference: the kernel has it as a parameter."""

    parameter: str


class OutsideName(str):
    """The name of a parameter that stands for an array, or for an object with arrays, from outside of a kernel.

    `path` is its name or path in `function`, which is the kernel or a function that the kernel calls.
    """

    function: Callable[..., Any]
    path: str

    def __new__(cls, name: str, function: Callable[..., Any], path: str) -> OutsideName:
        made = super().__new__(cls, name)
        made.function, made.path = function, path
        return made


@dataclass(frozen=True)
class VectorType:
    """The type of small vectors, of shape (n,), and matrices, (rows, columns). They are values: copied when passed.

    A call makes a vector from all components, from rows, from another vector, or from one number that fills all
    components. On the host it is a HostVector.

    If it is open, a parameter or result of a function takes vectors of this shape with any components, as they are. In
    all other places the components are floats of the default type.
    """

    dtype: ScalarType
    shape: tuple[int, ...]
    is_open: bool = False

    def __call__(self, *args: Any) -> HostVector:
        return host_vector(self.dtype, self.shape, *args)

    def __getitem__(self, dtype: Any) -> VectorType:
        """Return the type of the same shape with other components: `vec3[f64]`."""
        return VectorType(number_type(dtype), self.shape)

    def __repr__(self) -> str:
        return f"{'vec' if len(self.shape) == 1 else 'mat'}({', '.join(map(str, self.shape))}, {self.dtype})"


def vec(n: int, dtype: ScalarType | None = f32) -> VectorType:
    """Return the type of vectors of `n` components. None: of any type in functions, floats elsewhere (`VectorType`).

    Raises:
        TypeError: `n` is not an int, or `dtype` is not a number type.
        ValueError: `n` is less than 1.
    """
    return vector_type(dtype, (extent(n),))


def mat(rows: int, columns: int, dtype: ScalarType | None = f32) -> VectorType:
    """Return the type of matrices. In kernels `cg.mat([[a, b], [c, d]])` is a matrix. See `vec` for the dtype None.

    Raises:
        TypeError: `rows` or `columns` is not an int, or `dtype` is not a number type.
        ValueError: `rows` or `columns` is less than 1.
    """
    return vector_type(dtype, (extent(rows), extent(columns)))


def vector_type(dtype: Any, shape: tuple[int, ...]) -> VectorType:
    """Return the type of vectors or matrices of a shape; an open one for the dtype None."""
    return VectorType(f32, shape, is_open=True) if dtype is None else VectorType(number_type(dtype), shape)


def extent(n: Any) -> int:
    """Return `n` as a valid number of components along one dimension, or raise."""
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)):
        raise TypeError(f"vectors have a number of components that is an int, not {n!r}")
    if n < 1:
        raise ValueError(f"vectors have at least one component, not {n}")
    return int(n)


def number_type(dtype: Any) -> ScalarType:
    """Return the ScalarType of a number type: one of ours, or its counterpart in Python or NumPy."""
    found = PYTHON.get(dtype, dtype) if isinstance(dtype, type) else dtype
    if not isinstance(found, ScalarType) or found == pointer:
        raise TypeError(f"elements are of cg.f32, cg.i32 and the like, float or np.float32, not {dtype!r}")
    return found


vec2, vec3, vec4 = vec(2), vec(3), vec(4)
mat2, mat3, mat4 = mat(2, 2), mat(3, 3), mat(4, 4)


@dataclass(frozen=True)
class NDArray:
    """The annotation of an array parameter. None leaves a property open.

    inner       the shape of one element, if elements are vectors. Without a dtype the extents are None, and any fit
    struct      the dataclass, if elements are structures
    needs_grad  False: the array never takes part in gradients; True: an array without a gradient is refused
    """

    dtype: ScalarType | None = None
    ndim: int | None = None
    inner: tuple[Any, ...] = ()
    optional: bool = False  # the argument may be None, which is a compile-time value then
    needs_grad: bool | None = None
    struct: type | None = None

    def __class_getitem__(cls, item: Any) -> NDArray:
        """Return `ndarray(f32, 2)` for `NDArray[f32, 2]`."""
        return ndarray(*item) if isinstance(item, tuple) else ndarray(item)

    def __getitem__(self, element: Any) -> NDArray:
        """Return the annotation with an element type: `Array2[f32]` is `ndarray(f32, ndim=2)`.

        Raises:
            TypeError: `element` is not an element type, or the annotation has one already.
        """
        if self.dtype is not None or self.struct is not None:
            raise TypeError(f"{self!r} has an element type, so it takes no other one: {element!r}")
        if isinstance(element, tuple):
            raise TypeError(
                f"cg.Array and cg.Array0 to cg.Array4 take one element type, not {element!r}: the rank is in the name, "
                "as in cg.Array2[cg.f32]. For another rank write cg.types.ndarray(cg.f32, ndim=5)"
            )
        if element is None:
            raise TypeError("elements are of cg.f32, cg.i32 and the like, vectors or a dataclass, not None")
        found = ndarray(element, self.ndim, needs_grad=self.needs_grad)
        return replace(found, optional=self.optional)

    @property
    def __cuda_graph_array_type__(self) -> tuple[str, int, tuple[int, ...]]:
        """The element type's name, the number of indices and the shape of an element, for parameters of graphs."""
        if self.dtype is None or self.ndim is None or self.optional or self.needs_grad or self.struct:
            raise TypeError(
                f"{self!r} is not a type of parameters of graphs: their arrays have a dtype and an ndim, are not "
                "None, and take no part in gradients. Write cg.Array1[cg.f32]"
            )
        return self.dtype.name, self.ndim, self.inner

    def __or__(self, other: Any) -> NDArray:
        """Return the optional annotation `ndarray(f32) | None`."""
        return replace(self, optional=True) if other is None else NotImplemented

    def __repr__(self) -> str:
        """Return the annotation as the source spells it: "ndarray(f32, ndim=1)"."""
        element: Any = (
            VectorType(self.dtype, self.inner) if self.dtype is not None and self.inner else self.dtype
        )
        if self.struct is not None:
            element = NamedClass(self.struct)
        said = {"ndim": self.ndim, "needs_grad": self.needs_grad}
        if self.dtype is None and self.inner:
            said["element_dim"] = len(self.inner)
        parts = [repr(element)] * (element is not None) + [
            f"{k}={v}" for k, v in said.items() if v is not None
        ]
        return f"ndarray({', '.join(parts)}){' | None' if self.optional else ''}"


class NamedClass(NamedTuple):
    """A class whose repr is its name."""

    cls: type

    def __repr__(self) -> str:
        return self.cls.__name__


class Tensor:
    """The annotation of a parameter that takes a field (as cg.template does) or an array (as ndarray() does)."""


def ndarray(
    dtype: ScalarType | VectorType | type | None = None,
    ndim: int | None = None,
    *,
    needs_grad: bool | None = None,
    element_dim: int = 0,
) -> NDArray:
    """Return the annotation of an array of `dtype` with `ndim` indices. A missing property accepts any argument.

    The elements of an array are numbers, vectors, or instances of a dataclass. `element_dim` is for arrays without a
    `dtype`: the elements are vectors (1) or matrices (2) of any extents, the last dimensions of an array of NumPy.

    With `needs_grad=False`, gradients of the kernel ignore the array. With True, only arrays that have a gradient are
    accepted.

    Raises:
        TypeError: `dtype` is not an element type, `ndim` is not an int, or both `dtype` and `element_dim` are given.
        ValueError: `ndim` is negative, or `element_dim` is not 0, 1 or 2.
    """
    if element_dim not in (0, 1, 2):
        raise ValueError(
            f"element_dim is 0 for numbers, 1 for vectors or 2 for matrices, not {element_dim!r}"
        )
    if element_dim and dtype is not None:
        raise TypeError(
            f"element_dim={element_dim} is for arrays of any type: give dtype=cg.vec3 or the like instead"
        )
    if ndim is not None and (isinstance(ndim, bool) or not isinstance(ndim, (int, np.integer))):
        raise TypeError(f"ndim is a number of indices, not {ndim!r}")
    if ndim is not None and ndim < 0:
        raise ValueError(f"ndim is 0 or more, not {ndim}")
    if isinstance(dtype, VectorType):
        return NDArray(dtype.dtype, ndim, dtype.shape, needs_grad=needs_grad)
    if isinstance(dtype, type) and is_dataclass(dtype):
        return NDArray(None, ndim, needs_grad=needs_grad, struct=dtype)
    element = None if dtype is None else number_type(dtype)
    return NDArray(element, ndim, (None,) * element_dim, needs_grad=needs_grad)


@dataclass(frozen=True)
class Fixed:
    """The annotation of a member of `self` whose value is compiled into the code."""

    value: Any


@dataclass(frozen=True)
class Record:
    """The annotation of `self` in a method, or of a member of `self` that has members or items.

    `members` holds (name, annotation) of each member that the kernel uses, or (key, annotation) of each item of a list,
    tuple or dict.
    """

    cls: type
    members: tuple[tuple[str, Any], ...]


class OwnMethod(NamedTuple):
    """A member of `self`, or a part of one, that is a function of the language bound to the same `self`."""

    function: Callable[..., Any]


class Template:
    """The annotation of a compile-time parameter: each value has its own specialisation."""


template = Template


C = TypeVar("C", bound=type)


def data_oriented(cls: C) -> C:
    """Allow the methods of a class to be kernels, `@kernel def step(self, ...)`; return the class.

    Arrays in `self` are arguments that come with each call. All other members that the kernel uses are constants: the
    kernel is compiled again when one of them has changed.

    Raises:
        TypeError: `cls` is not a class.
    """
    if not isinstance(cls, type):
        raise TypeError(f"@data_oriented takes a class, got {cls!r}")
    cls.__cuda_graphs_data_oriented__ = True  # type: ignore[attr-defined]
    return cls


@dataclass(frozen=True)
class ScalarSpec:
    """A number, passed by value."""

    type: ScalarType


@dataclass(frozen=True)
class ArraySpec:
    """An array whose address and extents come with each call."""

    dtype: ScalarType
    ndim: int
    inner: tuple[int, ...] = ()
    needs_grad: bool = False
    needs_dual: bool = False


@dataclass(frozen=True)
class FieldSpec:
    """An array whose extents are known at compile time. `name` distinguishes the fields of one kernel.

    `offset` is the first index of each dimension; None: zeros.
    """

    name: str
    dtype: ScalarType
    shape: tuple[int, ...]
    inner: tuple[int, ...] = ()
    needs_grad: bool = False
    needs_dual: bool = False
    offset: tuple[int, ...] | None = None


@dataclass(frozen=True)
class VectorSpec:
    """A small vector or matrix, passed by value."""

    type: VectorType


@dataclass(frozen=True)
class StructSpec:
    """A dataclass instance, passed member by member: (name, spec) in order. For a list, tuple or dict, the items."""

    cls: type
    members: tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class PackedSpec:
    """A member in the layout "aos": its components follow one another at `offset` along the last axis of an array."""

    array: ArraySpec | FieldSpec
    offset: int
    shape: tuple[int, ...]  # () for a number


@dataclass(frozen=True)
class StructArraySpec:
    """An array of structures: (name, Spec) of each member in order. Those of nested structures are StructArraySpecs."""

    cls: type
    members: tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class ConditionSpec:
    """A condition of a graph, whose handle comes with each node."""


@dataclass(frozen=True)
class HostObjectSpec:
    """An object of the host (host_objects.py), which comes with each call."""

    cls: type


@dataclass(frozen=True)
class StaticSpec:
    """A value that is known at compile time."""

    value: Any


Spec = (
    ScalarSpec
    | VectorSpec
    | ArraySpec
    | FieldSpec
    | PackedSpec
    | StructArraySpec
    | StructSpec
    | ConditionSpec
    | HostObjectSpec
    | StaticSpec
)
