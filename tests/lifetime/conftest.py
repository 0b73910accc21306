# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the lifetime tests."""

from tests.graph_rig import code, eventually, fresh_kernels, kernels, pinned, run

__all__ = ["code", "eventually", "fresh_kernels", "kernels", "pinned", "run"]
