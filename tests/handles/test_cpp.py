# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the handle layer's own C++ tests pass: against a driver that fails on order, without Python."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
HOST_DRIVER = FOLDER.parents[1] / "cuda_graphs/_hostdriver/libcuda_graphs_hostdriver.so"


@pytest.mark.skipif(not (shutil.which("make") and shutil.which("g++")), reason="needs make and g++")
def test_the_handle_layer_keeps_its_laws_in_cpp():
    done = subprocess.run(
        ["make", "-C", str(FOLDER), f"PYTHON={sys.executable}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Registry.NeverGivesAHandleOfAnotherLife" in done.stdout


@pytest.mark.skipif(not (shutil.which("make") and shutil.which("g++")), reason="needs make and g++")
def test_threads_that_share_handles_break_nothing():
    """Here without a sanitizer; `make tsan` has one."""
    if not HOST_DRIVER.exists():
        pytest.skip("the host driver is not built: run `make`")
    command = ["make", "-C", str(FOLDER), "hammer", f"PYTHON={sys.executable}", f"HOST_DRIVER={HOST_DRIVER}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("seed") == 8  # with 0 workers, and with 2
