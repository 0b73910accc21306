# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The interface of target machines. The classes X86 and Ptx implement it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import ScalarType
from cuda_graphs.native.function_text import FunctionText

from .notation import FastMathText

__all__ = ["Target"]


class Target(Protocol):
    """The operations that an emitter needs from a target machine."""

    @property
    def fast_math(self) -> bool:
        """True if contraction and reassociation are allowed."""

    def function(self, e: FastMathText, name: str, type: ScalarType, args: list[str]) -> str:
        """Emit a function whose template in the op table begins with "!", such as sine; return the result."""

    def atomic_scope(self) -> str:
        """Return the `syncscope(...)` of atomics on global memory."""

    def fence(self, e: FunctionText) -> None:
        """Emit an order of this thread's accesses to memory that all threads of the device see."""

    def constants(self) -> str:
        """Return the address space of constant strings."""

    def print(self, e: FunctionText, form: str, values: str) -> None:
        """Emit a print. The operands are pointers to printf's format and to the values."""

    def assert_fail(self, e: FunctionText, message: str, file: str, line: int, function: str) -> None:
        """Emit the end of the kernel by a failed assertion. The strings are given as pointers."""

    def set_condition(self, e: FunctionText, handle: str, value: str) -> None:
        """Emit cudaGraphSetConditional: the condition with a 64-bit handle becomes a 32-bit value."""

    def last(self, e: FunctionText, counter: str, body: Callable[[], None]) -> None:
        """Emit a block that the last thread of a launch executes. `counter` is a pointer to a zero in memory."""

    def access(self, array: ir.Array) -> str:
        """Return the metadata of loads and stores of an array, with their address space."""

    def worker(self, e: FunctionText) -> str:
        """Emit the number of the current worker, in 32 bits; return its name."""
