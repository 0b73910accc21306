# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Exceptions: what the driver said, what it means, what was being attempted, and what to do.

`error_from_code` makes the exception for a CUresult; classes of their own exist where a program would catch them.
Misuse that is seen before the driver is asked is an ordinary TypeError, ValueError or RuntimeError instead.
Imports nothing but the table of explanations, so that every layer may import it.
"""

from __future__ import annotations

import resource
import warnings
from collections.abc import Mapping
from types import MappingProxyType

from cuda_graphs.error_table import LOST, STICKY, TABLE, Row

__all__ = [
    "CUDAError",
    "CUDANotSupportedError",
    "CUDAOutOfMemoryError",
    "CUDAWarning",
    "CaptureError",
    "ClosedBufferError",
    "ClosedBuilderError",
    "DriverNotFoundError",
    "GraphInstantiateError",
    "GraphUpdateError",
    "ImageError",
    "LaunchError",
    "NVRTCError",
]


class CUDAError(Exception):
    """A call of the CUDA driver failed.

    code         the CUresult as an int
    name         its name, "CUDA_ERROR_..."
    text         the driver's own words, "" when there are none
    attempt      what was being attempted with which arguments, or None
    log          what a compiler or loader wrote, or None
    explanation  what it means, in plain words
    remedy       what to do about it, "" when there is nothing to say
    capture      which call spoiled the stream capture that this is about, and on which line; "" when none did
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
        # All of it goes to `args`, from which BaseException pickles and copies.
        super().__init__(code, name, text, attempt, log, explanation, remedy)
        row = self._row(code)
        self.code = code
        self.name = name or (row.name if row else "")
        self.text = text
        self.attempt = attempt
        self.log = log
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

    def told(self, findings: str) -> None:
        """The host driver looked for bugs (CUDA_GRAPHS_HOST_CHECK), and this is what it found."""
        self.log = findings
        self.remedy = "Mend what the log tells of, and run it again."
        if not self.context_lost:
            self.explanation = "The work is done, and the host driver found what is wrong with it."

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
    """The device, the driver, or the host driver does not offer this."""


class LaunchError(CUDAError):
    """A kernel could not run, or failed while running; see `context_lost`."""


class CaptureError(CUDAError):
    """A stream capture was misused or spoiled."""


class ImageError(CUDAError):
    """Code could not be loaded; `log` says why when the loader said so."""


class NVRTCError(CUDAError):
    """CUDA C++ could not be compiled; `log` is what the compiler wrote. `code` is an nvrtcResult, not a CUresult."""

    @staticmethod
    def _row(code: int) -> Row | None:
        return None

    @property
    def context_lost(self) -> bool:
        """False: compiling touches no context."""
        return False

    def __str__(self) -> str:
        head = super()._headline()
        attempt = f"\nAttempted: {self.attempt}" if self.attempt else ""
        return f"{head}{attempt}, compilation log:\n\n{self.log}" if self.log else head + attempt


class ClosedBufferError(RuntimeError, ValueError):
    """A Buffer is used after it was closed. Both, since it is no valid argument either."""


class ClosedBuilderError(RuntimeError, ValueError):
    """A GraphBuilder is used after it was closed. Both, since it is no valid argument either."""


class GraphUpdateError(CUDAError):
    """An executable graph could not take a changed definition; it is unchanged and can still be launched."""


class GraphInstantiateError(CUDAError, RuntimeError):
    """A definition cannot be made into an executable graph. `code` is 0 when only the result code said so."""

    def _headline(self) -> str:
        return self.explanation


class DriverNotFoundError(RuntimeError):
    """No driver could be loaded, or the one that was found lacks a function that is required."""


# CUresult -> class; what is not listed is a plain CUDAError.
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
    """The name of a CUresult and what it means."""
    row = TABLE.get(code)
    return f"{row.name}: {row.explanation}" if row else f"status {code}"


def limit_of_addresses() -> str:
    """A sentence that names the limit of this process's address space and its use, or "" without a limit."""
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
    """The exception for a CUresult other than success."""
    if code == 0:
        raise ValueError("code 0 is CUDA_SUCCESS: there is no error to report")
    found = CLASSES.get(code, CUDAError)(code, name, text, attempt, log)
    if isinstance(found, CUDAOutOfMemoryError) and (limit := limit_of_addresses()):
        found.remedy = f"{found.remedy} {limit}"
    return found


class CUDAWarning(RuntimeWarning):
    """Something could not be given back to the driver when its last handle went, from where no exception can leave: it
    stays until the process ends, with what it keeps."""


def warn_of_loss(code: int, call: str) -> None:
    """What the handle layer does where a destructor fails. Not where the context is lost: then every call fails, and
    exceptions have said so."""
    if code not in STICKY:
        error = error_from_code(code, attempt=f"{call}, when its last handle went: what it was to end stays")
        warnings.warn(str(error), CUDAWarning, stacklevel=2)


# CUgraphInstantiateResult -> (name, explanation, remedy). Reported instead of the CUresult, because they say more.
INSTANTIATE_RESULTS: Mapping[int, Row] = MappingProxyType(
    {
        2: Row(
            "CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE",
            "Instantiation failed due to invalid structure, such as cycles.",
            "Look for edges that lead back to a node's own predecessors.",
        ),
        3: Row(
            "CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED",
            "Instantiation for device launch failed because the graph contained an unsupported operation.",
            "A graph that the device launches may hold kernel, memcpy, memset and child graph nodes only.",
        ),
        4: Row(
            "CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED",
            "Instantiation for device launch failed due to the nodes belonging to different contexts.",
            "Build all nodes of such a graph while one and the same device is current.",
        ),
        5: Row(
            "CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED",
            "One or more conditional handles are not associated with conditional builders.",
            "Give every condition that create_condition() made to exactly one if, while or switch node.",
        ),
    }
)

UNSUPPORTED_IN_BODY = (
    "A body of a conditional node contains an unsupported operation.",
    "A body may hold kernel, empty, memset, memcpy, child graph and conditional nodes only: move others before or "
    "behind the conditional node.",
)

NO_DETAILS = (
    "CUDA graph instantiation failed, but cuGraphInstantiateWithParams returned CUDA_SUCCESS; "
    "no driver error details are available."
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
    """The exception for a failed instantiation: a result that says what is wrong goes before the CUresult."""
    if result == 3 and not device_launch:  # drivers say it of bodies, too: those are launched by the device
        value = INSTANTIATE_RESULTS[result].name
        return GraphInstantiateError(code, value, text, attempt, None, *UNSUPPORTED_IN_BODY)
    if row := INSTANTIATE_RESULTS.get(result):
        return GraphInstantiateError(code, row.name, text, attempt, None, row.explanation, row.remedy)
    if code != 0:
        return error_from_code(code, name, text, attempt)
    if result == 0:
        raise ValueError("result and code 0 are success: there is no error to report")
    explanation = (
        NO_DETAILS if result == 1 else f"Graph instantiation failed with unexpected error code: {result}"
    )
    return GraphInstantiateError(0, "CUDA_GRAPH_INSTANTIATE_ERROR", text, attempt, None, explanation, "")


# CUgraphExecUpdateResult -> (name, what differs).
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
            "a kernel was replaced by an unlike one",
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
    """The exception for a failed update of an executable graph. `difference` says which node it is about, and what of
    it was what and is what."""
    if code != 910:
        return error_from_code(code, name, text, attempt)
    value, why = UPDATE_RESULTS.get(
        result, (f"CUgraphExecUpdateResult {result}", "the driver gives no reason")
    )
    details = f": {difference}" if difference else ""
    remedy = "The executable is as before. Instantiate the definition to have another one."
    return GraphUpdateError(
        code, name, text, attempt, None, f"Graph update failed: {why}{details} ({value})", remedy
    )
