# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Profile: the times of the nodes of all graphs that were launched in a `with` block."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any

from cuda_graphs.core.driver.choice import ensure_loaded
from cuda_graphs.objects.device.device import Device
from cuda_graphs.objects.numbers import need_int

from . import pictures, watch
from .analysis import Gap, ProfileRow, find_gaps, rows_of, spans_of
from .assembly import Assembly, assemble
from .cupti_recorder import CuptiRecorder
from .definitions import Known
from .host_recorder import HostRecorder
from .ranges import RangesOnly, is_attached, marked
from .recording import Recorder
from .table import html_of, share_in_words, text_of, time_in_words
from .trace_events import trace_events

if TYPE_CHECKING:
    from cuda_graphs.drawing.gantt import Gantt
    from cuda_graphs.drawing.picture import Picture
    from cuda_graphs.graph.nodes.protocols import Definition

__all__ = ["GraphProfile", "Profile", "profile", "profile_launches"]

MOST_NAMED = 12  # nodes of the critical path that the text names

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
        self._range: AbstractContextManager[Any]
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
            self._recorder = begin(recorder)
            self._range = marked("profile")
            self._range.__enter__()
        except BaseException:
            recording.release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._recorder is not None
        self._range.__exit__(kind, error, trace)
        try:
            self._recorder.stop()
        finally:
            launched = watch.end()
            recording.release()
        self._read(self._recorder, launched)

    def _read(self, recorder: Recorder, launched: Sequence[tuple[int, Definition | None]]) -> None:
        known = {each: Known(each) for _, each in launched if each is not None}
        numbers = [(number, None if each is None else known[each]) for number, each in launched]
        found = recorder.recording(numbers)
        limits = memory_limits({run.device for run in found.nodes})
        self._graphs = tuple(GraphProfile(each, limits) for each in assemble(known.values(), found))
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

    @property
    def missing(self) -> tuple[str, ...]:
        """A sentence for each kind of time that the recorder could not report. Empty on the host driver."""
        return self._missing

    @property
    def _only(self) -> GraphProfile:
        if not self.graphs:
            raise ValueError("the profile has no graph: none was launched in its with block")
        if len(self.graphs) > 1:
            raise ValueError(
                f"the profile has {len(self.graphs)} graphs: choose one, as in p.graphs[0].draw()"
            )
        return self.graphs[0]

    def draw(self, path: str | os.PathLike[str] | None = None, *, theme: str = "auto") -> Picture:
        """Return a Picture of the graph, coloured by time. See GraphProfile.draw.

        Raises:
            ValueError: The profile has no graph, or more than one.
        """
        return self._only.draw(path, theme=theme)

    def gantt(
        self, path: str | os.PathLike[str] | None = None, *, launch: int | None = None, theme: str = "auto"
    ) -> Gantt:
        """Return a Gantt chart of one launch. See GraphProfile.gantt.

        Raises:
            ValueError: The profile has no graph, or more than one.
        """
        return self._only.gantt(path, launch=launch, theme=theme)

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
        return "\n\n".join([*parts, *self.missing])

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

    @property
    def definition(self) -> Definition | None:
        """The definition that was launched, or None if it is gone. The profile does not keep it alive."""
        return None if self._found.of is None else self._found.of()

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

    def draw(self, path: str | os.PathLike[str] | None = None, *, theme: str = "auto") -> Picture:
        """Return a Picture of the graph, coloured by time, and write it to a file if `path` is given.

        Args:
            path: A file whose name ends with .svg, .html, .png (needs the extra `png`) or .dot.
            theme: "light" or "dark". "auto" follows the page around the picture.

        Raises:
            TypeError, ValueError: For the arguments.
            OSError: The file cannot be written.
            ImportError: A PNG is wanted, and its library is not installed.
        """
        return pictures.draw(self, path, theme)

    def gantt(
        self, path: str | os.PathLike[str] | None = None, *, launch: int | None = None, theme: str = "auto"
    ) -> Gantt:
        """Return a Gantt chart of one launch, and write it to a file if `path` is given.

        Args:
            path: A file whose name ends with .svg or .png (needs the extra `png`).
            launch: The number of the launch, from 0. None: the launch whose time is the median.
            theme: "light" or "dark". "auto" follows the page around the chart.

        Raises:
            TypeError, ValueError: For the arguments.
            OSError: The file cannot be written.
            ImportError: A PNG is wanted, and its library is not installed.
        """
        return pictures.gantt(self, path, launch, theme)

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
            names = ", ".join(row.name for row in path[:MOST_NAMED])
            names += f" and {len(path) - MOST_NAMED} more" if len(path) > MOST_NAMED else ""
            lines.append(f"critical path {time}, {share_in_words(self.critical_share)} of a launch: {names}")
        total = sum(gap.total for gap in self.gaps)
        lines.append(
            f"gaps {time_in_words(total / self.launches)}, {share_in_words(total / sum(spans))} of a launch"
        )
        return lines

    def _repr_mimebundle_(self, **types: Any) -> dict[str, str]:
        return {"text/html": self._html(), "text/plain": str(self)}

    def _html(self) -> str:
        return html_of(". ".join(self._summary()), self.rows, self.launches)


def make_recorder() -> Recorder:
    driver = ensure_loaded()
    return HostRecorder(driver.path) if driver.kind == "host" else CuptiRecorder()


def begin(recorder: Recorder) -> Recorder:
    """Start a recorder, or one that records nothing if an attached profiler uses CUPTI. Return it."""
    try:
        recorder.start()
    except RuntimeError:
        if not is_attached():
            raise
        return RangesOnly()
    try:
        watch.begin(recorder.identify)
    except BaseException:
        recorder.stop()
        raise
    return recorder


def memory_limits(devices: Iterable[int]) -> dict[int, float]:
    """Return the bytes per second that the memory of each device can move; nothing for the host driver."""
    if ensure_loaded().kind == "host":
        return {}
    limits = {}
    for ordinal in devices:
        properties = Device(ordinal).properties
        # The memory clock is in kHz, and memory of double data rate moves two words in a cycle.
        limits[ordinal] = 2e3 * properties.memory_clock_rate * properties.global_memory_bus_width / 8
    return limits


def profile_launches(graph: Any, stream: Any, launches: int) -> Profile:
    """See Graph.profile."""
    count = need_int(launches, "launches")
    if count < 1:
        raise ValueError(f"launches must be 1 or more, got {count}")
    graph.upload(stream)
    stream.sync()
    with profile() as found:
        for number in range(count):
            with marked(f"launch {number}"):
                graph.launch(stream)
        stream.sync()
    return found
