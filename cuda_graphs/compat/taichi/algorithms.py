# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`taichi.algorithms`."""

from ..absent import absent_names
from ..algorithms import PrefixSumExecutor, parallel_sort

__all__ = ["PrefixSumExecutor", "parallel_sort"]
__getattr__ = absent_names("algorithms", "algorithms.")
