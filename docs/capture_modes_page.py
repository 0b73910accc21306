# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the table of docs/guide/capture-modes.md from the answers of an H200: `python -m docs.capture_modes_page`.

A test compares the page with the table, and checks that every answer is in exactly one row.
"""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/guide/capture-modes.md"
ANSWERS = ROOT / "tests/conformance/driver/h200.json"
BEGIN, END = "<!-- written by docs/capture_modes_page.py -->\n", "<!-- end -->\n"

# The labels of the recorded answers, in the order of the columns.
COLUMNS = (
    "relaxed",
    "thread local",
    "global",
    "relaxed, in another thread",
    "thread local, in another thread",
    "global, in another thread",
)
HEAD = """\
| | here: relaxed | thread_local | global | elsewhere: relaxed | thread_local | global |
|---|---|---|---|---|---|---|
"""
# Kind of call -> the driver functions that were called; after a slash, the stream or argument.
ROWS = {
    "Work for the captured stream, which becomes nodes: kernels, allocations": (
        "cuLaunchKernel/capturing cuMemAllocAsync/capturing"
    ),
    "Work for other streams: kernels, host functions, copies, fills, events": (
        "cuLaunchKernel/elsewhere cuLaunchKernel/legacy cuLaunchKernel/per thread cuLaunchHostFunc/elsewhere "
        "cuMemcpyAsync/legacy cuMemcpyHtoDAsync/pageable, elsewhere cuMemcpyDtoHAsync/pageable, elsewhere "
        "cuMemsetD32Async/elsewhere cuMemsetD32Async/legacy cuEventRecord/elsewhere cuStreamWaitEvent/elsewhere "
        "cuLaunchKernelEx/elsewhere cuLaunchCooperativeKernel/elsewhere cuMemcpyDtoDAsync/elsewhere "
        "cuMemcpyPeerAsync/elsewhere cuEventRecordWithFlags/elsewhere"
    ),
    "Synchronous copies and fills": (
        "cuMemcpy cuMemcpy/0 bytes cuMemcpy2D cuMemcpyDtoD cuMemcpyDtoH cuMemcpyDtoH/pinned cuMemcpyHtoD "
        "cuMemcpyPeer cuMemsetD32 cuMemsetD32/pinned cuMemsetD8"
    ),
    "Create and destroy streams and events; time between two completed events": (
        "cuStreamCreate cuStreamCreate/blocking cuStreamDestroy/elsewhere cuStreamGetFlags/elsewhere "
        "cuStreamCreateWithPriority cuStreamGetCtx/elsewhere cuStreamGetPriority/elsewhere cuStreamGetId/elsewhere "
        "cuEventCreate cuEventDestroy cuEventElapsedTime"
    ),
    "Begin and end another capture": "cuStreamBeginCapture/elsewhere cuStreamBeginCaptureToGraph/elsewhere",
    "Query whether a stream is captured; query the context and priority of the captured stream": (
        "cuStreamIsCapturing/capturing cuStreamGetCtx/capturing cuStreamGetPriority/capturing"
    ),
    "Build, change, copy and destroy definitions": (
        "cuGraphCreate cuGraphAddNode cuGraphAddMemAllocNode cuGraphKernelNodeSetParams cuGraphDestroyNode "
        "cuGraphGetNodes cuGraphDebugDotPrint cuGraphConditionalHandleCreate cuGraphClone cuGraphDestroy "
        "cuUserObjectCreate cuUserObjectRetain cuUserObjectRelease cuGraphRetainUserObject"
    ),
    "Launch and upload executables on other streams; update them and their nodes": (
        "cuGraphLaunch/elsewhere cuGraphUpload/elsewhere cuGraphExecUpdate cuGraphExecKernelNodeSetParams "
        "cuGraphNodeSetEnabled cuGraphExecGetFlags"
    ),
    "Load code, look up kernels": (
        "cuLibraryLoadData cuLibraryGetKernel cuLibraryGetModule cuModuleLoadData cuKernelGetFunction "
        "cuKernelSetAttribute cuFuncGetAttribute cuOccupancyMaxActiveBlocksPerMultiprocessor cuModuleLoadDataEx "
        "cuModuleGetGlobal cuModuleGetFunction cuLibraryGetGlobal cuLibraryGetKernelCount cuKernelGetAttribute "
        "cuKernelGetParamInfo cuFuncSetAttribute"
    ),
    "Query properties of devices, pointers, contexts; query and trim graph memory": (
        "cuCtxGetDevice cuCtxGetStreamPriorityRange cuCtxSetCurrent cuDeviceGetAttribute cuDeviceTotalMem "
        "cuDeviceGetDefaultMemPool cuDeviceGetMemPool cuDeviceGetGraphMemAttribute cuDeviceSetGraphMemAttribute "
        "cuDeviceGraphMemTrim cuDevicePrimaryCtxRetain cuMemGetAddressRange cuMemGetInfo cuMemHostGetDevicePointer "
        "cuMemHostGetFlags cuPointerGetAttribute cuPointerGetAttributes cuCtxPushCurrent cuCtxGetFlags "
        "cuDevicePrimaryCtxGetState cuDevicePrimaryCtxSetFlags"
    ),
    "Allocate and free device, pinned and managed memory": (
        "cuMemAlloc cuMemAllocHost cuMemAllocManaged cuMemHostAlloc cuMemFree cuMemFree/null cuMemFree/pooled "
        "cuMemFreeHost cuMemFreeHost/null cuMemHostRegister cuMemHostUnregister"
    ),
    "Allocate and free pool memory in the order of another stream": (
        "cuMemAllocAsync/elsewhere cuMemAllocAsync/legacy cuMemAllocFromPoolAsync/elsewhere cuMemFreeAsync/elsewhere "
        "cuMemFreeAsync/null, elsewhere"
    ),
    "Create, change, query, trim and destroy pools": (
        "cuMemPoolCreate cuMemPoolDestroy cuMemPoolGetAccess cuMemPoolGetAttribute cuMemPoolSetAccess "
        "cuMemPoolSetAttribute cuMemPoolTrimTo cuDeviceSetMemPool"
    ),
    "Instantiate a definition, destroy an executable": (
        "cuGraphInstantiate cuGraphInstantiateWithParams cuGraphExecDestroy"
    ),
    "Unload code": "cuLibraryUnload cuModuleUnload",
    "Wait for another stream or an event, or query it": (
        "cuStreamSynchronize/elsewhere cuStreamSynchronize/legacy cuStreamQuery/elsewhere cuStreamQuery/legacy "
        "cuStreamQuery/per thread cuEventSynchronize cuEventQuery cuEventQuery/never recorded"
    ),
    "Wait for the captured stream or the whole device, or query the stream": (
        "cuStreamSynchronize/capturing cuStreamQuery/capturing cuCtxSynchronize"
    ),
    "Launch or upload an executable on the captured stream; query the ID of that stream": (
        "cuGraphLaunch/capturing cuGraphUpload/capturing cuStreamGetId/capturing"
    ),
    "Query an event that was recorded in the capture": "cuEventQuery/captured",
}
# Calls with wrong arguments, whose result does not depend on the mode.
LEFT_OUT = {"cuMemFree/garbage", "cuEventQuery/null"}
CELLS = {
    "CUDA_SUCCESS, 1": "yes",
    "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 2": "**900**",
    "CUDA_ERROR_CAPTURED_EVENT, 2": "**907**",
}


def functions(row: str) -> list[str]:
    """Return the names in a row of ROWS. A name begins with "cu" and includes the text up to the next name."""
    return [name.strip() for name in re.findall(r"cu[A-Z](?:(?! cu[A-Z]).)*", row)]


def answers() -> dict[str, dict[str, str]]:
    """Return function -> label -> answer for every function that was recorded in the three modes."""
    cases = json.loads(ANSWERS.read_text())["cases"]
    return {
        name.removeprefix("capture_modes/"): dict(line.split(": ", 1) for line in lines)
        for name, lines in cases.items()
        if name.startswith("capture_modes/cu")
    }


def cells(row: str, recorded: dict[str, dict[str, str]]) -> list[str]:
    """Return the common answer of all functions of a row, column by column."""
    lines = {tuple(CELLS[recorded[name][label]] for label in COLUMNS) for name in functions(row)}
    (line,) = lines
    return list(line)


def table() -> str:
    recorded = answers()
    return HEAD + "".join(f"| {what} | {' | '.join(cells(row, recorded))} |\n" for what, row in ROWS.items())


def modes_page() -> str:
    """Return the text of docs/guide/capture-modes.md with a new table."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    return before + BEGIN + table() + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(modes_page())
