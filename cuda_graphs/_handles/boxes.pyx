# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests see of the handle layer: how many boxes of each kind live, and the queue of deferred destructors."""

from cpython.object cimport PyObject

from cuda_graphs._handles.handles cimport Kind, Opaque, drain_deferred, hold_python, kind_name, live_boxes

cdef extern from "_handles/deferred.hpp" namespace "cg" nogil:
    void defer_owner(Opaque owner) except +


def live() -> dict[str, int]:
    """How many boxes of each kind live in this process now."""
    return {kind_name(<Kind>i).decode(): live_boxes(<Kind>i) for i in range(<int>Kind.kCount)}


def drain() -> None:
    """Destroy what user objects of the driver have handed back so far."""
    with nogil:
        drain_deferred()


def defer(obj) -> None:
    """Give up one reference to `obj` as the destructor of a user object would: later, on an ordinary thread."""
    cdef Opaque owner = hold_python(<PyObject*>obj)
    with nogil:
        defer_owner(owner)
