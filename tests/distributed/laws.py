# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of collectives, which all ranks run together: ``mpiexec -n 3 python -m tests.distributed.laws library FOLDER``.
With ``direct`` in place of ``library``, small reductions go through memory of the ranks.

Each rank computes the arrays of all ranks, so NumPy gives the expected results. A rank writes the names of the laws
that hold to a file of its number in the folder, and ends at the first failure. Further arguments select laws.
"""

import faulthandler
import gc
import sys
import threading
from pathlib import Path

import numpy as np

import cuda_graphs as cg
from tests.distributed import direct_laws, halo_laws, kernel_laws  # noqa: F401  register their laws
from tests.distributed.law_rig import LAWS, collect, launch, law, raised, values_of, values_of_all

LAW_LIMIT_S = {"host": 150, "cuda": 40}  # ranks outnumber the cores of the host
TYPES = [np.int32, np.uint8, np.int64, np.float32, np.float64]
REDUCTIONS = {"sum": np.sum, "prod": np.prod, "min": np.min, "max": np.max}

# Laws about the nodes of collectives. NCCL has nothing to do for one rank in place.
NEED_NODES = {
    "check_finds_unordered_collectives",
    "streams_of_one_capture_run_collectives_in_the_order_of_the_calls",
}


def laws_of_this_driver(size):
    """Return the laws that hold for `size` ranks on the driver of this process."""
    left_out = set()
    if cg.driver_info().kind == "cuda":
        left_out = NEED_NODES if size == 1 else set()
    return {name: function for name, function in LAWS.items() if name not in left_out}


# ---- each collective: (a function that calls it, and the expected array of this rank)


class Case:
    """A collective with its arguments on this rank, and the arrays that NumPy expects after it."""

    def __init__(self, name, args, expected):
        self.name, self.args, self.expected = name, args, expected

    def check(self):
        for array, values in self.expected:
            np.testing.assert_array_equal(array.to_numpy(), values, err_msg=self.name)


def cases(comm, n=3, dtype=np.float64):
    """Yield a Case of each collective and each way to pass its arguments."""
    size, rank = comm.size, comm.rank
    every = values_of_all(comm, n, dtype)
    wide = values_of_all(comm, n * size, dtype, salt=1)

    def mine(values=every):
        return cg.array(values[rank])

    def empty(count=n):
        return cg.array(np.zeros(count, dtype))

    for op, reduced in REDUCTIONS.items():
        result = reduced(every, axis=0).astype(dtype)
        x, y, z = mine(), mine(), empty()
        yield Case("all_reduce", (x, None, op), [(x, result)])
        yield Case("all_reduce", (y, z, op), [(y, every[rank]), (z, result)])
        root = size - 1
        x, y, z = mine(), mine(), empty()
        yield Case("reduce", (x, None, op, root), [(x, result if rank == root else every[rank])])
        received = result if rank == root else np.zeros(n, dtype)
        yield Case("reduce", (y, z, op, root), [(y, every[rank]), (z, received)])
        x, y = mine(wide), empty()
        part = reduced(wide, axis=0).astype(dtype)[rank * n : (rank + 1) * n]
        yield Case("reduce_scatter", (x, y, op), [(y, part)])
    for root in range(size):
        x = mine()
        yield Case("broadcast", (x, root), [(x, every[root])])
    x, y = mine(), empty(n * size)
    yield Case("all_gather", (x, y), [(y, every.ravel())])
    x, y = mine(wide), empty(n * size)
    parts = np.concatenate([values[rank * n : (rank + 1) * n] for values in wide])
    yield Case("all_to_all", (x, y), [(y, parts)])
    x, y = mine(), empty()
    after, before = (rank + 1) % size, (rank - 1) % size
    if size > 1:
        calls = (comm.send, x, after), (comm.recv, y, before)
        yield Case("group", calls, [(y, every[before])])
        x, y = mine(), empty()
        if rank == 0:
            yield Case("send", (x, 1), [(x, every[0])])
        elif rank == 1:
            yield Case("recv", (y, 0), [(y, every[0])])
    x, y = mine(), mine()
    both = every.sum(axis=0).astype(dtype)
    yield Case("group", ((comm.all_reduce, x), (comm.all_reduce, y)), [(x, both), (y, both)])


@law
def collectives_at_once_agree_with_numpy(comm):
    for dtype, n in [*((dtype, 3) for dtype in TYPES), (np.float64, 1), (np.float64, 1000)]:
        for case in cases(comm, n, dtype):
            getattr(comm, case.name)(*case.args)
            case.check()


@law
def collectives_return_the_array_of_the_result(comm):
    x, y = cg.array(values_of(comm.rank, 4)), cg.zeros(4, cg.f64)
    assert comm.all_reduce(x) is x
    assert comm.all_reduce(x, y) is y
    assert comm.broadcast(x) is x


@law
def a_large_message_agrees_with_numpy(comm):
    n = 1 << 18
    x = cg.array(values_of(comm.rank, n))
    comm.all_reduce(x)
    np.testing.assert_array_equal(x.to_numpy(), values_of_all(comm, n).sum(axis=0))


@law
def calls_on_several_streams_run_in_the_order_of_the_calls(comm):
    streams = [cg.Device().create_stream() for _ in range(3)]
    arrays = [cg.array(values_of(comm.rank, 5, salt=i)) for i in range(30)]
    for i, x in enumerate(arrays):
        comm.all_reduce(x, stream=streams[(i * (comm.rank + 1)) % 3])
    for stream in streams:
        stream.sync()
    for i, x in enumerate(arrays):
        np.testing.assert_array_equal(x.to_numpy(), values_of_all(comm, 5, salt=i).sum(axis=0))


@law
def calls_keep_their_arrays_until_the_last_rank_has_called(comm):
    size, stream, other = 4000, cg.Device().create_stream(), cg.Device().create_stream()
    x, out = cg.array(values_of(comm.rank, size)), cg.zeros(size, cg.f64)
    if comm.rank != comm.size - 1:
        comm.all_reduce(x, out, stream=stream)
        del x
        gc.collect()
        taken = [cg.Device().allocate(8 * size, stream=other) for _ in range(3)]  # memory that is free
        for each in taken:
            each.fill(255, stream=other)
        other.sync()
    comm.barrier()
    if comm.rank == comm.size - 1:
        comm.all_reduce(x, out, stream=stream)
    stream.sync()
    np.testing.assert_array_equal(out.to_numpy(), values_of_all(comm, size).sum(axis=0))


# ---- graphs


@law
def nodes_of_a_definition_agree_with_numpy(comm):
    for dtype in (np.int32, np.float64):
        g = cg.GraphDef()
        node, all_cases = g, list(cases(comm, 3, dtype))
        for case in all_cases:
            node = node.call(getattr(comm, case.name), *case.args)
        assert g.check().findings == ()
        launch(g.instantiate())
        for case in all_cases:
            case.check()


@law
def captured_calls_agree_with_numpy(comm):
    all_cases = list(cases(comm))
    with cg.capture() as builder:
        for case in all_cases:
            getattr(comm, case.name)(*case.args)
    launch(builder.complete())
    for case in all_cases:
        case.check()


@law
def bodies_of_conditionals_take_every_collective(comm):
    one = cg.array([1], cg.i32)
    for add in (
        lambda g: g.if_then(one).then,
        lambda g: g.if_else(one).then,
        lambda g: g.switch(one, 2).branches[1],
        lambda g: g.if_then(one).then.if_then(one).then,
    ):
        g = cg.GraphDef()
        node, all_cases = add(g), list(cases(comm))
        for case in all_cases:
            node = node.call(getattr(comm, case.name), *case.args)
        launch(g.instantiate())
        for case in all_cases:
            case.check()


@cg.kernel
def halve(x: cg.types.ndarray(cg.f64, ndim=1)):
    for i in x:
        x[i] *= 0.5


@cg.kernel
def largest(x: cg.types.ndarray(cg.f64, ndim=1), out: cg.types.ndarray(cg.f64, ndim=1)):
    cg.loop_config(serialize=True)
    for _ in range(1):
        out[0] = 0.0
        for i in range(x.shape[0]):
            out[0] = max(out[0], x[i])


def halvings(comm, limit):
    """Return the steps until the largest number of all ranks is at most the limit."""
    x, steps = values_of_all(comm, 7, salt=9) * (1 + np.arange(comm.size))[:, None], 0
    while x.max() > limit:
        x, steps = x * 0.5, steps + 1
    return x, steps


@law
def a_while_loop_on_a_reduced_value_ends_on_all_ranks_after_the_same_iterations(comm):
    limit = 0.01
    expected, steps = halvings(comm, limit)

    def goes_on(norm):
        return norm[0] > limit

    for captured in (False, True):
        x = cg.array(values_of(comm.rank, 7, salt=9) * (1 + comm.rank))
        norm = cg.array([np.inf], cg.f64)
        if captured:
            with (
                cg.capture() as builder,
                builder.while_loop(goes_on, args=(norm,), name="halving"),
            ):
                halve(x)
                largest(x, norm)
                comm.all_reduce(norm, op="max")
            graph = builder.complete()
        else:
            g = cg.GraphDef()
            loop = g.while_loop(goes_on, args=(norm,), name="halving")
            loop.body.call(halve, x).call(largest, x, norm).call(comm.all_reduce, norm, None, "max")
            assert g.check().findings == ()
            graph = g.instantiate()
        launch(graph)
        np.testing.assert_array_equal(x.to_numpy(), expected[comm.rank])
        assert graph.iterations["halving"].iterations == steps
        assert norm[0] == expected.max() <= limit


@law
def a_graph_can_be_launched_many_times(comm):
    x = cg.array(np.ones(3))
    g = cg.GraphDef()
    g.call(comm.all_reduce, x)
    launch(g.instantiate(), times=20)
    np.testing.assert_array_equal(x.to_numpy(), np.full(3, float(comm.size) ** 20))


@law
def a_launch_waits_for_the_rank_that_launches_last(comm):
    x = cg.array(values_of(comm.rank, 3))
    g = cg.GraphDef()
    g.call(comm.all_reduce, x)
    graph, stream = g.instantiate(), cg.Device().create_stream()
    is_last = comm.rank == comm.size - 1
    if not is_last:
        graph.launch(stream)
    end = stream.record()
    comm.barrier()
    assert is_last or not end.is_done
    comm.barrier()
    if is_last:
        graph.launch(stream)
    stream.sync()
    np.testing.assert_array_equal(x.to_numpy(), values_of_all(comm, 3).sum(axis=0))


@law
def a_launch_that_overlaps_another_is_refused_and_launches_nothing(comm):
    """The first rank launches early: its collective runs until the others launch as well."""
    x = cg.array(values_of(comm.rank, 3))
    g = cg.GraphDef()
    g.call(comm.all_reduce, x)
    first, second = g.instantiate(), g.instantiate()
    streams = [cg.Device().create_stream() for _ in range(2)]
    is_early = comm.rank == 0 and comm.size > 1
    if is_early:
        first.launch(streams[0])
        words = raised(RuntimeError, second.launch, streams[1])
        assert "may still be running on stream" in words and "on one stream" in words
        second.launch(streams[0])  # in the order of the stream
    comm.barrier()
    if not is_early:
        first.launch(streams[0])
        second.launch(streams[0])
    streams[0].sync()
    second.launch(streams[1])  # after the wait
    streams[1].sync()
    expected = values_of_all(comm, 3).sum(axis=0) * comm.size**2
    np.testing.assert_array_equal(x.to_numpy(), expected)


@law
def a_graph_that_embeds_collectives_is_refused_when_it_overlaps(comm):
    x = cg.array(values_of(comm.rank, 3))
    child = cg.GraphDef()
    child.call(comm.all_reduce, x)
    graphs = []
    for _ in range(2):
        g = cg.GraphDef()
        g.embed(child)
        graphs.append(g.instantiate())
    streams = [cg.Device().create_stream() for _ in range(2)]
    if comm.rank == 0 and comm.size > 1:
        graphs[0].launch(streams[0])
        assert "may still be running" in raised(RuntimeError, graphs[1].launch, streams[1])
    comm.barrier()
    if comm.rank or comm.size == 1:
        graphs[0].launch(streams[0])
    streams[0].sync()
    np.testing.assert_array_equal(x.to_numpy(), values_of_all(comm, 3).sum(axis=0))


@law
def memory_of_alloc_nodes_takes_part(comm):
    x, out = cg.array(values_of(comm.rank, 4)), cg.zeros(4, cg.f64)
    g = cg.GraphDef()
    memory = g.alloc(shape=4, dtype=cg.f64)
    memory.memcpy(memory, x).call(comm.all_reduce, memory[:]).memcpy(out, memory).free(memory)
    assert "only while its graph runs" in raised(RuntimeError, comm.all_reduce, memory[:])
    launch(g.instantiate())
    np.testing.assert_array_equal(out.to_numpy(), values_of_all(comm, 4).sum(axis=0))


# ---- order


@law
def collectives_of_a_definition_run_in_the_order_in_which_they_were_added(comm):
    g, flag = cg.GraphDef(), cg.array([1], cg.i32)
    arrays = [cg.array(values_of(comm.rank, 3, salt=i)) for i in range(5)]
    first = g.call(comm.all_reduce, arrays[0])
    branch = g.if_then(flag)
    inner = branch.then.call(comm.all_reduce, arrays[1])
    deeper = branch.then.if_then(flag)
    deeper.then.call(comm.all_reduce, arrays[2])
    last = g.call(comm.all_reduce, arrays[3])
    assert first in branch.pred and branch in last.pred and inner in deeper.pred
    assert g.check().findings == ()
    launch(g.instantiate())
    for i in range(4):
        np.testing.assert_array_equal(arrays[i].to_numpy(), values_of_all(comm, 3, salt=i).sum(axis=0))


@law
def the_two_branches_of_a_conditional_need_no_order(comm):
    g, flag = cg.GraphDef(), cg.array([0], cg.i32)
    x, y = (cg.array(values_of(comm.rank, 3)) for _ in range(2))
    node = g.if_else(flag)
    node.then.call(comm.all_reduce, x)
    node.else_.call(comm.all_reduce, y)
    assert g.check().findings == ()
    launch(g.instantiate())
    np.testing.assert_array_equal(x.to_numpy(), values_of(comm.rank, 3))
    np.testing.assert_array_equal(y.to_numpy(), values_of_all(comm, 3).sum(axis=0))


@law
def check_finds_unordered_collectives(comm):
    g = cg.GraphDef()
    x, y = (cg.array(values_of(comm.rank, 3)) for _ in range(2))
    first, second = g.call(comm.all_reduce, x), g.call(comm.all_reduce, y)
    assert second.pred == {first}
    second.pred.discard(first)
    (finding,) = g.check()
    assert finding.kind == "unordered_collective"
    inside = {
        each: node for node in (first, second) for graph in node._inner_graphs() for each in graph.nodes()
    }
    assert {inside.get(node, node) for node in finding.nodes} == {first, second}
    assert "communicator" in finding.text


@law
def a_task_flow_orders_collectives(comm):
    x, y = (cg.array(values_of(comm.rank, 3, salt=i)) for i in range(2))
    g = cg.GraphDef()
    with g.task_flow() as flow:
        first, second = flow.call(comm.all_reduce, x), flow.call(comm.all_reduce, y)
    assert first in second.pred
    launch(g.instantiate())
    np.testing.assert_array_equal(y.to_numpy(), values_of_all(comm, 3, salt=1).sum(axis=0))


@law
def streams_of_one_capture_run_collectives_in_the_order_of_the_calls(comm):
    arrays = [cg.array(values_of(comm.rank, 3, salt=i)) for i in range(4)]
    with cg.capture() as builder:
        other = builder.split(2)[1]
        for i, x in enumerate(arrays):
            comm.all_reduce(x, stream=(builder, other)[i % 2])
        cg.GraphBuilder.join(builder, other)
    nodes = builder.graph_definition.nodes()
    calls = {node for node in nodes if not isinstance(node, cg.EmptyNode)}

    def place(node):
        return 1 + max(map(place, calls & set(node.pred)), default=0)

    assert sorted(map(place, calls)) == [1, 2, 3, 4]
    launch(builder.complete())
    for i, x in enumerate(arrays):
        np.testing.assert_array_equal(x.to_numpy(), values_of_all(comm, 3, salt=i).sum(axis=0))


# ---- communicators


@law
def two_graphs_and_calls_at_once_run_at_the_same_time(comm):
    n, graphs, arrays = 50, [], []
    for _ in range(2):
        x = cg.array(np.ones(2))
        count = cg.array([n], cg.i64)
        g = cg.GraphDef()
        g.while_loop(lambda count: count[0] > 0, args=(count,)).body.call(
            comm.all_reduce, x, None, "max"
        ).call(lower, count)
        graphs.append(g.instantiate())
        arrays.append(x)
    streams = [cg.Device().create_stream() for _ in graphs]
    for graph, stream in zip(graphs, streams, strict=True):
        graph.launch(stream)
    y = cg.array(np.ones(2))
    for _ in range(n):
        comm.all_reduce(y, op="max")
    for stream in streams:
        stream.sync()
    for x in (*arrays, y):
        np.testing.assert_array_equal(x.to_numpy(), np.ones(2))


@cg.kernel
def lower(count: cg.types.ndarray(cg.i64, ndim=1)):
    count[0] -= 1


@law
def a_barrier_does_not_wait_for_other_work_of_the_device(comm):
    y, endless, stream = cg.ones(1, cg.f64), cg.GraphDef(), cg.Device().create_stream()
    endless.while_loop(lambda y: y[0] > 0, args=(y,)).body.call(grow, y)
    executable = endless.instantiate()
    comm.barrier()
    executable.launch(stream)
    for _ in range(3):
        comm.barrier()
    raised(TimeoutError, stream.sync, 0)
    executable.cancel()
    stream.sync()


@cg.kernel
def grow(y: cg.types.ndarray(cg.f64, ndim=1)):
    y[0] += 1.0


@law
def split_gives_communicators_of_the_ranks_of_a_color(comm):
    part = comm.split(comm.rank % 2)
    members = [rank for rank in range(comm.size) if rank % 2 == comm.rank % 2]
    assert (part.rank, part.size) == (members.index(comm.rank), len(members))
    x = cg.array(values_of(comm.rank, 4))
    part.all_reduce(x)
    np.testing.assert_array_equal(x.to_numpy(), sum(values_of(rank, 4) for rank in members))
    turned = comm.split(0, key=-comm.rank)
    assert turned.rank == comm.size - 1 - comm.rank
    alone = comm.split(None if comm.rank else 0)
    assert (alone is None) == (comm.rank != 0)
    for each in (part, turned, alone):
        if each is not None:
            each.close()


@law
def close_is_refused_while_a_graph_uses_the_communicator(comm):
    part = comm.split(0)
    x = cg.array(values_of(comm.rank, 4))
    g = cg.GraphDef()
    g.if_then(cg.array([1], cg.i32)).then.call(part.all_reduce, x)
    assert "1 graph" in raised(RuntimeError, part.close)
    graph = g.instantiate()
    del g
    collect()
    assert "delete the definitions and executables" in raised(RuntimeError, part.close)
    launch(graph)
    np.testing.assert_array_equal(x.to_numpy(), values_of_all(comm, 4).sum(axis=0))
    del graph
    collect()
    part.close()
    assert part.is_closed
    part.close()
    assert "closed" in raised(RuntimeError, part.all_reduce, x)
    assert "closed" in raised(RuntimeError, cg.GraphDef().call, part.all_reduce, x)


@law
def close_waits_for_what_is_destroyed_in_the_background(comm):
    part, used = comm.split(0), [object()]
    part._leases.append(lambda: used[0] if used else None)
    later = threading.Timer(0.1, used.clear)
    later.start()
    part.close()
    later.join()
    assert part.is_closed


@law
def communicators_of_deleted_definitions_serve_new_ones(comm):
    part = comm.split(0)
    x = cg.array(np.ones(1))
    for i in range(6):
        if i % 2:
            with cg.capture() as builder:
                part.all_reduce(x)
            launch(builder.complete())
            del builder
        else:
            g = cg.GraphDef()
            g.call(part.all_reduce, x)
            launch(g.instantiate())
            del g
        collect()
    assert len(part._engines) == 1
    np.testing.assert_array_equal(x.to_numpy(), [float(comm.size) ** 6])
    part.close()


# ---- named parameters


@law
def a_named_parameter_is_an_operand_that_each_launch_gives(comm):
    first, second, third = (cg.array(values_of(comm.rank, 4, salt=i)) for i in range(3))
    sums = [values_of_all(comm, 4, salt=i).sum(axis=0) for i in range(3)]
    out = cg.zeros(4, cg.f64)
    g = cg.GraphDef()
    x = g.param("x", cg.Array1[cg.f64], default=first)
    y = g.param("y", cg.Array1[cg.f64], default=out)
    body = g.if_then(cg.array([1], cg.i32)).then
    body.call(comm.all_reduce, x).call(
        comm.group, (comm.broadcast, x, comm.size - 1), (comm.all_reduce, x, y, "max")
    )
    graph, stream = g.instantiate(), cg.Device().create_stream()
    for values, array in ((sums[0], first), (sums[1], second), (sums[2], third)):
        graph.launch(stream, x=array)
        stream.sync()
        np.testing.assert_array_equal(array.to_numpy(), values)
        np.testing.assert_array_equal(out.to_numpy(), values)
    other = cg.zeros(4, cg.f64)
    graph.launch(stream, y=other)
    stream.sync()
    np.testing.assert_array_equal(other.to_numpy(), comm.size * sums[2])
    assert raised(ValueError, graph.launch, stream, x=cg.zeros(3, cg.f64))
    assert g.check().findings == ()


@law
def collectives_with_named_parameters_keep_their_order(comm):
    x, y = (cg.array(values_of(comm.rank, 4, salt=i)) for i in range(2))
    g = cg.GraphDef()
    g.call(comm.all_reduce, g.param("x", cg.Array1[cg.f64], default=x))
    g.call(comm.all_reduce, g.param("y", cg.Array1[cg.f64], default=y))  # beside, except for the communicator
    assert g.check().findings == ()
    launch(g.instantiate())
    for salt, array in enumerate((x, y)):
        np.testing.assert_array_equal(array.to_numpy(), values_of_all(comm, 4, salt=salt).sum(axis=0))


@law
def a_graph_kernel_in_a_definition_reduces_a_named_parameter(comm):
    first, second = (cg.array(values_of(comm.rank, 4, salt=i)) for i in range(2))
    g = cg.GraphDef()
    g.call(kernel_laws.scaled_sum, g.param("x", kernel_laws.Vector, default=first), 3.0, comm)
    graph, stream = g.instantiate(), cg.Device().create_stream()
    graph.launch(stream, x=second)
    stream.sync()
    np.testing.assert_array_equal(second.to_numpy(), 3.0 * values_of_all(comm, 4, salt=1).sum(axis=0))
    np.testing.assert_array_equal(first.to_numpy(), values_of(comm.rank, 4))


@law
def parameters_without_a_size_or_a_launch_are_refused(comm):
    g = cg.GraphDef()
    x = g.param("x", cg.Array1[cg.f64], default=cg.zeros(4, cg.f64))
    bare, pointer = g.param("bare", cg.Array1[cg.f64]), g.param("pointer", cg.pointer)
    assert "without a default" in raised(ValueError, g.call, comm.all_reduce, bare)
    assert "has no size" in raised(TypeError, g.call, comm.all_reduce, pointer)
    assert "type f8, not f4" in raised(TypeError, g.call, comm.all_reduce, cg.zeros(4, cg.f32), x)
    assert "outside of launches" in raised(TypeError, comm.all_reduce, x)
    with cg.capture() as builder:
        captured = builder.param("x", cg.Array1[cg.f64], default=cg.zeros(4, cg.f64))
        assert "in a capture" in raised(TypeError, comm.all_reduce, captured)
        lower(cg.zeros(1, cg.i64))
    assert g.nodes() == set()
    comm.barrier()


# ---- errors


class Strided:
    """Every second element of an array."""

    def __init__(self, array):
        self.array = array

    @property
    def __cuda_array_interface__(self):
        found = {"data": (self.array.handle, False), "shape": (self.array.size // 2,), "version": 3}
        return found | {"typestr": "<f8", "strides": (16,)}


def refused_types(comm):
    """Return the rows of elements that the engine cannot reduce."""
    if comm.engine == "mpi":
        return [(TypeError, comm.all_reduce, (cg.zeros(4, cg.f16),), "MPI has no sum of elements of type f2")]
    return [(TypeError, comm.all_reduce, (cg.zeros(4, cg.i16),), "NCCL has no sum of elements of type i2")]


@law
def wrong_arguments_are_refused_and_add_nothing(comm):
    x, y = cg.array(values_of(comm.rank, 4)), cg.zeros(3, cg.f64)
    host = np.ones(4)
    before = x.to_numpy().copy()
    g = cg.GraphDef()
    for kind, collective, args, words in (
        (ValueError, comm.all_reduce, (x, None, "mean"), "op must be one of 'sum'"),
        (ValueError, comm.all_reduce, (x, y), "has 3 elements: the result has 4"),
        (TypeError, comm.all_reduce, (x, cg.zeros(4, cg.f32)), "type f4, not f8"),
        (TypeError, comm.all_reduce, (3,), "must be an array"),
        (TypeError, comm.all_reduce, (host,), "memory of the host"),
        (ValueError, comm.all_reduce, (Strided(cg.zeros(8, cg.f64)),), "gaps"),
        (ValueError, comm.all_reduce, (x[:3], x[1:]), "shares memory"),
        *refused_types(comm),
        (ValueError, comm.broadcast, (x, comm.size), "rank from 0"),
        (TypeError, comm.broadcast, (x, "0"), "number of a rank"),
        (TypeError, comm.broadcast, (x, True), "number of a rank"),
        (ValueError, comm.send, (x, comm.rank), "is this rank"),
        (ValueError, comm.all_gather, (x, cg.zeros(4 * comm.size + 1, cg.f64)), "the result has"),
        (ValueError, comm.group, (), "needs calls"),
        (TypeError, comm.group, (comm.send,), "takes tuples"),
        (TypeError, comm.all_reduce, (), "x"),
    ):
        for call in (collective, lambda *a, c=collective: g.call(c, *a)):
            assert words in raised(kind, call, *args), words
    if comm.size > 1:
        odd = cg.zeros(comm.size + 1, cg.f64)
        assert "equal parts" in raised(ValueError, comm.all_to_all, odd, cg.zeros(comm.size + 1, cg.f64))
        assert "equal parts" in raised(ValueError, comm.reduce_scatter, odd, cg.zeros(1, cg.f64))
        assert "another array" in raised(ValueError, comm.all_gather, x, x)
    assert g.nodes() == set()
    np.testing.assert_array_equal(x.to_numpy(), before)


@law
def elements_that_the_engine_cannot_reduce_are_moved(comm):
    for dtype in (np.float16, np.int16, np.uint16):
        x = cg.array(np.arange(4).astype(dtype) + dtype(comm.rank))
        comm.broadcast(x, comm.size - 1)
        np.testing.assert_array_equal(x.to_numpy(), np.arange(4).astype(dtype) + dtype(comm.size - 1))


def main(comm, folder, *names):
    faulthandler.enable()
    rank = comm.rank
    report, held = Path(folder, str(rank)), []
    for name, function in laws_of_this_driver(comm.size).items():
        if names and name not in names:
            continue
        faulthandler.dump_traceback_later(
            LAW_LIMIT_S[cg.driver_info().kind], exit=True
        )  # tells which law does not end
        try:
            function(comm)
        except BaseException:
            print(f"{name} failed on rank {rank}", file=sys.stderr)
            raise
        gc.collect()
        comm.barrier()
        faulthandler.cancel_dump_traceback_later()
        held.append(name)
    cg.reset()  # graph kernels use the communicator until they drop their graphs
    collect()
    comm.close()
    report.write_text("\n".join(held))


if __name__ == "__main__":
    direct, *others = sys.argv[1:]
    main(cg.distributed.init(direct=direct == "direct"), *others)
