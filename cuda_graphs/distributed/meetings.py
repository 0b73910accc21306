# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Meetings: in debug mode, ranks compare their places in a running graph.

A conditional node whose predicate reads a value of one rank may run its body on some ranks only. These ranks then wait
in the body for the others, which are elsewhere. Therefore a meeting is added before each collective, and one follows
each launch: the ranks gather the numbers of the meetings that they have reached, and a kernel compares them. A body of
a definition with a collective also begins with a meeting, before its sends and receives. The thread of watch.py reads
the report of the kernel.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cuda_graphs.compiler.ir.types import SCALARS
from cuda_graphs.compiler.language.declarations import Array1, i64
from cuda_graphs.compiler.language.intrinsics import loop_config
from cuda_graphs.kernels.arrays.creation import array, zeros
from cuda_graphs.kernels.call.decorator import kernel
from cuda_graphs.objects.memory.memory_resource import PinnedMemoryResource

from .steps import Step, read_operand

__all__ = ["Meetings"]

NAME = "meeting of ranks"


@kernel
def compare_places(numbers: Array1[i64], report: Array1[i64], word: Array1[i64]) -> None:
    loop_config(serialize=True)
    for _ in range(1):
        for rank in range(numbers.shape[0]):
            if numbers[rank] != numbers[0] and report[0] == 0:
                for each in range(numbers.shape[0]):
                    report[1 + each] = numbers[each]
                report[0] = 1
                word[0] = 1


class Meetings:
    """The meetings of one definition.

    Args:
        engine: The engine of its collectives.
    """

    def __init__(self, engine: Any) -> None:
        self._engine, self._places = engine, ["the end of the launch"]
        self._numbers = zeros(engine.size, np.int64)
        memory = PinnedMemoryResource().allocate(8 * (1 + engine.size))
        # [0] is 1 after a difference; the numbers of all ranks follow.
        self._found = np.from_dlpack(memory).view(np.int64)
        self._found[:] = 0
        self._report = memory.view(SCALARS["i64"], 1 + engine.size)
        self._end = array([0], np.int64)

    def add(self, place: Any, steps: Any, lease: Any) -> Any:
        """Add the meeting before a collective that will be added after `place`. Returns the place after it."""
        graph = getattr(place, "graph", place)
        others = graph.nodes()
        if not any(node.name == NAME for node in others):
            _, last = self._add(graph, f"the beginning of {graph._identify()}", lease)
            for node in others:
                if not node.pred:
                    node.pred.add(last)
            place = place if place in others else last  # the place before all nodes is in no set
        meeting, last = self._add(place, steps[0].name, lease)
        lease.nodes.append(meeting)
        return last

    def _add(self, place: Any, what: str, lease: Any) -> tuple[Any, Any]:
        """Add a meeting. Returns its first and its last node."""
        meeting, _ = self._engine.add(place, [self._step(self._number(what))], lease)
        meeting.name = NAME
        self._places[-1] += f" ({meeting.source})"
        return meeting, meeting.call(
            compare_places, self._numbers, self._report, self._engine.health.device_word
        )

    def run(self, stream: Any, steps: Any, lease: Any) -> None:
        """Capture the meeting before a collective on the current stream."""
        self._engine.run(stream, [self._step(self._number(f"a captured {steps[0].name}"))], lease)
        compare_places(self._numbers, self._report, self._engine.health.device_word)

    def end(self, stream: Any, lease: Any) -> None:
        """Start the meeting after a launch on the current stream."""
        self._engine.run(stream, [self._step(self._end)], lease)
        compare_places(self._numbers, self._report, self._engine.health.device_word)

    def find_difference(self) -> str | None:
        """Return the difference that a launch has found, or None."""
        if not self._found[0]:
            return None
        places = [self._places[number] for number in self._found[1:]]
        other = next(rank for rank, place in enumerate(places) if self._found[1 + rank] != self._found[1])
        return (
            f"ranks are at different places of a graph: rank 0 is at {places[0]}, and rank {other} at {places[other]}. "
            "The predicate of a conditional node differs between ranks: let it read a value that is equal on all "
            "ranks, such as the result of all_reduce"
        )

    def _number(self, place: str) -> Any:
        self._places.append(place)
        return array([len(self._places) - 1], np.int64)

    def _step(self, number: Any) -> Step:
        source, target = read_operand(number, "meeting"), read_operand(self._numbers, "meeting")
        return Step("all_gather", source, target, 1, source)
