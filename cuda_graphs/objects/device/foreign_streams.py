# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The current streams of PyTorch and CuPy, which follow the current stream of this package.

During a capture their allocators use a pool that only the captured graph uses. Otherwise an allocator would give the
memory of a temporary array to other work, while the graph still writes to it. The graph keeps the pool.

The module imports neither library. It is imported if one of them is in `sys.modules`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

from cuda_graphs.core.driver.choice import driver_info
from cuda_graphs.objects.device.stream import Stream

__all__ = ["follow"]

DEFAULT = (0, 1)  # handles of the legacy default stream
PER_THREAD = 2  # handle of the per-thread default stream


def follow(stream: Stream, captures: bool) -> tuple[ExitStack | None, tuple[Any, ...]]:
    """Make a stream current in PyTorch and CuPy, and give their allocators private pools if a capture begins.

    Returns:
        An ExitStack that restores both libraries, and the pools. None and no pools if the driver is not libcuda.
    """
    if not is_gpu():
        return None, ()
    pools: list[Any] = []
    with ExitStack() as entered:
        for name, contexts in (("torch", torch_contexts), ("cupy", cupy_contexts)):
            library = sys.modules.get(name)
            if hasattr(library, "cuda"):  # another thread may be importing it
                for context in contexts(library, stream, captures, pools):
                    entered.enter_context(context)
        restore = entered.pop_all()
    return restore, tuple(pools)


def is_gpu() -> bool:
    """Return True if the streams of this process are streams of libcuda."""
    return driver_info().kind == "cuda"


def torch_contexts(
    torch: Any, stream: Stream, captures: bool, pools: list[Any]
) -> Iterator[AbstractContextManager[Any]]:
    """Yield the contexts to enter in PyTorch, and add the pool to `pools`."""
    if not torch.cuda.is_available():
        return
    device = stream.device.device_id
    if captures and hasattr(torch._C, "_cuda_beginAllocateCurrentThreadToPool"):  # PyTorch 2.7
        pool = TorchPool(torch, device)
        pools.append(pool)
        yield pool.in_use()
    theirs = (
        torch.cuda.default_stream(device)
        if stream.handle in DEFAULT
        else torch.cuda.ExternalStream(stream.handle, device)
    )
    yield torch.cuda.stream(theirs)


class TorchPool:
    """A pool of PyTorch's allocator for the tensors of one capture.

    It makes the calls of torch.cuda.CUDAGraph. The destructor of torch.cuda.MemPool calls the driver, and it ends the
    process if any stream of the process is capturing then. To release the pool calls no driver: the allocator frees
    the memory later.
    """

    def __init__(self, torch: Any, device: int) -> None:
        torch.cuda.init()  # before its first use of CUDA the allocator knows no device
        self._begin = torch._C._cuda_beginAllocateCurrentThreadToPool
        self._end = torch._C._cuda_endAllocateToPool
        self._release = torch._C._cuda_releasePool
        self._pool = torch.cuda.graph_pool_handle()
        self._device = device
        self._is_taken = False

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Allocate the tensors of this thread from the pool."""
        self._begin(self._device, self._pool)
        self._is_taken = True
        try:
            yield
        finally:
            self._end(self._device, self._pool)

    def __del__(self) -> None:
        if self._is_taken:
            self._release(self._device, self._pool)


class StreamHandle:
    """The handle of a stream for CuPy, which may keep the object that it is given after the block."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._handle


def cupy_contexts(
    cupy: Any, stream: Stream, captures: bool, pools: list[Any]
) -> Iterator[AbstractContextManager[Any]]:
    """Yield the contexts to enter in CuPy, and add the pool to `pools`."""
    if captures:
        pool = cupy.cuda.MemoryPool()
        pools.append(pool)
        yield cupy.cuda.using_allocator(pool.malloc)
    if stream.handle in DEFAULT:
        yield cupy.cuda.Stream.null
    elif stream.handle == PER_THREAD:
        yield cupy.cuda.Stream.ptds
    elif hasattr(cupy.cuda.Stream, "from_external"):  # CuPy 14
        yield cupy.cuda.Stream.from_external(StreamHandle(stream.handle))
    else:
        yield cupy.cuda.ExternalStream(stream.handle, stream.device.device_id)
