# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`command`: runs `python -m cuda_graphs`, in an empty folder and on the driver of these tests."""

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT


@pytest.fixture
def command(driver, tmp_path):
    """command(*arguments, **environment): what the command prints, and its exit code."""

    def run(*arguments, **environment):
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        return subprocess.run(
            [sys.executable, "-W", "error", "-m", "cuda_graphs", *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": path, "CUDA_GRAPHS_DRIVER": driver.kind, **environment},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )

    return run
