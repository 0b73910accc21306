# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""MPI as the engine of collectives on the host driver.

A collective is a kernel node with a native image (call_image.py). The image starts a nonblocking call of MPI and waits
for it. The node is an ordinary kernel node, so bodies of conditional nodes take it.

mpi4py loads the library of MPI, and gives the handles of its objects as ints. The addresses of functions come from the
extension module of mpi4py: the dynamic linker also searches the libraries that the module needs.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from cuda_graphs.interop.adapted import address_of
from cuda_graphs.objects.code.launch import launch
from cuda_graphs.objects.code.launch_config import LaunchConfig

from .call_image import call_kernel
from .health import Health, end_unfinished_work
from .mpi_choice import VARIABLE, find_starter
from .steps import Step

__all__ = ["MISSING", "MpiEngine", "load_mpi"]

MISSING = (
    "cuda_graphs.distributed needs mpi4py and an MPI: run pip install 'cuda-graphs[mpi]', and start the program with "
    "mpiexec -n 4 python program.py"
)

# Method -> function of MPI, and its arguments before the request.
FUNCTIONS = {
    "all_reduce": ("MPI_Iallreduce", "send recv count type op comm"),
    "reduce": ("MPI_Ireduce", "send recv count type op root comm"),
    "broadcast": ("MPI_Ibcast", "recv count type root comm"),
    "all_gather": ("MPI_Iallgather", "send count type recv count type comm"),
    "reduce_scatter": ("MPI_Ireduce_scatter_block", "send recv count type op comm"),
    "all_to_all": ("MPI_Ialltoall", "send count type recv count type comm"),
    "send": ("MPI_Isend", "send count type root tag comm"),
    "recv": ("MPI_Irecv", "recv count type root tag comm"),
}

# Element type -> name of the datatype in mpi4py. Other types are moved as bytes, and MPI cannot reduce them.
TYPES = {
    "i1": "INT8_T",
    "i2": "INT16_T",
    "i4": "INT32_T",
    "i8": "INT64_T",
    "u1": "UINT8_T",
    "u2": "UINT16_T",
    "u4": "UINT32_T",
    "u8": "UINT64_T",
    "f4": "FLOAT",
    "f8": "DOUBLE",
    "c8": "C_FLOAT_COMPLEX",
    "c16": "C_DOUBLE_COMPLEX",
}
OPERATIONS = {"sum": "SUM", "prod": "PROD", "min": "MIN", "max": "MAX"}
WITHOUT_ORDER = ("c8", "c16")  # types without a minimum
LARGEST_COUNT = (1 << 31) - 1  # a count of MPI is an int
TAG = 0
PAUSE_S = 5e-5  # between two looks at a request
ONE = LaunchConfig(grid=1, block=1)


@cache
def load_mpi() -> Any:
    """Return mpi4py.MPI, which starts MPI.

    Raises:
        ImportError: mpi4py or an MPI is missing.
        RuntimeError: mpiexec belongs to another MPI, or this MPI does not allow calls of several threads at the same
            time.
    """
    starter = find_starter()
    try:
        is_ours = take_over_the_end()
        mpi = import_mpi(None if starter is None else starter.library())
    except (ImportError, RuntimeError) as error:  # mpi4py raises RuntimeError without a library of MPI
        raise ImportError(f"{MISSING} ({error})") from error
    if starter is not None:
        starter.check(mpi.Get_library_version())
    if not mpi.Is_initialized():
        mpi.Init_thread(mpi.THREAD_MULTIPLE)
    if mpi.Query_thread() < mpi.THREAD_MULTIPLE:
        raise RuntimeError(
            "the host driver calls MPI on threads of its own, and this MPI was started without MPI_THREAD_MULTIPLE: "
            "leave mpi4py.rc.thread_level at 'multiple'"
        )
    end_with_the_ranks(mpi, is_ours)
    return mpi


def import_mpi(library: str | None) -> Any:
    """Return mpi4py.MPI. If this call loads it, MPI is not started yet.

    Args:
        library: The path of the library of MPI. None, and if the user has chosen one: mpi4py finds it.
    """
    if "mpi4py.MPI" in sys.modules:
        return import_module("mpi4py.MPI")
    settings = import_module("mpi4py").rc
    before, is_ours = settings.initialize, library is not None and VARIABLE not in os.environ
    settings.initialize = False
    if is_ours:
        os.environ[VARIABLE] = str(library)
    try:
        return import_module("mpi4py.MPI")
    finally:
        settings.initialize = before
        if is_ours:
            del os.environ[VARIABLE]


def take_over_the_end() -> bool:
    """Tell mpi4py not to finalise MPI when Python exits. Returns False if another part of the program decides on it.

    MPI_Finalize waits for all ranks, and some may have ended.
    """
    settings = import_module("mpi4py").rc
    if "mpi4py.MPI" in sys.modules or settings.finalize is False:
        return False
    settings.finalize = False
    return True


def end_with_the_ranks(mpi: Any, is_ours: bool) -> None:
    """Finalise MPI when Python exits, unless this rank fails or another rank has ended.

    A rank that fails leaves without MPI_Finalize. Then mpiexec ends the other ranks; with -disable-auto-cleanup they go
    on, and get a RankError.
    """
    before, failure = sys.excepthook, []

    def report(*error: Any) -> None:
        failure.append("this rank fails")
        if not is_ours:
            mpi._set_abort_status(1)  # as python -m mpi4py does
        before(*error)

    def end() -> None:
        healthy = end_unfinished_work(failure[0] if failure else None)
        if is_ours and healthy and not failure and not mpi.Is_finalized():
            mpi.Finalize()

    sys.excepthook = report
    atexit.register(end)
    # mpiexec of MPICH sends this signal to the other ranks when a rank has ended, and its default would end them.
    if (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL
    ):
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)


class MpiEngine:
    """A communicator of MPI that no other code uses.

    Args:
        comm: An mpi4py.MPI.Intracomm. The engine frees it.
        health: That of the engine that this one was made from. None: a new one.
    """

    name = "mpi"

    def __init__(self, comm: Any, health: Health | None = None) -> None:
        self.comm, self.rank, self.size = comm, comm.rank, comm.size
        self.health = Health() if health is None else health
        self.health.add_engine(self)
        comm.Set_errhandler(load_mpi().ERRORS_RETURN)

    @classmethod
    def copy_of(cls, comm: Any) -> MpiEngine:
        """Return an engine with the ranks of a communicator. All of its ranks call this."""
        return cls(comm.Dup())

    def duplicate(self) -> MpiEngine:
        self.barrier()  # MPI's own function waits for all ranks without end
        return MpiEngine(self.comm.Dup(), self.health)

    def connect_pairs(self) -> None:
        """Do nothing: MPI connects ranks itself, and a send waits on its stream only."""

    def split(self, color: int | None, key: int) -> MpiEngine | None:
        self.barrier()
        mpi = load_mpi()
        found = self.comm.Split(mpi.UNDEFINED if color is None else color, key)
        return None if found == mpi.COMM_NULL else MpiEngine(found)

    def agree(self, flags: Sequence[bool]) -> list[bool]:
        """Return for each flag whether it is true on all ranks."""
        found = np.array(flags, np.uint8)
        self.wait(self.comm.Iallreduce(load_mpi().IN_PLACE, found, load_mpi().MIN))
        return [bool(each) for each in found]

    def gather(self, data: bytes) -> list[bytes]:
        """Return the bytes that each rank passes. All ranks call this."""
        sizes = np.zeros(self.size, np.int64)
        self.wait(self.comm.Iallgather(np.array([len(data)]), sizes))
        mine, found = np.zeros(sizes.max(), np.uint8), np.zeros((self.size, sizes.max()), np.uint8)
        mine[: len(data)] = np.frombuffer(data, np.uint8)
        self.wait(self.comm.Iallgather(mine, found))
        return [each[:size].tobytes() for each, size in zip(found, sizes, strict=True)]

    def barrier(self) -> None:
        self.wait(self.comm.Ibarrier())

    def wait(self, request: Any) -> None:
        """Wait for a call of MPI.

        Raises:
            RankError: A rank has ended.
        """
        pause = 0.0
        self.health.waits += 1
        try:
            while not request.Test():
                self.health.check()
                time.sleep(pause)
                pause = min(pause + PAUSE_S, 20 * PAUSE_S)
        finally:
            self.health.waits -= 1

    def find_error(self) -> None:
        """MPI reports no errors in the background."""

    def abort(self) -> None:
        """Kernels see the word of `health`, so nothing is left to do."""

    def close(self) -> None:
        self.comm.Free()

    def check(self, step: Step) -> None:
        """Refuse a step that MPI cannot run.

        Raises:
            TypeError: MPI does not reduce elements of this type.
            ValueError: There are too many elements.
        """
        kind = step.operand.type
        if step.op is not None and (
            kind not in TYPES or (kind in WITHOUT_ORDER and step.op in ("min", "max"))
        ):
            raise TypeError(f"{step.name}(): MPI has no {step.op} of elements of type {kind}")
        count = self.unit_count(step)
        if count > LARGEST_COUNT:
            raise ValueError(
                f"{step.name}(): {count} elements are too many: MPI takes {LARGEST_COUNT} in a call"
            )

    def unit_count(self, step: Step) -> int:
        """Return the count in units of the datatype of MPI, which is a byte for types that MPI lacks."""
        return step.count if step.operand.type in TYPES else step.count * step.operand.view.itemsize

    def run(self, stream: Any, steps: Sequence[Step], lease: Any) -> None:
        """Start the steps on a stream, or add them to its capture."""
        kernel, arguments, _, _ = self.launch_of(steps, lease)
        launch(stream, ONE, kernel, *arguments)

    def add(self, place: Any, steps: Sequence[Step], lease: Any) -> tuple[Any, Any]:
        """Add a KernelNode after `place`. Returns it, and the last node, which it is, too."""
        kernel, arguments, reads, writes = self.launch_of(steps, lease)
        node = place.launch(ONE, kernel, *arguments, reads=reads, writes=writes)
        return node, node

    def launch_of(
        self, steps: Sequence[Step], lease: Any
    ) -> tuple[Any, tuple[Any, ...], list[Any], list[Any]]:
        """Return (Kernel, arguments, arrays read, arrays written) of steps that run at the same time.

        The arguments keep `lease` alive, which keeps this engine open.
        """
        test = address_of(function("MPI_Test"), lease)
        word = address_of(self.health.word.ctypes.data, lease)
        arguments: list[Any] = [test, word, lease.token]
        counts = []
        for step in steps:
            name, words = FUNCTIONS[step.name]
            values = [self.argument(step, word) for word in words.split()]
            arguments += [np.uint64(function(name)), *values]
            counts.append(len(values))
        name = steps[0].name if len(steps) == 1 else "group_of_" + "_".join(step.name for step in steps)
        reads = [array for step in steps for array in step.reads]
        writes = [array for step in steps for array in step.writes]
        return call_kernel(name, tuple(counts)), tuple(arguments), reads, [*writes, lease.token]

    def argument(self, step: Step, word: str) -> Any:
        """Return the argument that a word of FUNCTIONS stands for."""
        mpi = load_mpi()
        match word:
            case "send":
                return as_word(int(mpi.IN_PLACE)) if self.is_in_place(step) else step.send.array  # type: ignore[union-attr]
            case "recv":
                return np.uint64(0) if step.recv is None else step.recv.array
            case "count":
                return as_word(self.unit_count(step))
            case "type":
                return handle_of(getattr(mpi, TYPES.get(step.operand.type, "BYTE")))
            case "op":
                return handle_of(getattr(mpi, OPERATIONS[str(step.op)]))
            case "root":
                return as_word(step.root or 0)
            case "tag":
                return as_word(TAG)
        return handle_of(self.comm)

    def is_in_place(self, step: Step) -> bool:
        return step.send is not None and step.recv is not None and step.send.array is step.recv.array


@cache
def function(name: str) -> int:
    """Return the address of a function of MPI."""
    return ctypes.cast(getattr(ctypes.CDLL(load_mpi().__file__), name), ctypes.c_void_p).value or 0


def handle_of(thing: Any) -> np.uint64:
    """Return the handle of an object of MPI, which is an int or a pointer."""
    return as_word(load_mpi()._handleof(thing))


def as_word(value: int) -> np.uint64:
    return np.uint64(value % (1 << 64))
