# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Communicator: ranks, and their collectives at once, in captures and as nodes of definitions.

An engine (mpi_engine.py, nccl_engine.py) translates steps into the calls of its library. Each definition gets an engine
of its own, by a Lease (lease.py): collectives in a running graph then never meet those of the host or of another graph.
When its Lease has ended on all ranks, the engine is free for another definition.
"""

from __future__ import annotations

import pickle
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any

import numpy as np

from cuda_graphs.graph.capture.captured_insertion_point import BorrowedCapture, CapturedInsertionPoint
from cuda_graphs.graph.nodes.launch_guards import add_guard
from cuda_graphs.kernels.arrays.creation import zeros
from cuda_graphs.kernels.graph.host_calls import BodyRefusal, ExchangeRefusal
from cuda_graphs.objects.device.current import current_stream
from cuda_graphs.objects.device.current import stream as stream_block
from cuda_graphs.objects.device.device import current_device
from cuda_graphs.objects.memory.array_view import graph_memory_error

from .direct import find_refusal, with_exchange
from .halo import Halo, check_halo
from .health import RankError, begin_debug_mode
from .kept_results import Scratch, copy_kept
from .lease import Lease, refuse_parameters
from .links import NOTHING
from .plans import Plan, first_difference
from .steps import Operand, Step, check_writable, read_operand, read_operation, read_output, read_rank
from .watch import identify, unwatch, watch

__all__ = ["Communicator"]

DESTROYED_S = 0.5  # for CUDA to free what a destroyed graph has kept


class BoundCollective:
    """A method of a Communicator that is also called in graphs: ``node.call(comm.all_reduce, x)``."""

    def __init__(self, comm: Communicator, read: Callable[..., list[Step]]) -> None:
        self.comm, self.read = comm, read
        update_wrapper(self, read)

    def __call__(self, *args: Any, stream: Any = None, **keywords: Any) -> Any:
        steps = self.comm._read(self.read, args, keywords)
        if stream is None:
            self.comm._run(steps, current_stream())
        else:
            with stream_block(stream) as given:
                self.comm._run(steps, given)
        return None if len(steps) > 1 else (steps[0].recv or steps[0].operand).array

    def __cuda_graph_check__(self, args: tuple[Any, ...]) -> None:
        """Raise the exception of wrong arguments."""
        self.comm._read(self.read, args, {})

    def __cuda_graph_exchange__(self, args: tuple[Any, ...]) -> str | None:
        """Return why the call cannot be a part of a resident launch, or None."""
        steps = self.comm._read(self.read, args, {})
        if self.comm._debug:
            return "debug mode compares the ranks before each collective"
        found: str | None = self.comm._at_once.engine.refused(steps)
        return found

    def __cuda_graph_run_if__(self, args: tuple[Any, ...], condition: Any, stream: Any) -> None:
        """Run at once on a stream, and keep the results if `condition`, a u32 of the device, is not 0 then."""
        steps = self.comm._read(self.read, args, {})
        with stream_block(stream):
            found = list(self.comm._scratch.elsewhere(steps, stream))
            self.comm._run([step for step, _ in found], stream)
            for step, target in found:
                if target is not None:
                    copy_kept(step, target, condition, stream)

    def __cuda_graph_emit__(self, node: Any, args: tuple[Any, ...]) -> Any:
        """Add a node after `node`, and after the collectives that were added before."""
        return self.comm._add(node, self.comm._read(self.read, args, {}))

    def __repr__(self) -> str:
        return f"<{self.read.__name__} of {self.comm!r}>"


class Collective:
    """Decorator: a method that returns the steps of a call becomes a BoundCollective of each Communicator."""

    bound = BoundCollective

    def __init__(self, read: Callable[..., list[Step]]) -> None:
        self.read = read
        update_wrapper(self, read)  # type: ignore[arg-type]

    def __get__(self, comm: Communicator | None, owner: type) -> Any:
        return self if comm is None else self.bound(comm, self.read)


class BoundBarrier(BoundCollective):
    """`barrier` of a Communicator. A call without a stream waits on the host."""

    def __call__(self, *args: Any, stream: Any = None, **keywords: Any) -> None:
        if stream is not None or args or keywords:
            super().__call__(*args, stream=stream, **keywords)
            return
        engine = self.comm._healthy()
        with stream_block(self.comm._side):
            engine.barrier()


class Barrier(Collective):
    """Decorator of `barrier`."""

    bound = BoundBarrier


class Communicator:
    """Ranks that exchange arrays. `init`, `from_mpi` and `split` make it.

    Its collectives are called in these ways:

    * ``comm.all_reduce(x)`` runs on the current stream, or on ``stream=...``, and returns at once;
    * the same call on a stream that is being captured adds a node to the capture;
    * ``node.call(comm.all_reduce, x)`` adds a node to a definition;
    * the body of a conditional node takes both;
    * a graph kernel with a parameter ``comm: cg.distributed.Communicator`` calls ``comm.all_reduce(x)`` between its
      loops.

    All ranks call the same collectives in the same order, and launch graphs with collectives in the same order. The
    first collective that is added to a definition gives it a communicator of its own, so all ranks add it. Collectives
    of one definition run in the order in which they were added.

    Arrays are arrays of the device without gaps: an NDArray, memory of an alloc node, or an array of another library.
    In a definition they may be named parameters of an array type with a default, which has the shape of all values.
    """

    # The methods that graph kernels may call (compiler/language/host_objects.py).
    __cuda_graph_calls__ = (
        "all_reduce",
        "reduce",
        "broadcast",
        "all_gather",
        "reduce_scatter",
        "all_to_all",
        "send",
        "recv",
        "group",
        "barrier",
    )
    __cuda_graph_numbers__ = ("rank", "size")

    def __init__(
        self, engine: Any, debug: bool = False, direct: bool | None = None, connects: bool = True
    ) -> None:
        self._engine: Any = engine
        self._health, self._debug, self._direct = engine.health, debug, direct
        if debug:
            begin_debug_mode(self._health)
        self._side = current_device().create_stream()  # is in no capture
        with stream_block(self._side):
            identities = [each.decode() for each in engine.gather(identify().encode())]
            self._connects = watch(self._health, engine.rank, identities, engine.gather if connects else None)
            self._refusal = find_refusal(identities, direct)
            self._at_once = Lease(self._new_engine())
        self._word = zeros(1, np.int32)  # of barriers in graphs
        self._scratch = Scratch()
        self._stream: Any = None  # of the last call outside of graphs
        self._calls: deque[tuple[Any, list[Any]]] = deque()  # ends and arrays of calls outside of graphs
        self._engines: list[Any] = []  # of definitions; the same on all ranks
        self._leases: list[Callable[[], Lease | None]] = []  # weak references, one for each engine
        self._definitions: weakref.WeakValueDictionary[int, Lease] = weakref.WeakValueDictionary()
        self._shared: weakref.WeakKeyDictionary[Any, Lease] = weakref.WeakKeyDictionary()

    # ---- ranks

    @property
    def rank(self) -> int:
        """The number of this rank, from 0."""
        return int(self._open().rank)

    @property
    def size(self) -> int:
        """The number of ranks."""
        return int(self._open().size)

    @property
    def engine(self) -> str:
        """The library that exchanges the data: "mpi" on the host driver, "nccl" on GPUs."""
        return str(self._open().name)

    @property
    def is_closed(self) -> bool:
        return self._engine is None

    def split(self, color: int | None, key: int | None = None) -> Communicator | None:
        """Return a Communicator of the ranks that give the same color. All ranks call this.

        Args:
            color: An int of at least 0. None: this rank is in no group, and gets None.
            key: Ranks are ordered by their keys. None: by their present numbers.

        Raises:
            ValueError: `color` is negative.
            RuntimeError: The communicator is closed.
        """
        engine = self._healthy()
        if color is not None and color < 0:
            raise ValueError(f"color must be 0 or more, or None, got {color}")
        with stream_block(self._side):
            found = engine.split(color, engine.rank if key is None else key)
        return None if found is None else Communicator(found, self._debug, self._direct, self._connects)

    def close(self) -> None:
        """Free the communicator, and those of its definitions. All ranks call this. A second call does nothing.

        Waits for the collectives that were called outside of graphs. After another rank has ended, it does not wait for
        the others.

        Raises:
            RuntimeError: A definition or an executable still uses the communicator.
        """
        if self._engine is None:
            return
        used = self._count_graphs()
        if used:
            raise RuntimeError(
                f"{self!r} is used by {used} graph{'s' * (used > 1)}: delete the definitions and executables first, "
                "and call forget() of graph kernels that took it"
            )
        self._at_once.wait()
        unwatch(self._health)
        if self._health.reason is None:  # otherwise the engines have been aborted
            with stream_block(self._side):
                for engine in [*self._engines, self._at_once.engine, self._engine]:
                    engine.close()
        self._engine = self._stream = None
        self._calls.clear()
        self._scratch = Scratch()

    def _count_graphs(self) -> int:
        """Return how many graphs use the communicator. CUDA frees what a destroyed one has kept in the background."""
        end = time.monotonic() + DESTROYED_S
        while True:
            used = sum(lease() is not None for lease in self._leases)
            if not used or time.monotonic() > end:
                return used
            time.sleep(0.001)

    def abort(self, reason: str) -> None:
        """End all waits of this process for the other ranks, as after ``stream.sync(timeout=...)`` has raised.

        Only this rank calls it. Collectives return with undefined results, and loops of graphs end. The next wait
        raises RankError with the reason, and so does every later use of the communicator, except `close`. Communicators
        that `split` returned go on.

        Args:
            reason: Why, for the error.

        Raises:
            RuntimeError: The communicator is closed.
        """
        self._open()
        self._health.fail(f"the program has aborted this communicator: {reason}", is_certain=True)

    # ---- collectives

    @Collective
    def all_reduce(self, x: Any, out: Any = None, op: Any = "sum") -> list[Step]:
        """Reduce the elements of `x` over all ranks; each rank gets the result.

        Args:
            x: The array, of the same size on all ranks.
            out: The array of the result, as large as `x`. None: `x`.
            op: "sum", "prod", "min" or "max".

        Returns:
            The array of the result.
        """
        source, target = self._in_out("all_reduce", x, out, 1, 1)
        op = read_operation(op, "all_reduce")
        return [Step("all_reduce", source, target, source.count, source, op=op)]

    @Collective
    def reduce(self, x: Any, out: Any = None, op: Any = "sum", root: Any = 0) -> list[Step]:
        """Reduce the elements of `x` over all ranks; the rank `root` gets the result.

        Args:
            x: The array, of the same size on all ranks.
            out: The array of the result on the root, as large as `x`. None: `x`. Other ranks do not use it.
            op: "sum", "prod", "min" or "max".
            root: The number of the rank.
        """
        root = read_rank(root, "reduce(): root", self.size)
        op = read_operation(op, "reduce")
        source = read_operand(x, "reduce(): x")
        target = None if root != self.rank else self._in_out("reduce", x, out, 1, 1)[1]
        if target is not None and target.array is x:
            source = target
        return [Step("reduce", source, target, source.count, source, op=op, root=root)]

    @Collective
    def broadcast(self, x: Any, root: Any = 0) -> list[Step]:
        """Copy `x` of the rank `root` to `x` of all other ranks.

        Args:
            x: The array, of the same size on all ranks.
            root: The number of the rank.
        """
        root = read_rank(root, "broadcast(): root", self.size)
        operand = read_operand(x, "broadcast(): x")
        if root != self.rank:
            check_writable(operand, "broadcast(): x")
        return [Step("broadcast", operand, operand, operand.count, operand, root=root)]

    @Collective
    def all_gather(self, x: Any, out: Any) -> list[Step]:
        """Write `x` of all ranks to `out`, one behind the other, on each rank.

        Args:
            x: The array, of the same size on all ranks.
            out: The array of the result, `size` times as large.
        """
        source, target = self._in_out("all_gather", x, out, self.size, 1)
        return [Step("all_gather", source, target, source.count, source)]

    @Collective
    def reduce_scatter(self, x: Any, out: Any, op: Any = "sum") -> list[Step]:
        """Reduce the elements of `x` over all ranks. Rank r gets part r of the result.

        Args:
            x: The array, of `size` equal parts, of the same size on all ranks.
            out: The array of the part of this rank.
            op: "sum", "prod", "min" or "max".
        """
        source, target = self._in_out("reduce_scatter", x, out, 1, self.size)
        op = read_operation(op, "reduce_scatter")
        return [Step("reduce_scatter", source, target, target.count, source, op=op)]

    @Collective
    def all_to_all(self, x: Any, out: Any) -> list[Step]:
        """Send part r of `x` to rank r. Part r of `out` comes from rank r.

        Args:
            x: The array, of `size` equal parts, of the same size on all ranks.
            out: The array of the result, as large as `x`.
        """
        source, target = self._in_out("all_to_all", x, out, 1, 1)
        if source.count % self.size:
            raise ValueError(
                f"all_to_all(): x has {source.count} elements, which are not {self.size} equal parts"
            )
        return [Step("all_to_all", source, target, source.count // self.size, source)]

    @Collective
    def send(self, x: Any, dest: Any) -> list[Step]:
        """Send `x` to another rank, which calls `recv`. Two ranks that send to each other use `group`.

        Args:
            x: The array.
            dest: The number of the other rank.
        """
        operand = read_operand(x, "send(): x")
        return [
            Step("send", operand, None, operand.count, operand, root=self._read_other("send(): dest", dest))
        ]

    @Collective
    def recv(self, x: Any, source: Any) -> list[Step]:
        """Receive `x` from another rank, which calls `send` with an array of the same size.

        Args:
            x: The array to write.
            source: The number of the other rank.
        """
        operand = read_operand(x, "recv(): x")
        check_writable(operand, "recv(): x")
        return [
            Step(
                "recv", None, operand, operand.count, operand, root=self._read_other("recv(): source", source)
            )
        ]

    @Collective
    def group(self, *calls: Any) -> list[Step]:
        """Run several collectives at the same time, as one node: ``comm.group((comm.send, x, 1), (comm.recv, y, 1))``.

        Args:
            calls: Tuples of a collective of this communicator and its arguments.

        Raises:
            TypeError: An argument is not such a tuple.
            ValueError: There are none.
        """
        if not calls:
            raise ValueError("group() needs calls, such as (comm.send, x, 1)")
        steps: list[Step] = []
        for call in calls:
            if not isinstance(call, tuple) or not call or not isinstance(call[0], BoundCollective):
                raise TypeError(
                    f"group() takes tuples of a collective and its arguments, such as (comm.send, x, 1), got {call!r}"
                )
            if call[0].comm is not self:
                raise TypeError(f"group() takes collectives of {self!r}, got one of {call[0].comm!r}")
            steps += self._read(call[0].read, call[1:], {})
        return steps

    @Barrier
    def barrier(self) -> list[Step]:
        """Wait on the host until all ranks have called this. Work on streams may still be running.

        In a graph, or with ``stream=...``, later work begins when all ranks have done the work before the barrier.

        Raises:
            RankError: A rank has ended.
        """
        word = read_operand(self._word, "barrier()")
        return [Step("all_reduce", word, word, word.count, word, op="max")]

    def explain(self, call: Any, *args: Any) -> str:
        """Return how a collective moves its data: "direct", or the library and why the direct way is not taken.

        An `all_reduce` of at most 4096 bytes between ranks of one host is direct: each rank writes its elements into
        memory of the others, in one small kernel. ``comm.explain(comm.all_reduce, x)`` starts nothing.

        Args:
            call: A collective of this communicator.
            args: Its arguments.

        Raises:
            TypeError: `call` is not a collective of this communicator.
        """
        if not isinstance(call, BoundCollective) or call.comm is not self:
            raise TypeError(f"explain() takes a collective of {self!r} and its arguments, got {call!r}")
        refusal = self._at_once.engine.refused(self._read(call.read, args, {}))
        return "direct" if refusal is None else f"{self.engine}: {refusal}"

    def halo(
        self,
        x: Any,
        width: int = 1,
        axes: Sequence[int] = (0,),
        grid: Sequence[int] | None = None,
        periodic: bool = False,
    ) -> Halo:
        """Return the exchange of the borders of an array that all ranks share by blocks. All ranks call this.

        Args:
            x: The NDArray of this rank: its block, with `width` ghost layers at both ends of each axis of `axes`.
            width: The number of layers.
            axes: The axes along which the array is shared. Blocks have the same size along all other axes.
            grid: The number of ranks along each axis of `axes`; the last axis changes fastest. None: sides as equal as
                possible.
            periodic: True: the first and the last rank of an axis are neighbours.

        Raises:
            TypeError: `x` is not an NDArray.
            ValueError: `axes` are not axes of `x`, the grid has another number of ranks, or a block has fewer than
                `width` layers.
        """
        self._healthy()
        sides = check_halo(x, width, axes, grid, self.size)
        return Halo(self, x, width, axes, sides, periodic)

    # ---- inner parts

    def _open(self) -> Any:
        if self._engine is None:
            raise RuntimeError("this Communicator is closed")
        return self._engine

    def _healthy(self) -> Any:
        engine = self._open()
        self._health.check()
        return engine

    def _read(
        self, read: Callable[..., list[Step]], args: Sequence[Any], keywords: dict[str, Any]
    ) -> list[Step]:
        engine = self._healthy()
        steps = read(self, *args, **keywords)
        for step in steps:
            engine.check(step)
        return steps

    def _in_out(self, name: str, x: Any, out: Any, times: int, parts: int) -> tuple[Operand, Operand]:
        """Return the operands of a collective whose result has `times` / `parts` the elements of `x`."""
        source = read_operand(x, f"{name}(): x")
        if out is None or out is x:
            check_writable(source, f"{name}(): x")
            target = source
        else:
            if source.count % parts:
                raise ValueError(
                    f"{name}(): x has {source.count} elements, which are not {parts} equal parts"
                )
            target = read_output(out, f"{name}(): out", source, source.count * times // parts)
        if target is source and times != parts:
            raise ValueError(f"{name}(): out must be another array than x")
        return source, target

    def _read_other(self, what: str, value: Any) -> int:
        found = read_rank(value, what, self.size)
        if found == self.rank:
            raise ValueError(f"{what} is this rank, {found}: copy the array instead")
        return found

    def _run(self, steps: Sequence[Step], stream: Any) -> None:
        with BorrowedCapture(stream) as capture:
            if capture.is_there:
                place = CapturedInsertionPoint(stream)
                self._lease(place._definition_number()).add_captured(place, stream, steps)
                return
        refuse_parameters(steps, "outside of launches of its graph")
        for step in steps:
            if step.operand.view.node is not None:
                raise RuntimeError(graph_memory_error(f"x of {step.name}()"))
        while self._calls and self._calls[0][0].is_done:
            self._calls.popleft()
        if self._calls and self._stream != stream:
            stream.wait(self._calls[-1][0])
        self._at_once.engine.run(stream, steps, self._at_once)
        self._stream = stream
        end = stream.record()
        self._calls.append((end, [each for step in steps for each in step.kept]))
        self._at_once.remember(steps)
        self._at_once.end_at(end)
        self._health.check()

    def _add(self, place: Any, steps: Sequence[Step]) -> Any:
        lease = self._lease(place._definition_number())
        if isinstance(place, CapturedInsertionPoint):  # of a graph kernel that is captured
            with stream_block(place.stream) as stream:
                lease.add_captured(place, stream, steps)
            return CapturedInsertionPoint(place.stream)
        return lease.add(place, steps)

    def _lease(self, definition: int) -> Lease:
        """Return the Lease of a definition. The first call for a definition is collective."""
        found = self._definitions.get(definition)
        return self._give(definition, self._new_lease()) if found is None else found

    def _give(self, definition: int, lease: Lease) -> Lease:
        self._definitions[definition] = lease
        add_guard(definition, lease)
        return lease

    def __cuda_graph_share__(self, definition: int, owner: Any) -> Lease:
        """Give a definition the communicator of all definitions of a graph kernel, and return its Lease.

        The first call for an owner is collective. Later calls are not: ranks may build graphs of a kernel in different
        calls.
        """
        self._healthy()
        given = self._definitions.get(definition)
        if given is not None:  # by another object of the same communicator, such as a Halo
            return given
        found = self._shared.get(owner)
        if found is None:
            found = self._shared[owner] = self._new_lease()
        if found.refusal is not None:
            raise BodyRefusal(found.refusal)
        return self._give(definition, found.child())

    @property
    def __cuda_graph_exchanges__(self) -> bool:
        return self._at_once.engine.refusal is None and not self._debug

    def __cuda_graph_table__(self, definition: int) -> Any:
        """Return the table of the exchanges of a definition, which has a Lease."""
        engine = self._definitions[definition].engine
        if engine.exchange is None:
            raise ExchangeRefusal(engine.refusal)
        return engine.exchange.table

    def __cuda_graph_settle__(self, owner: Any, refusal: str | None) -> str | None:
        """Return the first refusal of the ranks, or None. The first call for an owner is collective.

        Ranks may need the host for different pairs of ranks, but all of them run the loops in the same way.
        """
        lease = self._shared[owner]
        if not lease.is_settled:
            with stream_block(self._side):
                texts = self._healthy().gather((refusal or NOTHING).encode())
            lease.refusal = next((each.decode() for each in texts if each != NOTHING.encode()), None)
            lease.is_settled = True
        return lease.refusal

    def _new_lease(self) -> Lease:
        """Return a Lease of an engine that no rank uses any more, or of a new one."""
        with stream_block(self._side):  # arrays that are made in a capture belong to its graph
            free = self._engine.agree([lease() is None for lease in self._leases])
            if True not in free:
                self._engines.append(self._new_engine())
                if self._debug:  # a send without a receive must reach `_compare`
                    self._engines[-1].connect_pairs()
                self._leases.append(lambda: None)
                free.append(True)
            number = free.index(True)
            found = Lease(self._engines[number], 1 + number, self._compare if self._debug else None)
        self._leases[number] = weakref.ref(found)
        return found

    def _new_engine(self) -> Any:
        return with_exchange(self._engine.duplicate(), self._refusal)

    def _compare(self, lease: Lease) -> None:
        """Compare what all ranks are about to launch. All ranks call this at the first launch of an executable.

        Raises:
            RankError: There is a difference. The error is the same on all ranks.
        """
        with stream_block(self._side):
            plans = self._healthy().gather(pickle.dumps(Plan(lease.number, tuple(lease.calls))))
        found = first_difference([pickle.loads(plan) for plan in plans])
        if found is not None:
            raise RankError(f"nothing was launched: {found}")

    def __repr__(self) -> str:
        if self._engine is None:
            return "<Communicator, closed>"
        return f"<Communicator of {self._engine.name}, rank {self._engine.rank} of {self._engine.size}>"
