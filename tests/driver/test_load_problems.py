# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a library that cannot be the driver says why, and another driver can be loaded after it."""

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest
from cuda.pathfinder import find_nvidia_header_directory

from cuda_graphs.core.driver.choice import HOST_LIBRARY

SOURCE = Path(__file__).parent / "odd_driver.cpp"
LOADS = """
from cuda_graphs.core.driver import seam
print(seam.load({odd!r}))
print(repr(seam.load({host!r})))
print(seam.version() >= (12, 0))
"""
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


@pytest.fixture(scope="module")
def odd_driver(tmp_path_factory):
    made = tmp_path_factory.mktemp("odd") / "libodd.so"
    headers = find_nvidia_header_directory("cudart")
    compiler = (os.environ.get("CXX") or sysconfig.get_config_var("CXX") or "g++").split()
    flags = ["-std=c++17", "-shared", "-fPIC", f"-I{headers}"]
    subprocess.run([*compiler, *flags, str(SOURCE), "-o", str(made), "-ldl"], check=True)
    return str(made)


def loaded(run_child, odd, **environment):
    """Return what the first library says, after the host driver was loaded behind it."""
    done = run_child(
        LOADS.format(odd=odd, host=str(HOST_LIBRARY)), ODD_DRIVER_OF=str(HOST_LIBRARY), **environment
    )
    assert done.returncode == 0, done.stderr
    problem, then, is_loaded = done.stdout.splitlines()
    assert (then, is_loaded) == ("''", "True")
    return problem


@needs_compiler
@pytest.mark.parametrize(
    ("function", "how", "problem"),
    [
        ("cuGraphCreate", "missing", "it has no cuGraphCreate, which CUDA has had since version code 10000"),
        ("cuInit", "fails", "its cuInit returns CUDA_ERROR_UNKNOWN"),
        ("cuDeviceGetCount", "fails", "it has no device"),
        ("cuDeviceGetCount", "no device", "it has no device"),
        ("cuDriverGetVersion", "fails", "it does not tell its version"),
    ],
)
def test_a_driver_that_cannot_be_used_says_why(run_child, odd_driver, function, how, problem):
    assert loaded(run_child, odd_driver, ODD_DRIVER_FUNCTION=function, ODD_DRIVER_HOW=how) == problem


def test_a_file_that_is_no_library_says_so(run_child, tmp_path):
    (tmp_path / "libcuda.so").write_text("no library")
    assert loaded(run_child, str(tmp_path / "libcuda.so")).startswith("it cannot be opened: ")


@needs_compiler
def test_a_library_that_is_no_driver_says_so(run_child):
    assert "it exports no cuGetProcAddress_v2" in loaded(run_child, "libm.so.6")
