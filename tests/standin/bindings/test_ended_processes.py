# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law of the host driver alone: nobody waits for what a process recorded that has ended.

NVIDIA's driver leaves such an event as it is, and who waits for it waits for ever (seen on an H200).
"""

import pytest

from tests.standin.bindings import processes
from tests.standin.bindings.answers import OK, d, ok
from tests.standin.bindings.processes import SHARED_EVENT, bytes_of

pytestmark = pytest.mark.usefixtures("context_of_processes")


def test_nobody_waits_for_a_process_that_has_ended(other, stream):
    event = ok(d.cuEventCreate(SHARED_EVENT))
    line = other(processes.record_and_die)
    line.send(bytes_of(ok(d.cuIpcGetEventHandle(event))))
    assert line.recv() == "CUDA_ERROR_NOT_READY"
    ok(d.cuStreamWaitEvent(stream, event, 0))
    assert d.cuStreamQuery(stream)[0].name == "CUDA_ERROR_NOT_READY"
    line.send("go")
    ok(d.cuStreamSynchronize(stream))
    ok(d.cuEventSynchronize(event))
    ok(d.cuEventDestroy(event))


def test_a_wait_node_waits_for_another_process(other, stream):
    event = ok(d.cuEventCreate(SHARED_EVENT))
    graph = ok(d.cuGraphCreate(0))
    waits = ok(d.cuGraphAddEventWaitNode(graph, None, 0, event))
    ok(d.cuGraphAddEventRecordNode(graph, [waits], 1, event))
    executable = ok(d.cuGraphInstantiate(graph, 0))
    line = other(processes.record_and_die)
    line.send(bytes_of(ok(d.cuIpcGetEventHandle(event))))
    assert line.recv() == "CUDA_ERROR_NOT_READY"
    ok(d.cuGraphLaunch(executable, stream))
    assert d.cuStreamQuery(stream)[0].name == "CUDA_ERROR_NOT_READY"
    line.send("go")
    ok(d.cuStreamSynchronize(stream))
    assert d.cuEventQuery(event)[0] == OK  # the record node's
    ok(d.cuGraphExecDestroy(executable))
    ok(d.cuGraphDestroy(graph))
    ok(d.cuEventDestroy(event))
