# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: every public method of a class with `close` holds what it works with. Another thread may close the object, or
end its capture, before and after any driver call of the method. Then the method works or is refused, the object is
closed, and nothing is left.

The same at random: test_hammer.py, and without Python tests/handles/cpp/hammer.cpp.
"""

import contextlib
import gc
import sys
import threading
import types

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.objects.device import foreign_streams
from tests.driver_table import NAMES, WORDS
from tests.graph_rig import ONE
from tests.thread_rig import side_by_side

REFUSALS = (RuntimeError, ValueError, cg.CUDAError)
PATIENCE_S = 0.05  # of a closer that waits for a lock which the method holds
MOST_CALLS = 200


class World:
    """The arguments of the methods."""

    def __init__(self, device, kernels, pinned, tmp_path):
        self.device, self.kernel, self.path = device, kernels.affine, tmp_path / "graph.dot"
        self.stream, self.event = device.create_stream(), device.create_event()
        self.parent = None  # of a builder that another one made
        self.memory = cg.DeviceMemoryResource(device).allocate(64, stream=self.stream)
        self.x = pinned([1], "u4")
        self.definition = cg.GraphDef()
        self.node = self.definition.launch(ONE, kernels.affine, self.x.ctypes.data, 1, 1)
        self.child = device.create_graph_builder().begin_building()
        self.launch(self.child)
        self.child.end_building()

    def launch(self, stream):
        cg.launch(stream, ONE, self.kernel, self.x.ctypes.data, 1, 1)


def new(world):
    return world.device.create_graph_builder()


def building(world):
    builder = new(world).begin_building()
    world.launch(builder)
    return builder


def ended(world):
    return building(world).end_building()


def forked(world):
    world.parent = building(world)
    return world.parent.split(2)[1]


def body(world):
    world.parent = building(world)
    return world.parent.if_then(world.parent.create_condition(0))


def with_condition(add):
    return lambda world, builder: add(builder, builder.create_condition(0))


def in_with(world, builder):
    with builder:
        world.launch(builder)


def joined(world, builder):
    cg.GraphBuilder.join(*builder.split(3))


# Class -> public name -> (what makes the object, the use) of it, more than one where states matter.
BUILDER = {
    "begin_building": [(new, lambda w, b: b.begin_building()), (body, lambda w, b: b.begin_building())],
    "callback": [(building, lambda w, b: b.callback(int, name="n"))],
    "close": [(state, lambda w, b: b.close()) for state in (new, building, ended, body)],
    "complete": [(ended, lambda w, b: b.complete())],
    "create_condition": [(building, lambda w, b: b.create_condition(1))],
    "debug_dot_print": [(ended, lambda w, b: b.debug_dot_print(w.path))],
    "draw": [(ended, lambda w, b: b.draw())],
    "embed": [
        (building, lambda w, b: b.embed(w.child, name="n")),
        (ended, lambda w, b: building(w).embed(b)),
    ],
    "param": [(building, lambda w, b: b.param("p", cg.u32, default=1))],
    "end_building": [(building, lambda w, b: b.end_building())],
    "graph_definition": [(state, lambda w, b: b.graph_definition.nodes()) for state in (ended, body)],
    "if_else": [(building, with_condition(lambda b, c: b.if_else(c, name="n")))],
    "if_then": [(building, with_condition(lambda b, c: b.if_then(c, name="n")))],
    "is_building": [(building, lambda w, b: b.is_building)],
    "is_closed": [(building, lambda w, b: b.is_closed)],
    "is_join_required": [(building, lambda w, b: b.is_join_required)],
    "join": [(building, joined)],
    "kind": [(building, lambda w, b: b.kind)],
    "split": [(building, lambda w, b: b.split(3)), (forked, lambda w, b: b.split(3))],
    "state": [(building, lambda w, b: b.state)],
    "stream": [(building, lambda w, b: b.stream)],
    "switch": [(building, with_condition(lambda b, c: b.switch(c, 3, name="n")))],
    "while_loop": [(building, with_condition(lambda b, c: b.while_loop(c, name="n")))],
    "__cuda_stream__": [(building, lambda w, b: b.__cuda_stream__())],
    "__enter__": [(new, in_with)],
    "__repr__": [(building, lambda w, b: repr(b))],
    "_definition_for_update": [(ended, lambda w, b: w.definition.instantiate().update(b))],
    "_get_conditional_context": [(building, lambda w, b: b._get_conditional_context())],
    "_stream_or_error": [
        (state, use)
        for state in (building, forked)
        for use in (
            lambda w, b: w.launch(b),
            lambda w, b: w.memory.fill(1, stream=b),
            lambda w, b: w.stream.wait(b),
            lambda w, b: cg.GraphMemoryResource(w.device).allocate(64, stream=b).close(),
        )
    ],
}


def executable(world):
    return world.definition.instantiate()


def optimized(world):
    return world.definition.instantiate(optimize=True)


def with_loop(world):
    g, flag = cg.GraphDef(), cg.zeros(1, cg.i32)
    g.while_loop(flag, name="loop").body.memset(flag, 0)
    return g.instantiate()


def with_value(world):
    g = cg.GraphDef()
    g.memset(world.x.ctypes.data, g.param("value", cg.u8, 1), 4)
    return g.instantiate()


GRAPH = {
    "close": [(executable, lambda w, g: g.close())],
    "handle": [(executable, lambda w, g: g.handle)],
    "is_closed": [(executable, lambda w, g: g.is_closed)],
    "launch": [
        (executable, lambda w, g: g.launch(w.stream)),
        (with_value, lambda w, g: g.launch(w.stream, value=2)),
    ],
    "cancel": [(with_loop, lambda w, g: g.cancel())],
    "draw": [(executable, lambda w, g: g.draw())],
    "explain": [(optimized, lambda w, g: g.explain())],
    "profile": [(executable, lambda w, g: g.profile(w.stream, 2))],
    "iterations": [(with_loop, lambda w, g: g.iterations)],
    "params": [(with_value, lambda w, g: dict(g.params))],
    "set": [(with_value, lambda w, g: g.set(value=3))],
    "update": [(executable, lambda w, g: g.update(w.definition))],
    "upload": [(executable, lambda w, g: g.upload(w.stream))],
    "__getitem__": [
        (executable, lambda w, g: g[w.node].update(config=ONE, kernel=w.kernel, args=(w.x.ctypes.data, 2, 3)))
    ],
    "__repr__": [(executable, lambda w, g: repr(g))],
}


def own_stream(world):
    return world.device.create_stream()


STREAM = {
    "close": [(own_stream, lambda w, s: s.close())],
    "context": [(own_stream, lambda w, s: s.context)],
    "create_graph_builder": [(own_stream, lambda w, s: s.create_graph_builder().begin_building().close())],
    "device": [(own_stream, lambda w, s: s.device)],
    "from_handle": [(own_stream, lambda w, s: cg.Stream.from_handle(w.stream.handle))],
    "handle": [(own_stream, lambda w, s: s.handle)],
    "is_closed": [(own_stream, lambda w, s: s.is_closed)],
    "is_nonblocking": [(own_stream, lambda w, s: s.is_nonblocking)],
    "priority": [(own_stream, lambda w, s: s.priority)],
    "record": [(own_stream, lambda w, s: s.record()), (own_stream, lambda w, s: s.record(w.event))],
    "sync": [(own_stream, lambda w, s: s.sync())],
    "wait": [(own_stream, lambda w, s: s.wait(w.stream)), (own_stream, lambda w, s: w.stream.wait(s))],
    "__cuda_stream__": [(own_stream, use) for use in (
        lambda w, s: w.launch(s),
        lambda w, s: w.memory.fill(1, stream=s),
        lambda w, s: w.memory.copy_to(stream=s),
        lambda w, s: executable(w).launch(s),
        lambda w, s: w.definition.instantiate(upload_stream=s),
        lambda w, s: w.device.allocate(64, stream=s),
    )],
    "__repr__": [(own_stream, lambda w, s: repr(s))],
}  # fmt: skip


def own_event(world):
    return world.stream.record()


EVENT = {
    "close": [(own_event, lambda w, e: e.close())],
    "context": [(own_event, lambda w, e: e.context)],
    "device": [(own_event, lambda w, e: e.device)],
    "from_handle": [(own_event, lambda w, e: cg.Event.from_handle(w.event.handle))],
    "handle": [(own_event, lambda w, e: e.handle)],
    "is_blocking_sync": [(own_event, lambda w, e: e.is_blocking_sync)],
    "is_closed": [(own_event, lambda w, e: e.is_closed)],
    "is_done": [(own_event, lambda w, e: e.is_done)],
    "is_ipc_enabled": [(own_event, lambda w, e: e.is_ipc_enabled)],
    "is_timing_enabled": [(own_event, lambda w, e: e.is_timing_enabled)],
    "sync": [(own_event, lambda w, e: e.sync())],
    "__sub__": [
        (
            lambda w: w.stream.record(options={"timing_enabled": True}),
            lambda w, e: w.stream.record(options={"timing_enabled": True}) - e,
        )
    ],
    "__repr__": [(own_event, lambda w, e: repr(e))],
    "__eq__": [(own_event, use) for use in (
        lambda w, e: w.stream.wait(e),
        lambda w, e: w.stream.record(e),
        lambda w, e: cg.GraphDef().record_event(e),
    )],
}  # fmt: skip


def own_buffer(world):
    return cg.DeviceMemoryResource(world.device).allocate(64, stream=world.stream)


def owned_pinned(world):
    return cg.PinnedMemoryResource().allocate(64)


BUFFER = {
    "close": [(own_buffer, lambda w, b: b.close()), (own_buffer, lambda w, b: b.close(stream=w.stream))],
    "copy_from": [(own_buffer, lambda w, b: b.copy_from(w.memory, stream=w.stream))],
    "copy_to": [
        (own_buffer, lambda w, b: b.copy_to(w.memory, stream=w.stream)),
        (own_buffer, lambda w, b: b.copy_to(stream=w.stream)),
    ],
    "device_id": [(own_buffer, lambda w, b: b.device_id)],
    "fill": [(own_buffer, lambda w, b: b.fill(1, stream=w.stream))],
    "view": [(own_buffer, lambda w, b: b.view(cg.f32))],
    "from_handle": [(own_buffer, lambda w, b: cg.Buffer.from_handle(w.x.ctypes.data, 4, owner=w.x))],
    "handle": [(own_buffer, lambda w, b: b.handle)],
    "is_closed": [(own_buffer, lambda w, b: b.is_closed)],
    "is_device_accessible": [(own_buffer, lambda w, b: b.is_device_accessible)],
    "is_host_accessible": [(own_buffer, lambda w, b: b.is_host_accessible)],
    "is_managed": [(own_buffer, lambda w, b: b.is_managed)],
    "memory_resource": [(own_buffer, lambda w, b: b.memory_resource)],
    "owner": [(own_buffer, lambda w, b: b.owner)],
    "set_deallocation_stream": [(own_buffer, lambda w, b: b.set_deallocation_stream(w.stream))],
    "size": [(own_buffer, lambda w, b: b.size)],
    "__dlpack__": [(owned_pinned, lambda w, b: np.from_dlpack(b).sum())],
    "__dlpack_device__": [(owned_pinned, lambda w, b: b.__dlpack_device__())],
    "__enter__": [(own_buffer, lambda w, b: b.__enter__().__exit__())],
    "__repr__": [(own_buffer, lambda w, b: repr(b))],
    "__eq__": [(own_buffer, use) for use in (
        lambda w, b: cg.launch(w.stream, ONE, w.kernel, b, 1, 1),
        lambda w, b: cg.GraphDef().memset(b, 1, 64),
    )],
}  # fmt: skip

TABLES = {cg.GraphBuilder: BUILDER, cg.Graph: GRAPH, cg.Stream: STREAM, cg.Event: EVENT, cg.Buffer: BUFFER}
CASES = [
    pytest.param(make, use, id=f"{kind.__name__}.{name}-{i}")
    for kind, table in TABLES.items()
    for name, uses in table.items()
    for i, (make, use) in enumerate(uses)
]


@pytest.mark.parametrize("kind", TABLES)
def test_table_has_every_public_name(kind):
    public = {name for name in dir(kind) if not name.startswith("_")}
    assert {name for name in TABLES[kind] if not name.startswith("_")} == public


def test_every_class_with_a_close_has_a_table():
    public = [getattr(cg, name) for name in cg.__all__]
    classes = {each for each in public if isinstance(each, type) and hasattr(each, "close")}
    assert classes - set(TABLES) == {
        cg.GraphMemoryResource,
        cg.Program,
    }  # their close does nothing with the driver


@pytest.fixture
def world(device, kernels, pinned, tmp_path):
    yield World(device, kernels, pinned, tmp_path)
    cg.reset()  # kernels of the library stay loaded otherwise


class Interruption:
    """Does `action` on another thread at call number `at` of the driver that this thread makes, before it or after."""

    def __init__(self, driver_table, at, is_before, action):
        self.table, self.at, self.is_before, self.action = driver_table, at, is_before, action
        self.thread, self.left, self.closer = threading.get_ident(), at, None

    def __enter__(self):
        for name in NAMES:
            if self.table.before[NAMES.index(name)]:
                self.table._put(name, WORDS(self._meddled(self.table.original(name))))
        return self

    def __exit__(self, *exc):
        self.table.restore()
        self.table.functions.clear()
        if self.closer is not None:
            self.closer.join()

    def _meddled(self, original):
        def call(*words):
            if threading.get_ident() != self.thread:
                return original(*words)
            self.left -= 1
            now = self.left == -1
            if now and self.is_before:
                self._act()
            status = original(*words)
            if now and not self.is_before:
                self._act()
            return status

        return call

    def _act(self):
        self.closer = threading.Thread(target=self._close)
        self.closer.start()
        self.closer.join(PATIENCE_S)

    def _close(self):
        with contextlib.suppress(*REFUSALS):
            self.action()


def sweep(world, driver_table, make, use, act):
    """Uses a fresh object once for each call of the driver that the use makes; how many these are."""
    for is_before in (True, False):
        for at in range(MOST_CALLS):
            thing = make(world)
            interruption = Interruption(driver_table, at, is_before, lambda thing=thing: act(thing))
            with interruption, contextlib.suppress(*REFUSALS):
                use(world, thing)
            thing.close()
            if world.parent is not None:
                with contextlib.suppress(cg.CUDAError):
                    world.parent.close()
                world.parent = None
            assert thing.is_closed
            if interruption.closer is None:
                break
        else:
            raise AssertionError(f"more than {MOST_CALLS} calls of the driver")


@pytest.mark.parametrize("make", [new, building])
def test_closing_while_other_libraries_begin_to_follow_a_block_is_safe(make, world, monkeypatch):
    def follow(stream, captures):
        closer = threading.Thread(target=builder.close)
        closer.start()
        closer.join()
        return contextlib.ExitStack(), (object(),)

    monkeypatch.setitem(sys.modules, "torch", types.ModuleType("torch"))
    monkeypatch.setattr(foreign_streams, "follow", follow)
    builder = make(world)
    with pytest.raises(REFUSALS):
        in_with(world, builder)
    assert builder.is_closed


@pytest.mark.parametrize(("make", "use"), CASES)
def test_closing_at_any_driver_call_of_a_method_is_safe(make, use, world, driver_table):
    sweep(world, driver_table, make, use, lambda thing: thing.close())


@pytest.mark.parametrize(("make", "use"), [case for case in CASES if case.id.startswith("GraphBuilder")])
def test_ending_the_capture_at_any_driver_call_of_a_method_is_safe(make, use, world, driver_table):
    sweep(world, driver_table, make, use, lambda builder: builder.end_building())


def attempt(action):
    with contextlib.suppress(*REFUSALS):
        action()


@pytest.mark.parametrize(("make", "use"), [case for case in CASES if case.id.startswith("GraphBuilder")])
@pytest.mark.parametrize("end", ["close", "end_building"])
def test_builder_is_used_and_ended_side_by_side(end, make, use, world):
    for _ in range(10):
        builder = make(world)
        side_by_side(
            lambda builder=builder: attempt(lambda: use(world, builder)),
            lambda builder=builder: attempt(getattr(builder, end)),
        )
        attempt(builder.close)
        world.parent = None
    gc.collect()


def test_callback_that_meets_the_end_of_its_capture_is_never_called(world):
    calls = []
    for _ in range(300):
        builder = building(world)
        side_by_side(
            lambda builder=builder: attempt(lambda: builder.callback(lambda: calls.append(1))),
            lambda builder=builder: attempt(builder.end_building),
        )
        attempt(builder.close)
    world.device.sync()
    assert calls == []
