# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What the calls of a gradient did besides the gradient."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["GradStats"]


@dataclass
class GradStats:
    """Counters of the gradient of a kernel. What is 0 in the second of two equal calls costs nothing there.

    Attributes:
        calls: Of the gradient.
        host_evals: Calls for which the host worked out how large stacks become, of extents, numbers, fields and arrays
        of the host; calls after it for which nothing has changed do not.
        sizer_launches: Launches of the kernel that finds it of what arrays of the device hold, or of the one that
        counts where no expression says it. Calls after it take none, unless something has changed, or somebody else
        has the memory of the arrays (`handle`, DLPack and the like, or a graph that writes them).
        device_evals: Stacks whose size came of these.
        d2h_reads: Elements of fields that were read for it, and waits for these kernels.
        meta_uploads, meta_bytes, event_waits: Copies of sizes to the device, and waits for them. Sizes are parameters
        of the launch, so there are none. heap_grows: How often the memory of the stacks was too small. heap_bytes: What
        the stacks of the last call took.
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
