# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the folder that Sphinx reads. Files that are the same as before are not written, so Sphinx skips them."""

import ast
import json
import re
from collections.abc import Container
from pathlib import Path

from docs.examples_page import picture_of
from docs.site.api import api_pages, toctree
from docs.site.pages import ROOT, Links, place, sources

FRONT, NAMES = "index.md", "names.md"
# Pages of the site alone, by the part of the front page that they belong to.
GENERATED = {"Reference": ["api/index"]}
CLASS = re.compile(r"^\* \*\*`(\w+)`\*\*", re.MULTILINE)
ITEM = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def example_page(path: Path) -> str:
    """Return the page of an example: the title and text of its docstring, its picture, then the program."""
    text = path.read_text()
    first = (ast.get_docstring(ast.parse(text)) or "").partition("\n\n")[0]
    title = path.stem.replace("_", " ").capitalize()
    head = f"---\norphan: true\n---\n# {title}\n\n{first}\n\n"
    drawn = picture_of(path.stem)
    picture = f"![{title}](../{place(drawn.relative_to(ROOT).as_posix())})\n\n" if drawn else ""
    return (
        f"{head}`examples/{path.name}`, one of the [examples](index.md):\n\n```python\n{text}```\n\n{picture}"
    )


def notebook_page(path: Path) -> str:
    """Return the page of a notebook: its cells without results."""
    blocks = {"markdown": "{}", "code": "```python\n{}\n```"}
    cells = json.loads(path.read_text())["cells"]
    return "\n\n".join(blocks[cell["cell_type"]].format("".join(cell["source"])) for cell in cells) + "\n"


def contents(front: str) -> str:
    """Return the front page with the tree of pages: a part for each heading, with the pages that it links."""
    seen: set[str] = set()
    trees = []
    for section in re.split(r"^## ", front, flags=re.MULTILINE)[1:]:
        title = section.partition("\n")[0]
        links = [link for link in ITEM.findall(section) if link.endswith(".md") and link not in seen]
        seen |= set(links)
        pages = [link.removesuffix(".md") for link in dict.fromkeys(links)] + GENERATED.get(title, [])
        if pages:
            trees.append(toctree(pages, ":hidden:", f":caption: {title}"))
    return front + "\n" + "\n".join(trees)


def with_classes(names: str, api: Container[str]) -> str:
    """Return the page of names with a link from each class to its page."""
    return CLASS.sub(lambda m: f"* **[`{m[1]}`](api/{m[1]}.md)**" if f"{m[1]}.md" in api else m[0], names)


def staged() -> dict[str, str | bytes]:
    """Return the contents of each file that Sphinx reads, by its name."""
    links = Links()
    found: dict[str, str | bytes] = {}
    for source in sources():
        found[place(source)] = links.rewritten(source, (ROOT / source).read_text())
    found[FRONT] = contents(str(found[FRONT]))
    for path in sorted((ROOT / "examples").glob("*.py")):
        found[f"examples/{path.stem}.md"] = example_page(path)
    for path in sorted((ROOT / "docs/tutorials").glob("*.ipynb")):
        source = path.relative_to(ROOT).as_posix()
        text = links.rewritten(source, notebook_page(path))
        found[place(source)] = f"{text}\nThis page is a notebook: [{path.name}]({path.name}).\n"
        found[f"tutorials/{path.name}"] = path.read_bytes()
    api = api_pages()
    found[NAMES] = with_classes(str(found[NAMES]), api)
    found |= {f"api/{name}": text for name, text in api.items()}
    found |= {place(name): (ROOT / name).read_bytes() for name in sorted(links.files)}
    return found


def write(folder: Path) -> None:
    """Make `folder` hold exactly the files of the site."""
    files = {name: data if isinstance(data, bytes) else data.encode() for name, data in staged().items()}
    for path in [p for p in folder.rglob("*") if p.is_file()]:
        if path.relative_to(folder).as_posix() not in files:
            path.unlink()
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_bytes() != data:
            path.write_bytes(data)
