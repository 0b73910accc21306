# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: programs of cuda.core and cuda.bindings give the same results with the host driver in the place of libcuda and
with NVIDIA's.

Each file of core/ and bindings/ runs in a process of its own: started by the command with the host driver, as it is
with a GPU. By hand that is::

    python -m cuda_graphs.hostdriver -m pytest tests/standin/core/test_objects.py
    CUDA_GRAPHS_DRIVER=cuda python -m pytest tests/standin/core/test_objects.py
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cuda_graphs as cg
from tests.conftest import ROOT

HERE = Path(__file__).parent
PROGRAMS = sorted(
    path.relative_to(HERE) for folder in ("core", "bindings") for path in HERE.glob(f"{folder}/test_*.py")
)
TWO_DEVICES = Path("bindings/test_devices.py")
# Laws of the host driver. With NVIDIA's driver the first of them waits for ever.
HOST_ALONE = {Path("bindings/test_host_alone.py"), Path("bindings/test_linker_alone.py")}


# Beside other tests on one GPU a program may take minutes, which alone takes 15 s.
@pytest.mark.timeout(300)
@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_programs_of_others_run(program):
    on_a_gpu = cg.driver_info().kind == "cuda"
    if on_a_gpu and program == TWO_DEVICES and len(cg.Device.get_all_devices()) < 2:
        pytest.skip("needs two devices")
    if on_a_gpu and program in HOST_ALONE:
        pytest.skip("the host driver's own")
    command = [] if on_a_gpu else ["-m", "cuda_graphs.hostdriver"]
    # A wait that never ends fails: pytest-timeout says where it is, and ends the process.
    options = ["-q", "--timeout=60", "-p", "no:cacheprovider", "-p", "no:xdist"]
    arguments = ["-m", "pytest", *options, HERE / program]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    child = subprocess.run(
        [sys.executable, *command, *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path, "CUDA_GRAPHS_HOST_DEVICES": "2"},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    last = child.stdout.strip().splitlines()[-1] if child.stdout.strip() else ""
    assert child.returncode == 0, child.stdout[-6000:] + child.stderr[-3000:]
    assert re.match(r"\d+ passed in ", last), last  # none skipped
