# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Programs whose ranks find each other in one of the ways of cuda_graphs/distributed/start.py. test_start.py runs them.

Each rank prints a line when its communicator has summed at once, in a graph, and in a body.
"""

import faulthandler
import os
import sys

import numpy as np

import cuda_graphs as cg


@cg.kernel(graph=True)
def double_until(x: cg.Array1[cg.f64], limit: float, comm: cg.distributed.Communicator) -> None:
    while cg.graph_while(x[0] < limit):
        for i in x:
            x[i] *= 2.0
        comm.all_reduce(x)


def check(comm):
    x = cg.array(np.arange(3.0) + comm.rank)
    comm.all_reduce(x)
    expected = np.arange(3.0) * comm.size + sum(range(comm.size))
    np.testing.assert_array_equal(x.to_numpy(), expected)
    graph, stream = cg.GraphDef(), cg.Device().create_stream()
    graph.call(comm.all_reduce, x)
    graph.instantiate().launch(stream)
    stream.sync()
    np.testing.assert_array_equal(x.to_numpy(), expected * comm.size)
    y = cg.array(np.ones(1000))  # too large for the direct way
    double_until(y, 10.0, comm)
    factor = 2.0 * comm.size  # of one pass
    np.testing.assert_array_equal(y.to_numpy(), np.full(1000, factor ** np.ceil(np.log(10) / np.log(factor))))
    lowering = double_until.graph_stats.lowering
    del graph
    double_until.forget()
    print(f"rank {comm.rank} of {comm.size} agrees with NumPy, the loop is {lowering}", flush=True)


def by_init():
    """Ranks of torchrun or Slurm."""
    comm = cg.distributed.init()
    check(comm)
    comm.close()


def by_torch():
    """A process group of PyTorch, which has used NCCL before."""
    os.environ["NCCL_GRAPH_MIXING_SUPPORT"] = "0"
    import torch
    from torch import distributed

    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    cg.Device(local).set_current()
    distributed.init_process_group("nccl")
    ones = torch.ones(4, device=f"cuda:{local}")
    distributed.all_reduce(ones)
    comm = cg.distributed.from_torch()
    assert (comm.rank, comm.size) == (distributed.get_rank(), distributed.get_world_size())
    assert ones.tolist() == [comm.size] * 4
    check(comm)
    comm.close()
    distributed.all_reduce(ones)  # PyTorch's group is still usable
    assert ones.tolist() == [distributed.get_world_size() ** 2] * 4
    distributed.destroy_process_group()


def by_nccl():
    """A communicator of NCCL that another library owns."""
    own = cg.distributed.init()
    comm = cg.distributed.from_nccl(own._engine.handle.value)
    check(comm)
    comm.close()
    check(own)  # it is still open
    own.close()


LIMIT_S = 80  # less than test_start.py waits

if __name__ == "__main__":
    faulthandler.dump_traceback_later(LIMIT_S, exit=True)  # tells which call does not end
    {"init": by_init, "torch": by_torch, "nccl": by_nccl}[sys.argv[1]]()
