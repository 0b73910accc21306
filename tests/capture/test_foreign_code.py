# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: when code that does not go through this package spoils a capture, the error names the two lines between which
that happened, whichever call finds it; and the stream can be used again."""

import ctypes
from pathlib import Path

import pytest

import cuda_graphs as cg
from tests.capture.ledger import between, line_of
from tests.graph_rig import ONE

UNSUPPORTED = 900


@pytest.fixture(scope="session")
def foreign(driver):
    """The driver as others in this process use it."""
    host = next(Path(cg.__file__).parent.glob("hostdriver/*.so"))
    return ctypes.CDLL("libcuda.so.1" if driver.kind == "cuda" else str(host))


@pytest.fixture
def spoil(foreign):
    """Waits for a stream that only records, as `.item()` of an array library does."""

    def spoil(stream):
        assert foreign.cuStreamSynchronize(ctypes.c_void_p(stream.handle)) == UNSUPPORTED

    return spoil


FINDERS = {
    "launch": lambda gb, kernels: cg.launch(gb, ONE, kernels.nothing),
    "end_building": lambda gb, kernels: gb.end_building(),
    "is_building": lambda gb, kernels: gb.is_building,
    "close": lambda gb, kernels: gb.close(),
    "callback": lambda gb, kernels: gb.callback(print),
    "while_loop": lambda gb, kernels: gb.while_loop(gb.create_condition()),
    "split": lambda gb, kernels: gb.split(2),
}


@pytest.mark.parametrize("finder", FINDERS)
def test_the_two_lines_are_named(finder, stream, kernels, spoil):
    gb = stream.create_graph_builder().begin_building()
    cg.launch(gb, ONE, kernels.nothing)
    cg.launch(gb, ONE, kernels.nothing)  # the last before
    spoil(stream)
    with pytest.raises((cg.CaptureError, RuntimeError)) as caught:
        FINDERS[finder](gb, kernels)
    after, first, before, second = between(caught.value, __file__)
    assert (after, first) == ("launch", line_of("# the last before", __file__))
    assert finder in before or finder == "while_loop"
    assert f'"{finder}": lambda' in Path(__file__).read_text().splitlines()[second - 1]
    if gb.state == "capturing":
        with pytest.raises(cg.CaptureError, match="INVALIDATED") as ended:
            gb.end_building()
        assert between(ended.value, __file__) == between(
            caught.value, __file__
        )  # what was found first stands
    gb.close()
    cg.launch(stream, ONE, kernels.nothing)
    stream.sync()


def test_before_the_first_operation_it_is_the_beginning(stream, spoil):
    gb = stream.create_graph_builder()
    gb.begin_building()  # the beginning
    spoil(stream)
    with pytest.raises(cg.CaptureError, match="INVALIDATED") as caught:
        gb.end_building()
    assert between(caught.value, __file__)[:2] == ("begin_building", line_of("# the beginning", __file__))


def test_spoiled_capture_is_reported_at_the_end_of_a_with_block(stream, kernels, spoil):
    def capture():
        with stream.create_graph_builder() as gb:
            cg.launch(gb, ONE, kernels.nothing)  # inside the block
            spoil(stream)

    with pytest.raises(cg.CaptureError, match="INVALIDATED") as caught:
        capture()
    assert between(caught.value, __file__)[:2] == ("launch", line_of("# inside the block", __file__))
    cg.launch(stream, ONE, kernels.nothing)
    stream.sync()


def test_the_builder_captures_again_with_the_same_stream(stream, kernels, pinned, spoil):
    x = pinned([1], "u4")
    gb = stream.create_graph_builder().begin_building()
    spoil(stream)
    with pytest.raises(cg.CaptureError):
        gb.end_building()
    with stream.create_graph_builder() as again:
        cg.launch(again, ONE, kernels.affine, x.ctypes.data, 3, 1)
    again.complete().launch(stream)
    stream.sync()
    assert x[0] == 4


def test_a_call_that_found_nothing_wrong_is_not_named(capturing, kernels):
    cg.launch(capturing, ONE, kernels.nothing)
    assert capturing.is_building
    assert len(capturing.end_building().graph_definition.nodes()) == 1
