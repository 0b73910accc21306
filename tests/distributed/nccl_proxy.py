# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Adds a collective that needs NCCL's proxy to a graph and to a body: test_nccl.py provides a stand-in for NCCL."""

import numpy as np

import cuda_graphs as cg
from cuda_graphs.distributed.nccl_engine import NcclEngine


@cg.kernel(graph=True)
def count_down(x: cg.Array1[cg.f64], comm: cg.distributed.Communicator) -> None:
    while cg.graph_while(x[0] > 0.0):
        for i in x:
            x[i] -= 1.0
        comm.all_reduce(x)


def main():
    cg.Device().set_current()
    comm = cg.distributed.Communicator(NcclEngine.create(0, 1, lambda data: data))
    x, y = cg.array(np.arange(3.0)), cg.zeros(3, cg.f64)
    g = cg.GraphDef()
    body = g.if_then(cg.array([1], cg.i32)).then
    try:
        body.call(comm.all_reduce, x, y)
    except RuntimeError as error:
        print(error)
    assert body.nodes() == set()
    g.call(comm.all_reduce, x, y)
    stream = cg.Device().create_stream()
    g.instantiate().launch(stream)
    stream.sync()
    np.testing.assert_array_equal(y.to_numpy(), np.arange(3.0))
    z = cg.array(np.array([5.0, 7.0]))
    count_down(z, comm)
    np.testing.assert_array_equal(z.to_numpy(), [0.0, 2.0])
    print("the kernel runs as", count_down.explain(z, comm).lowering)


if __name__ == "__main__":
    main()
