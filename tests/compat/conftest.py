# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of the modules with the peers' names."""

import pytest

from cuda_graphs.compat import program
from cuda_graphs.compat.kernels import Kernel


@pytest.fixture(autouse=True)
def settings(device, request):
    """Each test begins and ends with the options of no `init`, and kernels of its module keep no code."""
    program.Program.settings = program.Settings()
    yield
    device.sync()
    for each in vars(request.module).values():
        if isinstance(each, Kernel):
            each.forget()
    program.Program.settings = program.Settings()
