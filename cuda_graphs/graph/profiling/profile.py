# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Profile: the times of the nodes of all graphs that were launched in a `with` block."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Sequence
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any

from cuda_graphs.core.driver.choice import ensure_loaded
from cuda_graphs.objects.numbers import need_int

from . import watch
from .analysis import Gap, ProfileRow, find_gaps, rows_of, spans_of
from .assembly import Assembly, assemble
from .host_recorder import HostRecorder
from .recording import Recorder
from .table import html_of, share_in_words, text_of, time_in_words
from .trace_events import trace_events

if TYPE_CHECKING:
    from cuda_graphs.graph.nodes.protocols import Definition

__all__ = ["GraphProfile", "Profile", "profile", "profile_launches"]

MOST_GAPS = 3  # that the text shows

recording = threading.Lock()  # held while a profile is recorded


def profile() -> Profile:
    """Return a Profile that records the nodes of all graphs that the process runs in a `with` block.

        with cg.profile() as p:
            graph.launch(stream)
            stream.sync()
        print(p)

    Nodes that still run at the end of the block are left out, so wait for the streams inside the block. Blocks do not
    nest. On a GPU the profile needs the package cupti-python (the extra `profile`).
    """
    return Profile()


class Profile:
    """The times of the nodes of graphs. Made by `profile()` and `Graph.profile`.

    `print` shows a table for each graph, and notebooks show the tables. A star marks the nodes of the critical path.
    """

    def __init__(self) -> None:
        self._recorder: Recorder | None = None
        self._graphs: tuple[GraphProfile, ...] | None = None
        self._clock = ""
        self._missing: tuple[str, ...] = ()

    def __enter__(self) -> Profile:
        if self._recorder is not None:
            raise RuntimeError("a Profile records one block: call cuda_graphs.profile() for another one")
        recorder = make_recorder()
        if not recording.acquire(blocking=False):
            raise RuntimeError(
                "another profile is being recorded: profiles do not nest, so end its block first"
            )
        try:
            recorder.start()
            watch.begin()
        except BaseException:
            recording.release()
            raise
        self._recorder = recorder
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._recorder is not None
        try:
            self._recorder.stop()
        finally:
            launched = watch.end()
            recording.release()
        definitions = list(dict.fromkeys(each for _, each in launched if each is not None))
        self._read(self._recorder, definitions)

    def _read(self, recorder: Recorder, definitions: Sequence[Definition]) -> None:
        found = recorder.recording([])
        limits = memory_limits()
        self._graphs = tuple(GraphProfile(each, limits) for each in assemble(definitions, found))
        self._clock, self._missing = found.clock, found.missing

    @property
    def graphs(self) -> tuple[GraphProfile, ...]:
        """A GraphProfile for each definition whose executables ran, and one for graphs whose definitions are gone.

        Raises:
            RuntimeError: The block has not ended.
        """
        if self._graphs is None:
            raise RuntimeError("the profile has no times yet: they are there after the end of its with block")
        return self._graphs

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all runs to a file as JSON in Chrome's trace event format, for ui.perfetto.dev and chrome://tracing.

        Raises:
            TypeError: `path` is not a str or `os.PathLike`.
            OSError: The file cannot be written.
            RuntimeError: The block has not ended.
        """
        if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
            raise TypeError(f"path must be a str or an os.PathLike of a str, got {type(path).__name__}")
        document = trace_events([each._found for each in self.graphs], self._clock)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)

    def __str__(self) -> str:
        if self._graphs is None:
            return repr(self)
        parts = [str(each) for each in self._graphs] or ["no graph ran"]
        return "\n\n".join([*parts, *self._missing])

    def __repr__(self) -> str:
        if self._graphs is None:
            return "<Profile without times>"
        launches = sum(each.launches for each in self._graphs)
        return f"<Profile of {launches} launch{'es' * (launches != 1)}, {self._clock}>"

    def _repr_mimebundle_(self, **types: Any) -> dict[str, str]:
        if not self._graphs:
            return {"text/plain": str(self)}
        html = "\n".join(each._html() for each in self._graphs)
        return {"text/html": html, "text/plain": str(self)}


class GraphProfile:
    """The times of the nodes of one graph. All times are in nanoseconds.

    Attributes:
        title: The name of the graph.
        launches: The number of launches.
    """

    def __init__(self, found: Assembly, limits: dict[int, float]) -> None:
        self._found, self._limits = found, limits
        self._spans = spans_of(found)
        self.title = found.scene.title
        self.launches = len(self._spans)

    @cached_property
    def rows(self) -> tuple[ProfileRow, ...]:
        """A ProfileRow for each node and each body, in the order of the graph."""
        return tuple(rows_of(self._found, self._limits))

    @property
    def spans(self) -> tuple[int, ...]:
        """The time of each launch, from the start of its first node to the end of its last one."""
        return tuple(each.end - each.start for each in self._spans.values())

    @cached_property
    def gaps(self) -> tuple[Gap, ...]:
        """The gaps in which no node of the launch ran, those of the longest time first."""
        return tuple(find_gaps(self._found))

    @property
    def critical_path(self) -> tuple[ProfileRow, ...]:
        """The path of dependencies whose nodes take most time together. Nodes inside of graphs in it are left out.

        Empty for graphs whose definitions are gone.
        """
        return tuple(row for row in self.rows if row.is_critical and row.depth == 0)

    @property
    def critical_share(self) -> float:
        """The time of the critical path as a share of the time of the launches. The rest are gaps on that path."""
        return sum(row.share for row in self.critical_path)

    def __str__(self) -> str:
        return "\n".join([*self._summary(), *text_of(self.rows, self.launches)])

    def __repr__(self) -> str:
        return f"<GraphProfile of {self.title}>"

    def _summary(self) -> list[str]:
        spans = self.spans
        many = f"{self.launches} launch{'es' * (self.launches != 1)}"
        times = [time_in_words(each) for each in (sum(spans) / len(spans), min(spans), max(spans))]
        lines = [f"{self.title}: {many}, {times[0]} each (min {times[1]}, max {times[2]})"]
        if path := self.critical_path:
            time = time_in_words(sum(row.total for row in path) / self.launches)
            names = ", ".join(row.name for row in path)
            lines.append(f"critical path {time}, {share_in_words(self.critical_share)} of a launch: {names}")
        total = sum(gap.total for gap in self.gaps)
        lines.append(
            f"gaps {time_in_words(total / self.launches)}, {share_in_words(total / sum(spans))} of a launch"
        )
        return lines

    def _html(self) -> str:
        return html_of(". ".join(self._summary()), self.rows, self.launches)


def make_recorder() -> Recorder:
    driver = ensure_loaded()
    if driver.kind == "host":
        return HostRecorder(driver.path)
    raise RuntimeError(
        f"profiles need the host driver, and this process uses the {driver.kind} driver ({driver.reason}): "
        "use Nsight Systems"
    )


def memory_limits() -> dict[int, float]:
    """Return the bytes per second that the memory of each device can move; nothing for the host driver."""
    return {}


def profile_launches(graph: Any, stream: Any, launches: int) -> Profile:
    """See Graph.profile."""
    count = need_int(launches, "launches")
    if count < 1:
        raise ValueError(f"launches must be 1 or more, got {count}")
    graph.upload(stream)
    stream.sync()
    with profile() as found:
        for _ in range(count):
            graph.launch(stream)
        stream.sync()
    return found
