# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws: where PyTorch or CuPy are imported, their current streams follow the `with` blocks of streams and builders, and
leave them as they were. In a capture they allocate from a pool of the graph. Nothing is imported for this."""

import asyncio
import contextlib
import gc
import sys
import threading
import types
import weakref

import pytest

import cuda_graphs as cg
from cuda_graphs.objects.device import foreign_streams


class Pool:
    def malloc(self):
        """Name the allocator of the pool."""


class StandIn:
    """The streams and allocators of a library, as stacks of what is current."""

    def __init__(self):
        self.streams, self.allocators, self.pools = ["its own"], ["its own"], []
        self.taken = 0  # pools of PyTorch that were begun and not released

    @contextlib.contextmanager
    def use_stream(self, stream):
        self.streams.append(stream)
        try:
            yield
        finally:
            assert self.streams.pop() == stream  # a library restores its streams in reverse order only

    @contextlib.contextmanager
    def use_allocator(self, allocator, device=0):
        self.allocators.append(allocator)
        try:
            yield
        finally:
            assert self.allocators.pop() == allocator

    def begin(self, device, pool):
        self.allocators.append(pool)
        self.taken += 1

    def end(self, device, pool):
        assert self.allocators.pop() is pool

    def release(self, device, pool):
        self.taken -= 1

    def make_pool(self):
        pool = Pool()
        self.pools.append(weakref.ref(pool))
        return pool


def torch_stand_in(library):
    def external(handle, device):
        assert device == 0
        return handle

    cuda = types.SimpleNamespace(
        is_available=lambda: True,
        init=lambda: None,
        default_stream=lambda device: "default",
        ExternalStream=external,
        stream=library.use_stream,
        graph_pool_handle=library.make_pool,
    )
    calls = types.SimpleNamespace(
        _cuda_beginAllocateCurrentThreadToPool=library.begin,
        _cuda_endAllocateToPool=library.end,
        _cuda_releasePool=library.release,
    )
    return types.SimpleNamespace(cuda=cuda, _C=calls)


class CupyStream:
    def __init__(self, library, stream):
        self.library, self.stream = library, stream

    def __enter__(self):
        self.entered = self.library.use_stream(self.stream)
        self.entered.__enter__()

    def __exit__(self, *error):
        return self.entered.__exit__(*error)


def cupy_stand_in(library):
    stream = types.SimpleNamespace(
        null=CupyStream(library, "default"),
        ptds=CupyStream(library, "of the thread"),
        from_external=lambda ours: CupyStream(library, ours.__cuda_stream__()[1]),
    )
    cuda = types.SimpleNamespace(
        Stream=stream,
        MemoryPool=library.make_pool,
        using_allocator=lambda malloc: library.use_allocator(malloc.__self__),
    )
    return types.SimpleNamespace(cuda=cuda)


def old_cupy_stand_in(library):
    module = cupy_stand_in(library)
    del module.cuda.Stream.from_external
    module.cuda.ExternalStream = lambda handle, device: CupyStream(library, handle)
    return module


STAND_INS = {
    "torch": ("torch", torch_stand_in),
    "cupy": ("cupy", cupy_stand_in),
    "cupy 13": ("cupy", old_cupy_stand_in),
}


@pytest.fixture(params=STAND_INS)
def library(request, monkeypatch):
    """A stand-in of a library that has been imported."""
    name, make = STAND_INS[request.param]
    found = StandIn()
    for each in ("torch", "cupy"):
        monkeypatch.delitem(sys.modules, each, raising=False)
    monkeypatch.setitem(sys.modules, name, make(found))
    monkeypatch.setattr(foreign_streams, "is_gpu", lambda: True)
    yield found
    assert found.streams == found.allocators == ["its own"]


def test_stream_of_a_library_follows_a_stream(library, device, stream):
    with cg.stream(stream):
        assert library.streams[-1] == stream.handle
        with cg.stream(device.default_stream):
            assert library.streams[-1] == "default"
        assert library.streams[-1] == stream.handle
        assert library.allocators == ["its own"]
    assert library.pools == []


def test_stream_of_a_library_follows_builders_and_bodies(library, device, stream):
    with cg.capture(stream) as builder:
        assert library.streams[-1] == stream.handle
        builder.callback(print)
        with builder.if_then(builder.create_condition(default_value=0)) as body:
            assert library.streams[-1] == body.stream.handle
            body.embed(empty_graph(device))
    assert library.streams == ["its own"]


def empty_graph(device):
    with device.create_graph_builder() as builder:
        cg.launch(builder, cg.LaunchConfig(grid=1, block=1), nothing())
    return builder


def nothing():
    source = 'extern "C" __global__ void nothing() {}'
    return cg.Program(source, code_type="c++").compile("cubin").get_kernel("nothing")


def test_graph_keeps_the_pool_of_its_capture(library, device):
    with cg.capture() as builder:
        (pool,) = library.pools
        assert library.allocators[-1] is pool()
        builder.callback(print)
    definition, graph = builder.graph_definition, builder.complete()
    for owner in ("builder", "definition", "graph"):
        gc.collect()
        assert pool() is not None, owner
        if owner == "builder":
            del builder
        elif owner == "definition":
            del definition
    del graph
    gc.collect()
    assert pool() is None
    assert library.taken == 0


def test_abandoned_capture_drops_its_pool_and_restores_the_library(library, device):
    with pytest.raises(KeyError), cg.capture():
        raise KeyError
    gc.collect()
    assert [pool() for pool in library.pools] == [None]
    assert library.taken == 0


def test_library_is_restored_when_blocks_are_left_in_the_wrong_order(library, device):
    first, second = cg.stream(device.create_stream()), cg.stream(device.create_stream())
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    second.__exit__(None, None, None)
    assert library.streams == ["its own"]


def test_library_is_restored_when_tasks_of_asyncio_take_turns(library, device):
    async def work(own, turn, others):
        with cg.stream(own):
            turn.set()
            await others.wait()

    async def main():
        entered = asyncio.Event()
        first = asyncio.create_task(work(device.create_stream(), asyncio.Event(), entered))
        second = asyncio.create_task(work(device.create_stream(), entered, asyncio.Event()))
        await first  # was entered first, and is left first
        streams = len(library.streams)
        second.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await second
        return streams

    assert asyncio.run(main()) == 3  # the library uses the stream of the second task until that one ends
    assert library.streams == ["its own"]


def test_library_uses_no_stream_that_has_ended(library, device):
    stream = device.create_stream()
    handle, alive = stream.handle, weakref.ref(stream)
    block = cg.stream(stream)
    block.__enter__()
    thread = threading.Thread(target=block.__exit__, args=(None, None, None))
    thread.start()
    thread.join()
    del stream, block
    gc.collect()
    assert library.streams[-1] == handle  # only its own thread can restore the library
    assert alive() is not None
    with cg.stream(device.default_stream):
        pass
    gc.collect()
    assert library.streams == ["its own"]
    assert alive() is None


def test_error_of_a_library_leaves_no_stream_current(library, device, stream, monkeypatch):
    def fail(*args):
        raise RuntimeError("no stream today")

    for module in ("torch", "cupy"):
        if module in sys.modules:
            monkeypatch.setattr(sys.modules[module].cuda, "ExternalStream", fail, raising=False)
            monkeypatch.setattr(
                getattr(sys.modules[module].cuda, "Stream", sys), "from_external", fail, raising=False
            )
    for make in (cg.stream, cg.capture):
        with pytest.raises(RuntimeError, match="no stream today"), make(stream):
            raise AssertionError
        assert cg.current_stream() == device.default_stream
    stream.sync()


def test_library_without_a_gpu_or_half_imported_is_left_alone(monkeypatch, device, stream):
    monkeypatch.setattr(foreign_streams, "is_gpu", lambda: True)
    no_gpu = types.SimpleNamespace(cuda=types.SimpleNamespace(is_available=lambda: False))
    for module in (no_gpu, types.ModuleType("torch"), None):
        monkeypatch.setitem(sys.modules, "torch", module)
        with cg.stream(stream):
            assert cg.current_stream() == stream


def test_blocks_import_no_library(run_child):
    done = run_child(
        "import sys, cuda_graphs as cg\n"
        "device = cg.Device(); device.set_current()\n"
        "with cg.stream(device.create_stream()): pass\n"
        "assert not {'torch', 'cupy', 'cuda_graphs.objects.device.foreign_streams'} & set(sys.modules)\n"
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.cuda
def test_torch_follows_and_its_temporaries_have_memory_of_the_graph(device, stream):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    before = torch.cuda.current_stream().cuda_stream
    x = torch.arange(1024, device="cuda", dtype=torch.float32)

    def work():
        temporary = x * 2
        return temporary + 1

    with cg.stream(stream):
        assert torch.cuda.current_stream().cuda_stream == stream.handle
        work()
    device.sync()
    with cg.capture() as builder:
        assert torch.cuda.current_stream().cuda_stream == builder.stream.handle
        result = work()
    assert torch.cuda.current_stream().cuda_stream == before
    graph = builder.complete()
    builder.close()
    del builder
    others = [
        torch.full((1024,), -1.0, device="cuda") for _ in range(64)
    ]  # would take the memory of `temporary`
    graph.launch(stream)
    stream.sync()
    assert torch.equal(result, x * 2 + 1)
    assert all((each == -1).all() for each in others)


@pytest.mark.cuda
def test_graph_with_tensors_may_end_while_a_stream_captures(run_child):
    pytest.importorskip("torch")
    done = run_child(
        "import gc, torch, cuda_graphs as cg\n"
        "device = cg.Device(); device.set_current()\n"
        "x = torch.ones(1024, device='cuda')\n"
        "def capture():\n"
        "    with cg.capture() as builder:\n"
        "        y = x * 2\n"
        "    return builder.complete()\n"
        "graph = capture()\n"
        "with cg.capture(device.create_stream(), 'global') as outer:\n"
        "    del graph; gc.collect()\n"
        "    outer.callback(print)\n"
        "assert outer.state == 'ended'\n"
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.cuda
def test_cupy_follows_and_its_temporaries_have_memory_of_the_graph(device, stream):
    cupy = pytest.importorskip("cupy")
    before = cupy.cuda.get_current_stream().ptr
    x = cupy.arange(1024, dtype="f4")

    def work():
        temporary = x * 2
        return temporary + 1

    with cg.stream(stream):
        assert cupy.cuda.get_current_stream().ptr == stream.handle
        work()
    device.sync()
    with cg.capture() as builder:
        assert cupy.cuda.get_current_stream().ptr == builder.stream.handle
        result = work()
    assert cupy.cuda.get_current_stream().ptr == before
    graph = builder.complete()
    builder.close()
    del builder
    others = [cupy.full(1024, -1, dtype="f4") for _ in range(64)]
    graph.launch(stream)
    stream.sync()
    assert (result == x * 2 + 1).all()
    assert all((each == -1).all() for each in others)
