# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The declared types of a function's parameters, and their specialisation for given arguments."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from cuda_graphs.compiler.errors import CompileNameError, CompileSyntaxError, CompileTypeError, compile_error
from cuda_graphs.compiler.ir.ir import Loc
from cuda_graphs.compiler.ir.types import BY_DTYPE, SCALARS, ScalarType, bf16, pointer

from .annotations import (
    ArraySpec,
    ConditionSpec,
    FieldSpec,
    HostObjectSpec,
    NDArray,
    OutsideName,
    PackedSpec,
    ScalarSpec,
    Spec,
    StaticSpec,
    StructArraySpec,
    StructSpec,
    Template,
    Tensor,
    VectorSpec,
    VectorType,
)
from .host_objects import is_host_object
from .number_rules import USUAL, NumberRules
from .structs import is_struct, member_type, normal_annotation, struct_dtype, struct_members

__all__ = [
    "declared",
    "has_gradient",
    "is_method",
    "names_gradients",
    "resolve",
    "specialise",
    "struct_array_spec",
]


def resolve(annotation: Any, function: Callable[..., Any], rules: NumberRules = USUAL) -> Any:
    """Return the object that an annotation names. Strings are evaluated; Python's number types become scalar types."""
    if isinstance(annotation, str):
        annotation = evaluate_annotation(annotation, function)
    return normal_annotation(annotation, rules)


def evaluate_annotation(text: str, function: Callable[..., Any]) -> Any:
    """Return the value of an annotation given as a string. Raises a CompileError if Python cannot evaluate it."""
    try:
        cells = {
            n: c.cell_contents for n, c in zip(function.__code__.co_freevars, function.__closure__ or ())
        }
        return eval(text, {**function.__globals__, **cells})
    except Exception as error:
        kind = CompileNameError if isinstance(error, NameError) else CompileTypeError
        raise compile_error(
            kind, location_of(function),
            f"the annotation {text!r} of {function.__name__}: {type(error).__name__}: {error}",
            "check that Python can evaluate it where the function is defined",
        ) from error  # fmt: skip


def location_of(function: Callable[..., Any]) -> Loc:
    """Return the position of the first line of a function."""
    code = function.__code__
    return Loc(code.co_filename, code.co_firstlineno, 0, 0, function.__name__)


def declared(
    function: Callable[..., Any], known: Mapping[str, Any] | None = None, rules: NumberRules = USUAL
) -> dict[str, Any]:
    """Return the annotation of each parameter of a kernel. `known` holds annotations that the source lacks."""
    loc = location_of(function)
    found = {}
    for parameter in inspect.signature(function).parameters.values():
        name = parameter.name
        if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD:
            raise compile_error(CompileSyntaxError, loc,
                       f"kernels take no {parameter.kind.description} parameters: {name!r}",
                       "give each parameter a name of its own")  # fmt: skip
        if parameter.default is not parameter.empty:
            raise compile_error(CompileSyntaxError, loc, f"parameters of kernels have no defaults: {name!r}",
                       "pass the value in the call")  # fmt: skip
        if known is not None and name in known:
            found[name] = known[name]
            continue
        if parameter.annotation is parameter.empty:
            raise compile_error(CompileSyntaxError, loc,
                       f"parameter {name!r} of kernel {function.__name__} has no annotation",
                       f"declare its type: {name}: cg.f32, cg.Array1[cg.f32], cg.template, ...")  # fmt: skip
        annotation = resolve(parameter.annotation, function, rules)
        check_annotation(annotation, f"parameter {name!r}", loc)
        found[name] = annotation
    outside = {name: each for name, each in (known or {}).items() if isinstance(name, OutsideName)}
    return found | outside


def is_method(function: Callable[..., Any], owner_name: str = "self") -> bool:
    """Return whether a function is defined in a class and takes its `self`, or its `cls`, without an annotation."""
    owner = function.__qualname__.rpartition(".")[0]
    first = next(iter(inspect.signature(function).parameters.values()), None)
    if first is None or first.name != owner_name or first.annotation is not first.empty:
        return False
    return bool(owner) and not owner.endswith("<locals>")


def check_annotation(annotation: Any, what: str, loc: Loc) -> None:
    """Raise for an annotation that cannot declare a parameter, at any depth of dataclasses."""
    if (
        is_template(annotation)
        or is_condition(annotation)
        or is_host_object(annotation)
        or annotation is Tensor
        or isinstance(annotation, (ScalarType, NDArray, VectorType))
    ):
        if annotation == pointer:
            raise compile_error(
                CompileTypeError, loc, f"{what} is a pointer", "declare an array: cg.Array1[cg.f32]"
            )
        return
    if dataclasses.is_dataclass(annotation):
        for each in dataclasses.fields(annotation):
            kind = member_type(annotation, each)
            check_annotation(kind, f"{what}, member {each.name!r}", loc)
        return
    remedy = "take cg.f32 and the like, cg.Array1[cg.f32], cg.template, a vector type or a dataclass"
    raise compile_error(
        CompileTypeError, loc, f"{what} is declared as {annotation!r}, which kernels do not take", remedy
    )


def is_template(annotation: Any) -> bool:
    return annotation is Template or isinstance(annotation, Template)


def is_condition(annotation: Any) -> bool:
    """Return whether an annotation is cg.Condition, the class of the conditions of graphs."""
    return isinstance(annotation, type) and getattr(annotation, "__cuda_graphs_condition__", False) is True


def specialise(function: Callable[..., Any], arguments: Mapping[str, Any]) -> dict[str, Spec]:
    """Return the Spec of each parameter in the specialisation for these arguments."""
    return {name: spec(annotation, arguments[name], name) for name, annotation in declared(function).items()}


def spec(annotation: Any, value: Any, path: str) -> Spec:
    """Return the Spec of one parameter, or member of a parameter, with its value."""
    if isinstance(annotation, ScalarType):
        return ScalarSpec(annotation)
    if isinstance(annotation, VectorType):
        return VectorSpec(annotation)
    if is_condition(annotation):
        return ConditionSpec()
    if is_host_object(annotation):
        return HostObjectSpec(annotation)
    field = getattr(value, "__cuda_graphs_field__", None)
    if isinstance(annotation, NDArray) and annotation.struct is not None:
        return struct_array_spec(value, path)
    if isinstance(annotation, NDArray) or (annotation is Tensor and field is None):
        if value is None and isinstance(annotation, NDArray) and annotation.optional:
            return StaticSpec(None)
        return array_spec(annotation if isinstance(annotation, NDArray) else NDArray(), value, path)
    if is_template(annotation) or annotation is Tensor:
        return StaticSpec(value) if field is None else field
    if not isinstance(value, annotation):
        raise TypeError(f"{path} takes a {annotation.__name__}, not a {type(value).__name__}")
    members = dataclasses.fields(annotation)
    return StructSpec(
        annotation,
        tuple(
            (m.name, spec(member_type(annotation, m), getattr(value, m.name), f"{path}.{m.name}"))
            for m in members
        ),
    )


def names_gradients(function: Callable[..., Any]) -> bool:
    """Return whether a kernel may name gradients of its parameters, as in x.grad[i]. Calls then pass gradients too."""
    return "grad" in function.__code__.co_names


def has_gradient(spec: Spec) -> bool:
    """Return whether a parameter contains an array with a gradient."""
    if isinstance(spec, PackedSpec):
        return spec.array.needs_grad
    if isinstance(spec, (StructSpec, StructArraySpec)):
        return any(has_gradient(member) for _, member in spec.members)
    return isinstance(spec, (ArraySpec, FieldSpec)) and spec.needs_grad


def array_spec(annotation: NDArray, value: Any, path: str) -> ArraySpec:
    """Return the Spec of an array argument.

    The array has a `dtype` (a scalar type or NumPy's) and a `shape`. If its elements are not scalars, `element_shape`
    is their shape.
    """
    if not hasattr(value, "dtype") or not hasattr(value, "shape"):
        raise TypeError(f"{path} takes an array, not a {type(value).__name__}")
    dtype = value.dtype if isinstance(value.dtype, ScalarType) else scalar_of(value.dtype)
    if dtype is None:
        raise TypeError(
            f"{path}: arrays of {value.dtype} are not taken; convert it to one of {', '.join(SCALARS)}"
        )
    shape = tuple(value.shape)
    inner = tuple(getattr(value, "element_shape", shape[max(len(shape) - len(annotation.inner), 0) :]))
    if hasattr(value, "element_shape"):  # ours: its shape excludes the elements' dimensions
        shape += inner
    if annotation.dtype is not None and annotation.dtype != dtype:
        raise TypeError(f"{path} takes elements of {annotation.dtype}, not {dtype}")
    if annotation.dtype is not None and annotation.inner != inner:
        raise ValueError(
            f"{path} takes elements of shape {annotation.inner}, not {inner}, in an array of {shape}"
        )
    if annotation.inner and len(annotation.inner) != len(inner):
        raise ValueError(
            f"{path} takes elements with {len(annotation.inner)} dimensions, not elements of shape {inner}"
        )
    ndim = len(shape) - len(inner)
    if annotation.ndim is not None and annotation.ndim != ndim:
        raise ValueError(f"{path} takes {annotation.ndim} dimensions, not {ndim}")
    has_grad = bool(getattr(value, "needs_grad", False))
    if annotation.needs_grad and not has_grad:
        raise TypeError(f"{path} takes an array that has a gradient: make it with needs_grad=True")
    has_dual = bool(getattr(value, "needs_dual", False))
    blocked = annotation.needs_grad is False
    return ArraySpec(dtype, ndim, inner, has_grad and not blocked, has_dual and not blocked)


def scalar_of(dtype: Any) -> ScalarType | None:
    """Return the scalar type of a type of NumPy. `ml_dtypes` has the type of bf16, which NumPy knows by name only."""
    if getattr(dtype, "name", "") == "bfloat16":
        return bf16
    return BY_DTYPE.get(getattr(dtype, "str", ""))


def struct_array_spec(value: Any, path: str, start: int = 0) -> StructArraySpec:
    """Return the Spec of an array of structures, which has a `cls`, a `layout`, and `members`: {name: array}.

    Args:
        start: The bytes from the beginning of an element to this structure, which may be nested.
    """
    kinds, places = struct_members(value.cls), struct_dtype(value.cls).fields
    assert places is not None
    found = []
    for name, kind in kinds.items():
        member, offset = value.members[name], start + places[name][1]
        found.append((name, member_spec(kind, member, f"{path}.{name}", value.layout, offset)))
    return StructArraySpec(value.cls, tuple(found))


def member_spec(kind: Any, member: Any, path: str, layout: str, offset: int) -> Any:
    """Return the Spec of one member of an array of structures."""
    if is_struct(kind):
        return struct_array_spec(member, path, offset)
    scalar, shape = (kind.dtype, kind.shape) if isinstance(kind, VectorType) else (kind, ())
    field = getattr(member, "__cuda_graphs_field__", None)
    if layout == "soa":
        return field or array_spec(NDArray(scalar, None, shape), member, path)
    return PackedSpec(field or array_spec(NDArray(scalar), member, path), offset // scalar.size, shape)
