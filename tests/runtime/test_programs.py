# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the documented programs in C and C++ build as they say, and launch a saved graph without Python."""

import shutil
import subprocess
import sys

import numpy as np
import pytest

import cuda_graphs as cg
from docs.snippets import blocks
from tests.runtime.conftest import LIBRARY, ROOT, make

EXAMPLES = ROOT / "examples/runtime"


@pytest.fixture
def heat(environment, tmp_path):
    path = tmp_path / "heat.cgg"
    command = [sys.executable, "-W", "error", EXAMPLES / "save.py", path]
    subprocess.run(command, env={**environment, "PYTHONPATH": str(ROOT)}, check=True, timeout=180)
    return path


def run(program, *arguments, env, cwd=None):
    command = [program, *map(str, arguments)]
    done = subprocess.run(command, env=env, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    return done.stdout.splitlines()


def relaxed(u, rate=0.25, limit=1e-5):
    """The loop of save.py in NumPy, and how far it may be from a straight line."""
    u = np.array(u, np.float32)
    while True:
        v = u.copy()
        v[1:-1] = u[1:-1] + np.float32(rate) * (u[:-2] - 2 * u[1:-1] + u[2:])
        change = np.abs(v - u).max()
        u = v
        if change <= limit:
            return u


def rod(left, right, cells=64):
    u = np.zeros(cells, np.float32)
    u[0], u[-1] = left, right
    return u


def test_programs_that_cmake_builds_give_the_results_of_numpy(heat, environment, tmp_path):
    if not shutil.which("cmake"):
        pytest.skip("needs cmake")
    configure = ["cmake", "-S", EXAMPLES, "-B", tmp_path / "build", f"-Dcuda_graphs_DIR={cg.get_include()}"]
    for command in (configure, ["cmake", "--build", tmp_path / "build"]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    lines = run(tmp_path / "build/heat_c", heat, 0.2, env=environment)
    assert lines[:2] == ["input start: 1 dimensions, 256 bytes", "output end: 1 dimensions, 256 bytes"]
    assert np.allclose([float(line) for line in lines[4:]], relaxed(rod(0, 1), 0.2), atol=2e-5)
    both = np.array([line.split() for line in run(tmp_path / "build/heat_cpp", heat, env=environment)], float)
    assert np.allclose(both[:, 0], relaxed(rod(0, 1)), atol=2e-5)
    assert np.allclose(both[:, 1], relaxed(rod(2, -2)), atol=2e-5)


def test_the_program_of_the_page_prints_what_it_computes(environment, tmp_path):
    page = ROOT / "docs/guide/c-runtime.md"
    for language, name in (("python", "save.py"), ("c", "program.c")):
        ((_, text),) = blocks(page, language)
        (tmp_path / name).write_text(text)
    command = [sys.executable, "-W", "error", "save.py"]
    subprocess.run(
        command, env={**environment, "PYTHONPATH": str(ROOT)}, cwd=tmp_path, check=True, timeout=180
    )
    folder = LIBRARY.parent
    compiler = ["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{cg.get_include()}", f"-L{folder}"]
    files = ["program.c", "-o", "program", "-lcuda_graphs", f"-Wl,-rpath,{folder}"]
    subprocess.run([*compiler, *files], cwd=tmp_path, check=True)
    assert run(tmp_path / "program", env=environment, cwd=tmp_path) == ["3 6 9 12"]


def test_handles_are_released_in_any_order_and_wrong_calls_are_refused(programs, heat, environment):
    assert run(programs / "handles", heat, env=environment) == ["all laws hold"]


def test_the_library_needs_neither_python_nor_llvm_nor_cuda():
    needed = subprocess.run(["readelf", "-d", LIBRARY], capture_output=True, text=True, check=True).stdout
    found = {line.split("[")[1].rstrip("]") for line in needed.splitlines() if "(NEEDED)" in line}
    assert {name.partition(".so")[0] for name in found} <= {
        "libc", "libm", "libdl", "libpthread", "libstdc++", "libgcc_s", "ld-linux-x86-64"
    }  # fmt: skip


def test_the_library_exports_the_functions_of_the_header_alone():
    names = subprocess.run(
        ["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True
    ).stdout
    exported = {
        line.split()[2].partition("@")[0] for line in names.splitlines() if " T " in line or " W " in line
    }
    header = (ROOT / "cuda_graphs/objects/code/include/cuda_graphs_runtime.h").read_text()
    declared = {
        line.partition("(")[0].split()[-1].lstrip("*")
        for line in header.splitlines()
        if line.startswith(("int32_t cg_", "const char* cg_", "cg_status cg_", "void cg_"))
    }
    assert exported == declared and len(declared) > 20


@pytest.mark.nightly
def test_programs_have_no_errors_under_the_address_sanitizer():
    done = make("asan")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all laws hold" in done.stdout
