# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the laws with NCCL's engine on one rank, on the host driver: test_nccl.py provides a stand-in for NCCL."""

import sys

import cuda_graphs as cg
from cuda_graphs.distributed.nccl_engine import NcclEngine
from tests.distributed import laws

if __name__ == "__main__":
    cg.Device().set_current()
    laws.main(cg.distributed.Communicator(NcclEngine.create(0, 1, lambda data: data)), *sys.argv[1:])
