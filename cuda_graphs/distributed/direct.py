# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Small reductions without a library: each rank of a host writes its elements into memory of all other ranks.

An all_reduce is then one kernel of one block (compiler/codegen/ptx/ptx_exchange.py), at once, in captures, and as a
node that bodies take. Each engine has an Exchange, the memory of its rounds, which ranks open through the driver's
handles for other processes. Other collectives, large arrays and other types go to the library.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from cuda_graphs.compiler.codegen.ptx.ptx_exchange import MOST_THREADS, PAIR_BYTES, exchange_entry
from cuda_graphs.compiler.ir.exchanges import (
    FIRST_RANK,
    LARGEST_BYTES,
    MEMORY_BYTES,
    MOST_RANKS,
    TABLE_WORDS,
    TYPES,
)
from cuda_graphs.core.driver.choice import driver_info
from cuda_graphs.errors import CUDAError
from cuda_graphs.interop.adapted import address_of
from cuda_graphs.objects.code.kernel import Kernel
from cuda_graphs.objects.code.launch import launch
from cuda_graphs.objects.code.launch_config import LaunchConfig
from cuda_graphs.objects.code.object_code import ObjectCode
from cuda_graphs.objects.device.current import current_stream
from cuda_graphs.objects.device.device import current_device
from cuda_graphs.objects.memory.buffer import Buffer
from cuda_graphs.objects.memory.memory_resource import PinnedMemoryResource, SynchronousMemoryResource
from cuda_graphs.objects.memory.shared_memory import open_memory, share_memory

from .links import NOTHING
from .steps import Step

__all__ = ["DirectEngine", "find_refusal", "with_exchange"]

WARP = 32
NAME = "all_reduce"

# Exchanges that are not closed. Other ranks may write to their memory, even if this rank has no use for it any more.
_open: set[Exchange] = set()


class Exchange:
    """The memory of one engine for its direct reductions.

    Args:
        memory: The memory of this rank, of MEMORY_BYTES.
        opened: The memory of each rank, by its number: `memory` of this rank, and what it opened of the others.
        word: The address of the word of Health, which ends polls.
        rank: The number of this rank.

    Attributes:
        table: The table of the kernel.
    """

    def __init__(self, memory: Any, opened: Sequence[Any], word: int, rank: int) -> None:
        self.opened, size = list(opened), len(opened)
        self.table = memory.view(np.uint64, TABLE_WORDS)
        written = PinnedMemoryResource().allocate(8 * TABLE_WORDS)
        words = np.from_dlpack(written).view(np.uint64)
        words[:FIRST_RANK] = [1, word, rank | size << 32]
        words[FIRST_RANK : FIRST_RANK + size] = [each.handle for each in opened]
        stream = current_stream()
        written.copy_to(Buffer.from_handle(memory.handle, written.size, owner=memory), stream=stream)
        stream.sync()
        _open.add(self)

    def close(self, engine: Any) -> None:
        """Unmap the memory of the other ranks, and free that of this rank. All ranks call this."""
        engine.barrier()  # all ranks have completed their rounds
        self.opened.clear()
        engine.barrier()
        _open.discard(self)


def find_refusal(identities: Sequence[str], wanted: bool | None) -> str | None:
    """Return why the ranks of a communicator reduce nothing directly, or None.

    Args:
        identities: The results of `identify` (watch.py) of all ranks.
        wanted: The option `direct` of the program.
    """
    if wanted is False:
        return "the program passed direct=False"
    if len({each.rpartition(" ")[0] for each in identities}) > 1:
        return "the ranks are on several hosts"
    if len(identities) > MOST_RANKS:
        return f"there are more than {MOST_RANKS} ranks"
    if wanted is None and driver_info().kind == "host":
        return "on the host driver the program must pass direct=True"
    if wanted is None and len(identities) == 1:
        return "there is one rank"
    return None


def with_exchange(engine: Any, refusal: str | None) -> DirectEngine:
    """Return an engine that does small reductions directly, if it can. All ranks call this.

    Args:
        engine: The engine of the library.
        refusal: Why it shall not, the same on all ranks; None: it shall.
    """
    return DirectEngine(engine, *((None, refusal) if refusal else connect(engine)))


def connect(engine: Any) -> tuple[Exchange | None, str | None]:
    """Return the Exchange, or why there is none, which all ranks find alike. Uses the current stream."""
    memory, offer = offered()
    offers = [each.decode() for each in engine.gather(offer.encode())]
    opened, failure = opened_by(engine.rank, memory, offers)
    failures = [each.decode() for each in engine.gather((failure or NOTHING).encode())]
    first = next((rank for rank, each in enumerate(failures) if each != NOTHING), None)
    if first is None:
        return Exchange(memory, opened, engine.health.word.ctypes.data, engine.rank), None
    opened.clear()
    engine.barrier()  # all ranks have closed what they had opened
    return None, f"rank {first}: {failures[first]}"


FAILED = "!"  # begins the text of a failure in place of a handle


def offered() -> tuple[Any, str]:
    """Return new memory of zeros, and its handle as text, or the text of a failure."""
    stream = current_stream()
    try:
        memory = SynchronousMemoryResource(current_device()).allocate(MEMORY_BYTES)
        memory.fill(0, stream=stream)
        stream.sync()
        return memory, share_memory(memory).hex()
    except CUDAError as error:
        return None, FAILED + str(error)


def opened_by(rank: int, memory: Any, offers: Sequence[str]) -> tuple[list[Any], str | None]:
    """Return the memory of all ranks, and why the memory of a rank cannot be used, or None."""
    refused = next((each for each in offers if each.startswith(FAILED)), None)
    if refused is not None:
        return [], refused.removeprefix(FAILED)
    found: list[Any] = []
    for other, offer in enumerate(offers):
        try:
            found.append(memory if other == rank else open_offer(offer))
        except CUDAError as error:
            return found, f"it cannot open memory of rank {other}: {error}"
    return found, None


def open_offer(offer: str) -> Any:
    return open_memory(bytes.fromhex(offer), MEMORY_BYTES, current_device())


class DirectEngine:
    """An engine of a library whose small reductions go through an Exchange.

    Args:
        library: The engine that does everything else.
        exchange: The Exchange, or None.
        refusal: Why there is none.
    """

    def __init__(self, library: Any, exchange: Exchange | None, refusal: str | None) -> None:
        self.library, self.exchange, self.refusal = library, exchange, refusal

    def __getattr__(self, name: str) -> Any:
        return getattr(self.library, name)

    def refused(self, steps: Sequence[Step]) -> str | None:
        """Return why steps go to the library, or None."""
        step = steps[0]
        if self.refusal is not None:
            return self.refusal
        if step.name != NAME or len(steps) > 1:
            return f"only {NAME} is exchanged directly, one at a time"
        if step.operand.type not in TYPES:
            return f"elements of type {step.operand.type} are not exchanged directly"
        if step.count == 0:  # no rank would wait in this round, so one could be two rounds ahead
            return "an array without elements is not exchanged directly"
        if step.operand.size > LARGEST_BYTES:
            return f"{step.operand.size} bytes are more than the {LARGEST_BYTES} that are exchanged directly"
        return None

    def run(self, stream: Any, steps: Sequence[Step], lease: Any) -> None:
        """Start the steps on a stream, or add them to its capture."""
        if self.refused(steps):
            self.library.run(stream, steps, lease)
        else:
            config, kernel, arguments = self.launch_of(steps[0], lease)
            launch(stream, config, kernel, *arguments)

    def add(self, place: Any, steps: Sequence[Step], lease: Any) -> tuple[Any, Any]:
        """Add nodes after `place`. Returns the node of the collective and the last node."""
        if self.refused(steps):
            added: tuple[Any, Any] = self.library.add(place, steps, lease)
            return added
        config, kernel, arguments = self.launch_of(steps[0], lease)
        writes = [*steps[0].writes, lease.token]
        node = place.launch(config, kernel, *arguments, reads=steps[0].reads, writes=writes)
        return node, node

    def launch_of(self, step: Step, lease: Any) -> tuple[LaunchConfig, Kernel, tuple[Any, ...]]:
        """Return the launch of a reduction. The arguments keep `lease` alive, which keeps the Exchange open."""
        assert self.exchange is not None and step.send is not None and step.recv is not None
        kernel = exchange_kernel(step.operand.type, str(step.op))
        warps = -(-step.operand.size // (PAIR_BYTES * WARP))  # an array without elements is not exchanged
        threads = min(MOST_THREADS, warps * WARP)
        table = address_of(self.exchange.table.handle, lease)
        arguments = (table, step.send.array, step.recv.array, step.count)
        return LaunchConfig(grid=1, block=threads), kernel, arguments

    def close(self) -> None:
        """Free the exchange and the engine. All ranks call this."""
        if self.exchange is not None:
            self.exchange.close(self.library)
        self.library.close()


@cache
def exchange_kernel(kind: str, op: str) -> Kernel:
    """Return the kernel of a reduction."""
    return ObjectCode.from_ptx(exchange_entry(NAME, kind, op).encode(), name=NAME).get_kernel(NAME)
