# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Lease: the use of an engine by one definition, or by the calls outside of graphs.

Nodes own the Lease, and executables keep the owners of their nodes. A Lease lives as long as a graph can use its
engine. It sees each launch of these executables (graph/nodes/launch_guards.py), and refuses those that would overlap.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from cuda_graphs.errors import CUDAError
from cuda_graphs.graph.analysis.accesses import register_token
from cuda_graphs.graph.capture.captured_insertion_point import CapturedInsertionPoint
from cuda_graphs.graph.nodes.node_sequence import NodeSequence
from cuda_graphs.kernels.arrays.captures import capture_of
from cuda_graphs.kernels.arrays.creation import zeros
from cuda_graphs.objects.device.current import stream as stream_block

from .health import RankError
from .meetings import Meetings
from .plans import PAIRED, Call
from .steps import Step

__all__ = ["Lease", "refuse_parameters"]


class Launches:
    """The launches of the executables whose collectives use one engine.

    Attributes:
        last: A weak reference to the executable that was launched last.
        stream: The handle of its stream.
        end: The Event after the last launch or call.
    """

    def __init__(self) -> None:
        self.last: Callable[[], Any] = lambda: None
        self.stream = 0
        self.end: Any = None


class Lease:
    """The use of an engine.

    Args:
        engine: The engine.
        number: The number of the engine in its communicator, the same on all ranks; 0 for calls outside of graphs.
        before_first: In debug mode, a function that is called with this Lease before the first launch of an executable.
            Ranks then compare their places in the graph, too.
        parent: The Lease of the graph kernel whose graph the definition is. Its graphs share the engine, and never run
            at the same time. Ranks may make and drop them in different calls, so each launch is compared.

    Attributes:
        token: Memory that each collective writes: `GraphDef.check` and task flows order collectives by it.
        calls: The collectives of the definition, in the order in which they were added.
        refusal: Of a graph kernel: why the host runs its loops; None if the device does.
        is_settled: True if the ranks have agreed on `refusal`.
    """

    def __init__(
        self,
        engine: Any,
        number: int = 0,
        before_first: Callable[[Lease], None] | None = None,
        parent: Lease | None = None,
    ) -> None:
        self.engine, self.number, self._parent = engine, number, parent
        self.token = zeros(1, np.int64)
        self._launches: Launches = Launches() if parent is None else parent._launches
        register_token(self.token.handle, self)
        self.nodes = NodeSequence()
        self.calls: list[Call] = []
        self.captured: tuple[int, Any] = (
            0,
            None,
        )  # the capture of the last collective, and the position after it
        self.refusal: str | None = None
        self.is_settled = False
        self._meetings = None if before_first is None else Meetings(engine)
        self._before_first, self._begun = before_first, weakref.WeakSet[Any]()
        self._arrays: list[weakref.ref[Any]] = []
        self._graphs: weakref.WeakSet[Any] = weakref.WeakSet()  # that were launched
        engine.health.add_lease(self)

    def child(self) -> Lease:
        """Return the Lease of one graph of a graph kernel, whose Lease this is."""
        return Lease(self.engine, self.number, self._before_first, self)

    def add_captured(self, place: CapturedInsertionPoint, stream: Any, steps: Sequence[Step]) -> None:
        """Capture steps after the collectives that were captured before."""
        refuse_parameters(steps, "in a capture: add it to a definition with call()")
        number, last = self.captured
        if number == capture_of(stream):
            place.follow(last)
        place.keep((self, [each for step in steps for each in step.kept]))
        if self._meetings is not None and is_of_all_ranks(steps):
            self._meetings.run(stream, steps, self)
        self.engine.run(stream, steps, self)
        self.captured = capture_of(stream), CapturedInsertionPoint(stream)
        self.note(steps, "in a capture")

    def add(self, place: Any, steps: Sequence[Step]) -> Any:
        """Add a node after `place`, and after the collectives that were added before."""
        if self._meetings is not None and is_of_all_ranks(steps):
            place = self._meetings.add(place, steps, self)
        node, last = self.engine.add(place, steps, self)
        self.nodes.append(node)
        self.note(steps, place_of(node))
        return last

    def note(self, steps: Sequence[Step], place: str) -> None:
        self.calls += [Call.of(step, place) for step in steps]
        self.remember(steps)

    def remember(self, steps: Sequence[Step]) -> None:
        """Keep weak references to arrays, which must live on if the call never ends."""
        self._arrays = [each for each in self._arrays if each() is not None]
        for step in steps:
            for array in step.kept:
                with suppress(
                    TypeError
                ):  # the memory of an array without weak references outlives nothing here
                    self._arrays.append(weakref.ref(array))

    def arrays(self) -> list[Any]:
        return [array for array in (each() for each in self._arrays) if array is not None]

    # ---- launches

    def before_launch(self, graph: Any, stream: Any) -> None:
        """Refuse a launch that could overlap another one.

        Raises:
            RankError: A rank has ended, or debug mode finds a difference between the ranks.
            RuntimeError: An executable of the same definition may still be running on another stream.
        """
        self.engine.health.check()
        if capture_of(stream):
            return
        other = self._launches.last()
        if other not in (None, graph) and self._launches.stream != stream.handle and self.is_busy:
            raise RuntimeError(
                f"{graph!r} cannot be launched on {stream!r}: {other!r}, whose collectives use the same communicator, "
                f"may still be running on stream {self._launches.stream:#x}. Launch both on one stream, or wait for "
                "the other launch"
            )
        if self._before_first is not None and (self._parent is not None or graph not in self._begun):
            self._before_first(self)
            self._begun.add(graph)
        self._graphs.add(graph)

    def after_launch(self, graph: Any, stream: Any) -> None:
        """Note the end of a launch."""
        if capture_of(stream):
            return
        if self._meetings is not None:
            with stream_block(stream):
                self._meetings.end(stream, self)
        self._launches.last, self._launches.stream = weakref.ref(graph), stream.handle
        self.end_at(stream.record())
        if self.engine.health.reason is not None:  # since before_launch
            graph.cancel()
            self.engine.health.check()

    def end_at(self, event: Any) -> None:
        self._launches.end = event

    @property
    def is_busy(self) -> bool:
        end = self._launches.end
        return end is not None and not end.is_done

    def wait(self) -> None:
        """Wait for the last launch or call, whose errors others have raised."""
        if self._launches.end is not None:
            with suppress(RankError):
                self._launches.end.sync()

    def find_difference(self) -> str | None:
        """Return the difference between ranks that debug mode has found in a launch, or None."""
        return None if self._meetings is None else self._meetings.find_difference()

    def cancel(self) -> list[str]:
        """End the loops of the executables. Returns the texts of refusals."""
        refusals = []
        for graph in list(self._graphs):
            if not graph.is_closed:
                try:
                    graph.cancel()
                except (RuntimeError, CUDAError) as error:
                    refusals.append(f"a loop of {graph!r} goes on: {error}")
        return refusals


def is_of_all_ranks(steps: Sequence[Step]) -> bool:
    return any(step.name not in PAIRED for step in steps)


def refuse_parameters(steps: Sequence[Step], why: str) -> None:
    """Refuse named parameters of graphs."""
    for step in steps:
        for each in step.operands:
            if each.is_parameter:
                raise TypeError(f"{step.name}(): {each.array!r} has no value {why}")


def place_of(node: Any) -> str:
    """Return the place in the program that added a node."""
    return str(node.source or "an unknown place")
