# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of failures."""

import pytest

from tests.faults.rig import World
from tests.graph_rig import code, compiled, kernels

__all__ = ["code", "compiled", "kernels"]


@pytest.fixture
def world(driver, device, kernels, compiled):
    if driver.kind != "host":
        pytest.skip("only the host driver's calls can be made to fail")
    return World(device, kernels, compiled)
