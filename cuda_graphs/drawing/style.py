# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The style sheet of pictures, for one theme or for both.

The theme "auto" follows the page: its colours are CSS variables, which have other values if the reader prefers dark
pages or if the notebook around the picture is dark. Programs that turn SVG into PNG know no variables, so "light"
and "dark" give colours themselves.
"""

from __future__ import annotations

import re

from .kinds import THEMES

__all__ = ["FONT", "style_sheet"]

FONT = "ui-monospace, 'SFMono-Regular', Menlo, Consolas, 'DejaVu Sans Mono', monospace"
# Dark pages of JupyterLab, VS Code and Sphinx themes.
DARK_PAGES = ('[data-jp-theme-light="false"]', ".vscode-dark", '[data-theme="dark"]')
LIGHT_PAGES = ('[data-jp-theme-light="true"]', ".vscode-light", '[data-theme="light"]')

RULES = """\
.cgp{font-family:%(font)s}
.cgp text{fill:$ink;font-size:11px}
.cgp .paper{fill:$paper}
.cgp .heading{font-size:14px;font-weight:600}
.cgp .title{font-size:13px;font-weight:600}
.cgp .badge{font-size:12px;font-weight:700;fill:$muted}
.cgp .line,.cgp .inside,.cgp .frame-label,.cgp .legend{fill:$muted}
.cgp .parameter{fill:$parameter;font-weight:600}
.cgp .lane{fill:$frame;stroke:$frame-line}
.cgp .outline{stroke-width:1.3}
.cgp .frame{fill:$frame;stroke:$frame-line}
.cgp .open>.outline{fill:$paper}
.cgp .fold>.outline{stroke-dasharray:2 2}
.cgp .free>.outline,.cgp .other>.outline{stroke-dasharray:4 2}
.cgp .link{fill:none;stroke:$line;stroke-width:1.3}
.cgp .head{fill:$line}
.cgp .programmatic,.cgp .early{stroke-dasharray:6 3}
.cgp .early{stroke-dasharray:2 3}
.cgp .back{stroke:$finding}
.cgp .noted>.outline{stroke:$finding;stroke-width:2.4}
.cgp .note{fill:$finding}
.cgp .sign-text{fill:$paper;font-weight:700;text-anchor:middle}
.cgp .sign.added,.cgp .head.added{fill:$added}
.cgp .sign.removed,.cgp .head.removed{fill:$removed}
.cgp .sign.changed{fill:$changed}
.cgp .sign.disabled{fill:$disabled}
.cgp .added>.outline{stroke:$added;stroke-width:2.8}
.cgp .removed>.outline{stroke:$removed;stroke-width:2.2;stroke-dasharray:7 3}
.cgp .removed>.title{text-decoration:line-through}
.cgp .changed>.outline{stroke:$changed;stroke-width:2.8}
.cgp .disabled>.outline{fill:$paper;stroke:$disabled;stroke-dasharray:3 3}
.cgp .disabled>.title,.cgp .disabled>.line{fill:$disabled}
.cgp .link.added{stroke:$added;stroke-width:2.4}
.cgp .link.removed{stroke:$removed;stroke-dasharray:2 4}
"""


def style_sheet(theme: str, extra: str = "") -> str:
    """Return the CSS of a picture; `theme` is "auto", "light" or "dark".

    Rules in `extra` name colours as the rules of this module do: "$paper" is the colour "paper" of the theme.
    """
    rules = "".join(rules_of_colours()) + RULES % {"font": FONT} + extra
    if theme != "auto":
        colours = flat(theme)
        return re.sub(r"\$([\w-]+)", lambda found: colours[found[1]], rules)
    rules = re.sub(r"\$([\w-]+)", r"var(--cgp-\1)", rules)
    dark, light = variables("dark"), variables("light")
    return (
        f".cgp{{{light}}}\n@media(prefers-color-scheme:dark){{.cgp{{{dark}}}}}\n"
        f"{selectors(LIGHT_PAGES)}{{{light}}}\n{selectors(DARK_PAGES)}{{{dark}}}\n{rules}"
    )


def selectors(pages: tuple[str, ...]) -> str:
    return ",".join(f"{page} .cgp" for page in pages)


def flat(theme: str) -> dict[str, str]:
    """Return name -> colour of a theme."""
    found = {}
    for name, colour in THEMES[theme].items():
        if isinstance(colour, tuple):
            found[f"{name}-fill"], found[f"{name}-line"] = colour
        else:
            found[name] = colour
    return found


def variables(theme: str) -> str:
    return ";".join(f"--cgp-{name}:{colour}" for name, colour in flat(theme).items())


def rules_of_colours() -> list[str]:
    return [
        f".cgp .{name}>.outline{{fill:${name}-fill;stroke:${name}-line}}\n"
        for name, colour in THEMES["light"].items()
        if isinstance(colour, tuple)
    ]
