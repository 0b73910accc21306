# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: memory that is allocated while capturing is the graph's: an alloc node when it is made, a free node when it is
closed, and it works in every mode."""

import gc

import numpy as np
import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE

SIZE = 64
MODES = ("global", "thread_local", "relaxed")


@pytest.fixture(params=MODES)
def mode(request):
    return request.param


@pytest.fixture
def memory(device):
    resource = cg.GraphMemoryResource(device)
    yield resource
    resource.trim()


@pytest.fixture
def out(device, stream):
    """A Buffer of the device and a function that says what is in it."""
    buffer = device.allocate(SIZE, stream=stream)
    host = cg.PinnedMemoryResource().allocate(SIZE, stream=stream)

    def read():
        buffer.copy_to(host, stream=stream)
        stream.sync()
        return np.from_dlpack(host).view(np.int32).copy()

    buffer.fill(0, stream=stream)
    stream.sync()
    return buffer, read


def kinds(builder):
    return sorted(type(node).__name__ for node in builder.graph_definition.nodes())


def count_up(stream, kernels, buffer, amount):
    cg.launch(stream, cg.LaunchConfig(grid=1, block=16), kernels.add, buffer, 16, amount)


def test_a_temporary_of_a_graph(mode, builder, memory, out, kernels, stream):
    target, read = out
    builder.begin_building(mode)
    temporary = memory.allocate(SIZE, stream=builder)
    temporary.fill(np.int32(5), stream=builder)
    count_up(builder, kernels, temporary, 2)
    target.copy_from(temporary, stream=builder)
    temporary.close()
    builder.end_building()
    assert kinds(builder) == ["AllocNode", "FreeNode", "KernelNode", "MemcpyNode", "MemsetNode"]
    graph = builder.complete()
    for _ in range(3):
        graph.launch(stream)
    assert set(read()) == {7}


def test_the_same_chain_over_two_temporaries(mode, builder, memory, out, kernels, stream):
    target, read = out
    builder.begin_building(mode)
    one, two = memory.allocate(SIZE, stream=builder), memory.allocate(SIZE, stream=builder)
    one.fill(np.int32(1), stream=builder)
    one.copy_to(two, stream=builder)
    one.close(stream=builder)
    count_up(builder, kernels, two, 9)
    target.copy_from(two, stream=builder)
    two.close(stream=builder)
    builder.end_building()
    builder.complete().launch(stream)
    assert set(read()) == {10}


def test_memory_that_outlives_the_launch_is_freed_by_its_buffer(mode, builder, memory, out, kernels, stream):
    target, read = out
    builder.begin_building(mode)
    result = memory.allocate(SIZE, stream=builder)
    result.fill(np.int32(8), stream=builder)
    builder.end_building()
    graph = builder.complete()
    graph.launch(stream)
    target.copy_from(result, stream=stream)
    assert set(read()) == {8}
    result.close(stream=stream)
    graph.launch(stream)  # which allocates it anew
    target.copy_from(result_of(result, target), stream=stream)
    stream.sync()


def result_of(closed, instead):
    assert closed.is_closed
    return instead


def test_memory_that_outlives_the_launch_with_auto_free(mode, builder, memory, out, stream):
    target, read = out
    builder.begin_building(mode)
    result = memory.allocate(SIZE, stream=builder)
    result.fill(np.int32(8), stream=builder)
    builder.end_building()
    graph = builder.complete(auto_free_on_launch=True)
    for _ in range(3):
        graph.launch(stream)
    target.copy_from(result, stream=stream)
    assert set(read()) == {8}
    result.close(stream=stream)
    stream.sync()


def test_a_buffer_that_is_dropped_while_capturing_frees_its_memory_too(mode, builder, memory):
    builder.begin_building(mode)
    memory.allocate(SIZE, stream=builder)
    gc.collect()
    builder.end_building()
    assert kinds(builder) == ["AllocNode", "FreeNode"]


def test_an_argument_of_a_kernel_does_not_hold_up_the_free(mode, builder, memory, kernels):
    builder.begin_building(mode)
    temporary = memory.allocate(SIZE, stream=builder)
    count_up(builder, kernels, temporary, 1)
    del temporary
    gc.collect()
    builder.end_building()
    assert kinds(builder) == ["AllocNode", "FreeNode", "KernelNode"]


def test_nothing_can_be_allocated_without_a_node(mode, builder, memory):
    builder.begin_building(mode)
    assert memory.allocate(0, stream=builder).size == 0
    builder.end_building()
    assert kinds(builder) == []


def test_graph_memory_is_allocated_on_capturing_streams_only(mode, builder, memory, stream):
    text = "^GraphMemoryResource allocates only during a capture"
    for not_capturing in (stream, builder):
        with pytest.raises(RuntimeError, match=text):
            memory.allocate(SIZE, stream=not_capturing)
    builder.begin_building(mode)
    memory.allocate(SIZE, stream=builder).close()
    builder.end_building()
    with pytest.raises(RuntimeError, match=text):
        memory.allocate(SIZE, stream=builder)


def test_a_spoiled_capture_is_no_capture(memory, spoiled):
    with pytest.raises(RuntimeError, match=r"is not being captured$"):
        memory.allocate(SIZE, stream=spoiled)


def test_other_device_memory_is_refused_on_capturing_streams_only(mode, builder, device, stream):
    resource = cg.DeviceMemoryResource(device)
    builder.begin_building(mode)
    with pytest.raises(
        RuntimeError, match=r"during a capture of .*: allocate before, or use GraphMemoryResource$"
    ):
        resource.allocate(SIZE, stream=builder)
    resource.allocate(SIZE, stream=stream).close()
    assert builder.is_building
    builder.end_building()


def test_explicit_nodes_know_the_memory_of_captured_ones(mode, builder, memory, out, stream):
    target, read = out
    builder.begin_building(mode)
    result = memory.allocate(SIZE, stream=builder)
    result.fill(np.int32(3), stream=builder)
    builder.end_building()
    definition = builder.graph_definition
    (fill,) = (node for node in definition.nodes() if isinstance(node, cg.MemsetNode))
    fill.memcpy(target, result, SIZE).free(result.handle)
    builder.complete().launch(stream)
    assert set(read()) == {3}


def test_the_attributes_say_what_launches_took(mode, builder, memory, stream):
    attributes = memory.attributes
    attributes.used_mem_high = 0
    attributes.reserved_mem_high = 0
    builder.begin_building(mode)
    memory.allocate(1 << 20, stream=builder).close()
    builder.end_building()
    builder.complete().launch(stream)
    stream.sync()
    assert attributes.used_mem_high >= 1 << 20
    assert attributes.reserved_mem_high >= attributes.used_mem_high
    assert attributes.reserved_mem_high >= attributes.reserved_mem_current
    attributes.used_mem_high = 0
    assert attributes.used_mem_high == attributes.used_mem_current


def test_trimming_gives_back_what_is_not_in_use(mode, builder, memory, stream):
    builder.begin_building(mode)
    memory.allocate(1 << 20, stream=builder).close()
    builder.end_building()
    builder.complete().launch(stream)
    stream.sync()
    memory.trim()
    assert memory.attributes.reserved_mem_current == memory.attributes.used_mem_current
    assert memory.attributes.reserved_mem_high > 0


def test_each_device_has_one_resource(device):
    resource = cg.GraphMemoryResource(device)
    assert cg.GraphMemoryResource(device.device_id) is resource
    assert (resource.device_id, resource.is_device_accessible, resource.is_host_accessible) == (
        0,
        True,
        False,
    )
    resource.close()
    assert cg.GraphMemoryResource(0) is resource
    assert repr(resource) == "<GraphMemoryResource device=0>"
    assert isinstance(resource, cg.MemoryResource)
    with pytest.raises(TypeError, match="free themselves"):
        resource.deallocate(0, 0, stream=device.default_stream)


@pytest.mark.parametrize("name", ["used_mem_current", "reserved_mem_current"])
def test_current_sizes_cannot_be_set(name, memory):
    with pytest.raises(AttributeError, match=rf"attribute '{name}' .* is not writable"):
        setattr(memory.attributes, name, 0)


@pytest.mark.parametrize("name", ["used_mem_high", "reserved_mem_high"])
@pytest.mark.parametrize("value", [1, -1, 2**70, "0", None, 0.5])
def test_a_high_can_be_set_to_zero_only(name, value, memory):
    with pytest.raises(AttributeError, match=rf"^{name} can only be reset to 0, got {value!r}$"):
        setattr(memory.attributes, name, value)


def test_the_attributes_belong_to_a_resource(memory):
    with pytest.raises(RuntimeError, match=r"^GraphMemoryResourceAttributes has no public constructor"):
        type(memory.attributes)()
    names = ["reserved_mem_current", "reserved_mem_high", "used_mem_current", "used_mem_high"]
    parts = [f"{name}={getattr(memory.attributes, name)}" for name in names]
    assert repr(memory.attributes) == f"GraphMemoryResourceAttributes({', '.join(parts)})"


def test_ordinary_memory_dropped_in_a_capture_of_its_stream_is_freed_when_that_is_over(
    device, stream, kernels
):
    buffer = device.allocate(SIZE, stream=stream)
    builder = stream.create_graph_builder().begin_building()
    with pytest.raises(RuntimeError, match="cannot be freed in the order of a stream that is being captured"):
        buffer.close(stream=builder)
    assert not buffer.is_closed
    buffer.close()
    cg.launch(builder, ONE, kernels.nothing)
    builder.end_building()
    assert kinds(builder) == ["KernelNode"]
    stream.sync()


def test_memory_of_one_graph_does_not_become_a_node_of_another(device, stream, memory):
    first = stream.create_graph_builder().begin_building()
    buffer = memory.allocate(SIZE, stream=first)
    first.end_building()
    second = stream.create_graph_builder().begin_building()
    del buffer
    gc.collect()
    second.end_building()
    assert kinds(second) == []
