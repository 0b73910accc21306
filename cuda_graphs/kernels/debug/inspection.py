# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The intermediate forms of a kernel in the compiler, as texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from cuda_graphs.compiler.artifact import Artifact
from cuda_graphs.compiler.ir import printer
from cuda_graphs.compiler.pipeline import compile_kernel, lower
from cuda_graphs.kernels.targets import target_named
from cuda_graphs.native.units import assembly

__all__ = ["Inspection"]


class Inspection:
    """One specialisation of a kernel, compiled for inspection. `KernelFunction.inspect` makes it.

    Attributes:
        signature: The compiler's description of each argument, by parameter name.
        target: "x86" or "ptx".
    """

    def __init__(
        self,
        function: Callable[..., Any],
        signature: Mapping[str, Any],
        target: str | None,
        lowering: tuple[Any, Any],
        options: Any,
        mode: str | None,
    ) -> None:
        self._function = function
        self._graph, chain = lowering
        self._options: dict[str, Any] = {
            "debug": options.debug,
            "chain": chain,
            "fuse": "call" if options.fuse else None,
            "mode": mode,
            "checkpoints": options.checkpoints,
            "rules": options.rules(),
        }
        self._target = target_named(target, options.fast_math)
        self.signature, self.target = dict(signature), self._target.name

    @cached_property
    def artifact(self) -> Artifact:
        """The result of the compiler: code, and the parameters, reads and writes of each task."""
        return compile_kernel(
            self._function, self.signature, self._target, graph=self._graph, **self._options
        )

    @cached_property
    def ir(self) -> str:
        """The tasks in the compiler's IR, as text."""
        options = {"graph": self.artifact.lowering, "contracts": self._target.fast_math, **self._options}
        program, _ = lower(self._function, self.signature, **options)
        return printer.text(program)

    @property
    def llvm(self) -> str:
        """The LLVM IR before optimisation, as text."""
        return self.artifact.llvm

    @cached_property
    def code(self) -> str:
        """The assembly for the CPU, or the PTX."""
        return self.artifact.code.decode() if self.target == "ptx" else assembly(self.llvm)

    def __str__(self) -> str:
        parts = (("IR", self.ir), ("LLVM", self.llvm), (self.target, self.code))
        return "\n".join(f"==== {title}\n{text}" for title, text in parts)

    def __repr__(self) -> str:
        tasks = len(self.artifact.tasks)
        return f"<Inspection of {self._function.__qualname__} for {self.target}: {tasks} tasks; .ir, .llvm, .code>"
