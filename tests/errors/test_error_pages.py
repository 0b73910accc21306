# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: docs/error-classes.md shows, for each public class of errors and warnings, a program that raises exactly this
class, and a program that runs. `url` names the place of an error in the documentation.

A child process imports the package and forks for each program before it uses the driver, because some errors end a
context.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cuda_graphs as cg
from cuda_graphs import errors

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/error-classes.md"
# Programs of the bases may raise a class that inherits from them.
BASES = {"CompileError"}
# The program that runs before the driver starts.
BARE = {"DriverNotFoundError"}

RUNNER = """
import json, os, sys, warnings
import cuda_graphs as cg, cuda_graphs.kernels, cuda_graphs.testing
import cuda_graphs.compiler

def outcome(text, page):
    seen = []
    warnings.simplefilter("always")
    warnings.showwarning = lambda message, category, *rest: seen.append(category.__name__)
    try:
        exec(compile(text, page, "exec"), {"__name__": "__main__"})
    except Exception as error:
        return type(error).__name__
    return seen[0] if seen else ""

def forked(text, page):
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        os.write(write, outcome(text, page).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        found = pipe.read().decode()
    return found if os.waitpid(child, 0)[1] == 0 else "the process ended"

page, programs = json.load(sys.stdin)
print(json.dumps([forked(text, page) for text in programs]))
"""


def sections():
    """Return the line of each class and its blocks, as pairs of a line and a text."""
    text = PAGE.read_text()
    found = {}
    for part in re.finditer(r"^### (\w+)\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL):
        blocks = re.finditer(r"^```py\n(.*?)^```$", part[2], re.MULTILINE | re.DOTALL)
        found[part[1]] = [(text.count("\n", 0, part.start(2) + b.start(1)), b[1]) for b in blocks]
    return found


def program(name, line, text):
    """The common lines of the page and a block, at the lines where they stand."""
    page = PAGE.read_text()
    common = re.search(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    first = page.count("\n", 0, common.start(1))
    if name in BARE:
        return "\n" * (line - 1) + "import cuda_graphs as cg\n" + text
    head = "\n" * first + common[1]
    return head + "\n" * (line - head.count("\n")) + text


@pytest.fixture(scope="module")
def outcomes():
    """The names of the exception or warning of both programs of each class, "" for neither."""
    cases = [(name, program(name, *block)) for name, blocks in sections().items() for block in blocks]
    # A kernel from the disk gives no warning of the compiler.
    setting = {"PYTHONPATH": str(ROOT), "CUDA_GRAPHS_DRIVER": "host", "CUDA_GRAPHS_CACHE": "0"}
    child = subprocess.run(
        [sys.executable, "-c", RUNNER],
        input=json.dumps([str(PAGE), [text for _, text in cases]]),
        env=os.environ | setting,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert child.returncode == 0, child.stderr
    found = iter(json.loads(child.stdout.splitlines()[-1]))
    return {name: [next(found) for _ in blocks] for name, blocks in sections().items()}


CLASSES = [
    name
    for name in cg.__all__
    if isinstance(getattr(cg, name), type) and issubclass(getattr(cg, name), Exception)
]


def test_the_page_has_two_programs_for_each_public_class_and_no_other():
    assert len(CLASSES) > 35
    assert {name: len(blocks) for name, blocks in sections().items()} == dict.fromkeys(CLASSES, 2)


@pytest.mark.parametrize("name", CLASSES)
def test_the_first_program_raises_the_class_and_the_second_one_runs(outcomes, name):
    failing, mended = outcomes[name]
    assert mended == ""
    assert failing == name or (name in BASES and issubclass(getattr(cg, failing), getattr(cg, name)))


@pytest.fixture
def no_site(monkeypatch):
    monkeypatch.delenv("CUDA_GRAPHS_DOCS", raising=False)
    monkeypatch.setattr(errors, "__file__", "/nowhere/cuda_graphs/errors/__init__.py")


def test_the_url_of_an_error_is_its_place_in_the_site(no_site, monkeypatch):
    error = errors.error_from_code(2)
    assert error.url == "errors.html#cuda-error-out-of-memory"
    assert errors.NVRTCError(6, "NVRTC_ERROR_COMPILATION").url == "error-classes.html#nvrtcerror"
    assert errors.instantiate_error(1, 0).url == "error-classes.html#graphinstantiateerror"
    for address in ("https://example.org/docs", "https://example.org/docs/"):
        monkeypatch.setenv("CUDA_GRAPHS_DOCS", address)
        assert error.url == "https://example.org/docs/errors.html#cuda-error-out-of-memory"


def test_the_url_of_an_error_is_in_the_built_site_of_the_source_tree(monkeypatch, tmp_path):
    monkeypatch.delenv("CUDA_GRAPHS_DOCS", raising=False)
    monkeypatch.setattr(errors, "__file__", str(tmp_path / "cuda_graphs/errors/__init__.py"))
    (tmp_path / "docs/_build/html").mkdir(parents=True)
    expected = f"{tmp_path.as_uri()}/docs/_build/html/errors.html#cuda-error-invalid-value"
    assert errors.error_from_code(1).url == expected


@pytest.mark.parametrize("code", errors.table.TABLE)
def test_the_place_of_a_status_is_a_heading_of_the_page(code):
    row = errors.table.TABLE[code]
    headings = re.findall(r"^### \d+ (\w+)$", (ROOT / "docs/errors.md").read_text(), re.MULTILINE)
    assert errors.place_of(row.name).partition("#")[2] in {h.lower().replace("_", "-") for h in headings}
