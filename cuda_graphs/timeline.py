# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""When each node of a graph ran, and where, as a Chrome trace: a file for chrome://tracing or ui.perfetto.dev ::

    from cuda_graphs import timeline

    with timeline.trace("launch.json"):
        graph.launch(stream)
        stream.sync()

It works on the host driver, which notes every node of every graph that the process runs meanwhile, whoever launched it.
CUDA tells the times of nodes to its own profilers only: with a GPU use Nsight Systems.
"""

import contextlib
import ctypes
import json
import os
from collections.abc import Iterator
from pathlib import Path

from cuda_graphs._driver.choice import ensure_loaded

__all__ = ["trace"]


class _Noted(ctypes.Structure):
    """cgh_noted_node of call_watch.h."""

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
    """Write a timeline of the nodes of graphs that end inside the block to `path`, as JSON of Chrome's trace format.

    An event is a node: `name` is that of its kernel, or of its kind; `cat` its kind; `ts` and `dur` are microseconds;
    `tid` is the thread that ran it, a worker or one that waited; `args` says the number of the stream. A conditional
    node spans what its bodies did. Work that has not ended at the end of the block is not in it: wait for the stream
    inside.

    Blocks do not nest: an inner one ends the outer one's notes.

    Raises:
        RuntimeError: The process uses the CUDA driver, which does not tell when nodes run.
    """
    driver = ensure_loaded()
    if driver.kind != "host":
        raise RuntimeError(
            f"timeline.trace() notes nodes on the host driver, and this process uses the {driver.kind} driver "
            f"({driver.reason}), which tells the times of nodes to its own profilers only: use Nsight Systems."
        )
    library = ctypes.CDLL(driver.path)  # loaded already
    library.cghNotedNode.argtypes = [ctypes.c_uint64, ctypes.POINTER(_Noted)]
    library.cghNoteNodes(1)
    try:
        yield
    finally:
        library.cghNoteNodes(0)
        Path(path).write_text(json.dumps({"displayTimeUnit": "ns", "traceEvents": _events(library)}))


def _events(library: ctypes.CDLL) -> list[dict[str, object]]:
    node = _Noted()
    events: list[dict[str, object]] = []
    while library.cghNotedNode(len(events), ctypes.byref(node)) == 0:
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
