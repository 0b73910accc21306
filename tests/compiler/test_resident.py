# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: resident tasks are one launch with the results of the tasks one after the other. Tasks that cannot be one launch
are refused if the caller demanded it, and become nodes otherwise."""

import re

import numpy as np
import pytest

from cuda_graphs.compiler.errors import CompileResidentError
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.pipeline import compile_kernel, lower
from tests.compiler.rig import TARGETS, cg, ptx_target, run_all
from tests.nested_flow import nested_flow

f32_1d = cg.ndarray(cg.f32, 1)
i32_1d = cg.ndarray(cg.i32, 1)
i32_0d = cg.ndarray(cg.i32, 0)


def counter(n):
    return np.array(n, "i4")


def run(function, **arguments):
    """Runs as nodes, as a resident loop, and with all tasks in one launch."""
    found = run_all(function, graph="conditional", targets=TARGETS, **arguments)
    for graph, chain in (
        ("conditional", "all"),
        ("resident", None),
        ("resident", "all"),
        ("resident", "light"),
    ):
        other = run_all(function, graph=graph, chain=chain, targets=(*TARGETS, "gpu"), **arguments)
        for name, value in found.items():
            np.testing.assert_array_equal(other[name], value)
    return found


def exchanged(x: i32_1d, y: i32_1d, c: i32_0d):
    while cg.graph_do_while(c):
        for i in x:
            y[i] = x[(i * 7 + 3) % x.shape[0]] + 1
        for i in y:
            x[i] = y[(i * 5 + 1) % y.shape[0]]
        c[()] -= 1


@pytest.mark.parametrize("size", [1, 32, 65, 300])
def test_each_task_sees_what_all_blocks_wrote_in_the_one_before(size):
    """Two blocks of 32 threads, each of which reads what the other wrote."""
    start, rounds = np.arange(size, dtype="i4"), 20
    wanted, i = start.copy(), np.arange(size)
    for _ in range(rounds):
        y = wanted[(i * 7 + 3) % size] + 1
        wanted = y[(i * 5 + 1) % size]
    found = run(exchanged, x=start, y=np.zeros_like(start), c=counter(rounds))
    np.testing.assert_array_equal(found["x"], wanted)


def straight(x: i32_1d, total: i32_1d):
    total[0] = x[1]
    for i in x:
        x[i] += total[0]
    for i in x:
        total[1] += x[i]
    total[2] = total[1] * 2
    for i in range(total[2] - 40):
        x[i] = total[2]


def test_straight_tasks_are_one_launch_with_chain():
    arguments = {"x": np.arange(6, dtype="i4"), "total": np.zeros(3, "i4")}
    found = run(straight, **arguments)
    assert found["total"].tolist() == [1, 21, 42]
    assert found["x"].tolist() == [42, 42, 3, 4, 5, 6]
    program, _ = lower(straight, specialise(straight, arguments), graph="conditional", chain="all")
    (only,) = program.plan
    assert isinstance(only, ir.Resident)
    assert list(ir.tasks_of(only.plan)) == [0, 1, 2, 3, 4]


def in_blocks(x: f32_1d, out: f32_1d, c: i32_0d):
    while cg.graph_do_while(c):
        for b, t in cg.blocks(3, 64):
            s = cg.block.shared_array(cg.f32, 64)
            s[t] = x[64 * b + t]
            cg.block.sync()
            x[64 * b + t] = s[63 - t] + 1.0
        for b, t in cg.blocks(3, 64):
            total = cg.block.reduce_add(x[64 * b + t])
            if t == 0:
                out[b] = total
        for i in x:
            x[i] += 1.0
        c[()] -= 1


def test_loops_of_blocks_stay_with_others():
    found = run(in_blocks, x=np.arange(192, dtype="f4"), out=np.zeros(3, "f4"), c=counter(3))
    x = np.arange(192, dtype="f4")
    for _ in range(3):
        x = x.reshape(3, 64)[:, ::-1].ravel() + 1
        out = x.reshape(3, 64).sum(1)
        x = x + 1
    np.testing.assert_array_equal(found["x"], x)
    np.testing.assert_array_equal(found["out"], out)


def many(x: f32_1d, y: f32_1d, c: i32_0d):
    while cg.graph_do_while(c):
        for k in cg.static(range(6)):
            for i in x:
                y[i] = x[(i * 7 + 3) % x.shape[0]] + k
            for i in y:
                x[i] = y[i] * 0.5
        c[()] -= 1


@pytest.mark.parametrize("size", [5, 300])
def test_many_tasks_stay_as_few_do(size):
    """The CPU compiles them one by one (MOST_INLINED)."""
    found = run(many, x=np.arange(size, dtype="f4"), y=np.zeros(size, "f4"), c=counter(4))
    x, i = np.arange(size, dtype="f4"), np.arange(size)
    for _ in range(4):
        for k in range(6):
            x = (x[(i * 7 + 3) % size] + np.float32(k)) * np.float32(0.5)
    np.testing.assert_array_equal(found["x"], x)


def printed_and_drawn(x: cg.ndarray(cg.u32, 2), c: i32_0d):
    while cg.graph_do_while(c):
        c[()] -= 1
        for i in range(x.shape[1]):
            x[c[()], i] = cg.random(cg.u32)


def test_random_numbers_are_those_of_nodes():
    found = run(printed_and_drawn, x=np.zeros((5, 40), "u4"), c=counter(5))["x"]
    assert len(np.unique(found)) == found.size


def test_serial_task_is_part_of_the_resident_loop():
    arguments = {"x": np.zeros(3, "i4"), "c": counter(1), "d": counter(1)}
    program, _ = lower(nested_flow, specialise(nested_flow, arguments), graph="resident")
    (only,) = program.plan
    assert list(ir.tasks_of(only.plan)) == list(range(len(program.tasks)))


def between(x: i32_1d, c: i32_0d):
    x[0] = 1
    for i in x:
        x[i] += 1
    while cg.graph_do_while(c):
        for i in x:
            x[i] += c[()]
        for i in x:
            x[i] -= 1
        c[()] -= 1
    for i in x:
        x[i] += 2


@pytest.mark.parametrize(
    ("graph", "chain", "wanted"),
    [
        ("conditional", "all", [[0, 1], [2, 3, 4]]),
        ("resident", None, [[2, 3, 4]]),
        ("resident", "all", [[0, 1, 2, 3, 4, 5]]),
        ("resident", "light", [[0, 1, 2, 3, 4, 5]]),
    ],
)
def test_resident_tasks_are_those_that_the_options_ask_for(graph, chain, wanted):
    arguments = {"x": np.zeros(3, "i4"), "c": counter(2)}
    program, _ = lower(between, specialise(between, arguments), graph=graph, chain=chain, verify_ir=True)
    stay = [step for step in ir.steps_of(program.plan) if isinstance(step, ir.Resident)]
    assert [list(ir.tasks_of(step.plan)) for step in stay] == wanted
    run(between, **arguments)


def two_sizes(x: f32_1d, c: i32_0d):
    while cg.graph_do_while(c):
        for b, t in cg.blocks(2, 32):
            x[32 * b + t] += 1.0
        for b, t in cg.blocks(2, 64):
            x[64 * b + t] += 1.0
        c[()] -= 1


def much_shared(x: f32_1d, c: i32_0d):
    while cg.graph_do_while(c):
        for _, t in cg.blocks(2, 32):
            s = cg.block.shared_array(cg.f32, 8000)
            s[t] = x[t]
        for _, t in cg.blocks(2, 32):
            s = cg.block.shared_array(cg.f32, 8000)
            s[t] = x[t]
        c[()] -= 1


def shared_bytes(function, **arguments):
    """Returns the bytes of static shared memory of the only launch of a function."""
    found = compile_kernel(
        function, specialise(function, arguments), ptx_target(), graph="conditional", chain="all"
    )
    assert len(found.tasks) == 1
    sizes = re.findall(r"^\s*\.shared[^;]*\[(\d+)\];", found.code.decode(), re.MULTILINE)
    return sum(map(int, sizes))


def counted(x: i32_1d, few: i32_1d, counts: i32_1d, sums: f32_1d, c: i32_0d):
    while cg.graph_do_while(c):
        for i in x:
            few[x[i] % 3] += 1
        for i in x:
            counts[(x[i] + few[0]) % 16] += 1
            sums[x[i] % 5] += 0.5
        for i in x:
            few[counts[i % 16] % 3] += 2
        c[()] -= 1


def test_tasks_of_one_launch_have_their_bins_in_the_same_memory():
    arguments = {"x": np.arange(900, dtype="i4"), "few": np.zeros(3, "i4"), "counts": np.zeros(16, "i4")}
    arguments |= {"sums": np.zeros(5, "f4"), "c": counter(3)}
    found = run(counted, **arguments)
    assert found["few"].sum() == 900 * 3 * 3
    assert found["counts"].sum() == 900 * 3
    assert found["sums"].tolist() == [270] * 5
    assert shared_bytes(counted, **arguments) == 32 << 10


def counted_beside_much_memory(x: i32_1d, few: i32_1d):
    for i in x:
        few[x[i] % 3] += 1
    for _, t in cg.blocks(2, 32):
        s = cg.block.shared_array(cg.f32, 7000)
        s[t] = few[t % 3]
        cg.block.sync()
        x[t] = cg.cast(s[31 - t], cg.i32)


def test_bins_take_the_shared_memory_that_the_other_tasks_leave():
    arguments = {"x": np.arange(900, dtype="i4"), "few": np.zeros(3, "i4")}
    found = run(counted_beside_much_memory, **arguments)
    assert found["few"].tolist() == [300] * 3
    assert 28_000 + (16 << 10) <= shared_bytes(counted_beside_much_memory, **arguments) <= 48 << 10


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (two_sizes, "blocks of 64 threads, and the loop in line"),
        (much_shared, "need 64544 bytes of shared memory"),
    ],
)
def test_loop_that_cannot_be_one_launch_is_refused_or_becomes_nodes(function, words):
    signature = specialise(function, {"x": np.zeros(128, "f4"), "c": counter(1)})
    for options in ({"graph": "resident"}, {"graph": "conditional", "chain": "all"}):
        with pytest.raises(CompileResidentError, match=words) as caught:
            compile_kernel(function, signature, ptx_target(), **options)
        assert caught.value.loc.file == __file__
        assert "chain" in caught.value.remedy
    for other in ("conditional", "host"):
        found = compile_kernel(function, signature, ptx_target(), graph=f"resident or {other}")
        assert found.lowering == other
        assert words in found.why
    found = compile_kernel(
        nested_flow,
        specialise(nested_flow, {"x": np.zeros(3, "i4"), "c": counter(1), "d": counter(1)}),
        ptx_target(),
        graph="resident or conditional",
    )
    assert (found.lowering, found.why, len(found.tasks)) == ("resident", "", 1)
