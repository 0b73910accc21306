# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The words in which a capture's ledger says what spoiled it."""

from __future__ import annotations

import linecache
from typing import NamedTuple

from cuda_graphs.errors import rule_of

__all__ = ["Entry", "describe", "unjoined"]


class Entry(NamedTuple):
    """Something that was done: "launch", and where ("/path/file.py:12"; None: unknown)."""

    what: str
    place: str | None

    def __str__(self) -> str:
        return f"{self.what} at {self.place}{self._code()}" if self.place else self.what

    def _code(self) -> str:
        path, _, line = (self.place or "").rpartition(":")
        text = linecache.getline(path, int(line)).strip()
        return f" [{text}]" if text else ""


def describe(begun: Entry, last: Entry, count: int, spoiler: Entry, status: int, foreign: bool) -> str:
    """What spoiled the capture that `begun` began, after `count` operations of which `last` is the last."""
    so_far = f"{count} operation{'s' * (count != 1)} of cuda_graphs had been captured since {begun}"
    if not foreign:
        behind = f", the last by {last}" if count else ""
        return f"spoiled by {spoiler}: {rule_of(status)}\n{so_far}{behind}"
    before = f"after {last}, which was still captured," if count else f"after {begun}"
    return (
        f"spoiled by code outside of cuda_graphs, {before} and before {spoiler}, which found it so. Only that "
        f"code was told the rule that it broke\n{so_far}"
    )


def unjoined(forks: list[str | None]) -> str:
    """Which builders were split off and not joined, by the places of their `split`."""
    if not forks:
        return "the branch was forked to by code outside of cuda_graphs: no builder that split() made is unjoined"
    places = ", ".join(place or "an unknown line" for place in forks)
    return f"not joined: {len(forks)} builder{'s' * (len(forks) != 1)} that split() made at {places}"
