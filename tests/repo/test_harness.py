# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a test that leaves a box of the handle layer behind fails, whatever kind of box; one that does not, passes.

The fixture of tests/conftest.py is what every other test relies on, so it is tried here on tests that leak on purpose.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cuda_graphs.core.resources import boxes

ROOT = Path(__file__).parents[2]
LEAKS = """
import pytest
import cuda_graphs as cg
from tests import conftest

conftest.PATIENCE_S = 0.2  # the patience is for releases by threads of a driver; these leaks stay
KEPT = []
PTX = b".version 8.0\\n.target sm_80\\n.address_size 64\\n.visible .entry f() { ret; }\\n"


def library(device):
    code = cg.ObjectCode.from_ptx(PTX)
    assert code.handle
    return code


def user_object(device):
    g = cg.GraphDef()
    g.callback(lambda: g)  # a cycle through the driver, which the collector cannot see


# Kinds of boxes, and a function that leaves one.
LEAKS = {
    "stream": lambda device: device.create_stream(),
    "event": lambda device: device.create_event(),
    "pool": lambda device: cg.DeviceMemoryResource(device, {}),
    "pointer": lambda device: device.allocate(64),
    "library": library,
    "kernel": lambda device: cg.ObjectCode.from_ptx(PTX).get_kernel("f"),
    "graph": lambda device: cg.GraphDef(),
    "graph_node": lambda device: cg.GraphDef().join(),
    "graph_exec": lambda device: cg.GraphDef().instantiate(),
    "user_object": user_object,
    "graph_memory": lambda device: cg.GraphDef().alloc(64),
    "capture": lambda device: device.create_graph_builder().begin_building(),
}


@pytest.mark.parametrize("kind", LEAKS)
def test_leaves_one(kind, device):
    KEPT.append(LEAKS[kind](device))


def test_leaves_none(device, stream):
    for leak in LEAKS.values():
        if leak is not user_object:
            leak(device)


def test_leaves_none_in_a_cycle(device):
    cycle = [device.create_event(), cg.GraphDef().join()]
    cycle.append(cycle)


def test_fails_and_leaves_one(device):
    KEPT.append(device.create_event())
    raise AssertionError("its own")


def test_comes_after_it(device):
    device.create_event()
"""


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    """Returns the outcomes of the tests above, by name."""
    folder = tmp_path_factory.mktemp("leaks")
    (folder / "test_leaks.py").write_text(LEAKS)
    command = [sys.executable, "-m", "pytest", "-rA", "-q", "--tb=short", "-p", "tests.conftest"]
    command += ["-p", "no:cacheprovider", "-c", os.devnull, f"--rootdir={folder}", str(folder)]
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    said = {}
    for word, test in re.findall(r"^(PASSED|FAILED|ERROR) \S+::(\w+(?:\[\w+\])?)", done.stdout, re.MULTILINE):
        said.setdefault(test, []).append(word)
    assert said, done.stdout + done.stderr
    return said, done.stdout


@pytest.mark.parametrize("kind", [kind for kind in boxes.live() if kind != "context"])
def test_every_kind_of_box_that_is_left_is_an_error(kind, outcome):
    said, text = outcome
    assert said[f"test_leaves_one[{kind}]"] == ["PASSED", "ERROR"]
    report = text[text.index(f"ERROR at teardown of test_leaves_one[{kind}]") :]
    before, after = re.search(rf"before: .*'{kind}': (\d+).*after: .*'{kind}': (\d+)", report).groups()
    assert int(after) > int(before)


@pytest.mark.parametrize("test", ["test_leaves_none", "test_leaves_none_in_a_cycle", "test_comes_after_it"])
def test_a_test_that_leaves_none_passes(test, outcome):
    assert outcome[0][test] == ["PASSED"]


def test_a_test_that_failed_is_reported_once(outcome):
    assert outcome[0]["test_fails_and_leaves_one"] == ["FAILED"]


def test_leak_fixture_guards_every_test(request):
    assert "no_box_is_left_behind" in request.fixturenames
    for path in (ROOT / "tests").rglob("*.py"):
        if path not in (ROOT / "tests" / "conftest.py", Path(__file__)):
            assert "no_box_is_left_behind" not in path.read_text(), f"{path} replaces the fixture"
