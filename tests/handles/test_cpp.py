# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the handle layer's own C++ tests pass: against a driver that fails on order, without Python."""

import fcntl
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
HOST_DRIVER = FOLDER.parents[1] / "cuda_graphs/hostdriver/libcuda_graphs_hostdriver.so"


BUILD = FOLDER.parents[1] / "build/handles"


def make(*arguments):
    """One at a time: what is built of the layer's sources is for both tests."""
    BUILD.mkdir(parents=True, exist_ok=True)
    with (BUILD / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        command = ["make", "-C", FOLDER, f"PYTHON={sys.executable}", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.skipif(not (shutil.which("make") and shutil.which("g++")), reason="needs make and g++")
def test_the_handle_layer_keeps_its_laws_in_cpp():
    done = make()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Registry.NeverGivesAHandleOfAnotherLife" in done.stdout


@pytest.mark.skipif(not (shutil.which("make") and shutil.which("g++")), reason="needs make and g++")
def test_threads_that_share_handles_break_nothing():
    """Here without a sanitizer; `make tsan` has one."""
    if not HOST_DRIVER.exists():
        pytest.skip("the host driver is not built: run `make`")
    done = make("hammer", f"HOST_DRIVER={HOST_DRIVER}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("seed") == 8  # with 0 workers, and with 2
