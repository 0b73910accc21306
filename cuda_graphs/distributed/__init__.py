# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Collectives between processes: at once on a stream, in captures, as nodes of definitions, and in bodies.

A Communicator has the methods. It reads a call into steps (steps.py). An engine translates steps into calls of MPI on
the host driver (mpi_engine.py) or of NCCL on GPUs (nccl_engine.py). These libraries move all bytes between processes.
`import cuda_graphs` imports neither this package nor mpi4py.

Other rooms may import:
    __init__  the names `cg.distributed.X`
"""

from .communicator import Communicator
from .halo import Halo
from .health import RankError
from .start import from_mpi, from_nccl, from_torch, init

__all__ = ["Communicator", "Halo", "RankError", "from_mpi", "from_nccl", "from_torch", "init"]
