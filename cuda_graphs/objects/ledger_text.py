# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Text of a capture's ledger: describes the operation that spoiled the capture."""

from __future__ import annotations

import linecache
from typing import NamedTuple

from cuda_graphs.errors import rule_of

__all__ = [
    "IN_RELAXED_MODE",
    "JOIN_BY_EVENT",
    "Entry",
    "describe_empty",
    "describe_spoiler",
    "describe_unjoined",
]

# Remedies for states in which those of the table of statuses do not help.
IN_RELAXED_MODE = "Make the call before the capture begins or after it ends."
JOIN_BY_EVENT = (
    "Record an event on the forked stream after its last work, and let the captured stream wait for the event before "
    "the capture ends: join() knows only the builders that split() made."
)


class Entry(NamedTuple):
    """An operation, such as "launch", and its source line ("/path/file.py:12", or None when unknown)."""

    what: str
    place: str | None

    def __str__(self) -> str:
        return f"{self.what} at {self.place}{self._code()}" if self.place else self.what

    def _code(self) -> str:
        path, _, line = (self.place or "").rpartition(":")
        text = linecache.getline(path, int(line)).strip()
        return f" [{text}]" if text else ""


def describe_spoiler(
    begun: Entry, last: Entry, count: int, spoiler: Entry, status: int, foreign: bool
) -> str:
    """Describe how the capture that `begun` began was spoiled, after `count` operations, the last of which is
    `last`."""
    so_far = f"{count} operation{'s' * (count != 1)} of cuda_graphs had been captured since {begun}"
    if not foreign:
        behind = f", the last by {last}" if count else ""
        return f"spoiled by {spoiler}: {rule_of(status)}\n{so_far}{behind}"
    before = f"after {last}, which was still captured," if count else f"after {begun}"
    return (
        f"spoiled by code outside of cuda_graphs, {before} and before {spoiler}, which detected it. Only "
        f"that code received the error that names the broken rule\n{so_far}"
    )


MOST_LINES = 5


def describe_empty(begun: Entry, elsewhere: dict[tuple[Entry, bool], int]) -> str:
    """Describe a capture without nodes, and the work that other streams got meanwhile.

    Args:
        begun: The operation that began the capture.
        elsewhere: The number of operations of each line; True in the key for another thread.
    """
    text = f"the capture that began with {begun} is empty: its stream got no work"
    if not elsewhere:
        return f"{text}. Give work to the builder, or make calls without stream= in its `with` block"
    lines = [
        f"{f'{count} times ' if count > 1 else ''}{entry}{' in another thread' if is_other_thread else ''}"
        for (entry, is_other_thread), count in elsewhere.items()
    ]
    more = f", and {len(lines) - MOST_LINES} more lines" if len(lines) > MOST_LINES else ""
    return (
        f"{text}. Meanwhile other streams got: {', '.join(lines[:MOST_LINES])}{more}. To capture this work, give it "
        "the builder as its stream, or make calls without stream= in the `with` block, in the same thread"
    )


def describe_unjoined(forks: list[str | None]) -> str:
    """Describe the builders that were split off and not joined, by the source lines of their `split`."""
    if not forks:
        return "not joined: a stream that waited for an event of the capture; every builder that split() made is joined"
    places = ", ".join(place or "an unknown line" for place in forks)
    return f"not joined: {len(forks)} builder{'s' * (len(forks) != 1)} that split() made at {places}"
