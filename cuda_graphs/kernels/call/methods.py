# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels that are methods: arrays of `self` are arguments of each call, all other members are constants of the code.
A class method has the attributes of its class as constants.

A call reads the members of its object that the kernel uses, and selects the kernel for these members. If guards of an
earlier call hold (member_guards.pyx), it takes the kernel of that call.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from cuda_graphs.compiler.language.annotations import template
from cuda_graphs.compiler.language.signature import declared
from cuda_graphs.kernels.specialisation.constants import data_of, freeze
from cuda_graphs.kernels.specialisation.options import Options

from .function import KernelFunction
from .kernel_factory import kernel_of
from .member_guards import Choices
from .member_uses import MemberUses, uses_of
from .members import guarded_record, has_members, key_of

__all__ = ["BoundGradient", "BoundKernel", "ClassKernel", "KernelMethod"]


class KernelMethod:
    """A kernel in a class. `obj.name` returns a BoundKernel, which can be called."""

    __name__: str
    __qualname__: str
    first: Mapping[str, Any] = MappingProxyType(
        {"self": None}
    )  # the first parameter, which has no annotation

    def __init__(self, function: Callable[..., Any], options: Options) -> None:
        functools.update_wrapper(self, function)
        declared(function, self.first)  # reports wrong declarations at once
        self.function, self.options = function, options
        self.kernels: dict[Any, KernelFunction] = {}
        self.choices = Choices()
        self.lock = threading.Lock()
        self.uses: dict[type, MemberUses] = {}

    def __get__(self, owner: Any, cls: type) -> Any:
        return self if owner is None else BoundKernel(self, owner)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        raise TypeError(
            f"{self.__name__}() is a kernel in a class: call it as a method of an object, obj.{self.__name__}(...)"
        )

    def of(self, owner: Any) -> KernelFunction:
        """Return the kernel for the current members of an object."""
        found = self.choices.find((owner,))
        return self.choose(owner) if found is None else found

    def choose(self, owner: Any) -> KernelFunction:
        """Return the kernel for an object that has other members than those of the last calls."""
        cls = type(owner)
        uses = self.uses.get(cls)
        if uses is None or not uses.hold(cls):
            uses = self.uses[cls] = uses_of(self.function, cls)
        guard = guarded_record(owner, uses.names)
        record = guard.annotation
        key = key_of(record), uses.functions
        with self.lock:
            found = self.kernels.get(key)
            if found is None:
                found = self.kernels[key] = kernel_of(
                    self.function, self.options, {"self": record}, takes_outside=True
                )
        functions = [(cls, each.__name__, each) for each in uses.functions]
        self.choices.add((owner,), (guard,), found, functions)
        if key not in self.kernels:  # another thread called `forget` meanwhile
            self.choices.forget()
        return found

    def __cuda_graph_emit__(self, node: Any, args: Sequence[Any]) -> Any:
        self(*args)

    def forget(self) -> None:
        """Drop the compiled code for all objects."""
        with self.lock:
            self.kernels.clear()
            self.choices.forget()

    def __repr__(self) -> str:
        return f"<kernel {self.__qualname__}, made for {len(self.kernels)} kinds of objects>"


class ClassKernel(KernelMethod):
    """A kernel that is a class method. The class is a constant of the code, with the values of its attributes."""

    first = MappingProxyType({"cls": template})

    def __get__(self, owner: Any, cls: type) -> Any:
        return BoundKernel(self, cls)

    def __getattr__(self, name: str) -> Any:
        """Raise the error of Python, and say what to do if a class method lacks the class."""
        remedy = ": Python 3.13 does not tell it the class. Write @cg.kernel above @classmethod"
        known = not name.startswith("__") and hasattr(BoundKernel, name)
        raise AttributeError(
            f"{type(self).__name__!r} object has no attribute {name!r}{remedy if known else ''}"
        )

    def __call__(self, cls: type, *args: Any, **keywords: Any) -> Any:
        return BoundKernel(self, cls)(*args, **keywords)

    def of(self, owner: Any) -> KernelFunction:
        """Return the kernel for the current attributes of a class."""
        key = owner, tuple([(name, freeze(getattr(owner, name, None))) for name in data_of(owner)])
        with self.lock:
            if key not in self.kernels:
                self.kernels[key] = kernel_of(self.function, self.options, self.first, takes_outside=True)
            return self.kernels[key]


class BoundKernel:
    """A kernel bound to an object or a class. It has the methods of a KernelFunction, without the first argument."""

    __cuda_graphs_bound_kernel__ = True
    _takes_places = True

    def __init__(self, method: KernelMethod, owner: Any) -> None:
        if not (isinstance(owner, type) or has_members(owner)):
            raise TypeError(
                f"{type(owner).__name__} has the kernel {method.__name__}(): decorate the class with @cg.data_oriented"
            )
        self.method, self.owner, self.__name__ = method, owner, method.__name__

    def __call__(self, *args: Any, stream: Any = None, **keywords: Any) -> Any:
        return self.method.of(self.owner)(self.owner, *args, stream=stream, **keywords)

    def resume(self, *args: Any, from_checkpoint: int, **keywords: Any) -> Any:
        """Call the kernel, and skip the work before a checkpoint."""
        kernel = self.method.of(self.owner)
        return kernel.resume(self.owner, *args, from_checkpoint=from_checkpoint, **keywords)

    def compile(self, *args: Any, **keywords: Any) -> None:
        """Compile for the types of these arguments, as a call does, without running the kernel."""
        self.method.of(self.owner).compile(self.owner, *args, **keywords)

    def inspect(self, *args: Any, **keywords: Any) -> Any:
        """Return an Inspection of the specialisation for these arguments."""
        return self.method.of(self.owner).inspect(self.owner, *args, **keywords)

    def graph(self, *args: Any, **keywords: Any) -> Any:
        """Return a GraphDef with the nodes of a call."""
        return self.method.of(self.owner).graph(self.owner, *args, **keywords)

    def explain(self, *args: Any, **keywords: Any) -> Any:
        """Return an Explanation of calls with arguments of these types."""
        return self.method.of(self.owner).explain(self.owner, *args, **keywords)

    def forget(self) -> None:
        """Drop the graphs and code for objects with the same members, as KernelFunction.forget does."""
        self.method.of(self.owner).forget()

    @property
    def grad(self) -> BoundGradient:
        """The gradient of the kernel, bound to the object."""
        return BoundGradient(self.method, self.owner)

    @property
    def grad_stats(self) -> Any:
        """The GradStats of the gradient for the current members of the object."""
        return self.method.of(self.owner).grad_stats

    @property
    def graph_stats(self) -> Any:
        """The GraphStats of the graph kernel for the current members of the object."""
        return self.method.of(self.owner).graph_stats

    def __cuda_graph_emit__(self, node: Any, args: Sequence[Any]) -> Any:
        return self.method.of(self.owner).__cuda_graph_emit__(node, (self.owner, *args))

    def __cuda_graph_kernel__(self, config: Any, args: Sequence[Any]) -> Any:
        return self.method.of(self.owner).__cuda_graph_kernel__(config, (self.owner, *args))

    def __repr__(self) -> str:
        return f"<{self.method!r} of {self.owner!r}>"


class BoundGradient(BoundKernel):
    """The gradient of a kernel, bound to an object. Calls omit the argument for `self`."""

    def __call__(self, *args: Any, stream: Any = None, **keywords: Any) -> Any:
        return self.method.of(self.owner).grad(self.owner, *args, stream=stream, **keywords)

    def compile(self, *args: Any, **keywords: Any) -> None:
        """Compile for the types of these arguments, as a call does, without running the kernel."""
        self.method.of(self.owner).grad.compile(self.owner, *args, **keywords)

    def inspect(self, *args: Any, **keywords: Any) -> Any:
        """Return an Inspection of the specialisation for these arguments."""
        return self.method.of(self.owner).grad.inspect(self.owner, *args, **keywords)

    @property
    def grad(self) -> BoundGradient:
        """Raise AttributeError: second derivatives come from a FwdMode."""
        raise AttributeError(
            f"the gradient of {self.__name__} has no gradient: call it in a cg.ad.FwdMode for second derivatives"
        )

    def __cuda_graph_emit__(self, node: Any, args: Sequence[Any]) -> Any:
        return self.method.of(self.owner).grad.__cuda_graph_emit__(node, (self.owner, *args))

    def __cuda_graph_kernel__(self, config: Any, args: Sequence[Any]) -> Any:
        return self.method.of(self.owner).grad.__cuda_graph_kernel__(config, (self.owner, *args))
