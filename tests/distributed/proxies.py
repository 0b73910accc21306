# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Programs on ranks whose engine refuses bodies, as NCCL does for a network. test_proxies.py runs them.

    mpiexec -n 3 python -m tests.distributed.proxies FOLDER WHICH

The ranks that refuse are "all" or the "last" one. Each rank writes the lowering and its reason to a file of its number.
"""

import sys
from pathlib import Path

import numpy as np

import cuda_graphs as cg
from cuda_graphs.kernels.graph.host_calls import BodyRefusal
from tests.distributed.kernel_laws import Comm, Vector, until_small, until_small_on_all
from tests.distributed.law_rig import collect, raised, values_of, values_of_all

REASON = "the ranks exchange data through a network"


def refuse_bodies(comm):
    """Let the engines of this rank refuse collectives in bodies."""
    kind = type(comm._engine)
    add = kind.add

    def refusing(engine, place, steps, lease):
        if " of " in getattr(place, "graph", place)._identify():  # a body
            raise BodyRefusal(f"{REASON} of rank {comm.rank}")
        return add(engine, place, steps, lease)

    kind.add = refusing


def in_a_loop(comm):
    """A loop with collectives gives the result of the loop on the device, with several arrays, in several calls."""
    for call in range(3):
        xs = values_of_all(comm, 6, salt=call) + np.arange(comm.size)[:, None]
        x, largest, passes = cg.array(xs[comm.rank]), cg.zeros(1, cg.f64), cg.zeros(1, cg.i64)
        until_small(x, largest, passes, 0.01, comm)
        values, most, count = until_small_on_all(xs, 0.01)
        np.testing.assert_array_equal(x.to_numpy(), values)
        assert (largest[0], passes[0]) == (most, count)
    found = until_small.explain(x, largest, passes, 0.01, comm)
    assert found.lowering == until_small.graph_stats.lowering == "host"
    return found.why


@cg.kernel(graph=True)
def twice(x: Vector, comm: Comm):
    for i in x:
        x[i] *= 2.0
    comm.all_reduce(x)


def without_a_loop(comm):
    """A collective at the top level is in no body, so the kernel stays a graph."""
    x = cg.array(values_of(comm.rank, 6))
    twice(x, comm)
    np.testing.assert_array_equal(x.to_numpy(), 2.0 * values_of_all(comm, 6).sum(axis=0))
    assert twice.graph_stats.lowering == "conditional"


def where_the_host_cannot_run_it(comm):
    """The error names the reason, and changes nothing."""
    kernel = cg.kernel(graph=True, loop="conditional")(until_small.__wrapped__)
    x, largest, passes = cg.ones(6, cg.f64), cg.zeros(1, cg.f64), cg.zeros(1, cg.i64)
    assert REASON in raised(BodyRefusal, kernel, x, largest, passes, 0.5, comm)
    np.testing.assert_array_equal(x.to_numpy(), np.ones(6))
    kernel.forget()


def in_a_definition(comm):
    """A definition refuses the kernel and the collective, and stays as it was."""
    x, largest, passes = cg.ones(6, cg.f64), cg.zeros(1, cg.f64), cg.zeros(1, cg.i64)
    g = cg.GraphDef()
    first = g.memset(x, 0.0)
    assert REASON in raised(BodyRefusal, first.call, until_small, x, largest, passes, 0.5, comm)
    assert g.nodes() == {first}
    loop = g.while_loop(lambda x: x[0] > 0, args=(x,))
    before = loop.body.nodes()
    assert REASON in raised(BodyRefusal, loop.body.call, comm.all_reduce, x)
    assert loop.body.nodes() == before


def main(folder, which):
    comm = cg.distributed.init(direct=False)  # direct reductions need no engine
    if which == "all" or comm.rank == comm.size - 1:
        refuse_bodies(comm)
    without_a_loop(comm)
    why = in_a_loop(comm)
    where_the_host_cannot_run_it(comm)
    if which == "all":
        in_a_definition(comm)
    rank = comm.rank
    cg.reset()
    collect()
    comm.close()
    Path(folder, str(rank)).write_text(why)


if __name__ == "__main__":
    main(*sys.argv[1:])
