# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: examples/README.md is a gallery: each example has its picture or a reason for none, and a measured time."""

import json
import re

import pytest

from docs import examples_page
from docs.examples_page import EXAMPLES, FOLDER, NEEDS_MORE, PAGE, TIMES_FILE, WITHOUT, draw, picture_of

NAMES = [path.stem for path in sorted(EXAMPLES.glob("*.py"))]
MOST_BYTES = 400_000


def test_the_table_has_the_present_pictures_and_times():
    text = PAGE.read_text()
    assert text == examples_page.page(text), "run: python -m docs.examples_page"
    assert sorted(name for name, _ in examples_page.ROW.findall(text)) == NAMES


def test_a_row_keeps_its_text_and_gets_its_picture_and_time():
    table = "| Picture | Example | Time |\n|---|---|---|\n|  | [`jacobi.py`](jacobi.py): heat | 9 s |\n"
    text = f"# Examples\n\nTimes are old.\n\n{table}"
    seconds = json.loads(TIMES_FILE.read_text())["seconds"]["jacobi"]
    row = examples_page.page(text).splitlines()[-1]
    assert "../docs/figures/examples/jacobi.svg" in row
    assert row.endswith(f"[`jacobi.py`](jacobi.py): heat | {seconds:.1f} s |")


@pytest.mark.parametrize("name", NAMES)
def test_each_example_has_a_picture_or_a_reason_for_none(name):
    path = picture_of(name)
    assert (path is None) == (name in WITHOUT)
    assert path is None or path.exists()


def test_the_pictures_are_small_and_none_is_left_over():
    files = set(FOLDER.iterdir())
    assert files <= {picture_of(name) for name in NAMES}
    assert sum(path.stat().st_size for path in files) < MOST_BYTES


def test_each_example_that_runs_here_has_a_time_and_the_machine_is_named():
    measured = json.loads(TIMES_FILE.read_text())
    assert sorted(measured["seconds"]) == [name for name in NAMES if name not in NEEDS_MORE]
    assert all(0.1 < each < 600 for each in measured["seconds"].values())
    assert measured["machine"] in PAGE.read_text()


@pytest.mark.parametrize("name", ["device_loop", "close_pairs"])
def test_a_picture_is_the_graph_that_the_example_draws(driver, name):
    if driver.kind != "host":
        pytest.skip("the pictures are those of the host driver")
    drawn = draw(name)
    assert picture_of(name).read_text() == drawn, (
        "run: CUDA_GRAPHS_DRIVER=host python -m docs.examples_page pictures"
    )
    assert re.search(rf"{name}\.py:\d+", drawn)
