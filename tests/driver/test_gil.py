# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: every call of the driver is made without the GIL, since it may wait for work that needs it (a host callback)."""

import re
import threading
from pathlib import Path

import pytest

import cuda_graphs as cg

PACKAGE = Path(cg.__file__).parent
# Functions of the handle layer that call it for Cython, as they are, are named.
CALL = re.compile(r"(?:driver\(\)\.(?=cu)|\b(?=(?:current_context|load_node)\())(\w+)\(")
# They read a table, and make the error that a call without the GIL returned.
WITH_THE_GIL = {"cuGetErrorName", "cuGetErrorString"}


def calls_with_the_gil(source):
    """Names of driver functions that Cython source calls outside of `with nogil` and nogil functions."""
    open_blocks = []  # (indent, whether the GIL is released in it)
    found = []
    for line in source.splitlines():
        text = line.split("#")[0].rstrip()
        if not text:
            continue
        indent = len(text) - len(text.lstrip())
        while open_blocks and open_blocks[-1][0] >= indent and not text.lstrip().startswith((")", "]")):
            open_blocks.pop()
        released = bool(open_blocks and open_blocks[-1][1])
        found += [name for name in CALL.findall(text) if not released and name not in WITH_THE_GIL]
        if text.endswith(":"):
            starts_function = re.match(r"\s*(cp?def|def|\))", text)
            nogil = "nogil" in text
            open_blocks.append((indent, nogil if starts_function or nogil else released))
    return found


def test_no_cython_file_calls_the_driver_with_the_gil():
    files = {str(path.relative_to(PACKAGE)): path.read_text() for path in PACKAGE.rglob("*.pyx")}
    callers = {Path(name).parts[0] for name, text in files.items() if CALL.search(text)}
    assert callers >= {"objects", "graph"}, "an installed package without its sources shows nothing"
    found = {name: calls_with_the_gil(text) for name, text in files.items()}
    assert {name: calls for name, calls in found.items() if calls} == {}


def test_the_search_finds_what_it_should():
    bad = "def f(self):\n    with nogil:\n        driver().cuA(1)\n    check(driver().cuB())\n"
    assert calls_with_the_gil(bad) == ["cuB"]
    assert calls_with_the_gil("def f(self):\n    load_node(raw, spec)\n") == ["load_node"]
    nested = "cdef int g() nogil:\n    if x:\n        driver().cuC(\n            2\n        )\n"
    assert calls_with_the_gil(nested) == []


WAITS = {
    "Stream.sync": lambda device, stream, event: stream.sync(),
    "Event.sync": lambda device, stream, event: event.sync(),
    "Device.sync": lambda device, stream, event: device.sync(),
}


@pytest.mark.parametrize("name", WAITS)
def test_waiting_lets_another_thread_work(device, stream, name):
    import numpy as np

    source = 'extern "C" __global__ void spin(volatile int* flag) { while (*flag == 0) {} }'
    spin = cg.Program(source).compile().get_kernel("spin")
    flag = np.from_dlpack(cg.PinnedMemoryResource().allocate(4)).view(np.int32)
    flag[0] = 0
    cg.launch(stream, cg.LaunchConfig(grid=1, block=1), spin, flag.ctypes.data)
    event = stream.record()

    def release():
        flag[0] = 1

    timer = threading.Timer(0.02, release)
    timer.start()
    WAITS[name](device, stream, event)
    timer.join()
    assert event.is_done
