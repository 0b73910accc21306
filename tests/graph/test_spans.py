# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a span is the set of its bytes, and two spans meet exactly when these sets do."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuda_graphs.graph.operands.spans import Span

AXES = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 13)), max_size=3)
SPANS = st.tuples(st.integers(0, 40), st.integers(1, 5), AXES)

FEW = settings(max_examples=60, deadline=None)  # no clocks: the machine may be busy


def bytes_of(start, run, axes):
    found = set(range(start, start + run))
    for count, stride in axes:
        found = {byte + i * stride for byte in found for i in range(count)}
    return found


@FEW
@given(SPANS)
def test_a_simple_span_is_of_the_same_bytes(given_span):
    start, run, axes = given_span
    span = Span.of(start, run, *axes)
    assert bytes_of(*span) == bytes_of(start, run, axes)
    assert (span.start, span.end) == (min(bytes_of(*span)), max(bytes_of(*span)) + 1)


@FEW
@given(SPANS, SPANS)
def test_spans_meet_when_they_share_a_byte(one, other):
    a, b = (Span.of(start, run, *axes) for start, run, axes in (one, other))
    assert a.meets(b) == b.meets(a) == bool(bytes_of(*one) & bytes_of(*other))


@FEW
@given(st.data())
def test_tiles_of_one_matrix_meet_when_they_share_a_byte(data):
    stride = data.draw(st.integers(1, 12))
    tiles = [
        (
            data.draw(st.integers(0, 60)),
            data.draw(st.integers(1, 12)),
            [(data.draw(st.integers(2, 5)), stride)],
        )
        for _ in range(2)
    ]
    a, b = (Span(start, run, tuple(axes)) for start, run, axes in tiles)
    assert a.meets(b) == bool(bytes_of(*tiles[0]) & bytes_of(*tiles[1]))


@pytest.mark.parametrize(
    ("axes", "simple"),
    [
        ([], ()),
        ([(1, 100)], ()),
        ([(4, 8)], ()),
        ([(4, 8), (3, 32)], ()),
        ([(4, 16)], ((4, 16),)),
        ([(4, 16), (3, 64)], ((12, 16),)),
        ([(4, 16), (3, 100)], ((4, 16), (3, 100))),
    ],
)
def test_runs_that_touch_become_one(axes, simple):
    span = Span.of(1000, 8, *axes)
    assert span.axes == simple
    assert span.runs * span.run == 8 * Span(0, 1, tuple(axes)).runs


def test_a_span_reads_well():
    assert str(Span(0x1000, 256)) == "0x1000..0x10ff"
    assert str(Span(0x1000, 4, ((8, 64),))) == "0x1000..0x11c3 in 8 runs of 4"
