# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: how many worker threads the host driver has changes nothing that a graph computes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.parametrize("workers", [0, 2, *(pytest.param(n, marks=pytest.mark.nightly) for n in (1, 8, 64))])
def test_kinds_and_order_of_graphs_hold_with_any_number_of_workers(workers, driver):
    if driver.kind != "host":
        pytest.skip("workers are the host driver's")
    files = [str(HERE / name) for name in ("test_graph_kinds.py", "test_graph_order.py")]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *files],
        env={**os.environ, "CUDA_GRAPHS_DRIVER": "host", "CUDA_GRAPHS_HOST_THREADS": str(workers)},
        cwd=HERE.parent.parent,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
