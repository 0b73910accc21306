# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: an array without elements is an array like others. Loops over it do nothing, what is copied is nothing, and its
gradient has no elements."""

import copy
import pickle

import numpy as np
import pytest

import cuda_graphs as cg

SHAPES = [(0,), (0, 3), (3, 0), (2, 0, 4)]
MAKERS = {"ndarray": cg.ndarray, "field": cg.field}
TYPES = [cg.f32, cg.bf16, cg.i8, cg.bool, cg.vec3, cg.types.mat(2, 2, cg.f64)]


@pytest.mark.parametrize("shape", SHAPES, ids=repr)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("make", MAKERS)
def test_an_empty_array_is_made_filled_and_copied(device, make, dtype, shape):
    x, y = MAKERS[make](dtype, shape), MAKERS[make](dtype, shape)
    assert (x.shape, x.size, x.nbytes, x.handle) == (shape, 0, 0, 0)
    assert len(x) == shape[0]
    values = x.to_numpy()
    assert values.shape == shape + x.element_shape
    x.from_numpy(values)
    x.fill(1)
    x.copy_from(y)
    assert copy.deepcopy(x).shape == shape
    assert np.asarray(x).shape == values.shape
    with pytest.raises(IndexError):
        x[(0,) * len(shape)]
    with pytest.raises(ValueError, match="shape"):
        x.from_numpy(np.zeros((*values.shape, 1), values.dtype))
    if make == "ndarray":
        again = pickle.loads(pickle.dumps(x))
        assert (again.shape, again.dtype) == (shape, x.dtype)


@pytest.mark.parametrize("shape", SHAPES, ids=repr)
def test_an_empty_array_goes_to_other_libraries_and_comes_back(device, shape):
    x = cg.ndarray(cg.f32, shape)
    if x.__dlpack_device__()[0] == 1:
        assert np.from_dlpack(x).shape == shape
        assert np.asarray(x.__array_interface__["shape"]).tolist() == list(shape)
    assert x.__cuda_array_interface__["shape"] == shape
    assert cg.from_dlpack(x).shape == shape
    assert cg.from_dlpack(np.zeros(shape, np.float32)).shape == shape


def sums(x, total):
    for at in cg.grouped(x):
        x[at] += 1.0
        total[()] += x[at]


def flat(x, total):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            total[()] += x[i, j]
    total[()] += x.shape[0] * 10 + x.shape[1]


def pairs(x, total):
    for i, j in cg.ndrange(x.shape[0], x.shape[1]):
        total[()] += x[i, j]
    for i, j in x:
        x[i, j] = 2.0


BODIES = {"sums": (sums, 0), "flat": (flat, None), "pairs": (pairs, 0)}
MODES = {"kernel": {}, "graph": {"graph": True}, "debug": {"debug": True}}


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)], ids=repr)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("make", MAKERS)
def test_loops_over_an_empty_array_do_nothing(device, make, body, mode, shape):
    function, expected = BODIES[body]
    function.__annotations__ = {
        "x": cg.types.ndarray(cg.f32, ndim=2) if make == "ndarray" else cg.template,
        "total": cg.types.ndarray(cg.f32, ndim=0),
    }
    kernel = cg.kernel(**MODES[mode])(function)
    x, total = MAKERS[make](cg.f32, shape), cg.ndarray(cg.f32, ())
    if expected is None:
        expected = 10 * shape[0] + shape[1]
    for times in (1, 2):
        kernel(x, total)
        assert total[()] == times * expected
    if make == "ndarray":  # the same code serves arrays with elements
        full = cg.ndarray(cg.f32, (2, 2))
        full.fill(1.0)
        total.fill(0)
        kernel(full, total)
        assert total[()] != expected
        kernel(np.zeros(shape, np.float32), total)


@pytest.mark.parametrize("shape", [(0,), (3, 0)], ids=repr)
@pytest.mark.parametrize("make", MAKERS)
def test_gradients_of_an_empty_array_have_no_elements(device, make, shape):
    @cg.kernel
    def loss_of(
        x: cg.types.ndarray(cg.f32, ndim=len(shape)),
        w: cg.types.ndarray(cg.f32, ndim=0),
        loss: cg.types.ndarray(cg.f32, ndim=0),
    ):
        for at in cg.grouped(x):
            loss[()] += x[at] * w[()]
        for _ in range(1):
            loss[()] += w[()] * w[()]

    x, w = cg.ndarray(cg.f32, shape, needs_grad=True), cg.ndarray(cg.f32, (), needs_grad=True)
    loss = cg.ndarray(cg.f32, (), needs_grad=True)
    assert x.grad.shape == x.dual.shape == shape
    w[()] = 3.0
    for _ in range(2):
        with cg.ad.Tape(loss=loss):
            loss_of(x, w, loss)
        assert w.grad[()] == 6.0
        assert x.grad.to_numpy().shape == shape
        loss[()] = 0
    with cg.ad.FwdMode(loss=loss, param=w, seed=1.0):
        loss_of(x, w, loss)
    assert loss.dual[()] == 6.0


@pytest.mark.parametrize("shape", SHAPES, ids=repr)
def test_an_empty_array_is_an_argument_of_launches_and_nodes(device, stream, shape):
    @cg.kernel
    def count(x: cg.types.ndarray(cg.f32, ndim=len(shape)), out: cg.types.ndarray(cg.i32, ndim=0)):
        for _ in cg.grouped(x):
            out[()] += 1
        for _ in range(1):
            out[()] += 10

    x, out = cg.ndarray(cg.f32, shape), cg.ndarray(cg.i32, ())
    count(x, out)
    g = cg.GraphDef()
    g.call(count, x, out)
    graph = g.instantiate()
    graph.launch(stream)
    graph.launch(stream)
    stream.sync()
    assert out[()] == 30
