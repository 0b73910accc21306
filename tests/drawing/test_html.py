# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of HTML pictures that need no browser. test_browser.py opens them."""

import html.parser
import json
import re

import pytest

from cuda_graphs.drawing.folding import fold
from cuda_graphs.drawing.picture import Picture
from cuda_graphs.drawing.scene import Box, Frame, Plane, Scene
from tests.drawing.cases import CASES, chain


class Page(html.parser.HTMLParser):
    """The elements of a page: their attributes, and the texts of its scripts by their ids."""

    def __init__(self, text):
        super().__init__()
        self.attributes, self.scripts, self.open = [], {}, []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.attributes += attributes
        if tag not in ("meta", "link", "input"):
            self.open.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        if self.open and self.open[-1][0] == "script":
            self.scripts[self.open[-1][1].get("id")] = data


def data_of(picture):
    return json.loads(Page(picture.html()).scripts["scene"])


@pytest.mark.parametrize("name", CASES)
def test_a_page_holds_each_box_and_each_link_once_and_is_the_same_in_each_run(name):
    picture = Picture(Scene(name, CASES[name]), False)
    planes = data_of(picture)["planes"]
    keys = [box["key"] for plane in planes for box in plane["boxes"]]
    assert sorted(keys) == sorted(box.key for box in CASES[name].walk())
    drawn = {(link[1], link[0]) if link[8] else (link[0], link[1]) for link in planes[0].get("links", [])}
    assert drawn == {(link.source, link.target) for link in CASES[name].links}
    assert Picture(Scene(name, CASES[name]), False).html() == picture.html()


def test_frames_name_the_planes_inside_them():
    planes = data_of(Picture(Scene("nested", CASES["nested"]), False))["planes"]
    for plane in planes:
        for box in plane["boxes"]:
            for number, (_, inner, _) in enumerate(box.get("frames", [])):
                assert all(
                    each["key"].startswith(f"{box['key']}.{number}.") for each in planes[inner]["boxes"]
                )


@pytest.mark.parametrize(
    "text", ["</script><b>&\"'", "<!--<script>", "a\x00\x1b\nb", "\ud800", "é漢字", "{title}"]
)
def test_any_text_gives_a_well_formed_page(text):
    box = Box(
        "0", "kernel", text, (text,), (text,), (text,), text, frames=(Frame(text, chain(2)),), notes=(1,)
    )
    page = Page(Picture(Scene(text, Plane((box,)), (text,), (text,)), False).html())
    assert page.open == [] and set(page.scripts) == {"scene", None}
    page_text = Picture(Scene(text, Plane((box,)))).html()
    page_text.encode()


def test_a_page_names_no_address_to_load_from():
    text = Picture(Scene("g", CASES["nested"])).html()
    assert re.findall(r"\w+://[^\"'\s]*", text.replace("http://www.w3.org/2000/svg", "")) == []
    assert [value for name, value in Page(text).attributes if name in ("src", "href")] == ["data:,"]
    assert "default-src 'none'" in text


def test_all_names_that_a_fold_stands_for_can_be_searched():
    boxes = tuple(Box(str(n), "kernel", f"step_{n}", is_named=True) for n in range(9))
    (box,) = data_of(Picture(Scene("g", Plane(boxes, chain(9).links)), True))["planes"][0]["boxes"]
    assert box["names"] == [f"step_{n}" for n in range(9)]
    assert box["badge"].endswith("9")


def test_names_of_folds_in_folds_are_all_kept():
    boxes = [
        Box(str(n), "kernel" if n % 4 else "memset", f"{'ab'[n % 4 == 0]}{n}", is_named=True)
        for n in range(40)
    ]
    folded = fold(Plane(tuple(boxes), chain(40).links))
    assert sorted(name for box in folded.walk() for name in box.names) == sorted(box.title for box in boxes)


def test_a_theme_is_fixed_or_follows_the_reader():
    assert "prefers-color-scheme" in Picture(Scene("g", chain(2))).html()
    for theme in ("light", "dark"):
        text = Picture(Scene("g", chain(2)), theme=theme).html()
        assert "prefers-color-scheme" not in text and "var(" not in text
        assert re.search(r"\$[a-z]", text.partition("<body>")[0]) is None
