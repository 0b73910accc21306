# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the benchmark of ranks measures each method at each size, and compares with its bars. It checks its results."""

import json
import os
import subprocess
import sys

import pytest

import cuda_graphs as cg
from tests.conftest import ROOT
from tests.distributed.ranks import OPEN_MPI, find_mpiexec

LIMIT_S = 200
METHODS = ["while node, library", "while node, direct", "graph kernel", "bare exchange"]


def test_each_method_has_figures_at_each_size_also_for_larger_direct_exchanges(tmp_path):
    pytest.importorskip("mpi4py")
    if cg.driver_info().kind == "cuda" and len(cg.Device.get_all_devices()) < 2:
        pytest.skip("needs 2 GPUs")
    written = tmp_path / "figures.json"
    small = ("--ranks", "2", "--sizes", "1024", "3000", "--iterations", "2", "--turns", "1")
    folder = os.path.dirname(find_mpiexec())
    subprocess.run(
        [
            sys.executable,
            *("benchmarks/distributed.py", *small, "--direct-bytes", "16384"),
            *("--methods", *METHODS, "--json", written),
        ],
        cwd=ROOT,
        env=os.environ
        | OPEN_MPI
        | {"PYTHONPATH": str(ROOT), "PATH": os.pathsep.join([folder, os.environ["PATH"]])},
        timeout=LIMIT_S,
        check=True,
    )
    found = json.loads(written.read_text())
    for row in ("2 ranks, 1024 floats", "2 ranks, 3000 floats"):
        assert [name for name, figure in found["figures"][row].items() if figure is not None] == METHODS
    assert list(found["bars"]) == [
        "2 ranks, 1024 floats: graph kernel / bare exchange",
        "2 ranks, 1024 floats: graph kernel / while node, library",
    ]
