# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments of calls on streams of their own, kept until the work is done.

Memory of a pool is given back in the order of the default stream, which knows nothing of work on others: an array that
goes while such work runs would have its memory used for something else. So the arguments stay here until an event of
the stream says that the work is done; each later call, and each new array, looks.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

from cuda_graphs._objects.event import Event
from cuda_graphs._objects.stream import Stream

__all__ = ["keep", "let_go"]

_lock = threading.Lock()
_waiting: dict[int, deque[tuple[Event, Any]]] = {}  # by the stream's handle, in its order


def keep(stream: Stream, arguments: Any) -> None:
    """Keep the arguments until what the stream has to do now is done."""
    let_go()
    event = stream.record()
    with _lock:
        _waiting.setdefault(stream.handle, deque()).append((event, arguments))


def let_go() -> None:
    """Forget the arguments of work that is done."""
    if not _waiting:
        return
    done = []  # goes after the lock is free: what ends with an argument may do anything
    with _lock:
        for handle in list(_waiting):
            entries = _waiting[handle]
            while entries and entries[0][0].is_done:
                done.append(entries.popleft())
            if not entries:
                del _waiting[handle]
