# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Programs in which the last rank ends while the others wait for it. test_deaths.py runs them on several ranks.

    mpiexec -disable-auto-cleanup -n 3 python -m cuda_graphs.distributed
        tests/distributed/deaths.py FOLDER WAIT WAY PATH [HOSTS ENDING]

PATH is "direct" if small reductions go through memory of the ranks, else "library". With HOSTS the ranks take
themselves for ranks of so many hosts. ENDING is the rank that ends, in place of the last one.
Each rank writes the time of its end or of its error to a file of its number in the folder, with the error. Before that
it shows that its process is usable: a split of the surviving ranks, a graph and a kernel of its own work.
"""

import faulthandler
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np

import cuda_graphs as cg
from tests.distributed.hosts import take_for_hosts
from tests.distributed.resident import compile_for_gpus


@cg.kernel
def add_one(x: cg.types.ndarray(cg.f64, ndim=1)):
    for i in x:
        x[i] += 1.0


def stream_of(graph):
    stream = cg.Device().create_stream()
    graph.launch(stream)
    return stream


def goes_on(x):
    return x[0] > 0


def compile_all(comm):
    """Compile and load what the waits below and the show of a usable process need, which may take seconds."""
    x, y = cg.ones(1, cg.f64), cg.array(np.ones(5))
    g = cg.GraphDef()
    g.while_loop(goes_on, args=(x,)).body.call(add_one, x)
    g.instantiate()
    with cg.capture() as builder, builder.while_loop(goes_on, args=(x,)):
        add_one(x)
    builder.complete()
    add_one(y)
    comm.all_reduce(y)
    cg.Device().sync()


def in_a_body(comm, x):
    g = cg.GraphDef()
    g.while_loop(goes_on, args=(x,)).body.call(comm.all_reduce, x, None, "max")
    stream_of(g.instantiate()).sync()


@cg.kernel(graph=True)
def until_zero(x: cg.types.ndarray(cg.f64, ndim=1), comm: cg.distributed.Communicator):
    while cg.graph_while(x[0] > 0.0):
        comm.all_reduce(x, op="max")


# Wait in a loop of a kernel -> the kernel.
KERNELS = {
    "in_a_loop_of_a_kernel": until_zero,
    "in_a_loop_of_a_kernel_on_the_host": cg.kernel(graph=True, loop="host")(until_zero.__wrapped__),
    "in_a_resident_loop": cg.kernel(graph=True, loop="resident")(until_zero.__wrapped__),
}


def in_a_kernel(name):
    def wait(comm, x):
        KERNELS[name](x, comm)
        cg.Device().sync()

    return wait


def in_a_captured_body(comm, x):
    with cg.capture() as builder, builder.while_loop(goes_on, args=(x,)):
        comm.all_reduce(x, op="max")
    stream_of(builder.complete()).sync()


def beside_a_loop_on_the_device(comm, x):
    """A loop that the compiler may make resident does not exchange data, and never ends by itself."""
    g, y = cg.GraphDef(), cg.ones(1, cg.f64)
    g.call(comm.all_reduce, x)
    g.while_loop(goes_on, args=(y,)).body.call(add_one, y)
    stream_of(g.instantiate()).sync()


def at_once(comm, x):
    comm.all_reduce(x)
    cg.Device().sync()


def in_a_group(comm, x):
    y, last = cg.ones(1, cg.f64), comm.size - 1
    comm.group((comm.send, x, last), (comm.recv, y, last))
    cg.Device().sync()


def in_a_barrier(comm, x):
    comm.barrier()


def in_a_new_definition(comm, x):
    cg.GraphDef().call(comm.all_reduce, x)


def in_a_split(comm, x):
    comm.split(0)


def in_no_call(comm, x):
    """The rank ends while the others compute: the next use raises."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        comm.all_reduce(x)
        time.sleep(0.01)


WAITS = {
    function.__name__: function
    for function in (
        in_a_body,
        in_a_captured_body,
        beside_a_loop_on_the_device,
        at_once,
        in_a_group,
        in_a_barrier,
        in_a_new_definition,
        in_a_split,
        in_no_call,
    )
} | {name: in_a_kernel(name) for name in KERNELS}
# Waits of the library, and those in a small all_reduce.
OF_THE_LIBRARY = [name for name in WAITS if name != "in_a_resident_loop"]
NOT_DIRECT = ("in_a_group", "in_a_barrier", "in_a_new_definition", "in_a_split")
DIRECT = [name for name in WAITS if name not in NOT_DIRECT]


def end(way):
    if way == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if way == "failing":
        raise ArithmeticError("this rank gives up")
    os._exit(0)


def show_that_the_process_is_usable(rest, comm):
    x = cg.array(np.ones(5))
    rest.all_reduce(x)
    g = cg.GraphDef()
    g.call(add_one, x).call(rest.all_reduce, x)
    stream_of(g.instantiate()).sync()
    np.testing.assert_array_equal(x.to_numpy(), np.full(5, rest.size * (rest.size + 1.0)))
    del g
    cg.reset()
    comm.close()


def main(folder, wait, way, path, hosts=1, ending=-1):
    if wait == "in_a_resident_loop":
        compile_for_gpus()
    take_for_hosts(int(hosts))
    comm = cg.distributed.init(direct=path == "direct")
    assert (comm.explain(comm.all_reduce, cg.ones(1, cg.f64)) == "direct") == (path == "direct")
    rank, last = comm.rank, comm.rank == int(ending) % comm.size
    rest = comm.split(None if last else 0)
    x = cg.ones(1, cg.f64)
    compile_all(comm)
    if wait in KERNELS:
        KERNELS[wait](cg.zeros(1, cg.f64), comm)  # compiles it
    comm.barrier()  # all have the split
    if last:
        Path(folder, str(rank)).write_text(str(time.monotonic()))  # the clock of all processes of this host
        end(way)
    try:
        WAITS[wait](comm, x)
    except cg.distributed.RankError as error:
        text = str(error)
    seconds = time.monotonic()
    show_that_the_process_is_usable(rest, comm)
    Path(folder, str(rank)).write_text(f"{seconds}\n{text}")


if __name__ == "__main__":
    faulthandler.enable()
    faulthandler.dump_traceback_later(50)
    main(*sys.argv[1:])
