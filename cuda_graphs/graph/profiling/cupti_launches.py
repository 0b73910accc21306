# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the launches of CUPTI's records.

The correlation number of a record is that of its launch. CUPTI 13.4 and libcuda 580.159 on an H100 give the number 0 to
the nodes in bodies, so these are placed by their times: launches of one executable do not overlap.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cuda_graphs.drawing.scene import Plane

__all__ = ["LAUNCHES_AS_ONE", "Record", "launches_of"]

LOW = 0xFFFFFFFF

LAUNCHES_AS_ONE = (
    "CUPTI did not report the launches of nodes in bodies. For a graph with no other reported nodes, all launches "
    "count as one."
)


class Record(NamedTuple):
    """An activity of a graph node: its kind (KINDS in cupti_recorder.py), and fields of CUPTI's record."""

    kind: str
    name: str
    node: int
    correlation: int
    start: int
    end: int
    stream: int
    device: int


def launches_of(records: Sequence[Record], plane: Plane, keys: Mapping[int, str]) -> dict[int, list[Record]]:
    """Return the records of each launch of one executable, by the correlation number of the launch.

    The launch 0 has all records if none has a number. The records are in the order of their starts, before and after.
    `keys` has the key of each node in `plane` by its number in the executable.
    """
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for record in records:
        if record.correlation:
            first.setdefault(record.correlation, record.start)
            last[record.correlation] = record.start
    numbers, starts = [*first], [*first.values()]
    following = boxes_before_launch_reports(records, plane, keys)

    def launch(record: Record) -> int:
        if record.correlation or not numbers:
            return record.correlation
        place = bisect_right(starts, record.start) - 1
        is_between = 0 <= place < len(numbers) - 1 and record.start > last[numbers[place]]
        if is_between and outermost(keys.get(record.node & LOW)) in following:
            place += 1
        return numbers[max(place, 0)]

    found: dict[int, list[Record]] = defaultdict(list)
    for record in records:
        found[launch(record)].append(record)
    return found


def boxes_before_launch_reports(records: Sequence[Record], plane: Plane, keys: Mapping[int, str]) -> set[int]:
    """Return the numbers of the boxes of a plane that end before a node whose records tell their launch.

    Between two launches such a box belongs to the later one: it has ended before the last record of the earlier one.
    """
    reported = {outermost(keys.get(each.node & LOW)) for each in records if each.correlation}
    before: list[list[int]] = [[] for _ in plane.boxes]
    for link in plane.links:
        before[link.target].append(link.source)
    found: set[int] = set()
    for number in reversed(range(len(plane.boxes))):  # boxes are in an order of execution
        if number in reported or number in found:
            found.update(before[number])
    return found


def outermost(key: str | None) -> int | None:
    """Return the number of the outermost box around a key: 3 for "3.0.1"."""
    return None if key is None else int(key.partition(".")[0])
