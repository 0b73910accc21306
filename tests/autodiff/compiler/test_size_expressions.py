# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Size expressions: the host and the device find the same numbers, bit for bit, and what a stack takes is never more.

`sizes` gives of each stack what the host finds and what counting finds, and has the sizer of all targets agree.
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cuda_graphs.compiler.autodiff import gradient
from cuda_graphs.compiler.autodiff.analysis.size_expressions import (
    LIMIT,
    SizeOverflow,
    TooManySteps,
    evaluate,
    leaves_of,
    nodes,
)
from cuda_graphs.compiler.autodiff.gradient import reads_arrays
from cuda_graphs.compiler.autodiff.sizing import sizing_body
from cuda_graphs.compiler.cache import artifact_cache
from cuda_graphs.compiler.frontend import translate
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import SCALARS
from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.passes.propagate import propagate
from cuda_graphs.compiler.pipeline import PASSES, lower
from tests.autodiff.compiler.gradient_rig import flat_of, floats, ints, leaf_in, zeros
from tests.compiler.rig import Field, cg, compare, function_of

i32, i64 = cg.i32, cg.i64


def stacks_of(function, arguments):
    kernel, _ = translate(function, dict(specialise(function, arguments)))
    return gradient(propagate(kernel)).stacks


def value_of(expression, leaf):
    """Returns the value of an expression as the sizer does: -1 where it wraps around."""
    try:
        return evaluate(expression, leaf, most_steps=1 << 30)
    except SizeOverflow:
        return -1


def sizes(function, fields=(), targets=None, **arguments):
    """[(value of the expression, count)] of the stacks of a gradient; None where there is no expression."""
    memory = {"random.seed": 0} | flat_of(arguments) | {each.name: each.data for each in fields}
    signature, leaf = specialise(function, arguments), leaf_in(memory)
    capacities = [stack.capacity for stack in stacks_of(function, arguments)]
    found = [None if capacity is None else value_of(capacity, leaf) for capacity in capacities]
    read = [value for capacity, value in zip(capacities, found, strict=True) if reads_arrays(capacity)]
    if read:
        sizer, _ = lower(function, signature, verify_ir=True, mode="size")
        assert list(compare(sizer, memory, targets=targets)[1]) == read
    counter, _ = lower(function, signature, verify_ir=True, mode="count")
    counts = compare(counter, memory, targets=("interpreter",))[1]
    return [(value, int(count)) for value, count in zip(found, counts, strict=True)]


HEAD = (
    "def k(x: ndarray(f64, 1), b: ndarray(i32, 1), at: ndarray(i32, 1), c: ndarray(i64, 2), u: ndarray(u8, 1), n: i32, "
    "y: ndarray(f64, 0)):\n    for i in x:\n        v = x[i]\n"
)
STEP = "v = cg.sin(v)"


def kernel_of(lines, **names):
    """A kernel that does some lines for each element of x."""
    return function_of(
        HEAD + "".join(f"        {line}\n" for line in lines) + "        y[()] += v\n", **names
    )


def arguments(n=3):
    return {
        "x": floats(0.1, 0.2, 0.3, 0.4),
        "b": ints(4, 0, 9, 2, 5),
        "at": ints(2, 4, 1, 3),
        "c": np.arange(12, dtype=np.int64).reshape(4, 3),
        "u": np.array([1, 250, 3, 0], np.uint8),
        "n": n,
        "y": zeros(),
    }


@cg.func
def half_of(m):
    return m // 2 + 1


# Spelling of a bound: the most trips of all iterations; with n = 3.
SPELLINGS = {
    "n * 2": 6,
    "b[i]": 9,
    "b[at[i]]": 9,
    "b[i + 1] - b[i]": 9,
    "b[i] - b[i + 1]": 7,
    "-2, b[i]": 11,
    "b[i], 2": 2,
    "2 - (3 - b[i])": 8,
    "0 - b[i], n": 12,
    "i, b[at[i]]": 9,
    "min(n, b[i])": 3,
    "max(n, b[i])": 9,
    "b[i] * b[i + 1]": 18,
    "b[i] + i * i": 13,
    "b[i] // 2": 4,
    "b[i] % 4": 2,
    "b[i] << 1": 18,
    "b[i] >> 1": 4,
    "abs(b[i] - 5)": 5,
    "c[i, 1]": 10,
    "c[i, 2] - c[i, 0]": 2,
    "u[i]": 250,
    "x.shape[0] + b[i]": 13,
    "b[i], 0, -1": 9,
    "0, b[i], 3": 3,
    "b[i], -1, -2": 5,
    "half_of(b[i])": 5,
    "b[i % 2]": 4,
    "cg.select(i > 1, b[i], n)": 9,
    "cg.cast(b[i], i64)": 9,
}
LOOSE = {"abs(b[i] - 5)", "cg.select(i > 1, b[i], n)"}  # an interval, which may be more


def agree_about(bounds, targets):
    """One kernel has a stack for each bound."""
    lines = []
    for number, bound in enumerate(bounds):
        lines += [f"v{number} = v", f"for _ in range({bound}):", f"    v{number} = cg.sin(v{number})"]
    k = kernel_of([*lines, *(f"y[()] += v{number}" for number in range(len(bounds)))], half_of=half_of)
    found = sizes(k, targets=targets, **arguments())
    for bound, (value, count), stack in zip(bounds, found, stacks_of(k, arguments()), strict=True):
        wanted = SPELLINGS[bound]
        assert reads_arrays(stack.capacity) == ("[" in bound.replace(".shape[0]", "")), bound
        if bound in LOOSE:
            assert count <= wanted <= value, bound
        else:
            assert (value, count) == (wanted, wanted), bound


def test_bounds_of_all_spellings_have_the_size_that_they_take():
    agree_about(SPELLINGS, ("interpreter",))


def test_all_targets_find_the_same_sizes():
    agree_about(["b[at[i]]", "-2, b[i]", "c[i, 2] - c[i, 0]", "u[i]"], None)


@pytest.mark.nightly
def test_all_targets_find_the_same_sizes_of_all_spellings():
    agree_about(SPELLINGS, None)


PROGRAMS = {
    "triangular": ["for j in range(n):", "    for _ in range(j):", f"        {STEP}"],
    "inner loops are summed": ["for j in range(b[i]):", "    for _ in range(b[j % 5]):", f"        {STEP}"],
    "of different loops": [
        "m = 0",
        "for j in range(2):",
        "    m = b[j]",
        "for _ in range(m):",
        f"    {STEP}",
    ],
    "of the iteration before": [
        "m = b[i]",
        "for j in range(5):",
        "    for _ in range(m):",
        f"        {STEP}",
        "    m = b[j]",
    ],
    "set by a branch": ["m = 1", "if i % 2 == 0:", "    m = b[i]", "for _ in range(m):", f"    {STEP}"],
    "of what is not there": ["if i > 0:", "    for _ in range(b[i - 1] - b[i - 2 + 1]):", f"        {STEP}"],
    "an index that nobody knows": [
        "for _ in range(b[cg.cast(abs(cg.sin(v)) * 4.0, i32)]):",
        f"    {STEP}",
    ],
    "an index between two": ["for _ in range(b[min(at[i], n)]):", f"    {STEP}"],
    "in steps of what is read": [
        "for j in range(at[i], 5, 2):",
        "    for _ in range(b[j]):",
        f"        {STEP}",
    ],
    "backwards": ["for j in range(4, at[i], -1):", "    for _ in range(b[j]):", f"        {STEP}"],
    "what becomes what it is": [
        "m = b[i]",
        "for _ in range(2):",
        "    m = m",
        "for _ in range(m):",
        f"    {STEP}",
    ],
    "two loops": ["for _ in range(b[i]):", f"    {STEP}", "for _ in range(b[i + 1]):", f"    {STEP}"],
    "two axes": [
        "for j, _ in cg.ndrange(b[i], n):",
        f"    {STEP}",
    ],
}
EXACT = {"inner loops are summed", "in steps of what is read", "backwards", "two loops", "two axes"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_stack_takes_more_than_its_expression_says(name):
    k = kernel_of(PROGRAMS[name])
    found = sizes(k, targets=("interpreter",), **arguments())
    assert found
    for value, count in found:
        assert value is not None and value >= count
        assert value == count or name not in EXACT


def kinds(expression):
    return {"int" if isinstance(each, int) else each[0] for each in nodes(expression)}


def test_all_kinds_of_nodes_are_found_alike():
    trips = Field(np.array([3, 1, 2, 5], np.int32), "trips")
    lines = [
        "for j in range(trips[i] - 1, max(b[i], n) * x.shape[0]):",
        "    for _ in range(b[j % 5] // 2):",
        f"        {STEP}",
        "for _ in range(b[cg.cast(abs(v), i32)] - b[cg.cast(v * v, i32)] + 20 * b[min(at[i], 3)]):",
        f"    {STEP}",
    ]
    k = kernel_of(lines, trips=trips)
    found = sizes(k, [trips], targets=("interpreter", "x86"), **arguments())
    assert all(value >= count > 0 for value, count in found)
    seen = set().union(*(kinds(stack.capacity) for stack in stacks_of(k, arguments())))
    wanted = {"int", "extent", "scalar", "read", "bound", "most", "least", "sum"}
    assert wanted | {"add", "sub", "mul", "floor_div", "mod", "min", "max", "given"} == seen
    spaces = {
        leaf[2]
        for stack in stacks_of(k, arguments())
        for leaf in leaves_of(stack.capacity)
        if leaf[0] == "read"
    }
    assert spaces == {"param", "field"}


@pytest.mark.parametrize(
    ("bound", "is_known"),
    [("cg.cast(v * 3.0, i32)", False), ("b[i] ** min(n, 2)", False), ("b[i] & 3", True), ("v > 0.2", True)],
)
def test_bound_without_a_size_expression_is_counted(bound, is_known):
    k = kernel_of([f"m = cg.cast({bound}, i32)", "for _ in range(m):", f"    {STEP}"])
    for value, count in sizes(k, targets=("interpreter",), **arguments()):
        assert (value is not None) == is_known
        assert count <= (value if is_known else 81)


def test_expressions_that_grow_without_end_are_counted():
    lines = ["m = b[i]", *(f"m{n} = {'m' if not n else f'm{n - 1}'} * b[at[i]] - n" for n in range(200))]
    k = kernel_of([*lines, "for _ in range(m199):", f"    {STEP}"])
    assert [stack.capacity for stack in stacks_of(k, arguments())] == [None]


# Bounds that do not fit into their type


WRAPPING = [
    ("{0} * {0} + 3", 65536, -1),  # which wraps around, in an i32
    ("{0} * {0} + 3", 46340, 2147395603),
    ("cg.i8({0}), 300", 200, -1),
    ("cg.i8({0}), 300", -128, 428),
    ("cg.u32({0}) - cg.u32(1), 4", 0, -1),
    ("cg.i64({0}) * cg.i64({0}) * cg.i64({0})", 1 << 20, 1 << 60),
    ("cg.i64({0}) * cg.i64({0}) * cg.i64({0}) * 3", 1 << 20, 3 << 60),
    ("cg.i64({0}) * cg.i64({0}) * cg.i64({0}) * 4", 1 << 20, -1),
    ("cg.i64({0}) * cg.i64({0}) * cg.i64({0}) * cg.i64({0})", 1 << 30, -1),
]


def test_bound_that_wraps_around_has_no_size_on_any_target():
    lines = []
    for number, (bound, _, _) in enumerate(WRAPPING):
        lines += [f"v{number} = v", f"for _ in range({bound.format(f'b[{number}]')}):"]
        lines += [f"    v{number} = cg.sin(v{number})"]
    k = kernel_of([*lines, *(f"y[()] += v{number}" for number in range(len(WRAPPING)))])
    given = arguments() | {"x": floats(0.1), "b": ints(*(b for _, b, _ in WRAPPING))}
    memory = flat_of(given)
    wanted = [each for _, _, each in WRAPPING]
    assert [value_of(stack.capacity, leaf_in(memory)) for stack in stacks_of(k, given)] == wanted
    sizer, _ = lower(k, specialise(k, given), verify_ir=True, mode="size")
    assert list(compare(sizer, {"random.seed": 0} | memory)[1]) == wanted


@pytest.mark.parametrize(
    ("lines", "n"),
    [
        (["for m in range(n):", "    for _ in range(cg.i8(m), 10):"], 138),
        (["for m in range(n, 0, -1):", "    for _ in range(cg.i8(m), 10):"], 138),
        (["for m in range(n):", "    for _ in range(-5, cg.u8(m - 1)):"], 2),
        (["for m in range(2):", "    for _ in range(cg.i32(m) * 2147483647 * n, 3):"], 2),
        (["for m in range(min(b[i], cg.i8(n)), cg.i8(n + 100)):", "    for _ in range(m, 3):"], 100),
    ],
)
def test_an_end_that_is_not_used_and_wraps_around_makes_the_other_no_bound(lines, n):
    """The lower end of cg.i8(m) is that of m only if the upper one fits too."""
    k = kernel_of([*lines, "    " * len(lines) + STEP])
    for value, _ in sizes(k, targets=("interpreter",), **arguments(n)):
        assert value == -1


NUMBERS = {
    "i64": [-LIMIT - 1, -LIMIT, -1, 0, 7, LIMIT, LIMIT + 1, (1 << 63) - 1, -(1 << 63)],
    "u64": [0, 7, LIMIT, LIMIT + 1, 1 << 63, (1 << 64) - 1],
    "i8": [-128, 127],
    "u32": [0, (1 << 32) - 1],
}


@pytest.mark.parametrize("type", NUMBERS)
def test_numbers_of_arrays_are_the_same_at_the_ends_of_their_types(type):
    """Each expression is the larger of one element and 0; an array without elements gives 0."""
    array = ir.Array("a", SCALARS[type], 1)
    expressions = [
        ("max", ("read", "a", type, "param", (index,), (("extent", "a", 0),)), 0, "i64")
        for index in range(-1, len(NUMBERS[type]) + 1)
    ]
    kernel = ir.Kernel(
        "sizes", (), (array,), sizing_body(ir.Kernel("k", (), (array,), ir.Block()), expressions)
    )
    found = ir.replace(kernel, returns=(i64,) * len(expressions))
    for step, _ in PASSES:
        found = step(found)
    memory = {"a": np.array(NUMBERS[type], f"{'u' if type[0] == 'u' else 'i'}{int(type[1:]) // 8}")}
    wanted = [value_of(each, leaf_in(memory)) for each in expressions]
    assert wanted[0] == wanted[-1] == 0
    assert [number in range(LIMIT + 1) or -1 < -number < LIMIT + 1 for number in NUMBERS[type]] == [
        value >= 0 for value in wanted[1:-1]
    ]
    assert list(compare(found, memory)[1]) == wanted


def test_the_host_leaves_long_ranges_to_the_device():
    k = kernel_of(["for _ in range(b[i]):", f"    {STEP}"])
    ((expression),) = [stack.capacity for stack in stacks_of(k, arguments())]
    memory = flat_of(arguments() | {"x": floats(*[0.1] * 100), "b": np.arange(100, dtype=np.int32)})
    assert evaluate(expression, leaf_in(memory), most_steps=100) == 99
    with pytest.raises(TooManySteps):
        evaluate(expression, leaf_in(memory), most_steps=99)


# Random ones


@st.composite
def bounds(draw, names, depth=2):
    if depth == 0:
        return draw(st.sampled_from([*names, "n", "2", "-1", "x.shape[0]", "b[i]", "at[i]"]))
    left, right = draw(bounds(names, depth - 1)), draw(bounds(names, depth - 1))
    form = draw(
        st.sampled_from(
            [
                "{0} + {1}", "{0} - {1}", "{0} * {1}", "min({0}, {1})", "max({0}, {1})", "{0} // 3", "({0}) % 5",
                "b[({0}) % 5]", "b[min(max({0}, 0), 4)]", "at[({0}) % 4]", "abs({0})", "-({0})",
                "cg.select({0} > {1}, {0}, {1})", "u[({0}) % 4] // 64", "({0}) >> 1", "cg.cast({0}, i8)",
                "({0}) * 90", "cg.cast({0}, u8)",
            ]
        )
    )  # fmt: skip
    return form.format(f"({left})", f"({right})")


@st.composite
def nests(draw):
    """Loops in loops."""
    lines, names, indent = [], ["i"], ""
    for number in range(draw(st.integers(1, 3))):
        name, step = f"j{number}", draw(st.sampled_from([1, 1, 2, -1, -2]))
        begin, end = draw(bounds(names, 1)), draw(bounds(names))
        if draw(st.integers(0, 4)) == 0:
            lines.append(f"{indent}m{number} = {draw(bounds(names, 1))}")
            names.append(f"m{number}")
        if draw(st.integers(0, 5)) == 0:
            lines.append(f"{indent}if {draw(bounds(names, 0))} > 1:")
            indent += "    "
        lines.append(
            f"{indent}for {name} in range(min(max({begin}, -9), 9), min(max({end}, -9), 9), {step}):"
        )
        names.append(name)
        indent += "    "
        lines.append(f"{indent}v = cg.sin(v)")
    return lines


def agree(lines, numbers, n, targets):
    given = arguments(n) | {"b": np.array(numbers, np.int32)}
    for value, count in sizes(kernel_of(lines), targets=targets, **given):
        assert value is None or value == -1 or value >= count


RANDOM = (nests(), st.lists(st.integers(-3, 9), min_size=5, max_size=5), st.integers(-2, 4))


@settings(max_examples=25, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(*RANDOM)
def test_the_host_the_sizer_and_counting_agree_about_random_loops(lines, numbers, n):
    agree(lines, numbers, n, ("interpreter",))


@pytest.mark.nightly
@settings(max_examples=2500, deadline=None, suppress_health_check=list(HealthCheck))
@given(*RANDOM)
def test_host_sizer_and_counting_agree_about_many_random_loops(lines, numbers, n):
    agree(lines, numbers, n, None)


# On disk


def test_expressions_are_the_same_from_disk():
    k = kernel_of(["for j in range(b[i]):", "    for _ in range(b[j % 5] - at[i]):", f"        {STEP}"])
    for stack in stacks_of(k, arguments()):
        text = artifact_cache.json.loads(artifact_cache.json.dumps(stack.capacity))
        assert artifact_cache._tuples(text) == stack.capacity
