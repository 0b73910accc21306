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
from contextlib import AbstractContextManager, ExitStack
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
    if captures and hasattr(torch.cuda, "MemPool"):  # PyTorch 2.5
        pool = torch.cuda.MemPool()
        pools.append(pool)
        yield torch.cuda.use_mem_pool(pool, device)
    theirs = (
        torch.cuda.default_stream(device)
        if stream.handle in DEFAULT
        else torch.cuda.ExternalStream(stream.handle, device)
    )
    yield torch.cuda.stream(theirs)


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
        yield cupy.cuda.Stream.from_external(stream)
    else:
        yield cupy.cuda.ExternalStream(stream.handle, stream.device.device_id)
