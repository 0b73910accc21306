# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Records nodes with the clock of the host driver (hostdriver/test_hooks.h)."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence

from .definitions import Known
from .recording import BodyRun, NodeRun, Recording

__all__ = ["HostRecorder"]


class HostRecord(ctypes.Structure):
    """The struct cgh_node_record of test_hooks.h."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("kind", ctypes.c_char_p),
        ("node", ctypes.c_void_p),
        ("around", ctypes.c_uint64),
        ("number", ctypes.c_uint64),
        ("iteration", ctypes.c_uint64),
        ("thread", ctypes.c_uint64),
        ("stream", ctypes.c_uint64),
        ("start", ctypes.c_int64),
        ("end", ctypes.c_int64),
        ("branch", ctypes.c_uint32),
        ("device", ctypes.c_int32),
    )


class HostRecorder:
    """The recorder of the host driver whose library is at `path`."""

    def __init__(self, path: str) -> None:
        self.library = ctypes.CDLL(path)  # loaded already
        self.library.cghNodeRecord.argtypes = [ctypes.c_uint64, ctypes.POINTER(HostRecord)]

    identify = 0  # its records have the handles of nodes

    def start(self) -> None:
        self.library.cghRecordNodes(1)

    def stop(self) -> None:
        self.library.cghRecordNodes(0)

    def recording(self, launched: Sequence[tuple[int, Known | None]]) -> Recording:
        nodes: list[NodeRun] = []
        bodies: list[BodyRun] = []
        for r in self.records():
            node = r.node or 0
            if r.number:
                bodies.append(BodyRun(r.number, node, r.around, r.branch, r.iteration, r.start, r.end))
            elif node:  # the end of a child graph has no node
                name, kind = r.name.decode(errors="replace"), r.kind.decode()
                nodes.append(
                    NodeRun(node, name, kind, r.around, r.start, r.end, r.stream, r.thread, r.device)
                )
        return Recording(nodes, bodies, "the clock of the host driver")

    def records(self) -> Iterator[HostRecord]:
        """Yield the records. All of them are one object, which the next record overwrites."""
        record, index = HostRecord(), 0
        while self.library.cghNodeRecord(index, ctypes.byref(record)) == 0:
            yield record
            index += 1
