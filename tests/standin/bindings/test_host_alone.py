# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the host driver alone, with two devices: no wait lasts for an event of a process that has ended, and memory
is not taken away from work.

NVIDIA's driver never completes such an event, so a wait for it never ends (seen on an H200).
"""

import ctypes

import pytest

from tests.standin.bindings import processes
from tests.standin.bindings.answers import OK, d, ok
from tests.standin.bindings.processes import SHARED_EVENT, bytes_of

pytestmark = pytest.mark.usefixtures("context_of_processes")


def test_wait_for_an_event_of_an_ended_process_ends(other, stream):
    event = ok(d.cuEventCreate(SHARED_EVENT))
    line = other(processes.record_and_die)
    line.send(bytes_of(ok(d.cuIpcGetEventHandle(event))))
    assert line.recv() == "CUDA_ERROR_NOT_READY"
    ok(d.cuStreamWaitEvent(stream, event, 0))
    assert d.cuStreamQuery(stream)[0].name == "CUDA_ERROR_NOT_READY"
    line.send("go")
    ok(d.cuStreamSynchronize(stream))
    ok(d.cuEventSynchronize(event))
    ok(d.cuEventDestroy(event))


def test_a_wait_node_waits_for_another_process(other, stream):
    event = ok(d.cuEventCreate(SHARED_EVENT))
    graph = ok(d.cuGraphCreate(0))
    waits = ok(d.cuGraphAddEventWaitNode(graph, None, 0, event))
    ok(d.cuGraphAddEventRecordNode(graph, [waits], 1, event))
    executable = ok(d.cuGraphInstantiate(graph, 0))
    line = other(processes.record_and_die)
    line.send(bytes_of(ok(d.cuIpcGetEventHandle(event))))
    assert line.recv() == "CUDA_ERROR_NOT_READY"
    ok(d.cuGraphLaunch(executable, stream))
    assert d.cuStreamQuery(stream)[0].name == "CUDA_ERROR_NOT_READY"
    line.send("go")
    ok(d.cuStreamSynchronize(stream))
    assert d.cuEventQuery(event)[0] == OK  # the record node's
    ok(d.cuGraphExecDestroy(executable))
    ok(d.cuGraphDestroy(graph))
    ok(d.cuEventDestroy(event))


def test_unmapping_waits_for_the_work_of_every_device():
    """Memory of one device, which another one fills."""
    kind = d.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    properties, users = d.CUmemAllocationProp(), [d.CUmemAccessDesc() for _ in range(2)]
    properties.type = d.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location.type, properties.location.id = kind, 1
    for ordinal, user in enumerate(users):
        user.location.type, user.location.id = kind, ordinal
        user.flags = d.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    size = 32 << 20
    address, memory = ok(d.cuMemAddressReserve(size, 0, 0, 0)), ok(d.cuMemCreate(size, properties, 0))
    primary = ok(d.cuCtxGetCurrent())
    own = ok(d.cuCtxCreate(None, 0, ok(d.cuDeviceGet(0))))
    for context in (primary, own):
        ok(d.cuMemMap(address, size, 0, memory, 0))
        ok(d.cuMemSetAccess(address, size, users, 2))
        ok(d.cuCtxSetCurrent(context))
        stream = ok(d.cuStreamCreate(1))
        for value in range(8):
            ok(d.cuMemsetD8Async(address, value, size, stream))
        ok(d.cuMemUnmap(address, size))
        assert d.cuStreamQuery(stream)[0] == d.CUresult.CUDA_SUCCESS
        ok(d.cuStreamDestroy(stream))
    ok(d.cuCtxDestroy(own))
    ok(d.cuMemRelease(memory))
    ok(d.cuMemAddressFree(address, size))


def test_versions_with_addresses_of_32_bits_are_not_supported():
    library, address = ctypes.CDLL("libcuda.so.1"), ctypes.c_uint32(7)
    for name in (b"cuMemAlloc", b"cuMemGetInfo", b"cuMemcpyHtoD", b"cuMemsetD8"):
        found, status = ctypes.c_void_p(), ctypes.c_int()
        asked = ctypes.byref(found), 3000, ctypes.c_uint64(0), ctypes.byref(status)
        assert library.cuGetProcAddress_v2(name, *asked) == 0
        call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32)(found.value)
        assert call(ctypes.addressof(address), None, 4) == d.CUresult.CUDA_ERROR_NOT_SUPPORTED
    assert address.value == 7
