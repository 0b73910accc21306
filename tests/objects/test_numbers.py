# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: handles, callbacks and addresses of cuda.bindings are taken where an address is meant, and are refused wherever
a number is meant, though they have __int__."""

import ctypes

import numpy as np
import pytest

import cuda_graphs as cg

bindings = pytest.importorskip("cuda.bindings.driver")
runtime = pytest.importorskip("cuda.bindings.runtime")

ADDRESSES = {
    "stream": bindings.CUstream(1),
    "runtime_stream": runtime.cudaStream_t(1),
    "function": bindings.CUfunction(1),
    "memory": bindings.CUdeviceptr(1),
    "callback": bindings.CUoccupancyB2DSize(1),
    "host_callback": bindings.CUhostFn(1),
}
NUMBERS = {"32": bindings.cuuint32_t(1), "64": bindings.cuuint64_t(1), "texture": bindings.CUtexObject(1)}


@pytest.fixture
def world(device, stream, module):
    @cg.kernel
    def integer(x: cg.types.ndarray(cg.i64, ndim=1), n: cg.i64):
        x[0] = n

    @cg.kernel
    def real(x: cg.types.ndarray(cg.f64, ndim=1), n: cg.f64):
        x[0] = n

    @cg.kernel
    def truth(x: cg.types.ndarray(cg.i32, ndim=1), n: cg.bool_):
        x[0] = n

    class World:
        occupancy, attributes = module.get_kernel("fill").occupancy, module.get_kernel("fill").attributes
        buffer = device.allocate(16, stream=stream)
        ints, floats, flags = (cg.ndarray(each, (4,)) for each in (cg.i64, cg.f64, cg.i32))
        definition = cg.GraphDef()

        def parameter(self, kind, value):
            return cg.GraphDef().param("n", kind, default=value)

    found = World()
    found.device, found.stream = device, stream
    found.kernels = {"integer": integer, "real": real, "truth": truth}
    return found


# Each call takes a number.
PLACES = {
    "potential_block_size_bytes": lambda w, n: w.occupancy.max_potential_block_size(0, n),
    "active_blocks": lambda w, n: w.occupancy.max_active_blocks_per_multiprocessor(n, 0),
    "active_blocks_bytes": lambda w, n: w.occupancy.max_active_blocks_per_multiprocessor(32, n),
    "available_memory": lambda w, n: w.occupancy.available_dynamic_shared_memory_per_block(n, 32),
    "kernel_attribute": lambda w, n: setattr(w.attributes, "max_dynamic_shared_size_bytes", n),
    "grid": lambda w, n: cg.LaunchConfig(grid=n, block=1),
    "block": lambda w, n: cg.LaunchConfig(grid=1, block=(1, n)),
    "shared_memory": lambda w, n: cg.LaunchConfig(grid=1, block=1, shmem_size=n),
    "device": lambda w, n: cg.Device(n),
    "allocation": lambda w, n: w.device.allocate(n, stream=w.stream),
    "buffer_size": lambda w, n: cg.Buffer.from_handle(w.buffer.handle, n),
    "fill_value": lambda w, n: w.buffer.fill(n, stream=w.stream),
    "graph_allocation": lambda w, n: w.definition.alloc(n),
    "memset_width": lambda w, n: w.definition.memset(w.buffer, 0, width=n),
    "memset_value": lambda w, n: w.definition.memset(w.buffer, n),
    "edge": lambda w, n: cg.EdgeData(from_port=n),
    "branches": lambda w, n: w.definition.switch(w.definition.create_condition(), n),
    "default": lambda w, n: w.definition.create_condition(default_value=n),
    "findings": lambda w, n: w.definition.check(n),
    "priority": lambda w, n: w.device.create_stream(options=cg.StreamOptions(priority=n)),
    "int_parameter": lambda w, n: w.parameter(cg.i64, n),
    "unsigned_parameter": lambda w, n: w.parameter(cg.u64, n),
    "bool_parameter": lambda w, n: w.parameter(cg.bool_, n),
    "float_parameter": lambda w, n: w.parameter(cg.f64, n),
    "kernel_integer": lambda w, n: w.kernels["integer"](w.ints, n),
    "kernel_real": lambda w, n: w.kernels["real"](w.floats, n),
    "kernel_truth": lambda w, n: w.kernels["truth"](w.flags, n),
    "shape": lambda w, n: cg.ndarray(cg.f32, (n,)),
    "index": lambda w, n: w.ints[n],
    "element": lambda w, n: w.ints.fill(n),
    "real_element": lambda w, n: w.floats.fill(n),
    "seed": lambda w, n: cg.random_seed(n),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ADDRESSES)
def test_an_address_is_refused_where_a_number_is_meant(world, place, kind):
    with pytest.raises((TypeError, ValueError), match=r"int|number|bool|Device|True"):
        PLACES[place](world, ADDRESSES[kind])


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize(
    "place", ["grid", "shared_memory", "edge", "default", "unsigned_parameter", "kernel_integer"]
)
def test_an_integer_of_cuda_is_a_number(world, place, kind):
    PLACES[place](world, NUMBERS[kind])


@pytest.mark.skipif(
    not hasattr(bindings.CUstream, "__index__"),
    reason="cuda-bindings before 13.4 does not tell addresses from integers",
)
def test_a_table_names_each_integer_of_cuda_that_is_no_address():
    """Addresses have __index__ since cuda-bindings 13.4, integers do not."""
    from cuda_graphs.objects.numbers import as_int, is_address

    for module in (bindings, runtime):
        for name, kind in vars(module).items():
            if (
                not name.startswith(("CU", "cuu", "cuda"))
                or not isinstance(kind, type)
                or issubclass(kind, int)
            ):
                continue
            if hasattr(kind, "__int__"):
                an_address = hasattr(kind, "__index__") or name.startswith("CUdeviceptr")
                assert is_address(kind(5)) is an_address, name
                assert as_int(kind(5)) == (None if an_address else 5), name


def test_an_address_of_cuda_is_taken_where_an_address_is_meant(device, stream, pinned):
    x = pinned(4, np.int32)
    address = bindings.CUdeviceptr(x.ctypes.data)
    assert cg.Buffer.from_handle(address, 16).handle == x.ctypes.data
    assert cg.Stream.from_handle(bindings.CUstream(stream.handle)) == stream
    event = device.create_event()
    assert cg.Event.from_handle(bindings.CUevent(event.handle)) == event
    g = cg.GraphDef()
    g.memset(address, np.int32(7), width=4)
    g.instantiate().launch(stream)
    stream.sync()
    assert x.tolist() == [7, 7, 7, 7]


SHARED_BYTES = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int)


@pytest.mark.parametrize("limit", [0, 128, 512])
@pytest.mark.parametrize("bytes_per_thread", [0, 8, 200])
def test_occupancy_asks_a_callback_for_the_bytes_of_each_block(module, bytes_per_thread, limit):
    """The best block is as good as any other that fits, by the question that takes plain numbers."""
    occupancy, asked = module.get_kernel("fill").occupancy, []
    function = SHARED_BYTES(lambda threads: asked.append(threads) or bytes_per_thread * threads)
    callback = bindings.CUoccupancyB2DSize(_ptr=ctypes.addressof(function))
    grid, block = occupancy.max_potential_block_size(callback, limit)

    def threads_that_fit(size):
        return size * occupancy.max_active_blocks_per_multiprocessor(size, bytes_per_thread * size)

    assert asked
    assert grid > 0
    assert 0 < block <= (limit or 1024)
    assert threads_that_fit(block) == max(threads_that_fit(size) for size in asked)
    constant = SHARED_BYTES(lambda _: 1024)
    same = bindings.CUoccupancyB2DSize(_ptr=ctypes.addressof(constant))
    assert occupancy.max_potential_block_size(same, limit) == occupancy.max_potential_block_size(1024, limit)


def test_occupancy_takes_a_null_callback_for_no_bytes(module):
    occupancy = module.get_kernel("fill").occupancy
    assert occupancy.max_potential_block_size(bindings.CUoccupancyB2DSize(), 128) == (
        occupancy.max_potential_block_size(0, 128)
    )
