# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests see of the handle layer: how many boxes of each kind live, and the queue of deferred destructors."""

from cuda_graphs._handles.handles cimport Kind, drain_deferred, kind_name, live_boxes


def live() -> dict[str, int]:
    """How many boxes of each kind live in this process now."""
    return {kind_name(<Kind>i).decode(): live_boxes(<Kind>i) for i in range(<int>Kind.kCount)}


def drain() -> None:
    """Destroy what user objects of the driver have handed back so far."""
    with nogil:
        drain_deferred()
