# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a process that ends says nothing, whatever it still holds and whatever still runs."""

import pytest

BEGIN = """
import threading, time
import numpy as np
import cuda_graphs as cg
device = cg.Device()
device.set_current()
stream = device.create_stream()
code = cg.Program('''
extern "C" __global__ void busy(volatile int* x, int n) { for (int i = 0; i < n; ++i) x[0] = i; }
extern "C" __global__ void spin(volatile int* flag) { while (*flag == 0) {} }
''').compile()
busy = code.get_kernel("busy")
host = cg.PinnedMemoryResource().allocate(4)
view = np.from_dlpack(host).view(np.int32)
view[0] = 0
memory = device.allocate(1024, stream=stream)
one = cg.LaunchConfig(grid=1, block=1)
"""

ENDINGS = {
    "everything held by the module": "event = stream.record()",
    "work in flight": "cg.launch(stream, one, busy, view.ctypes.data, 200_000_000)",
    "work in flight on many streams": """
streams = [device.create_stream() for _ in range(8)]
for s in streams: cg.launch(s, one, busy, view.ctypes.data, 50_000_000)
""",
    "a reference cycle": """
class Holder: pass
holder = Holder()
holder.self, holder.things = holder, (stream, memory, host, busy, stream.record())
""",
    "a daemon thread that waits": """
def wait():
    device = cg.Device(0); device.set_current()
    stream.sync()
cg.launch(stream, one, busy, view.ctypes.data, 200_000_000)
threading.Thread(target=wait, daemon=True).start()
time.sleep(0.05)
""",
    "a daemon thread that works": """
def work():
    device = cg.Device(0); device.set_current(); mine = device.create_stream()
    while True:
        buffer = device.allocate(64, stream=mine); buffer.fill(0, stream=mine); mine.record(); mine.sync()
threading.Thread(target=work, daemon=True).start()
time.sleep(0.05)
""",
    "a view of pinned memory": "del host, code, device",
    "an exception": "import sys; sys.exit(0)",
    "a use in atexit": """
import atexit
def last():
    memory.fill(0, stream=stream); stream.sync(); device.create_stream().close()
atexit.register(last)
""",
    "objects that are made in a destructor at the end": """
class Late:
    def __del__(self):
        device.create_event()
late = Late()
""",
    "a resource of Python that is asked after the end": """
class Resource(cg.MemoryResource):
    is_host_accessible, is_device_accessible, device_id = True, False, -1
    def deallocate(self, ptr, size, *, stream): pass
buffer = cg.Buffer.from_handle(16, 4, mr=Resource())
""",
}

ENDLESS_LOOP = """
import os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background processes of a shell
loop = cg.Program('''
#include <cuda_graphs.h>
extern "C" __global__ void again(cudaGraphConditionalHandle go) { cudaGraphSetConditional(go, 1); }
''').compile()
g = cg.GraphDef()
go = g.create_condition(default_value=1)
g.while_loop(go).body.launch(one, loop.get_kernel("again"), go)
graph = g.instantiate()
array = cg.ndarray(cg.f32, 4)
graph.launch(stream)
"""


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_end_is_silent(run_child, ending):
    child = run_child(BEGIN + ENDINGS[ending])
    assert (child.returncode, child.stdout, child.stderr) == (0, "", "")


def test_a_kernel_that_never_ends_does_not_hold_the_process_of_the_host_driver(run_child, driver):
    if driver.kind != "host":
        pytest.skip("a GPU waits for its kernels")
    child = run_child(BEGIN + 'cg.launch(stream, one, code.get_kernel("spin"), view.ctypes.data)', timeout=60)
    assert (child.returncode, child.stdout, child.stderr) == (0, "", "")


def test_a_device_loop_that_never_ends_does_not_hold_the_process_of_the_host_driver(run_child, driver):
    if driver.kind != "host":
        pytest.skip("a GPU waits for its kernels")
    child = run_child(BEGIN + ENDLESS_LOOP, timeout=60)
    assert (child.returncode, child.stdout, child.stderr) == (0, "", "")


def test_an_interrupted_wait_for_an_endless_loop_ends_the_process_of_the_host_driver(run_child, driver):
    if driver.kind != "host":
        pytest.skip("a GPU waits for its kernels")
    interrupt = "threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()\nstream.sync()"
    child = run_child(BEGIN + ENDLESS_LOOP + interrupt, timeout=60)
    assert child.returncode != 0
    assert "KeyboardInterrupt: interrupted while waiting for <Stream" in child.stderr
