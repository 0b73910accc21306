# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`quadrants.algorithms`."""

from ..absent import absent_names
from ..algorithms import PrefixSumExecutor, parallel_sort
from ..radix_sort import sort, sort_scratch_slots
from ..scans import NAMES

globals().update(NAMES)
__all__ = ["PrefixSumExecutor", "parallel_sort", "sort", "sort_scratch_slots", *NAMES]
__getattr__ = absent_names("algorithms", "algorithms.")
