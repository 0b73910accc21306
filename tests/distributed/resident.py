# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of resident loops that exchange small arrays with other ranks. test_resident.py runs them on several ranks.

    mpiexec -n 2 python -m tests.distributed.resident FOLDER

On the host driver kernels are compiled for a GPU here, and the driver translates their PTX.
"""

import faulthandler
import sys
from pathlib import Path

import numpy as np

import cuda_graphs as cg
from cuda_graphs.kernels import shapes, targets
from tests.distributed.law_rig import raised, values_of, values_of_all

Vector = cg.Array1[cg.f64]
Singles = cg.Array1[cg.f32]
Comm = cg.distributed.Communicator
LAWS = []
LIMIT_S = {"host": 200, "cuda": 40}


def law(function):
    LAWS.append(function)
    return function


def compile_for_gpus():
    """Let this process compile kernels for a GPU, also if its driver is that of the host."""
    if cg.driver_info().kind == "cuda":
        return
    from cuda.pathfinder import find_bitcode_lib

    targets.TARGETS["host"] = lambda fast_math: targets.Ptx(
        fast_math, "sm_90", 83, find_bitcode_lib("device")
    )
    targets.shape_of_driver = lambda: shapes.SHAPES["cuda"]


@cg.kernel(graph=True, loop="resident")
def halve_until_small(x: Vector, largest: Vector, passes: cg.Array1[cg.i64], limit: cg.f64, comm: Comm):
    while cg.graph_while(largest[0] > limit):
        largest[0] = 0.0
        for i in x:
            x[i] *= 0.5
            cg.atomic_max(largest[0], x[i])
        comm.all_reduce(largest, op="max")
        passes[0] += 1


@law
def a_loop_on_a_reduced_value_is_one_launch_and_ends_on_all_ranks_in_the_same_pass(comm):
    for n in (1, 100, 5000):
        x, largest, passes = (
            cg.array(values_of(comm.rank, n) * 100),
            cg.array([np.inf], cg.f64),
            cg.zeros(1, cg.i64),
        )
        halve_until_small(x, largest, passes, 0.5, comm)
        values = values_of_all(comm, n) * 100
        count = int(np.ceil(np.log2(values.max() / 0.5)))
        assert halve_until_small.graph_stats.lowering == "resident"
        assert (passes[0], largest[0]) == (count, values.max() / 2**count)
        np.testing.assert_array_equal(x.to_numpy(), values[comm.rank] / 2**count)


@cg.kernel(graph=True, loop="resident")
def average(x: Singles, y: Singles, total: Vector, left: cg.Array1[cg.i32], factor: cg.f32, comm: Comm):
    while cg.graph_while(left[0] > 0):
        for i in x:
            x[i] = x[i] * factor + i
        comm.all_reduce(x, y)
        total[0] = 0.0
        for i in y:
            x[i] = y[i] * factor
            cg.atomic_add(total[0], cg.f64(y[i]))
        comm.all_reduce(total)
        left[0] -= 1


@law
def arrays_and_numbers_are_reduced_in_every_pass(comm):
    factor, passes = np.float32(0.25), 12
    for n in (1, 33, 1024):
        x, y = cg.array(values_of(comm.rank, n, np.float32)), cg.zeros(n, cg.f32)
        total, left = cg.zeros(1, cg.f64), cg.array([passes], cg.i32)
        average(x, y, total, left, factor, comm)
        values = values_of_all(comm, n, np.float32)
        for _ in range(passes):
            values = values * factor + np.arange(n, dtype=np.float32)
            sums = values[0]
            for rank in range(1, comm.size):
                sums = sums + values[rank]
            values = np.stack([sums * factor] * comm.size)
        np.testing.assert_allclose(y.to_numpy(), sums, rtol=1e-6)
        np.testing.assert_allclose(total[0], comm.size * sums.astype(np.float64).sum(), rtol=1e-6)
        assert left[0] == 0


@law
def calls_with_other_arrays_and_communicators_reduce_these(comm):
    other = comm.split(0, -comm.rank)
    for each in (comm, other, comm):
        x, y = cg.array(values_of(each.rank, 8, np.float32)), cg.zeros(8, cg.f32)
        average(x, y, cg.zeros(1, cg.f64), cg.array([1], cg.i32), np.float32(1), each)
        expected = values_of_all(each, 8, np.float32).sum(axis=0) + each.size * np.arange(8)
        np.testing.assert_array_equal(y.to_numpy(), expected)
    average.forget()
    other.close()


@law
def large_arrays_and_debug_mode_are_refused_with_the_reason(comm):
    x, left = cg.zeros(2000, cg.f32), cg.array([1], cg.i32)
    error = raised(
        RuntimeError, average, x, cg.zeros(2000, cg.f32), cg.zeros(1, cg.f64), left, np.float32(1), comm
    )
    assert "8000 bytes are more than the 4096" in error and left[0] == 1


@law
def with_auto_a_refused_loop_has_nodes_and_the_same_results(comm):
    kernel = cg.kernel(graph=True)(average.__wrapped__)
    for n in (2000, 8):
        x, y = cg.array(values_of(comm.rank, n, np.float32)), cg.zeros(n, cg.f32)
        kernel(x, y, cg.zeros(1, cg.f64), cg.array([1], cg.i32), np.float32(1), comm)
        expected = values_of_all(comm, n, np.float32).sum(axis=0) + comm.size * np.arange(n)
        np.testing.assert_allclose(y.to_numpy(), expected, rtol=1e-6)
        if cg.driver_info().kind == "cuda":
            assert kernel.graph_stats.lowering == ("conditional" if n == 2000 else "resident")
    kernel.forget()


@cg.kernel(graph=True, loop="resident")
def count_passes(x: Singles, passes: cg.Array1[cg.i64]):
    while cg.graph_while(passes[0] >= 0):
        for i in x:
            x[i] += 1
        passes[0] += 1


@law
def a_cancelled_loop_of_several_blocks_ends_after_the_same_pass_in_all_of_them(comm):
    x, passes = cg.zeros(5000, cg.f32), cg.zeros(1, cg.i64)
    graph, stream = cg.GraphDef(), cg.Device().create_stream()
    graph.call(count_passes, x, passes)
    executable = graph.instantiate()
    for _ in range(10):
        before = passes[0]
        executable.launch(stream)
        executable.cancel()
        stream.sync()
        assert passes[0] > before
        np.testing.assert_array_equal(x.to_numpy(), float(passes[0]))
    del executable, graph
    count_passes.forget()


def main(folder):
    faulthandler.enable()
    compile_for_gpus()
    comm = cg.distributed.init(direct=True)
    rank = comm.rank
    assert comm.explain(comm.all_reduce, cg.zeros(1)) == "direct"
    for each in LAWS:
        faulthandler.dump_traceback_later(LIMIT_S[cg.driver_info().kind], exit=True)
        each(comm)
        comm.barrier()
        faulthandler.cancel_dump_traceback_later()
    cg.reset()
    comm.close()
    Path(folder, str(rank)).touch()


if __name__ == "__main__":
    main(sys.argv[1])
