# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws: fused tasks give the bits of the tasks, on each target; tasks that depend on each other across iterations stay
apart, and the reason names the lines."""

import random
import re

import numpy as np
import pytest

from cuda_graphs.compiler.codegen.ptx.ptx_target import Ptx
from cuda_graphs.compiler.codegen.x86 import sines
from cuda_graphs.compiler.codegen.x86.x86_target import X86
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.interpreter import interpret
from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.passes import fuse_tasks, task_groups
from cuda_graphs.compiler.pipeline import compile_kernel, generate, lower
from cuda_graphs.native.units import assembly
from tests.compiler.rig import (
    Bf16,
    Field,
    compare,
    execute,
    flattened,
    function_of,
    run_all,
    same,
    targets_here,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*the conversion can lose:cuda_graphs.CompileWarning")

N = 37  # no multiple of the lanes of a vector
TYPES = {
    "a": "f32, 1",
    "b": "f32, 1",
    "m": "i32, 1",
    "d": "f64, 1",
    "t": "f32, 2",
    "c": "u32, 1",
    "q": "f32, 1",
}
HEAD = f"def k({', '.join(f'{name}: ndarray({what})' for name, what in TYPES.items())}, s: f32):\n"


def arguments():
    rng = np.random.default_rng(7)
    return {
        "a": rng.standard_normal(N).astype("f4"),
        "b": (rng.standard_normal(N) * 1e3).astype("f4"),
        "m": rng.integers(-50, 50, N, dtype="i4"),
        "d": rng.standard_normal(N),
        "t": rng.standard_normal((N, 3)).astype("f4"),
        "c": rng.integers(0, 50, 4, dtype="u4"),
        "q": np.zeros(2, "f4"),
        "s": 0.3,
    }


def kernel_of(*lines):
    return function_of(HEAD + "".join(f"    {line}\n" for line in lines))


def fused(function, fuse="call", given=None, **options):
    given = given or arguments()
    program, _ = lower(function, specialise(function, given), fuse=fuse, verify_ir=True, **options)
    return program


def tasks_of(*lines, **options):
    return len(fused(kernel_of(*lines), **options).tasks)


def reasons(*lines, **options):
    return [why for _, why in fused(kernel_of(*lines), **options).fusion if why]


def statements(program, kind):
    return [each for task in program.tasks for each in ir.walk(task.body) if isinstance(each, kind)]


# Random programs


class Programs:
    """Writes random tasks. A task accesses an array that it writes at the indices of its loop only."""

    def __init__(self, seed, exact):
        self.rng, self.exact = random.Random(seed), exact

    def program(self):
        return [line for _ in range(self.rng.randint(2, 6)) for line in self.task()]

    def task(self):
        self.written = set(self.rng.sample("abmdt", self.rng.randint(1, 2)))
        heads = ["for i in a:", "for i in a:", "for i in a:", "for i in range(a.shape[0]):", "for i in b:"]
        lines = [self.rng.choice(heads)]
        for _ in range(self.rng.randint(1, 3)):
            lines += [f"    {line}" for line in self.statement(1)]
        return lines

    def statement(self, depth):
        name = self.rng.choice(sorted(self.written))
        target = self.own(name)
        kind = self.rng.randint(0, 5)
        if kind == 0 and depth:
            first, second = self.statement(0), self.statement(0)
            return [
                f"if {self.value(1)} > {self.value(1)}:", *(f"    {line}" for line in first),
                "else:", *(f"    {line}" for line in second),
            ]  # fmt: skip
        if kind == 1:
            return [f"{target} += {self.cast(self.value(2), name)}"]
        if kind == 2:
            return [f"v = {self.value(2)}", f"{target} = {self.cast('v * v', name)}"]
        return [f"{target} = {self.cast(self.value(3), name)}"]

    def cast(self, value, name):
        return f"cg.cast({value}, {'cg.i32' if name == 'm' else 'cg.f64' if name == 'd' else 'cg.f32'})"

    def own(self, name):
        return f"t[i, {self.rng.randint(0, 2)}]" if name == "t" else f"{name}[i]"

    def value(self, depth):
        if depth and self.rng.random() < 0.7:
            if not self.exact and self.rng.random() < 0.3:
                return (
                    f"cg.{self.rng.choice(['log2', 'exp', 'sqrt'])}(cg.cast({self.value(depth - 1)}, cg.f32))"
                )
            return f"({self.value(depth - 1)} {self.rng.choice('+-**')} {self.value(depth - 1)})"
        name = self.rng.choice(["a", "b", "m", "d", "t", "s", "1.5", "0.1", "i"])
        if name not in "abmdt":
            return name
        if name in self.written or self.rng.random() < 0.6:
            return self.own(name)
        index = self.rng.choice(["(i + 1) % 37", "0", "36 - i"])
        return f"t[{index}, 1]" if name == "t" else f"{name}[{index}]"


class Reductions(Programs):
    """Also writes reductions, and statements of one thread between the loops. A task has one kind for each array."""

    COUNTS = (
        ("c[{at}] += cg.cast({index}, cg.u32)", "c[{index} & 3] += cg.cast({index}, cg.u32)"),
        ("c[{at}] ^= cg.cast({index} * 7, cg.u32)",),
        ("cg.atomic_min(c[{at}], cg.cast({index}, cg.u32))",),
    )
    FLOATS = (
        "cg.atomic_max(q[{at} & 1], abs({value}))",
        "cg.atomic_min(q[{at} & 1], cg.cast({index} & 7, cg.f32))",
        "q[{at} & 1] += cg.cast({index} & 7, cg.f32)",  # sums of small integers have no rounding
    )
    BETWEEN = (
        "c[{at}] = c[{other}] + 1",
        "q[{at} & 1] = 0.5",
        "total = 0",
        "c[{at}] += cg.cast(total, cg.u32)",
        "m[{at}] = total",
        "c[{at}] += cg.cast(m[{other}], cg.u32)",
    )

    def program(self):
        lines = ["total = cg.i32(0)"]
        for _ in range(self.rng.randint(2, 6)):
            lines += self.task()
            if self.rng.random() < 0.5:
                lines.append(self.text(self.rng.choice(self.BETWEEN)))
        return lines

    def task(self):
        self.reduce = ("total += {index}", *self.rng.choice(self.COUNTS), self.rng.choice(self.FLOATS))
        return super().task()

    def statement(self, depth):
        if self.rng.random() < 0.3:
            return [self.text(self.rng.choice(self.reduce))]
        return super().statement(depth)

    def text(self, template):
        at, other = self.rng.sample(range(4), 2)
        index = self.rng.choice(["i", "m[i]"])
        return template.format(at=at, other=other, index=index, value=self.cast(self.value(2), "a"))


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("write", [Programs, Reductions])
@pytest.mark.parametrize(
    "seed", [pytest.param(s, marks=() if s < 8 else pytest.mark.nightly) for s in range(150)]
)
def test_fused_tasks_give_the_bits_of_the_tasks(seed, write, exact):
    function, given = kernel_of(*write(seed, exact).program()), arguments()
    flat = {path: value for name, each in given.items() for path, value in flattened(name, each)}
    apart = lower(function, specialise(function, given))[0]
    for fuse in ("call", "any", "large"):
        program = fused(function, fuse)
        if exact:
            compare(program, flat)
        with np.errstate(all="ignore"):
            arrays = [{p: v.copy() for p, v in flat.items() if isinstance(v, np.ndarray)} for _ in range(2)]
            for each, into in zip((apart, program), arrays, strict=True):
                interpret(each, into, flat)
        same_arrays(*arrays)
        for target in targets_here()[1:]:
            same_arrays(execute(target, apart, flat)[0], execute(target, program, flat)[0])


def same_arrays(wanted, found):
    for path, array in wanted.items():
        same(found[path], array, True, path)


@pytest.mark.parametrize("write", [Programs, Reductions])
def test_random_programs_have_fused_tasks(write):
    """The law above is about something: a good part of its programs has fewer tasks afterwards."""
    found = [fused(kernel_of(*write(seed, True).program())) for seed in range(12)]
    assert sum(any(why == "" for _, why in each.fusion) for each in found) >= 4


# What is fused


def test_chain_of_ten_is_one_load_of_each_array_and_one_store():
    program = fused(kernel_of(*["for i in b:", "    b[i] = b[i] * 1.01 + a[i]"] * 10))
    assert [task.name for task in program.tasks] == ["k_0_loop"]
    assert [each.array.path for each in statements(program, ir.Load)] == ["b", "a"]
    assert [each.array.path for each in statements(program, ir.Store)] == ["b"]
    ((lines, why),) = program.fusion
    assert (lines, why) == (tuple(range(2, 22, 2)), "")
    assert [(x.path, y.path) for x, y in program.apart] == [("a", "b")]


def test_chain_runs_several_vectors_at_a_time_on_a_cpu():
    """One vector at a time would wait for the result of each operation."""
    for other, vectors in (("s", 8), ("a[i]", 4)):
        program = fused(kernel_of(*["for i in b:", f"    b[i] = b[i] * 1.01 + {other}"] * 10))
        text = assembly(generate(program, X86(), {}).llvm)
        assert len(re.findall(r"mulps", text)) >= 10 * vectors


def test_reduction_joins_its_producer_and_reads_no_memory_for_it():
    lines = ["for i in b:", "    b[i] = a[i] * s", "for i in b:", "    cg.atomic_max(q[0], abs(b[i] - a[i]))"]
    lines += ["for i in b:", "    c[0] += cg.cast(b[i] > s, cg.u32)"]
    program = fused(kernel_of(*lines))
    (task,) = program.tasks
    assert [each.array.path for each in statements(program, ir.Load)] == ["a"]
    # Each thread collects its share first: `b` and `q` have one type, and are apart.
    assert not any(isinstance(each, ir.Atomic) for each in ir.walk(task.loop.body))
    assert [(each.kind, each.array.path) for each in statements(program, ir.Atomic)] == [
        ("add", "c"),
        ("max", "q"),
    ]
    assert {frozenset((one.path, other.path)) for one, other in program.apart} >= {frozenset("bq")}
    compare(program, arguments())


def test_extents_of_two_arrays_are_a_condition_on_calls():
    lines = ["for i, j in cg.ndrange(a.shape[0], t.shape[1]):", "    t[i, j] = s"]
    lines += ["for i, j in cg.ndrange(d.shape[0], 3):", "    t[i, j] *= 2"]
    assert tasks_of(*lines) == 2  # an extent and a number
    lines[2] = "for i, j in cg.ndrange(d.shape[0], t.shape[1]):"
    program = fused(kernel_of(*lines))
    assert (len(program.tasks), program.equal) == (1, ((("extent", "a", 0), ("extent", "d", 0)),))
    compare(program, arguments())
    assert reasons(*lines, fuse="any") == ["the loops of lines 2 and 4 may have different index spaces"]
    shifted = [
        "for i in range(1, a.shape[0] - 1):",
        "    m[i] = 1",
        "for i in range(1, b.shape[0] - 1):",
        "    m[i] += 1",
    ]
    assert tasks_of(*shifted) == 1


def test_sum_of_floats_joins_its_producer_where_its_order_is_not_fixed():
    lines = ["for i in b:", "    b[i] = a[i] * s", "for i in b:", "    q[0] += b[i]"]
    few, many = (fused(kernel_of(*lines), fuse) for fuse in ("call", "large"))
    assert (len(few.tasks), len(many.tasks)) == (2, 1)
    assert few.large_loops == ((None, ((0, ("extent", "b", 0), 1),)),)
    assert many.large_loops == ()
    for program in (few, many):
        compare(program, arguments(), exact=False)


@pytest.mark.parametrize(
    "lines",
    [
        ["for i in b:", "    q[0] += b[i]"],
        ["for i in b:", "    b[i] = s", "for i in range(m[0]):", "    q[0] += b[i]"],
        ["for i in b:", "    b[i] = q[0]", "for i in b:", "    q[0] += b[i]"],
    ],
)
def test_sums_that_would_stay_alone_need_no_second_code(lines):
    assert fused(kernel_of(*lines)).large_loops == ()


def test_bins_stay_bins_in_a_fused_task():
    lines = ["for i in m:", "    m[i] = m[i] * 3", "for i in m:", "    c[m[i] & 3] += 1"]
    (task,) = fused(kernel_of(*lines), "any").tasks
    assert [each.array.path for each in task.bins] == ["c"]


def test_statements_between_loops_move_before_or_after_them():
    lines = [
        "for i in m:",
        "    m[i] = m[i] + 1",
        "total = 0",
        "c[3] = 5",
        "for i in m:",
        "    total += m[i]",
    ]
    lines += ["c[0] = cg.cast(total, cg.u32)", "for i in m:", "    m[i] -= 3", "c[1] = c[0]"]
    program = fused(kernel_of(*lines))
    assert [each.loop is not None for each in (program.tasks[step] for step in program.plan)] == [
        False,
        True,
        False,
    ]
    assert ((2, 6, 9), "") in program.fusion
    found, _ = compare(program, arguments())
    m = arguments()["m"] + 1
    np.testing.assert_array_equal(found["m"], m - 3)
    total = m.sum(dtype="i4").astype("u4")
    np.testing.assert_array_equal(found["c"], [total, total, arguments()["c"][2], 5])


def test_statement_that_needs_the_loop_before_it_and_feeds_the_next_one_stays_between():
    lines = ["for i in m:", "    m[i] = m[i] + 1", "x = m[3]", "for i in m:", "    m[i] += x"]
    program = fused(kernel_of(*lines))
    assert len(program.tasks) == 3
    compare(program, arguments())


def test_value_that_passes_is_rounded_as_the_store_rounds_it():
    for kind in ("f16", "bf16"):
        function = function_of(
            f"def k(x: ndarray({kind}, 1), y: ndarray(f64, 1)):\n"
            "    for i in x:\n        x[i] = y[i] / 3\n"
            "    for i in x:\n        y[i] = x[i]\n"
        )
        x = np.zeros(5, "f2") if kind == "f16" else Bf16(np.zeros(5, "u2"))
        given = {"x": x, "y": np.arange(5.0) + 0.1}
        program = fused(function, given=given)
        assert len(program.tasks) == 1
        assert [each.array.path for each in statements(program, ir.Load)] == ["y"]
        compare(program, {"x": getattr(x, "data", x) if kind == "bf16" else x, "y": given["y"]})


def test_store_that_a_branch_may_not_overwrite_stays():
    function = kernel_of(
        "for i in a:", "    a[i] = s", "for i in a:", "    if m[i] > 0:", "        a[i] = a[i] * 2"
    )
    program = fused(function)
    assert len(program.tasks) == 1
    assert len(statements(program, ir.Store)) == 2
    assert [each.array.path for each in statements(program, ir.Load)] == ["m"]
    compare(program, arguments())


def test_components_of_vectors_pass_one_by_one():
    lines = ["for i in a:", "    t[i, 0] = s", "    t[i, 1] = a[i]"]
    lines += ["for i in a:", "    a[i] = t[i, 0] + t[i, 1] + t[i, 2]"]
    program = fused(kernel_of(*lines), "call")
    assert [each.array.path for each in statements(program, ir.Load)] == ["a", "t"]
    assert len(statements(program, ir.Store)) == 3
    compare(program, arguments())


def test_element_of_a_variable_index_hides_what_is_known():
    """t[i, j] may be t[i, 0]: a store to it is not passed over."""
    lines = ["for i in a:", "    t[i, 0] = s", "    t[i, (m[i] & 1)] = a[i]"]
    lines += ["for i in a:", "    a[i] = t[i, 0]"]
    program = fused(kernel_of(*lines))
    assert len(program.tasks) == 1
    assert [each.array.path for each in statements(program, ir.Load)][-1] == "t"
    compare(program, arguments())


def test_arrays_that_no_task_writes_are_read_anywhere():
    lines = ["for i in a:", "    a[i] = d[(i + 1) % 37]", "for i in a:", "    a[i] += d[36 - i]"]
    assert tasks_of(*lines) == tasks_of(*lines, fuse="any") == 1


def test_arrays_of_different_types_are_apart_whatever_a_call_passes():
    lines = ["for i in a:", "    d[i] = a[i]", "for i in a:", "    a[i] = d[i] * 2"]
    program = fused(kernel_of(*lines), "any")
    assert (len(program.tasks), program.apart) == (1, ())
    compare(program, arguments())


def test_fields_are_apart_and_a_parameter_may_be_a_field():
    x, y = Field(np.arange(8, dtype="f4"), "x"), Field(np.ones(8, "f4"), "y")
    source = (
        "def k(p: ndarray(f32, 1)):\n    for i in x:\n        x[i] += y[i]\n    for i in x:\n        y[i] += x[i]\n"
        "    for i in x:\n        p[i] = y[i]\n"
    )
    function = function_of(source, x=x, y=y)
    given = {"p": np.zeros(8, "f4")}
    program = fused(function, "any", given)
    assert len(program.tasks) == 2
    program = fused(function, "call", given)
    assert len(program.tasks) == 1
    assert {frozenset((one.path, other.path)) for one, other in program.apart} == {
        frozenset("px"), frozenset("py"),
    }  # fmt: skip
    compare(program, {**given, "x": x.data, "y": y.data})


def test_random_numbers_are_those_of_the_loops(monkeypatch):
    lines = ["for i in a:", "    a[i] = cg.random()", "for i in a:", "    a[i] += cg.random()"]
    assert tasks_of(*lines) == 2  # the operations of a generator are many statements
    monkeypatch.setattr(fuse_tasks, "MOST_LIGHT", 1000)
    assert tasks_of(*lines) == 1
    function = kernel_of(*lines)
    wanted = run_all(function, targets=["x86"], **arguments())
    program = fused(function)
    found, _ = compare(program, {"random.seed": 0x123456789ABCDEF} | arguments())
    same_arrays(wanted, found)


def test_tasks_in_a_loop_are_fused_and_those_around_it_are_not_joined_to_them():
    source = (
        "def k(x: ndarray(i32, 1), y: ndarray(i32, 1), n: ndarray(i32, 0)):\n"
        "    for i in x:\n        x[i] += 1\n"
        "    while cg.graph_do_while(n):\n"
        "        for i in x:\n            x[i] = x[i] * 3 + y[i]\n"
        "        for i in x:\n            y[i] -= x[i]\n"
        "        n[()] -= 1\n"
        "    for i in x:\n        x[i] -= 5\n"
    )
    function = function_of(source)
    given = {"x": np.arange(9, dtype="i4"), "y": np.ones(9, "i4"), "n": np.array(4, "i4")}
    for graph in ("conditional", "resident"):
        program = fused(function, "call", given, graph=graph)
        assert ((5, 7), "") in program.fusion
        wanted = run_all(function, graph=graph, **given)
        same_arrays(wanted, compare(program, given)[0])
    x, y = given["x"] + 1, given["y"].copy()
    for _ in range(4):
        x = x * 3 + y
        y = y - x
    np.testing.assert_array_equal(wanted["x"], x - 5)
    np.testing.assert_array_equal(wanted["y"], y)


# Refusals: lines of the program, and the reason. The first line of the body is line 2.
REFUSED = {
    "an element of another iteration": (
        ["for i in a:", "    a[i] = s", "for i in a:", "    d[i] = a[(i + 1) % 37]", "    a[i] = 2.0"],
        "line 5 reads 'a' at other elements than line 3 writes",
    ),
    "an element that a later task overwrites": (
        ["for i in a:", "    d[i] = a[0]", "for i in a:", "    a[i] = s"],
        "line 5 writes 'a' at other elements than line 3 reads",
    ),
    "another axis": (
        ["for i, j in cg.ndrange(3, 3):", "    t[i, j] = s", "for i, j in cg.ndrange(3, 3):", "    t[j, i] += s"],
        "line 5 reads 't' at other elements than line 3 writes",
    ),
    "another index space": (
        ["for i in a:", "    a[i] = s", "for i in range(3):", "    a[i] = s"],
        "the loops of lines 2 and 4 may have different index spaces",
    ),
    "another extent": (
        ["for i in a:", "    a[i] = s", "for i in range(a.shape[0] - 1):", "    a[i] += s"],
        "the loops of lines 2 and 4 may have different index spaces",
    ),
    "another step": (
        ["for i in range(0, 8, 2):", "    a[i] = s", "for i in range(0, 8, 1):", "    a[i] += s"],
        "the loops of lines 2 and 4 may have different index spaces",
    ),
    "another type of the index": (
        ["for i in range(8):", "    a[i] = s", "for i in range(cg.i64(8)):", "    a[i] += s"],
        "the loops of lines 2 and 4 may have different index spaces",
    ),
    "bounds in memory": (
        ["for i in range(m[0]):", "    a[i] = s", "for i in range(m[0]):", "    a[i] += s"],
        "the loops of lines 2 and 4 may have different index spaces",
    ),
    "no array of both": (
        ["for i in a:", "    a[i] = s", "for i in a:", "    d[i] = 2"],
        "they share no array, so one pass over memory is no less work",
    ),
    "a sum of floats": (
        ["for i in a:", "    a[i] = s", "for i in a:", "    d[0] += a[i]"],
        "line 5 combines floats, and their order decides how the result is rounded: only sums of many "
        "iterations may share a loop",
    ),
    "a maximum of zeros of both signs": (
        ["for i in a:", "    a[i] = s", "for i in a:", "    cg.atomic_max(q[0], a[i])"],
        "line 5 compares floats that may be 0.0 and -0.0, and their order decides which zero stays",
    ),
    "an old value of an atomic": (
        ["for i in a:", "    a[i] = s", "for i in a:", "    m[i] = cg.cast(cg.atomic_add(c[0], 1), cg.i32)"],
        "line 5 uses the old value of an atomic, which depends on the order of the iterations",
    ),
    "a sine of f32": (
        ["for i in a:", "    a[i] = s", "for i in a:", "    a[i] = cg.sin(a[i])"],
        "line 5 takes a sine of f32, whose last bit depends on the rest of the loop",
    ),
    "an exchange": (
        ["for i in a:", "    a[i] = s", "for i in a:", "    cg.atomic_exchange(q[0], a[i])"],
        "line 5 is atomic, and the result depends on the order of the iterations",
    ),
    "a reader of a sum": (
        ["for i in m:", "    c[0] += 2", "for i in m:", "    m[i] = cg.cast(c[0], cg.i32)"],
        "line 5 reads 'c', which all iterations of line 3 change",
    ),
    "two kinds of atomics": (
        ["for i in m:", "    c[0] += cg.cast(m[i], cg.u32)", "for i in m:", "    c[1] ^= cg.cast(m[i], cg.u32)"],
        "line 5 changes 'c', which all iterations of line 3 change",
    ),
    "a print": (
        ["for i in a:", "    a[i] = s", "for i in a:", "    print(a[i])"],
        "line 5 prints",
    ),
    "an inner loop": (
        ["for i in a:", "    a[i] = s", "for i in a:", "    for j in range(m[i]):", "        a[i] += s"],
        "line 5 is a loop in an iteration",
    ),
    "a while loop": (
        ["for i in a:", "    a[i] = s", "for i in a:", "    while a[i] < 9:", "        a[i] += 1"],
        "line 5 is a loop in an iteration",
    ),
    "an early end of an iteration": (
        ["for i in a:", "    if m[i] > 0:", "        continue", "    a[i] = s", "for i in a:", "    a[i] += s"],
        "line 4 may end the iteration",
    ),
    "settings of a loop": (
        ["for i in a:", "    a[i] = s", "cg.loop_config(block_dim=64)", "for i in a:", "    a[i] += s"],
        "cg.loop_config sets how the loop of line 5 runs",
    ),
    "blocks": (
        ["for i in a:", "    a[i] = s", "for block, i in cg.blocks(1, 32):", "    a[i] += s"],
        "the threads of the loop of line 4 work together in blocks",
    ),
    "a serial loop": (
        ["for i in a:", "    a[i] = s", "cg.loop_config(serialize=True)", "for i in a:", "    a[i] += s"],
        "one thread runs the statements of line 5",
    ),
    "statements between": (
        ["for i in a:", "    a[i] = s", "a[0] = 2", "for i in a:", "    a[i] += s"],
        "one thread runs the statements of line 4",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusal_has_its_reason(name):
    lines, reason = REFUSED[name]
    program = fused(kernel_of(*lines))
    assert program.fusion[0][1] == reason
    assert all(why for _, why in program.fusion)
    assert len(program.tasks) == len(
        lower(kernel_of(*lines), specialise(kernel_of(*lines), arguments()))[0].tasks
    )


def test_functions_with_two_implementations_are_those_of_the_target():
    assert task_groups.SINES == sines.OF_F32


def test_debug_code_is_not_fused():
    lines = ["for i in a:", "    a[i] = s", "for i in a:", "    a[i] += s"]
    assert reasons(*lines, debug=True) == ["line 3 checks a condition, which may end the task"]


def test_fast_math_is_not_fused():
    """A product that the store rounds could be contracted with a sum of the next task."""
    function = kernel_of("for i in a:", "    a[i] = a[i] * s", "for i in a:", "    a[i] += b[i]")
    for target in (X86, Ptx):
        found = compile_kernel(
            function, specialise(function, arguments()), target(fast_math=True), fuse="call"
        )
        assert len(found.tasks) == 2
        assert found.fusion == (((2, 4), fuse_tasks.CONTRACTS),)
        assert (
            len(compile_kernel(function, specialise(function, arguments()), target(), fuse="call").tasks) == 1
        )


def test_iterations_that_would_be_long_stay_apart():
    lines = [line for k in range(40) for line in ("for i in a:", f"    a[i] = a[i] * {k}.5 + b[i]")]
    program = fused(kernel_of(*lines))
    assert 1 < len(program.tasks) < 5
    assert any("fused ones have at most 64" in why for _, why in program.fusion)
    compare(program, arguments())


def test_parameters_of_one_type_may_be_the_same_memory():
    lines = ["for i in a:", "    a[i] = s", "for i in a:", "    b[i] = a[i]"]
    assert reasons(*lines, fuse="any") == [
        "line 3 writes 'a', and line 5 writes 'b', which may be the same memory"
    ]
    assert tasks_of(*lines, fuse="call") == 1


def test_sections_are_not_joined():
    source = (
        "def k(x: ndarray(i32, 1), y: ndarray(i32, 1)):\n"
        "    with cg.graph_parallel():\n"
        "        with cg.graph_section():\n"
        "            for i in x:\n                x[i] += 1\n"
        "            for i in x:\n                x[i] *= 2\n"
        "        with cg.graph_section():\n"
        "            for i in y:\n                y[i] += 1\n"
    )
    given = {"x": np.arange(8, dtype="i4"), "y": np.arange(8, dtype="i4")}
    program = fused(function_of(source), "call", given, graph="conditional")
    assert program.fusion == (((4, 6), ""),)
    assert program.plan == (ir.Fork(((0,), (1,))),)
    found, _ = compare(program, given)
    np.testing.assert_array_equal(found["x"], (given["x"] + 1) * 2)
    np.testing.assert_array_equal(found["y"], given["y"] + 1)
