# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels that are methods: of `self`, arrays are arguments that come with each call, all else is part of the code.

A call looks at the members of its object that the kernel uses, and takes the kernel that was made for what they are.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import threading
import types
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from cuda_graphs.compiler.annotations import Fixed, NDArray, OwnMethod, Record
from cuda_graphs.compiler.frontend.source import Source
from cuda_graphs.compiler.signature import declared
from cuda_graphs.kernels.constants import frozen
from cuda_graphs.kernels.function import KernelFunction, kernel_of
from cuda_graphs.kernels.options import Options

__all__ = ["BoundGradient", "BoundKernel", "KernelMethod"]

ARRAYS = ("__cuda_array_interface__", "__array_interface__", "__dlpack__")
DEPTH = 8  # of members that have members


class KernelMethod:
    """A kernel in a class: `obj.name` is what can be called."""

    __name__: str
    __qualname__: str

    def __init__(self, function: Callable[..., Any], options: Options) -> None:
        functools.update_wrapper(self, function)
        declared(function, {"self": None})  # says at once what is wrong
        self.function, self.options = function, options
        self.known: dict[Any, KernelFunction] = {}
        self.lock = threading.Lock()
        self.uses: dict[type, Uses] = {}

    def __get__(self, owner: Any, cls: type) -> Any:
        return self if owner is None else BoundKernel(self, owner)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        raise TypeError(
            f"{self.__name__}() is a kernel in a class: call it as a method of an object, obj.{self.__name__}(...)"
        )

    def of(self, owner: Any) -> KernelFunction:
        """The kernel for an object as it is now."""
        cls = type(owner)
        uses = self.uses.get(cls)
        if uses is None or not uses.hold(cls):
            uses = self.uses[cls] = uses_of(self.function, cls)
        record = record_of(owner, vars(owner) if uses.names is None else uses.names)
        key = key_of(record), uses.functions
        with self.lock:
            found = self.known.get(key)
            if found is None:
                found = self.known[key] = kernel_of(self.function, self.options, {"self": record})
        return found

    def __cuda_graph_emit__(self, node: Any, args: Sequence[Any]) -> Any:
        self(*args)

    def forget(self) -> None:
        """Forget what was compiled, for all objects."""
        with self.lock:
            self.known.clear()

    def __repr__(self) -> str:
        return f"<kernel {self.__qualname__}, made for {len(self.known)} kinds of objects>"


class BoundKernel:
    """A kernel with its object. It is called, compiled, inspected and added to graphs as a KernelFunction."""

    def __init__(self, method: KernelMethod, owner: Any) -> None:
        if not has_members(owner):
            raise TypeError(
                f"{type(owner).__name__} has the kernel {method.__name__}(): decorate the class with @cg.data_oriented"
            )
        self.method, self.owner, self.__name__ = method, owner, method.__name__

    def __call__(self, *args: Any, stream: Any = None, **keywords: Any) -> Any:
        return self.method.of(self.owner)(self.owner, *args, stream=stream, **keywords)

    def resume(self, *args: Any, from_checkpoint: int, **keywords: Any) -> Any:
        """Call it so that it goes on at a checkpoint."""
        kernel = self.method.of(self.owner)
        return kernel.resume(self.owner, *args, from_checkpoint=from_checkpoint, **keywords)

    def compile(self, *args: Any, **keywords: Any) -> None:
        """Compile for the types of these arguments, as a call does; nothing runs."""
        self.method.of(self.owner).compile(self.owner, *args, **keywords)

    def inspect(self, *args: Any, **keywords: Any) -> Any:
        """An Inspection of the specialisation for these arguments."""
        return self.method.of(self.owner).inspect(self.owner, *args, **keywords)

    def graph(self, *args: Any, **keywords: Any) -> Any:
        """A GraphDef with the nodes of a call."""
        return self.method.of(self.owner).graph(self.owner, *args, **keywords)

    def explain(self, *args: Any, **keywords: Any) -> Any:
        """An Explanation of calls with arguments of these types."""
        return self.method.of(self.owner).explain(self.owner, *args, **keywords)

    def forget(self) -> None:
        """Drop its graphs and code for objects like this one, as a KernelFunction does."""
        self.method.of(self.owner).forget()

    @property
    def grad(self) -> BoundGradient:
        """The gradient of the kernel for the object as it is now."""
        return BoundGradient(self.method, self.owner)

    @property
    def grad_stats(self) -> Any:
        """GradStats of the gradient for the object as it is now."""
        return self.method.of(self.owner).grad_stats

    @property
    def graph_stats(self) -> Any:
        """GraphStats of the graph kernel for the object as it is now."""
        return self.method.of(self.owner).graph_stats

    def __cuda_graph_emit__(self, node: Any, args: Sequence[Any]) -> Any:
        return self.method.of(self.owner).__cuda_graph_emit__(node, (self.owner, *args))

    def __cuda_graph_kernel__(self, config: Any, args: Sequence[Any]) -> Any:
        return self.method.of(self.owner).__cuda_graph_kernel__(config, (self.owner, *args))

    def __repr__(self) -> str:
        return f"<{self.method!r} of {self.owner!r}>"


class BoundGradient(BoundKernel):
    """The gradient of a kernel with its object: called without it, as the kernel is."""

    def __call__(self, *args: Any, stream: Any = None, **keywords: Any) -> Any:
        return self.method.of(self.owner).grad(self.owner, *args, stream=stream, **keywords)

    def compile(self, *args: Any, **keywords: Any) -> None:
        """Compile for the types of these arguments, as a call does; nothing runs."""
        self.method.of(self.owner).grad.compile(self.owner, *args, **keywords)

    def inspect(self, *args: Any, **keywords: Any) -> Any:
        """An Inspection of the specialisation for these arguments."""
        return self.method.of(self.owner).grad.inspect(self.owner, *args, **keywords)

    @property
    def grad(self) -> BoundGradient:
        """AttributeError: there are no second derivatives."""
        raise AttributeError(
            f"the gradient of {self.__name__} has no gradient: there are no second derivatives"
        )

    def __cuda_graph_emit__(self, node: Any, args: Sequence[Any]) -> Any:
        return self.method.of(self.owner).grad.__cuda_graph_emit__(node, (self.owner, *args))

    def __cuda_graph_kernel__(self, config: Any, args: Sequence[Any]) -> Any:
        return self.method.of(self.owner).grad.__cuda_graph_kernel__(config, (self.owner, *args))


def has_members(value: Any) -> bool:
    """Whether a value is taken apart: an object of a data_oriented class, or of a dataclass."""
    cls = type(value)
    return hasattr(cls, "__cuda_graphs_data_oriented__") or dataclasses.is_dataclass(cls)


def is_array(value: Any) -> bool:
    """Whether it is an array whose address comes with each call. Scalars of NumPy are numbers, fields are constants."""
    if isinstance(value, (type, np.generic)) or hasattr(value, "__cuda_graphs_field__"):
        return False
    return any(hasattr(value, each) for each in ARRAYS)


def record_of(owner: Any, names: Iterable[str], depth: int = DEPTH) -> Record:
    """The members of these names, and those that methods among them name. A function of the language that the class
    has is no member: it is inlined."""
    members, waiting, done = [], list(names), set()
    while waiting:
        name = waiting.pop(0)
        value = getattr(owner, name, MISSING)
        if name in done or value is MISSING or isinstance(value, BoundKernel) or is_of_class(owner, name):
            continue
        done.add(name)
        value, methods = with_own_methods(value, owner)
        for each in methods:
            used = uses_of(each, type(owner)).names
            waiting += vars(owner) if used is None else used
        members.append((name, member_of(value, depth)))
    return Record(type(owner), tuple(members))


def is_of_class(owner: Any, name: str) -> bool:
    """Returns True for the name of a function of the language that the class of an object has."""
    return name not in getattr(owner, "__dict__", ()) and is_func(getattr(type(owner), name, None))


def with_own_methods(value: Any, owner: Any) -> tuple[Any, list[Callable[..., Any]]]:
    """A value with an OwnMethod in the place of each method of the language that is bound to `owner`, in lists, tuples
    and dicts too; and the functions of these."""
    if isinstance(value, types.MethodType) and value.__self__ is owner and is_func(value):
        function: Any = value.__func__
        return OwnMethod(function.__cuda_graphs_func__), [function.__cuda_graphs_func__]
    if type(value) not in (list, tuple, dict):
        return value, []
    parts = [with_own_methods(each, owner) for each in (value.values() if type(value) is dict else value)]
    functions = [function for _, found in parts for function in found]
    if not functions:
        return value, []
    made = [each for each, _ in parts]
    return dict(zip(value, made, strict=True)) if type(value) is dict else type(value)(made), functions


MISSING = object()


def member_of(value: Any, depth: int) -> Any:
    """The annotation of a member."""
    if is_array(value):
        return NDArray()
    return record_of(value, vars(value), depth - 1) if has_members(value) and depth else Fixed(value)


def is_func(value: Any) -> bool:
    """Whether it is a function of the language, or a method that is one."""
    return hasattr(value, "__cuda_graphs_func__")


def key_of(record: Record) -> Any:
    """Something hashable, equal for objects that make the same kernel."""
    members = [(name, member_key(member)) for name, member in record.members]
    return record.cls, tuple(members)


def member_key(member: Any) -> Any:
    if isinstance(member, Record):
        return key_of(member)
    return frozen(member.value) if isinstance(member, Fixed) else member


@dataclasses.dataclass(frozen=True)
class Uses:
    """What the kernels of a class name: members of `self`, and the functions that were looked through for it."""

    names: tuple[str, ...] | None  # None: `self` is handed on, and all that it has may be used
    functions: tuple[Callable[..., Any], ...]

    def hold(self, cls: type) -> bool:
        """Whether the class still has these functions."""
        return all(getattr(cls, each.__name__, None) is each for each in self.functions)


def uses_of(function: Callable[..., Any], cls: type) -> Uses:
    """Those of a kernel and of the methods that it calls, at any depth."""
    found: dict[str, None] = {}
    functions: list[Callable[..., Any]] = []
    waiting, whole = [function], False
    while waiting:
        names = names_of(waiting.pop())
        whole = whole or names is None
        for name in dir(cls) if names is None else names:
            method: Any = getattr(cls, name, None)
            if is_func(method) and method not in functions:
                functions.append(method)
                waiting.append(method.__cuda_graphs_func__)
            found[name] = None
    return Uses(None if whole else tuple(sorted(found)), tuple(functions))


def names_of(function: Callable[..., Any]) -> set[str] | None:
    """The members that one method names; None where it hands on `self`."""
    if function not in known_names:
        known_names[function] = look_for_names(function)
    return known_names[function]


known_names: weakref.WeakKeyDictionary[Callable[..., Any], set[str] | None] = weakref.WeakKeyDictionary()


def look_for_names(function: Callable[..., Any]) -> set[str] | None:
    code = function.__code__
    if not code.co_argcount:
        return set()
    nodes = list(ast.walk(Source(function).tree))
    owners = {id(node.value): node.attr for node in nodes if isinstance(node, ast.Attribute)}
    uses = [id(node) for node in nodes if isinstance(node, ast.Name) and node.id == code.co_varnames[0]]
    return {owners[each] for each in uses} if all(each in owners for each in uses) else None
