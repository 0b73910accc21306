# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`taichi.algorithms`."""

from ..algorithms import PrefixSumExecutor, parallel_sort

__all__ = ["PrefixSumExecutor", "parallel_sort"]
