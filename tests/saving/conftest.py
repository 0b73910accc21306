# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`elsewhere`: runs a program in another process. `zoo`: a definition with nodes of every kind."""

import os
import subprocess
import sys

import pytest

import cuda_graphs as cg
from cuda_graphs.kernels.arrays import keep_alive
from tests.conftest import ROOT
from tests.graph.profile_rig import host_driver
from tests.graph_rig import code, compiled, kernels, pinned, run
from tests.saving import graphs

__all__ = ["code", "compiled", "host_driver", "kernels", "pinned", "run"]


@pytest.fixture
def elsewhere(driver, tmp_path):
    """elsewhere(program, *arguments): what a program prints that runs in the folder of the test, on the same driver."""

    def run(program, *arguments, **environment):
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", program, *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": path, "CUDA_GRAPHS_DRIVER": driver.kind, **environment},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def zoo(device):
    return graphs.Zoo()


@pytest.fixture(autouse=True)
def kernels_forget(request, device):
    """Kernels of the module keep no code after a test: what is counted then is what the test has left behind."""
    yield
    device.sync()
    keep_alive.release_finished()
    for module in (request.module, graphs):
        for value in vars(module).values():
            if isinstance(value, cg.KernelFunction):
                value.forget()
