# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Collectives whose results are kept only if a condition holds: the host may start them in advance.

If a body refuses a collective, the host runs the loop of a graph kernel, and starts iterations before it knows whether
they are needed (compiler/passes/mask_loops.py). All ranks start the same ones. Such a collective writes to other
memory, from which a kernel copies the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cuda_graphs.compiler.language.declarations import Array0, Array1, u32
from cuda_graphs.kernels.call.decorator import kernel
from cuda_graphs.objects.memory.buffer import Buffer

from .steps import Operand, Step, empty_like

__all__ = ["copy_kept", "elsewhere"]


@kernel
def copy_if(condition: Array0[u32], source: Array1, target: Array1) -> None:
    for i in target:
        if condition[()] != 0:
            target[i] = source[i]


def elsewhere(steps: Sequence[Step], stream: Any) -> Iterator[tuple[Step, Operand | None]]:
    """Yield each step with the memory of its result replaced by other memory, and the operand that it replaces."""
    for step in steps:
        if step.recv is None:
            yield step, None
            continue
        made = empty_like(step.recv)
        if step.send is step.recv and step.name == "broadcast":  # in place: the root sends what is there
            bytes_of(step.recv).copy_to(bytes_of(made), stream=stream)
            yield replace(step, send=made, recv=made), step.recv
        else:
            yield replace(step, recv=made), step.recv


def copy_kept(step: Step, target: Operand, condition: Any, stream: Any) -> None:
    """Copy the result of a step to its own memory if the condition is not 0."""
    assert step.recv is not None
    copy_if(condition, words_of(step.recv), words_of(target), stream=stream)


def bytes_of(operand: Operand) -> Buffer:
    return Buffer.from_handle(operand.view.address, operand.size, owner=operand.array)


def words_of(operand: Operand) -> Any:
    """Return the memory of an operand as an array of words, or of bytes if it has no whole words."""
    is_aligned = operand.size % 4 == 0 and operand.view.address % 4 == 0
    return bytes_of(operand).view(np.uint32 if is_aligned else np.uint8)
