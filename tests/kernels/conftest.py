# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of the bridge."""

import pytest

import cuda_graphs as cg
from cuda_graphs.kernels.arrays import keep_alive
from tests.graph_rig import code, compiled, eventually, kernels
from tests.kernels.graph_kernels import LOWERINGS

__all__ = ["code", "compiled", "eventually", "kernels"]


@pytest.fixture(params=LOWERINGS)
def lowering(request):
    """Each of what loops between tasks become: `loop=` of a graph kernel."""
    return request.param


@pytest.fixture(autouse=True)
def kernels_forget(request, device):
    """Kernels of the module keep no code after a test: what is counted then is what the test has left behind."""
    yield
    device.sync()
    keep_alive.release_finished()
    for value in vars(request.module).values():
        if isinstance(value, cg.KernelFunction):
            value.forget()
