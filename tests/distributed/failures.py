# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Programs in which one rank fails while the others wait for it in a graph. test_failures.py runs them."""

import os
import signal
import sys

import cuda_graphs as cg


def waiting_graph(comm):
    """Return an executable whose loop waits for all ranks again and again, and does not end by itself."""
    x = cg.ones(1, cg.f64)
    g = cg.GraphDef()
    g.while_loop(lambda x: x[0] > 0, args=(x,)).body.call(comm.all_reduce, x, None, "max")
    return g.instantiate()


def main(way):
    comm = cg.distributed.init()
    graph, stream = waiting_graph(comm), cg.Device().create_stream()
    comm.barrier()
    if comm.rank == comm.size - 1:
        if way == "raise":
            raise ArithmeticError("this rank gives up")
        os.kill(os.getpid(), signal.SIGKILL)
    graph.launch(stream)
    stream.sync()


if __name__ == "__main__":
    main(sys.argv[1])
