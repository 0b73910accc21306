# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A profile as JSON in Chrome's trace event format, for ui.perfetto.dev and chrome://tracing.

A device is a process, and a lane of a stream is a thread. Each run of a node or body is one complete event ("ph": "X").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .assembly import Assembly
from .events import Event, events_of

__all__ = ["trace_events"]


def trace_events(graphs: Sequence[Assembly], clock: str) -> dict[str, Any]:
    """Return the document. Times are microseconds since the first run."""
    events = events_of(graphs)
    begin = min((event.run.start for event in events), default=0)
    launches: dict[int, int] = {}
    for event in events:
        launches.setdefault(event.run.launch, len(launches))
    lanes = sorted({(event.device, event.stream, event.lane) for event in events})
    threads = {lane: number for number, lane in enumerate(lanes, 1)}
    return {
        "displayTimeUnit": "ns",
        "otherData": {"clock": clock},
        "traceEvents": [
            *names_of(threads),
            *(event_of(graphs, event, begin, launches[event.run.launch], threads) for event in events),
        ],
    }


def names_of(threads: dict[tuple[int, int, int], int]) -> Iterator[dict[str, Any]]:
    """Yield the events that name devices and lanes."""
    for device in sorted({device for device, _, _ in threads}):
        yield metadata("process_name", device, 0, f"device {device}")
    for (device, stream, lane), number in threads.items():
        name = f"stream {stream}" + (f", lane {lane + 1}" if lane else "")
        yield metadata("thread_name", device, number, name)


def metadata(name: str, pid: int, tid: int, value: str) -> dict[str, Any]:
    return {"name": name, "ph": "M", "pid": pid, "tid": tid, "args": {"name": value}}


def event_of(
    graphs: Sequence[Assembly],
    event: Event,
    begin: int,
    launch: int,
    threads: dict[tuple[int, int, int], int],
) -> dict[str, Any]:
    run, box = event.run, event.box
    arguments: dict[str, Any] = {
        "graph": graphs[event.graph].scene.title,
        "node": run.key,
        "launch": launch,
        "stream": event.stream,
        "device": event.device,
    }
    if box.kind == "body":
        arguments["iteration"] = run.iteration
    elif run.track:
        arguments["track"] = run.track
    if box.source:
        arguments["source"] = box.source
    if (size := graphs[event.graph].traffic.get(run.key)) is not None:
        arguments["bytes"] = size
    return {
        "name": box.title,
        "cat": box.kind,
        "ph": "X",
        "ts": (run.start - begin) / 1000,
        "dur": (run.end - run.start) / 1000,
        "pid": event.device,
        "tid": threads[event.device, event.stream, event.lane],
        "args": arguments,
    }
