# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The statistics of every table, JSON file and picture: median, best and spread of a contestant's turns.

Tables show the median, with the best turn and the spread beside it; ratios are ratios of medians. A contestant is
faster than another one only if both its median and its best turn are lower. If the two statistics disagree, or one of
them was not recorded, `faster()` gives neither contestant the win.

A Record is written to JSON unchanged. None stands for an absent contestant in place of a Record, and in a Record for a
statistic that was not recorded.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict

ABSENT, NOT_RECORDED, UNDECIDED = "-", "n/r", "~"
STATISTICS = ("median", "best")


class Record(TypedDict):
    """The turns of a contestant and their statistics, all in the unit of the table."""

    median: float | None
    best: float | None
    quartiles: list[float] | None
    turns: list[float] | None


ByStatistic = Mapping[str, float | None]
"""statistic -> a figure or a ratio of figures; None where it is missing."""
Figures = dict[str, dict[str, Record | None]]
"""row -> contestant -> Record; None where the contestant is absent."""


def record(turns: Sequence[float]) -> Record | None:
    """Returns the Record of `turns`, or None where there is no turn."""
    if not turns:
        return None
    low, _, high = statistics.quantiles(turns, n=4, method="inclusive") if len(turns) > 1 else turns * 3
    return {
        "median": statistics.median(turns),
        "best": min(turns),
        "quartiles": [low, high],
        "turns": list(turns),
    }


def spread(one: Record) -> float | None:
    """Returns the distance between the quartiles in parts of the median, or None where they were not recorded, and for
    a median of 0."""
    if one["quartiles"] is None or not one["median"]:
        return None
    low, high = one["quartiles"]
    return (high - low) / one["median"]


def value(one: Record | None, statistic: str = "median") -> float | None:
    """Returns a statistic of a Record, or None for an absent contestant and a statistic that was not recorded."""
    return None if one is None else one[statistic]  # type: ignore[literal-required]


def ratio(one: Record | None, other: Record | None, statistic: str = "median") -> float | None:
    """Returns the statistic of `one` divided by that of `other`, or None where one of the two is missing or that of
    `other` is 0."""
    above, below = value(one, statistic), value(other, statistic)
    return None if above is None or not below else above / below


def values(one: Record | None) -> ByStatistic:
    """Returns median and best turn."""
    return {statistic: value(one, statistic) for statistic in STATISTICS}


def ratios(one: Record | None, other: Record | None) -> ByStatistic:
    """Returns the ratio of medians and the ratio of best turns."""
    return {statistic: ratio(one, other, statistic) for statistic in STATISTICS}


def best_other(others: Iterable[Record | None], ours: Record | None) -> ByStatistic:
    """Returns the lowest statistic of the other contestants divided by ours, for each statistic."""
    found = [ratios(other, ours) for other in others]
    return {
        statistic: min((each for row in found if (each := row[statistic]) is not None), default=None)
        for statistic in STATISTICS
    }


def undecided(compared: ByStatistic, limit: float = 1.0) -> bool:
    """Tells whether the statistics of one comparison lie on different sides of `limit`."""
    known = [each for each in compared.values() if each is not None]
    return any(each <= limit for each in known) and any(each > limit for each in known)


def faster(one: Record | None, other: Record | None) -> bool:
    """Tells whether `one` has both the lower median and the lower best turn."""
    return all(each is not None and each < 1 for each in ratios(one, other).values())


def verdict(compared: ByStatistic, bar: float) -> str:
    """Returns "met" or "missed" where the recorded statistics agree about the bar, and else what each of them says."""
    said = {statistic: found <= bar for statistic, found in compared.items() if found is not None}
    if not said:
        return "absent"
    if undecided(compared, bar):
        return ", ".join(
            f"{'met' if met else 'missed'} by the {statistic}" for statistic, met in said.items()
        )
    return "met" if all(said.values()) else "missed"


def number(found: float | None, digits: int = 2) -> str:
    """Returns a figure as text: with `digits` behind the point below 100, without any from 100 on."""
    if found is None:
        return NOT_RECORDED
    return f"{found:.{digits}f}" if found < 100 else f"{found:.0f}"


def cell(one: Record | None, digits: int = 2) -> str:
    """Returns "median (best, spread)" as tables show a contestant; the spread is left out where it is not recorded."""
    if one is None:
        return ABSENT
    beside = number(one["best"], digits)
    if (width := spread(one)) is not None:
        beside += f", {width:.0%}"
    return f"{number(one['median'], digits)} ({beside})"


def ratio_cell(compared: ByStatistic) -> str:
    """Returns "ratio of medians (ratio of best turns)", with `~` where they name different winners."""
    if all(each is None for each in compared.values()):
        return ABSENT
    return f"{factor(compared)} {UNDECIDED}" if undecided(compared) else factor(compared)


def factor(compared: ByStatistic) -> str:
    """Returns a ratio as ratio_cell does, for one that names no winner."""
    return f"{number(compared['median'])} ({number(compared['best'])})"
