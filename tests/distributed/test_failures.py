# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws: a rank that fails ends the program on all ranks, and a missing mpi4py is reported with its remedy."""

import os
import subprocess
import sys

import pytest

import cuda_graphs as cg
from tests.distributed.ranks import ROOT, run

LIMIT_S = 60


@pytest.mark.parametrize("way", ["raise", "kill"])
def test_a_rank_that_fails_ends_all_ranks(way):
    output = run(2, "-m", "tests.distributed.failures", way, fails=True, limit=LIMIT_S)
    assert ("this rank gives up" in output) == (way == "raise")


@pytest.mark.parametrize("program", ["cg.distributed.init()", "cg.distributed.from_mpi(None)"])
def test_a_missing_mpi4py_is_reported_with_the_command_that_installs_it(program):
    lines = ["import sys", "sys.modules['mpi4py.MPI'] = None", "import cuda_graphs as cg", program]
    child = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT), "CUDA_GRAPHS_DRIVER": "host"},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert "ImportError: cuda_graphs.distributed needs mpi4py and an MPI: run pip install" in child.stderr


def test_ranks_of_torchrun_are_refused_on_the_host_driver(monkeypatch):
    for name, value in (
        ("RANK", "0"),
        ("WORLD_SIZE", "3"),
        ("LOCAL_RANK", "0"),
        ("MASTER_ADDR", "localhost"),
    ):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("CUDA_GRAPHS_DRIVER", "host")
    output = run(1, "-c", "import cuda_graphs as cg; cg.distributed.init()", fails=True, limit=LIMIT_S)
    assert "torchrun started 3 processes, and MPI sees 1" in output


def test_an_import_of_the_package_loads_no_mpi():
    line = "import cuda_graphs, sys; print([m for m in sys.modules if 'mpi4py' in m or 'distributed' in m])"
    found = subprocess.run([sys.executable, "-c", line], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
