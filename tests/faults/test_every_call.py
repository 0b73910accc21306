# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: whichever driver call of a program fails, the program gets an exception that says what failed, or all that it
asked for. Nothing is left behind, but for what could not be ended, of which Python warns; nothing is written to
standard error, and the same program works right after.

Each scenario is played once for every driver call that it makes, with that call failing.
"""

import pytest

from tests.faults import captures, definitions  # noqa: F401  (they fill SCENARIOS)
from tests.faults.rig import ANSWERS, CODES, SCENARIOS, Levels, calls_of, leave, play_and_fail, settled

# Calls that end something, made when the last handle goes: no exception leaves a destructor, so there is a CUDAWarning
# instead. A second try could destroy an object that is gone, since "this function may also return error codes from
# previous, asynchronous launches" (cuda.h). The object therefore stays, with all that it keeps: these kinds at most.
KEPT = {
    "user object", "stream", "event", "library", "kernel", "allocation", "graph", "node", "box: user_object",
    "box: stream", "box: event", "box: library", "box: kernel", "box: pointer", "box: graph_memory",
}  # fmt: skip
ENDS = {
    "cuStreamDestroy": {"stream"},
    "cuEventDestroy": {"event"},
    "cuLibraryUnload": {"library", "kernel"},
    "cuMemFree": {"allocation"},
    "cuMemFreeAsync": {"allocation"},
    "cuMemFreeHost": {"allocation"},
    "cuMemPoolDestroy": {"pool"},
    "cuGraphExecDestroy": {"executable", *KEPT},
    "cuGraphDestroy": KEPT,
    "cuGraphReleaseUserObject": set(),
    "cuUserObjectRelease": KEPT,
}
# Other calls that may fail without an exception, since the program gets all that it asked for; its own assertions and
# the count of what is left behind say that it does. Why the call may fail:
QUIET = {
    "cuGetErrorName": "the table of errors has the name",
    "cuGetErrorString": "an error's text lacks the driver's own words",
    "cuKernelGetName": "a text has the kernel's handle, or the kind of node, in its place",
    "cuLibraryEnumerateKernels": "the error that a kernel is missing does not list the others",
    "cuLibraryGetKernelCount": "the same",
    "cuThreadExchangeStreamCaptureMode": "in a destructor: tried again later; at the end of a scope: tried twice",
    "cuCtxGetCurrent": "in a destructor: tried again later",
    "cuStreamIsCapturing": "the same; which call spoiled a capture is found by a later one",
    "cuStreamQuery": "whether the last launch is over is asked again later",
    "cuUserObjectRetain": "the executable takes the graph's own references instead",
    "cuGraphRetainUserObject": "references that a graph cannot get back are kept beside it",
}
QUIET_IN = {
    # The node that an error or a repr is about is described without its kernel.
    "a_cycle_is_refused_by_the_instantiation": {"cuGraphKernelNodeGetParams", "cuGraphKernelNodeGetAttribute"},
    "nodes_tell_what_they_are": {"cuGraphKernelNodeGetParams", "cuGraphKernelNodeGetAttribute"},
    # Objects of a changed or destroyed node stay until its page of owners goes, with the graph at the latest.
    "updates_of_nodes_in_the_definition": {"cuUserObjectCreate"},
    "edges_and_nodes_come_and_go": {"cuUserObjectCreate"},
    "callbacks_of_python_and_c": {"cuUserObjectCreate"},
    # The destructor of an executable with stop words, which tries again later.
    "flags_decide_loops_and_branches": {"cuUserObjectCreate"},
    # The destructor of an executable whose values are handed over tries again later. The destructor of a Buffer asks
    # whether its stream is being captured.
    "what_nodes_use_lives_as_long_as_they_do": {"cuUserObjectCreate", "cuStreamGetCaptureInfo"},
    "copies_fills_and_callbacks_in_a_capture": {"cuStreamGetCaptureInfo"},
    "buffers_of_each_resource": {"cuStreamGetCaptureInfo"},
    # A later call finds that a wait or a record spoiled the capture.
    "events_of_and_between_streams": {"cuStreamGetCaptureInfo"},
    # The scenario frees what was allocated twice itself, and looks away, also from what explains a refused launch.
    "memory_of_nodes": {"cuGraphLaunch", "cuGraphGetNodes", "cuGraphMemFreeNodeGetParams"},
    # The destructor of a graph in flight, which is tried again later.
    "a_graph_closed_in_flight": {"cuGraphCreate", "cuGraphInstantiateWithParams", "cuGraphLaunch"},
    # An exception of the program is propagating, or the builder is gone: the end of the capture is tried again.
    "captures_given_up_by_an_exception": {
        "cuEventCreate", "cuEventRecord", "cuStreamWaitEvent", "cuStreamEndCapture",
    },
    "captures_closed_and_dropped": {"cuStreamEndCapture"},
}  # fmt: skip


# Scenarios whose ends are made of many calls: they are played with every code.
ENDINGS = (
    "a_graph_closed_in_flight", "what_nodes_use_lives_as_long_as_they_do", "named_parameters", "memory_of_nodes",
    "captures_given_up_by_an_exception", "captures_closed_and_dropped", "copies_fills_and_callbacks_in_a_capture",
    "streams_of_others",
)  # fmt: skip


def may_be_quiet(name, function):
    return function in ENDS or function in QUIET or function in QUIET_IN.get(name, ())


def may_be_left(function, code, warned):
    """Returns the kinds that a failed destruction may leave. In a lost context every destruction fails, without a
    warning."""
    return ENDS.get(function, frozenset()) if warned or code == "CUDA_ERROR_ILLEGAL_ADDRESS" else frozenset()


def wrong_with(world, name, function, nth, code, capfd):
    """Yields what is wrong after that call of the scenario failed."""
    before = Levels()
    happened, error, warned = play_and_fail(world, name, function, nth, code)
    if not happened:
        yield "was not made"
    if error is None and not may_be_quiet(name, function):
        yield "failed, and nobody was told"
    if error is not None:
        if (error.code, error.name) != (CODES[code], code) or code not in str(error):
            yield f"became another error: {error}"
        if not error.attempt:
            yield f"does not say what was attempted: {error}"
    left = settled(world, before, may_be_left(function, code, warned or error is not None))
    if left:
        yield f"left behind {left}"
    before = Levels()
    world.play(name)
    if left := settled(world, before):
        yield f"makes the next run leave behind {left}"
    if (written := capfd.readouterr()) != ("", ""):
        yield f"wrote {written}"


def fail_each_call(world, name, capfd, stash, codes):
    start = Levels()
    wrong = [
        f"call {nth} of {count} of {function} with {code}: {text}"
        for function, count in calls_of(world, name).items()
        for nth in range(1, count + 1)
        for code in codes
        if (function, code) not in ANSWERS
        for text in wrong_with(world, name, function, nth, code, capfd)
    ]
    leave(stash, start)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", SCENARIOS)
def test_any_call_may_fail(name, world, capfd, request):
    fail_each_call(world, name, capfd, request.node.stash, ["CUDA_ERROR_OUT_OF_MEMORY"])


@pytest.mark.parametrize("name", ENDINGS)
def test_any_call_may_fail_with_any_code(name, world, capfd, request):
    codes = [code for code in CODES if code != "CUDA_ERROR_OUT_OF_MEMORY"]
    fail_each_call(world, name, capfd, request.node.stash, codes)


def is_answer(world, name, function, nth, code):
    """Returns whether the program answers the failure with anything but an error of that code."""
    try:
        happened, error, _ = play_and_fail(world, name, function, nth, code)
        return happened and error is None
    except (TypeError, ValueError):
        return True
    finally:
        world.device.sync()  # what it launched before


def test_no_row_of_the_tables_is_there_for_nothing(world, request):
    """It would hide what comes later."""
    start, calls = Levels(), {name: calls_of(world, name) for name in SCENARIOS}

    def is_quiet(name, function, code="CUDA_ERROR_OUT_OF_MEMORY"):
        count = calls[name].get(function, 0)
        return any(is_answer(world, name, function, nth, code) for nth in range(1, count + 1))

    rows = [(function, code) for function, code in ANSWERS]
    rows += [(function, "CUDA_ERROR_OUT_OF_MEMORY") for function in (*ENDS, *QUIET)]
    idle = [row for row in rows if not any(is_quiet(name, *row) for name in SCENARIOS)]
    idle += [(name, f) for name, functions in QUIET_IN.items() for f in functions if not is_quiet(name, f)]
    leave(request.node.stash, start)
    assert idle == []
