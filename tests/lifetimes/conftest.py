# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the lifetime tests."""

import ctypes
from pathlib import Path

import pytest

import cuda_graphs as cg
from cuda_graphs.core.resources import boxes
from tests.capture.conftest import builder, capturing, spoiled, works
from tests.graph.conftest import spec_needs
from tests.graph_rig import code, compiled, eventually, fresh_kernels, kernels, pinned, run
from tests.kernels.conftest import kernels_forget

__all__ = [
    "builder",
    "capturing",
    "code",
    "compiled",
    "eventually",
    "fresh_kernels",
    "kernels",
    "kernels_forget",
    "pinned",
    "run",
    "spec_needs",
    "spoiled",
    "works",
]


@pytest.fixture
def raw(driver):
    """The driver's library itself: what another user of it in this process would call."""
    path = "libcuda.so.1" if driver.kind == "cuda" else next(Path(cg.__file__).parent.glob("hostdriver/*.so"))
    library = ctypes.CDLL(str(path))

    def call(name, *arguments):
        assert getattr(library, name)(*arguments) == 0

    return call


@pytest.fixture
def libraries(eventually):
    """libraries(n): soon there are n more live libraries than at the start."""
    start = boxes.live()["library"]
    return lambda more: eventually(lambda: boxes.live()["library"] == start + more)


@pytest.fixture
def latch(pinned, device):
    """A number that kernels wait for; opened at the end, whatever happens."""
    flag = pinned([0])
    yield flag
    flag[0] = 1
    device.sync()
