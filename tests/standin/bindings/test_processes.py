# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: handles of memory and events, which are bytes, name the same memory and the same event in every process."""

import ctypes
import faulthandler
import multiprocessing
import os
import signal
import sys
import threading

import pytest

from tests.standin.bindings import processes
from tests.standin.bindings.answers import INVALID_CONTEXT, INVALID_VALUE, d, ok
from tests.standin.bindings.processes import LAZY, SHARED_EVENT, bytes_of, read

pytestmark = pytest.mark.usefixtures("context_of_processes")

PTX = b"""
.version 8.0
.target sm_50
.address_size 64
.visible .entry add_one(.param .u64 at) {
    .reg .b64 %rd<4>;
    .reg .b32 %r<6>;
    ld.param.u64 %rd1, [at];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    mul.wide.u32 %rd2, %r4, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.u32 %r5, [%rd3];
    add.u32 %r5, %r5, 1;
    st.global.u32 [%rd3], %r5;
    ret;
}
\0"""


@pytest.fixture
def flag():
    """Host functions that wait until flag.set()."""
    return threading.Event()


def hold(stream, flag):
    """Makes later work of the stream wait for the flag. Returns the callback, which must live until then."""
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: flag.wait(60))
    ok(d.cuLaunchHostFunc(stream, ctypes.cast(function, ctypes.c_void_p).value, 0))
    return function


@pytest.mark.parametrize("count", [7, 1 << 18], ids=["28 bytes", "1 MiB"])
def test_memory_that_is_opened_is_the_same_memory(other, count):
    address, neighbour = ok(d.cuMemAlloc(4 * count)), ok(d.cuMemAlloc(28))
    ok(d.cuMemsetD32(address, 5, count))
    ok(d.cuMemsetD32(neighbour, 1, 7))
    line = other(processes.read_and_fill)
    line.send((bytes_of(ok(d.cuIpcGetMemHandle(address))), count, 9))
    assert line.recv() == (True, [5])
    assert line.recv() == "filled"
    assert set(read(address, count)) == {9}
    ok(d.cuMemsetD32(address, 11, count))
    ok(d.cuCtxSynchronize())
    line.send("look")
    assert line.recv() == [11]
    assert line.recv() == "CUDA_ERROR_INVALID_VALUE"  # closed as often as it was opened
    assert read(neighbour, 7) == [1] * 7
    ok(d.cuMemFree(address))
    ok(d.cuMemFree(neighbour))


def make_handles_under_kernels(stream):
    """The memory moves to where other processes find it, under the kernels that write it."""
    library = ok(d.cuLibraryLoadData(PTX, None, None, 0, None, None, 0))
    function = ok(d.cuKernelGetFunction(ok(d.cuLibraryGetKernel(library, b"add_one"))))
    count, rounds = 1 << 20, 8
    for _ in range(3):
        address = ok(d.cuMemAlloc(4 * count))
        ok(d.cuMemsetD32(address, 0, count))
        ok(d.cuCtxSynchronize())  # the stream does not wait for the default one
        for _ in range(rounds):
            arguments = ((int(address),), (ctypes.c_void_p,))
            ok(d.cuLaunchKernel(function, count // 256, 1, 1, 256, 1, 1, 0, stream, arguments, 0))
        assert bytes_of(ok(d.cuIpcGetMemHandle(address))) == bytes_of(ok(d.cuIpcGetMemHandle(address)))
        ok(d.cuStreamSynchronize(stream))
        assert set(read(address, count)) == {rounds}
        ok(d.cuMemFree(address))


def test_writes_of_kernels_while_a_handle_is_made_are_not_lost(stream):
    make_handles_under_kernels(stream)


def test_writes_of_kernels_are_not_lost_beside_another_fault_handler(stream):
    make_handles_under_kernels(stream)
    for _ in range(2):
        faulthandler.disable()
        faulthandler.enable(sys.__stderr__)
        make_handles_under_kernels(stream)


@pytest.mark.parametrize("is_notified", [True, False], ids=["notified", "no longer notified"])
def test_faults_that_are_none_of_the_drivers_end_the_process(tmp_path, is_notified):
    report = tmp_path / "report"
    child = multiprocessing.get_context("spawn").Process(
        target=processes.fault, args=(str(report), is_notified), daemon=True
    )
    child.start()
    child.join(processes.LIMIT)
    assert child.exitcode == -signal.SIGSEGV
    assert report.read_text().count("Segmentation fault") == int(is_notified)


def test_work_waits_for_work_of_another_process(other, stream, flag):
    address = ok(d.cuMemAlloc(64))
    ok(d.cuMemsetD32(address, 1, 16))
    ok(d.cuCtxSynchronize())
    event = ok(d.cuEventCreate(SHARED_EVENT))
    kept = hold(stream, flag)
    ok(d.cuMemsetD32Async(address, 42, 1, stream))
    ok(d.cuEventRecord(event, stream))
    line = other(processes.wait_for_event)
    line.send((bytes_of(ok(d.cuIpcGetMemHandle(address))), bytes_of(ok(d.cuIpcGetEventHandle(event)))))
    assert line.recv() == "CUDA_ERROR_NOT_READY"
    assert d.cuEventQuery(event)[0].name == "CUDA_ERROR_NOT_READY"
    second = ok(d.cuStreamCreate(1))
    ok(d.cuStreamWaitEvent(second, event, 0))  # for the other's record
    ok(d.cuMemcpyDtoDAsync(int(address) + 8, int(address) + 4, 4, second))
    flag.set()
    line.send("go")
    assert line.recv() == [42, 42]
    ok(d.cuEventSynchronize(event))
    ok(d.cuStreamSynchronize(second))
    assert read(address, 4) == [42, 42, 42, 1]
    ok(d.cuEventDestroy(event))
    ok(d.cuStreamDestroy(second))
    del kept


def test_bytes_that_are_no_handle_are_refused():
    address = ok(d.cuMemAlloc(64))
    handle = ok(d.cuIpcGetMemHandle(address))
    assert d.cuIpcOpenMemHandle(handle, LAZY)[0] == INVALID_CONTEXT  # of this process
    for bytes_ in (bytes(64), bytes([0x5A] * 64)):
        assert d.cuIpcOpenMemHandle(processes.handle_of(d.CUipcMemHandle, bytes_), LAZY)[0] == INVALID_VALUE
        event = processes.handle_of(d.CUipcEventHandle, bytes_)
        assert d.cuIpcOpenEventHandle(event)[0].name == "CUDA_ERROR_MAP_FAILED"
    ok(d.cuMemFree(address))


def test_events_and_handles_leave_no_files_behind():
    ok(d.cuIpcGetMemHandle(ok(d.cuMemAlloc(64))))  # the file of the device's memory, once
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(50):
        event = ok(d.cuEventCreate(SHARED_EVENT))
        ok(d.cuIpcGetEventHandle(event))
        ok(d.cuEventDestroy(event))
        address = ok(d.cuMemAlloc(1 << 21))
        ok(d.cuIpcGetMemHandle(address))
        ok(d.cuMemFree(address))
    assert len(os.listdir("/proc/self/fd")) < before + 10  # a driver may keep some for the next
