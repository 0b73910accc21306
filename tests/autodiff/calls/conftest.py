# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of gradients as users call them."""

from tests.kernels.conftest import code, eventually, kernels, kernels_forget

__all__ = ["code", "eventually", "kernels", "kernels_forget"]
