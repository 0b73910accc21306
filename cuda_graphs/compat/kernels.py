# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels: `kernel` of the peers, whose options come from the last `init` before the first call."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import cuda_graphs as cg
from cuda_graphs.compiler.frontend.returns import returned_types
from cuda_graphs.compiler.language import graph_flow
from cuda_graphs.compiler.language.number_rules import peer_rules

from .elements import result
from .program import Settings, settings, wait

__all__ = ["Kernel", "data_oriented", "func", "kernel", "pyfunc", "real_func"]

MOST_CALLS = 64  # calls of a real function inside one another
IGNORED = ("pure", "fastcache")  # options of the peers' kernels without a meaning here
FLOW = {*graph_flow.__all__, "do_while"}  # the words of control flow between tasks


class Kernel:
    """A kernel of the library, which is made at the first use."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.function, self.options = function, options
        self.made: Any = None
        self.settings: Settings | None = None

    def library_kernel(self) -> Any:
        """Return the kernel of the library for the options of `init`."""
        now = settings()
        if self.settings is not now and self.settings != now:
            with peer_rules():
                self.made = cg.kernel(self.function, **{**now.options(), **self.used_options()})
            self.settings = now
        return self.made

    def used_options(self) -> dict[str, Any]:
        """Return the options of `cg.kernel`. A kernel that returns a value is no graph, as its calls wait for it."""
        needs_graph = FLOW & set(self.function.__code__.co_names)
        if needs_graph or returned_types(self.function) is None:
            return self.options
        return {**self.options, "graph": False}

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return finished(self.library_kernel()(*args, **keywords))

    def forget(self) -> None:
        """Drop the compiled code."""
        if self.made is not None:
            self.made.forget()

    def __get__(self, owner: Any, cls: type | None = None) -> Any:
        return self if owner is None else BoundKernel(self.library_kernel().__get__(owner, cls))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__wrapped"):
            raise AttributeError(name)
        return member_of(self.library_kernel(), name)


class BoundKernel:
    """A kernel of an object."""

    __cuda_graphs_bound_kernel__ = True

    def __init__(self, bound: Any) -> None:
        self.bound = bound

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return finished(self.bound(*args, **keywords))

    def __getattr__(self, name: str) -> Any:
        return member_of(self.bound, name)


def finished(found: Any) -> Any:
    """Return the result of a call, after the wait where the program could see that the call returned early."""
    wait()
    return result(found)


def member_of(kernel: Any, name: str) -> Any:
    """Return a member of a kernel of the library. Calls of its gradient wait as those of the kernel do."""
    found = getattr(kernel, name)
    return (lambda *args, **keywords: finished(found(*args, **keywords))) if name == "grad" else found


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Decorates a function that runs on the device. Options are those of `cg.kernel`."""
    options = {name: value for name, value in options.items() if name not in IGNORED}
    if function is None:
        return functools.partial(kernel, **options)
    return Kernel(function, options)


def pyfunc(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a function for kernels and for the host. It stays a function of Python, which kernels inline."""
    return function


def real_func(function: Callable[..., Any]) -> Any:
    """Decorates a function that is compiled once for each signature. It may call itself, MOST_CALLS levels deep."""
    return cg.func(function, inline=False, max_depth=MOST_CALLS)


func = cg.func
data_oriented = cg.data_oriented
