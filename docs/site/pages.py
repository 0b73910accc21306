# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The pages of the site, their names in it, and the links between them.

A link in a page is a path in the tree. In the site it is the path from page to page. Examples have pages of their own.
A link to another file of the tree is a link to a copy of the file.
"""

import os
import posixpath
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Pages that are not in docs/, and their names in the site.
OUTSIDE = {
    "examples/README.md": "examples/index.md",
    "benchmarks/README.md": "benchmarks.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "cuda_graphs/hostdriver/DESIGN.md": "design/hostdriver.md",
}
FENCE = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)
# A link or a picture of Markdown, or a picture of HTML.
LINK = re.compile(r"""((?<=\])\(|\bsrc=")([^)"\s]+)([)"])""")
ADDRESS = re.compile(r"^(https?|mailto|file):")


def sources() -> list[str]:
    """Return the Markdown files that are pages, as paths in the tree."""
    found = []
    for folder, folders, names in os.walk(ROOT / "docs"):
        folders[:] = sorted(f for f in folders if not f.startswith("_"))
        found += [Path(folder, n).relative_to(ROOT).as_posix() for n in sorted(names) if n.endswith(".md")]
    return [*found, *OUTSIDE]


def place(source: str) -> str:
    """Return the name in the site of a file of the tree."""
    if source in OUTSIDE:
        return OUTSIDE[source]
    if re.fullmatch(r"examples/\w+\.py|docs/.*\.ipynb", source):
        source = source.rpartition(".")[0] + ".md"
    return source.removeprefix("docs/")


class Links:
    """Rewrites the links of pages, and notes the files that they need besides pages."""

    def __init__(self) -> None:
        self.files: set[str] = set()

    def rewritten(self, source: str, text: str) -> str:
        """Return the text of the page `source` with the links of the site."""
        pieces = FENCE.split(text)
        pieces[::2] = [
            LINK.sub(lambda m: m[1] + self.target(source, m[2]) + m[3], piece) for piece in pieces[::2]
        ]
        return "".join(pieces)

    def target(self, source: str, link: str) -> str:
        path, mark, anchor = link.partition("#")
        if ADDRESS.match(link) or not path:
            return link
        aim = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        if not (ROOT / aim).exists():
            raise ValueError(f"{source} has a link to {link}, which does not exist")
        if not aim.endswith(".md") and not place(aim).endswith(".md"):
            self.files.add(aim)
        elif aim.endswith(".md") and aim not in sources():
            raise ValueError(
                f"{source} has a link to {aim}, which is no page: add it to OUTSIDE of docs/site"
            )
        return posixpath.relpath(place(aim), posixpath.dirname(place(source)) or ".") + mark + anchor
