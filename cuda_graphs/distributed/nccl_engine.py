# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""NCCL as the engine of collectives on GPUs, by its C interface (nccl.h).

A collective at once, or in a capture, is a call of NCCL on the stream. For a definition the call is captured, and the
captured graph is embedded as one node. With its graph mixing support, NCCL adds nodes that record and wait for events,
which bodies may not hold. This module turns the support off before NCCL reads the setting. Then NCCL forbids
that work of one communicator overlaps; each definition therefore has a communicator of its own.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from cuda_graphs.graph.capture.builder import capture
from cuda_graphs.graph.capture.captured_insertion_point import CapturedInsertionPoint
from cuda_graphs.graph.nodes.node_kinds import EventRecordNode, EventWaitNode, HostCallbackNode, KernelNode
from cuda_graphs.kernels.arrays.captures import capture_of
from cuda_graphs.kernels.graph.host_calls import BodyRefusal
from cuda_graphs.objects.device.current import current_stream
from cuda_graphs.objects.memory.memory_resource import PinnedMemoryResource

from .health import Health
from .steps import Operand, Step, empty_like, read_operand

__all__ = ["NcclEngine", "load_nccl"]

MISSING = "cuda_graphs.distributed needs NCCL on GPUs: run pip install nvidia-nccl-cu13"

PROXY = (
    "{} cannot be in a body of a conditional node here: the ranks of this communicator exchange data through a "
    "network, or without peer access, so NCCL adds host nodes for its proxy thread, which bodies may not hold. Put a "
    "few iterations into the graph itself, and repeat its launch on the host (docs/guide/scaling.md)"
)

MIXING = (
    "{} cannot be in a body of a conditional node here: NCCL adds event nodes, which bodies may not hold, as another "
    "library has used NCCL in this process before. Set the variable NCCL_GRAPH_MIXING_SUPPORT=0 before it does"
)
# Class of nodes that bodies refuse -> why NCCL has added them.
REFUSED = {HostCallbackNode: PROXY, EventRecordNode: MIXING, EventWaitNode: MIXING}

# Method -> function of NCCL, and its arguments before the communicator and the stream.
FUNCTIONS = {
    "all_reduce": ("ncclAllReduce", "send recv count type op"),
    "reduce": ("ncclReduce", "send recv count type op root"),
    "broadcast": ("ncclBroadcast", "send recv count type root"),
    "all_gather": ("ncclAllGather", "send recv count type"),
    "reduce_scatter": ("ncclReduceScatter", "send recv count type op"),
    "send": ("ncclSend", "send count type root"),
    "recv": ("ncclRecv", "recv count type root"),
}

# Element type -> number of the type (ncclDataType_t). Other types are moved as bytes, and NCCL cannot reduce them.
TYPES = {"i1": 0, "u1": 1, "i4": 2, "u4": 3, "i8": 4, "u8": 5, "f2": 6, "f4": 7, "f8": 8, "bf16": 9}
BYTE = TYPES["u1"]
OPERATIONS = {"sum": 0, "prod": 1, "max": 2, "min": 3}  # ncclRedOp_t
NO_COLOR = -1  # NCCL_SPLIT_NOCOLOR
SUCCESS, IN_PROGRESS = 0, 7  # ncclResult_t
# Errors of arguments. All others may come from a rank that has ended.
OF_ARGUMENTS = (4, 5)
CAUSE_LIMIT_S = 2  # for the thread of watch.py to find the rank
LEAST_STAGED = 4096  # bytes of an array of Staging
_freeing = threading.Lock()  # the thread of watch.py may abort what the program closes
C_TYPES = {
    "send": ctypes.c_void_p,
    "recv": ctypes.c_void_p,
    "count": ctypes.c_size_t,
}  # other arguments are ints


class UniqueId(ctypes.Structure):
    """ncclUniqueId: identifies a communicator that is being made."""

    _fields_ = [("internal", ctypes.c_byte * 128)]


def with_operands(step: Step, others: Mapping[int, Operand]) -> Step:
    """Return a step with other operands, by the identities of the arrays."""
    send, recv, operand = (
        each if each is None else others.get(id(each.array), each)
        for each in (step.send, step.recv, step.operand)
    )
    return replace(step, send=send, recv=recv, operand=operand or step.operand)


@cache
def load_nccl() -> ctypes.CDLL:
    """Return NCCL's library: the loaded one, that of the system, or that of the wheel.

    Raises:
        ImportError: None of them exists.
    """
    os.environ.setdefault("NCCL_GRAPH_MIXING_SUPPORT", "0")
    os.environ.setdefault(
        "NCCL_RUNTIME_CONNECT", "0"
    )  # connect when a communicator is made, not in a later call
    try:
        library = ctypes.CDLL("libnccl.so.2")
    except OSError as error:
        library = load_of_wheel(error)
    library.ncclGetErrorString.restype = ctypes.c_char_p
    library.ncclGetLastError.restype = ctypes.c_char_p
    library.ncclGetLastError.argtypes = [ctypes.c_void_p]
    for name, words in FUNCTIONS.values():
        types = [C_TYPES.get(word, ctypes.c_int) for word in words.split()]
        getattr(library, name).argtypes = [*types, ctypes.c_void_p, ctypes.c_void_p]
    return library


def load_of_wheel(reason: OSError) -> ctypes.CDLL:
    try:
        found = find_spec("nvidia.nccl")
    except ModuleNotFoundError:  # there is no package `nvidia`
        found = None
    for folder in (found.submodule_search_locations or ()) if found is not None else ():
        return ctypes.CDLL(str(Path(folder, "lib", "libnccl.so.2")))
    raise ImportError(f"{MISSING} ({reason})") from reason


class NcclError(RuntimeError):
    """A function of NCCL has reported an error.

    Attributes:
        status: The number of the error (ncclResult_t).
    """

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.status = status


def call(name: str, *args: Any) -> None:
    """Call a function of NCCL.

    Raises:
        NcclError: The function reports an error.
    """
    library = load_nccl()
    status = getattr(library, name)(*args)
    if status:
        reason = library.ncclGetErrorString(status).decode()
        text = f"{name} failed: {reason}. {library.ncclGetLastError(None).decode()}".strip()
        raise NcclError(text, status)


def call_in_thread(function: Any, argument: ctypes.c_void_p) -> None:
    """Call a function of C in a thread of its own. Python 3.12 and later start no thread of theirs while they end."""
    process, thread = ctypes.CDLL(None), ctypes.c_ulong()
    if process.pthread_create(ctypes.byref(thread), None, function, argument):
        function(argument)  # the process may have no more threads
    else:
        process.pthread_detach(thread)


@cache
def leave_without_destructors() -> None:
    """Let the process end without the destructors of NCCL and CUDA, which free what a thread in ncclCommAbort uses.

    Functions of on_exit run in the reverse order. _exit gets the status of the process as its first argument.
    """
    process = ctypes.CDLL(None)
    for function in (process._exit, process.fcloseall):
        process.on_exit(function, None)


class Staging:
    """Pinned memory for bytes that ranks exchange, which is used again and again.

    Freeing it waits for all work of the device (cuMemFreeHost). That may be a collective that waits for a rank, so a
    call would not return to the program, which could end this work. Pageable memory is copied with such waits, too, and
    not in captures of other streams.
    """

    def __init__(self) -> None:
        self._all: list[Any] = []  # is freed with the engine
        self._unused: list[Any] = []

    @contextmanager
    def borrow(self, size: int) -> Iterator[Any]:
        """Lend an array of u8. An array whose borrower fails is lent no more: a collective may still write to it."""
        whole = next((each for each in self._unused if each.size >= size), None)
        if whole is None:
            whole = np.from_dlpack(
                PinnedMemoryResource().allocate(max(LEAST_STAGED, 1 << (size - 1).bit_length()))
            )
            self._all.append(whole)
        else:
            self._unused = [each for each in self._unused if each is not whole]
        yield whole[:size]
        self._unused.append(whole)


class NcclEngine:
    """A communicator of NCCL.

    Args:
        handle: The ncclComm_t.
        is_owned: True if `close` destroys it.
        health: That of the engine that this one was made from. None: a new one.
    """

    name = "nccl"

    def __init__(self, handle: int, is_owned: bool = True, health: Health | None = None) -> None:
        self.handle, self.is_owned = ctypes.c_void_p(handle), is_owned
        self.health = Health() if health is None else health
        self.health.add_engine(self)
        self.staging = Staging()
        self.rank, self.size = self._ask("ncclCommUserRank"), self._ask("ncclCommCount")

    @classmethod
    def create(cls, rank: int, size: int, share: Callable[[bytes | None], bytes]) -> NcclEngine:
        """Return the engine of ranks that do not have a communicator yet. All ranks call this.

        Args:
            rank, size: The number of this rank, and the number of ranks.
            share: A function that returns the bytes that rank 0 passes to it on all ranks.
        """
        unique, found = UniqueId(), ctypes.c_void_p()
        if rank == 0:
            call("ncclGetUniqueId", ctypes.byref(unique))
        unique = UniqueId.from_buffer_copy(share(bytes(unique) if rank == 0 else None))
        call("ncclCommInitRank", ctypes.byref(found), size, unique, rank)
        return cls(found.value or 0)

    def _call(self, name: str, *args: Any) -> None:
        """Call a function of NCCL that may exchange data with other ranks.

        Raises:
            RankError: A rank has ended.
            NcclError: The function reports another error.
        """
        try:
            call(name, *args)
        except NcclError as error:
            self.health.check_within(0 if error.status in OF_ARGUMENTS else CAUSE_LIMIT_S)
            raise

    def _ask(self, name: str) -> int:
        found = ctypes.c_int()
        call(name, self.handle, ctypes.byref(found))
        return found.value

    def duplicate(self) -> NcclEngine:
        found = NcclEngine(self._split(0, self.rank), health=self.health)
        found.barrier()  # connects the ranks: in a later collective, a call would wait for late ranks
        return found

    def connect_pairs(self) -> None:
        """Connect each rank with each other one. Otherwise the first send waits in its call for its receive."""
        with self.staging.borrow(2 * self.size) as memory:
            sent, received = (read_operand(each, "data") for each in np.split(memory, 2))
            self._run_now(Step("all_to_all", sent, received, 1, sent))

    def split(self, color: int | None, key: int) -> NcclEngine | None:
        found = self._split(NO_COLOR if color is None else color, key)
        return None if color is None else NcclEngine(found)

    def _split(self, color: int, key: int) -> int:
        found = ctypes.c_void_p()
        self._call("ncclCommSplit", self.handle, color, key, ctypes.byref(found), None)
        return found.value or 0

    def agree(self, flags: Sequence[bool]) -> list[bool]:
        """Return for each flag whether it is true on all ranks. Uses the current stream."""
        if not flags:
            return []
        with self.staging.borrow(len(flags)) as found:
            found[:] = flags
            operand = read_operand(found, "flags")
            self._run_now(Step("all_reduce", operand, operand, operand.count, operand, op="min"))
            return [bool(each) for each in found]

    def gather(self, data: bytes) -> list[bytes]:
        """Return the bytes that each rank passes. All ranks call this. Uses the current stream."""
        sizes = self._gather(np.array([len(data)], np.int64).view(np.uint8)).view(np.int64).ravel()
        mine = np.zeros(sizes.max(), np.uint8)
        mine[: len(data)] = np.frombuffer(data, np.uint8)
        return [each[:size].tobytes() for each, size in zip(self._gather(mine), sizes, strict=True)]

    def _gather(self, data: Any) -> Any:
        """Return the u8 array of each rank. All have the same size."""
        with self.staging.borrow((1 + self.size) * data.size) as found:
            found[: data.size] = data
            source = read_operand(found[: data.size], "data")
            target = read_operand(found[data.size :], "data")
            self._run_now(Step("all_gather", source, target, source.count, source))
            return found[data.size :].reshape(self.size, -1).copy()

    def _run_now(self, step: Step) -> None:
        """Run a step on the current stream, and wait for it.

        Raises:
            RankError: A rank has ended.
        """
        stream = current_stream()
        self.run(stream, [step], None)
        stream.sync()
        self.health.check()

    def barrier(self) -> None:
        self.agree([True])

    def close(self) -> None:
        """Free the communicator, unless `abort` has begun to."""
        handle = self._give_up_handle()
        if handle:
            call("ncclCommDestroy", handle)

    def _give_up_handle(self) -> ctypes.c_void_p:
        """Return what is to be freed, once: the handle if this object owns it. Otherwise, and later, a null pointer."""
        nothing = ctypes.c_void_p()
        if not self.is_owned:
            return nothing
        with _freeing:
            handle, self.handle = self.handle, nothing
        return handle

    def find_error(self) -> str | None:
        """Return the error that NCCL has found in the background, such as a lost connection; None without one."""
        status = ctypes.c_int()
        call("ncclCommGetAsyncError", self.handle, ctypes.byref(status))
        if status.value in (SUCCESS, IN_PROGRESS):
            return None
        reason = load_nccl().ncclGetErrorString(status.value).decode()
        return f"NCCL reports an error of this communicator, so it cannot be used any more: {reason}"

    def abort(self) -> None:
        """Let the kernels of NCCL return, and free the communicator. Another thread may wait for the kernels.

        ncclCommAbort runs in a thread of its own. It tells the kernels to return, and then it waits. It waits until the
        graphs with its kernels are destroyed. In cudaFree it also waits for kernels of other communicators, whose own
        abort must have begun. Its status says nothing that the failure has not said.
        """
        handle = self._give_up_handle()
        if handle:
            leave_without_destructors()
            call_in_thread(load_nccl().ncclCommAbort, handle)

    def check(self, step: Step) -> None:
        """Refuse a step that NCCL cannot run.

        Raises:
            TypeError: NCCL does not reduce elements of this type.
        """
        if step.op is not None and step.operand.type not in TYPES:
            raise TypeError(f"{step.name}(): NCCL has no {step.op} of elements of type {step.operand.type}")

    def run(self, stream: Any, steps: Sequence[Step], lease: Any) -> None:
        """Start the steps on a stream, or add them to its capture."""
        handle = ctypes.c_void_p(stream.handle)
        call("ncclGroupStart")
        try:
            for step in steps:
                for name, values in self.calls_of(step):
                    self._call(name, *values, self.handle, handle)
        finally:
            self._call("ncclGroupEnd")
        if self.size == 1 and capture_of(stream):  # NCCL has nothing to do for one rank in place
            CapturedInsertionPoint(stream).join()

    def add(self, place: Any, steps: Sequence[Step], lease: Any) -> tuple[Any, Any]:
        """Add a ChildGraphNode with NCCL's nodes after `place`. Returns it and the last node.

        Nodes of NCCL have fixed addresses, so the arrays of named parameters are copied to memory of the graph and
        back.
        """
        places = {id(each.array): each for step in steps for each in step.operands if each.is_parameter}
        copies = {number: empty_like(each) for number, each in places.items()}
        for number, each in places.items():
            place = place.memcpy(copies[number].array, each.array, each.size)
        node = self.embed(place, [with_operands(step, copies) for step in steps], lease)
        last = node
        for number in {id(step.recv.array) for step in steps if step.recv is not None} & copies.keys():
            last = last.memcpy(places[number].array, copies[number].array, places[number].size)
        return node, last

    def embed(self, place: Any, steps: Sequence[Step], lease: Any) -> Any:
        """Add a ChildGraphNode with NCCL's nodes after `place`, and return it."""
        with capture() as builder:
            stream = current_stream()
            CapturedInsertionPoint(stream).keep((lease, [each for step in steps for each in step.kept]))
            self.run(stream, steps, lease)
        captured = builder.graph_definition
        reads = [array for step in steps for array in step.reads]
        writes = [array for step in steps for array in step.writes]
        for node in captured.nodes():
            if isinstance(node, KernelNode):
                node.update(reads=reads, writes=[*writes, lease.token])
        try:
            return place.embed(captured, name=steps[0].name if len(steps) == 1 else "group")
        except ValueError as error:
            for kind, reason in REFUSED.items():
                if any(isinstance(node, kind) for node in captured.nodes()):
                    raise BodyRefusal(reason.format(steps[0].name)) from error
            raise

    def calls_of(self, step: Step) -> list[tuple[str, list[Any]]]:
        """Return the calls of NCCL for a step: (function, arguments before the communicator)."""
        if step.name == "all_to_all":
            return self.exchange_of(step)
        name, words = FUNCTIONS[step.name]
        return [(name, [self.argument(step, word) for word in words.split()])]

    def exchange_of(self, step: Step) -> list[tuple[str, list[Any]]]:
        """Return the sends and receives of an all_to_all, which older versions of NCCL lack."""
        found: list[tuple[str, list[Any]]] = []
        count, kind = self.argument(step, "count"), self.argument(step, "type")
        part = step.count * step.operand.view.itemsize
        for rank in range(self.size):
            found.append(("ncclSend", [self.argument(step, "send") + rank * part, count, kind, rank]))
            found.append(("ncclRecv", [self.argument(step, "recv") + rank * part, count, kind, rank]))
        return found

    def argument(self, step: Step, word: str) -> int:
        """Return the argument that a word of FUNCTIONS stands for."""
        match word:
            case "send":
                return 0 if step.send is None else step.send.view.address
            case "recv":
                return 0 if step.recv is None else step.recv.view.address
            case "count":
                size = 1 if step.operand.type in TYPES else step.operand.view.itemsize
                return step.count * size
            case "type":
                return TYPES.get(step.operand.type, BYTE)
            case "op":
                return OPERATIONS[str(step.op)]
        return step.root or 0
