# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of what pictures distinguish: kinds of boxes, styles of links, and their colours in both themes."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["HEAT", "KINDS", "LINK_STYLES", "MARKS", "THEMES", "Kind", "Mark"]


class Kind(NamedTuple):
    """A kind of boxes: its words, its outline (shapes.py), and a colour of `THEMES`."""

    words: str
    shape: str
    colour: str


KINDS = {
    "kernel": Kind("kernel", "round", "green"),
    "memcpy": Kind("memcpy", "slanted", "blue"),
    "memset": Kind("memset", "cut", "cyan"),
    "host": Kind("host callback", "barred", "orange"),
    "alloc": Kind("alloc", "drum", "violet"),
    "free": Kind("free", "drum", "grey"),
    "child": Kind("child graph", "folder", "brown"),
    "empty": Kind("empty", "pill", "grey"),
    "record": Kind("event record", "flag", "yellow"),
    "wait": Kind("event wait", "flag", "yellow"),
    "if": Kind("if", "hexagon", "red"),
    "while": Kind("while", "hexagon", "red"),
    "switch": Kind("switch", "hexagon", "red"),
    "conditional": Kind("conditional", "hexagon", "red"),
    "fold": Kind("repeated pattern", "round", "grey"),
    "other": Kind("other", "square", "grey"),
}

# Style -> description in the legend. Only the styles in a picture are described.
LINK_STYLES = {
    "full": "dependency",
    "programmatic": "programmatic: may start before the end of the kernel above",
    "early": "starts when the kernel above begins",
    "back": "closes a circle",
}


class Mark(NamedTuple):
    """A state of a box or link that a picture marks: its words, and the sign that stands at the box."""

    words: str
    sign: str


# Each mark has a colour of `THEMES` with its name, an outline of its own (style.py), and a sign.
MARKS = {
    "added": Mark("added", "+"),
    "removed": Mark("removed", "\N{MINUS SIGN}"),
    "changed": Mark("changed", "\N{NOT EQUAL TO}"),
    "disabled": Mark("disabled: a launch skips the node", "\N{EMPTY SET}"),
}

# Colour of a box by its share of the time -> description in the legend, with the least share.
HEAT = {
    "heat0": (0.0, "under 2 % of the time"),
    "heat1": (0.02, "2 to 10 %"),
    "heat2": (0.1, "10 to 30 %"),
    "heat3": (0.3, "over 30 %"),
}

# Colour -> (background, border). The others have one value: "paper" and "ink" are those of
# the page and its text, "found" is that of boxes that a search has found.
THEMES = {
    "light": {
        "paper": "#ffffff",
        "ink": "#1b1f24",
        "muted": "#59636e",
        "line": "#6b7580",
        "frame": "#f5f7f9",
        "frame-line": "#c4ccd4",
        "parameter": "#8a3ffc",
        "finding": "#cf222e",
        "added": "#1a7f37",
        "removed": "#cf222e",
        "changed": "#0969da",
        "disabled": "#6b7580",
        "found": "#e3a008",
        "green": ("#dff3e4", "#2b8a4b"),
        "blue": ("#dbeafe", "#2f6fd0"),
        "cyan": ("#d5f1f5", "#17818f"),
        "orange": ("#ffe9d2", "#c4681a"),
        "violet": ("#ebe3fb", "#7a55c7"),
        "brown": ("#f0e6dc", "#8d6a47"),
        "yellow": ("#fbf2c8", "#9c8412"),
        "red": ("#fde2e4", "#c0455a"),
        "grey": ("#eceff2", "#7b8794"),
        "heat0": ("#f4f6f8", "#9aa5b1"),
        "heat1": ("#fdf0c4", "#b8901c"),
        "heat2": ("#fbc58a", "#b8621b"),
        "heat3": ("#f28b82", "#a3262b"),
    },
    "dark": {
        "paper": "#14181d",
        "ink": "#e6edf3",
        "muted": "#9aa7b4",
        "line": "#8b98a5",
        "frame": "#1b2128",
        "frame-line": "#3a4450",
        "parameter": "#c8a2ff",
        "finding": "#ff7b72",
        "added": "#3fb950",
        "removed": "#ff7b72",
        "changed": "#58a6ff",
        "disabled": "#8b98a5",
        "found": "#f2cc60",
        "green": ("#173524", "#4cc076"),
        "blue": ("#152c4a", "#6aa5f5"),
        "cyan": ("#10343a", "#4cc3d2"),
        "orange": ("#41290f", "#f0a05a"),
        "violet": ("#2c2246", "#ad8df0"),
        "brown": ("#372b20", "#c39e78"),
        "yellow": ("#383108", "#d9bf45"),
        "red": ("#451f27", "#f0808f"),
        "grey": ("#262d35", "#8f9ba8"),
        "heat0": ("#20262d", "#6b7683"),
        "heat1": ("#453a12", "#d1ae3c"),
        "heat2": ("#5f3510", "#f0974a"),
        "heat3": ("#7a1f24", "#ff8a80"),
    },
}
