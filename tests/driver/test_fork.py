# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a process forked from one that used a driver gets an error at every use of it, at once, and ends without one."""

import re

import pytest

import cuda_graphs as cg
from tests.driver.fork_uses import ANSWERS, BEGIN, ENDS, MORE, USES, rows

TRY = """
def attempt(use):
    try:
        eval(use)
    except cg.CUDAError as error:
        assert error.code == 3 and "fork" in str(error), (use, error)
    else:
        raise AssertionError(use + " did not fail")

child_process = os.fork()
if child_process == 0:
    for use in {uses!r}:
        attempt(use)
    for use in {answers!r}:
        eval(use)
    assert (view == 7).all()  # memory of the process is copied, as fork() has it
    assert graph.handle and node.is_valid and not stream.is_closed
    {end}
_, status = os.waitpid(child_process, 0)
assert os.waitstatus_to_exitcode(status) == 0, status
branch.join(capturing, branch); capturing.end_building()  # the parent does not notice
graph.launch(stream); executable.launch(stream, alpha=4); stream.sync()
event.sync()
"""

ENDINGS = {
    "exit": "sys.exit(0)",
    "at_once": "os._exit(0)",
    "after_dropping_everything": "[globals().pop(x) for x in list(globals()) if x not in KEPT]; sys.exit(0)",
    "after_closing_everything": f"{ENDS}; {ENDS}; sys.exit(0)",
}


@pytest.mark.parametrize("end", ENDINGS)
def test_every_use_in_a_forked_child_says_so_and_the_child_ends_in_peace(end, run_child):
    done = run_child(BEGIN + MORE + TRY.format(uses=rows(USES), answers=rows(ANSWERS), end=ENDINGS[end]))
    assert done.stderr == ""
    assert (done.returncode, done.stdout) == (0, "")


# Public names that use no driver.
PLAIN = {
    "KernelAttributes",  # one property is as good as all
    *("CapturedCall", "EarlyStart", "NodeFusion", "GraphExplanation"),
    *(
        "CUDAError",
        "CUDANotSupportedError",
        "CUDAOutOfMemoryError",
        "CaptureError",
        "CheckReport",
        "ClosedBufferError",
        "ClosedBuilderError",
    ),
    *("ComputeCapability", "DeviceMemoryResourceOptions", "DriverInfo", "DriverNotFoundError", "EdgeData"),
    *("EventOptions", "Finding", "GraphAllocOptions", "GraphCompleteOptions", "GraphDebugPrintOptions"),
    *(
        "GraphDifference",
        "GraphInstantiateError",
        "GraphNodeType",
        "GraphUpdateError",
        "ImageError",
        "LaunchConfig",
        "LaunchError",
    ),
    *(
        "LoopCount",
        "NVRTCError",
        "NodeChange",
        "Profile",
        "ProgramOptions",
        "Span",
        "StreamOptions",
        "DeviceProperties",
        "MemoryResource",
    ),
}
# `deallocate` is for those who make a resource of their own; the images for `from_ptx` are only kept.
UNUSED = {
    "deallocate",
    "from_cubin",
    "from_fatbin",
    "from_library",
    "from_ltoir",
    "from_native",
    "from_object",
}
# Modules that call a driver themselves; arrays and kernels of the layer above call it through them.
LAYERS = ("cuda_graphs.objects.", "cuda_graphs.graph.")
PUBLIC = {name: getattr(cg, name) for name in cg.__all__ if name not in PLAIN}
CLASSES = [n for n, cls in PUBLIC.items() if isinstance(cls, type) and cls.__module__.startswith(LAYERS)]


@pytest.mark.parametrize("name", CLASSES)
def test_the_tables_of_uses_have_all_that_is_public(name):
    cls = getattr(cg, name)
    used = set(re.findall(r"\.([a-zA-Z]\w*)", USES + ANSWERS + ENDS)) | UNUSED
    assert {member for member in dir(cls) if not member.startswith("_")} - used == set()


def test_a_child_may_be_forked_while_work_is_in_flight_and_while_threads_make_things(run_child):
    code = (
        BEGIN
        + """
stop = threading.Event()
def work():
    own = cg.Device(0); own.set_current(); mine = own.create_stream()
    while not stop.is_set():
        own.create_event(); mine.record(); cg.GraphDef().callback(int); graph.launch(mine); mine.sync()
        cg.GraphDef().alloc(64); cg.Event.from_handle(event.handle)
        mine.create_graph_builder().begin_building().close()
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
children = []
for _ in range(20):
    child = os.fork()
    if child == 0:
        # Whatever locks the threads of the parent have at this moment: no use waits for one.
        for use in (device.create_event, cg.GraphDef, g.nodes, lambda: g.alloc(64), lambda: graph.launch(stream),
                    lambda: cg.Event.from_handle(event.handle), stream.create_graph_builder().begin_building):
            try:
                use()
            except cg.CUDAError as error:
                assert error.code == 3
            else:
                os._exit(7)
        del event, memory, g, graph, node, loop
        sys.exit(0)
    children.append(child)
codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
stop.set()
for thread in threads: thread.join()
assert codes == [0] * 20, codes
"""
    )
    done = run_child(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_child_may_be_forked_inside_a_host_function(run_child):
    code = (
        BEGIN
        + """
codes = []
def split():
    child = os.fork()
    if child == 0:
        sys.stdout.flush()
        os._exit(5)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
h = cg.GraphDef(); h.callback(split)
other = h.instantiate(); other.launch(stream); stream.sync()
assert codes == [5], codes
"""
    )
    done = run_child(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_child_that_is_forked_before_the_first_use_chooses_a_driver_of_its_own(run_child):
    code = """
import os, sys, warnings
warnings.simplefilter("ignore")
import cuda_graphs as cg
for _ in range(2):
    child = os.fork()
    if child == 0:
        device = cg.Device(); device.set_current(); device.create_stream().sync()
        sys.exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
cg.Device().set_current()
"""
    done = run_child(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_child_that_executes_another_program_is_not_concerned(run_child):
    code = (
        BEGIN
        + """
import subprocess
out = subprocess.run([sys.executable, "-c", "import cuda_graphs as cg; cg.Device().set_current(); print('fine')"],
                     capture_output=True, text=True)
assert (out.returncode, out.stdout, out.stderr) == (0, "fine\\n", ""), out
"""
    )
    done = run_child(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
