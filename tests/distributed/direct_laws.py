# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the reductions that go through memory of the ranks (cuda_graphs/distributed/direct.py)."""

import numpy as np

import cuda_graphs as cg
from tests.distributed.law_rig import launch, law, raised

REDUCTIONS = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}
TYPES = [np.int32, np.uint32, np.float32, np.int64, np.uint64, np.float64]
HALF = 2 * 1024  # rounds until each word of a half has been written


def is_direct(comm):
    return comm.explain(comm.all_reduce, cg.zeros(1)) == "direct"


def numbers_of(rank, n, dtype, salt=0):
    """Return numbers whose sums are rounded, if the type has roundings."""
    rng = np.random.default_rng([rank, salt, 7])
    if np.dtype(dtype).kind == "f":
        return rng.standard_normal(n).astype(dtype)
    return rng.integers(0, np.iinfo(dtype).max, n, dtype, endpoint=True)


def in_order(comm, op, n, dtype, salt=0):
    """Return the reduction of the numbers of all ranks, one rank after the other."""
    found = numbers_of(0, n, dtype, salt)
    with np.errstate(over="ignore"):
        for rank in range(1, comm.size):
            found = REDUCTIONS[op](found, numbers_of(rank, n, dtype, salt))
    return found


@law
def a_direct_reduction_is_that_of_numpy_in_the_order_of_the_ranks_bit_by_bit(comm):
    if not is_direct(comm):
        return
    for dtype in TYPES:
        most = 4096 // np.dtype(dtype).itemsize
        for op in REDUCTIONS:
            for n in (1, 33, most):
                x, y = cg.array(numbers_of(comm.rank, n, dtype)), cg.zeros(n, dtype)
                assert comm.explain(comm.all_reduce, x, y, op) == "direct"
                comm.all_reduce(x, y, op)
                expected = in_order(comm, op, n, dtype)
                assert y.to_numpy().tobytes() == expected.tobytes(), (dtype, op, n)
                comm.all_reduce(x, op=op)
                assert x.to_numpy().tobytes() == expected.tobytes(), (dtype, op, n, "in place")


@law
def rounds_of_different_sizes_and_types_do_not_mix(comm):
    """Also in graphs, whose rounds have numbers of their own, and between calls that the library runs."""
    sizes = [int(n) for n in np.random.default_rng(5).integers(1, 1025, 40)]
    calls = [(n, (np.float32, np.float64, np.int32)[i % 3]) for i, n in enumerate(sizes)]
    arrays = [cg.array(numbers_of(comm.rank, n, dtype, i)) for i, (n, dtype) in enumerate(calls)]
    copies = [cg.array(x.to_numpy()) for x in arrays]
    graph = cg.GraphDef()
    node = graph
    for x in copies:
        node = node.call(comm.all_reduce, x)
    executable = graph.instantiate()
    for x in arrays:
        comm.all_reduce(x)
    launch(executable)
    for i, ((n, dtype), x, y) in enumerate(zip(calls, arrays, copies, strict=True)):
        expected = in_order(comm, "sum", n, dtype, i)
        np.testing.assert_allclose(x.to_numpy(), expected, rtol=1e-4, atol=1e-4)
        assert x.to_numpy().tobytes() == y.to_numpy().tobytes() or not is_direct(comm)


@law
def arrays_without_elements_between_rounds_let_no_rank_run_ahead(comm):
    """A rank that did not wait could overwrite words that another rank has not read."""
    y, nothing = cg.zeros(600, cg.f32), cg.zeros(0, cg.f32)
    for i in range(6):
        comm.all_reduce(cg.array(numbers_of(comm.rank, 600, np.float32, i)), y)
        for _ in range(3):
            comm.all_reduce(nothing)
        expected = in_order(comm, "sum", 600, np.float32, i)
        np.testing.assert_allclose(y.to_numpy(), expected, rtol=1e-4, atol=1e-4)


def set_round(comm, number):
    """Set the number of the next round of calls outside of graphs, on all ranks."""
    cg.Device().sync()
    comm.barrier()
    comm._at_once.engine.exchange.table[0] = number
    cg.Device().sync()
    comm.barrier()


@law
def the_number_of_the_round_may_overflow(comm):
    if not is_direct(comm):
        return
    set_round(comm, (1 << 32) - 3)
    for i in range(6):
        x = cg.array(numbers_of(comm.rank, 100, np.float32, i))
        comm.all_reduce(x)
        assert x.to_numpy().tobytes() == in_order(comm, "sum", 100, np.float32, i).tobytes()


@law
def a_word_that_is_as_old_as_the_overflow_is_not_taken_for_a_new_one(comm):
    if not is_direct(comm) or comm.size == 1:
        return
    number = 1 << 20
    set_round(comm, number)
    comm.all_reduce(cg.zeros(1024, cg.f32))  # all words of this half now have this number
    set_round(comm, number - HALF)
    x = cg.zeros(1, cg.f32)
    for _ in range(HALF):
        comm.all_reduce(x)
    y, last = cg.array(numbers_of(comm.rank, 1024, np.float32)), comm.rank == comm.size - 1
    if not last:
        comm.all_reduce(y)
    comm.barrier()
    if last:
        comm.all_reduce(y)
    assert y.to_numpy().tobytes() == in_order(comm, "sum", 1024, np.float32).tobytes()


@law
def an_explanation_names_what_refuses_the_direct_way(comm):
    x, large = cg.zeros(4, cg.f64), cg.zeros(513, cg.f64)
    reasons = {
        "4104 bytes are more than the 4096": (comm.all_reduce, large),
        "without elements": (comm.all_reduce, cg.zeros(0, cg.f64)),
        "only all_reduce": (comm.broadcast, x),
        "one at a time": (comm.group, (comm.all_reduce, x), (comm.all_reduce, x)),
    }
    for reason, (call, *args) in reasons.items():
        found = comm.explain(call, *args)
        assert found.startswith(f"{comm.engine}: ") and (reason in found or not is_direct(comm)), found
    if comm.engine == "nccl":
        assert "elements of type f2" in comm.explain(comm.all_reduce, cg.zeros(4, cg.f16)) or not is_direct(
            comm
        )
    assert "takes a collective" in raised(TypeError, comm.explain, launch, x)
    part = comm.split(0)
    assert is_direct(part) == is_direct(comm)
    part.close()


@law
def a_program_that_gives_up_a_wait_goes_on_with_other_communicators(comm):
    if comm.size == 1:
        return
    part, stream, x = comm.split(0), cg.Device().create_stream(), cg.ones(4, cg.f64)
    part.all_reduce(x, stream=stream)
    stream.sync()
    if comm.rank != comm.size - 1:  # the last rank does not take part
        part.all_reduce(x, stream=stream)
        raised(TimeoutError, stream.sync, 0)
    comm.barrier()
    part.abort("rank 7 does not answer")
    assert raised(cg.distributed.RankError, stream.sync).endswith("rank 7 does not answer")
    assert "rank 7" in raised(cg.distributed.RankError, part.all_reduce, x)
    part.close()
    y = cg.ones(4, cg.f64)
    comm.all_reduce(y)
    np.testing.assert_array_equal(y.to_numpy(), np.full(4, comm.size))


@law
def a_communicator_that_refuses_the_direct_way_says_why(comm):
    found = cg.distributed.init(direct=False)
    assert found.explain(found.all_reduce, cg.zeros(1)) == f"{found.engine}: the program passed direct=False"
    found.close()
