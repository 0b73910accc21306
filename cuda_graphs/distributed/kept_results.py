# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Collectives whose results are kept only if a condition holds: the host may start them in advance.

If a body refuses a collective, the host runs the loop of a graph kernel, and starts iterations before it knows whether
they are needed (compiler/passes/mask_loops.py). All ranks start the same ones. Such a collective writes to other
memory, from which a kernel copies the result.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cuda_graphs.compiler.language.declarations import Array0, Array1, u32
from cuda_graphs.kernels.call.decorator import kernel
from cuda_graphs.objects.memory.buffer import Buffer

from .steps import Operand, Step, empty_like

__all__ = ["Scratch", "copy_kept"]

MOST_KEPT = 32  # pieces of memory


@kernel
def copy_if(condition: Array0[u32], source: Array1, target: Array1) -> None:
    for i in target:
        if condition[()] != 0:
            target[i] = source[i]


class Scratch:
    """Memory for such results. It is kept, since an allocation may wait for the device."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[Any, ...], Operand] = OrderedDict()

    def like(self, operand: Operand, number: int, stream: Any) -> Operand:
        """Return memory in the place of an operand of step `number`. Work on one stream may use it again."""
        key = (stream.handle, number, operand.view.address, operand.view.shape, operand.type)
        found = self._kept.pop(key, None)
        self._kept[key] = found = empty_like(operand) if found is None else found
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return found

    def elsewhere(self, steps: Sequence[Step], stream: Any) -> Iterator[tuple[Step, Operand | None]]:
        """Yield each step with its result in other memory, and the operand that this memory replaces."""
        for number, step in enumerate(steps):
            if step.recv is None:
                yield step, None
                continue
            made = self.like(step.recv, number, stream)
            if step.name == "broadcast":  # in place: the root sends what is there
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
