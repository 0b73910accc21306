# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The interface of the handle layer for tests: the number of live boxes of each kind, and the queue of deferred
destructors."""

from cpython.object cimport PyObject

from .handles cimport Kind, Opaque, drain_deferred, hold_python, kind_name, live_boxes

cdef extern from "core/handles/deferred.hpp" namespace "cg" nogil:
    void defer_owner(Opaque owner) except +


def live() -> dict[str, int]:
    """Return the number of boxes of each kind that live in this process now."""
    return {kind_name(<Kind>i).decode(): live_boxes(<Kind>i) for i in range(<int>Kind.kCount)}


def drain() -> None:
    """Destroy the payloads that destructors of user objects have deferred so far."""
    with nogil:
        drain_deferred()


def defer(obj) -> None:
    """Release one reference to `obj` as the destructor of a user object does: later, on an ordinary thread."""
    cdef Opaque owner = hold_python(<PyObject*>obj)
    with nogil:
        defer_owner(owner)
