# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: memset and memcpy take addresses and Buffers of every kind of memory, and know what each one is."""

import numpy as np
import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE


@pytest.fixture
def device_buffer(device, stream):
    return cg.DeviceMemoryResource(device).allocate(64, stream=stream)


@pytest.fixture
def pinned_buffer(stream):
    return cg.PinnedMemoryResource().allocate(64, stream=stream)


def test_buffers_are_operands(device_buffer, pinned_buffer, run):
    g = cg.GraphDef()
    g.memset(device_buffer, np.int32(7), 16).memcpy(pinned_buffer, device_buffer, 64)
    run(g)
    assert (np.from_dlpack(pinned_buffer).view(np.int32) == 7).all()


def test_the_side_of_each_operand_is_known(device_buffer, pinned_buffer):
    g = cg.GraphDef()
    node = g.memcpy(pinned_buffer, device_buffer, 64)
    assert node.dst == pinned_buffer.handle
    assert node.src == device_buffer.handle
    assert "(H) src=" in repr(node)
    assert "(D) size=64" in repr(node)


@pytest.mark.parametrize(("memory_type", "side"), [("device", "D"), ("host", "H"), ("managed", "D")])
def test_memory_of_an_alloc_node_is_known_before_any_launch(memory_type, side, pinned_buffer, host_memory):
    g = cg.GraphDef()
    x = g.alloc(64, memory_type=memory_type)
    copy = x.memcpy(x.dptr + 32, pinned_buffer, 32)
    assert f"({side}) src=" in repr(copy)
    assert x.dptr + 32 == copy.dst


def test_data_copied_through_graph_memory_comes_back(pinned, run, kernels):
    source, target = pinned(range(16)), pinned(16)
    g = cg.GraphDef()
    x = g.alloc(64)
    there = x.memcpy(x.dptr, source.ctypes.data, 64)
    added = there.launch(cg.LaunchConfig(grid=1, block=16), kernels.add, x.dptr, 16, 100)
    added.memcpy(target.ctypes.data, x.dptr, 64).free(x.dptr)
    run(g, times=2)
    assert list(target) == list(range(100, 116))


def test_memory_that_is_not_freed_can_be_read_after_the_launch(pinned, run, stream):
    target = pinned(16)
    g = cg.GraphDef()
    x = g.alloc(64)
    x.memset(x.dptr, 0xAB, 64)
    graph = run(g)
    after = cg.GraphDef()
    after.memcpy(target.ctypes.data, x.dptr, 64)
    run(after)
    assert (target.view("u1") == 0xAB).all()
    graph.close()


def test_objects_with_an_index_are_addresses(pinned, run):
    x = pinned(16)
    g = cg.GraphDef()
    g.memset(np.uint64(x.ctypes.data), b"\x01\x02", 32)
    run(g)
    assert (x.view("u2") == 0x0201).all()


def test_two_dimensions_leave_the_gaps_alone(pinned, run):
    x = pinned(np.zeros(64), "u1")
    g = cg.GraphDef()
    g.memset(x.ctypes.data, 9, 3, 4, 16)
    run(g)
    expected = np.zeros((4, 16), "u1")
    expected[:, :3] = 9
    assert (x.reshape(4, 16) == expected).all()


def test_a_closed_buffer_is_a_value_error(pinned_buffer, pinned):
    x = pinned(16).ctypes.data
    pinned_buffer.close()
    g = cg.GraphDef()
    with pytest.raises(ValueError, match="dst is a closed Buffer"):
        g.memset(pinned_buffer, 0, 1)
    with pytest.raises(ValueError, match="src is a closed Buffer"):
        g.memcpy(x, pinned_buffer, 1)


def test_alloc_takes_options_devices_and_peers(device):
    g = cg.GraphDef()
    nodes = [
        g.alloc(8, cg.GraphAllocOptions(device=device)),
        g.alloc(8, device=device.device_id),
        g.alloc(8, {"memory_type": "device"}),
        g.alloc(8, memory_type=None),
        g.alloc(8, peer_access=[]),
    ]
    assert {n.device_id for n in nodes} == {device.device_id}
    assert {n.memory_type for n in nodes} == {"device"}
    assert len({n.dptr for n in nodes}) == 5


def test_a_host_allocation_remembers_the_device_it_was_asked_for(device, host_memory):
    g = cg.GraphDef()
    ids = [d.device_id for d in type(device).get_all_devices()]
    node = g.alloc(8, memory_type="host", device=ids[-1])
    del node
    (node,) = g.nodes()
    assert (node.memory_type, node.device_id) == ("host", ids[-1])


def test_shapes_of_a_launch_come_back(kernels, device):
    config = cg.LaunchConfig(grid=(3, 2, 1), block=(8, 4, 2), shmem_size=256)
    node = cg.GraphDef().launch(config, kernels.shape, 0)
    assert (node.grid, node.block, node.shmem_size) == ((3, 2, 1), (8, 4, 2), 256)
    assert node.config == config


def test_a_launch_has_the_shape_it_was_given(kernels, pinned, run):
    out = pinned([0])
    g = cg.GraphDef()
    g.launch(cg.LaunchConfig(grid=(3, 2, 2), block=(8, 4, 2), shmem_size=256), kernels.shape, out.ctypes.data)
    run(g)
    assert out[0] == 12 * 64


def test_a_cluster_and_a_cooperative_launch_are_not_dropped(kernels, device):
    cluster = cg.LaunchConfig(grid=4, cluster=2, block=32)
    together = cg.LaunchConfig(grid=2, block=32, is_cooperative=True)
    g = cg.GraphDef()
    assert g.launch(cluster, kernels.nothing).config == cluster
    assert g.launch(together, kernels.nothing).config == together
    assert g.launch(ONE, kernels.nothing).config == ONE


def test_a_launch_shape_that_is_refused_leaves_no_node_even_where_none_can_be_removed(kernels, device):
    g = cg.GraphDef()
    x = g.alloc(64)
    nodes = {x}

    def build():
        nodes.add(x.launch(cg.LaunchConfig(grid=1, cluster=4096, block=32), kernels.nothing))
        g.instantiate()  # where a driver looks at the shape only now

    with pytest.raises(cg.CUDAError):
        build()
    assert g.nodes() == nodes
