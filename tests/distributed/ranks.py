# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Runs programs on several ranks: by mpiexec, whose processes have the driver of this test run."""

import os
import shutil
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import cuda_graphs as cg

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 240
# Open MPI refuses to start more ranks than cores, and to run as root, unless it is told to.
OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}


def find_mpiexec():
    """Return the path of mpiexec; that of this environment first."""
    here = str(Path(sys.executable).parent)
    return shutil.which("mpiexec", path=os.pathsep.join([here, os.environ.get("PATH", "")]))


def run(count, *arguments, fails=False, limit=LIMIT_S, options=()):
    """Run Python with these arguments on `count` ranks, and return what they print. `options` are those of mpiexec.

    Skips the test without mpi4py or mpiexec, or with fewer GPUs than ranks.
    """
    if find_spec("mpi4py") is None or find_mpiexec() is None:
        pytest.skip("needs mpi4py and mpiexec: pip install 'cuda-graphs[mpi]'")
    if cg.driver_info().kind == "cuda" and len(cg.Device.get_all_devices()) < count:
        pytest.skip(f"needs {count} GPUs")
    child = subprocess.Popen(
        [find_mpiexec(), *options, "-n", str(count), sys.executable, "-W", "error", *map(str, arguments)],
        cwd=ROOT,
        env=os.environ | OPEN_MPI | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = child.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        output, _ = child.communicate()
        pytest.fail(f"{count} ranks did not end within {limit} s:\n{output}")
    assert (child.returncode != 0) == fails, output
    return output
