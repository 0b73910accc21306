# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: links and paths in the documentation lead somewhere, and its tables say what the code does."""

import json
import re

import pytest

LINK = re.compile(r"""(?:\[[^\]]*\]\(|<img src=")([^)"\s]+)[)"]""")
# A path of a file of ours: its end is enough (`memory/buffer.pyx`). `cuda.h` is NVIDIA's.
PATH = re.compile(r"`(?!cuda\.h`)(\w[\w./-]*(?:\.(?:py|pyx|pxd|pyi|hpp|cpp|h|def|md|json|toml)|/))`")
PEERS = ["numba", "taichi", "pytorch", "warp", "cupy", "cudastf"]
VARIABLE = re.compile(r"\bCUDA_GRAPHS_[A-Z]+(?:_[A-Z]+)*\b")


def pages(tree):
    yield from tree.root.glob("*.md")
    yield from tree.files(".md", below="docs")


def anchors(page):
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", h).strip().lower().replace(" ", "-") for h in headings}


def dead_links(tree):
    dead = []
    for page in pages(tree):
        for target in LINK.findall(page.read_text()):
            path, _, anchor = target.partition("#")
            if target.startswith(("http:", "https:")):
                continue
            aim = (page.parent / path) if path else page
            if not aim.exists() or (anchor and anchor not in anchors(aim)):
                dead.append(f"{tree.name(page)}: {target}")
    return dead


def test_every_link_within_the_tree_leads_somewhere(tree):
    assert dead_links(tree) == []


def test_a_dead_link_is_noticed(empty_tree):
    (empty_tree.root / "docs").mkdir()
    (empty_tree.root / "README.md").write_text(
        '# Here\n[a](docs/a.md) [b](docs/b.md) [c](#here) [d](docs/a.md#x) <img src="docs/c.svg">\n'
    )
    (empty_tree.root / "docs/a.md").write_text(
        "# A page\n[up](../README.md#here) [out](https://example.org)\n"
    )
    assert dead_links(empty_tree) == [
        "README.md: docs/b.md",
        "README.md: docs/a.md#x",
        "README.md: docs/c.svg",
    ]


def dead_paths(tree):
    files = [f"/{tree.name(path)}" for path in tree.files()]
    notes = [path for folder in ("cuda_graphs", "benchmarks") for path in tree.files(".md", below=folder)]
    return [
        f"{tree.name(page)}: {path}"
        for page in [*pages(tree), *notes]
        for path in PATH.findall(page.read_text())
        if not any(f"/{path}" in file if path[-1] == "/" else file.endswith(f"/{path}") for file in files)
    ]


def test_every_path_in_the_pages_is_the_end_of_a_path_of_the_tree(tree):
    assert dead_paths(tree) == []


def test_a_dead_path_is_noticed(empty_tree):
    (empty_tree.root / "docs").mkdir()
    (empty_tree.root / "docs/a.md").write_text(
        "`docs/a.md` `a.md` `docs/` `cuda.h` `.md` `c.md` `doc/` `s/a.md` `x.y`"
    )
    assert dead_paths(empty_tree) == ["docs/a.md: c.md", "docs/a.md: doc/", "docs/a.md: s/a.md"]


def test_every_environment_variable_of_the_code_is_documented_and_no_other(tree):
    used = set()
    for path in tree.files(".py", ".pyx", ".hpp", ".cpp", below="cuda_graphs"):
        used |= set(VARIABLE.findall(path.read_text()))
    used |= set(VARIABLE.findall((tree.root / "setup.py").read_text()))
    # Include guards look like variables.
    used = {name for name in used if not name.endswith(("_HPP", "_H"))}
    documented = set(
        re.findall(r"^\| `(CUDA_GRAPHS_\w+)`", (tree.root / "docs/environment.md").read_text(), re.MULTILINE)
    )
    assert used == documented


def test_every_name_of_ours_in_the_table_of_names_exists(tree):
    import cuda_graphs as cg

    page = (tree.root / "docs/coming-from-cuda-core.md").read_text()
    names = re.findall(r"^\| `([\w.]+)`", page, re.MULTILINE)
    assert len(names) > 10
    for name in names:
        found = cg
        for part in name.split("."):
            found = getattr(found, part, None) or found.__dataclass_fields__[part]


def test_names_said_to_be_the_same_as_in_cuda_core_exist(tree):
    import cuda_graphs as cg

    page = (tree.root / "docs/coming-from-cuda-core.md").read_text()
    table = page.partition("The same in all three:")[2].partition("These names have no counterpart")[0]
    names = {
        name for row in table.splitlines()[3:] for name in re.findall(r"`(\w+)`", row.partition(" | ")[2])
    }
    assert len(names) > 60
    places = [cg, *(getattr(cg, name) for name in cg.__all__)]
    assert [name for name in sorted(names) if not any(hasattr(place, name) for place in places)] == []


@pytest.mark.parametrize("page", [f"coming-from-{peer}.md" for peer in PEERS])
def test_every_name_that_stands_for_one_of_another_compiler_exists(tree, page):
    import cuda_graphs as cg

    rows = re.findall(r"^\| (.*?) \|", (tree.root / "docs" / page).read_text(), re.MULTILINE)
    names = {name for row in rows for name in re.findall(r"\bcg\.([\w.]+)", row)}
    assert len(names) > 10
    for name in names:
        found = cg
        for part in name.split("."):
            found = getattr(found, part)


def test_the_page_of_performance_shows_the_figures_that_were_taken(tree):
    from docs.performance_page import performance_page

    page = (tree.root / "docs/performance.md").read_text()
    assert page == performance_page(), "run: python -m docs.performance_page"
    drawn = (tree.root / "docs/figures/growth.svg").read_text()
    growth = json.loads((tree.root / "docs/figures/growth.json").read_text())
    assert growth["machine"] in drawn
    assert all(what in drawn for what in growth["growth"])


def test_the_page_of_performance_of_graphs_shows_the_figures_that_were_taken(tree):
    from docs.graph_performance_page import graph_performance_page, taken

    page = (tree.root / "docs/graph-performance.md").read_text()
    assert page == graph_performance_page(), "run: python -m docs.graph_performance_page"
    assert taken()
    for file in taken().values():
        drawn = (tree.root / f"docs/figures/{file}.svg").read_text()
        document = json.loads((tree.root / f"docs/figures/{file}.json").read_text())
        assert document["machine"] in drawn
        assert all(row in drawn for row in document["figures"])


def test_the_page_of_errors_is_the_table_of_errors(tree):
    from docs.errors_page import errors_page

    assert (tree.root / "docs/errors.md").read_text() == errors_page(), "run: python -m docs.errors_page"


def test_the_page_of_names_is_what_the_docstrings_say(tree):
    from docs.names_page import names_page

    assert (tree.root / "docs/names.md").read_text() == names_page(), "run: python -m docs.names_page"


def test_the_page_of_capture_modes_shows_what_the_h200_answered(tree):
    from docs.capture_modes_page import LEFT_OUT, ROWS, answers, functions, modes_page

    page = (tree.root / "docs/guide/capture-modes.md").read_text()
    assert page == modes_page(), "run: python -m docs.capture_modes_page"
    shown = [name for row in ROWS.values() for name in functions(row)]
    assert sorted(shown) == sorted(set(answers()) - LEFT_OUT)


def test_the_page_of_gradients_has_the_figures_of_its_files(tree):
    from docs.gradient_performance_page import gradient_performance_page

    page = (tree.root / "docs/gradient-performance.md").read_text()
    assert page == gradient_performance_page(), "run: python -m docs.gradient_performance_page"


def test_the_pictures_of_the_pages_are_those_that_their_snippets_draw(tree, run_child):
    from docs.pictures_figures import PICTURES

    code = "import json; from docs.pictures_figures import drawn; print(json.dumps(drawn()))"
    done = run_child(code, CUDA_GRAPHS_DRIVER="host")
    assert done.returncode == 0, done.stderr
    pictures = json.loads(done.stdout.splitlines()[-1])
    assert set(pictures) == {name for wanted in PICTURES.values() for name in wanted}
    for name, svg in pictures.items():
        assert (tree.root / f"docs/figures/{name}.svg").read_text() == svg, (
            "run CUDA_GRAPHS_DRIVER=host python -m docs.pictures_figures"
        )


def test_the_figures_of_the_front_page_are_those_that_are_drawn(tree, run_child):
    """The picture of the hillslope is drawn by matplotlib, whose versions differ in their pixels."""
    code = "import json; from docs.front_figures import *; print(json.dumps([loop_cost(), graph_of_hillslope()]))"
    done = run_child(code, CUDA_GRAPHS_DRIVER="host")
    assert done.returncode == 0, done.stderr
    bars, graph = json.loads(done.stdout.splitlines()[-1])
    remedy = "run CUDA_GRAPHS_DRIVER=host python -m docs.front_figures"
    assert (tree.root / "docs/figures/loop_cost.svg").read_text() == bars, remedy
    assert (tree.root / "docs/figures/hillslope_graph.svg").read_text() == graph, remedy
