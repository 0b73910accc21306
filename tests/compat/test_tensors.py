# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of tensors: fields and arrays by an argument, with the members and attributes that programs of the peers use."""

import importlib
import logging
from dataclasses import dataclass

import numpy as np
import pytest

import cuda_graphs as cg
import cuda_graphs.compat.quadrants as qd
from cuda_graphs.compat import dispatch


@dataclass(frozen=True)
class Pair:
    x: qd.Tensor
    count: qd.Tensor


@qd.kernel
def add(pair: Pair, amount: qd.f32):
    for i in range(pair.x.shape[0]):
        pair.x[i] += amount
        qd.atomic_add(pair.count[None], 1)


@pytest.mark.parametrize("backend", qd.Backend)
def test_tensor_is_the_field_or_array_of_its_backend(backend):
    pair = Pair(qd.tensor(qd.f32, (3,), backend=backend), qd.tensor(qd.i32, (), backend=backend))
    assert isinstance(pair.x, cg.Field) == (backend == qd.Backend.FIELD)
    assert isinstance(pair.x, qd.Ndarray) == (backend != qd.Backend.FIELD)
    add(pair, 2.5)
    assert pair.x.to_numpy().tolist() == [2.5] * 3
    assert pair.count[None] == 3


def test_layout_changes_no_element():
    x = qd.tensor(qd.i32, (2, 3), layout=(1, 0))
    x.from_numpy(np.arange(6, dtype=np.int32).reshape(2, 3))
    assert (x.shape, x[1, 2]) == ((2, 3), 5)


def test_backend_that_is_unknown_is_refused():
    with pytest.raises(ValueError, match="2 is not a valid Backend"):
        qd.tensor(qd.f32, (3,), backend=2)


def test_tensors_of_vectors_and_matrices_have_their_element_shape():
    assert qd.Vector.tensor(3, qd.f32, shape=(4,)).element_shape == (3,)
    assert qd.Matrix.tensor(2, 3, float, shape=(4,), backend=qd.Backend.FIELD).element_shape == (2, 3)


@pytest.mark.parametrize("backend", qd.Backend)
def test_tensor_and_its_gradient_take_attributes(backend):
    x = qd.tensor(qd.f32, (3,), backend=backend, needs_grad=True)
    assert (x.has_grad(), x.has_dual(), x.grad.has_grad()) == (True, True, False)
    for each in (x, x.grad):
        each.note = "kept"
        assert each.note == "kept"


def test_to_numpy_converts_to_a_type_and_shares_memory_without_a_copy(driver):
    x = qd.tensor(qd.f32, (3,))
    assert x.to_numpy(np.float64).dtype == np.float64
    if driver.kind == "host":
        x.to_numpy(copy=False)[1] = 7
        assert x[1] == 7


def test_to_torch_shares_memory_without_a_copy():
    torch = pytest.importorskip("torch")
    x = qd.tensor(qd.f32, (3,))
    copied = x.to_torch()
    x.to_torch(copy=False)[1] = 7
    assert (copied[1], x[1], x.to_torch(device="cpu").device) == (0, 7, torch.device("cpu"))


def test_fields_of_structures_take_no_offset():
    particle = qd.types.struct(mass=qd.f32)
    with pytest.raises(TypeError, match="offset is for fields of numbers"):
        particle.field(shape=3, offset=1)


ROWS = qd.types.ndarray(element_dim=1)


@qd.kernel
def total(rows: ROWS, blocks: qd.types.ndarray(element_dim=2)) -> qd.f32:
    found = 0.0
    for i in range(rows.shape[0]):
        found += (blocks[i] @ rows[i]).sum()
    return found


@pytest.mark.parametrize("n", [2, 3])
def test_last_dimensions_of_an_array_are_its_elements_by_element_dim(n):
    rows = np.random.default_rng(n).normal(size=(4, n)).astype(np.float32)
    blocks = np.random.default_rng(n).normal(size=(4, n, n)).astype(np.float32)
    assert total(rows, blocks) == pytest.approx(np.einsum("kij,kj->", blocks, rows), rel=1e-5)


def test_element_dim_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="takes elements with 1 dimensions, not elements of shape"):
        total(qd.ndarray(qd.f32, 3), np.zeros((3, 2, 2), np.float32))
    with pytest.raises(TypeError, match="give dtype="):
        qd.types.ndarray(qd.f32, element_dim=1)
    with pytest.raises(ValueError, match="element_dim is 0"):
        cg.types.ndarray(element_dim=3)


def test_runtime_tells_the_types_of_init():
    runtime = importlib.import_module("cuda_graphs.compat.quadrants.lang.impl").get_runtime()
    assert runtime.default_fp is qd.f32
    qd.init(default_fp=qd.f64)
    assert (qd.lang.impl.get_runtime().default_fp, runtime.default_ip) == (qd.f64, qd.i32)
    assert qd.f64 in qd.types.primitive_types.real_types
    assert qd.lang.impl.get_max_shared_memory_bytes(is_lowerbound_ok=True) >= 16 << 10


def test_messages_of_a_level_go_to_the_log_of_python(caplog):
    log = qd._logging
    with caplog.at_level(logging.DEBUG, "cuda_graphs.compat"):
        qd.set_logging_level(qd.INFO)
        log.info("{} of {n}", 1, n=2)
        log._get_logging(qd.DEBUG)("hidden")
    assert caplog.messages == ["1 of 2"]
    assert (qd.is_logging_effective(qd.TRACE), qd.is_logging_effective(qd.ERROR)) == (False, True)


class Clock:
    """A clock that implementations advance."""

    def __init__(self):
        self.now = 0

    def perf_counter(self):
        return self.now


def prototype(calls, clock):
    """Return a dispatcher, whose implementations note their names in `calls`."""

    @qd.perf_dispatch(get_geometry_hash=lambda x, n: n, first_warmup=1, active=1)
    def work(x, n): ...

    @work.register(is_compatible=lambda x, n: n < 10)
    def small(x, n):
        calls.append("small")
        clock.now += 1

    @work.register
    def any_size(x, n):
        calls.append("any")
        clock.now += 2

    return work


def test_implementation_that_can_run_is_called_and_the_fastest_is_kept(monkeypatch):
    calls, clock = [], Clock()
    monkeypatch.setattr(dispatch, "time", clock)
    work = prototype(calls, clock)
    work(None, 20)
    assert calls == ["any"]
    for _ in range(7):
        work(None, 3)
    assert calls == ["any", "small", "small", "any", "any", "small", "small", "small"]


def test_function_without_an_implementation_that_can_run_says_so():
    @qd.perf_dispatch(get_geometry_hash=lambda n: n)
    def work(n): ...

    work.register(lambda n: n, is_compatible=lambda n: n > 0)
    assert [work(2), work(3), work(n=2)] == [2, 3, 2]
    with pytest.raises(RuntimeError, match="work: no implementation"):
        work(0)


@pytest.mark.parametrize("make", [qd.field, qd.ndarray])
def test_layout_of_fields_and_arrays_is_c_order(make):
    assert make(qd.f32, (2, 3)).layout is None
