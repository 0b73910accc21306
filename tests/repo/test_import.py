# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: `import cuda_graphs` only imports: no driver, no compiler, nothing heavy, no thread. Any public name may be
the first that a program uses.

The aim is under 100 ms. Clocks make bad tests, so these tests check modules and libraries instead.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = (
    "llvmlite",
    "cuda.bindings",
    "cuda.core",
    "cuda.pathfinder",
    "numpy",
    "matplotlib",
    "cuda_graphs.hostdriver.ptx",
    "asyncio",
    "pathlib",
    "cuda_graphs.compiler",
    "cuda_graphs.kernels",
    # Modules with many dataclasses, which take 1 to 3 ms each and which few programs use.
    "cuda_graphs.graph.analysis.check",
    "cuda_graphs.graph.analysis.sharing",
    "cuda_graphs.graph.executable.difference",
    "cuda_graphs.graph.executable.explanation",
    "cuda_graphs.graph.flow.explanation",
)
LIBRARIES = ("libcuda.so", "libnvrtc", "libcudart", "libcuda_graphs_hostdriver", "libnvvm", "libllvmlite")

REPORT = """
import json, sys, threading
before = set(sys.modules)
import cuda_graphs
with open("/proc/self/maps") as maps:
    mapped = sorted({line.split()[-1] for line in maps if ".so" in line})
print(json.dumps({
    "modules": sorted(set(sys.modules) - before), "mapped": mapped, "threads": threading.active_count(),
}))
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    child = subprocess.run(
        [sys.executable, "-W", "error", "-c", REPORT],
        cwd=tmp_path_factory.mktemp("elsewhere"),
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert child.returncode == 0, child.stderr
    assert child.stderr == ""
    return json.loads(child.stdout)


@pytest.mark.parametrize("name", HEAVY)
def test_the_import_does_not_import(report, name):
    assert [m for m in report["modules"] if m == name or m.startswith(name + ".")] == []


@pytest.mark.parametrize("name", LIBRARIES)
def test_the_import_does_not_load(report, name):
    assert [path for path in report["mapped"] if name in path.rpartition("/")[2]] == []


def test_the_import_imports_few_modules(report):
    assert "cuda_graphs" in report["modules"]
    assert len(report["modules"]) < 130, report["modules"]


FIRST = """
import os, sys
import cuda_graphs as cg
one_of_each_module = {module: name for name, (module, _) in cg._NAMES.items() if module not in sys.modules}
for name in one_of_each_module.values():
    if not (child := os.fork()):
        getattr(cg, name)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        raise SystemExit(f"{name} cannot be the first name that is used")
"""


def test_every_public_name_may_be_the_first_that_is_used(run_child):
    child = run_child(FIRST)
    assert child.returncode == 0, child.stderr


def test_the_import_starts_no_thread(report):
    assert report["threads"] == 1


def test_a_source_folder_that_is_not_built_says_so(tmp_path):
    """Python imports it in the root of a clone, also if the package is installed elsewhere."""
    root = Path(__file__).resolve().parents[2]
    for source in (root / "cuda_graphs").rglob("*.py"):
        copy = tmp_path / source.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, copy)
    child = subprocess.run(
        [sys.executable, "-c", "import cuda_graphs"],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": ""}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert child.returncode != 0
    assert f"ImportError: {tmp_path}/cuda_graphs/core/driver has no compiled modules" in child.stderr
    assert "pip install -e ." in child.stderr
