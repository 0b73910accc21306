# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Outlines of boxes as SVG paths, and the room that each outline takes from the text."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

__all__ = ["INSETS", "number", "outline"]

CORNER = 6.0
SLANT = 9.0
LID = 6.0  # height of the ellipse of a drum
BAR = 6.0


def number(value: float) -> str:
    """Return a coordinate with at most one decimal."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def path(*parts: str | float) -> str:
    return " ".join(part if isinstance(part, str) else number(part) for part in parts)


def rounded(w: float, h: float, r: float) -> str:
    return path(
        "M", r, 0.0, "H", w - r, "Q", w, 0.0, w, r, "V", h - r, "Q", w, h, w - r, h,
        "H", r, "Q", 0.0, h, 0.0, h - r, "V", r, "Q", 0.0, 0.0, r, 0.0, "Z",
    )  # fmt: skip


def round_box(w: float, h: float) -> str:
    return rounded(w, h, CORNER)


def pill(w: float, h: float) -> str:
    return rounded(w, h, h / 2)


def square(w: float, h: float) -> str:
    return path("M", 0.0, 0.0, "H", w, "V", h, "H", 0.0, "Z")


def slant(h: float) -> float:
    return min(SLANT, h / 3)


def slanted(w: float, h: float) -> str:
    return path("M", slant(h), 0.0, "H", w, "L", w - slant(h), h, "H", 0.0, "Z")


def cut(w: float, h: float) -> str:
    d = slant(h)
    return path(
        "M", d, 0.0, "H", w - d, "L", w, d, "V", h - d, "L", w - d, h, "H", d, "L", 0.0, h - d, "V", d, "Z"
    )  # fmt: skip


def hexagon(w: float, h: float) -> str:
    d = slant(h)
    return path("M", d, 0.0, "H", w - d, "L", w, h / 2, "L", w - d, h, "H", d, "L", 0.0, h / 2, "Z")


def flag(w: float, h: float) -> str:
    d = slant(h)
    return path("M", 0.0, 0.0, "H", w - d, "L", w, h / 2, "L", w - d, h, "H", 0.0, "Z")


def barred(w: float, h: float) -> str:
    bar = min(BAR, w / 6)
    return path(square(w, h), "M", bar, 0.0, "V", h, "M", w - bar, 0.0, "V", h)


def drum(w: float, h: float) -> str:
    lid = min(LID, h / 4)
    high, low = -lid / 3, h + lid / 3  # handles of curves that reach 0 and h
    return path(
        "M", 0.0, lid, "C", 0.0, high, w, high, w, lid, "V", h - lid, "C", w, low, 0.0, low, 0.0, h - lid, "Z",
        "M", 0.0, lid, "C", 0.0, 2 * lid - high, w, 2 * lid - high, w, lid,
    )  # fmt: skip


def folder(w: float, h: float) -> str:
    tab, deep = min(44.0, w / 2), min(6.0, h / 4)
    return path(
        "M", 0.0, 0.0, "H", tab, "L", tab + deep, deep, "H", w, "V", h, "H", 0.0, "Z",
        "M", 0.0, deep, "H", tab + deep,
    )  # fmt: skip


SHAPES: dict[str, Callable[[float, float], str]] = {
    "round": round_box,
    "pill": pill,
    "square": square,
    "slanted": slanted,
    "cut": cut,
    "hexagon": hexagon,
    "flag": flag,
    "barred": barred,
    "drum": drum,
    "folder": folder,
}

# Shape -> (pixels at the left and at the right, pixels at the top) that text keeps free, besides the usual margin.
INSETS = {
    "slanted": (SLANT, 0.0),
    "cut": (3.0, 0.0),
    "hexagon": (SLANT, 0.0),
    "flag": (SLANT, 0.0),
    "barred": (BAR, 0.0),
    "drum": (0.0, LID + 3.0),
    "folder": (0.0, 5.0),
}


@lru_cache(maxsize=1024)  # boxes of one kind often have the same size
def outline(shape: str, w: float, h: float) -> str:
    """Return the path of an outline of width `w` and height `h`, with its upper left corner at 0, 0."""
    return SHAPES[shape](w, h)
