# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: sections of a graph kernel run in any order, on all targets, after the tasks before them and before those behind
them. Sections that depend on their order, or stand where they have no meaning, are refused."""

import itertools

import numpy as np
import pytest

from cuda_graphs.compiler.artifact import plan_of
from cuda_graphs.compiler.errors import (
    CompileError,
    CompileLoopError,
    CompileNameError,
    CompileReturnError,
    CompileSectionError,
    CompileSyntaxError,
    UnsupportedSyntaxError,
)
from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.passes.check_sections import disjoint_arrays
from cuda_graphs.compiler.pipeline import LOWERINGS, lower
from tests.compiler.rig import TARGETS, Field, cg, function_of, run_all

i32_1d = cg.ndarray(cg.i32, 1)
i32_0d = cg.ndarray(cg.i32, 0)
f32_2d = cg.ndarray(cg.f32, 2)


def run(function, fields=(), **arguments):
    """All targets agree, in graphs too."""
    found = run_all(function, fields, graph="conditional", targets=(*TARGETS, "gpu"), **arguments)
    for other in ("embedded", "host"):
        again = run_all(function, fields, graph=other, targets=("interpreter",), **arguments)
        for name, value in found.items():
            np.testing.assert_array_equal(again[name], value)
    return found


def program_of(function, **arguments):
    return lower(function, specialise(function, arguments), graph="conditional", verify_ir=True)[0]


def fork(a: i32_1d, b: i32_1d, c: i32_1d):
    for i in a:
        a[i] += 1
    with cg.graph_parallel():
        with cg.graph_section():
            for i in b:
                b[i] = a[i] * 2
            for i in b:
                b[i] += 1
        with cg.graph_section():
            for i in c:
                c[i] = a[i] * 3
    for i in a:
        a[i] = b[i] + c[i]


def test_sections_see_what_is_before_and_are_seen_after():
    found = run(fork, a=np.arange(5, dtype="i4"), b=np.zeros(5, "i4"), c=np.zeros(5, "i4"))
    a = np.arange(1, 6)
    np.testing.assert_array_equal(found["a"], (a * 2 + 1) + a * 3)


def test_the_plan_has_a_branch_for_each_section():
    arguments = dict.fromkeys("abc", np.zeros(5, "i4"))
    assert plan_of(program_of(fork, **arguments).plan) == (0, ("parallel", None, None, ((1, 2), (3,))), 4)


def of_locals(x: i32_1d, y: i32_1d, n: cg.i32):
    scale = n * 2
    left, right = 0, 0
    with cg.graph_parallel():
        with cg.graph_section():
            mine = scale + 1
            for i in x:
                left += x[i] * mine
        with cg.graph_section():
            mine = scale + 2
            for i in y:
                right += y[i] * mine
    x[0] = left + right


def test_variables_that_no_other_section_writes_are_used_in_all():
    found = run(of_locals, x=np.arange(4, dtype="i4"), y=np.arange(6, dtype="i4"), n=5)
    assert found["x"][0] == 6 * 11 + 15 * 12


def in_a_loop(x: i32_1d, y: i32_1d, c: i32_0d):
    while cg.graph_do_while(c):
        with cg.graph_parallel():
            with cg.graph_section():
                for i in x:
                    x[i] += 1
            with cg.graph_section():
                y[0] += 2
        with cg.graph_parallel():
            with cg.graph_section():
                x[0] += y[0]
            with cg.graph_section():
                for i in range(1, y.shape[0]):
                    y[i] += 3
        c[()] -= 1


def test_regions_may_be_in_loops_and_follow_one_another():
    found = run(in_a_loop, x=np.zeros(3, "i4"), y=np.zeros(3, "i4"), c=np.array(3, "i4"))
    assert (found["x"].tolist(), found["y"].tolist()) == ([3 + 2 + 4 + 6, 3, 3], [6, 9, 9])

    def apart(x: i32_1d, y: i32_1d, z: i32_1d, c: i32_0d):
        while cg.graph_do_while(c):
            with cg.graph_parallel():
                with cg.graph_section():
                    for i in x:
                        x[i] += 1
                with cg.graph_section():
                    y[0] += 2
            with cg.graph_parallel():
                with cg.graph_section():
                    x[0] += y[0]
                with cg.graph_section():
                    for i in z:
                        z[i] += y[0]
            c[()] -= 1

    zeros = np.zeros(3, "i4")
    found = run(apart, x=zeros, y=zeros, z=zeros, c=np.array(3, "i4"))
    assert found["x"].tolist() == [3 + 2 + 4 + 6, 3, 3]
    assert found["y"].tolist() == [6, 0, 0]
    assert found["z"].tolist() == [12] * 3
    regions = plan_of(program_of(apart, x=zeros, y=zeros, z=zeros, c=np.array(3, "i4")).plan)[0][3][0]
    assert [step[0] for step in regions[:2]] == ["parallel", "parallel"]


@cg.func
def add(x, amount):
    for i in x:
        x[i] += amount


def by_function(x: i32_1d, y: i32_1d):
    """A docstring, and one in the region."""
    with cg.graph_parallel():
        """The sections below are independent."""
        for amount in cg.static((1, 10)):
            if cg.static(amount == 1):
                with cg.graph_section():
                    add(x, amount)
            else:
                with cg.graph_section():
                    add(y, amount)


def test_static_control_flow_decides_which_sections_there_are():
    found = run(by_function, x=np.zeros(3, "i4"), y=np.zeros(2, "i4"))
    assert (found["x"].tolist(), found["y"].tolist()) == ([1] * 3, [10] * 2)


def few(x: i32_1d):
    with cg.graph_parallel():
        pass
    with cg.graph_parallel():  # noqa: SIM117
        with cg.graph_section():
            x[0] = 1
    with cg.graph_parallel():
        with cg.graph_section():
            pass
        with cg.graph_section():
            for i in x:
                x[i] += 1


def test_a_region_may_have_one_section_or_none_and_a_section_nothing():
    assert run(few, x=np.zeros(2, "i4"))["x"].tolist() == [2, 1]


def drawn(x: cg.ndarray(cg.u32, 1), y: cg.ndarray(cg.u32, 1)):
    with cg.graph_parallel():
        with cg.graph_section():
            for i in x:
                x[i] = cg.random(cg.u32)
        with cg.graph_section():
            for i in y:
                y[i] = cg.random(cg.u32)


def test_loops_in_sections_draw_their_own_random_numbers():
    found = run(drawn, x=np.zeros(30, "u4"), y=np.zeros(30, "u4"))
    assert len(np.unique([found["x"], found["y"]])) == 60


def test_fields_may_be_in_sections():
    first, second = Field(np.zeros(3, "i4"), "first"), Field(np.zeros(3, "i4"), "second")

    def fill(x: i32_1d):
        with cg.graph_parallel():
            with cg.graph_section():
                for i in first:
                    first[i] = 1
            with cg.graph_section():
                for i in second:
                    second[i] = 2
        for i in x:
            x[i] = first[i] + second[i]

    found = run(fill, [first, second], x=np.zeros(3, "i4"))
    assert found["x"].tolist() == [3] * 3
    arguments = specialise(fill, {"x": np.zeros(3, "i4")})
    assert disjoint_arrays(lower(fill, arguments, graph="conditional")[0].kernel) == ()  # known to be


SECTIONS = """
with cg.graph_parallel():
    with cg.graph_section():
        {}
    with cg.graph_section():
        {}
"""


def written(body):
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"def k(x: ndarray(i32, 1), y: ndarray(i32, 1), z: ndarray(f32, 2), c: ndarray(i32, 0), n: i32):\n{lines}"


ARGUMENTS = {
    "x": np.zeros(2, "i4"), "y": np.zeros(2, "i4"), "z": np.zeros((2, 3), "f4"), "c": np.array(1, "i4"), "n": 1,
}  # fmt: skip

# (what is named, statements of one section and of the other); #! marks the line of the error.
DEPENDENT = [
    ("the array 'x'", "x[0] = 1  #!", "x[0] = 2"),
    ("the array 'x'", "x[0] = 1  #!", "y[0] = x[0]"),
    ("the array 'x'", "x[1] = 1  #!", "x[n] = 2"),
    ("the array 'x'", "y[0] = x[n + 1]", "x[n + 1] = 1  #!"),
    ("the array 'x'", "for i in range(3): x[i] = 1  #!", "for i in range(2, 4): x[i] = 1"),
    ("the array 'x'", "for i in range(n): x[i] = 1  #!", "for i in range(n, 9): y[i] = x[i - 1]"),
    ("the array 'x'", "for i in range(n): x[2 * i] = 1  #!", "for i in range(n): x[2 * i + 1] = 1"),
    ("the array 'x'", "for i in range(3, 0, -1): x[i] = 1  #!", "x[0] = 1"),
    ("the array 'x'", "s = 0; s = 1; x[s] = 1  #!", "x[0] = 1"),
    ("the array 'x'", "x[0] = 1  #!", "for i in y: x[y[i]] = 1"),
    ("the array 'z'", "for i in range(3): z[0, i] = 1.0  #!", "for i in range(3): z[i, 0] = 1.0"),
    ("the array 'z'", "for i in range(3): z[n, i] = 1.0  #!", "for i in range(3): z[1, i] = 1.0"),
    ("the array 'x'", "x[0] += 1  #!", "x[0] += 1"),
    ("the array 'x'", "cg.atomic_add(x[0], 1)  #!", "cg.atomic_add(x[0], 1)"),
    ("the array 'x'", "for i in x: x[i] = 1  #!", "for i in y: y[i] = x[i]"),
    ("the array 'x'", "for i in y: cg.atomic_max(x[0], y[i])  #!", "z[0, 0] = x[0]"),
    ("the array 'x'", "for i in range(2): x[i] = 1  #!", "for i in range(x[0]): y[i] = 1"),
    ("the variable 't'", "t = 1  #!", "y[0] = t"),
    ("the variable 't'", "y[0] = t", "t = 1  #!"),
    ("the variable 't'", "t = 1  #!", "t = 2"),
    ("the variable 't'", "for i in x: t += x[i]  #!", "for i in y: t += y[i]"),
    ("the variable 'v'", "v.y = 2.0  #!", "z[0, 0] = v.y"),
    ("the order of random numbers", "x[0] = cg.random(cg.i32)  #!", "y[0] = cg.random(cg.i32)"),
]


@pytest.mark.parametrize(("what", "one", "other"), DEPENDENT)
def test_sections_that_are_not_independent_are_refused(what, one, other):
    source = written("t = 0\nv = cg.vector(1.0, 2.0)" + SECTIONS.format(one, other) + "x[0] += t")
    k = function_of(source)
    sections = [number for number, line in enumerate(source.splitlines(), 1) if "graph_section" in line]
    lines = [number for number, line in enumerate(source.splitlines(), 1) if "#!" in line]
    with pytest.raises(CompileSectionError, match=f"lines {sections[0]} and {sections[1]}") as caught:
        lower(k, specialise(k, ARGUMENTS), graph="conditional")
    assert what in caught.value.cause
    assert [caught.value.loc.line] == lines
    assert (
        f"on line {sections[0] + 1}" in caught.value.cause
        or f"on line {sections[1] + 1}" in caught.value.cause
    )
    assert "put both uses into one section" in caught.value.remedy


INDEPENDENT = [
    ("x[0] = 1", "y[0] = 1"),
    ("x[0] = c[()]", "y[0] = c[()]"),
    ("x[0] = z.shape[0]", "z[0, 0] = 1.0"),
    ("x[0] = t", "y[0] = t"),
    ("s = 1; x[0] = s", "s = 2; y[0] = s"),
    ("x[0] = cg.random(cg.i32)", "for i in y: y[i] = cg.random(cg.i32)"),
    ("x[0] = 1", "x[1] = 2"),
    ("x[0] = 1", "y[0] = x[1]"),
    ("for i in range(3): z[0, i] = 1.0", "for i in range(3): z[1, i] = z[2, i]"),
    ("for i in range(3): z[i, 0] += 1.0", "for i in range(3): cg.atomic_max(z[i, 2], 1.0)"),
    ("for i in range(2): x[i] = 1", "for i in range(2, 9): x[i] = 1"),
    ("for i in range(n): x[i] = 1", "for i in range(n, x.shape[0]): x[i] = 1"),
    ("for i in range(n): x[i] = 1", "for i in range(4): x[i + n] = 1"),
    ("for i in range(3): x[i + 3] = 1", "for i in range(1, 4): x[i - 1] = 1"),
    ("for i in range(x.shape[0] // 2): x[i] = 1", "for i in range(x.shape[0] // 2, x.shape[0]): x[i] = 1"),
    ("for i, j in cg.ndrange(2, (0, 3)): z[i, j] = 1.0", "for i, j in cg.ndrange(2, (3, 6)): z[i, j] = 1.0"),
    ("s = 3; x[s] = 1", "s = 4; x[s] = 1"),
    ("x[n] = 1", "x[n + 1] = 1"),
    ("z[0, n] = 1.0", "z[1, n] = 1.0"),
]


@pytest.mark.parametrize(("one", "other"), INDEPENDENT)
def test_sections_that_are_independent_are_taken(one, other):
    k = function_of(written("t = 0" + SECTIONS.format(one, other)))
    lower(k, specialise(k, ARGUMENTS), graph="conditional", verify_ir=True)


def test_a_field_that_two_templates_name_is_one_field():
    field = Field(np.zeros(3, "i4"), "same")

    def both(x: i32_1d, f: cg.template, g: cg.template):
        with cg.graph_parallel():
            with cg.graph_section():
                for i in f:
                    f[i] = 1
            with cg.graph_section():
                for i in x:
                    x[i] = g[i]

    with pytest.raises(CompileSectionError, match="the field 'same'"):
        lower(both, specialise(both, {"x": np.zeros(3, "i4"), "f": field, "g": field}), graph="conditional")


def test_three_sections_are_compared_each_with_each():
    names = "xyz"
    for one, other in itertools.permutations(range(3), 2):
        texts = ["x[0] = 1", "y[0] = 1", "z[0, 0] = 1.0"]
        place = "[0, 0]" if names[one] == "z" else "[0]"
        texts[other] += f"; t{other} = {names[one]}{place}; c[()] = cg.i32(t{other})"
        body = "with cg.graph_parallel():\n"
        for text in texts:
            body += f"    with cg.graph_section():\n        {text}\n"
        k = function_of(written(body))
        with pytest.raises(CompileSectionError, match=f"the array '{names[one]}'"):
            lower(k, specialise(k, ARGUMENTS), graph="conditional")


def test_the_pairs_of_arrays_that_a_call_must_keep_apart_are_known():
    body = SECTIONS.format("for i in x: x[i] = c[()]", "for i in y: y[i] = c[()] + cg.i32(z[0, 0])")
    k = function_of(written(body))
    program, _ = lower(k, specialise(k, ARGUMENTS), graph="conditional")
    found = {(one[0], other[0]) for one, other, _, _ in disjoint_arrays(program.kernel)}
    assert found == {("x", "y"), ("x", "c"), ("x", "z"), ("c", "y")}
    spans = {span for pair in disjoint_arrays(program.kernel) for span in pair[:2]}
    assert spans == {("x", 1, 4), ("y", 1, 4), ("c", 0, 4), ("z", 2, 4)}
    lines = {pair[2:] for pair in disjoint_arrays(program.kernel)}
    assert lines == {(4, 6)}


REGION = "with cg.graph_parallel():\n    "
MISTAKES = [
    (CompileSectionError, "takes no arguments", "with cg.graph_parallel(2):  #!\n    pass"),
    (CompileSectionError, "takes no arguments",
     REGION + "with cg.graph_section(name='a'):  #!\n        pass"),
    (CompileSectionError, "holds sections only", REGION + "x[0] = 1  #!"),
    (CompileSectionError, "holds sections only", REGION + "for i in cg.static(range(2)):\n        x[i] = 1  #!"),
    (CompileSectionError, "holds sections only", REGION + "y2 = 1  #!\n    with cg.graph_section():\n        pass"),
    (CompileSectionError, "depends on a value known at run time",
     REGION + "if n > 1:\n        with cg.graph_section():  #!\n            x[0] = 1"),
    (CompileSectionError, "depends on a value known at run time",
     REGION + "for i in range(n):\n        with cg.graph_section():  #!\n            x[0] = 1"),
    (CompileSectionError, "is in no cg.graph_parallel", "with cg.graph_section():  #!\n    x[0] = 1"),
    (CompileSectionError, "cg.graph_parallel is in another one",
     REGION + "with cg.graph_section():\n        with cg.graph_parallel():  #!\n            pass"),
    (CompileSectionError, "cg.graph_parallel is in another one",
     REGION + "with cg.graph_parallel():  #!\n        pass"),
    (CompileSectionError, "cg.graph_section is in another one",
     REGION + "with cg.graph_section():\n        with cg.graph_section():  #!\n            pass"),
    (CompileSectionError, "cg.graph_parallel is not at the kernel top level",
     "if n > 1:\n    with cg.graph_parallel():  #!\n        pass"),
    (CompileSectionError, "cg.graph_parallel is not at the kernel top level",
     "for i in range(n):\n    with cg.graph_parallel():  #!\n        pass"),
    (CompileSectionError, "cg.graph_do_while is in a section",
     REGION + "with cg.graph_section():\n        while cg.graph_do_while(c):  #!\n            c[()] -= 1"),
    (CompileSectionError, "cg.graph_if is in a section",
     REGION + "with cg.graph_section():\n        if cg.graph_if(n):  #!\n            x[0] = 1"),
    (CompileSectionError, "holds sections only", REGION + "while cg.graph_do_while(c):  #!\n        c[()] -= 1"),
    (CompileSectionError, "cg.graph_if is in cg.graph_parallel",
     REGION + "if cg.graph_if(n):  #!\n        with cg.graph_section():\n            x[0] = 1"),
    (CompileSectionError, "is in a function that is called", "region(x)  #.#!"),
    (CompileSectionError, "is a statement of its own", "t = cg.graph_parallel()  #!"),
    (CompileSectionError, "is a statement of its own", "cg.graph_section()  #!"),
    (CompileSectionError, "is a statement of its own", "with cg.graph_parallel() as p:  #!\n    pass"),
    (CompileSectionError, "is a statement of its own", "with cg.graph_parallel(), cg.graph_section():  #!\n    pass"),
    (UnsupportedSyntaxError, "with is not supported in kernels", "with open(n) as f:  #!\n    pass"),
    (CompileReturnError, "return cannot leave control flow", REGION + "with cg.graph_section():\n        return  #!"),
    (CompileLoopError, "break cannot leave a body",
     REGION + "for i in cg.static(range(2)):\n        with cg.graph_section():\n            break  #!"),
    (CompileLoopError, "loop_config is not followed by a loop",
     "cg.loop_config(block_dim=64)  #!\nwith cg.graph_parallel():\n    pass"),
    (CompileNameError, "s",
     REGION + "with cg.graph_section():\n        s = 1\nx[0] = s  #!"),
]  # fmt: skip


@cg.func
def one_region(x):
    with cg.graph_parallel():  # noqa: SIM117
        with cg.graph_section():
            x[0] = 1


@pytest.mark.parametrize(
    ("kind", "words", "body"), MISTAKES, ids=[f"{i}-{m[1]}" for i, m in enumerate(MISTAKES)]
)
def test_sections_without_a_meaning_are_refused(kind, words, body):
    source = written(body)
    k = function_of(source, region=one_region)
    with pytest.raises(CompileError, match=words) as caught:
        lower(k, specialise(k, ARGUMENTS), graph="conditional")
    assert type(caught.value) is kind
    assert caught.value.remedy
    if "#.#!" not in body:  # which is in a function
        lines = [number for number, line in enumerate(source.splitlines(), 1) if "#!" in line]
        assert [caught.value.loc.line] == lines


@pytest.mark.parametrize("word", ["graph_parallel", "graph_section"])
def test_sections_are_for_graph_kernels(word):
    k = function_of(written(f"with cg.{word}():\n    pass"))
    with pytest.raises(CompileSyntaxError, match=r"is for graph kernels\n(.*\n)*.*@cg.kernel\(graph=True\)"):
        lower(k, specialise(k, ARGUMENTS))


def test_every_lowering_has_sections():
    arguments = dict.fromkeys("abc", np.zeros(5, "i4"))
    for lowering in LOWERINGS:
        program, _ = lower(fork, specialise(fork, arguments), graph=lowering, verify_ir=True)
        assert len(program.tasks) == 5
