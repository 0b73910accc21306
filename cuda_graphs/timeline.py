# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the time and the thread of each graph node as a Chrome trace, for chrome://tracing or ui.perfetto.dev ::

    from . import timeline

    with timeline.trace("launch.json"):
        graph.launch(stream)
        stream.sync()

It works on the host driver, which records every node of every graph that the process runs inside the block. CUDA
reports the times of nodes to its own profilers only, so with a GPU use Nsight Systems.
"""

import contextlib
import ctypes
import json
import os
from collections.abc import Iterator
from pathlib import Path

from cuda_graphs.core.driver.choice import ensure_loaded

__all__ = ["trace"]


class _NodeRecord(ctypes.Structure):
    """The struct cgh_node_record of test_hooks.h."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("kind", ctypes.c_char_p),
        ("thread", ctypes.c_uint64),
        ("stream", ctypes.c_uint64),
        ("start", ctypes.c_int64),
        ("end", ctypes.c_int64),
    )


@contextlib.contextmanager
def trace(path: str | os.PathLike[str]) -> Iterator[None]:
    """Write a timeline of the graph nodes that end inside the block to `path`, as JSON of Chrome's trace format.

    Each node is one event. `name` names its kernel or its kind, and `cat` names its kind. `ts` and `dur` are
    microseconds. `tid` is the thread that ran it: a worker or a waiting thread. `args` contains the number of the
    stream. A conditional node spans its bodies. Nodes that run at the end of the block are left out, so wait for the
    stream inside the block.

    Blocks do not nest: an inner block ends the recording of the outer block.

    Raises:
        RuntimeError: The process uses the CUDA driver, which does not report when nodes run.
    """
    driver = ensure_loaded()
    if driver.kind != "host":
        raise RuntimeError(
            f"timeline.trace() works on the host driver only, and this process uses the {driver.kind} driver "
            f"({driver.reason}), which reports the times of nodes to its own profilers only: use Nsight Systems."
        )
    library = ctypes.CDLL(driver.path)  # loaded already
    library.cghNodeRecord.argtypes = [ctypes.c_uint64, ctypes.POINTER(_NodeRecord)]
    library.cghRecordNodes(1)
    try:
        yield
    finally:
        library.cghRecordNodes(0)
        Path(path).write_text(json.dumps({"displayTimeUnit": "ns", "traceEvents": _events(library)}))


def _events(library: ctypes.CDLL) -> list[dict[str, object]]:
    node = _NodeRecord()
    events: list[dict[str, object]] = []
    while library.cghNodeRecord(len(events), ctypes.byref(node)) == 0:
        events.append(
            {
                "name": node.name.decode(),
                "cat": node.kind.decode(),
                "ph": "X",
                "ts": node.start / 1000,
                "dur": (node.end - node.start) / 1000,
                "pid": os.getpid(),
                "tid": node.thread,
                "args": {"stream": node.stream},
            }
        )
    return events
