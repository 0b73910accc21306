# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`quadrants.algorithms`: what the host calls. The functions for kernels are refused with what to call."""

from __future__ import annotations

from typing import Any

import cuda_graphs as cg

from ..absent import ABSENT
from ..algorithms import PrefixSumExecutor, parallel_sort
from ..words import Inlined

__all__ = ["PrefixSumExecutor", "parallel_sort", "sort", "sort_scratch_slots"]

MESSAGE = f"sort is absent in cuda_graphs.compat: {ABSENT['simt.block.radix_rank_match_atomic_or']}"


def refused(
    keys: Any, tmp_keys: Any, values: Any, tmp_values: Any, scratch: Any, n: Any, key_dtype: cg.template,
    has_values: cg.template, end_bit: cg.template, log256_max_n: cg.template,
) -> None:  # fmt: skip
    cg.static_assert(False, MESSAGE)


def refused_on_host(*args: Any, **options: Any) -> None:
    raise NotImplementedError(MESSAGE)


sort = Inlined(refused, refused_on_host)


def sort_scratch_slots(n: int, log256_max_n: int | None = None) -> int:
    """Raises NotImplementedError, as `sort` is absent."""
    raise NotImplementedError(MESSAGE)
