# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: threads may build, capture, read, instantiate, launch, set, update, close, drop and collect at random, each with
its own definitions and streams and all with the same executables. They also read each other's definitions. A call
either succeeds or is refused for a known reason, each launch runs once, and at the end all objects are gone.

tests/conftest.py checks after every test that no box is left. tests/handles/cpp/hammer.cpp does the same without
Python, under the thread sanitizer."""

import gc
import random
import threading
import weakref

import pytest

import cuda_graphs as cg
from tests.thread_rig import side_by_side

THREADS, STEPS, SHARED = 4, 120, 6
ATOMIC_ADD_OF_ONE = cg.LaunchConfig(grid=1, block=1, shmem_size=4)
MODES = ("global", "thread_local", "relaxed")
UPDATE_FAILURE = 910
REFUSALS = ("closed", "the definition that the Graph was made from, which is gone")


def set_unless_gone(graph, address):
    """Set the parameter, which another thread may have taken away since it was read: an update from a captured
    definition leaves none."""
    try:
        graph.set(out=address)
    except TypeError as refused:
        if str(refused) != "the graph has no parameter 'out'; it has: none":
            raise


class Payload:
    """An object that a callback keeps."""


class World:
    def __init__(self, kernels, x):
        self.kernel, self.addresses = kernels.shape, [x[i:].ctypes.data for i in range(len(x))]
        self.executables = [(None, 0)] * SHARED  # each with how much a launch adds
        self.definitions = [None] * SHARED  # those that are not changed any more
        self.lock = threading.Lock()  # of the numbers below
        self.launched = self.calls = self.made = self.gone = 0

    def count(self, what, amount=1):
        with self.lock:
            setattr(self, what, getattr(self, what) + amount)

    def callback(self):
        payload = Payload()
        self.count("made")
        weakref.finalize(payload, self.count, "gone")
        return lambda: (payload, self.count("calls"))


class Actor:
    """One thread: what it does is a matter of its seed; when, of the machine."""

    def __init__(self, world, seed):
        self.world, self.random = world, random.Random(seed)

    def run(self):
        self.device, self.stream = cg.Device(0), cg.Device(0).create_stream()
        self.definitions, self.memory, self.open = [], [], None
        self.edited = cg.GraphDef()
        steps = [getattr(self, name) for name in dir(self) if name.startswith("step_")]
        for _ in range(STEPS):
            self.random.choice(steps)()
        if self.open is not None:
            self.open.close()

    def keep(self, definition):
        self.definitions = [*self.definitions[-3:], definition]
        self.world.definitions[self.random.randrange(SHARED)] = definition

    def share(self, graph, amount):
        self.world.executables[self.random.randrange(SHARED)] = graph, amount

    def pick(self):
        return self.random.choice(self.world.executables)

    def attempt(self, action):
        """Returns whether the action was done. Other threads may have closed the executable or dropped its definition,
        or the definition may have another shape."""
        try:
            action()
        except (RuntimeError, ValueError) as refused:
            if not any(reason in str(refused) for reason in REFUSALS):
                raise
            return False
        except cg.CUDAError as refused:
            if refused.code != UPDATE_FAILURE:
                raise
            return False
        return True

    def step_define(self):
        g = cg.GraphDef()
        out = g.param("out", cg.pointer, default=self.random.choice(self.world.addresses))
        node = g.launch(ATOMIC_ADD_OF_ONE, self.world.kernel, out)
        if self.random.random() < 0.5:
            node.callback(self.world.callback())
        if self.random.random() < 0.5:
            node.memset(self.device.allocate(64, stream=self.stream), 1)
        self.keep(g)

    def step_read(self):
        """Any thread reads a definition while others instantiate it or update executables from it."""
        definitions = self.world.definitions
        definition = definitions[self.random.randrange(len(definitions))]
        if definition is not None:
            for node in definition.nodes():
                assert node.name
                assert repr(node)
                assert node.is_valid
                if isinstance(node, cg.HostCallbackNode):
                    assert callable(node.callback_fn)

    def step_edit(self):
        """Not of what was instantiated: a definition is changed by one thread at a time, and others may use it."""
        added = self.edited.callback(self.world.callback())
        if self.random.random() < 0.7:
            added.destroy()

    def step_instantiate(self):
        if self.definitions:
            self.share(self.random.choice(self.definitions).instantiate(), 1)

    def step_capture(self):
        with self.device.create_graph_builder().begin_building(self.random.choice(MODES)) as builder:
            cg.launch(builder, ATOMIC_ADD_OF_ONE, self.world.kernel, self.random.choice(self.world.addresses))
            if self.random.random() < 0.5:
                builder.callback(self.world.callback())
        self.share(builder.complete(), 1)
        self.keep(builder.graph_definition)

    def step_capture_for_long(self):
        """Steps of this thread, and of all others, come between its beginning and its end."""
        if self.open is None:
            self.open, self.amount = self.device.create_graph_builder(), 0
            self.open.begin_building(self.random.choice(MODES))
            return
        cg.launch(self.open, ATOMIC_ADD_OF_ONE, self.world.kernel, self.random.choice(self.world.addresses))
        self.amount += 1
        if self.random.random() < 0.3:
            self.share(self.open.end_building().complete(), self.amount)
            self.open = None
        elif self.random.random() < 0.2:
            ring = [self.open]
            ring.append(ring)
            self.open = None  # the next garbage collection ends it

    def step_launch(self):
        graph, amount = self.pick()
        if graph is not None and self.attempt(lambda: graph.launch(self.stream)):
            self.world.count("launched", amount)

    step_launch_again = step_launch_more = step_launch  # as often as all of that

    def step_set(self):
        graph, _ = self.pick()
        if graph is not None and "out" in self.parameters_of(graph):
            self.attempt(lambda: set_unless_gone(graph, self.random.choice(self.world.addresses)))

    def parameters_of(self, graph):
        try:
            return list(graph.params)
        except RuntimeError:
            return []

    def step_update(self):
        graph, _ = self.pick()
        if graph is not None and self.definitions:
            self.attempt(lambda: graph.update(self.random.choice(self.definitions)))

    def step_close(self):
        graph, _ = self.pick()
        if graph is not None:
            graph.close()

    def step_drop(self):
        self.share(None, 0)

    def step_memory(self):
        self.memory.append(self.device.allocate(256, stream=self.stream))
        self.memory.append(cg.PinnedMemoryResource().allocate(256))
        if len(self.memory) > 6:
            self.memory = self.memory[4:]

    def step_collect(self):
        gc.collect()


def test_a_parameter_that_an_update_takes_away_is_the_only_refusal_of_a_set(kernels, pinned):
    x = pinned([0])
    g = cg.GraphDef()
    g.launch(ATOMIC_ADD_OF_ONE, kernels.shape, g.param("out", cg.pointer, default=x.ctypes.data))
    plain = cg.GraphDef()
    plain.launch(ATOMIC_ADD_OF_ONE, kernels.shape, x.ctypes.data)
    graph = g.instantiate()
    set_unless_gone(graph, x.ctypes.data)
    with pytest.raises(TypeError, match="must be an address"):
        set_unless_gone(graph, "here")
    graph.update(plain)
    set_unless_gone(graph, x.ctypes.data)


@pytest.mark.parametrize("seed", range(3))
def test_threads_at_random(seed, kernels, pinned, device, eventually):
    x = pinned([0, 0, 0])
    world = World(kernels, x)
    side_by_side(*[Actor(world, 100 * seed + i).run for i in range(THREADS)])
    gc.collect()  # builders that were dropped while they captured
    device.sync()
    assert x.sum() == world.launched > 0
    world.executables.clear()
    world.definitions.clear()
    eventually(lambda: world.gone == world.made)
    assert world.calls > 0
