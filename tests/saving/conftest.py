# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`elsewhere`: runs a program in another process, on the driver of these tests or on another one."""

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT


@pytest.fixture
def elsewhere(driver, tmp_path):
    """elsewhere(program, *arguments, driver=...): what a program prints that runs in the folder of the test."""

    def run(program, *arguments, kind=None):
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", program, *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": path, "CUDA_GRAPHS_DRIVER": kind or driver.kind},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
