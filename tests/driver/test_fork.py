# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a process that was forked from one that used a driver cannot use it, is told so at once, and ends in peace."""

import pytest

BEGIN = """
import os, sys, threading, warnings
warnings.simplefilter("ignore")  # of CPython: fork() in a process with threads
import numpy as np
import cuda_graphs as cg
device = cg.Device(); device.set_current(); stream = device.create_stream()
event, memory = device.create_event(), device.allocate(64, stream=stream)
pinned = cg.PinnedMemoryResource().allocate(64)
view = np.from_dlpack(pinned); view[:] = 7
g = cg.GraphDef()
node = g.callback(int)
loop = node.while_loop(g.create_condition(0))
graph = g.instantiate(); graph.launch(stream); stream.sync()
"""

USES = [
    "cg.Device(0)",
    "device.set_current()",
    "device.create_stream()",
    "device.create_event()",
    "device.allocate(64, stream=stream)",
    "cg.PinnedMemoryResource().allocate(64)",
    "device.sync()",
    "stream.sync()",
    "stream.record(event)",
    "stream.wait(event)",
    "event.is_done",
    "event.sync()",
    "memory.fill(0, stream=stream)",
    "cg.Event.from_handle(event.handle)",
    "cg.GraphDef()",
    "g.nodes()",
    "set(node.pred)",
    "g.join()",
    "node.callback_fn",
    "g.instantiate()",
    "graph.launch(stream)",
    "node.destroy()",
    "cg.ObjectCode.from_ptx(b'').get_kernel('f')",
]

TRY = """
def attempt(use):
    try:
        eval(use)
    except cg.CUDAError as error:
        assert error.code == 3 and "fork" in str(error), (use, error)
    else:
        raise AssertionError(use + " did not fail")

child = os.fork()
if child == 0:
    for use in {uses!r}:
        attempt(use)
    assert (view == 7).all()  # memory of the process is copied, as fork() has it
    assert graph.handle and node.is_valid and not stream.is_closed
    {end}
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0, status
graph.launch(stream); stream.sync()  # the parent does not notice
event.sync()
"""

ENDS = {
    "exit": "sys.exit(0)",
    "at_once": "os._exit(0)",
    "after_dropping_everything": "del event, memory, pinned, view, g, node, loop, graph, stream, device; sys.exit(0)",
    "after_closing_everything": "[x.close() for x in (event, memory, pinned, graph, stream)]; sys.exit(0)",
}


@pytest.mark.parametrize("end", ENDS)
def test_every_use_in_a_forked_child_says_so_and_the_child_ends_in_peace(end, run_child):
    done = run_child(BEGIN + TRY.format(uses=USES, end=ENDS[end]))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_child_may_be_forked_while_work_is_in_flight_and_while_threads_make_things(run_child):
    code = (
        BEGIN
        + """
stop = threading.Event()
def work():
    own = cg.Device(0); own.set_current(); mine = own.create_stream()
    while not stop.is_set():
        own.create_event(); mine.record(); cg.GraphDef().callback(int); graph.launch(mine); mine.sync()
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
children = []
for _ in range(20):
    child = os.fork()
    if child == 0:
        try:
            device.create_event()
        except cg.CUDAError:
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
