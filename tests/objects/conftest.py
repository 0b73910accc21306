# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The kernels of kernels.py, compiled once a session."""

import numpy as np
import pytest

import cuda_graphs as cg
from tests.objects.kernels import SOURCE, TYPES


@pytest.fixture(scope="session")
def module(session_device):
    names = [f"take<{name}>" for name in TYPES.values()]
    module = cg.Program(SOURCE, options={"name": "kernels"}).compile("cubin", name_expressions=names)
    module.get_kernel("nothing")  # loads it, so that its box counts before any test
    return module


@pytest.fixture
def pinned(device, stream):
    """A function that makes a zeroed pinned array."""

    def make(n, dtype=np.int32):
        size = n * np.dtype(dtype).itemsize
        array = np.from_dlpack(cg.PinnedMemoryResource().allocate(size, stream=stream)).view(dtype)
        array[:] = 0
        return array

    return make
