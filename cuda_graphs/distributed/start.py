# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The first communicator of a process. The program that started the ranks decides how they find each other.

On the host driver, MPI does. On GPUs, rank 0 makes the unique id of a communicator of NCCL, and MPI or PyTorch's store
gives it to the other ranks.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from importlib import import_module
from itertools import count
from typing import Any

from cuda_graphs.core.driver.choice import driver_info
from cuda_graphs.objects.device.device import Device

from .communicator import Communicator
from .mpi_engine import MpiEngine, load_mpi
from .nccl_engine import NcclEngine

__all__ = ["from_mpi", "from_nccl", "from_torch", "init"]

# Variables of the rank, of the number of ranks, and of the rank on its host: of torchrun, and of Slurm without MPI.
LAUNCHERS = {
    "torchrun": ("RANK", "WORLD_SIZE", "LOCAL_RANK"),
    "srun": ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"),
}
_numbers = count()


def init(*, debug: bool = False, direct: bool | None = None) -> Communicator:
    """Return a Communicator of all ranks that mpiexec, torchrun or Slurm has started. All ranks call this.

    On GPUs it makes the GPU with the number of the rank on its host current. torchrun needs PyTorch. Slurm needs an MPI
    that it can start (``srun --mpi=pmix``), or PyTorch and the variables MASTER_ADDR and MASTER_PORT. mpiexec needs
    mpi4py. A program that was started alone is rank 0 of 1.

    Args:
        debug: True: before the first launch of each executable, compare its collectives between the ranks, and raise
            RankError on all ranks if they differ. All ranks pass the same value.
        direct: True: small arrays are reduced without the library, if all ranks are on one host and can use each
            other's memory (`Communicator.explain`). False: never. None: on GPUs. All ranks pass the same value.

    Raises:
        ImportError: mpi4py, an MPI, NCCL or PyTorch is missing.
        RuntimeError: The host driver runs, and the ranks were started by torchrun.
    """
    launcher = find_launcher()
    if driver_info().kind == "host":
        comm = load_mpi().COMM_WORLD
        check_size(comm.size, launcher)
        return from_mpi(comm, debug=debug, direct=direct)
    if launcher is None:
        comm = load_mpi().COMM_WORLD
        use_gpu(comm.Split_type(load_mpi().COMM_TYPE_SHARED).rank)
        return from_mpi(comm, debug=debug, direct=direct)
    rank, size, local = (int(os.environ[name]) for name in LAUNCHERS[launcher])
    use_gpu(local)
    return Communicator(NcclEngine.create(rank, size, share_of_store(rank, size)), debug, direct)


def from_mpi(comm: Any, *, debug: bool = False, direct: bool | None = None) -> Communicator:
    """Return a Communicator of the ranks of an `mpi4py.MPI.Intracomm`. All of its ranks call this.

    Args:
        comm: The communicator of mpi4py.
        debug, direct: As for `init`.

    Raises:
        TypeError: `comm` is another object.
        ImportError: mpi4py is missing, or NCCL on GPUs.
    """
    if not isinstance(comm, load_mpi().Intracomm):
        raise TypeError(f"from_mpi() takes an mpi4py.MPI.Intracomm, got {comm!r}")
    if driver_info().kind == "host":
        return Communicator(MpiEngine.copy_of(comm), debug, direct)
    return Communicator(NcclEngine.create(comm.rank, comm.size, comm.bcast), debug, direct)


def from_torch(group: Any = None, *, debug: bool = False, direct: bool | None = None) -> Communicator:
    """Return a Communicator of the ranks of a process group of `torch.distributed`. All of its ranks call this.

    Args:
        group: The group. None: the default group.
        debug, direct: As for `init`.

    Raises:
        RuntimeError: The host driver runs, which needs MPI.
    """
    need_gpus("from_torch")
    torch = import_module("torch.distributed")

    def share(data: bytes | None) -> bytes:
        found = [data]
        torch.broadcast_object_list(
            found, src=torch.get_global_rank(group or torch.group.WORLD, 0), group=group
        )
        return found[0] or b""

    return Communicator(
        NcclEngine.create(torch.get_rank(group), torch.get_world_size(group), share), debug, direct
    )


def from_nccl(handle: int, *, debug: bool = False, direct: bool | None = None) -> Communicator:
    """Return a Communicator of the ranks of a communicator of NCCL. All of its ranks call this.

    Args:
        handle: The ncclComm_t, an int. It stays open, and is used only to make other communicators.
        debug, direct: As for `init`.

    Raises:
        RuntimeError: The host driver runs, which needs MPI.
    """
    need_gpus("from_nccl")
    return Communicator(NcclEngine(handle, is_owned=False), debug, direct)


def need_gpus(name: str) -> None:
    if driver_info().kind == "host":
        raise RuntimeError(
            f"{name}() needs GPUs: on the host driver, call init() or from_mpi() under mpiexec"
        )


def find_launcher() -> str | None:
    """Return the program that started the ranks, a key of LAUNCHERS; None for mpiexec, and for a single process."""
    for name, variables in LAUNCHERS.items():
        if all(variable in os.environ for variable in variables) and "MASTER_ADDR" in os.environ:
            return name
    return None


def check_size(size: int, launcher: str | None) -> None:
    """Refuse ranks that another launcher than MPI's has started: each would be alone."""
    wanted = 1 if launcher is None else int(os.environ[LAUNCHERS[launcher][1]])
    if size != wanted and launcher is not None:
        raise RuntimeError(
            f"{launcher} started {wanted} processes, and MPI sees {size}. The host driver exchanges data by MPI: start "
            f"the program with mpiexec -n {wanted} python program.py"
        )


def use_gpu(local: int) -> None:
    """Make the GPU of a rank of this host current. A rank may see fewer GPUs (CUDA_VISIBLE_DEVICES)."""
    Device(local % len(Device.get_all_devices())).set_current()


def share_of_store(rank: int, size: int) -> Callable[[bytes | None], bytes]:
    """Return the function that gives bytes of rank 0 to all ranks, by PyTorch's store at MASTER_ADDR."""
    store, key = store_of(rank, size), f"cuda_graphs.distributed.{next(_numbers)}"

    def share(data: bytes | None) -> bytes:
        if data is not None:
            store.set(key, data)
        return bytes(store.get(key))

    return share


@cache
def store_of(rank: int, size: int) -> Any:
    """Return PyTorch's store. Rank 0 serves the other ranks as long as the process lives."""
    try:
        torch = import_module("torch.distributed")
    except ImportError as error:
        raise ImportError(
            "ranks of torchrun, and of Slurm with MASTER_ADDR, find each other by PyTorch: install it, or use mpiexec "
            f"({error})"
        ) from error
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(size))
    return next(torch.rendezvous("env://"))[0]
