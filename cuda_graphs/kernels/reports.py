# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What kernels with debug find wrong in graphs, where no caller waits for them: whoever waits for the device next gets
the exception.

A node writes to memory of the host (compiler/passes/report.py says what). The graph keeps that memory as an argument of
the node; here it is only known.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

from cuda_graphs._objects.arguments import register_handle_type
from cuda_graphs._objects.memory_resource import PinnedMemoryResource
from cuda_graphs._objects.waiting import tell_by
from cuda_graphs.compiler.artifact import GradientInfo
from cuda_graphs.compiler.ir import Loc
from cuda_graphs.compiler.passes.report import Claim, what_failed
from cuda_graphs.kernels.faults import KernelError, error_of

__all__ = ["Report", "keep", "overflow_report", "tell"]


class Report:
    """Words that the asserts of one call in a graph write to. `handle`: their address, which its kernels take."""

    def __init__(self, kernel: str, claims: tuple[Any, ...], size: int) -> None:
        self.kernel, self.claims = kernel, claims
        self._buffer = PinnedMemoryResource().allocate(size)
        self.handle = int(self._buffer.handle)
        self._words = (ctypes.c_int64 * (size // 8)).from_address(self.handle)
        ctypes.memset(self.handle, 0, size)
        with _lock:
            _reports.add(self)
        tell_by(tell)  # from the first one on: waits of programs without any cost nothing more

    def take(self) -> KernelError | None:
        """What went wrong first since it was taken last."""
        found = what_failed(self.claims, list(self._words)) if self._words[0] else None
        if found is None:
            return None
        self._words[0] = 0
        return error_of(self.kernel, *found)

    # With the graph, whose last launch nobody may have waited for; and nobody hears of it when the interpreter ends.
    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        words = getattr(self, "_words", None)
        if words is not None and words[0] and not is_finalizing():
            _left.append(self.take())

    def __repr__(self) -> str:
        return f"<Report of kernel {self.kernel}>"


def overflow_report(kernel: str, info: GradientInfo) -> Report:
    """The word that a gradient's tasks write the number of a stack to that had no room."""
    claims = tuple(
        Claim("adstack", (FULL,), Loc(*stack.place) if stack.place is not None else None)
        for stack in info.stacks
    )
    return Report(kernel, claims, 8)


FULL = (
    "a stack of the gradient had no room for what this line changes, so the gradient lacks some iterations: clear the "
    "gradients, let nothing change how often loops run between the forward call and the gradient, and repeat both; if "
    "stack_room was set, set it to more"
)

_lock = threading.RLock()  # what the collector ends meanwhile may wait for the device, and ask again
_reports: weakref.WeakSet[Report] = weakref.WeakSet()
_kept: deque[Report] = deque()
_left: deque[KernelError | None] = deque()  # of reports that are gone


def keep(arguments: tuple[Any, ...]) -> None:
    """Let the reports among arguments live until a wait is over: a launch keeps none."""
    _kept.extend(each for each in arguments if isinstance(each, Report))


def tell() -> None:
    """Raise what a graph has found wrong, if one has; of several, the others are raised next."""
    with _lock:
        known = list(_reports)
    _kept.clear()
    for report in known:
        error = report.take()
        if error is not None:
            raise error
    with _lock:  # so that of two who wait one gets it
        error = _left.popleft() if _left else None
    if error is not None:
        raise error


register_handle_type(Report)
