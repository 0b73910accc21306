# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the laws that hold on every driver."""

from tests.graph_rig import code, compiled, eventually, fresh_kernels, kernels, pinned, run

__all__ = ["code", "compiled", "eventually", "fresh_kernels", "kernels", "pinned", "run"]
