# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the graph tests: kernels, and each specification of a node with what it needs."""

import numpy as np
import pytest

import cuda_graphs as cg
from tests.graph.graph_specs import SPECS, Needs
from tests.graph_rig import ONE, code, eventually, fresh_kernels, kernels, pinned, run

__all__ = ["code", "eventually", "fresh_kernels", "kernels", "pinned", "run"]


@pytest.fixture
def needs(spec_needs):
    """What the specifications are made with; a module may have other `needs` of its own."""
    return spec_needs


@pytest.fixture
def spec_needs(device, kernels, pinned):
    child = cg.GraphDef()
    child.launch(ONE, kernels.nothing).launch(ONE, kernels.nothing)
    return Needs(
        cg.GraphDef(), kernels, device.create_event(), child, pinned(256), pinned(np.arange(256)), device
    )


@pytest.fixture(params=SPECS, ids=lambda spec: spec.name)
def spec(request):
    return request.param
