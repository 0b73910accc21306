# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Exceptions. Each holds the driver's status, its explanation, the attempted operation, and a remedy.

`error_from_code` returns the exception for a CUresult. Errors that programs are likely to catch have classes of their
own. Misuse that is detected before the driver is called raises TypeError, ValueError or RuntimeError instead. The
package imports no other package, so that every package may import it.

Other rooms may import:
    __init__  the exceptions, and the functions that make them from a status
"""

from __future__ import annotations

import os
import resource
import warnings
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from .table import LOST, STICKY, TABLE, Row

__all__ = [
    "CUDAError",
    "CUDANotSupportedError",
    "CUDAOutOfMemoryError",
    "CUDAWarning",
    "CaptureError",
    "CaptureWarning",
    "ClosedBufferError",
    "ClosedBuilderError",
    "DriverNotFoundError",
    "GraphInstantiateError",
    "GraphUpdateError",
    "ImageError",
    "LaunchError",
    "NVRTCError",
    "SavedGraphError",
]


class CUDAError(Exception):
    """A call of the CUDA driver failed.

    code         the CUresult as an int
    name         name of the CUresult, "CUDA_ERROR_..."
    text         the driver's own text, "" without a text
    attempt      the attempted operation with its arguments, or None
    log          output of a compiler or loader, or None
    explanation  meaning of the status
    remedy       the recommended action, "" without a recommendation
    capture      the call that invalidated the stream capture, with its source line; "" for other errors
    url          the place of the error in the documentation
    """

    def __init__(
        self,
        code: int,
        name: str = "",
        text: str = "",
        attempt: str | None = None,
        log: str | None = None,
        explanation: str | None = None,
        remedy: str | None = None,
    ) -> None:
        # BaseException pickles and copies `args`, so `args` holds all arguments.
        super().__init__(code, name, text, attempt, log, explanation, remedy)
        row = self._row(code)
        self.code = code
        self.name = name or (row.name if row else "")
        self.text = text
        self.attempt: str | Any = attempt
        self.log: str | Any = log
        self.explanation = explanation if explanation is not None else row.explanation if row else text
        self.remedy = remedy if remedy is not None else row.remedy if row else ""
        self.capture = ""

    @staticmethod
    def _row(code: int) -> Row | None:
        return TABLE.get(code)

    @property
    def context_lost(self) -> bool:
        """True when the error is sticky: every later CUDA call of the process fails as well."""
        return self.code in STICKY

    @property
    def url(self) -> str:
        """The place of the status, or of a class without one, in the documentation.

        It is below the address in CUDA_GRAPHS_DOCS, else in the site that `make site` built in the source tree. If
        there is neither, it is a path in the site, such as "errors.html#cuda-error-out-of-memory".
        """
        row = self._row(self.code)
        return site_address() + (place_of(row.name) if row else place_of_class(type(self)))

    def _headline(self) -> str:
        if not self.name:
            return f"UNEXPECTED ERROR CODE: {self.code}"
        return f"{self.name}: {self.explanation}" if self.explanation else self.name

    def __str__(self) -> str:
        lines = [self._headline()]
        if self.context_lost:
            lines.append(LOST)
        if self.attempt:
            lines.append(f"Attempted: {self.attempt}")
        if self.text and self.text != self.explanation:
            lines.append(f"Driver: {self.text}")
        if self.capture:
            lines.append(f"Capture: {self.capture}")
        if self.log:
            lines.append(f"Log:\n{self.log.rstrip()}")
        if self.remedy:
            lines.append(f"Remedy: {self.remedy}")
        return "\n".join(lines)


class CUDAOutOfMemoryError(CUDAError, MemoryError):
    """There is not enough memory."""


class CUDANotSupportedError(CUDAError):
    """The device, the driver, or the host driver does not support the operation."""


class LaunchError(CUDAError):
    """A kernel could not run, or failed while running; see `context_lost`."""


class CaptureError(CUDAError):
    """A stream capture was misused or invalidated."""


class ImageError(CUDAError):
    """Code could not be loaded; `log` has the reason if the loader reported it."""


class NVRTCError(CUDAError):
    """CUDA C++ could not be compiled; `log` is the compiler's output. `code` is an nvrtcResult, not a CUresult."""

    @staticmethod
    def _row(code: int) -> Row | None:
        return None

    @property
    def context_lost(self) -> bool:
        """Always False: compiling uses no context."""
        return False

    def __str__(self) -> str:
        head = super()._headline()
        attempt = f"\nAttempted: {self.attempt}" if self.attempt else ""
        return f"{head}{attempt}, compilation log:\n\n{self.log}" if self.log else head + attempt


class ClosedBufferError(RuntimeError, ValueError):
    """A Buffer is used after it was closed. Also a ValueError: a closed Buffer is an invalid argument."""


class ClosedBuilderError(RuntimeError, ValueError):
    """A GraphBuilder is used after it was closed. Also a ValueError: a closed builder is an invalid argument."""


class GraphUpdateError(CUDAError):
    """An executable graph could not take a changed definition. The executable is unchanged and can be launched."""


class GraphInstantiateError(CUDAError, RuntimeError):
    """A definition cannot be instantiated. `code` is 0 if only the result reports the error."""

    def _headline(self) -> str:
        return self.explanation


class SavedGraphError(ValueError):
    """A definition cannot be saved, or a file is no definition that this version and this driver can load."""


class DriverNotFoundError(RuntimeError):
    """No driver could be loaded, or the driver lacks a required function."""


def site_address() -> str:
    """Return the address of the documentation with a slash at the end, or "" if there is no site."""
    if address := os.environ.get("CUDA_GRAPHS_DOCS", ""):
        return address.rstrip("/") + "/"
    from pathlib import Path

    built = Path(__file__).resolve().parents[2] / "docs/_build/html"
    return built.as_uri() + "/" if built.is_dir() else ""


def place_of(status: str) -> str:
    """Return the place of a status, such as "CUDA_ERROR_INVALID_VALUE", in the site."""
    return f"errors.html#{status.lower().replace('_', '-')}"


def place_of_class(cls: type[BaseException]) -> str:
    """Return the place of a public class of errors in the site."""
    return f"error-classes.html#{cls.__name__.lower()}"


# CUresult -> class. All other codes are a plain CUDAError.
CLASSES: Mapping[int, type[CUDAError]] = MappingProxyType(
    {
        2: CUDAOutOfMemoryError,
        **dict.fromkeys((36, 801), CUDANotSupportedError),
        **dict.fromkeys((200, 209, 218, 221, 222, 223, 225, 227, 300), ImageError),
        **dict.fromkeys((700, 701, 702, 703, 710, 714, 715, 716, 717, 718, 719, 720, 721, 912), LaunchError),
        **dict.fromkeys(range(900, 909), CaptureError),
        910: GraphUpdateError,
    }
)


def rule_of(code: int) -> str:
    """Return the name and the explanation of a CUresult."""
    row = TABLE.get(code)
    return f"{row.name}: {row.explanation}" if row else f"status {code}"


def limit_of_addresses() -> str:
    """Return a sentence with the limit and the use of this process's address space, or "" without a limit."""
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    if most == resource.RLIM_INFINITY:
        return ""
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    return (
        f"The address space of this process is limited to {most >> 20} MiB (ulimit -v), of which {used >> 20} MiB are "
        "in use: raise the limit."
    )


def error_from_code(
    code: int, name: str = "", text: str = "", attempt: str | None = None, log: str | None = None
) -> CUDAError:
    """Return the exception for a CUresult other than success."""
    if code == 0:
        raise ValueError("code 0 is CUDA_SUCCESS: there is no error to report")
    found = CLASSES.get(code, CUDAError)(code, name, text, attempt, log)
    if isinstance(found, CUDAOutOfMemoryError) and (limit := limit_of_addresses()):
        found.remedy = f"{found.remedy} {limit}"
    return found


class CUDAWarning(RuntimeWarning):
    """A resource could not be released when its last handle was dropped. It stays allocated until the process ends.

    This is a warning because an exception cannot leave a destructor.
    """


class CaptureWarning(RuntimeWarning):
    """A capture ended without any node: its graph does nothing."""


def warn_of_leak(code: int, call: str) -> None:
    """Warn of a resource that a destructor of the handle layer could not release.

    Does nothing after the loss of the context: every call fails then, and exceptions have reported the loss.
    """
    if code not in STICKY:
        error = error_from_code(
            code, attempt=f"{call}, when the last handle was dropped: the resource stays allocated"
        )
        warnings.warn(str(error), CUDAWarning, stacklevel=2)


# CUgraphInstantiateResult -> (name, explanation, remedy). Errors show it instead of the less specific CUresult.
INSTANTIATE_RESULTS: Mapping[int, Row] = MappingProxyType(
    {
        2: Row(
            "CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE",
            "The structure of the definition is invalid, for example because it has a cycle.",
            "Remove edges from a node to its own predecessors.",
        ),
        3: Row(
            "CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED",
            "A definition for device launch holds a node that the device cannot launch.",
            "Use only kernel, memcpy, memset and child graph nodes in a graph that the device launches.",
        ),
        4: Row(
            "CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED",
            "The nodes of a definition for device launch belong to more than one context.",
            "Add all nodes of such a graph while the same device is current.",
        ),
        5: Row(
            "CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED",
            "A condition of the definition belongs to no conditional node.",
            "Pass every condition that create_condition() returned to exactly one if, while or switch node.",
        ),
    }
)

UNSUPPORTED_IN_BODY = (
    "A body of a conditional node holds a node of a kind that bodies do not support.",
    "A body may hold kernel, empty, memset, memcpy, child graph and conditional nodes only: add other nodes before or "
    "after the conditional node.",
)

NO_DETAILS = (
    "The driver made no executable graph, although cuGraphInstantiateWithParams returned CUDA_SUCCESS. "
    "It gives no reason."
)


def instantiate_error(
    result: int,
    code: int,
    name: str = "",
    text: str = "",
    attempt: str | None = None,
    *,
    device_launch: bool = True,
) -> CUDAError:
    """Return the exception for a failed instantiation. A specific result takes precedence over the CUresult."""
    if result == 3 and not device_launch:  # drivers also report it for bodies, which the device launches
        value = INSTANTIATE_RESULTS[result].name
        return GraphInstantiateError(code, value, text, attempt, None, *UNSUPPORTED_IN_BODY)
    if row := INSTANTIATE_RESULTS.get(result):
        return GraphInstantiateError(code, row.name, text, attempt, None, row.explanation, row.remedy)
    if code != 0:
        return error_from_code(code, name, text, attempt)
    if result == 0:
        raise ValueError("result and code 0 are success: there is no error to report")
    explanation = NO_DETAILS if result == 1 else f"The instantiation failed with the unknown result {result}"
    return GraphInstantiateError(0, "CUDA_GRAPH_INSTANTIATE_ERROR", text, attempt, None, explanation, "")


# CUgraphExecUpdateResult -> (name, difference).
UPDATE_RESULTS: Mapping[int, tuple[str, str]] = MappingProxyType(
    {
        1: ("CU_GRAPH_EXEC_UPDATE_ERROR", "the driver failed for another reason"),
        2: ("CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED", "nodes or edges were added, removed or reordered"),
        3: ("CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED", "a node is of another kind than before"),
        4: ("CU_GRAPH_EXEC_UPDATE_ERROR_FUNCTION_CHANGED", "a node runs another kernel than before"),
        5: (
            "CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED",
            "a node's parameters changed where they may not",
        ),
        6: ("CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED", "a node is of a kind that cannot be updated"),
        7: (
            "CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE",
            "a kernel was replaced by a kernel that is too different",
        ),
        8: (
            "CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED",
            "a node's attributes changed where they may not",
        ),
    }
)


def update_error(
    result: int, code: int, name: str = "", text: str = "", attempt: str | None = None, difference: str = ""
) -> CUDAError:
    """Return the exception for a failed update of an executable graph.

    `difference` names the node, and the old and new values of its changed properties.
    """
    if code != 910:
        return error_from_code(code, name, text, attempt)
    value, why = UPDATE_RESULTS.get(
        result, (f"CUgraphExecUpdateResult {result}", "the driver gives no reason")
    )
    details = f": {difference}" if difference else ""
    remedy = "The executable has not changed. Instantiate the definition again to get a new executable."
    return GraphUpdateError(
        code, name, text, attempt, None, f"Graph update failed: {why}{details} ({value})", remedy
    )
