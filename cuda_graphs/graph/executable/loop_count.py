# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""LoopCount: how often a loop of a graph ran."""

from typing import NamedTuple

__all__ = ["LoopCount"]


class LoopCount(NamedTuple):
    """The iterations of a loop in one launch of its graph. See `Graph.iterations`.

    Attributes:
        iterations: The number of iterations.
        limited: True if `max_iterations` ended the loop: its condition still held, or is not known, as kernels cannot
            read a Condition that other kernels set.
    """

    iterations: int
    limited: bool
