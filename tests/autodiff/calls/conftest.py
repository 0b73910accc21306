# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of gradients as users call them."""

import pytest

import cuda_graphs as cg
from tests.autodiff.calls.gradient_kernels import START, array
from tests.kernels.conftest import code, eventually, kernels, kernels_forget

__all__ = ["code", "eventually", "kernels", "kernels_forget"]


@pytest.fixture
def x():
    """START, with a gradient."""
    return array(START)


@pytest.fixture
def y():
    """A number with a gradient, both 0."""
    return cg.ndarray(cg.f64, (), needs_grad=True)
