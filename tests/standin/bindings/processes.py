# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The work of the other process in test_processes.py and test_host_alone.py, which reads requests from a pipe and
answers there.
"""

import ctypes
import faulthandler
import os
import threading

from tests.standin.bindings.answers import d, ok

SHARED_EVENT = 0x2 | 0x4  # CU_EVENT_DISABLE_TIMING, CU_EVENT_INTERPROCESS
LAZY = 1  # CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS
LIMIT = 40  # seconds that anybody waits for another process


def run(function, line):
    """The function in this process, which says where it is and ends if that takes too long."""
    faulthandler.dump_traceback_later(LIMIT, exit=True)
    function(line)


def ready():
    """The primary context of device 0, current in this process."""
    ok(d.cuInit(0))
    device = ok(d.cuDeviceGet(0))
    ok(d.cuCtxSetCurrent(ok(d.cuDevicePrimaryCtxRetain(device))))


def read(address, count, offset=0):
    """`count` ints of device memory."""
    values = (ctypes.c_int * count)()
    ok(d.cuMemcpyDtoH(ctypes.addressof(values), int(address) + 4 * offset, 4 * count))
    return list(values)


def handle_of(kind, data):
    """The handle that `data`, its bytes, is."""
    handle = kind()
    ctypes.memmove(handle.getPtr(), data, len(data))
    return handle


def bytes_of(handle):
    """Returns the 64 bytes of a handle, to send to another process."""
    return ctypes.string_at(handle.getPtr(), 64)


def fault(report, is_told):
    """Reads an unmapped address after faulthandler was enabled, and then disabled unless `is_told`."""
    ready()
    with open(report, "w") as file:
        for _ in range(2):
            faulthandler.enable(file)
            ok(d.cuIpcGetMemHandle(ok(d.cuMemAlloc(1 << 21))))
            if not is_told:
                faulthandler.disable()
        ctypes.string_at(0)


def read_and_fill(line):
    """Opens memory, sends its content, fills it, and sends its content again on request."""
    ready()
    data, count, value = line.recv()
    handle = handle_of(d.CUipcMemHandle, data)
    address = ok(d.cuIpcOpenMemHandle(handle, LAZY))
    again = ok(d.cuIpcOpenMemHandle(handle, LAZY))
    line.send((int(address) == int(again), sorted(set(read(address, count)))))
    ok(d.cuMemsetD32(address, value, count))
    ok(d.cuCtxSynchronize())
    line.send("filled")
    line.recv()
    line.send(sorted(set(read(address, count))))
    ok(d.cuIpcCloseMemHandle(address))
    ok(d.cuIpcCloseMemHandle(address))
    line.send(str(d.cuIpcCloseMemHandle(address)[0].name))


def wait_for_event(line):
    """A copy of this process waits for an event of the other, and the other for one of this."""
    ready()
    memory, event = line.recv()
    address = ok(d.cuIpcOpenMemHandle(handle_of(d.CUipcMemHandle, memory), LAZY))
    event = ok(d.cuIpcOpenEventHandle(handle_of(d.CUipcEventHandle, event)))
    stream = ok(d.cuStreamCreate(1))
    ok(d.cuStreamWaitEvent(stream, event, 0))
    ok(d.cuMemcpyDtoDAsync(int(address) + 4, address, 4, stream))
    ok(d.cuEventRecord(event, stream))  # a further record, which is now the latest
    line.send(str(d.cuStreamQuery(stream)[0].name))
    line.recv()
    ok(d.cuStreamSynchronize(stream))
    line.send(read(address, 2))


def record_and_die(line):
    """Ends before its record can be reached."""
    ready()
    event = ok(d.cuIpcOpenEventHandle(handle_of(d.CUipcEventHandle, line.recv())))
    stream = ok(d.cuStreamCreate(1))
    never = threading.Event()
    holds = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: never.wait(LIMIT))
    ok(d.cuLaunchHostFunc(stream, ctypes.cast(holds, ctypes.c_void_p).value, 0))
    ok(d.cuEventRecord(event, stream))
    line.send(str(d.cuEventQuery(event)[0].name))
    line.recv()
    os._exit(0)
