# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of errors."""

from tests.graph_rig import code, compiled, kernels, pinned

__all__ = ["code", "compiled", "kernels", "pinned"]
