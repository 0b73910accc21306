# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the site has each page of the documentation once, a page for each public class, and links between them.

`make site` builds it and checks the links of the built pages.
"""

import posixpath
import re

import pytest

import cuda_graphs as cg
from docs.site.docstrings import markdown
from docs.site.html_links import dead_links
from docs.site.pages import Links, place, sources
from docs.site.staging import FRONT, contents, staged, write

TARGET = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)")
TREE = re.compile(r"```\{toctree\}\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def files():
    return staged()


@pytest.fixture(scope="module")
def pages(files):
    return {name: text for name, text in files.items() if isinstance(text, str)}


def without_code(text):
    return re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)


def test_every_page_of_the_documentation_is_a_page_of_the_site(tree, pages):
    written = {tree.name(path) for path in tree.files(".md", below="docs")}
    assert written <= set(sources())
    for source in sources():
        lines = (tree.root / source).read_text().splitlines()
        assert pages[place(source)].splitlines()[0] == lines[0]


def test_every_public_class_has_a_page_with_its_docstring(pages):
    classes = [name for name in cg.__all__ if isinstance(getattr(cg, name), type)]
    assert len(classes) > 100
    for name in classes:
        assert re.search(rf"\{{py:(class|exception)\}} {name}\b", pages[f"api/{name}.md"]), name
    assert "{py:method} while_loop(condition, *, args=(), do=False" in pages["api/GraphDef.md"]
    assert "* `max_iterations`: the number of iterations after which" in pages["api/GraphDef.md"]


def test_every_public_function_is_in_a_page_of_functions(pages):
    listed = "\n".join(text for name, text in pages.items() if name.startswith("api/functions"))
    shown = set(re.findall(r"\{py:(?:function|data)\} ([\w.]+)", listed))
    assert {name for name in cg.__all__ if not isinstance(getattr(cg, name), type)} <= shown
    assert "ad.Tape" in shown


def test_every_link_of_the_site_leads_to_a_file_of_the_site(files, pages):
    dead = [
        f"{name}: {link}"
        for name, text in pages.items()
        for link in TARGET.findall(without_code(text))
        if not link.startswith(("http:", "https:"))
        and posixpath.normpath(posixpath.join(posixpath.dirname(name), link)) not in files
    ]
    assert dead == []


def test_every_page_is_in_the_tree_of_the_front_page(pages):
    inside = set()
    for name in (FRONT, "api/index.md"):
        for body in TREE.findall(pages[name]):
            entries = [line for line in body.splitlines() if line and not line.startswith(":")]
            inside |= {
                posixpath.normpath(posixpath.join(posixpath.dirname(name), e)) + ".md" for e in entries
            }
    orphans = {name for name, text in pages.items() if text.startswith("---\norphan: true\n")}
    assert inside | orphans == set(pages) - {FRONT}


def test_a_front_page_has_a_tree_for_each_heading_and_each_page_once():
    front = (
        "# A\n\n## One\n[x](x.md) [y](b/y.md#z) [f](f.svg)\n\n## Two\n[x](x.md)\n\n## Reference\n[z](z.md)\n"
    )
    trees = TREE.findall(contents(front))
    assert trees == [
        ":hidden:\n:caption: One\n\nx\nb/y\n",
        ":hidden:\n:caption: Reference\n\nz\napi/index\n",
    ]


def test_links_become_those_of_the_site_outside_code():
    links = Links()
    text = "[a](../../examples/jacobi.py) [b](kernels.md#c) ![f](../figures/growth.svg)\n```\n[d](e.md)\n```\n[h](#i)"
    assert links.rewritten("docs/guide/pictures.md", text) == text.replace(
        "../../examples/jacobi.py", "../examples/jacobi.md"
    )
    assert links.files == {"docs/figures/growth.svg"}
    front = links.rewritten("examples/README.md", "[g](../docs/guide/gradients.md)")
    assert front == "[g](../guide/gradients.md)"


@pytest.mark.parametrize(
    ("link", "reason"), [("nothing.md", "does not exist"), ("../tests/README.md", "which is no page")]
)
def test_a_link_that_the_site_cannot_follow_is_an_error(link, reason):
    with pytest.raises(ValueError, match=reason):
        Links().rewritten("docs/index.md", f"[a]({link})")


def test_a_folder_of_pages_holds_nothing_old_and_keeps_equal_files(tmp_path):
    write(tmp_path)
    old = tmp_path / "guide/old.md"
    old.write_text("# Old")
    front = tmp_path / FRONT
    before = front.stat().st_mtime_ns
    write(tmp_path)
    assert not old.exists()
    assert front.stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One *args\nand two_names in `a_b`.", r"One \*args and two\_names in `a_b`."),
        (
            "Args:\n    x, y: Two\n        lines.\n    **z: One.",
            "**Args**\n\n* `x, y`: Two lines.\n* `**z`: One.",
        ),
        ("Returns:\n    An array:\n    of it.", "**Returns**\n\nAn array: of it."),
        (
            "size     bytes of\n         memory\nwidth, height\n         a shape",
            "* `size`: bytes of memory\n* `width, height`: a shape",
        ),
        ("* One\n  more\n* Two", "* One more\n* Two"),
        ("Text:\n\n    x = 1\n        y", "Text:\n\n```python\nx = 1\n    y\n```"),
    ],
)
def test_docstrings_become_markdown(text, expected):
    assert markdown(text) == expected


def test_dead_links_of_built_pages_are_found(tmp_path):
    (tmp_path / "a.html").write_text('<a href="b.html#x">1</a><a href="b.html#y">2</a><a href="c.html">3</a>')
    (tmp_path / "b.html").write_text('<p id="x"><a href="#x"></a><img src="d.png"><a href="https://e.org/f">')
    assert dead_links(tmp_path) == ["a.html: b.html#y", "a.html: c.html", "b.html: d.png"]
