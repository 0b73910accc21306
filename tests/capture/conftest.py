# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the capture tests: kernels, builders in each kind and state."""

import pytest

import cuda_graphs as cg
from tests.graph_rig import code, eventually, fresh_kernels, kernels, pinned, run

__all__ = ["code", "eventually", "fresh_kernels", "kernels", "pinned", "run"]


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
