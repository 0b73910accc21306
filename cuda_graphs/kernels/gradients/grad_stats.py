# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Counters for the extra work that calls of a gradient do to size their stacks."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["GradStats"]


@dataclass
class GradStats:
    """Counters of the gradient of a kernel. If a repeated call does not increase a counter, it does none of this work.

    Attributes:
        calls: Number of calls of the gradient.
        host_evals: Number of calls in which the host computed stack capacities from extents, numbers, fields and host
            arrays. A later call with the same inputs does not compute them again.
        sizer_launches: Number of launches of the sizing kernel, which reads arrays of the device, and of the counting
            kernel, for stacks without an expression. A later call launches them again only if an input has changed, or
            if other code can write the arrays (after `handle`, DLPack and the like, or in a graph).
        device_evals: Number of stack capacities that came from these kernels.
        d2h_reads: Number of elements of fields that the host read for capacities, plus waits for these kernels.
        meta_uploads: Number of copies of capacities to the device: 0, as capacities are parameters of the launch.
        meta_bytes: Bytes of these copies: 0.
        event_waits: Number of waits for these copies: 0.
        heap_grows: Number of times that the memory of the stacks was too small.
        heap_bytes: Bytes of the stacks in the last call.
    """

    calls: int = 0
    host_evals: int = 0
    sizer_launches: int = 0
    device_evals: int = 0
    d2h_reads: int = 0
    meta_uploads: int = 0
    meta_bytes: int = 0
    event_waits: int = 0
    heap_grows: int = 0
    heap_bytes: int = 0
