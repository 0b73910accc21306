# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: `save` names each node, parameter and array that a file cannot have, says why, and writes nothing."""

import ctypes

import numpy as np
import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE

Floats = cg.Array1[cg.f32]


@pytest.fixture
def refused(tmp_path):
    """refused(definition, words, **names): `save` refuses it in these words."""

    def check(definition, *words, **names):
        with pytest.raises(cg.SavedGraphError) as error:
            definition.save(tmp_path / "saved.cgg", **names)
        for each in words:
            assert each in str(error.value)
        assert list(tmp_path.iterdir()) == []

    return check


@pytest.fixture
def g(device):
    return cg.GraphDef()


@pytest.fixture
def foreign(device, code):
    """A kernel of code that another library has loaded."""
    driver = ctypes.CDLL(cg.driver_info().path)
    library, kernel = ctypes.c_void_p(), ctypes.c_void_p()
    assert driver.cuLibraryLoadData(ctypes.byref(library), code, None, None, 0, None, None, 0) == 0
    assert driver.cuLibraryGetKernel(ctypes.byref(kernel), library, b"nothing") == 0
    yield cg.Kernel.from_handle(kernel.value)
    device.sync()
    assert driver.cuLibraryUnload(library) == 0


def test_kernels_of_other_libraries_are_refused(g, foreign, refused):
    g.launch(ONE, foreign, name="theirs")
    refused(
        g, "'theirs'", "launches a kernel of another library, whose code is unknown: load it with ObjectCode"
    )
    g.nodes().pop().destroy()


def test_functions_as_configurations_are_refused(g, kernels, pinned, refused):
    n = g.param("n", cg.i32, default=8)
    x = pinned(8)
    g.launch(lambda x, n, amount: cg.LaunchConfig(grid=1, block=n), kernels.add, x, n, 1, name="sized")
    refused(g, "'sized'", "has a config that depends on parameters", "give a LaunchConfig", outputs={"x": x})


def test_rows_of_inputs_are_refused(g, pinned, refused):
    x, y = pinned(24), pinned(24)
    g.memcpy(y, x, width=8, height=3, dst_pitch=16, src_pitch=16, name="rows")
    refused(
        g,
        "'rows'",
        "copies rows of 'x', and copies of parameters are contiguous",
        inputs={"x": x},
        include=[y],
    )


def test_temporaries_are_refused(g, pinned, refused):
    x = cg.array(np.zeros(4, np.float32))
    g.memcpy(g.temporary((4,), cg.f32), x)
    refused(g, "has memory in executables only: use alloc(shape=, dtype=) instead", include=[x])


@cg.kernel
def powers(x: cg.Array1[cg.f64], y: cg.Array0[cg.f64]) -> None:
    for i in x:
        v = x[i]
        for _ in range(3):
            v = cg.sin(v) * x[i]
        y[()] += v


def test_gradients_that_keep_values_of_loops_are_refused(g, refused):
    x, y = cg.ndarray(cg.f64, 4, needs_grad=True), cg.ndarray(cg.f64, (), needs_grad=True)
    g.call(powers, x, y).call(powers.grad, x, y)
    refused(
        g,
        "is a gradient that keeps values of a loop",
        "save the graph without it",
        include=[x, y, x.grad, y.grad],
    )


@cg.kernel(debug=True)
def shifted(x: Floats, by: cg.i32):
    for i in x:
        x[i + by] = 1.0


def test_save_warns_of_checks_whose_errors_nobody_raises(g, stream, tmp_path):
    x = cg.ndarray(cg.f32, 4)
    g.call(shifted, x, 0, name="shifts").memset(x, 0.0)
    with pytest.warns(RuntimeWarning, match="'shifts'.* was compiled with debug=True") as found:
        g.save(tmp_path / "saved.cgg", outputs={"x": x})
    assert len(found) == 1
    cg.load(tmp_path / "saved.cgg").instantiate().launch(stream)
    stream.sync()


def test_frees_of_memory_of_another_graph_are_refused(g, refused):
    other = cg.GraphDef()
    memory = other.alloc(64)
    g.free(memory.dptr, name="frees")
    refused(g, "'frees'", "of another graph")


def test_a_parameter_with_the_name_of_an_input_is_refused(g, refused):
    x = cg.array(np.zeros(4, np.float32))
    g.memset(x, g.param("x", cg.f32, default=1.0))
    refused(g, "has the name of an input or output: give that another name", inputs={"x": x})


def test_all_problems_are_in_one_message(g, refused):
    arrays = [cg.array(np.zeros(4, np.float32)) for _ in range(25)]
    for number, each in enumerate(arrays):
        g.memset(each, 0.0, name=f"fill {number}")
    g.callback(lambda: None)
    refused(g, "cannot be saved:", "... and 6 more")


def test_an_array_that_a_capture_allocates_cannot_be_named(device, stream, tmp_path):
    with cg.capture() as builder:
        kept = cg.ones(4)
    graph = builder.complete()
    graph.launch(stream)
    stream.sync()
    for names in ({"include": [kept]}, {"inputs": {"x": kept}}, {"outputs": {"x": kept}}):
        with pytest.raises(
            ValueError, match="is memory of an alloc node, which each launch allocates: leave it out"
        ):
            builder.graph_definition.save(tmp_path / "saved.cgg", **names)
    assert list(tmp_path.iterdir()) == []


def test_arrays_that_cannot_be_named_are_refused(g, pinned, tmp_path):
    x = pinned(24)
    alloc = g.alloc(shape=4, dtype=cg.f32)
    for array, error, words in (
        (x[::2], ValueError, "must be in C order without gaps"),
        (x.view(">i4"), TypeError, "has elements of >i4, which parameters do not have"),
        (alloc, ValueError, "is memory of an alloc node, which each launch allocates: leave it out"),
        (x[:0], ValueError, "is an empty array"),
        (3.0, TypeError, "must be an array or a Buffer"),
    ):
        for names in ({"include": [array]}, {"inputs": {"x": array}}, {"outputs": {"x": array}}):
            with pytest.raises(error, match=words):
                g.save(tmp_path / "saved.cgg", **names)
    assert list(tmp_path.iterdir()) == []
