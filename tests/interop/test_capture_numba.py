# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: what numba-cuda does on the stream of a builder becomes nodes of its graph, and a launch does it again."""

import numpy as np
import pytest

import cuda_graphs as cg

pytestmark = pytest.mark.cuda

SIZE = 8192
GRID = (256, 32)  # of fewer blocks Numba would say that they are few
SAME = cg.LaunchConfig(grid=256, block=32)


@pytest.fixture
def cuda(device, monkeypatch):
    # Numba 0.68 asks for it when it compiles; NumPy 2.5 has it no more.
    monkeypatch.setattr(np, "row_stack", np.vstack, raising=False)
    return pytest.importorskip("numba.cuda")


@pytest.fixture
def twice_plus(cuda):
    @cuda.jit
    def twice_plus(x, amount):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = 2 * x[i] + amount

    return twice_plus


@pytest.fixture(params=["external_stream", "cuda.core"])
def numba_stream(request, cuda):
    """The stream of a builder as Numba takes it."""

    def wrap(builder):
        if request.param == "external_stream":
            return cuda.external_stream(builder.stream.handle)
        core = pytest.importorskip("cuda.core")
        device = core.Device()
        device.set_current()
        return device.create_stream(builder)

    return wrap


@pytest.fixture
def numbers(cuda):
    array = cuda.to_device(np.arange(SIZE, dtype="i4"))
    cuda.synchronize()
    return array


def test_a_launch_does_what_the_kernels_did(
    mode, cuda, twice_plus, numba_stream, numbers, builder, stream, kinds
):
    on_builder = numba_stream(builder)
    expected = np.arange(SIZE)
    twice_plus[(*GRID, on_builder)](numbers, 0)  # compiles and loads
    cuda.synchronize()
    expected = 2 * expected
    builder.begin_building(mode)
    twice_plus[(*GRID, on_builder)](numbers, 3)
    twice_plus[(*GRID, on_builder)](numbers, 5)
    builder.end_building()
    assert kinds(builder) == ["KernelNode", "KernelNode"]
    assert (numbers.copy_to_host() == expected).all()
    graph = builder.complete()
    for _ in range(3):
        graph.launch(stream)
        expected = 2 * (2 * expected + 3) + 5
    stream.sync()
    assert (numbers.copy_to_host() == expected).all()


def test_work_of_both_is_in_order_and_arrays_are_arguments(
    cuda, twice_plus, numba_stream, numbers, builder, kernels, stream
):
    on_builder = numba_stream(builder)
    with builder:
        twice_plus[(*GRID, on_builder)](numbers, 0)
        cg.launch(builder, SAME, kernels.add, numbers, SIZE, 100)
        twice_plus[(*GRID, on_builder)](numbers, 0)
    builder.complete().launch(stream)
    stream.sync()
    assert (numbers.copy_to_host() == 2 * (2 * np.arange(SIZE) + 100)).all()


def test_copies_between_arrays_are_nodes(cuda, numbers, builder, stream, kinds):
    other = cuda.to_device(np.zeros(SIZE, "i4"))
    cuda.synchronize()
    with builder:
        other.copy_to_device(numbers, stream=cuda.external_stream(builder.stream.handle))
    assert kinds(builder) == ["MemcpyNode"]
    builder.complete().launch(stream)
    stream.sync()
    assert (other.copy_to_host() == np.arange(SIZE)).all()


def test_arrays_may_go_meanwhile_when_numba_is_told_to_wait(cuda, twice_plus, numbers, builder, stream):
    on_builder = cuda.external_stream(builder.stream.handle)
    twice_plus[(*GRID, on_builder)](numbers, 0)
    rubbish = [cuda.device_array(16) for _ in range(64)]
    cuda.synchronize()
    with cuda.defer_cleanup():
        builder.begin_building("global")
        twice_plus[(*GRID, on_builder)](numbers, 1)
        rubbish.clear()
        builder.end_building()
    builder.complete().launch(stream)
    stream.sync()
    assert (numbers.copy_to_host() == 4 * np.arange(SIZE) + 1).all()


def test_waiting_spoils_and_the_lines_are_named(cuda, stream, check_spoiled):
    check_spoiled(cuda.external_stream(stream.handle).synchronize)
