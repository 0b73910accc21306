# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: `python -m cuda_graphs.hostdriver` runs a program as `python` does, with the host driver as libcuda.so.1 of that
process; and nothing else ever makes it so.
"""

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.conftest import ROOT

# The names under which a process may find libcuda, by dlopen without loading and in its memory.
REPORT = """
import ctypes, json, os
def found(name):
    try:
        return hasattr(ctypes.CDLL(name, mode=os.RTLD_NOLOAD), "cghStandsIn")
    except OSError:
        return None
with open("/proc/self/maps") as maps:
    mapped = sorted({line.split()[-1] for line in maps if "libcuda" in line.rpartition("/")[2]})
print(json.dumps([found("libcuda.so.1"), found("libcuda.so"), [path.rpartition("/")[2] for path in mapped]]))
"""
STAND_IN = ["-m", "cuda_graphs.hostdriver"]
VERB = ["-m", "cuda_graphs", "host"]


@pytest.fixture
def python(tmp_path):
    """python(*arguments): what a Python process with them says and how it ends; started in tmp_path."""

    def run(*arguments, text=None, **environment):
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        return subprocess.run(
            [sys.executable, *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": path, **environment},
            cwd=tmp_path,
            input=text,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


@pytest.fixture
def file(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return write


@pytest.mark.parametrize(
    "code",
    [
        "import cuda_graphs",
        "import cuda_graphs.hostdriver",
        "import cuda_graphs.testing, cuda_graphs.interop",
        "import cuda_graphs as cg; cg.use_driver('host'); d = cg.Device(); d.set_current(); d.create_stream().sync()",
    ],
)
def test_importing_and_using_the_package_leaves_libcuda_unresolved(python, code):
    child = python("-c", code + "\n" + REPORT)
    by_version, by_name, mapped = json.loads(child.stdout)
    assert (by_version, by_name) == (None, None), child.stderr
    assert [name for name in mapped if "graphs" not in name or "standin" in name] == []


def test_the_command_puts_the_host_driver_in_the_place_of_libcuda(python):
    child = python(*STAND_IN, "-c", REPORT)
    by_version, by_name, mapped = json.loads(child.stdout)
    assert (by_version, by_name) == (True, True), child.stderr
    assert {"libcuda_graphs_hostdriver.so", "libcuda_graphs_standin.so"} <= set(mapped)


CALLS = """
import ctypes
library = ctypes.CDLL("libcuda.so.1")
count = ctypes.c_int(-1)
before = library.cuDeviceGetCount(ctypes.byref(count))
print(before, library.cuInit(0), library.cuDeviceGetCount(ctypes.byref(count)), count.value)
"""


def test_the_driver_is_not_initialised_before_the_program_does_it(python):
    child = python(*STAND_IN, "-c", CALLS, CUDA_GRAPHS_HOST_DEVICES="3")
    assert child.stdout == "3 0 0 3\n", child.stderr


def test_a_machine_without_devices_can_be_played(python):
    child = python(*STAND_IN, "-c", CALLS, CUDA_GRAPHS_HOST_DEVICES="0")
    assert child.stdout.split()[1] == "100", child.stderr  # CUDA_ERROR_NO_DEVICE


def test_functions_of_the_runtime_answer_without_devices_as_with_them(python):
    """The status of the start, and as many values behind it as ever."""
    code = """
from cuda.bindings import runtime
print(runtime.cudaGetDeviceCount(), runtime.cudaDeviceSynchronize())
"""
    child = python(*STAND_IN, "-c", code, CUDA_GRAPHS_HOST_DEVICES="0")
    error = "<cudaError_t.cudaErrorNoDevice: 100>"
    assert child.stdout == f"({error}, None) ({error},)\n", child.stderr


def test_cuda_core_says_what_the_driver_does_not_do(python):
    """Each refusal reaches the program as an error of its own that names the reason."""
    code = """
import os, warnings
warnings.simplefilter("ignore")  # NVRTC is newer than the driver
from cuda import core
from cuda.core import checkpoint
device = core.Device()
device.set_current()
options = core.ProgramOptions(arch=f"sm_{device.arch}")
later = core.ProgramOptions(arch=f"sm_{device.arch}", link_time_optimization=True)
source = 'extern "C" __global__ void k() {}'
calls = (
    lambda: core.Program(source, "c++", options).compile("cubin").get_kernel("k"),
    lambda: core.Program(source, "c++", later).compile("ltoir").get_kernel("k"),
    lambda: core.ObjectCode.from_ptx(b"nonsense").get_kernel("k"),
    lambda: core.GraphicsResource.from_gl_buffer(1),
    lambda: checkpoint.Process(os.getpid()).lock(),
)
for call in calls:
    try:
        print(call())
    except Exception as error:
        print(type(error).__name__, str(error).split(":")[0].split(" driver")[0])
"""
    child = python(*STAND_IN, "-c", code)
    assert child.stdout.splitlines() == [
        "CUDAError CUDA_ERROR_NO_BINARY_FOR_GPU",
        "CUDAError CUDA_ERROR_INVALID_IMAGE",
        "CUDAError CUDA_ERROR_INVALID_IMAGE",
        "CUDAError CUDA_ERROR_NOT_SUPPORTED",
        "RuntimeError CUDA checkpointing is not supported by the installed NVIDIA",
    ], child.stderr
    assert 'Program.compile("ptx")' in child.stderr


def test_package_and_other_libraries_share_one_driver(python):
    child = python(
        *STAND_IN,
        "-c",
        """
import ctypes
import cuda_graphs as cg
from cuda.bindings import driver
device = cg.Device()
device.set_current()
ours = device.create_stream()
assert driver.cuStreamQuery(driver.CUstream(int(ours.handle))) == (driver.CUresult.CUDA_SUCCESS,)
print(cg.driver_info().kind)
print(cg.driver_info().reason)
try:
    cg.use_driver("cuda")
except RuntimeError as error:
    print(error)
""",
        CUDA_GRAPHS_DRIVER="cuda",
    )
    assert child.stdout.splitlines() == [
        "host",
        "the host driver stands in for libcuda (cuda_graphs.hostdriver)",
        "use_driver('cuda') was called in a process where the host driver stands in for libcuda "
        "(cuda_graphs.hostdriver): no other driver can be loaded.",
    ], child.stderr


@pytest.mark.parametrize("start", [[], STAND_IN, VERB], ids=["python", "the command", "the verb"])
class TestAProgramSeesWhatPythonShowsIt:
    """Each of these is the same with and without the command."""

    def test_a_script(self, python, file, start):
        script = file("folder/script.py", "import sys; print(sys.argv, sys.path[0], __name__, __file__)")
        assert python(*start, script, "-a", "b").stdout == (
            f"['{script}', '-a', 'b'] {script.parent} __main__ {script}\n"
        )

    def test_a_script_imports_its_neighbours(self, python, file, start):
        file("folder/neighbour.py", "here = 5")
        assert (
            python(*start, file("folder/script.py", "import neighbour; print(neighbour.here)")).stdout
            == "5\n"
        )

    def test_a_folder(self, python, file, start):
        script = file("folder/__main__.py", "import sys; print(sys.argv, sys.path[0], __name__)")
        assert python(*start, script.parent).stdout == f"['{script.parent}'] {script.parent} __main__\n"

    def test_a_module(self, python, file, start):
        text = "import sys; print(sys.argv, sys.path[0], __name__, sys.modules['__main__'].__spec__.name)"
        script = file("package/inside.py", text)
        assert python(*start, "-m", "package.inside", "-m").stdout == (
            f"['{script}', '-m'] {script.parent.parent} __main__ package.inside\n"
        )

    def test_code(self, python, start):
        code = "import sys; print(sys.argv, repr(sys.path[0]), __name__)"
        assert python(*start, "-c", code, "-x").stdout == "['-c', '-x'] '' __main__\n"

    def test_code_from_standard_input(self, python, start):
        code = "import sys; print(sys.argv, repr(sys.path[0]), __name__)"
        assert python(*start, "-", "x", text=code).stdout == "['-', 'x'] '' __main__\n"

    def test_the_main_module_is_the_programs(self, python, file, start):
        script = file(
            "script.py", "import sys, __main__\nmine = 7\nprint(__main__.mine, sys.modules[__name__].mine)"
        )
        assert python(*start, script).stdout == "7 7\n"

    @pytest.mark.parametrize(("end", "code"), [("7", 7), ("", 0), ("'why'", 1), ("None", 0)])
    def test_the_exit_code(self, python, start, end, code):
        assert python(*start, "-c", f"import sys; sys.exit({end})").returncode == code

    def test_an_interrupt(self, python, start):
        assert python(*start, "-c", "raise KeyboardInterrupt").returncode in (-signal.SIGINT, 130)

    def test_a_traceback(self, python, file, start):
        script = file("script.py", "def inner():\n    raise ValueError('no')\n\ninner()\n")
        child = python(*start, script)
        assert child.returncode == 1
        lines = [line for line in child.stderr.splitlines() if "^" not in line and "~" not in line]
        assert lines == [
            "Traceback (most recent call last):",
            f'  File "{script}", line 4, in <module>',
            "    inner()",
            f'  File "{script}", line 2, in inner',
            "    raise ValueError('no')",
            "ValueError: no",
        ]

    def test_a_syntax_error(self, python, file, start):
        child = python(*start, file("script.py", "x = = 3\n"))
        assert child.returncode == 1
        assert child.stderr.splitlines()[0].endswith('script.py", line 1')

    def test_a_script_that_is_not_there(self, python, start):
        child = python(*start, "nothing.py")
        assert child.returncode == 2
        assert "can't open file" in child.stderr
        assert "Traceback" not in child.stderr

    def test_exit_handlers_see_the_globals_of_the_program(self, python, start):
        child = python(*start, "-c", "import atexit\nx = 3\natexit.register(lambda: print(x))")
        assert (child.stdout, child.stderr) == ("3\n", "")


@pytest.mark.parametrize("arguments", [[], ["-m"], ["-c"], ["--what"]])
def test_a_wrong_command_line_is_refused_with_the_usage(python, arguments):
    child = python(*STAND_IN, *arguments)
    assert child.returncode == 2
    assert "usage: python -m cuda_graphs.hostdriver" in child.stderr


def test_a_process_that_the_program_starts_is_an_ordinary_one(python):
    child = python(
        *STAND_IN,
        "-c",
        f"import subprocess, sys; subprocess.run([sys.executable, '-c', {REPORT!r}], check=True)",
    )
    assert json.loads(child.stdout) == [None, None, []], child.stderr


WORKERS = f"""
import multiprocessing
def report():
    exec({REPORT!r}, {{}})
if __name__ == "__main__":
    STAND_IN
    child = multiprocessing.get_context("METHOD").Process(target=report)
    child.start()
    child.join()
"""


@pytest.mark.parametrize(
    ("start", "stand_in", "method", "found"),
    [
        (STAND_IN, "", "spawn", True),
        ([], "from cuda_graphs import hostdriver; hostdriver.stand_in()", "forkserver", True),
        ([], "import cuda_graphs.hostdriver", "spawn", None),
    ],
    ids=["the command", "the call", "the import"],
)
def test_processes_of_multiprocessing_are_on_the_driver_of_their_program(
    python, file, start, stand_in, method, found
):
    program = WORKERS.replace("STAND_IN", stand_in).replace("METHOD", method)
    child = python(*start, file("program.py", program))
    assert json.loads(child.stdout)[:2] == [found, found], child.stderr


def test_another_library_of_that_name_is_not_pushed_aside(python, tmp_path):
    other = tmp_path / "libother.so"
    subprocess.run(
        ["gcc", "-shared", "-x", "c", "/dev/null", "-Wl,-soname,libcuda.so.1", "-o", other], check=True
    )
    child = python(
        "-c",
        f"""
import ctypes
ctypes.CDLL({str(other)!r})
from cuda_graphs import hostdriver
try:
    hostdriver.stand_in()
except RuntimeError as error:
    print(error)
print(hostdriver.stands_in())
""",
    )
    assert "a library of the name libcuda.so.1 is loaded in this process already" in child.stdout, (
        child.stderr
    )
    assert child.stdout.endswith("False\n")


def test_standing_in_twice_is_once(python):
    child = python(
        "-c",
        """
import sys
from cuda_graphs.hostdriver import stand_in, stands_in
print(stands_in())
stand_in()
finders = len(sys.meta_path)
stand_in()
print(stands_in(), len(sys.meta_path) - finders)
""",
    )
    assert child.stdout == "False\nTrue 0\n", child.stderr


# cudaMalloc of the runtime that is compiled into cuda.bindings; only the listed functions of it are answered.
RUNTIME = """
from cuda.bindings import runtime
print([int(runtime.cudaMalloc(4)[0]) != 0 for _ in range(3)])
"""
NVRTC = """
from cuda.bindings import nvrtc
_, program = nvrtc.nvrtcCreateProgram(b"__global__ void f() {}", b"f.cu", 0, [], [])
print([int(nvrtc.nvrtcCompileProgram(program, 0, [])[0])])
"""


def test_a_program_that_uses_the_runtime_is_told_once_why_it_fails(python):
    child = python(*STAND_IN, "-c", RUNTIME)
    assert child.stdout == "[True, True, True]\n"
    (line,) = child.stderr.splitlines()
    assert "CUDA Runtime" in line
    assert "cuda.bindings.driver" in line


@pytest.mark.parametrize("code", [NVRTC, "from cuda.core import Device; Device().set_current(); print([0])"])
def test_a_program_without_the_runtime_is_told_nothing(python, code):
    child = python(*STAND_IN, "-c", code)
    assert (child.stdout, child.stderr) == ("[0]\n", "")


CHILD = """
import subprocess, sys
code = "import sys; from cuda_graphs import hostdriver; print(hostdriver.stands_in(), sys.argv)"
subprocess.run([sys.executable, "-c", code, "x"], check=True)
"""
GRANDCHILD = """
import subprocess, sys
subprocess.run([sys.executable, "-c", {child!r}], check=True)
"""


@pytest.mark.parametrize("code", [CHILD, GRANDCHILD.format(child=CHILD)], ids=["child", "grandchild"])
@pytest.mark.parametrize(("value", "expected"), [(None, False), ("0", False), ("1", True)])
def test_started_processes_inherit_the_stand_in_by_the_variable(python, code, value, expected):
    variable = {"CUDA_GRAPHS_STAND_IN": value} if value else {}
    child = python(*STAND_IN, "-c", code, **variable)
    assert child.stdout == f"{expected} ['-c', 'x']\n", child.stderr


def test_the_variable_alone_puts_nothing_in_the_place_of_libcuda(python):
    child = python("-c", CHILD, CUDA_GRAPHS_STAND_IN="1")
    assert child.stdout == "False ['-c', 'x']\n", child.stderr


def test_a_sitecustomize_of_the_user_runs_in_a_started_process(python, file, tmp_path):
    file("mine/sitecustomize.py", "import sys; sys.user_was_here = True")
    code = """
import subprocess, sys
code = "import sys, sitecustomize; print(sys.user_was_here, sitecustomize.__file__)"
subprocess.run([sys.executable, "-c", code], check=True)
"""
    path = os.pathsep.join([str(tmp_path / "mine"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    child = python(*STAND_IN, "-c", code, CUDA_GRAPHS_STAND_IN="1", PYTHONPATH=path.rstrip(os.pathsep))
    assert child.stdout == f"True {tmp_path / 'mine/sitecustomize.py'}\n", child.stderr


def test_another_value_of_the_variable_is_refused(python):
    child = python(*STAND_IN, "-c", "print(1)", CUDA_GRAPHS_STAND_IN="yes")
    assert child.returncode == 1
    assert "CUDA_GRAPHS_STAND_IN is 'yes'; it must be 0 or 1" in child.stderr
    assert child.stdout == ""


def test_nvml_says_what_it_does_not_support(python):
    code = """
import ctypes
nvml = ctypes.CDLL("libnvidia-ml.so.1")
count, handle, text = ctypes.c_uint(9), ctypes.c_void_p(), ctypes.create_string_buffer(4)
print(nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)), nvml.nvmlInit_v2())
print(nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)), count.value)
print([nvml.nvmlDeviceGetHandleByIndex_v2(i, ctypes.byref(handle)) for i in range(3)])
print(nvml.nvmlDeviceGetTemperature(handle, 0, ctypes.byref(count)), nvml.nvmlDeviceGetFanSpeed(handle, None))
print(nvml.nvmlDeviceGetName(handle, text, 4), nvml.nvmlDeviceGetName(None, text, 4))
print(nvml.nvmlShutdown(), nvml.nvmlShutdown(), nvml.nvmlDeviceGetFanSpeed(handle, None))
"""
    child = python(*STAND_IN, "-c", code, CUDA_GRAPHS_HOST_DEVICES="2")
    assert child.stdout.splitlines() == ["1 0", "0 2", "[0, 0, 2]", "3 3", "7 2", "0 1 1"], child.stderr
