# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Records nodes on GPUs with CUPTI, through the package cupti-python (the extra `profile`).

CUPTI reports kernels, copies and fills of graphs, each with a number: the number of the executable in the upper 32
bits, and the number of the node in the executable in the lower ones. `executable_numbers` finds the nodes of the
definition for them, and `launches_of` the launch. CUPTI reports neither other kinds of nodes nor when a conditional
node or an iteration begins: `Placement` finds these from the nodes inside.
"""

from __future__ import annotations

import ctypes
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from cuda_graphs.drawing.scene import Box, Plane

from .cupti_launches import LAUNCHES_AS_ONE, LOW, Record, launches_of
from .definitions import Known
from .recording import BodyRun, NodeRun, Recording

__all__ = ["CuptiRecorder", "executable_numbers", "place_records"]

LIBRARY = "libcupti.so.13"
BUFFER = 8 << 20  # bytes of a buffer that CUPTI fills
# Kind of an activity -> kind of a node. COPY2 is a copy between devices.
KINDS = {"CONCURRENT_KERNEL": "KERNEL", "MEMCPY": "MEMCPY", "MEMCPY2": "MEMCPY", "MEMSET": "MEMSET"}

NOT_REPORTED = (
    "CUPTI reports kernels, copies and fills only: callbacks, allocations, events and empty nodes have no times. "
    "Conditional nodes and bodies last from the first to the last reported node in them."
)
ONE_ITERATION = (
    "CUPTI reported one iteration of each loop: it reports all of them for graphs that are instantiated after the "
    "first profile of the process has begun."
)


def load_cupti() -> Any:
    try:
        from cupti import cupti
    except ImportError as error:
        raise ImportError(
            "profiles of a GPU need the package cupti-python: pip install 'cuda-graphs[profile]' "
            "(the host driver needs no package)"
        ) from error
    return cupti


class CuptiRecorder:
    """The recorder of GPUs. CUPTI has one user in a process at a time."""

    def __init__(self) -> None:
        self.cupti = load_cupti()
        self.kinds = {getattr(self.cupti.ActivityKind, name): kind for name, kind in KINDS.items()}
        self.records: list[Record] = []
        self.enabled: list[Any] = []

    @property
    def identify(self) -> int:
        """The address of the C function that gives an executable its number."""
        function = ctypes.CDLL(LIBRARY).cuptiGetGraphExecId  # loaded already
        return ctypes.cast(function, ctypes.c_void_p).value or 0

    def start(self) -> None:
        try:
            self.cupti.activity_register_callbacks(lambda: (BUFFER, 0), self.take)
            for kind in self.kinds:
                self.cupti.activity_enable(kind)
                self.enabled.append(kind)
        except self.cupti.cuptiError as error:
            self.disable()
            raise RuntimeError(
                f"CUPTI cannot record: {error}. Another profiler, such as Nsight Systems or torch.profiler, may use "
                "it: end the other one, or use it alone"
            ) from error

    def stop(self) -> None:
        self.cupti.activity_flush_all(1)
        self.disable()

    def disable(self) -> None:
        for kind in self.enabled:
            self.cupti.activity_disable(kind)
        self.enabled.clear()

    def take(self, activities: Iterable[Any]) -> None:
        """Keep the activities of graph nodes. CUPTI calls this with each full buffer."""
        for each in activities:
            kind = self.kinds.get(each.kind)
            # A body that did not run has a record without times.
            if kind is not None and each.graph_node_id and each.start:
                name = each.name if kind == "KERNEL" else kind
                self.records.append(
                    Record(
                        kind,
                        name,
                        each.graph_node_id,
                        each.correlation_id,
                        each.start,
                        each.end,
                        each.stream_id,
                        each.device_id,
                    )
                )

    def recording(self, launched: Sequence[tuple[int, Known | None]]) -> Recording:
        """See Recorder.recording."""
        return place_records(self.records, launched, self.cupti.get_graph_node_id)


def place_records(
    records: Iterable[Record],
    launched: Sequence[tuple[int, Known | None]],
    number_of: Callable[[int], int],
) -> Recording:
    """Return the Recording of CUPTI's records. `number_of` gives CUPTI's number for the handle of a node."""
    by_executable: dict[int, list[Record]] = defaultdict(list)
    for record in sorted(records, key=lambda each: each.start):
        by_executable[record.node >> 32].append(record)
    definitions = dict(launched)
    placement = Placement()
    for number, found in by_executable.items():
        known = definitions.get(number)
        keys = {} if known is None else checked_keys(known, found, number_of)
        for launch, part in launches_of(found, Plane() if known is None else known.scene.plane, keys).items():
            # Launches without a number have one of their own for each executable.
            placement.add(known, keys, part, 2 * (launch or -number))
    return Recording(placement.nodes, placement.bodies, "CUPTI, on the clock of the GPU", placement.missing())


# ---- numbers of nodes ------------------------------------------------------------------------------------------------


def executable_numbers(known: Known, number_of: Callable[[int], int]) -> dict[int, str]:
    """Return the key of each node by its number in an executable of the definition.

    libcuda 580 on an H200: nodes of the outermost graph keep their numbers. The nodes of inner graphs follow: for each
    node with graphs, in order, the nodes of all of its graphs, and then those inside of these.
    """
    numbers: dict[int, str] = {}
    plane = known.scene.plane
    for box in plane.boxes:
        numbers[number_of(known.handles[box.key]) & LOW] = box.key
    following = max(numbers, default=-1) + 1

    def local(box: Box) -> int:
        return number_of(known.handles[box.key]) & LOW

    waiting: list[Box] = sorted(plane.boxes, key=local, reverse=True)
    while waiting:
        box = waiting.pop()
        inner = [sorted(frame.plane.boxes, key=local) for frame in box.frames]
        for boxes in inner:
            for each in boxes:
                numbers[following] = each.key
                following += 1
        waiting += reversed([each for boxes in inner for each in boxes])
    return numbers


def checked_keys(known: Known, records: Sequence[Record], number_of: Callable[[int], int]) -> dict[int, str]:
    """Return `executable_numbers`. Nodes of inner graphs are left out if the names of most of their kernels differ.

    Another version of the driver may count in another way.
    """
    numbers = executable_numbers(known, number_of)
    inner = [
        (record.name, kernel)
        for record in records
        if record.kind == "KERNEL"
        for key in [numbers.get(record.node & LOW, "")]
        if "." in key and (kernel := known.kernels.get(key)) is not None
    ]
    if 2 * sum(name == kernel for name, kernel in inner) < len(inner):
        return {number: key for number, key in numbers.items() if "." not in key}
    return numbers


# ---- launches, bodies and iterations ---------------------------------------------------------------------------------

Placed = tuple[tuple[int, ...], Record]  # the steps of the key, and the record


class Placement:
    """The runs of nodes and bodies of all launches."""

    def __init__(self) -> None:
        self.nodes: list[NodeRun] = []
        self.bodies: list[BodyRun] = []
        # Most iterations of each while node in a run of it, by its handle.
        self.loops: Counter[int] = Counter()
        self.last_body = -1
        self.has_joined_launches = False

    def run_of(
        self, record: Record, node: int, around: int, first: Record, end: int | None = None
    ) -> NodeRun:
        """Return a run of a node. The stream of `first`, a record of the launch, stands for that of the launch."""
        return NodeRun(
            node,
            record.name,
            record.kind,
            around,
            record.start,
            record.end if end is None else end,
            first.stream,
            record.stream,
            record.device,
        )

    def add(
        self, known: Known | None, numbers: Mapping[int, str], records: Sequence[Record], launch: int
    ) -> None:
        """Add a launch. The records are in the order of their starts. `known` is None if the definition is gone."""
        self.has_joined_launches |= launch < 0
        if known is None:
            self.nodes += (self.run_of(record, 0, launch, record) for record in records)
            return
        placed: list[Placed] = []
        for record in records:
            key = numbers.get(record.node & LOW)
            if key is None:
                self.nodes.append(self.run_of(record, 0, launch, records[0]))
            else:
                placed.append((tuple(map(int, key.split("."))), record))
        # (plane, its records, number of the body run or launch): a stack, as graphs may be nested deeply.
        waiting = [(known.scene.plane, placed, launch)]
        while waiting:
            plane, inside, around = waiting.pop()
            waiting += self.add_plane(known, plane, inside, around, records[0])

    def add_plane(
        self, known: Known, plane: Plane, placed: Sequence[Placed], around: int, first: Record
    ) -> Iterator[tuple[Plane, list[Placed], int]]:
        """Add the runs of the nodes of a plane. Yield what is inside of them."""
        depth = len(plane.boxes[0].key.split(".")) if plane.boxes else 0
        by_box: dict[int, list[Placed]] = defaultdict(list)
        for steps, record in placed:
            by_box[steps[depth - 1]].append((steps, record))
        for number, inside in by_box.items():
            box = plane.boxes[number]
            handle = known.handles[box.key]
            if not box.frames:
                self.nodes += (self.run_of(record, handle, around, first) for _, record in inside)
                continue
            begin, end = inside[0][1], max(record.end for _, record in inside)
            kind = "GRAPH" if box.kind == "child" else "CONDITIONAL"
            self.nodes.append(self.run_of(begin._replace(name=kind, kind=kind), handle, around, first, end))
            yield from self.enter(box, handle, inside, depth, around)

    def enter(
        self, box: Box, handle: int, inside: Sequence[Placed], depth: int, around: int
    ) -> Iterator[tuple[Plane, list[Placed], int]]:
        """Add the runs of the bodies of a node. Yield their planes, with their records."""
        by_frame: dict[int, list[Placed]] = defaultdict(list)
        for steps, record in inside:
            by_frame[steps[depth]].append((steps, record))
        for branch, found in by_frame.items():
            plane = box.frames[branch].plane
            if box.kind == "child":
                yield plane, found, around
                continue
            iterations = split(plane, found, depth + 2) if box.kind == "while" else [found]
            if box.kind == "while":
                self.loops[handle] = max(self.loops[handle], len(iterations))
            for number, part in enumerate(iterations):
                self.last_body += 2
                start, end = part[0][1].start, max(record.end for _, record in part)
                self.bodies.append(BodyRun(self.last_body, handle, around, branch, number, start, end))
                yield plane, part, self.last_body

    def missing(self) -> tuple[str, ...]:
        """Return sentences about what CUPTI did not report."""
        is_single = bool(self.loops) and max(self.loops.values()) == 1
        notes = {ONE_ITERATION: is_single, LAUNCHES_AS_ONE: self.has_joined_launches}
        return NOT_REPORTED, *(note for note, holds in notes.items() if holds)


def split(plane: Plane, found: Sequence[Placed], depth: int) -> list[list[Placed]]:
    """Return the records of each iteration of a body. An iteration ends with the last reported node of the body.

    Only nodes without graphs count for that. Without such a node all records are one iteration.
    """
    leaves = [number for number, box in enumerate(plane.boxes) if not box.frames]
    reported = {steps[depth - 1] for steps, _ in found if len(steps) == depth}
    last = next((number for number in reversed(leaves) if number in reported), None)
    parts: list[list[Placed]] = [[]]
    is_over = False
    for steps, record in found:
        if is_over:
            parts.append([])
        parts[-1].append((steps, record))
        is_over = len(steps) == depth and steps[depth - 1] == last
    return parts
