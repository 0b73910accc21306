# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The first communicator of a process, from the program that started the ranks."""

from __future__ import annotations

from typing import Any

from .communicator import Communicator
from .mpi_engine import MpiEngine, load_mpi

__all__ = ["from_mpi", "init"]


def from_mpi(comm: Any) -> Communicator:
    """Return a Communicator of the ranks of an `mpi4py.MPI.Intracomm`. All of its ranks call this."""
    return Communicator(MpiEngine.copy_of(comm))


def init() -> Communicator:
    return from_mpi(load_mpi().COMM_WORLD)
