# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Programs whose last rank does something else than the others. test_differences.py runs them in debug mode.

    mpiexec -n 2 python -m tests.distributed.differences FOLDER NAME

Each rank writes the error and whether its array is as before the launch to a file of its number in the folder.
"""

import faulthandler
import sys
from pathlib import Path

import numpy as np

import cuda_graphs as cg


@cg.kernel
def halve(x: cg.types.ndarray(cg.f64, ndim=1)):
    for i in x:
        x[i] *= 0.5


# ---- graphs that differ: (the definition on this rank)


def another_shape(g, comm, x, last):
    g.call(comm.all_reduce, x[:2] if last else x)


def another_type(g, comm, x, last):
    g.call(comm.broadcast, cg.zeros(4, cg.f32) if last else x)


def another_root(g, comm, x, last):
    g.call(comm.all_reduce, x).call(comm.broadcast, x, comm.size - 1 if last else 0)


def another_operation(g, comm, x, last):
    g.call(comm.all_reduce, x, None, "max" if last else "sum")


def another_order(g, comm, x, last):
    calls = [comm.all_reduce, comm.broadcast]
    first, second = calls[::-1] if last else calls
    g.call(first, x).call(second, x)


def a_missing_collective(g, comm, x, last):
    node = g.call(comm.all_reduce, x)
    if not last:
        node.if_then(cg.array([1], cg.i32)).then.call(comm.all_reduce, x)


def a_send_without_a_receive(g, comm, x, last):
    node = g.call(comm.all_reduce, x)
    if comm.rank == 0:
        node.call(comm.send, x, comm.size - 1)


Vector = cg.types.ndarray(cg.f64, ndim=1)
Comm = cg.distributed.Communicator


@cg.kernel(graph=True)
def from_a_root(x: Vector, comm: Comm, root: cg.i32):
    comm.all_reduce(x)
    comm.broadcast(x, root)


def another_root_in_a_kernel(g, comm, x, last):
    g.call(from_a_root, x, comm, comm.size - 1 if last else 0)


# ---- predicates on a value of one rank


@cg.kernel(graph=True)
def halve_and_meet(x: Vector, y: Vector, comm: Comm):
    while cg.graph_while(x[0] > 0.5):
        for i in x:
            x[i] *= 0.5
        comm.all_reduce(y, op="max")


def kernel_loop_on_a_local_value(g, comm, x, last):
    g.call(halve_and_meet, x, cg.ones(1, cg.f64), comm)


def loop_on_a_local_value(g, comm, x, last):
    loop = g.while_loop(lambda x: x[0] > 0.5, args=(x,), name="halving")
    loop.body.call(halve, x).call(comm.all_reduce, cg.ones(1, cg.f64), None, "max")


def loop_with_an_exchange(g, comm, x, last):
    loop = g.while_loop(lambda x: x[0] > 0.5, args=(x,), name="halving")
    y, z, other = cg.zeros(1, cg.f64), cg.zeros(1, cg.f64), comm.size - 1 - comm.rank
    node = loop.body.call(halve, x)
    if comm.rank in (0, comm.size - 1):
        node = node.call(comm.group, (comm.send, y, other), (comm.recv, z, other))
    node.call(comm.all_reduce, cg.ones(1, cg.f64), None, "max")


def branch_on_a_local_value(g, comm, x, last):
    branch = g.if_then(lambda x: x[0] > 2.5, args=(x,))
    branch.then.call(comm.all_reduce, cg.ones(1, cg.f64))
    g.call(comm.broadcast, cg.ones(1, cg.f64))


PLANS = (
    another_shape,
    another_type,
    another_root,
    another_operation,
    another_order,
    a_missing_collective,
    a_send_without_a_receive,
    another_root_in_a_kernel,
)
PREDICATES = (
    loop_on_a_local_value,
    loop_with_an_exchange,
    branch_on_a_local_value,
    kernel_loop_on_a_local_value,
)


def main(folder, name):
    comm = cg.distributed.init(debug=True)
    rank, last = comm.rank, comm.rank == comm.size - 1
    x = cg.array(np.full(4, 4.0 if last else 2.0))
    before = x.to_numpy().copy()
    g = cg.GraphDef()
    globals()[name](g, comm, x, last)
    graph, stream = g.instantiate(), cg.Device().create_stream()
    try:
        graph.launch(stream)
        stream.sync()
    except cg.distributed.RankError as error:
        text = str(error)
    cg.Device().sync()
    unchanged = np.array_equal(x.to_numpy(), before)
    Path(folder, str(rank)).write_text(f"{unchanged}\n{text}")


def check(folder):
    """Write the findings of `check` for a graph with meetings in its bodies to the rank's file in the folder."""
    comm = cg.distributed.init(debug=True)
    g = cg.GraphDef()
    x = cg.ones(4, cg.f64)
    branch_on_a_local_value(g, comm, x, False)
    loop_with_an_exchange(g, comm, x, False)
    Path(folder, str(comm.rank)).write_text(str(g.check().findings))


if __name__ == "__main__":
    faulthandler.enable()
    faulthandler.dump_traceback_later(50)
    check(sys.argv[2]) if sys.argv[1] == "check" else main(*sys.argv[1:])
