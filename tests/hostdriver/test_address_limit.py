# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the host driver runs in a limited address space (ulimit -v), and where that is too small an error names it."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GIB = 1 << 30

PROGRAM = """
import os
import numpy as np
import cuda_graphs as cg

@cg.kernel(graph=True)
def add(x: cg.types.ndarray(cg.f32, ndim=1)):
    for i in x:
        x[i] += 1
    while cg.graph_while(x[0] < 9):
        for i in x:
            x[i] += 1

for number in range(len(cg.Device.get_all_devices())):
    device = cg.Device(number)
    device.set_current()
    stream = device.create_stream()
    x = cg.ndarray(cg.f32, 1 << 20)
    x.fill(0)
    add(x)
    assert (x.to_numpy() == 9).all()
    held = [device.memory_resource.allocate(8 << 20, stream=stream) for _ in range(8)]
    g = cg.GraphDef()
    for _ in range(5000):
        g.join()
    g.instantiate().launch(stream)
    stream.sync()
print("done", flush=True)
child = os.fork()
if child == 0:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""


def limited(arguments, most, **environment):
    """A process that may have `most` bytes of addresses, on the host driver."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "CUDA_GRAPHS_DRIVER": "host", **environment},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)),
    )  # fmt: skip


# A thread takes 8 MiB of addresses for its stack and 128 MiB for an arena of malloc.
THREADS = os.cpu_count() * (136 << 20)
# Settings -> GiB that are enough beside the threads. The tables of the checks take addresses for each watched byte.
SETTINGS = {
    "as it is": (2, {}),
    "no workers": (2, {"CUDA_GRAPHS_HOST_THREADS": "0"}),
    "many devices": (2, {"CUDA_GRAPHS_HOST_DEVICES": "8"}),
    "looking for bugs": (16, {"CUDA_GRAPHS_HOST_CHECK": "memory,race,init"}),
}


@pytest.mark.parametrize("settings", SETTINGS)
def test_programs_run_in_a_limited_address_space(tmp_path, settings):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    gib, environment = SETTINGS[settings]
    done = limited([script], gib * GIB + THREADS, PYTHONPATH=str(ROOT), **environment)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_the_smallest_tests_pass_in_16_gib():
    done = limited(["-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_tiny.py"], 16 * GIB)
    assert done.returncode == 0, done.stdout + done.stderr


TOO_SMALL = """
import resource
import cuda_graphs as cg
{before}
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
most = used + ({more} << 20)
resource.setrlimit(resource.RLIMIT_AS, (most, most))
try:
    {call}
except Exception as error:
    print(type(error).__name__, most >> 20, error)
"""
CALLS = {
    "loading the driver": ("DriverNotFoundError", "", "cg.driver_info()", 1),
    "making memory": (
        "CUDAOutOfMemoryError", "cg.Device().set_current()",
        "print(cg.Device().memory_resource.allocate(1 << 30, stream=cg.Device().create_stream()))", 100,
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", CALLS)
def test_an_error_names_the_limit_of_addresses(what):
    kind, before, call, more = CALLS[what]
    done = limited(["-c", TOO_SMALL.format(before=before, call=call, more=more)], 64 * GIB)
    assert done.returncode == 0, done.stderr
    name, most, message = done.stdout.split(" ", 2)
    assert name == kind
    assert f"limited to {most} MiB (ulimit -v)" in message
    assert "Reinstall" not in message
