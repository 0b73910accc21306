# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Reports of errors that kernels with debug detect in graphs. The next synchronisation raises the error.

A node writes its report to host memory, in the layout of compiler/passes/report.py. The graph keeps this memory alive
as an argument of the node; this module holds weak references.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

from cuda_graphs.compiler.artifact import GradientInfo
from cuda_graphs.compiler.ir.ir import Loc
from cuda_graphs.compiler.passes.report import AssertInfo, failed_assert
from cuda_graphs.objects.code.arguments import register_handle_type
from cuda_graphs.objects.memory.memory_resource import PinnedMemoryResource
from cuda_graphs.objects.waiting import tell_by

from .faults import KernelError, error_of

__all__ = ["Report", "keep", "overflow_report", "tell"]


class Report:
    """The words that the checks of one call in a graph write to.

    Attributes:
        handle: The address of the words, an argument of the kernels.
    """

    def __init__(self, kernel: str, asserts: tuple[Any, ...], size: int) -> None:
        self.kernel, self.asserts = kernel, asserts
        self._buffer = PinnedMemoryResource().allocate(size)
        self.handle = int(self._buffer.handle)
        self._words = (ctypes.c_int64 * (size // 8)).from_address(self.handle)
        ctypes.memset(self.handle, 0, size)
        with _lock:
            _reports.add(self)
        tell_by(tell)  # only from the first report on, so that programs without reports pay nothing

    def take(self) -> KernelError | None:
        """Return the first error since the last call of `take`, and clear the report; None without an error."""
        found = failed_assert(self.asserts, list(self._words)) if self._words[0] else None
        if found is None:
            return None
        self._words[0] = 0
        return error_of(self.kernel, *found)

    # The report ends with its graph, perhaps before a synchronisation, so the module keeps its error for the next
    # synchronisation. At the end of the interpreter, the error is dropped.
    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        words = getattr(self, "_words", None)
        if words is not None and words[0] and not is_finalizing():
            _left.append(self.take())

    def __repr__(self) -> str:
        return f"<Report of kernel {self.kernel}>"


def overflow_report(kernel: str, info: GradientInfo) -> Report:
    """Return a Report with the word to which tasks of a gradient write the number of a full stack."""
    asserts = tuple(
        AssertInfo("adstack", (FULL,), Loc(*stack.loc) if stack.loc is not None else None)
        for stack in info.stacks
    )
    return Report(kernel, asserts, 8)


FULL = (
    "a stack of the gradient was full when it saved values of this line, so the gradient lacks some iterations: clear "
    "the gradients, keep the iteration counts of loops the same in the forward call and in the gradient, and repeat "
    "both; if stack_room is set, increase it"
)

# The lock is recursive: the destructor of a collected object may synchronise and call `tell` again.
_lock = threading.RLock()
_reports: weakref.WeakSet[Report] = weakref.WeakSet()
_kept: deque[Report] = deque()
_left: deque[KernelError | None] = deque()  # errors of reports that have ended


def keep(arguments: tuple[Any, ...]) -> None:
    """Keep the Reports in `arguments` alive until the next synchronisation, as a launch does not keep them."""
    _kept.extend(each for each in arguments if isinstance(each, Report))


def tell() -> None:
    """Raise the error of a report, if there is an error. Later calls raise further errors."""
    with _lock:
        known = list(_reports)
    _kept.clear()
    for report in known:
        error = report.take()
        if error is not None:
            raise error
    with _lock:  # only one of two waiting threads gets the error
        error = _left.popleft() if _left else None
    if error is not None:
        raise error


register_handle_type(Report)
