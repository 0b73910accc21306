# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: forward mode cannot begin in a capture, and a dual that is first used in one is memory like its array."""

import numpy as np
import pytest

import cuda_graphs as cg

f64 = cg.f64
SEED = [1.0, 0.0, 2.0]
VALUES = np.array([0.5, -1.0, 3.0])


@cg.kernel
def square(x: cg.template(), y: cg.template()) -> None:
    for i in x:
        y[()] += x[i] * x[i]


@pytest.fixture(params=["arrays", "fields"])
def pair(request, device):
    make = {"arrays": cg.ndarray, "fields": cg.field}[request.param]

    def made():
        x, y = make(f64, 3, needs_dual=True), make(f64, (), needs_dual=True)
        x.from_numpy(VALUES)
        return x, y

    return made


def derivative(x, y):
    """Return the derivative of `square` along SEED by forward mode."""
    with cg.ad.FwdMode(loss=y, param=x, seed=SEED):
        square(x, y)
    return float(y.dual.to_numpy())


EXPECTED = float(2 * VALUES @ np.array(SEED))


def test_a_forward_mode_in_a_capture_is_refused_and_breaks_no_other(pair):
    x, y = pair()
    with cg.capture(), pytest.raises(RuntimeError, match="a FwdMode cannot begin in a capture"):  # noqa: SIM117
        with cg.ad.FwdMode(loss=y, param=x, seed=SEED):
            square(x, y)
    assert derivative(*pair()) == EXPECTED
    assert derivative(x, y) == EXPECTED


@pytest.mark.parametrize("launches", [0, 1])
def test_a_dual_of_an_array_from_outside_is_ordinary_memory(launches, pair, device):
    x, y = pair()
    with cg.capture() as captured:
        x.dual.fill(7)
    graph = captured.graph_definition.instantiate()
    for _ in range(launches):
        graph.launch(device.default_stream)
    np.testing.assert_array_equal(x.dual.to_numpy(), np.full(3, 7.0 * launches))
    del graph, captured
    assert derivative(*pair()) == EXPECTED
    assert derivative(x, y) == EXPECTED


def test_duals_of_closed_arrays_and_of_graphs_before_their_launch_are_left_alone(pair, device):
    with cg.capture() as captured:
        inside = cg.ndarray(f64, 3, needs_dual=True)
        inside.dual.fill(1)
    closed, _ = pair()
    closed.dual.fill(1)
    closed.dual.buffer.close()
    assert derivative(*pair()) == EXPECTED
    cg.ad.clear_all_gradients("dual")
    assert captured is not None
