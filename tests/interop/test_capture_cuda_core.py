# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: what cuda.core does on the stream of a builder becomes nodes of its graph, and ours of its builder's."""

import numpy as np
import pytest

import cuda_graphs as cg

pytestmark = [
    pytest.mark.cuda,
    # It still takes every object with a stream, and says that it would rather have a Stream made of one.
    pytest.mark.filterwarnings("ignore:Passing foreign stream objects:DeprecationWarning"),
]

SIZE = 32
BLOCK = cg.LaunchConfig(grid=1, block=SIZE)
SOURCE = r"""
extern "C" __global__ void twice_plus(int* x, int amount) { x[threadIdx.x] = 2 * x[threadIdx.x] + amount; }
"""


@pytest.fixture
def core(device):
    return pytest.importorskip("cuda.core")


@pytest.fixture
def core_device(core):
    device = core.Device()
    device.set_current()
    return device


@pytest.fixture
def twice_plus(core, core_device):
    """twice_plus(stream, buffer, amount): a launch by cuda.core."""
    options = core.ProgramOptions(arch=f"sm_{core_device.arch}")
    kernel = core.Program(SOURCE, "c++", options).compile("cubin").get_kernel("twice_plus")
    shape = core.LaunchConfig(grid=1, block=SIZE)
    return lambda stream, buffer, amount: core.launch(stream, shape, kernel, buffer, np.int32(amount))


@pytest.fixture
def memory(core, core_device):
    """Pinned memory of cuda.core, and the numbers in it."""
    buffer = core.LegacyPinnedMemoryResource().allocate(4 * SIZE, stream=core_device.default_stream)
    numbers = np.from_dlpack(buffer).view(np.int32)
    numbers[:] = np.arange(SIZE)
    yield buffer, numbers
    del numbers
    buffer.close()


@pytest.fixture(params=["the builder", "a Stream of it"])
def core_stream(request, core_device, builder):
    return builder if request.param == "the builder" else core_device.create_stream(builder)


def test_a_launch_does_what_cuda_core_did(mode, core_stream, twice_plus, memory, builder, stream, kinds):
    buffer, numbers = memory
    builder.begin_building(mode)
    twice_plus(core_stream, buffer, 3)
    twice_plus(core_stream, buffer, 5)
    builder.end_building()
    assert kinds(builder) == ["KernelNode", "KernelNode"]
    assert list(numbers) == list(range(SIZE))
    graph = builder.complete()
    for _ in range(2):
        graph.launch(stream)
    stream.sync()
    expected = np.arange(SIZE)
    for amount in (3, 5, 3, 5):
        expected = 2 * expected + amount
    assert (numbers == expected).all()


def test_work_of_both_is_in_order_and_buffers_are_arguments(
    core_stream, twice_plus, memory, builder, kernels, stream
):
    buffer, numbers = memory
    with builder:
        twice_plus(core_stream, buffer, 0)
        cg.launch(builder, BLOCK, kernels.add, buffer, SIZE, 100)
        twice_plus(core_stream, buffer, 0)
    builder.complete().launch(stream)
    stream.sync()
    assert (numbers == 2 * (2 * np.arange(SIZE) + 100)).all()


def test_memory_that_cuda_core_allocates_is_the_graphs(
    core, core_device, memory, builder, twice_plus, stream, kinds
):
    buffer, numbers = memory
    on_builder = core_device.create_stream(builder)
    with builder:
        temporary = core.GraphMemoryResource(core_device).allocate(4 * SIZE, stream=on_builder)
        temporary.copy_from(buffer, stream=on_builder)
        twice_plus(on_builder, temporary, 1)
        temporary.copy_to(buffer, stream=on_builder)
        temporary.close(on_builder)
    assert kinds(builder) == ["AllocNode", "FreeNode", "KernelNode", "MemcpyNode", "MemcpyNode"]
    graph = builder.complete()
    for _ in range(2):
        graph.launch(stream)
    stream.sync()
    assert (numbers == 2 * (2 * np.arange(SIZE) + 1) + 1).all()


def test_our_launches_are_nodes_of_a_graph_that_cuda_core_captures(core_device, memory, twice_plus, kernels):
    buffer, numbers = memory
    theirs = core_device.create_graph_builder().begin_building()
    twice_plus(theirs, buffer, 0)
    cg.launch(theirs, BLOCK, kernels.add, buffer, SIZE, 100)
    graph = theirs.end_building().complete()
    stream = core_device.create_stream()
    graph.launch(stream)
    stream.sync()
    assert (numbers == 2 * np.arange(SIZE) + 100).all()
    graph.close()
    theirs.close()


def test_waiting_spoils_and_the_lines_are_named(core_device, stream, check_spoiled):
    theirs = core_device.create_stream(stream)

    def spoil():
        with pytest.raises(Exception, match="CAPTURE"):
            theirs.sync()

    check_spoiled(spoil)
