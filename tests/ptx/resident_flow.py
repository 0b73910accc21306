# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of resident loops as GPUs run them: conditions pass through the barriers, and few iterations take one block.

    python -m tests.ptx.resident_flow

On the host driver kernels are compiled for a GPU here, and the driver translates their PTX.
"""

import numpy as np

import cuda_graphs as cg
from cuda_graphs.kernels.shapes import LONE_BYTES
from tests.distributed.resident import compile_for_gpus
from tests.nested_flow import nested_flow, nested_flow_in_python

Singles, Numbers, Number = cg.Array1[cg.f32], cg.Array1[cg.i32], cg.types.ndarray(cg.i32, 0)
SIZES = (3, 1000, 1025, 3000, 30_000)  # one block of threads, two, and one or several blocks
LAWS = []


def law(function):
    LAWS.append(function)
    return function


def count(number):
    found = cg.ndarray(cg.i32, ())
    found.fill(number)
    return found


@law
def all_control_flow_takes_the_branches_that_python_takes():
    kernel = cg.kernel(nested_flow, graph=True, loop="resident")
    for size in SIZES:
        for rounds in (1, 5):
            x = cg.zeros(size, cg.i32)
            kernel(x, count(rounds), count(0))
            wanted = nested_flow_in_python(rounds)
            steps = sum(d % 2 == 0 for c in range(rounds, 0, -1) for d in range(c, 0, -1))
            np.testing.assert_array_equal(x.to_numpy(), wanted + [steps] * (size - 3))


@cg.kernel(graph=True, loop="resident")
def many_conditions(x: Numbers, left: Number):
    while cg.graph_while(left[()] > 0):
        for k in cg.static(range(10)):
            if cg.graph_if(left[()] % (k + 2) == 0):
                for i in x:
                    x[i] += k + 1
        left[()] -= 1


@law
def conditions_beyond_those_of_a_word_are_read_from_memory():
    wanted = sum(k + 1 for left in range(60, 0, -1) for k in range(10) if left % (k + 2) == 0)
    for size in SIZES:
        x, left = cg.zeros(size, cg.i32), count(60)
        many_conditions(x, left)
        np.testing.assert_array_equal(x.to_numpy(), np.full(size, wanted))
        assert left.to_numpy() == 0


@cg.kernel(graph=True, loop="resident")
def counted_by_a_loop(x: Numbers, left: Number):
    while cg.graph_do_while(left):
        for i in x:
            x[i] += 2
            if i == x.shape[0] - 1:
                left[()] -= 1


@law
def a_number_that_a_parallel_loop_counts_down_ends_the_loop():
    for size in SIZES:
        x, left = cg.zeros(size, cg.i32), count(7)
        counted_by_a_loop(x, left)
        np.testing.assert_array_equal(x.to_numpy(), np.full(size, 14))


@cg.kernel(graph=True, loop="resident")
def move(x: Singles, y: Singles, left: Number):
    while cg.graph_while(left[()] > 0):
        for i in x:
            y[i] = x[i] + 1.0
        left[()] -= 1


@cg.kernel(graph=True, loop="resident")
def add_up(x: Singles, total: Singles, left: Number):
    while cg.graph_while(left[()] > 0):
        for i in x:
            total[0] += x[i]
        left[()] -= 1


@cg.kernel(graph=True, loop="resident")
def counters_around_loops(
    x: Numbers, y: Numbers, left: Number, odd: Number, hits: cg.types.ndarray(cg.i64, 1)
):
    while cg.graph_while(left[()] > 0):
        odd[()] = left[()] % 2
        for i in x:
            x[i] += 1
        hits[0] += 1
        if cg.graph_if(odd[()] > 0):
            for i in y:
                y[i] += x[i]
            hits[1] += y[0]
        for i in x:
            x[i] += 2
        left[()] -= 1
        hits[2] += 1


@law
def serial_tasks_beside_loops_see_what_came_before_and_nothing_later():
    for size in SIZES:
        x, y, hits = cg.zeros(size, cg.i32), cg.zeros(size, cg.i32), cg.zeros(3, cg.i64)
        counters_around_loops(x, y, count(9), count(0), hits)
        here = there = seen = 0
        for left in range(9, 0, -1):
            here += 1
            if left % 2:
                there += here
                seen += there
            here += 2
        np.testing.assert_array_equal(x.to_numpy(), np.full(size, here))
        np.testing.assert_array_equal(y.to_numpy(), np.full(size, there))
        assert hits.to_numpy().tolist() == [9, seen, 9]


@cg.kernel(graph=True, loop="resident")
def flags_around_a_loop(x: Singles, total: Singles, done: cg.types.ndarray(cg.i64, 1), left: Number):
    while cg.graph_while(left[()] > 0):
        left[()] -= 1
        if cg.graph_if(left[()] % 3 == 0):
            for i in x:
                x[i] += 1.0
            done[0] += 1
        for i in x:
            total[0] += x[i]
        done[1] += 1
        if cg.graph_if(total[0] > 1e6):
            left[()] = 0


@law
def flags_of_tasks_beside_a_loop_and_behind_it_are_both_passed_on():
    for size in (3, 1000, 2048, 3000):
        x, total, done, left = cg.zeros(size, cg.f32), cg.zeros(1, cg.f32), cg.zeros(2, cg.i64), count(20)
        flags_around_a_loop(x, total, done, left)
        value = seen = steps = marks = 0
        rest = 20
        while rest > 0:
            rest -= 1
            marks, value = (marks + 1, value + 1) if rest % 3 == 0 else (marks, value)
            seen += size * value
            steps += 1
            rest = 0 if seen > 1e6 else rest
        assert done.to_numpy().tolist() == [marks, steps], size
        assert total.to_numpy()[0] == seen and left.to_numpy() == rest


@cg.kernel(graph=True, loop="resident")
def many_loops(x: Numbers, left: Numbers):
    for k in cg.static(range(10)):
        while cg.graph_while(left[k] > 0):
            for i in x:
                x[i] += k + 1
            left[k] -= 1


@law
def loops_beyond_the_flags_of_a_word_wait_before_their_conditions_change():
    for size in SIZES:
        x, left = cg.zeros(size, cg.i32), cg.array(np.arange(10), cg.i32)
        many_loops(x, left)
        np.testing.assert_array_equal(x.to_numpy(), np.full(size, sum(k * (k + 1) for k in range(10))))
        assert not left.to_numpy().any()


def blocks_of(kernel, *arguments):
    """Return the number of blocks of the only launch of a kernel."""
    graph = cg.GraphDef()
    graph.launch(None, kernel, *arguments)
    (node,) = graph.nodes()
    return node.config.grid[0]


@law
def a_loop_with_little_traffic_is_one_block():
    least = LONE_BYTES // 8  # an iteration loads 4 bytes and stores 4
    for size, is_one in ((1024, True), (1025, True), (least, True), (least + 1, False)):
        x, y = cg.zeros(size, cg.f32), cg.zeros(size, cg.f32)
        assert (blocks_of(move, x, y, count(2)) == 1) == is_one, size
        move(x, y, count(2))
        np.testing.assert_array_equal(y.to_numpy(), np.ones(size, "f4"))


@law
def sums_of_two_blocks_stay_sums_of_two_blocks():
    total = cg.zeros(1, cg.f32)
    for size, blocks in ((1024, 1), (1025, 2), (2048, 2), (2049, 1)):
        assert blocks_of(add_up, cg.zeros(size, cg.f32), total, count(2)) == blocks, size


if __name__ == "__main__":
    compile_for_gpus()
    for each in LAWS:
        each()
    print(len(LAWS), "laws hold")
