# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The origins of compiled kernels: which task of which Specialisation a Kernel is, and how to compile it again.

A saved graph carries the code of a kernel for drivers other than the one that it was built on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakValueDictionary

from cuda_graphs.compiler.artifact import Artifact
from cuda_graphs.compiler.cache.artifact_cache import cached_compile

if TYPE_CHECKING:
    from cuda_graphs.objects.code.kernel import Kernel

    from .specialisation import Specialisation

__all__ = ["Recipe", "origin_of", "record"]


class Recipe(NamedTuple):
    """The input of the compiler for a Specialisation, apart from the target.

    Attributes:
        function: The function of the kernel.
        signature: The description of each argument, by parameter name.
        debug: Whether asserts are kept.
        fast_math: Whether contraction and reassociation are allowed.
        options: Keywords of the compiler.
    """

    function: Callable[..., Any]
    signature: Mapping[str, Any]
    debug: bool
    fast_math: bool
    options: Mapping[str, Any]

    def compile(self, target: Any) -> Artifact:
        """Return the code for another target.

        Raises:
            CompileError: The target cannot run the kernel.
        """
        if self.debug:
            from cuda_graphs.compiler.pipeline import compile_kernel

            return compile_kernel(
                self.function, self.signature, target, debug=True, reports=True, **self.options
            )
        return cached_compile(self.function, self.signature, target, **self.options)


# Specialisations by the handles of their kernels. A living Specialisation keeps its kernels, so no other kernel has one
# of these handles.
_by_kernel: WeakValueDictionary[int, Specialisation] = WeakValueDictionary()


def record(code: Specialisation, recipe: Recipe) -> None:
    """Remember that the kernels of `code` came from `recipe`."""
    code.recipe = recipe
    for kernel in code.kernels:
        _by_kernel[kernel.handle] = code


def origin_of(kernel: Kernel) -> tuple[Specialisation, int] | None:
    """Return the Specialisation of a kernel and the number of the kernel's task; None for any other kernel."""
    code = _by_kernel.get(kernel.handle)
    return None if code is None else (code, code.kernels.index(kernel))
