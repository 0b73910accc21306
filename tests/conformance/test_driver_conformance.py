# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the host driver answers what libcuda answered on an H200.

driver/ is a C++ program that asks a driver some 800 cases of questions, each answer a line "label: answer".
driver/h200.json holds the answers of libcuda 580 (CUDA 13.0) on an H200. The host driver must give the same lines,
except for those of driver/differences.json, each with its reason. A listed difference that is gone fails as well.
"""

from __future__ import annotations

import ctypes
import difflib
import fcntl
import json
import os
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent / "driver"
ROOT = HERE.parents[2]
HOST_DRIVER = ROOT / "cuda_graphs/hostdriver/libcuda_graphs_hostdriver.so"
BUILD = ROOT / "build" / "driver_cases"

H200 = json.loads((HERE / "h200.json").read_text())
DIFFERENCES = json.loads((HERE / "differences.json").read_text())


def ask(library: str, out: Path, **variables: str) -> dict:
    """Build the program where it changed, ask the driver, and give what it wrote."""
    command = [HERE / "run.sh", library, out]
    environment = {**os.environ, **variables}
    BUILD.mkdir(parents=True, exist_ok=True)
    with (BUILD / "run.lock").open("w") as lock:  # the processes of a test run build in one folder
        fcntl.flock(lock, fcntl.LOCK_EX)
        result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert result.returncode == 0, result.stderr[-4000:]
    return json.loads(out.read_text())


@pytest.fixture(scope="session")
def host() -> dict:
    """The host driver's answers; asked once for all processes of a test run, and again when something changed."""
    if not HOST_DRIVER.exists():
        pytest.skip("the host driver is not built: run `make`")
    BUILD.mkdir(parents=True, exist_ok=True)
    out = BUILD / "host.json"
    sources = [HOST_DRIVER, *HERE.glob("*.cpp"), *HERE.glob("*.hpp"), HERE / "asked.def", HERE / "run.sh"]
    with (BUILD / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if out.exists() and out.stat().st_mtime > max(p.stat().st_mtime for p in sources):
            return json.loads(out.read_text())
        fresh = BUILD / "host.json.new"
        answers = ask(str(HOST_DRIVER), fresh)
        fresh.rename(out)
        return answers


def label(line: str) -> str:
    return line.partition(":")[0]


def changes(expected: list[str], found: list[str]) -> list[str]:
    """The lines found instead of, or besides, the expected ones; "missing: line" for one without a counterpart."""
    gone: list[str] = []
    new: list[str] = []
    for kind, i, j, k, m in difflib.SequenceMatcher(None, expected, found, autojunk=False).get_opcodes():
        if kind != "equal":
            gone += expected[i:j]
            new += found[k:m]
    unmatched = list(gone)
    for line in new:
        twin = next((other for other in unmatched if label(other) == label(line)), None)
        if twin is not None:
            unmatched.remove(twin)
    return new + [f"missing: {line}" for line in unmatched]


def disagreement(expected: list[str], found: list[str], allowed: dict[str, str]) -> list[str]:
    """Returns the wrong answers of one case, in lines for a reader. `allowed` maps a line to its reason; the line
    "*" stands for the whole case."""
    changed = changes(expected, found)
    if "*" in allowed:
        return [] if changed else ["the case does not differ any more: take it out of differences.json"]
    wrong = [f"not as on the H200: {line}" for line in changed if line not in allowed]
    return wrong + [
        f"does not differ any more: {line!r}, take it out of differences.json"
        for line in allowed
        if line not in changed
    ]


@pytest.mark.parametrize("name", sorted(H200["cases"]))
def test_the_host_driver_answers_as_the_h200(host: dict, name: str) -> None:
    expected, found = H200["cases"][name], host["cases"].get(name, [])
    wrong = disagreement(expected, found, DIFFERENCES["cases"].get(name, {}))
    report = "\n".join(difflib.unified_diff(expected, found, "H200", "host driver", lineterm="", n=2))
    assert not wrong, "\n".join([*wrong, report])


def test_every_case_of_the_program_has_answers_of_the_h200(host: dict) -> None:
    assert set(H200["cases"]) == set(host["cases"]), "record again: .ci/gpu conformance"


def test_every_listed_difference_is_of_a_case_and_has_a_reason() -> None:
    assert set(DIFFERENCES["cases"]) <= set(H200["cases"])
    reasons = [reason for lines in DIFFERENCES["cases"].values() for reason in lines.values()]
    reasons += DIFFERENCES["attributes"].values()
    assert all(len(reason.split()) >= 4 for reason in reasons)


def test_the_comparison_notices_each_kind_of_difference() -> None:
    expected = ["a: 1", "b: 2", "c: 3"]
    assert disagreement(expected, expected, {}) == []
    assert disagreement(expected, ["a: 1", "b: 9", "c: 3"], {}) == ["not as on the H200: b: 9"]
    assert disagreement(expected, ["a: 1", "b: 9", "c: 3"], {"b: 9": "why"}) == []
    assert disagreement(expected, ["a: 1", "c: 3"], {}) == ["not as on the H200: missing: b: 2"]
    assert disagreement(expected, ["crash"], {"*": "why"}) == []
    assert len(disagreement(expected, expected, {"*": "why"})) == 1
    assert len(disagreement(expected, expected, {"b: 9": "why"})) == 1


def test_device_attributes_are_those_of_the_h200_but_for_the_listed_ones(host: dict) -> None:
    h200, ours = H200["facts"]["attributes"], host["facts"]["attributes"]
    assert set(ours) == set(h200)
    differing = {number for number in h200 if h200[number] != ours[number]}
    listed = DIFFERENCES["attributes"]
    assert differing <= set(listed), "not as on the H200"
    # Values that come from the operating system may agree by chance.
    always = {number for number, why in listed.items() if "A property of the CPU" not in why}
    assert always <= differing, "listed, and as on the H200"


def test_versions_and_priorities_are_those_of_the_h200(host: dict) -> None:
    for fact in ("driver_version", "stream_priorities"):
        assert host["facts"][fact] == H200["facts"][fact]


# Not with fewer: then a kernel that waits for another stream's work keeps the only thread that could run that.
@pytest.mark.parametrize("threads", ["2", "8"])
def test_the_answers_do_not_depend_on_the_number_of_worker_threads(
    host: dict, threads: str, tmp_path: Path
) -> None:
    answers = ask(str(HOST_DRIVER), tmp_path / "answers.json", CUDA_GRAPHS_HOST_THREADS=threads)
    assert {name: lines for name, lines in answers["cases"].items() if host["cases"][name] != lines} == {}


@pytest.mark.cuda
@pytest.mark.timeout(
    300
)  # many cases are processes with contexts of their own, beside those of the other tests
def test_libcuda_still_answers_as_recorded(tmp_path: Path) -> None:
    """On the kind of machine that h200.json is of: what was recorded does not depend on the day."""
    try:
        ctypes.CDLL("libcuda.so.1", mode=os.RTLD_LOCAL)
    except OSError:
        pytest.skip("no libcuda here")
    real = ask("libcuda.so.1", tmp_path / "real.json")
    if any(real["facts"][fact] != H200["facts"][fact] for fact in ("name", "driver_version")):
        pytest.skip(f"h200.json is of another machine than {real['facts']['name']}")
    changed = {
        name: disagreement(H200["cases"].get(name, []), lines, {}) for name, lines in real["cases"].items()
    }
    assert {name: wrong for name, wrong in changed.items() if wrong} == {}
