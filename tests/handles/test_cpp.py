# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the handle layer's own C++ tests pass: against a driver that fails on order, without Python."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(not (shutil.which("make") and shutil.which("g++")), reason="needs make and g++")
def test_the_handle_layer_keeps_its_laws_in_cpp():
    folder = Path(__file__).parent
    done = subprocess.run(
        ["make", "-C", str(folder), f"PYTHON={sys.executable}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Registry.NeverGivesAHandleOfAnotherLife" in done.stdout
