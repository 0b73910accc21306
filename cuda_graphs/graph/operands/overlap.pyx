# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The test of the handle layer whether two spans overlap, for Spans of Python."""

from libc.stdint cimport int64_t, uint64_t

from cuda_graphs.core.graphs.graph_handles cimport Axis, Span, overlap

# Address of the first of two spans: the second may begin before it.
cdef uint64_t ORIGIN = <uint64_t>1 << 62


def spans_overlap(uint64_t run, tuple axes, distance, uint64_t other_run, tuple other_axes):
    """Return True if two spans share a byte. The second span begins `distance` bytes after the first."""
    return overlap(span_of(ORIGIN, run, axes), span_of(ORIGIN + <uint64_t><int64_t>distance, other_run, other_axes))


cdef Span span_of(uint64_t start, uint64_t run, tuple axes) except *:
    cdef Span span = Span(start, run)
    cdef Axis axis
    for count, stride in axes:
        axis.count, axis.stride = count, stride
        span.axes.push_back(axis)
    return span
