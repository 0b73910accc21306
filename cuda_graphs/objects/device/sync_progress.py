# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`Stream.sync(progress=True)`: waits for a stream and shows the counters of the loops that run on the device.

The counters are memory that kernels of the loops write. They are read by copies on a stream of their own, so the loops
do not wait for them. The layer of graphs knows the counters (graph/executable/executable.pyx).
"""

from __future__ import annotations

import time
from typing import Any

from cuda_graphs.objects import constructors
from cuda_graphs.objects.progress import Display, display

__all__ = ["sync_with_progress"]

STEP = 0.1  # seconds between two looks


def sync_with_progress(stream: Any, timeout: float | None) -> None:
    """See Stream.sync."""
    begin = time.monotonic()
    with display() as shown:
        while True:
            left = STEP if timeout is None else begin + timeout - time.monotonic()
            try:
                stream.sync(min(STEP, max(0.0, left)))
            except TimeoutError as error:
                show_loops(shown, stream, time.monotonic() - begin)
                if timeout is not None and left <= STEP:
                    _, _, rest = str(error).partition(": ")
                    raise TimeoutError(f"{stream!r} is not done after {timeout:g} s: {rest}") from None
            else:
                break
        show_loops(shown, stream, time.monotonic() - begin)


def show_loops(shown: Display, stream: Any, seconds: float) -> None:
    loops = constructors.list_loops(stream.handle)
    for name, iterations, limit in loops:
        shown.show(name, iterations, limit)
    if not loops:
        shown.show("waiting (seconds)", int(seconds))
