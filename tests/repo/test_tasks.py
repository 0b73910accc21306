# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: docs/tasks.md has at least 30 tasks, and each link of a task leads to a place that has a program."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
ROW = re.compile(r"^\| (?!I want to|---)(.*?) \| (.*) \|$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)#]+)(?:#([^)]*))?\)")
TASKS = dict(ROW.findall((DOCS / "tasks.md").read_text()))


def part(text, anchor):
    """The text below the heading with this anchor, with its smaller headings; all of it without an anchor."""
    if not anchor:
        return text
    outside_code = re.sub(
        r"^```.*?^```$", lambda m: re.sub(r"^#", " ", m[0], flags=re.MULTILINE), text, flags=re.M | re.S
    )
    for heading in re.finditer(r"^(#+) (.*)$", outside_code, re.MULTILINE):
        if re.sub(r"[^\w -]", "", heading[2]).strip().lower().replace(" ", "-") == anchor:
            end = re.compile(rf"^#{{1,{len(heading[1])}}} ", re.MULTILINE).search(outside_code, heading.end())
            return text[heading.start() : end.start() if end else len(text)]
    raise ValueError(f"there is no heading for #{anchor}")


def test_there_are_thirty_tasks():
    assert len(TASKS) >= 30


@pytest.mark.parametrize("task", TASKS)
def test_each_place_of_a_task_has_a_program(task):
    links = LINK.findall(TASKS[task])
    assert links
    for file, anchor in links:
        text = (DOCS / file).read_text()
        assert file.endswith(".ipynb") or re.search(r"^```py", part(text, anchor), re.MULTILINE), (
            file,
            anchor,
        )


def test_a_part_ends_at_the_next_heading_of_its_size():
    page = "# A\none\n## B c\ntwo\n```python\n# no heading\n```\n### D\nthree\n## E\nfour\n"
    assert part(page, "b-c") == "## B c\ntwo\n```python\n# no heading\n```\n### D\nthree\n"
    assert part(page, "e") == "## E\nfour\n"
    with pytest.raises(ValueError, match="#f"):
        part(page, "f")
