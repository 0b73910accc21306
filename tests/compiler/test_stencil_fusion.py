# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws: a loop that reads the results of the loop before it at other elements gives the bits of the two loops, on each
target; where iterations cannot compute these elements again, the loops stay apart, and the reason names the lines."""

import random

import numpy as np
import pytest

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.interpreter import interpret
from cuda_graphs.compiler.language.lowerings import FUSIONS
from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.passes import fuse_tasks
from cuda_graphs.compiler.pipeline import lower
from tests.compiler.rig import compare, execute, flattened, function_of, same, targets_here

pytestmark = pytest.mark.filterwarnings("ignore:.*the conversion can lose:cuda_graphs.CompileWarning")

N, ROWS, COLUMNS = 37, 9, 6
TYPES = {
    **dict.fromkeys("abc", "f32, 1"),
    **dict.fromkeys("de", "f64, 1"),
    "m": "i32, 1",
    **dict.fromkeys("uvw", "f32, 2"),
    "p": "f64, 2",
}
HEAD = f"def k({', '.join(f'{name}: ndarray({what})' for name, what in TYPES.items())}, s: f32, n: i32):\n"


def arguments():
    rng = np.random.default_rng(11)
    lines = {name: rng.standard_normal(N).astype("f4") for name in "abc"}
    planes = {name: rng.standard_normal((ROWS, COLUMNS)).astype("f4") for name in "uvw"}
    return {
        **lines, "d": rng.standard_normal(N), "e": rng.standard_normal(N), "m": rng.integers(-50, 50, N, dtype="i4"),
        **planes, "p": rng.standard_normal((ROWS, COLUMNS)), "s": 0.3, "n": N,
    }  # fmt: skip


def kernel_of(*lines):
    return function_of(HEAD + "".join(f"    {line}\n" for line in lines))


def fused(function, fuse="call", most_again=10**6, **options):
    signature = specialise(function, arguments())
    limits = dict.fromkeys(FUSIONS, most_again)
    return lower(function, signature, fuse=fuse, most_again=limits, verify_ir=True, **options)[0]


def program_of(*lines, **options):
    return fused(kernel_of(*lines), **options)


def stores(program):
    return [
        each.array.path for task in program.tasks for each in ir.walk(task.body) if isinstance(each, ir.Store)
    ]


def loads(program):
    return [
        each.array.path for task in program.tasks for each in ir.walk(task.body) if isinstance(each, ir.Load)
    ]


@pytest.fixture
def long_iterations(monkeypatch):
    """Programs may have iterations of any length: the limit is no matter of right and wrong."""
    monkeypatch.setattr(fuse_tasks, "MOST_LIGHT", 10**6)


# Random programs


class Programs:
    """Writes loops over parts of arrays. Each writes one or two arrays at its own indices, and reads any others."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.planar = self.rng.random() < 0.4
        self.names = "uvwp" if self.planar else "abcdem"
        self.sizes = (ROWS, COLUMNS) if self.planar else (N,)
        self.ends = self.rng.choice(["extents", "extents", "numbers", "parameters"])

    def program(self):
        lines, used, self.read = [], set(), self.rng.sample(self.names, 2)
        for _ in range(self.rng.randint(2, 3)):
            used = used.union(self.read) if self.rng.random() < 0.9 else set(self.read)
            others = [name for name in self.names if name not in used]
            if not others:
                break
            self.written = others[: self.rng.choice([1, 1, 2])]
            lines += self.loop()
            inputs = self.rng.sample(self.read, 1) if self.rng.random() < 0.5 else []
            self.read = [*self.written, *inputs]
        return lines

    def loop(self):
        self.axes = [self.bounds(number) for number in range(len(self.sizes))]
        spans = ", ".join(f"({begin}, {end})" for begin, end, *_ in self.axes)
        head = f"for {', '.join('ij'[: len(self.axes)])} in cg.ndrange({spans}):"
        return [head, *(f"    {line}" for name in self.written for line in self.store(name))]

    def bounds(self, number):
        """Returns (begin, end) as text and as numbers."""
        size = self.sizes[number]
        end = {
            "extents": f"{self.rng.choice(self.names)}.shape[{number}]",
            "numbers": str(size),
            "parameters": "n",
        }
        kind = "numbers" if self.ends == "parameters" and size != N else self.ends
        begin, less = self.rng.choice([*[(0, 0)] * 5, *[(1, 1)] * 4, (2, 1), (1, 0)])
        return str(begin), end[kind] + (f" - {less}" if less else ""), begin, size - less

    def store(self, name):
        target = f"{name}[{', '.join('ij'[: len(self.axes)])}]"
        kind, value = self.rng.randint(0, 6), self.cast(self.value(3), name)
        if kind == 6:
            condition, inner = self.inside(), self.cast(self.value(3, inside=1), name)
            return [f"if {condition}:", f"    {target} = {inner}", "else:", f"    {target} = {value}"]
        if kind == 0:
            return [f"if {self.value(1)} > {self.value(1)}:", f"    {target} = {value}",
                    "else:", f"    {target} = {self.cast(self.value(2), name)}"]  # fmt: skip
        if kind == 1:
            return [
                f"h = {value}",
                f"if {self.value(1)} > s:",
                f"    h = {self.cast(self.value(1), name)}",
                f"{target} = h",
            ]
        return [f"{target} = {value}"]

    def inside(self):
        """Returns a condition that holds one index away from the ends of the loop."""
        limits = [(at, begin, end) for at, (begin, end, *_) in zip("ij", self.axes)]
        lower, upper = (
            [f"{at} > {begin}" for at, begin, _ in limits],
            [f"{at} < {end} - 1" for at, _, end in limits],
        )
        return " and ".join(self.rng.sample([*lower, *upper], 2 * len(limits)))

    def cast(self, value, name):
        return f"cg.cast({value}, {'cg.i32' if name == 'm' else 'cg.f64' if name in 'dep' else 'cg.f32'})"

    def value(self, depth, inside=0):
        """Returns an expression. `inside`: how far away from the ends of the loop the iteration is."""
        if depth and self.rng.random() < 0.7:
            left, right = self.value(depth - 1, inside), self.value(depth - 1, inside)
            return f"({left} {self.rng.choice('+-*')} {right})"
        if self.rng.random() < 0.2:
            return self.rng.choice(["s", "1.5", "0.1", "i"])
        name = self.rng.choice(self.read)
        return f"{name}[{', '.join(self.index(number, inside) for number in range(len(self.axes)))}]"

    def index(self, number, inside):
        """Returns an index in the array: near the own one, or turned around at the ends."""
        *_, begin, end = self.axes[number]
        size, at = self.sizes[number], "ij"[number]
        offset = self.rng.choice([-2, -1, -1, 0, 0, 1, 1, 2])
        moved = f"{at} {'+' if offset >= 0 else '-'} {abs(offset)}" if offset else at
        if begin + inside + offset >= 0 and end - inside + offset <= size:
            return moved
        # No remainders: LLVM 22 makes wrong vectors of some for CPUs with AVX-512, also in loops that are alone.
        return self.rng.choice([
            f"min(max({moved}, 0), {size - 1})", f"max(min({moved}, {self.read[0]}.shape[{number}] - 1), 0)",
            f"cg.select({moved} < 0, {moved} + {size}, min({moved}, {size - 1}))", f"{size - 1} - {at}", str(size // 2),
        ])  # fmt: skip


@pytest.mark.usefixtures("long_iterations")
@pytest.mark.parametrize(
    "seed", [pytest.param(s, marks=() if s < 16 else pytest.mark.nightly) for s in range(300)]
)
def test_elements_that_are_computed_again_have_the_bits_of_the_loops(seed):
    function, given = kernel_of(*Programs(seed).program()), arguments()
    flat = {path: value for name, each in given.items() for path, value in flattened(name, each)}
    apart = lower(function, specialise(function, given))[0]
    for fuse in ("call", "any"):
        program = fused(function, fuse)
        arrays = [{p: v.copy() for p, v in flat.items() if isinstance(v, np.ndarray)} for _ in range(2)]
        with np.errstate(all="ignore"):
            for each, into in zip((apart, program), arrays, strict=True):
                interpret(each, into, flat)
        same_arrays(*arrays)
        for target in targets_here()[1:]:
            same_arrays(arrays[0], execute(target, program, flat)[0])


def same_arrays(wanted, found):
    for path, array in wanted.items():
        same(found[path], array, True, path)


@pytest.mark.usefixtures("long_iterations")
def test_random_programs_compute_elements_again():
    """The law above is about something: most of its programs do so, with branches and without."""
    found = [fused(kernel_of(*Programs(seed).program())) for seed in range(16)]
    assert sum(len(each.again) > 0 for each in found) >= 8


# What is fused


def near(program):
    """The arrays whose elements may be outside of the loop that writes them: a branch decides."""
    sets = [each for task in program.tasks for each in ir.walk(task.body) if isinstance(each, ir.Set)]
    return sorted({each.local.name for each in sets if each.local.name.endswith(".near")})


SMOOTHED = ["for i in a:", "    b[i] = a[i] * s", "for i in range(1, a.shape[0] - 1):"]
SMOOTHED += ["    c[i] = b[i - 1] + b[i + 1] + b[i]"]


def test_stencil_of_a_loop_reads_no_memory_that_the_loop_writes():
    program = program_of(*SMOOTHED)
    assert (len(program.tasks), loads(program), stores(program)) == (1, ["a"] * 3, ["c", "b"])
    assert program.fusion == (((2, 4), ""),)
    assert program.again == (((2, 4), "line 5 computes 2 other elements of 'b' again, as line 3 does"),)
    assert near(program) == []
    assert {frozenset((one.path, other.path)) for one, other in program.apart} == {
        frozenset("ab"), frozenset("ac"), frozenset("bc"),
    }  # fmt: skip
    found, _ = compare(program, arguments())
    b = arguments()["a"] * np.float32(0.3)
    np.testing.assert_array_equal(found["b"], b)
    np.testing.assert_array_equal(found["c"][1:-1], b[:-2] + b[2:] + b[1:-1])


# Loops over 0, ..., n - 1 with bounds that are spelled in several ways: indices of which the compiler knows that they
# are in the space of the loop, and others.
INSIDE = [
    "(i + 1) % n",
    "max(i - 1, 0)",
    "min(i + 1, n - 1)",
    "min(max(i - 2, 0), n - 1)",
    "max(min(i + 3, n - 1), 0)",
    "n - 1",
    "0",
]
UNKNOWN = ["n - 1 - i", "(i + 1) % 37", "max(i - 1, 1)", "min(i + 1, 36)", "1"]


@pytest.mark.parametrize("index", [*INSIDE, *UNKNOWN])
def test_index_that_may_leave_the_loop_gets_a_branch_and_others_do_not(index):
    program = program_of(
        "for i in range(n):", "    b[i] = a[i] * s", "for i in range(n):", f"    c[i] = b[{index}]"
    )
    assert (len(program.tasks), near(program)) == (1, [] if index in INSIDE else ["b.near"])
    compare(program, arguments())


# Conditions around loads in a loop over 0, ..., n - 1, and whether the indices are then known to be inside.
BOTH = "b[i - 1] + b[i + 1]"
CONDITIONS = {
    "0 < i < n - 1": (BOTH, True),
    "i >= 1 and i <= n - 2": (BOTH, True),
    "i - 1 >= 0 and n - 1 > i": (BOTH, True),
    "0 <= i - 1 and i + 1 < n and a[i] > s": (BOTH, True),
    "a[i] > s and (0 < i and (i < n - 1 and a[i] < 9.0))": (BOTH, True),
    "(i > 0) & (i < n - 1)": (BOTH, True),
    "i < n - 3": ("b[i + 3]", True),
    "i > 2": ("b[i - 3]", True),
    "i < n - 2": ("b[min(i + 3, 36)]", False),
    "i >= 2": ("b[cg.select(i > 2, i - 3, 0)] + b[i - 2]", False),
    "0 < i < m[0] + 100 and i < 36": (BOTH, False),
    "(i > 0 and i < n - 1) or i == 7": (BOTH, False),
    "not (i <= 0 or i >= n - 1)": (BOTH, False),
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_conditions_around_a_load_may_tell_that_an_index_is_inside(condition):
    index, is_known = CONDITIONS[condition]
    lines = [f"    if {condition}:", f"        c[i] = {index}"]
    program = program_of("for i in range(n):", "    b[i] = a[i] * s", "for i in range(n):", *lines)
    assert (len(program.tasks), near(program) == []) == (1, is_known)
    compare(program, arguments())


def test_variable_may_have_the_condition():
    lines = [
        "    inside = 0 < i < n - 1",
        "    h = a[i]",
        "    if inside and h > s:",
        f"        c[i] = {BOTH}",
    ]
    program = program_of("for i in range(n):", "    b[i] = a[i] * s", "for i in range(n):", *lines)
    assert (len(program.tasks), near(program)) == (1, [])
    compare(program, arguments())


# Lines of such a loop. Its conditions do not hold where it reads an element.
ELSEWHERE = {
    "another branch": ["if i > 0:", "    h = b[i - 1]", "else:", "    h = b[i - 1 + n]"],
    "after the branch": ["if i > 0:", "    h = b[i - 1]", "if a[i] > s:", "    h += b[cg.select(i > 0, i, n) - 1]"],
    "a variable that changes": ["here = i > 0", "if a[i] > s:", "    here = i >= 0", "if here:", "    h = b[i - here]"],
    "the other branch of a variable": [
        "here = a[i] > s",
        "if a[i] > -s:", "    here = i > 0 and i < 36",
        "else:", "    if here:", "        h = b[i - 1]",
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", ELSEWHERE)
def test_conditions_hold_in_their_branch_only(name):
    lines = [f"    {line}" for line in ("h = cg.f32(0.0)", *ELSEWHERE[name], "c[i] = h")]
    program = program_of("for i in range(n):", "    b[i] = a[i] * s", "for i in range(n):", *lines)
    assert (len(program.tasks), near(program)) == (1, ["b.near"])
    compare(program, arguments())


@pytest.mark.parametrize(
    ("first", "second", "branches"),
    [
        ("range(n)", "range(1, n - 1)", []),
        ("range(1, n - 1)", "range(2, n - 2)", []),
        ("range(3, 30)", "range(4, 29)", []),
        ("a", "range(1, c.shape[0] - 1)", []),
        ("range(1, n - 1)", "range(1, n - 1)", ["b.near"]),
        ("range(1, n - 1)", "range(n)", ["b.near"]),
        ("range(n - 1)", "range(1, n - 1)", ["b.near"]),
    ],
)
def test_loops_of_which_one_is_inside_the_other_share_the_larger_space(first, second, branches):
    index = "min(max(i + {}, 0), 36)" if second == "range(n)" else "i + {}"
    program = program_of(
        f"for i in {first}:", "    b[i] = a[i] * s",
        f"for i in {second}:", f"    c[i] = b[{index.format(-1)}] - b[{index.format(1)}]",
    )  # fmt: skip
    assert (len(program.tasks), near(program)) == (1, branches)
    compare(program, arguments())


def test_components_of_vectors_are_computed_one_by_one():
    lines = ["for i in range(9):", "    u[i, 0] = a[i]", "    u[i, 2] = a[i] * s"]
    lines += ["for i in range(1, 8):", "    c[i] = u[i - 1, 0] + u[i + 1, 2] + u[i + 1, 1]"]
    program = program_of(*lines)
    assert (len(program.tasks), sorted(loads(program))) == (
        1,
        ["a", "a", "a", "u"],
    )  # u[i + 1, 1] does not change
    compare(program, arguments())


def test_own_component_that_memory_decides_is_loaded_after_the_stores():
    lines = ["for i in range(9):", "    u[i, 0] = a[i]", "    u[i, 1] = a[i] * s"]
    lines += ["for i in range(1, 9):", "    c[i] = u[i - 1, 0] + u[i, m[i] & 1] + u[i, 2]"]
    program = program_of(*lines)
    assert len(program.tasks) == 1
    body = [each for each in program.tasks[0].loop.body.body if isinstance(each, (ir.Store, ir.If))]
    assert [type(each) for each in body] == [ir.Store, ir.Store, ir.If]
    compare(program, arguments())


def test_other_results_of_the_producer_are_not_computed_again():
    lines = [
        "for i in a:",
        "    d[i] = cg.exp(cg.cast(a[i], cg.f64))",
        "    b[i] = a[i] * s",
        "    m[0] += 1",
    ]
    program = program_of(*lines, "for i in range(1, n - 1):", "    c[i] = b[i - 1]")
    assert len(program.tasks) == 2  # n may be larger than the length of `a`
    program = program_of(*lines, "for i in range(1, a.shape[0] - 1):", "    c[i] = b[i - 1]")
    assert len(program.tasks) == 1
    operations = [each.name for each in ir.walk(program.tasks[0].body) if isinstance(each, ir.Op)]
    assert operations.count("exp") == 1
    compare(program, arguments(), exact=False)


def test_stencil_of_a_stencil_shares_what_neighbours_compute():
    lines = ["for i in a:", "    b[i] = a[max(i - 1, 0)] + a[i]"]
    lines += ["for i in range(2, a.shape[0]):", "    c[i] = b[i - 1] + b[i]"]
    program = program_of(*lines)
    assert (len(program.tasks), loads(program)) == (1, ["a", "a", "a", "a"])
    compare(program, arguments())


def test_loops_after_a_fused_stencil_join_it():
    program = program_of(*SMOOTHED, "for i in a:", "    b[i] += 1.0")
    assert (len(program.tasks), stores(program)) == (1, ["c", "b"])
    compare(program, arguments())


def test_tasks_in_a_loop_compute_elements_again():
    source = (
        "def k(x: ndarray(f32, 1), y: ndarray(f32, 1), n: ndarray(i32, 0)):\n"
        "    while cg.graph_do_while(n):\n"
        "        for i in x:\n            y[i] = x[i] * 0.5\n"
        "        for i in range(1, x.shape[0] - 1):\n            x[i] = y[i] * y[i]\n"
        "        for i in x:\n            y[i] = y[i] + 1.0\n"
        "        n[()] -= 1\n"
    )
    given = {"x": np.arange(9, dtype="f4"), "y": np.ones(9, "f4"), "n": np.array(4, "i4")}
    function = function_of(source)
    for graph in ("conditional", "resident"):
        signature = specialise(function, given)
        limits = dict.fromkeys(FUSIONS, 100)
        program = lower(function, signature, fuse="call", most_again=limits, graph=graph, verify_ir=True)[0]
        apart = lower(function, signature, graph=graph)[0]
        same_arrays(execute("interpreter", apart, given)[0], compare(program, given)[0])


# Refusals: lines of the program, and the reason. The first line of the body is line 2.
FIRST, SECOND = ["for i in a:", "    b[i] = a[i] * s"], "for i in range(1, a.shape[0] - 1):"
AGAIN = "line {} reads 'b' at other elements, and line {} cannot be computed again: it reads {}"
REFUSED = {
    "the consumer overwrites what the producer reads": (
        [*FIRST, SECOND, "    a[i] = b[i - 1]"],
        AGAIN.format(5, 3, "'a', and line 5 writes 'a'"),
    ),
    "the producer overwrites what it reads": (
        ["for i in a:", "    b[i] = a[i] * s", "    a[i] = 0.0", SECOND, "    c[i] = b[i - 1]"],
        AGAIN.format(6, 3, "'a', and line 4 writes 'a'"),
    ),
    "a variable of all iterations": (
        ["h = 1.5", "for i in a:", "    if i == 5:", "        h = a[i]", "    b[i] = h", SECOND, "    c[i] = b[i - 1]"],
        AGAIN.format(8, 6, "'h.0', and line 5 writes 'h.0'"),
    ),
    "an update in place": (
        ["for i in a:", "    b[i] = b[i] * s", "for i in a:", "    c[i] = b[36 - i]"],
        "line 5 reads 'b' at other elements than line 3 writes",
    ),
    "an array that both loops write": (
        [*FIRST, "for i in a:", "    c[i] = b[36 - i]", "    b[i] = 0.0"],
        "line 5 reads 'b' at other elements than line 3 writes",
    ),
    "a store in a branch": (
        ["for i in a:", "    if a[i] > s:", "        b[i] = a[i]", SECOND, "    c[i] = b[i - 1]"],
        "line 4 stores to 'b' in some of its iterations only",
    ),
    "an element that memory decides": (
        [*FIRST, "for i in a:", "    c[i] = b[m[i] & 15]"],
        "memory decides which element of 'b' line 5 reads",
    ),
    "a component that memory decides": (
        ["for i in range(9):", "    u[i, 0] = s", "for i in range(9):", "    c[i] = u[8 - i, m[i] & 1]"],
        "memory decides which element of 'u' line 5 reads",
    ),
    "an index of another type": (
        [*FIRST, "for i in a:", "    c[i] = b[cg.cast(36 - i, cg.i64)]"],
        "line 5 reads 'b' at an index of another type than that of the loop",
    ),
    "a sum": (
        ["for i in m:", "    m[36 - i] += i", "for i in m:", "    d[i] = m[36 - i]"],
        "line 5 reads 'm', which all iterations of line 3 change",
    ),
    "neither loop is inside the other": (
        ["for i in range(n - 1):", "    b[i] = a[i]", "for i in range(1, n):", "    c[i] = b[i - 1]"],
        "the loops of lines 2 and 4 may have different index spaces",
    ),
    "bounds that may be anything": (
        [*FIRST, "for i in range(1, n):", "    c[i] = b[i - 1]"],
        "the loops of lines 2 and 4 may have different index spaces",
    ),
    "another number of axes": (
        [*FIRST, "for i, j in cg.ndrange(6, 6):", "    u[i, j] = b[i + j]"],
        "the loops of lines 2 and 4 may have different index spaces",
    ),
    "a step": (
        ["for i in range(0, 37, 2):", "    b[i] = a[i]", "for i in range(0, 37, 2):", "    c[i] = b[36 - i]"],
        "line 5 reads 'b' at other elements than line 3 writes",
    ),
    "a bound in the array": (
        ["for i in m:", "    m[i] = 3", "for i in range(m[0]):", "    d[i] = m[i + 1]"],
        "the loops of lines 2 and 4 may have different index spaces",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusal_has_its_reason(name):
    lines, reason = REFUSED[name]
    program = program_of(*lines)
    assert program.fusion[-1][1] == reason
    assert all(why for _, why in program.fusion)
    assert program.again == ()


def test_arrays_that_calls_may_pass_twice_keep_nodes_of_graphs_apart():
    program = program_of(*SMOOTHED, fuse="any")
    assert len(program.tasks) == 2
    fields = program_of("for i in a:", "    d[i] = a[i]", SECOND, "    u[i & 7, 0] = d[i - 1]", fuse="any")
    assert len(fields.tasks) == 2


# The cost model


def test_work_that_is_done_again_has_a_limit():
    (why,) = [why for _, why in program_of(*SMOOTHED, most_again=2).fusion]
    assert why == (
        "line 5 reads 'b' at other elements, and computing line 3 again for them would cost an iteration as much as 3 "
        "additions: at most 2 are worth it"
    )
    assert len(program_of(*SMOOTHED, most_again=3).tasks) == 1


def test_long_iterations_stay_apart():
    value = " + ".join(f"b[i - {k}] * {k}.5" for k in range(1, 17))
    program = program_of(*FIRST, "for i in range(16, a.shape[0]):", f"    c[i] = {value}")
    assert len(program.tasks) == 2
    assert "fused ones have at most 64" in program.fusion[0][1]
