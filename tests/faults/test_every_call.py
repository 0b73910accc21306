# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: whichever driver call of a program fails, the program gets an exception that says what failed, nothing is left
behind, nothing is written to standard error, and the same program works right after.

Each scenario is played once for every driver call that it makes, with that call failing.
"""

import pytest

from tests.conftest import LEFT
from tests.faults import captures, definitions  # noqa: F401  (they fill SCENARIOS)
from tests.faults.rig import SCENARIOS, Levels, World, calls_of, play_and_fail, settled
from tests.graph_rig import code, kernels

__all__ = ["code", "kernels"]

# Calls that end something. Where the end comes by itself nobody can be told, and what could not be ended stays, with
# what it keeps.
CODE = "CUDA_ERROR_OUT_OF_MEMORY"

KEPT = {
    "user object", "stream", "event", "library", "module", "kernel", "allocation", "pool", "graph", "node",
    "box: user_object", "box: stream", "box: event", "box: library", "box: kernel", "box: pointer", "box: pool",
    "box: graph_memory",
}  # fmt: skip
ENDS = {
    "cuStreamDestroy": {"stream"},
    "cuEventDestroy": {"event"},
    "cuLibraryUnload": {"library", "module", "kernel", "allocation"},
    "cuMemFree": {"allocation"},
    "cuMemFreeAsync": {"allocation"},
    "cuMemFreeHost": {"allocation"},
    "cuMemPoolDestroy": {"pool"},
    "cuGraphExecDestroy": {"executable", *KEPT},
    "cuGraphDestroy": KEPT,
    "cuGraphReleaseUserObject": KEPT,
    "cuUserObjectRelease": KEPT,
}
# Calls that may fail without an exception, and why.
QUIET = {
    "cuGetErrorName": "the table of errors has the name",
    "cuGetErrorString": "a text that is missing in an error",
    "cuKernelGetName": "a name that is missing in a text, or the kind in its place",
    "cuLibraryEnumerateKernels": "the same: which kernels there are instead",
    "cuLibraryGetKernelCount": "the same",
    "cuThreadExchangeStreamCaptureMode": "what would have been allowed during captures is refused then",
    "cuCtxGetCurrent": "whether the last launch of a graph is over is asked again later",
    "cuStreamIsCapturing": "the same; and a capture whose state is not known is ended as if it had been spoiled",
    "cuStreamQuery": "the same",
    "cuUserObjectRetain": "the executable takes the graph's own references instead",
    "cuGraphRetainUserObject": "references that a graph cannot get back are kept beside it",
}
QUIET_IN = {
    # The node and the kernel that an error is about are described without it.
    "a_cycle_is_refused_by_the_instantiation": {"cuGraphKernelNodeGetParams", "cuGraphKernelNodeGetAttribute"},
    # What a changed node used before stays until the graph goes.
    "updates_of_nodes_in_the_definition": {"cuUserObjectCreate"},
    "edges_and_nodes_come_and_go": {"cuUserObjectCreate"},
    "callbacks_of_python_and_c": {"cuUserObjectCreate"},
    # It frees what was allocated once more, in case the first time fails.
    "memory_of_nodes": {"cuGraphLaunch"},
    # Releasing what a launch in flight still uses is tried again later.
    "a_graph_closed_in_flight": {"cuGraphCreate", "cuGraphInstantiateWithParams", "cuGraphLaunch"},
    # An exception is on its way, or nobody is there any more; what cannot be ended well is left alone, since libcuda
    # would crash (_handles/capture_end.cpp).
    "captures_given_up_by_an_exception": {
        "cuEventCreate", "cuEventRecord", "cuStreamWaitEvent", "cuStreamEndCapture",
    },
    "captures_closed_and_dropped": {"cuEventCreate", "cuEventRecord", "cuStreamWaitEvent", "cuStreamEndCapture"},
    # A stream of others that may have joined a capture: its work is captured, and not kept.
    "events_of_and_between_streams": {"cuStreamGetCaptureInfo"},
    "streams_of_others": {"cuStreamGetCaptureInfo"},
    "what_nodes_use_lives_as_long_as_they_do": {"cuStreamGetCaptureInfo", "cuUserObjectCreate"},
    "copies_fills_and_callbacks_in_a_capture": {"cuStreamGetCaptureInfo"},
    "buffers_of_each_resource": {"cuStreamGetCaptureInfo"},
    "memory_allocated_in_captures": {"cuStreamGetCaptureInfo"},
    # A repr says less.
    "nodes_tell_what_they_are": {"cuGraphKernelNodeGetParams", "cuGraphKernelNodeGetAttribute"},
    # An update goes on without what it could not learn of memset nodes, which then cannot be switched off.
    "named_parameters": {"cuGraphGetNodes", "cuGraphMemsetNodeGetParams"},
}  # fmt: skip
LEFT_IN = {
    "captures_given_up_by_an_exception": {
        "cuCtxGetCurrent": {"graph", "node"}, "cuEventCreate": {"graph", "node"}, "cuEventRecord": {"graph", "node"},
        "cuStreamWaitEvent": {"graph", "node"},
    },
}  # fmt: skip


def may_be_quiet(name, function):
    return function in ENDS or function in QUIET or function in QUIET_IN.get(name, ())


@pytest.fixture
def world(driver, device, kernels, code):
    if driver.kind != "host":
        pytest.skip("only the host driver's calls can be made to fail")
    return World(device, kernels, code)


def wrong_with(world, name, function, nth, capfd):
    """What is not as it should be when that call of the scenario fails."""
    before = Levels()
    happened, error = play_and_fail(world, name, function, nth, CODE)
    if not happened:
        yield "was not made"
    if error is None and not may_be_quiet(name, function):
        yield "failed, and nobody was told"
    if error is not None:
        if (error.code, error.name) != (2, CODE) or CODE not in str(error):
            yield f"became another error: {error}"
        if not error.attempt:
            yield f"does not say what was attempted: {error}"
    if left := settled(world, before, ENDS.get(function) or LEFT_IN.get(name, {}).get(function, frozenset())):
        yield f"left behind {left}"
    before = Levels()
    world.play(name)
    if left := settled(world, before):
        yield f"makes the next run leave behind {left}"
    if (written := capfd.readouterr()) != ("", ""):
        yield f"wrote {written}"


def fail_each_call(world, name, capfd, stash):
    start = Levels()
    wrong = [
        f"call {nth} of {count} of {function}: {text}"
        for function, count in calls_of(world, name).items()
        for nth in range(1, count + 1)
        for text in wrong_with(world, name, function, nth, capfd)
    ]
    # What ENDS says may stay; each of them has been looked at.
    left = Levels().excess(start)
    stash[LEFT] = {kind.removeprefix("box: "): n for kind, n in left.items() if kind.startswith("box: ")}
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", SCENARIOS)
def test_any_call_may_fail(name, world, capfd, request):
    fail_each_call(world, name, capfd, request.node.stash)
