# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Scenarios, and failing each driver call of one.

A scenario is a function of a World that makes all it needs, uses it, and checks what came of it. It leaves nothing
behind. `SCENARIOS` has them by name; the world is what is there before and after: a device, kernels, numbers that both
sides see.
"""

import contextlib
import gc
import warnings

import numpy as np

import cuda_graphs as cg
from cuda_graphs import testing
from cuda_graphs.core.resources import boxes
from cuda_graphs.graph.capture import call_streams
from tests.conftest import LEFT, levels, wait_until

SCENARIOS = {}
COUNT = 64
# The codes that calls fail with. The last is one of the codes after which, on a GPU, the context is lost.
CODES = {
    "CUDA_ERROR_OUT_OF_MEMORY": 2,
    "CUDA_ERROR_INVALID_VALUE": 1,
    "CUDA_ERROR_NOT_PERMITTED": 800,
    "CUDA_ERROR_ILLEGAL_ADDRESS": 700,
}
# Codes that are answers of a function and no failures.
ANSWERS = {
    ("cuPointerGetAttribute", "CUDA_ERROR_INVALID_VALUE"): "memory that CUDA does not know",
    ("cuKernelGetParamInfo", "CUDA_ERROR_INVALID_VALUE"): "there is no such parameter: it was the last",
    (
        "cuStreamGetCaptureInfo",
        "CUDA_ERROR_NOT_PERMITTED",
    ): "inside a host function, where the call itself is refused",
}


def scenario(function):
    SCENARIOS[function.__name__] = function
    return function


class World:
    """The objects that every scenario may use. `x` are numbers in page-locked memory, 0 when a scenario starts."""

    def __init__(self, device, kernels, compiled):
        self.device, self.kernels, self.compiled = device, kernels, compiled
        self.pinned = cg.PinnedMemoryResource()
        self._memory = self.pinned.allocate(COUNT * 4)
        self.x = np.from_dlpack(self._memory).view("u4")
        gc.collect()
        gc.freeze()  # compilers leave much behind that the many collections below need not look at

    def at(self, i):
        return self.x.ctypes.data + 4 * i

    def play(self, name):
        self.x[:] = 0
        SCENARIOS[name](self)


class Levels:
    """The numbers of live objects in our handle layer and in the driver. User objects are our own pages and the
    driver's count."""

    def __init__(self):
        gc.collect()
        boxes.drain()
        self.ours, self.theirs = levels(), testing.objects()
        self.theirs["stream"] -= call_streams.count_idle()

    def excess(self, other):
        """Returns the kinds of which more objects live now than in `other`, as {kind: by how many}."""
        both = [("box: " + kind, n - other.ours[kind]) for kind, n in self.ours.items()]
        both += [(kind, n - other.theirs[kind]) for kind, n in self.theirs.items()]
        return {kind: more for kind, more in both if more > 0}


def settled(world, before, allowed=frozenset()):
    """Wait until there is no more than before, but for what is `allowed`; what there is more of otherwise."""
    world.device.sync()

    def left():
        return {kind: n for kind, n in Levels().excess(before).items() if kind not in allowed}

    return {} if wait_until(lambda: not left()) else left()


def leave(stash, start):
    """Exempts the objects that stayed since `start` from the leak check of the test, which has checked them already."""
    left = Levels().excess(start)
    stash[LEFT] = {kind.removeprefix("box: "): n for kind, n in left.items() if kind.startswith("box: ")}


def calls_of(world, name):
    """Returns the number of calls of each driver function in a scenario, including the ends of its objects."""
    world.play(name)
    world.device.sync()
    gc.collect()
    boxes.drain()
    with testing.calls() as calls:
        world.play(name)
        gc.collect()
        boxes.drain()
    return dict(calls)


def play_and_fail(world, name, function, nth, code):
    """The scenario with one call that fails: (whether that call was made, the error or None, whether Python warned)."""
    error = None
    with losses() as lost, testing.fail(function, nth, code) as failure:
        try:
            world.play(name)
        except cg.CUDAError as caught:
            error = caught.with_traceback(None)
            error.__context__ = error.__cause__ = None
        gc.collect()
        boxes.drain()
        happened = failure.happened
    return happened, error, any(f"{function}, when the last" in text and code in text for text in lost)


@contextlib.contextmanager
def losses():
    """The texts of CUDAWarning in the block; other warnings are errors."""
    texts = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        warnings.simplefilter("always", cg.CUDAWarning)
        yield texts
        texts += [str(warning.message) for warning in caught]


@contextlib.contextmanager
def refused(kind, match=None):
    """Works like pytest.raises, for deliberate errors of a scenario; another CUDAError passes through."""
    try:
        yield
    except kind as error:
        if match is not None and match not in str(error):
            raise
        return
    raise AssertionError(f"no {kind.__name__} was raised")
