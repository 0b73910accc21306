# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""From a function to code, step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from . import ir, machine, trace
from .annotations import Spec
from .artifact import Artifact, Result, describe, size_of
from .frontend import translate
from .passes.offload import offload
from .target_ptx import Ptx
from .target_x86 import X86

__all__ = ["compile_kernel", "lower"]


def lower(
    function: Callable[..., Any], signature: Mapping[str, Spec]
) -> tuple[ir.Program, dict[str, dict[str, Any]]]:
    """The function as tasks, and the names from outside that it depends on: {function: {name: value}}.

    From `translate` on every value has a type; from `offload` on every loop has a place.
    """
    with trace.timed("frontend"):
        kernel, captured = translate(function, dict(signature))
    return offload(kernel), captured


def compile_kernel(
    function: Callable[..., Any], signature: Mapping[str, Spec], target: X86 | Ptx
) -> Artifact:
    """Code of one specialisation of a kernel for one target.

    `signature` says of each parameter, by name, what it is in this specialisation (annotations.py). Raises a
    CompileError, with the place in the source and a remedy, for what kernels cannot contain.
    """
    program, captured = lower(function, signature)
    with trace.timed("emission"):
        text = target.module(program)
    return Artifact(
        target.name,
        target.code(text),
        tuple(describe(task) for task in program.tasks),
        tuple((temp.path, size_of(temp)) for temp in program.temps),
        tuple(Result(array.path, array.element) for array in program.results),
        captured,
        text,
    )


# For whoever reads code: the assembly of the CPU's object.
assembly = machine.assembly
