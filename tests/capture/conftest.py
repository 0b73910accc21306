# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the capture tests: kernels, builders in each kind and state."""

import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE, code, compiled, eventually, fresh_kernels, kernels, pinned, run

__all__ = ["code", "compiled", "eventually", "fresh_kernels", "kernels", "pinned", "run"]


@pytest.fixture
def builder(device):
    """A primary builder that has not begun."""
    return device.create_graph_builder()


@pytest.fixture
def capturing(builder):
    """One that has."""
    return builder.begin_building()


@pytest.fixture
def spoiled(capturing, kernels):
    """One whose capture has been spoiled, by waiting for what is only being recorded."""
    with pytest.raises(cg.CaptureError, match="UNSUPPORTED"):
        capturing.stream.sync()
    return capturing


@pytest.fixture
def works(kernels, pinned):
    """works(stream): it does ordinary work."""
    x = pinned([0])

    def works(stream):
        before = x[0]
        cg.launch(stream, ONE, kernels.add, x.ctypes.data, 1, 1)
        stream.sync()
        return x[0] == before + 1

    return works
