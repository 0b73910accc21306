# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: what a kernel prints is written before a wait for it returns."""

import pytest

# Each program has a process of its own: once code that may print is loaded, every wait of the process looks for output.
PROGRAM = """
import ctypes, os
import cuda_graphs as cg

device = cg.Device()
device.set_current()
stream = device.create_stream()
SOURCE = r'extern "C" __global__ void tell(int number) {{ printf("number %d\\n", number); }}'


def compiled(form):
    return cg.Program(SOURCE).compile(form).get_kernel("tell")


def foreign():
    driver = ctypes.CDLL(cg.driver_info().path)
    module, found = ctypes.c_void_p(), ctypes.c_void_p()
    assert driver.cuModuleLoadData(ctypes.byref(module), cg.Program(SOURCE).compile("ptx").code) == 0
    assert driver.cuModuleGetFunction(ctypes.byref(found), module, b"tell") == 0
    return cg.Kernel.from_function(found.value)


cg.launch(stream, cg.LaunchConfig(grid=1, block=1), {kernel}, cg.i32(7))
{wait}
print("after", flush=True)
os._exit(0)  # a normal end could write what is left
"""


@pytest.mark.parametrize("kernel", ["compiled('ptx')", "compiled('cubin')", "foreign()"])
@pytest.mark.parametrize("wait", ["stream.sync()", "stream.record().sync()", "device.sync()"])
def test_output_of_a_kernel_is_written_before_a_wait_returns(run_child, kernel, wait):
    done = run_child(PROGRAM.format(kernel=kernel, wait=wait))
    assert (done.stdout, done.stderr) == ("number 7\nafter\n", "")


PYTHON_PROGRAM = """
import os
import cuda_graphs as cg

@cg.kernel
def tell(number: cg.i32):
    print("number", number)

tell(7)
cg.Device().sync()
print("after", flush=True)
os._exit(0)
"""


def test_output_of_a_python_kernel_is_written_before_a_wait_returns(run_child, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PYTHON_PROGRAM)
    done = run_child(f"import runpy; runpy.run_path({str(path)!r})")
    assert (done.stdout, done.stderr) == ("number 7\nafter\n", "")
