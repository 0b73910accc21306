# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: each holder of a node alone keeps the objects that the node uses, and the last holder releases them.

A table of used objects, times a table of holders. All other references are dropped before the holder is used.
"""

import ctypes
import gc
import weakref

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.core.resources import boxes
from tests.graph_rig import ONE

FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Callback:
    """A callable that can be watched."""

    def __call__(self, data=None):
        pass


def count_of(kind):
    """Returns a function that tells whether one more box of that kind lives than now."""
    before = boxes.live()[kind]
    return lambda: boxes.live()[kind] == before + 1


def add_kernel(place, rig):
    alive = count_of("library")
    place.launch(ONE, rig.fresh_kernels().nothing)
    return alive


def add_record(place, rig):
    alive = count_of("event")
    place.record_event(rig.device.create_event())
    return alive


def add_wait(place, rig):
    alive = count_of("event")
    place.wait_event(rig.device.create_event())
    return alive


def add_callback(place, rig):
    callback = Callback()
    place.callback(callback)
    watch = weakref.ref(callback)
    return lambda: watch() is not None


def add_c_function(place, rig):
    callback = Callback()
    place.callback(FUNCTION(callback), user_data=b"abc")
    watch = weakref.ref(callback)
    return lambda: watch() is not None


def add_argument(place, rig):
    alive = count_of("pointer")
    place.launch(ONE, rig.kernels.affine, rig.buffer(), 3, 1)
    return alive


def add_closed_argument(place, rig):
    alive, buffer = count_of("pointer"), rig.buffer()
    place.launch(ONE, rig.kernels.affine, buffer, 3, 1)
    buffer.close()
    return alive


def add_memset(place, rig):
    alive, buffer = count_of("pointer"), rig.buffer()
    place.memset(buffer, 1, 16)
    buffer.close()
    return alive


def add_copy_to(place, rig):
    alive = count_of("pointer")
    place.memcpy(rig.buffer(), rig.array.ctypes.data, 16)
    return alive


def add_copy_from(place, rig):
    alive = count_of("pointer")
    place.memcpy(rig.array.ctypes.data, rig.buffer(), 16)
    return alive


USES = {
    "kernel": add_kernel,
    "recorded_event": add_record,
    "awaited_event": add_wait,
    "callable": add_callback,
    "c_function": add_c_function,
    "argument": add_argument,
    "closed_argument": add_closed_argument,
    "memset": add_memset,
    "copy_to": add_copy_to,
    "copy_from": add_copy_from,
}
IN_BODIES = ("kernel", "argument", "closed_argument", "memset", "copy_to", "copy_from")


class Rig:
    """The objects that nodes are made with, and the stream that runs graphs."""

    def __init__(self, device, kernels, fresh_kernels, pinned, stream, raw):
        self.device, self.kernels, self.fresh_kernels = device, kernels, fresh_kernels
        self.array, self.stream, self.raw = pinned(16), stream, raw

    def buffer(self):
        return cg.PinnedMemoryResource().allocate(64, stream=self.stream)

    def run(self, graph):
        graph.launch(self.stream)
        self.stream.sync()


@pytest.fixture
def rig(device, kernels, fresh_kernels, pinned, stream, raw):
    return Rig(device, kernels, fresh_kernels, pinned, stream, raw)


class RawClone:
    """A copy that others made through the driver, and an executable of it."""

    def __init__(self, definition, rig):
        self.graph, self.exec, self.raw, self.stream = (
            ctypes.c_void_p(),
            ctypes.c_void_p(),
            rig.raw,
            rig.stream,
        )
        self.raw("cuGraphClone", ctypes.byref(self.graph), ctypes.c_void_p(definition.handle))

    def instantiate(self):
        self.raw("cuGraphInstantiateWithFlags", ctypes.byref(self.exec), self.graph, ctypes.c_ulonglong(0))
        self.raw("cuGraphDestroy", self.graph)
        self.graph = None
        return self

    def launch(self, stream):
        if self.exec:
            self.raw("cuGraphLaunch", self.exec, ctypes.c_void_p(stream.handle))

    def close(self):
        if self.graph:
            self.raw("cuGraphDestroy", self.graph)
        if self.exec:
            self.raw("cuGraphExecDestroy", self.exec)


def embedding(definition):
    outer = cg.GraphDef()
    outer.embed(definition)
    return outer


def destroyed(definition, graph):
    """The executable of nodes that are in no definition any more."""
    for node in definition.nodes():
        node.destroy()
    return graph


def second_of_two(definition):
    first, second = definition.instantiate(), definition.instantiate()
    first.close()
    return second


# From the definition, which is dropped then.
HOLDERS = {
    "definition": lambda g, rig: g,
    "node": lambda g, rig: next(iter(g.nodes())),
    "executable": lambda g, rig: g.instantiate(),
    "executable_of_destroyed_nodes": lambda g, rig: destroyed(g, g.instantiate()),
    "second_executable": lambda g, rig: second_of_two(g),
    "embedded_copy": lambda g, rig: embedding(g),
    "graph_inside_an_embedding": lambda g, rig: next(iter(embedding(g).nodes())).child_graph,
    "executable_of_an_embedding": lambda g, rig: embedding(g).instantiate(),
    "clone_of_others": lambda g, rig: RawClone(g, rig),
    "executable_of_others": lambda g, rig: RawClone(g, rig).instantiate(),
}


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("use", USES)
def test_each_holder_alone_keeps_what_the_node_uses_and_the_last_gives_it_back(use, holder, rig, eventually):
    g = cg.GraphDef()
    alive = USES[use](g, rig)
    held = HOLDERS[holder](g, rig)
    del g
    gc.collect()
    boxes.drain()
    assert alive()
    if isinstance(held, cg.Graph | RawClone):
        rig.run(held)
        rig.run(held)
    assert alive()
    if hasattr(held, "close"):
        held.close()
    del held
    eventually(lambda: not alive())


@pytest.mark.parametrize("use", IN_BODIES)
def test_executable_keeps_the_needs_of_nodes_in_bodies(use, rig, eventually):
    g = cg.GraphDef()
    inner = g.if_then(g.create_condition(1)).then.if_else(g.create_condition(1)).then
    alive = USES[use](inner, rig)
    graph = g.instantiate()
    del g, inner
    gc.collect()
    assert alive()
    rig.run(graph)
    graph.close()
    del graph
    eventually(lambda: not alive())


@pytest.mark.parametrize("use", USES)
def test_destroying_the_node_gives_it_back(use, rig, eventually):
    g = cg.GraphDef()
    alive = USES[use](g, rig)
    (node,) = g.nodes()
    assert alive()
    node.destroy()
    eventually(lambda: not alive())


@pytest.mark.parametrize("use", IN_BODIES)
@pytest.mark.parametrize("how", ["conditional", "nested", "embedded_in_a_body"])
def test_destroying_a_node_gives_back_all_that_is_inside_however_deep(how, use, rig, eventually):
    g = cg.GraphDef()
    outer = g.while_loop(g.create_condition(0))
    if how == "conditional":
        alive = USES[use](outer.body, rig)
    elif how == "nested":
        alive = USES[use](outer.body.switch(g.create_condition(0), 3).branches[2], rig)
    else:
        child = cg.GraphDef()
        alive = USES[use](child, rig)
        outer.body.embed(child)
        del child
    gc.collect()
    assert alive()
    outer.destroy()
    eventually(lambda: not alive())
    assert g.nodes() == set()


def test_a_new_node_at_a_used_address_does_not_disturb_an_older_executable(rig, run):
    calls, graphs, handles = [], [], set()
    g = cg.GraphDef()
    for turn in range(20):
        node = g.callback(lambda turn=turn: calls.append(turn))
        handles.add(node.handle)
        graphs.append(g.instantiate())
        node.destroy()
        del node
    del g
    gc.collect()
    for graph in graphs:
        rig.run(graph)
    assert calls == list(range(20))


# Libraries are unloaded for real.


@pytest.mark.parametrize("last", ["code", "kernel", "node", "executable"])
def test_the_driver_unloads_a_library_once_when_its_last_holder_goes(
    last, code, rig, driver_table, eventually
):
    calls = driver_table.watch("cuLibraryUnload")
    module = cg.ObjectCode.from_cubin(code)
    kernel = module.get_kernel("nothing")
    g = cg.GraphDef()
    node = g.launch(ONE, kernel)
    graph = g.instantiate()
    holders = {"code": module, "kernel": kernel, "node": node, "executable": graph}
    keep = holders.pop(last)
    del module, kernel, g, node, graph, holders
    gc.collect()
    boxes.drain()
    assert calls == []
    if last == "executable":
        rig.run(keep)
    elif last == "node":
        assert keep.kernel.attributes.max_threads_per_block > 0
        rig.run(keep.graph.instantiate())
    elif last == "kernel":
        cg.launch(rig.stream, ONE, keep)
        rig.stream.sync()
    else:
        assert keep.get_kernel("nothing").name == "nothing"
    gc.collect()
    boxes.drain()
    assert calls == []
    del keep
    eventually(lambda: len(calls) == 1)
    assert [call.status for call in calls] == [0]


# Kernels of others.


@pytest.fixture
def foreign(raw, code):
    """A kernel that others loaded: its CUkernel, and how they unload it."""
    library, kernel = ctypes.c_void_p(), ctypes.c_void_p()
    none = (None, None, ctypes.c_uint(0)) * 2
    raw("cuLibraryLoadData", ctypes.byref(library), ctypes.c_char_p(code), *none)
    raw("cuLibraryGetKernel", ctypes.byref(kernel), library, ctypes.c_char_p(b"affine"))
    yield kernel.value
    raw("cuLibraryUnload", library)


def test_a_kernel_of_others_is_used_as_long_as_they_keep_it(foreign, pinned, run):
    x = pinned([1], "u4")
    kernel = cg.Kernel.from_handle(foreign)
    assert kernel.num_arguments == 3
    g = cg.GraphDef()
    node = g.launch(ONE, kernel, x.ctypes.data, np.uint32(3), np.uint32(1))
    assert node.kernel == kernel
    del kernel
    gc.collect()
    assert node.kernel.handle == foreign
    run(g)
    assert x[0] == 4


def test_the_mod_that_was_given_for_a_kernel_of_others_is_kept_by_graph_and_executable(
    foreign, code, libraries, pinned, run
):
    x, mod = pinned([1], "u4"), cg.ObjectCode.from_cubin(code)
    kernel = cg.Kernel.from_handle(foreign, mod)
    libraries(1)
    g = cg.GraphDef()
    node = g.launch(ONE, kernel, x.ctypes.data, np.uint32(3), np.uint32(1))
    del mod, kernel
    gc.collect()
    libraries(1)
    assert node.kernel.handle == foreign
    graph = run(g)
    assert x[0] == 4
    del g, node
    libraries(1)
    graph.close()
    libraries(0)


def test_a_kernel_that_was_borrowed_gets_its_library_when_its_own_code_is_told(code, libraries):
    """A kernel of ours whose wrappers are gone is unknown: the raw value and its code make it known again."""
    mod = cg.ObjectCode.from_cubin(code)
    handle = mod.get_kernel("affine").handle
    kernel = cg.Kernel.from_handle(handle, mod)
    del mod
    gc.collect()
    libraries(1)
    assert cg.Kernel.from_handle(handle) == kernel
    del kernel
    libraries(0)


def test_an_awaited_event_without_timing_is_told_as_it_was_made(device):
    node = cg.GraphDef().wait_event(device.create_event())
    gc.collect()
    assert (node.event.is_timing_enabled, node.event.is_blocking_sync) == (False, False)
    assert node.event.device == device
    assert node.event.is_done
