# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: programs of cuda.core and cuda.bindings give the right results with the host driver in the place of libcuda.

Each file of core/ and bindings/ runs in a process of its own, started by the command.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

HERE = Path(__file__).parent
PROGRAMS = sorted(
    path.relative_to(HERE) for folder in ("core", "bindings") for path in HERE.glob(f"{folder}/test_*.py")
)


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_programs_of_others_run_on_the_host_driver(program):
    arguments = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", HERE / program]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    child = subprocess.run(
        [sys.executable, "-m", "cuda_graphs.hostdriver", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path, "CUDA_GRAPHS_HOST_DEVICES": "2"},
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    last = child.stdout.strip().splitlines()[-1] if child.stdout.strip() else ""
    assert child.returncode == 0, child.stdout[-6000:] + child.stderr[-3000:]
    assert re.match(r"\d+ passed in ", last), last  # none skipped
