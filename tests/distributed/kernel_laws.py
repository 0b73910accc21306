# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of collectives between the tasks of graph kernels, whose parameter is the communicator (laws.py runs them)."""

import numpy as np
import pytest

import cuda_graphs as cg
from tests.distributed.law_rig import collect, launch, law, raised, values_of, values_of_all

Vector = cg.types.ndarray(cg.f64, ndim=1)
Comm = cg.distributed.Communicator
N = 6


def in_a_call(kernel, *args):
    kernel(*args)
    cg.Device().sync()


def in_a_definition(kernel, *args):
    g = cg.GraphDef()
    g.call(kernel, *args)
    launch(g.instantiate())


def in_a_capture(kernel, *args):
    with cg.capture() as builder:
        kernel(*args)
    launch(builder.complete())


def in_a_body(kernel, *args):
    g = cg.GraphDef()
    g.if_then(cg.array([1], cg.i32)).then.call(kernel, *args)
    launch(g.instantiate())


WAYS = (in_a_call, in_a_definition, in_a_capture, in_a_body)


# ---- each collective, with a task before that doubles what it reads, and one after that adds 1 to what it writes


def all_reduce(x: Vector, y: Vector, comm: Comm, op: cg.template, root: cg.i32):
    for i in x:
        x[i] *= 2.0
    comm.all_reduce(x, op=op)
    for i in x:
        x[i] += 1.0


def all_reduce_elsewhere(x: Vector, y: Vector, comm: Comm, op: cg.template, root: cg.i32):
    for i in x:
        x[i] *= 2.0
    comm.all_reduce(x, y, op)
    for i in y:
        y[i] += 1.0


def reduce(x: Vector, y: Vector, comm: Comm, op: cg.template, root: cg.i32):
    for i in x:
        x[i] *= 2.0
    comm.reduce(x, out=y, op=op, root=root)
    for i in y:
        y[i] += 1.0


def broadcast(x: Vector, y: Vector, comm: Comm, op: cg.template, root: cg.i32):
    for i in x:
        x[i] *= 2.0
    comm.broadcast(x, root)
    for i in x:
        x[i] += 1.0


def all_gather(x: Vector, y: Vector, comm: Comm, op: cg.template, root: cg.i32):
    for i in x:
        x[i] *= 2.0
    comm.all_gather(x, y)
    for i in y:
        y[i] += 1.0


def reduce_scatter(x: Vector, y: Vector, comm: Comm, op: cg.template, root: cg.i32):
    for i in y:
        y[i] *= 2.0
    comm.reduce_scatter(y, x, op)
    for i in x:
        x[i] += 1.0


def all_to_all(x: Vector, y: Vector, comm: Comm, op: cg.template, root: cg.i32):
    for i in x:
        x[i] *= 2.0
    comm.all_to_all(x, y)
    for i in y:
        y[i] += 1.0


def expected(name, rank, xs, ys, op, root):
    """Return x and y of this rank after a kernel, from x and y of all ranks before it."""
    reduced = {"sum": np.sum, "max": np.max}[op]
    x, y, size = xs[rank], ys[rank], len(xs)
    match name:
        case "all_reduce":
            return reduced(2 * xs, axis=0) + 1, y
        case "all_reduce_elsewhere":
            return 2 * x, reduced(2 * xs, axis=0) + 1
        case "reduce":
            return 2 * x, (reduced(2 * xs, axis=0) if rank == root else y) + 1
        case "broadcast":
            return 2 * xs[root] + 1, y
        case "all_gather":
            return 2 * x, 2 * xs.ravel() + 1
        case "reduce_scatter":
            n = len(x)
            return reduced(2 * ys, axis=0)[rank * n : (rank + 1) * n] + 1, 2 * y
        case "all_to_all":
            n = len(x) // size
            return 2 * x, 2 * np.concatenate([each[rank * n : (rank + 1) * n] for each in xs]) + 1
    raise AssertionError(name)


SIZES = {"all_gather": 1, "reduce_scatter": 1}  # y has the elements of all ranks
EACH = (all_reduce, all_reduce_elsewhere, reduce, broadcast, all_gather, reduce_scatter, all_to_all)


def operands(comm, name):
    size = comm.size * N
    wide = size * comm.size if name in SIZES else size
    xs, ys = values_of_all(comm, size), values_of_all(comm, wide, salt=1)
    return xs, ys, cg.array(xs[comm.rank]), cg.array(ys[comm.rank])


@law
def collectives_between_tasks_agree_with_numpy_in_every_way_to_call_a_kernel(comm):
    for function in EACH:
        for way in WAYS:
            for options in ({}, {"loop": "host"}) if way is in_a_call else ({},):
                kernel = cg.kernel(graph=True, **options)(function)
                for op, root in (("sum", 0), ("max", comm.size - 1)):
                    xs, ys, x, y = operands(comm, function.__name__)
                    way(kernel, x, y, comm, op, root)
                    after = expected(function.__name__, comm.rank, xs, ys, op, root)
                    for found, values in zip((x, y), after, strict=True):
                        np.testing.assert_array_equal(
                            found.to_numpy(), values, err_msg=f"{function.__name__} {way.__name__}"
                        )
                kernel.forget()


@cg.kernel(graph=True)
def shift(x: Vector, y: Vector, comm: Comm, after: cg.i32, before: cg.i32):
    comm.barrier()
    for i in x:
        x[i] += comm.rank
    comm.group((comm.send, x, after), (comm.recv, y, before))
    for i in y:
        y[i] *= comm.size


@cg.kernel(graph=True)
def to_the_next(x: Vector, comm: Comm, is_first: cg.template):
    if cg.static(is_first):
        comm.send(x, comm.rank + 1)
    else:
        comm.recv(x, comm.rank - 1)


@law
def messages_between_tasks_go_to_the_ranks_that_the_numbers_say(comm):
    rank, size = comm.rank, comm.size
    if size == 1:
        return
    after, before = (rank + 1) % size, (rank - 1) % size
    x, y = cg.array(values_of(rank, N)), cg.zeros(N, cg.f64)
    shift(x, y, comm, after, before)
    np.testing.assert_array_equal(y.to_numpy(), (values_of(before, N) + before) * size)
    x = cg.array(values_of(rank, N))
    pair = comm.split(0 if rank < 2 else None)
    if pair is not None:
        to_the_next(x, pair, rank == 0)
        np.testing.assert_array_equal(x.to_numpy(), values_of(0, N))
        to_the_next.forget()
        collect()
        pair.close()


@cg.kernel(graph=True)
def until_small(x: Vector, largest: Vector, passes: cg.Array1[cg.i64], limit: cg.f64, comm: Comm):
    for _ in range(1):
        largest[0] = limit + 1.0
    while cg.graph_while(largest[0] > limit):
        for i in x:
            x[i] *= 0.5
        for _ in range(1):
            largest[0] = 0.0
        for i in x:
            cg.atomic_max(largest[0], x[i])
        comm.all_reduce(largest, op="max")
        passes[0] += 1
        if cg.graph_if(largest[0] <= limit):
            comm.broadcast(x)
        else:
            comm.barrier()


def until_small_on_all(xs, limit):
    xs, passes = xs.copy(), 0
    while passes == 0 or xs.max() > limit:
        xs, passes = xs * 0.5, passes + 1
    return xs[0], xs.max(), passes


@law
def a_loop_with_collectives_ends_on_all_ranks_in_the_same_pass(comm):
    for options in ({}, {"loop": "host"}, {"fuse": False}):
        kernel = cg.kernel(graph=True, **options)(until_small.__wrapped__)
        for limit in (0.5, 0.01, 100.0):
            for way in WAYS if not options else (in_a_call,):
                xs = values_of_all(comm, N) + np.arange(comm.size)[:, None]
                x, largest, passes = cg.array(xs[comm.rank]), cg.zeros(1, cg.f64), cg.zeros(1, cg.i64)
                way(kernel, x, largest, passes, limit, comm)
                values, most, count = until_small_on_all(xs, limit)
                np.testing.assert_array_equal(x.to_numpy(), values)
                assert (largest[0], passes[0]) == (most, count)


@cg.kernel(graph=True)
def many_passes(
    x: Vector,
    y: Vector,
    wide: Vector,
    part: Vector,
    count: cg.Array1[cg.i32],
    limit: cg.i32,
    root: cg.i32,
    comm: Comm,
):
    for _ in range(1):
        count[0] = 0
    while cg.graph_while(count[0] < limit):
        for i in x:
            x[i] = 0.25 * x[i] + comm.rank
        comm.all_reduce(x)
        comm.all_gather(x, wide)
        for i in wide:
            wide[i] += i
        comm.reduce_scatter(wide, part, "max")
        comm.all_to_all(x, y)
        for i in y:
            y[i] += part[i % part.shape[0]] + comm.rank
        comm.broadcast(y, root)
        comm.reduce(x, op="min", root=root)
        comm.group((comm.all_reduce, y, None, "max"), (comm.all_reduce, part))
        comm.barrier()
        count[0] += 1


@law
def the_host_starts_passes_in_advance_and_keeps_only_those_of_the_loop(comm):
    n = comm.size * N
    for limit, most in ((0, 0), (1, 1), (2, 3), (3, 3), (20, 31), (32, 47)):
        results = []
        for loop in ("auto", "host"):
            kernel = cg.kernel(graph=True, loop=loop)(many_passes.__wrapped__)
            x, y = (cg.array(values_of(comm.rank, n, salt=i)) for i in range(2))
            wide, part = cg.zeros(n * comm.size, cg.f64), cg.zeros(n, cg.f64)
            count, runs = cg.zeros(1, cg.i32), comm._run
            started = []
            comm._run = lambda steps, stream, runs=runs, started=started: (
                started.append(steps),
                runs(steps, stream),
            )
            try:
                kernel(x, y, wide, part, count, limit, comm.size - 1, comm)
            finally:
                del comm._run
            results.append([each.to_numpy().copy() for each in (x, y, wide, part, count)])
            if loop == "host":
                # 1, 2, 4, 8, 16, 16, ... passes before the host looks
                assert len(started) == 8 * most, (limit, [step.name for steps in started for step in steps])
            kernel.forget()
        for found, expected in zip(*results, strict=True):
            np.testing.assert_array_equal(found, expected)
        assert results[0][-1][0] == limit


@cg.kernel(graph=True)
def scaled_sum(x: Vector, factor: cg.f64, comm: Comm):
    for i in x:
        x[i] *= factor
    comm.all_reduce(x)


@law
def calls_with_the_same_arrays_launch_the_same_graph(comm):
    kernel = cg.kernel(graph=True)(scaled_sum.__wrapped__)
    x = cg.ones(N, cg.f64)
    for factor in (2.0, 3.0, 0.5):
        kernel(x, factor, comm)
    np.testing.assert_array_equal(x.to_numpy(), np.full(N, 3.0 * comm.size**3))
    assert (kernel.graph_stats.builds, kernel.graph_stats.replayed) == (1, True)


@law
def ranks_may_pass_other_arrays_in_different_calls(comm):
    kernel = cg.kernel(graph=True)(scaled_sum.__wrapped__)
    arrays = [cg.array(values_of(comm.rank, N, salt=i)) for i in range(3)]
    values = [values_of_all(comm, N, salt=i) for i in range(3)]
    for call in range(4):  # rank 0 uses one array, the other ranks use several
        numbers = [0 if rank == 0 else (call * rank) % 3 for rank in range(comm.size)]
        kernel(arrays[numbers[comm.rank]], 1.0, comm)
        total = sum(values[number][rank] for rank, number in enumerate(numbers))
        for rank, number in enumerate(numbers):
            values[number][rank] = total
    for array, each in zip(arrays, values, strict=True):
        np.testing.assert_array_equal(array.to_numpy(), each[comm.rank])
    kernel.forget()


@law
def debug_mode_compares_the_graphs_of_a_kernel_in_each_call(comm):
    """Ranks launch graphs for the first time in different calls, so the others compare again."""
    part = Comm(comm._engine.split(0, comm.rank), debug=True)
    ranks_may_pass_other_arrays_in_different_calls(part)
    kernel = cg.kernel(graph=True)(reduced_from.__wrapped__)
    x = cg.ones(N, cg.f64)
    kernel(x, part, 0)
    if comm.size > 1:
        root = comm.rank and 1
        assert "collective 1 differs" in raised(cg.distributed.RankError, kernel, x, part, root)
    np.testing.assert_array_equal(x.to_numpy(), np.full(N, 2.0))
    kernel.forget()
    collect()
    part.close()


@cg.kernel(graph=True)
def reduced_from(x: Vector, comm: Comm, root: cg.i32):
    for i in x:
        x[i] = 2.0
    comm.broadcast(x, root)


@law
def an_array_of_another_library_is_reduced_unless_it_is_in_memory_of_the_host(comm):
    own = cg.array(values_of(comm.rank, N))
    kernel = cg.kernel(graph=True)(scaled_sum.__wrapped__)
    kernel(Foreign(own), 2.0, comm)
    np.testing.assert_array_equal(own.to_numpy(), 2.0 * values_of_all(comm, N).sum(axis=0))
    if cg.driver_info().kind == "host":
        assert "'x' is an array in memory of the host" in raised(TypeError, kernel, np.ones(N), 2.0, comm)


class Foreign:
    """An array of another library."""

    def __init__(self, array):
        self.__cuda_array_interface__ = array.__cuda_array_interface__


@law
def a_call_with_another_communicator_exchanges_with_its_ranks(comm):
    kernel = cg.kernel(graph=True)(scaled_sum.__wrapped__)
    part = comm.split(comm.rank % 2)
    every, alternate = range(comm.size), range(comm.rank % 2, comm.size, 2)
    for which, ranks in ((comm, every), (part, alternate), (comm, every)):
        x = cg.array(values_of(comm.rank, N))
        kernel(x, 1.0, which)
        np.testing.assert_array_equal(x.to_numpy(), sum(values_of(rank, N) for rank in ranks))
    assert "forget()" in raised(RuntimeError, part.close)
    kernel.forget()
    collect()
    part.close()
    assert "closed" in raised(RuntimeError, kernel, cg.zeros(N, cg.f64), 1.0, part)


@cg.kernel(graph=True)
def gathered(x: Vector, y: Vector, comm: Comm):
    for i in x:
        x[i] = 7.0
    comm.all_gather(x, y)


@law
def wrong_sizes_are_refused_with_the_line_and_change_nothing(comm):
    x, y, right = cg.zeros(3, cg.f64), cg.zeros(3 * comm.size + 1, cg.f64), cg.zeros(3 * comm.size, cg.f64)
    g, line = cg.GraphDef(), gathered.__wrapped__.__code__.co_firstlineno + 4
    for call in (gathered, lambda *args: g.call(gathered, *args)):
        with pytest.raises(ValueError, match="the result has") as caught:
            call(x, y, comm)
        assert f"kernel_laws.py:{line}: comm.all_gather" in caught.value.__notes__[0]
    assert "takes a Communicator" in raised(TypeError, gathered, x, right, 3)
    assert g.nodes() == set()
    np.testing.assert_array_equal(x.to_numpy(), np.zeros(3))
    comm.barrier()


@law
def a_node_call_refuses_other_arrays_of_its_collectives(comm):
    x, y, other = cg.zeros(3, cg.f64), cg.zeros(3 * comm.size, cg.f64), cg.zeros(3 * comm.size, cg.f64)
    g = cg.GraphDef()
    g.call(gathered, x, y, comm)
    (node,) = [each for each in g.nodes() if not each.pred]
    assert "make another call" in raised(ValueError, node.update, args=(x, other, comm))
    launch(g.instantiate())
    np.testing.assert_array_equal(y.to_numpy(), np.full(3 * comm.size, 7.0))
    assert not other.to_numpy().any()


@law
def an_explanation_lists_the_collectives(comm):
    found = gathered.explain(cg.zeros(3, cg.f64), cg.zeros(3 * comm.size, cg.f64), comm)
    (call,) = found.host_calls
    assert (call.call, call.arrays) == ("comm.all_gather", ("x", "y"))
    assert "kernel_laws.py" in call.source and str(call) in str(found)
    assert "comm.all_gather" in found._repr_html_()
