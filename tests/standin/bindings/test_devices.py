# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: each device has addresses, contexts and pools of its own; copies go between them, and what belongs to one is
refused by the other with the driver's error.

It takes two devices, which the host driver plays (test_programs.py).
"""

import ctypes
import itertools
import threading

import numpy as np
import pytest

from tests.standin.bindings.answers import (
    INVALID_DEVICE,
    INVALID_HANDLE,
    INVALID_VALUE,
    d,
    ok,
)

PTX = b"""
.version 8.0
.target sm_50
.address_size 64
.visible .entry nothing() { ret; }
\0"""


@pytest.fixture(autouse=True)
def two_devices():
    ok(d.cuInit(0))
    assert ok(d.cuDeviceGetCount()) == 2, "start it with CUDA_GRAPHS_HOST_DEVICES=2"


@pytest.fixture
def contexts():
    contexts = [ok(d.cuDevicePrimaryCtxRetain(ordinal)) for ordinal in (0, 1)]
    yield contexts
    ok(d.cuCtxSetCurrent(d.CUcontext(0)))
    for ordinal in (0, 1):
        ok(d.cuDevicePrimaryCtxRelease(ordinal))


@pytest.fixture
def on(contexts):
    """on(ordinal, function, ...): a call with that device current."""

    def call(ordinal, function, *arguments):
        ok(d.cuCtxSetCurrent(contexts[ordinal]))
        return function(*arguments)

    return call


HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
ORDINAL = d.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL


def owner(address):
    """Asked of the driver itself: cuda-bindings 13.3 makes 0 of each ordinal."""
    found = ctypes.c_int(-1)
    library = ctypes.CDLL("libcuda.so.1")
    assert (
        library.cuPointerGetAttribute(ctypes.byref(found), ORDINAL.value, ctypes.c_uint64(int(address))) == 0
    )
    return found.value


def test_addresses_of_two_devices_never_mix(on):
    sizes = [1, 512, 5000, 100_000, 1 << 20, 5 << 20] * 3
    memory = {
        (ordinal, i): ok(on(ordinal, d.cuMemAlloc, size))
        for i, size in enumerate(sizes)
        for ordinal in (0, 1)
    }
    places = sorted((int(at), sizes[i]) for (_, i), at in memory.items())
    assert all(at + size <= after for (at, size), (after, _) in itertools.pairwise(places))
    for (ordinal, _), at in memory.items():
        assert owner(at) == ordinal
        ok(on(ordinal, d.cuMemFree, at))


def test_pools_are_each_devices_own(on):
    pools = [ok(d.cuDeviceGetDefaultMemPool(ordinal)) for ordinal in (0, 1)]
    assert int(pools[0]) != int(pools[1])
    assert d.cuDeviceSetMemPool(0, pools[1])[0] == INVALID_VALUE
    stream = ok(on(0, d.cuStreamCreate, 1))
    here = ok(d.cuMemAllocAsync(64, stream))
    there = ok(d.cuMemAllocFromPoolAsync(64, pools[1], stream))
    assert (owner(here), owner(there)) == (0, 1)
    place = d.CUmemLocation()
    place.type = d.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    place.id = 0
    none, both = (
        getattr(d.CUmemAccess_flags, f"CU_MEM_ACCESS_FLAGS_PROT_{name}") for name in ("NONE", "READWRITE")
    )
    assert ok(d.cuMemPoolGetAccess(pools[1], place)) == none
    description = d.CUmemAccessDesc()
    description.location, description.flags = place, both
    ok(d.cuMemPoolSetAccess(pools[1], [description], 1))
    assert ok(d.cuMemPoolGetAccess(pools[1], place)) == both
    description.flags = none
    ok(d.cuMemPoolSetAccess(pools[1], [description], 1))
    for address in (here, there):
        ok(d.cuMemFreeAsync(address, stream))
    ok(d.cuStreamSynchronize(stream))
    ok(d.cuStreamDestroy(stream))


def test_copies_between_devices(on, contexts):
    here, there = (ok(on(ordinal, d.cuMemAlloc, 64)) for ordinal in (0, 1))
    numbers, back = np.arange(16, dtype="i4"), np.zeros(16, "i4")
    ok(on(0, d.cuMemcpyHtoD, here, numbers.ctypes.data, 64))
    ok(d.cuMemcpyPeer(there, contexts[1], here, contexts[0], 64))
    ok(on(1, d.cuMemcpyDtoH, back.ctypes.data, there, 64))
    assert (back == numbers).all()
    stream = ok(on(1, d.cuStreamCreate, 0))
    ok(d.cuMemsetD32Async(there, 7, 16, stream))
    ok(d.cuMemcpyPeerAsync(here, contexts[0], there, contexts[1], 64, stream))
    ok(d.cuStreamSynchronize(stream))
    ok(on(0, d.cuMemcpyDtoH, back.ctypes.data, here, 64))
    assert (back == 7).all()
    ok(d.cuMemcpyPeer(there, d.CUcontext(0), here, contexts[0], 64))
    assert d.cuMemcpyPeer(there, contexts[1], here, contexts[0], 65)[0] == INVALID_VALUE
    ok(d.cuStreamDestroy(stream))
    for address in (here, there):
        ok(d.cuMemFree(address))


@pytest.fixture
def memory_of_a_foreign_pool(on):
    """64 bytes of a pool of device 1, filled with 7, and a function that sets the access of device 0 to the pool."""
    properties = d.CUmemPoolProps()
    properties.allocType = d.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location.type = d.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    properties.location.id = 1
    pool = ok(on(1, d.cuMemPoolCreate, properties))
    stream = ok(on(1, d.cuStreamCreate, 1))
    memory = ok(d.cuMemAllocFromPoolAsync(64, pool, stream))
    ok(d.cuMemsetD8Async(memory, 7, 64, stream))
    ok(d.cuStreamSynchronize(stream))
    description = d.CUmemAccessDesc()
    description.location.type = d.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    description.location.id = 0

    def set_access(name):
        description.flags = getattr(d.CUmemAccess_flags, f"CU_MEM_ACCESS_FLAGS_PROT_{name}")
        ok(d.cuMemPoolSetAccess(pool, [description], 1))

    yield memory, set_access
    ok(on(1, d.cuMemFreeAsync, memory, stream))
    ok(d.cuStreamSynchronize(stream))
    ok(d.cuStreamDestroy(stream))
    ok(d.cuMemPoolDestroy(pool))


@pytest.mark.parametrize("access", ["NONE", "READWRITE"])
def test_copies_and_fills_of_a_foreign_pool_ask_for_access(on, contexts, memory_of_a_foreign_pool, access):
    there, set_access = memory_of_a_foreign_pool
    set_access("READWRITE")
    set_access(access)
    here = ok(on(0, d.cuMemAlloc, 64))
    host = ok(d.cuMemAllocHost(64))
    stream = ok(d.cuStreamCreate(1))
    plane = d.CUDA_MEMCPY2D()
    plane.srcMemoryType = plane.dstMemoryType = d.CUmemorytype.CU_MEMORYTYPE_DEVICE
    plane.srcDevice, plane.dstDevice = there, here
    plane.srcPitch = plane.dstPitch = 16
    plane.WidthInBytes, plane.Height = 8, 4
    calls = [
        (d.cuMemcpyAsync, there, here, 64, stream),
        (d.cuMemcpyAsync, here, there, 64, stream),
        (d.cuMemcpyAsync, there, host, 64, stream),
        (d.cuMemcpyAsync, host, there, 64, stream),
        (d.cuMemcpyDtoD, there, here, 64),
        (d.cuMemcpyDtoDAsync, here, there, 64, stream),
        (d.cuMemcpyHtoDAsync, there, host, 64, stream),
        (d.cuMemcpyDtoHAsync, host, there, 64, stream),
        (d.cuMemcpy2DAsync, plane, stream),
        (d.cuMemsetD8Async, there, 1, 64, stream),
        (d.cuMemsetD32, there, 1, 16),
        (d.cuMemsetD2D8Async, there, 16, 1, 8, 4, stream),
    ]
    expected = INVALID_VALUE if access == "NONE" else d.CUresult.CUDA_SUCCESS
    answers = {(i, function.__name__): function(*rest)[0] for i, (function, *rest) in enumerate(calls)}
    assert {call: answer for call, answer in answers.items() if answer != expected} == {}
    ok(d.cuStreamSynchronize(stream))
    for address in (here, there):
        ok(on(1 if address is there else 0, d.cuMemsetD8, address, 9, 64))
    # The memory of the pool is freed on a stream that does not wait for fills on the default stream.
    ok(on(1, d.cuCtxSynchronize))
    ok(on(0, d.cuMemFreeHost, host))
    ok(d.cuStreamDestroy(stream))
    ok(d.cuMemFree(here))


def test_peer_copies_of_a_foreign_pool_need_no_access(on, contexts, memory_of_a_foreign_pool):
    there, _ = memory_of_a_foreign_pool
    here = ok(on(0, d.cuMemAlloc, 64))
    stream, back = ok(d.cuStreamCreate(1)), np.zeros(64, "u1")
    ok(d.cuMemcpyPeerAsync(here, contexts[0], there, contexts[1], 64, stream))
    ok(d.cuStreamSynchronize(stream))
    ok(d.cuMemcpyDtoH(back.ctypes.data, here, 64))
    assert (back == 7).all()
    ok(d.cuMemsetD8(here, 5, 64))
    ok(d.cuMemcpyPeer(there, contexts[1], here, contexts[0], 64))
    ok(on(1, d.cuMemcpyDtoH, back.ctypes.data, there, 64))
    assert (back == 5).all()
    ok(on(0, d.cuStreamDestroy, stream))
    ok(d.cuMemFree(here))


def test_rules_of_peer_access(on, contexts):
    for one, other in ((0, 1), (1, 0)):
        assert ok(d.cuDeviceCanAccessPeer(one, other)) == 1
        assert ok(d.cuDeviceCanAccessPeer(one, one)) == 0
    ok(on(0, d.cuCtxEnablePeerAccess, contexts[1], 0))
    assert d.cuCtxEnablePeerAccess(contexts[1], 0)[0] == d.CUresult.CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
    assert d.cuCtxEnablePeerAccess(contexts[1], 1)[0] == INVALID_VALUE
    assert d.cuCtxEnablePeerAccess(contexts[0], 0)[0] == d.CUresult.CUDA_ERROR_PEER_ACCESS_UNSUPPORTED
    assert on(1, d.cuCtxDisablePeerAccess, contexts[0])[0] == d.CUresult.CUDA_ERROR_PEER_ACCESS_NOT_ENABLED
    ok(on(0, d.cuCtxDisablePeerAccess, contexts[1]))
    assert d.cuCtxDisablePeerAccess(contexts[1])[0] == d.CUresult.CUDA_ERROR_PEER_ACCESS_NOT_ENABLED


def test_an_event_is_recorded_in_its_own_context_and_waited_for_in_any(on):
    here, there = (ok(on(ordinal, d.cuStreamCreate, 0)) for ordinal in (0, 1))
    event = ok(on(0, d.cuEventCreate, 0))
    assert d.cuEventRecord(event, there)[0] == INVALID_HANDLE
    ok(d.cuEventRecord(event, here))
    ok(d.cuStreamWaitEvent(there, event, 0))
    other = ok(on(1, d.cuEventCreate, 0))
    ok(d.cuEventRecord(other, there))
    ok(d.cuEventSynchronize(other))
    assert d.cuEventElapsedTime(event, other)[0] == INVALID_HANDLE
    for stream in (here, there):
        ok(d.cuStreamDestroy(stream))
    for recorded in (event, other):
        ok(d.cuEventDestroy(recorded))


def test_functions_of_a_module_are_its_contexts_and_kernels_of_a_library_everybodys(on):
    streams = [ok(on(ordinal, d.cuStreamCreate, 0)) for ordinal in (0, 1)]
    module = ok(on(0, d.cuModuleLoadData, PTX))
    function = ok(d.cuModuleGetFunction(module, b"nothing"))
    shape = (1, 1, 1, 1, 1, 1, 0)
    ok(d.cuLaunchKernel(function, *shape, streams[0], 0, 0))
    assert on(1, d.cuLaunchKernel, function, *shape, streams[1], 0, 0)[0] == INVALID_HANDLE
    library = ok(d.cuLibraryLoadData(PTX, None, None, 0, None, None, 0))
    kernel = ok(d.cuLibraryGetKernel(library, b"nothing"))
    for ordinal in (0, 1):
        function = d.CUfunction(int(kernel))
        ok(on(ordinal, d.cuLaunchKernel, function, *shape, streams[ordinal], 0, 0))
        ok(d.cuStreamSynchronize(streams[ordinal]))
    ok(d.cuLibraryUnload(library))
    ok(on(0, d.cuModuleUnload, module))
    for stream in streams:
        ok(d.cuStreamDestroy(stream))


def test_a_context_waits_for_its_own_work_alone(on, contexts):
    trap = PTX.replace(b"{ ret; }", b"{ trap; }")
    library = ok(on(1, d.cuLibraryLoadData, trap, None, None, 0, None, None, 0))
    kernel = d.CUfunction(int(ok(d.cuLibraryGetKernel(library, b"nothing"))))
    stream = ok(on(1, d.cuStreamCreate, 0))
    gate = threading.Event()
    waiting = HOST_FUNCTION(lambda _: gate.wait(60) and None)
    ok(on(1, d.cuLaunchHostFunc, stream, ctypes.cast(waiting, ctypes.c_void_p).value, 0))
    ok(on(0, d.cuCtxSynchronize))
    assert d.cuStreamQuery(stream)[0] == d.CUresult.CUDA_ERROR_NOT_READY
    gate.set()
    ok(on(1, d.cuStreamSynchronize, stream))
    ok(on(1, d.cuLaunchKernel, kernel, 1, 1, 1, 1, 1, 1, 0, stream, 0, 0))
    assert d.cuStreamSynchronize(stream)[0] == d.CUresult.CUDA_ERROR_LAUNCH_FAILED
    assert d.cuCtxSynchronize()[0] == d.CUresult.CUDA_ERROR_LAUNCH_FAILED


@pytest.mark.parametrize("ordinal", [-1, 2, 99])
def test_a_device_that_is_not_there(ordinal):
    assert d.cuDeviceGet(ordinal)[0] == INVALID_DEVICE
    assert d.cuDevicePrimaryCtxRetain(ordinal)[0] == INVALID_DEVICE
    assert d.cuDeviceGetDefaultMemPool(ordinal)[0] == INVALID_DEVICE
