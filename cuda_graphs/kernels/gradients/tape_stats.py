# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Counters for the extra work of a tape that keeps few states."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["TapeStats"]


@dataclass
class TapeStats:
    """Counters of a tape that keeps states: with `max_states`, with `memory_limit`, or with loops of graph kernels.

    Attributes:
        steps: Number of calls through which a gradient flows. Calls before such a call belong to its step.
        forward_steps: Number of steps that ran, with those that the tape computed again.
        most_states: Most states that were kept at any time, with the results of the block.
        most_bytes: Most bytes of these states at any time.
    """

    steps: int = 0
    forward_steps: int = 0
    most_states: int = 0
    most_bytes: int = 0
