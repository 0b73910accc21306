# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Checks the links of built pages: each leads to a file, and to a place in it, that exists."""

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The places of a page (`ids`) and its links to other files and places (`links`)."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = {"", "top"}
        self.links: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.ids.add(value)
            elif name in ("href", "src") and value:
                self.links.add(value)


def dead_links(folder: Path) -> list[str]:
    """Return a line for each link within `folder` that leads nowhere."""
    pages = {path: Page(path.read_text()) for path in sorted(folder.rglob("*.html"))}
    dead = []
    for path, page in pages.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            aim = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
            target = pages.get(aim)
            if not aim.exists() or (target is not None and unquote(parts.fragment) not in target.ids):
                dead.append(f"{path.relative_to(folder).as_posix()}: {link}")
    return dead


def missing_places(folder: Path, places: list[str]) -> list[str]:
    """Return those of `places` ("page.html#id") that do not exist below `folder`."""
    pages = {
        name: Page((folder / name).read_text()) for name in {place.partition("#")[0] for place in places}
    }
    return [place for place in places if place.partition("#")[2] not in pages[place.partition("#")[0]].ids]
