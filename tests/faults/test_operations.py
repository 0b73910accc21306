# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: when any driver call of an operation fails, with any code, the operation is either complete or not made at all.
An operation that is not made raises a CUDAError of that code, and succeeds when it is tried again.

Not made: nodes, edges, names, and what executables do are as before. Nothing is left behind.
"""

import contextlib

import pytest

import cuda_graphs as cg
from cuda_graphs import testing
from tests.faults import captured_operations  # noqa: F401  (it fills OPERATIONS)
from tests.faults.operations import OPERATIONS
from tests.faults.rig import ANSWERS, CODES, Levels, leave, losses, settled
from tests.faults.test_every_call import may_be_left

# Operations that are made, or half made, although they report a failure, and why they cannot be undone.
MADE = {
    # The node is in the graph, but its handle is unknown. The graph keeps the owners, the error is raised again, and
    # the graph can still run.
    **{
        name: ["cuStreamGetCaptureInfo"]
        for name in (
            "capture_kernel", "capture_fill", "capture_copy", "capture_callback", "capture_embed",
            "memory_of_a_capture",
        )
    },
    # The exception propagates, the state is CAPTURING, and close or the destructor ends the capture.
    "begin_building": ["cuStreamGetCaptureInfo"],
}  # fmt: skip


def play(world, name, attempts):
    """Make the operation once for each of `attempts`, a context manager; what there is to see afterwards."""
    world.x[:] = 0
    steps = OPERATIONS[name](world)
    try:
        operate = next(steps)
        for attempt in attempts:
            with attempt:
                operate()
        return next(steps)
    finally:
        steps.close()


class Failing(contextlib.AbstractContextManager):
    """One attempt whose nth call of a function fails."""

    def __init__(self, function, nth, code):
        self.asked, self.happened, self.error = (function, nth, code), False, None

    def __enter__(self):
        self.failure = testing.fail(*self.asked)

    def __exit__(self, kind, error, traceback):
        self.happened = self.failure.happened
        self.failure.__exit__(None, None, None)
        if isinstance(error, cg.CUDAError):
            self.error = (error.code, error.name, str(error), error.attempt)
            return True
        return False


def calls_of(world, name):
    """Returns the driver calls of the operation itself, in its second run in the process, without one-time calls."""
    play(world, name, [contextlib.nullcontext()])
    with testing.calls() as calls:
        pass
    play(world, name, [calls])
    return dict(calls)


def wrong_with(world, name, asked, without, made):
    before = Levels()
    attempt = Failing(*asked)
    with losses() as lost:
        seen = play(world, name, [attempt])
    if not attempt.happened:
        yield "was not made"
    if attempt.error is None and seen != made:
        yield f"was half made, and nobody was told: {seen} instead of {made}"
    if attempt.error is not None:
        code, error_name, text, attempted = attempt.error
        if (code, error_name) != (CODES[asked[2]], asked[2]) or asked[2] not in text or not attempted:
            yield f"became another error: {text}"
    if attempt.error is not None and asked[0] not in MADE.get(name, ()):
        if seen != without:
            yield f"changed something: {seen} instead of {without}"
        with losses():
            again = play(world, name, [Failing(*asked), contextlib.nullcontext()])
        if again != made:
            yield f"does not go well right after: {again} instead of {made}"
    if left := settled(world, before, may_be_left(asked[0], asked[2], bool(lost))):
        yield f"left behind {left}"


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_is_made_or_not_made(name, world, request):
    without, made = play(world, name, []), play(world, name, [contextlib.nullcontext()])
    start = Levels()
    wrong = [
        f"call {nth} of {count} of {function} with {code}: {text}"
        for function, count in calls_of(world, name).items()
        for nth in range(1, count + 1)
        for code in CODES
        if (function, code) not in ANSWERS
        for text in wrong_with(world, name, (function, nth, code), without, made)
    ]
    leave(request.node.stash, start)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", MADE)
def test_operation_listed_as_half_made_can_be_half_made(name, world):
    """A row that is there for nothing would hide what comes later."""
    without, calls = play(world, name, []), calls_of(world, name)
    for function in MADE[name]:
        attempts = [
            Failing(function, nth, "CUDA_ERROR_OUT_OF_MEMORY") for nth in range(1, calls[function] + 1)
        ]
        assert any(play(world, name, [attempt]) != without and attempt.error for attempt in attempts)
