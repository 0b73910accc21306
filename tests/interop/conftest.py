# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests with other libraries. Fixtures that use a library need a CUDA device and ask for it;
stand_ins.py has stand-ins for the parts of a library that the adapters need.

docs/guide/capturing.md says what each library does to a capture by itself, and how to capture it.
"""

import contextlib

import pytest

import cuda_graphs as cg
from tests.capture.ledger import between, line_of
from tests.graph_rig import ONE, code, compiled, kernels, pinned, run

__all__ = ["code", "compiled", "kernels", "pinned", "run"]

MODES = ("relaxed", "thread_local", "global")


@pytest.fixture(params=MODES)
def mode(request):
    return request.param


@pytest.fixture
def builder(device):
    """Closed at the end: Numba remembers the streams that it was given, and a test that fails must not leave a capture
    behind, while which no other could wait for the device.
    """
    builder = device.create_graph_builder()
    yield builder
    with contextlib.suppress(cg.CaptureError):  # then the test has failed
        builder.close()


@pytest.fixture
def kinds():
    """The kinds of the captured nodes, sorted, as names."""
    return lambda builder: sorted(type(node).__name__ for node in builder.graph_definition.nodes())


@pytest.fixture
def check_spoiled(stream, kernels, pinned):
    """check_spoiled(spoil): checks that the error for foreign code that spoils a capture of `stream` names the lines
    around it, and that the stream can be used and captured again."""

    def check(spoil):
        gb = stream.create_graph_builder().begin_building()
        cg.launch(gb, ONE, kernels.nothing)  # the line before
        with contextlib.suppress(Exception):  # what the library itself says; each has a class of its own
            spoil()
        with pytest.raises(cg.CaptureError, match="INVALIDATED") as caught:
            gb.end_building()  # the line behind
        place = between(caught.value, __file__)
        assert (place.after, place.first) == ("launch", line_of("# the line before", __file__))
        assert (place.before, place.second) == ("end_building", line_of("# the line behind", __file__))
        gb.close()
        x = pinned([1], "u4")
        cg.launch(stream, ONE, kernels.affine, x.ctypes.data, 2, 1)
        stream.sync()
        with stream.create_graph_builder() as again:
            cg.launch(again, ONE, kernels.affine, x.ctypes.data, 5, 1)
        again.complete().launch(stream)
        stream.sync()
        assert x[0] == 3 * 5 + 1

    return check
