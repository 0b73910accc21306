# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: functions of the driver that cuda_graphs itself never calls answer programs of cuda.bindings as cuda.h says."""

import ctypes
import os
import threading

import numpy as np
import pytest

from tests.standin.bindings.answers import INVALID_CONTEXT, INVALID_DEVICE, INVALID_VALUE, OK, d, ok

PTX = b"""
.version 8.0
.target sm_50
.address_size 64
.visible .entry first(.param .u64 at) {
    .reg .b64 %rd<2>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [at];
    mov.u32 %r1, 42;
    st.global.u32 [%rd1], %r1;
    ret;
}
.visible .entry second() { ret; }
\0"""
# CU_DEVICE_ATTRIBUTE_ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED, the last of CUDA 13.0. The bindings may know later
# ones.
LAST_ATTRIBUTE = 147


@pytest.fixture
def stream(primary):
    stream = ok(d.cuStreamCreate(0))
    yield stream
    ok(d.cuStreamDestroy(stream))


@pytest.fixture
def managed(primary):
    address = ok(d.cuMemAllocManaged(1 << 16, 1))
    yield address
    ok(d.cuMemFree(address))


class TestContexts:
    def test_created_context_is_current_until_it_is_destroyed(self, primary, device):
        made = ok(d.cuCtxCreate(None, 0, device))
        assert int(ok(d.cuCtxGetCurrent())) == int(made) != int(primary)
        assert int(ok(d.cuCtxGetDevice())) == int(device)
        memory = ok(d.cuMemAlloc(64))
        ok(d.cuMemsetD8(memory, 1, 64))
        attribute = d.CUpointer_attribute.CU_POINTER_ATTRIBUTE_CONTEXT
        assert int(ok(d.cuPointerGetAttribute(attribute, memory))) == int(made)
        ok(d.cuCtxDestroy(made))
        assert int(ok(d.cuCtxGetCurrent())) == int(primary)
        assert d.cuPointerGetAttribute(attribute, memory)[0] == INVALID_VALUE

    def test_work_runs_in_it(self, primary, device):
        made = ok(d.cuCtxCreate(None, 0, device))
        library = ok(d.cuLibraryLoadData(PTX, None, None, 0, None, None, 0))
        function = ok(d.cuKernelGetFunction(ok(d.cuLibraryGetKernel(library, b"first"))))
        memory = ok(d.cuMemAllocManaged(4, 1))
        ok(d.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, ((int(memory),), (ctypes.c_void_p,)), 0))
        ok(d.cuCtxSynchronize())
        assert ctypes.c_int.from_address(int(memory)).value == 42
        ok(d.cuLibraryUnload(library))
        ok(d.cuCtxDestroy(made))

    def test_a_primary_context_is_not_destroyed(self, primary):
        assert d.cuCtxDestroy(primary)[0] == INVALID_CONTEXT

    def test_flags_and_limits(self, primary, device):
        flags = d.CUctx_flags.CU_CTX_SCHED_BLOCKING_SYNC
        made = ok(d.cuCtxCreate(None, flags, device))
        assert ok(d.cuCtxGetFlags()) & int(flags)
        assert d.cuCtxCreate(None, 3, device)[0] == INVALID_VALUE
        stack = d.CUlimit.CU_LIMIT_STACK_SIZE
        assert ok(d.cuCtxGetLimit(stack)) == 1024
        ok(d.cuCtxSetLimit(stack, 2048))
        assert ok(d.cuCtxGetLimit(stack)) == 2048
        ok(d.cuCtxDestroy(made))
        assert ok(d.cuCtxGetLimit(stack)) == 1024

    def test_preferences_of_a_context_can_be_set(self, primary):
        assert ok(d.cuCtxGetCacheConfig()) == d.CUfunc_cache.CU_FUNC_CACHE_PREFER_NONE
        ok(d.cuCtxSetCacheConfig(d.CUfunc_cache.CU_FUNC_CACHE_PREFER_L1))
        ok(d.cuCtxResetPersistingL2Cache())


class TestDevices:
    def test_device_is_found_by_its_bus_address(self, device):
        name = ok(d.cuDeviceGetPCIBusId(64, device)).split(b"\0")[0]
        assert int(ok(d.cuDeviceGetByPCIBusId(name))) == int(device)
        assert d.cuDeviceGetByPCIBusId(b"no address")[0] == INVALID_VALUE
        assert d.cuDeviceGetByPCIBusId(b"0000:fe:1f.0")[0] == INVALID_DEVICE

    def test_a_device_is_no_peer_of_itself(self, device):
        which = d.CUdevice_P2PAttribute.CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED
        assert d.cuDeviceGetP2PAttribute(which, device, device)[0] == INVALID_DEVICE

    def test_every_attribute_has_a_value(self, device):
        known = [which for which in d.CUdevice_attribute if which.value <= LAST_ATTRIBUTE]
        assert len(known) > 120
        assert [which for which in known if d.cuDeviceGetAttribute(which, device)[0] != OK] == []

    def test_profiler_starts_and_stops(self, primary):
        ok(d.cuProfilerStart())
        ok(d.cuProfilerStop())


class TestManagedMemory:
    PAGE = 4096

    def attribute(self, name, start, size):
        which = getattr(d.CUmem_range_attribute, f"CU_MEM_RANGE_ATTRIBUTE_{name}")
        return ok(d.cuMemRangeGetAttribute(4, which, start, size))

    def location(self, kind, number=0):
        place = d.CUmemLocation()
        place.type = getattr(d.CUmemLocationType, f"CU_MEM_LOCATION_TYPE_{kind}")
        place.id = number
        return place

    def test_advice_is_of_pages(self, managed):
        advise = d.CUmem_advise
        ok(d.cuMemAdvise(managed, 10, advise.CU_MEM_ADVISE_SET_READ_MOSTLY, self.location("DEVICE")))
        assert self.attribute("READ_MOSTLY", managed, self.PAGE) == 1
        assert self.attribute("READ_MOSTLY", managed, self.PAGE + 1) == 0
        ok(d.cuMemAdvise(managed, 1 << 16, advise.CU_MEM_ADVISE_SET_READ_MOSTLY, self.location("DEVICE")))
        assert self.attribute("READ_MOSTLY", managed, 1 << 16) == 1
        middle = int(managed) + 4 * self.PAGE
        ok(d.cuMemAdvise(middle, self.PAGE, advise.CU_MEM_ADVISE_UNSET_READ_MOSTLY, self.location("DEVICE")))
        assert self.attribute("READ_MOSTLY", managed, 1 << 16) == 0
        assert self.attribute("READ_MOSTLY", managed, 4 * self.PAGE) == 1

    def test_places(self, managed):
        advise = d.CUmem_advise
        preferred = lambda: self.attribute("PREFERRED_LOCATION", managed, 1 << 16)  # noqa: E731
        assert preferred() == -2
        ok(
            d.cuMemAdvise(
                managed, 1 << 16, advise.CU_MEM_ADVISE_SET_PREFERRED_LOCATION, self.location("DEVICE")
            )
        )
        assert preferred() == 0
        ok(
            d.cuMemAdvise(
                managed, 1 << 16, advise.CU_MEM_ADVISE_SET_PREFERRED_LOCATION, self.location("HOST")
            )
        )
        assert preferred() == -1
        ok(
            d.cuMemAdvise(
                managed, 1 << 16, advise.CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, self.location("HOST")
            )
        )
        assert preferred() == -2

    def test_prefetches(self, managed, stream):
        ok(d.cuMemPrefetchAsync(managed, 1 << 16, self.location("DEVICE"), 0, stream))
        ok(d.cuStreamSynchronize(stream))
        assert self.attribute("LAST_PREFETCH_LOCATION", managed, 1 << 16) == 0
        ok(d.cuMemPrefetchAsync(managed, self.PAGE, self.location("HOST"), 0, stream))
        assert self.attribute("LAST_PREFETCH_LOCATION", managed, self.PAGE) == -1
        assert self.attribute("LAST_PREFETCH_LOCATION", managed, 1 << 16) == -2

    def test_other_memory_takes_no_advice(self, primary, stream):
        memory = ok(d.cuMemAlloc(64))
        which = d.CUmem_advise.CU_MEM_ADVISE_SET_READ_MOSTLY
        assert d.cuMemAdvise(memory, 64, which, self.location("DEVICE"))[0] == INVALID_VALUE
        assert d.cuMemPrefetchAsync(memory, 64, self.location("DEVICE"), 0, stream)[0] == INVALID_VALUE
        ok(d.cuMemFree(memory))

    def test_places_that_are_not_there(self, managed, stream):
        assert d.cuMemPrefetchAsync(managed, 64, self.location("DEVICE", 99), 0, stream)[0] == INVALID_DEVICE
        assert d.cuMemPrefetchAsync(managed, 64, self.location("INVALID"), 0, stream)[0] == INVALID_VALUE


class TestStreams:
    def test_attributes_are_kept_and_copied(self, stream):
        which = d.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY
        value = d.CUstreamAttrValue()
        value.syncPolicy = d.CUsynchronizationPolicy.CU_SYNC_POLICY_BLOCKING_SYNC
        ok(d.cuStreamSetAttribute(stream, which, value))
        other = ok(d.cuStreamCreate(0))
        ok(d.cuStreamCopyAttributes(other, stream))
        read = ok(d.cuStreamGetAttribute(other, which))
        assert read.syncPolicy == d.CUsynchronizationPolicy.CU_SYNC_POLICY_BLOCKING_SYNC
        ok(d.cuStreamDestroy(other))

    def test_the_device_of_one(self, stream, device):
        assert int(ok(d.cuStreamGetDevice(stream))) == int(device)

    def test_callbacks_run_in_order(self, stream):
        seen = []
        CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
        callback = CALLBACK(lambda stream, status, data: seen.append((status, data)))
        for number in (1, 2, 3):
            ok(d.cuStreamAddCallback(stream, ctypes.cast(callback, ctypes.c_void_p).value, number, 0))
        ok(d.cuStreamSynchronize(stream))
        assert seen == [(0, 1), (0, 2), (0, 3)]
        assert (
            d.cuStreamAddCallback(stream, ctypes.cast(callback, ctypes.c_void_p).value, 0, 1)[0]
            == INVALID_VALUE
        )


class TestFirstVersions:
    """The functions that dlsym finds for names without a version."""

    def test_events(self, primary, stream):
        library, time = ctypes.CDLL("libcuda.so.1"), ctypes.c_float(-1)
        start, end = (ok(d.cuEventCreate(0)) for _ in range(2))
        for event in (start, end):
            ok(d.cuEventRecord(event, stream))
        ok(d.cuStreamSynchronize(stream))
        handles = [ctypes.c_void_p(int(event)) for event in (start, end)]
        assert library.cuEventElapsedTime(ctypes.byref(time), *handles) == 0
        assert time.value >= 0
        for handle in handles:
            assert library.cuEventDestroy(handle) == 0

    def test_a_function_is_found(self, primary):
        library, found = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
        asked = b"cuCtxGetFlags", ctypes.byref(found), 12000, ctypes.c_uint64(0)
        assert library.cuGetProcAddress(*asked) == 0
        flags = ctypes.c_uint(99)
        assert ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(found.value)(ctypes.addressof(flags)) == 0
        assert flags.value == ok(d.cuCtxGetFlags())

    def test_managed_memory(self, managed, stream):
        library, size = ctypes.CDLL("libcuda.so.1"), ctypes.c_size_t(1 << 16)
        which = d.CUmem_advise.CU_MEM_ADVISE_SET_PREFERRED_LOCATION.value
        cpu, at = -1, ctypes.c_uint64(int(managed))
        assert library.cuMemAdvise(at, size, which, cpu) == 0
        assert library.cuMemPrefetchAsync(at, size, 0, ctypes.c_void_p(int(stream))) == 0
        ok(d.cuStreamSynchronize(stream))
        place = d.CUmem_range_attribute.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION
        assert ok(d.cuMemRangeGetAttribute(4, place, managed, 1 << 16)) == -1

    def test_graphs(self, stream):
        library, graph = ctypes.CDLL("libcuda.so.1"), ok(d.cuGraphCreate(0))
        ok(d.cuGraphAddEmptyNode(graph, None, 0))
        handle, log = ctypes.c_void_p(), ctypes.create_string_buffer(b"as before", 16)
        asked = ctypes.c_void_p(int(graph)), None, log, ctypes.c_size_t(16)
        assert library.cuGraphInstantiate(ctypes.byref(handle), *asked) == 0
        ok(d.cuGraphLaunch(d.CUgraphExec(handle.value), stream))
        ok(d.cuStreamSynchronize(stream))
        ok(d.cuGraphExecDestroy(d.CUgraphExec(handle.value)))
        ok(d.cuGraphDestroy(graph))


class TestOldVersions:
    """Old versions of functions, as cuGetProcAddress hands them out, have the meaning of their time."""

    @staticmethod
    def old(name, version, *types, flags=0):
        library, found, status = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_int()
        asked = name, ctypes.byref(found), version, ctypes.c_uint64(flags), ctypes.byref(status)
        assert library.cuGetProcAddress_v2(*asked) == 0
        return ctypes.CFUNCTYPE(ctypes.c_int, *types)(found.value)

    def test_edges_without_data(self, primary):
        graph = ok(d.cuGraphCreate(0))
        one, two = (ok(d.cuGraphAddEmptyNode(graph, None, 0)) for _ in range(2))
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        ends = [(pointer * 1)(int(node)) for node in (one, two)]
        add, remove = (
            self.old(name, 10000, pointer, pointer, pointer, size)
            for name in (b"cuGraphAddDependencies", b"cuGraphRemoveDependencies")
        )
        assert add(int(graph), *map(ctypes.addressof, ends), 1) == 0
        start, end, count = (pointer * 4)(), (pointer * 4)(), size(4)
        edges = self.old(b"cuGraphGetEdges", 10000, pointer, pointer, pointer, pointer)
        assert edges(int(graph), *map(ctypes.addressof, (start, end, count))) == 0
        assert (count.value, start[0], end[0]) == (1, int(one), int(two))
        for name, node, other in (
            (b"cuGraphNodeGetDependencies", two, one),
            (b"cuGraphNodeGetDependentNodes", one, two),
        ):
            count = size(4)
            nodes = self.old(name, 10000, pointer, pointer, pointer)
            assert nodes(int(node), ctypes.addressof(start), ctypes.addressof(count)) == 0
            assert (count.value, start[0]) == (1, int(other))
        assert remove(int(graph), *map(ctypes.addressof, ends), 1) == 0
        assert int(ok(d.cuGraphGetEdges(graph, 0))[-1]) == 0
        ok(d.cuGraphDestroy(graph))

    def test_updates_of_executables_name_node_and_result(self, primary):
        pointer = ctypes.c_void_p
        update = self.old(b"cuGraphExecUpdate", 10020, pointer, pointer, pointer, pointer)
        graph, other = ok(d.cuGraphCreate(0)), ok(d.cuGraphCreate(0))
        ok(d.cuGraphAddEmptyNode(graph, None, 0))
        executable = ok(d.cuGraphInstantiate(graph, 0))
        node, result = pointer(99), ctypes.c_int(99)
        places = ctypes.addressof(node), ctypes.addressof(result)
        assert update(int(executable), int(graph), *places) == 0
        assert (node.value, result.value) == (None, 0)
        assert update(int(executable), int(other), *places) == 910  # CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
        refused = d.CUgraphExecUpdateResult.CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED
        assert result.value == refused.value
        ok(d.cuGraphExecDestroy(executable))
        for each in (graph, other):
            ok(d.cuGraphDestroy(each))

    def test_batches_of_copies_say_which_copy_failed(self, primary, stream):
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        types = [pointer, pointer, pointer, size, pointer, pointer, size, pointer, pointer]
        batch = self.old(b"cuMemcpyBatchAsync", 12080, *types)
        memory = ok(d.cuMemAlloc(16))
        ok(d.cuMemsetD8(memory, 5, 16))
        ok(d.cuStreamSynchronize(d.CUstream(d.CU_STREAM_LEGACY)))
        attributes, first = (ctypes.c_byte * 64)(1), size(0)  # CU_MEMCPY_SRC_ACCESS_ORDER_STREAM
        base = int(memory)
        for sizes, answer, failed in (
            ((4, 4), 0, 2**64 - 1),
            ((4, 0), 1, 1),
            ((0, 4), 1, 0),
            ((4, 99), 1, 1),
        ):
            to, source = (pointer * 2)(base, base + 4), (pointer * 2)(base + 8, base + 12)
            index = size(77)
            asked = [ctypes.addressof(x) for x in (to, source, (size * 2)(*sizes))]
            more = ctypes.addressof(attributes), ctypes.addressof(first), 1, ctypes.addressof(index)
            assert batch(*asked, 2, *more, int(stream)) == answer
            assert index.value == failed
        index = size(77)
        assert batch(*asked, 0, *more[:3], ctypes.addressof(index), int(stream)) == 1
        assert index.value == 2**64 - 1  # the error belongs to no copy
        ok(d.cuStreamSynchronize(stream))
        ok(d.cuMemFree(memory))

    def test_captures_begin_in_the_relaxed_mode(self, primary, stream):
        pointer = ctypes.c_void_p
        assert self.old(b"cuStreamBeginCapture", 10000, pointer)(int(stream)) == 0
        status, number = ctypes.c_int(), ctypes.c_uint64()
        asked = self.old(b"cuStreamGetCaptureInfo", 10010, pointer, pointer, pointer)
        assert asked(int(stream), ctypes.addressof(status), ctypes.addressof(number)) == 0
        assert (status.value, number.value != 0) == (1, True)
        ok(d.cuMemFree(ok(d.cuMemAlloc(4))))  # the global and the thread-local mode forbid this
        ok(d.cuGraphDestroy(ok(d.cuStreamEndCapture(stream))))

    def test_stream_zero_of_a_per_thread_form_is_the_threads_own(self, primary):
        pointer = ctypes.c_void_p
        begin = self.old(b"cuStreamBeginCapture", 10000, pointer, flags=2)
        assert begin(None) == 0  # the legacy stream cannot be captured
        own = d.CUstream(d.CU_STREAM_PER_THREAD)
        assert ok(d.cuStreamIsCapturing(own)) == d.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE
        ok(d.cuGraphDestroy(ok(d.cuStreamEndCapture(own))))
        library = ctypes.CDLL("libcuda.so.1")
        assert library.cuStreamBeginCapture_ptsz(None) == 0
        ok(d.cuGraphDestroy(ok(d.cuStreamEndCapture(own))))

    def test_pinned_memory_asks_for_a_context_of_that_time(self, primary):
        memory = ctypes.c_void_p()
        allocate = self.old(b"cuMemAllocHost", 2000, ctypes.c_void_p, ctypes.c_uint32)
        assert allocate(ctypes.addressof(memory), 64) == d.CUresult.CUDA_ERROR_INVALID_CONTEXT
        assert memory.value is None


class TestPerThreadForms:
    """The functions that cuGetProcAddress returns to programs that were built with per-thread default streams."""

    PER_THREAD = 2  # CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM

    def form(self, name, *types):
        library, found, status = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_int()
        asked = name, ctypes.byref(found), 13000, ctypes.c_uint64(self.PER_THREAD), ctypes.byref(status)
        assert library.cuGetProcAddress_v2(*asked) == 0
        assert status.value == 0
        return ctypes.CFUNCTYPE(ctypes.c_int, *types)(found.value)

    def test_stream_zero_is_the_threads_own(self, primary):
        number = ctypes.c_uint64()
        assert self.form(b"cuStreamGetId", ctypes.c_void_p, ctypes.c_void_p)(0, ctypes.addressof(number)) == 0
        own = ok(d.cuStreamGetId(d.CUstream(d.CU_STREAM_PER_THREAD)))
        legacy = ok(d.cuStreamGetId(d.CUstream(d.CU_STREAM_LEGACY)))
        assert int(own) == number.value != int(legacy)

    def test_the_other_names_of_streams_mean_what_they_say(self, primary, stream):
        get_id, number = self.form(b"cuStreamGetId", ctypes.c_void_p, ctypes.c_void_p), ctypes.c_uint64()
        for handle in (stream, d.CUstream(d.CU_STREAM_LEGACY)):
            assert get_id(int(handle), ctypes.addressof(number)) == 0
            assert number.value == int(ok(d.cuStreamGetId(handle)))

    def test_synchronous_calls_wait_for_no_other_stream(self, primary):
        memory, other = ok(d.cuMemAlloc(4)), ok(d.cuStreamCreate(0))
        gate = threading.Event()
        waiting = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: gate.wait(60) and None)
        ok(d.cuLaunchHostFunc(other, ctypes.cast(waiting, ctypes.c_void_p).value, 0))
        word = ctypes.c_uint32(77)
        to_device = self.form(b"cuMemcpyHtoD", ctypes.c_uint64, ctypes.c_void_p, ctypes.c_size_t)
        to_host = self.form(b"cuMemcpyDtoH", ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t)
        assert to_device(int(memory), ctypes.addressof(word), 4) == 0
        word.value = 0
        assert to_host(ctypes.addressof(word), int(memory), 4) == 0
        assert word.value == 77
        assert d.cuStreamQuery(other)[0] == d.CUresult.CUDA_ERROR_NOT_READY
        gate.set()
        ok(d.cuStreamSynchronize(other))
        ok(d.cuStreamDestroy(other))
        ok(d.cuMemFree(memory))

    def test_a_function_without_streams_has_one_form(self, primary):
        flags = ctypes.c_uint(99)
        assert self.form(b"cuCtxGetFlags", ctypes.c_void_p)(ctypes.addressof(flags)) == 0
        assert flags.value == ok(d.cuCtxGetFlags())


class TestCode:
    @pytest.fixture
    def module(self, primary):
        module = ok(d.cuModuleLoadData(PTX))
        yield module
        ok(d.cuModuleUnload(module))

    def test_functions_are_listed(self, module):
        assert ok(d.cuModuleGetFunctionCount(module)) == 2
        functions = ok(d.cuModuleEnumerateFunctions(2, module))
        assert {ok(d.cuFuncGetName(function)) for function in functions} == {b"first", b"second"}
        for function in functions:
            ok(d.cuFuncLoad(function))
            ok(d.cuFuncSetCacheConfig(function, d.CUfunc_cache.CU_FUNC_CACHE_PREFER_SHARED))
            assert ok(d.cuFuncIsLoaded(function)) == d.CUfunctionLoadingState.CU_FUNCTION_LOADING_STATE_LOADED

    def test_a_module_from_a_file(self, primary, tmp_path):
        path = tmp_path / "code.ptx"
        path.write_bytes(PTX.rstrip(b"\0"))
        module = ok(d.cuModuleLoad(str(path).encode()))
        ok(d.cuModuleGetFunction(module, b"second"))
        ok(d.cuModuleUnload(module))
        assert d.cuModuleLoad(b"/no/file")[0] == d.CUresult.CUDA_ERROR_FILE_NOT_FOUND

    def test_ptx_goes_through_the_linker(self, primary):
        state = ok(d.cuLinkCreate(0, [], []))
        kind = d.CUjitInputType.CU_JIT_INPUT_PTX
        ok(d.cuLinkAddData(state, kind, PTX, len(PTX), b"code", 0, [], []))
        image, size = ok(d.cuLinkComplete(state))
        assert size > 0
        module = ok(d.cuModuleLoadData(image))
        ok(d.cuLinkDestroy(state))
        ok(d.cuModuleGetFunction(module, b"first"))
        ok(d.cuModuleUnload(module))


class TestRegisters:
    """CU_JIT_MAX_REGISTERS bounds CU_FUNC_ATTRIBUTE_NUM_REGS, and with it occupancy."""

    # `wide` needs more than 64 registers: 240 numbers that are alive at once.
    WIDE = (
        b".version 8.0\n.target sm_70\n.address_size 64\n"
        b".visible .entry wide(.param .u64 at) {\n.reg .b64 %p; .reg .b32 %r<240>;\nld.param.u64 %p, [at];\n"
        + b"".join(b"ld.volatile.global.u32 %%r%d, [%%p+%d];\n" % (i, 4 * i) for i in range(240))
        + b"".join(b"st.volatile.global.u32 [%%p+%d], %%r%d;\n" % (4 * i, 239 - i) for i in range(240))
        + b"ret;\n}\n\0"
    )
    OPTION = d.CUjit_option.CU_JIT_MAX_REGISTERS
    NUM_REGS = d.CUfunction_attribute.CU_FUNC_ATTRIBUTE_NUM_REGS

    def registers_of_module(self, text, *limit):
        module = ok(d.cuModuleLoadDataEx(text, len(limit), [self.OPTION] * len(limit), list(limit)))
        function = ok(d.cuModuleGetFunction(module, b"wide"))
        found = ok(d.cuFuncGetAttribute(self.NUM_REGS, function))
        blocks = ok(d.cuOccupancyMaxActiveBlocksPerMultiprocessor(function, 256, 0))
        ok(d.cuModuleUnload(module))
        return found, blocks

    def registers_of_library(self, text, device, *limit):
        library = ok(
            d.cuLibraryLoadData(text, [self.OPTION] * len(limit), list(limit), len(limit), [], [], 0)
        )
        kernel = ok(d.cuLibraryGetKernel(library, b"wide"))
        found = ok(d.cuKernelGetAttribute(self.NUM_REGS, kernel, device))
        ok(d.cuLibraryUnload(library))
        return found

    def test_a_limit_bounds_the_registers_of_a_kernel(self, primary, device):
        free, few_blocks = self.registers_of_module(self.WIDE)
        assert free > 64
        refused = d.cuModuleLoadDataEx(self.WIDE, 1, [self.OPTION], [0])[0]
        assert refused == d.CUresult.CUDA_ERROR_INVALID_VALUE
        for limit in (24, 32, 64):
            found, blocks = self.registers_of_module(self.WIDE, limit)
            assert found == limit
            assert blocks > few_blocks
            assert self.registers_of_library(self.WIDE, device, limit) == limit

    def test_a_limit_in_the_ptx_bounds_them_too(self, primary):
        text = self.WIDE.replace(b"(.param .u64 at) {", b"(.param .u64 at) .maxnreg 40 {")
        assert self.registers_of_module(text)[0] == 40

    def test_a_kernel_that_needs_few_stays_below_the_limit(self, primary):
        narrow = PTX.replace(b"second", b"wide")
        assert self.registers_of_module(narrow, 255)[0] <= 255
        assert self.registers_of_module(narrow)[0] < 64


class TestCopies:
    def test_a_batch(self, stream):
        source, target = (ok(d.cuMemHostAlloc(64, 0)) for _ in range(2))
        a, b = (np.ctypeslib.as_array((ctypes.c_int * 16).from_address(int(p))) for p in (source, target))
        a[:], b[:] = np.arange(16), 0
        attributes = d.CUmemcpyAttributes()
        attributes.srcAccessOrder = d.CUmemcpySrcAccessOrder.CU_MEMCPY_SRC_ACCESS_ORDER_STREAM
        ok(
            d.cuMemcpyBatchAsync(
                [d.CUdeviceptr(int(target)), d.CUdeviceptr(int(target) + 32)],
                [d.CUdeviceptr(int(source) + 16), d.CUdeviceptr(int(source))],
                [16, 8],
                2,
                [attributes],
                [0],
                1,
                stream,
            )
        )
        ok(d.cuStreamSynchronize(stream))
        assert b.tolist() == [4, 5, 6, 7, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
        for pointer in (source, target):
            ok(d.cuMemFreeHost(pointer))

    def test_memory_with_a_pitch(self, primary):
        memory, pitch = ok(d.cuMemAllocPitch(100, 7, 4))
        assert pitch >= 100
        assert pitch % 256 == 0
        ok(d.cuMemsetD2D8(memory, pitch, 3, 100, 7))
        ok(d.cuMemFree(memory))
        assert d.cuMemAllocPitch(100, 7, 5)[0] == INVALID_VALUE


class TestVirtualMemory:
    SIZE = 2 << 20

    @pytest.fixture
    def properties(self, primary):
        properties = d.CUmemAllocationProp()
        properties.type = d.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        properties.location.type = d.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        properties.location.id = 0
        return properties

    @pytest.fixture
    def everything(self):
        access = d.CUmemAccessDesc()
        access.location.type = d.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        access.location.id = 0
        access.flags = d.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
        return access

    def test_memory_is_behind_addresses(self, properties, everything):
        fine = d.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM
        assert self.SIZE % ok(d.cuMemGetAllocationGranularity(properties, fine)) == 0
        one, other = (ok(d.cuMemCreate(self.SIZE, properties, 0)) for _ in range(2))
        start = int(ok(d.cuMemAddressReserve(3 * self.SIZE, 0, 0, 0)))
        ok(d.cuMemMap(start, self.SIZE, 0, one, 0))
        ok(d.cuMemMap(start + self.SIZE, self.SIZE, 0, other, 0))
        assert d.cuMemsetD8(start, 1, 16)[0] == INVALID_VALUE  # nobody has access
        ok(d.cuMemSetAccess(start, 2 * self.SIZE, [everything], 1))
        ok(d.cuMemsetD8(start, 1, 2 * self.SIZE))  # over the seam
        # The same memory behind another address.
        again = int(ok(d.cuMemAddressReserve(self.SIZE, 0, 0, 0)))
        ok(d.cuMemMap(again, self.SIZE, 0, one, 0))
        ok(d.cuMemSetAccess(again, self.SIZE, [everything], 1))
        ok(d.cuMemsetD32(again, 77, 1))
        word = np.zeros(1, "u4")
        ok(d.cuMemcpyDtoH(word.ctypes.data, start, 4))
        assert word[0] == 77
        kept = ok(d.cuMemRetainAllocationHandle(start))
        assert int(kept) == int(one)
        for handle in (one, other, kept):
            ok(d.cuMemRelease(handle))
        assert d.cuMemRelease(one)[0] == INVALID_VALUE
        ok(d.cuMemcpyDtoH(word.ctypes.data, again, 4))  # mappings keep it
        assert d.cuMemAddressFree(start, 3 * self.SIZE)[0] == INVALID_VALUE  # still mapped
        ok(d.cuMemUnmap(start, 2 * self.SIZE))
        ok(d.cuMemUnmap(again, self.SIZE))
        assert d.cuMemcpyDtoH(word.ctypes.data, again, 4)[0] == INVALID_VALUE
        ok(d.cuMemAddressFree(start, 3 * self.SIZE))
        ok(d.cuMemAddressFree(again, self.SIZE))

    def test_misuse(self, properties, everything):
        assert d.cuMemCreate(self.SIZE + 1, properties, 0)[0] == INVALID_VALUE
        assert d.cuMemAddressReserve(1000, 0, 0, 0)[0] == INVALID_VALUE
        start = int(ok(d.cuMemAddressReserve(self.SIZE, 0, 0, 0)))
        memory = ok(d.cuMemCreate(self.SIZE, properties, 0))
        assert d.cuMemMap(start + self.SIZE, self.SIZE, 0, memory, 0)[0] == INVALID_VALUE
        assert d.cuMemSetAccess(start, self.SIZE, [everything], 1)[0] == INVALID_VALUE
        ok(d.cuMemMap(start, self.SIZE, 0, memory, 0))
        assert d.cuMemMap(start, self.SIZE, 0, memory, 0)[0] == INVALID_VALUE
        ok(d.cuMemSetAccess(start, self.SIZE, [everything], 1))
        assert d.cuMemFree(start)[0] == INVALID_VALUE
        ok(d.cuMemUnmap(start, self.SIZE))
        ok(d.cuMemRelease(memory))
        ok(d.cuMemAddressFree(start, self.SIZE))

    def test_unmapping_waits_for_work_that_needs_another_thread(self, properties, everything, stream):
        """Nothing is locked meanwhile: that thread reserves addresses."""
        start = int(ok(d.cuMemAddressReserve(self.SIZE, 0, 0, 0)))
        memory = ok(d.cuMemCreate(self.SIZE, properties, 0))
        ok(d.cuMemMap(start, self.SIZE, 0, memory, 0))
        ok(d.cuMemSetAccess(start, self.SIZE, [everything], 1))
        entered, reserved, seen = threading.Event(), threading.Event(), []

        def reserve():
            entered.wait(60)
            ok(d.cuMemAddressFree(ok(d.cuMemAddressReserve(self.SIZE, 0, 0, 0)), self.SIZE))
            reserved.set()

        def in_the_stream(_):
            entered.set()
            seen.append(reserved.wait(60))

        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(in_the_stream)
        thread = threading.Thread(target=reserve)
        thread.start()
        ok(d.cuLaunchHostFunc(stream, ctypes.cast(function, ctypes.c_void_p).value, 0))
        ok(d.cuMemUnmap(start, self.SIZE))
        thread.join()
        ok(d.cuStreamSynchronize(stream))
        assert seen == [True]
        ok(d.cuMemRelease(memory))
        ok(d.cuMemAddressFree(start, self.SIZE))

    def test_memory_goes_through_a_file_descriptor(self, properties, everything):
        fd = d.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
        properties.requestedHandleTypes = fd
        made = ok(d.cuMemCreate(self.SIZE, properties, 0))
        file = int(ok(d.cuMemExportToShareableHandle(made, fd, 0)))
        again = ok(d.cuMemImportFromShareableHandle(file, fd))
        os.close(file)
        starts = []
        for handle in (made, again):
            starts.append(int(ok(d.cuMemAddressReserve(self.SIZE, 0, 0, 0))))
            ok(d.cuMemMap(starts[-1], self.SIZE, 0, handle, 0))
            ok(d.cuMemSetAccess(starts[-1], self.SIZE, [everything], 1))
            ok(d.cuMemRelease(handle))
        ok(d.cuMemsetD32(starts[0], 5, 1))
        word = np.zeros(1, "u4")
        ok(d.cuMemcpyDtoH(word.ctypes.data, starts[1], 4))
        assert word[0] == 5
        for start in starts:
            ok(d.cuMemUnmap(start, self.SIZE))
            ok(d.cuMemAddressFree(start, self.SIZE))
