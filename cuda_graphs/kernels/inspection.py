# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What a kernel becomes on its way to code, as texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from cuda_graphs.compiler import machine, printer
from cuda_graphs.compiler.artifact import Artifact
from cuda_graphs.compiler.pipeline import compile_kernel, lower
from cuda_graphs.kernels.targets import target_named

__all__ = ["Inspection"]


class Inspection:
    """One specialisation of a kernel, compiled to be read. `KernelFunction.inspect` makes it.

    Attributes:
        signature: {parameter: what it is in this specialisation}.
        target: "x86" or "ptx".
    """

    def __init__(
        self, function: Callable[..., Any], signature: Mapping[str, Any], target: str | None, options: Any
    ) -> None:
        self._function, self._options = function, options
        self._graph, self._chain = options._lowering(False)
        self._target = target_named(target, options.fast_math)
        self.signature, self.target = dict(signature), self._target.name

    @cached_property
    def artifact(self) -> Artifact:
        """What the compiler gives: code, and for each task its parameters, and what it reads and writes."""
        return compile_kernel(
            self._function,
            self.signature,
            self._target,
            debug=self._options.debug,
            graph=self._graph,
            chain=self._chain,
            mode=self._options.mode,
            checkpoints=self._options.has_checkpoints,
        )

    @cached_property
    def ir(self) -> str:
        """The tasks in the compiler's own form, as it is printed."""
        graph = self.artifact.lowering
        program, _ = lower(
            self._function,
            self.signature,
            debug=self._options.debug,
            graph=graph,
            chain=self._chain,
            mode=self._options.mode,
            checkpoints=self._options.has_checkpoints,
        )
        return printer.text(program)

    @property
    def llvm(self) -> str:
        """LLVM's text, before LLVM optimises it."""
        return self.artifact.llvm

    @cached_property
    def code(self) -> str:
        """Assembly of the CPU, or PTX."""
        return self.artifact.code.decode() if self.target == "ptx" else machine.assembly(self.llvm)

    def __str__(self) -> str:
        parts = (("IR", self.ir), ("LLVM", self.llvm), (self.target, self.code))
        return "\n".join(f"==== {title}\n{text}" for title, text in parts)

    def __repr__(self) -> str:
        tasks = len(self.artifact.tasks)
        return f"<Inspection of {self._function.__qualname__} for {self.target}: {tasks} tasks; .ir, .llvm, .code>"
