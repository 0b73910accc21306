# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: statements in a conditional of a graph kernel run as often as its condition says, on all targets, as Python
would run them; no statement moves into or out of it. Statements without a meaning there are refused."""

import numpy as np
import pytest

from cuda_graphs.compiler.artifact import layout
from cuda_graphs.compiler.errors import (
    CompileError,
    CompileLoopError,
    CompileNameError,
    CompileReturnError,
    CompileSyntaxError,
    CompileTypeError,
    CompileValueError,
)
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.pipeline import lower
from tests.compiler.rig import TARGETS, Field, cg, function_of, run_all
from tests.nested_flow import nested_flow, nested_flow_in_python

f32_1d = cg.ndarray(cg.f32, 1)
i32_1d = cg.ndarray(cg.i32, 1)
i32_0d = cg.ndarray(cg.i32, 0)


def counter(n):
    return np.array(n, "i4")


def run(function, **arguments):
    """All targets agree, a graph of the driver of this process among them, and so do the two ways to arm conditions."""
    found = run_all(function, graph="conditional", targets=(*TARGETS, "gpu"), **arguments)
    embedded = run_all(function, graph="embedded", targets=("interpreter", "gpu"), **arguments)
    resident = [
        run_all(function, graph="resident", chain=chain, targets=(*TARGETS, "gpu"), **arguments)
        for chain in (None, "all")
    ]
    for name, value in found.items():
        for other in (embedded, *resident):
            np.testing.assert_array_equal(other[name], value)
    return found


def bare_store(x: i32_1d, c: i32_0d):
    x[0] = 0
    while cg.graph_do_while(c):
        x[0] = x[0] + 1
        c[()] -= 1


def store_and_loop(x: i32_1d, c: i32_0d):
    x[0] = 7
    while cg.graph_do_while(c):
        for _ in range(1):
            x[1] = x[1] + 1
        c[()] -= 1


def siblings(x: i32_1d, c: i32_0d, d: i32_0d):
    while cg.graph_do_while(c):
        x[0] = x[0] + 1
        c[()] -= 1
    while cg.graph_do_while(d):
        x[0] = x[0] + 10
        d[()] -= 1


def nested(x: i32_1d, c: i32_0d, d: i32_0d):
    while cg.graph_do_while(c):
        x[0] = x[0] + 1
        d[()] = 2
        while cg.graph_do_while(d):
            x[1] = x[1] + 1
            d[()] -= 1
        c[()] -= 1


def seeded(x: i32_1d, c: i32_0d):
    c[()] = 4
    while cg.graph_do_while(c):
        x[0] = x[0] + 1
        c[()] -= 1


def carried(x: i32_1d, c: i32_0d):
    t = 0
    while cg.graph_do_while(c):
        for i in x:
            x[i] += t
        t = t + 1
        c[()] -= 1


def local_of_the_body(x: i32_1d, c: i32_0d):
    while cg.graph_do_while(c):
        t = 5
        for i in x:
            x[i] += t
        t += 1
        for i in x:
            x[i] += t
        c[()] -= 1


DEFECTS = [
    (bare_store, {"c": counter(3)}, [3, 0]),
    (store_and_loop, {"c": counter(3)}, [7, 3]),
    (siblings, {"c": counter(3), "d": counter(2)}, [23, 0]),
    (nested, {"c": counter(3), "d": counter(9)}, [3, 6]),
    (seeded, {"c": counter(1)}, [4, 0]),
    (carried, {"c": counter(3)}, [3, 3]),
    (local_of_the_body, {"c": counter(2)}, [22, 22]),
]


@pytest.mark.parametrize(("function", "flags", "wanted"), DEFECTS, ids=lambda v: getattr(v, "__name__", ""))
def test_nothing_moves_over_the_edge_of_a_loop(function, flags, wanted):
    found = run(function, x=np.zeros(2, "i4"), **flags)
    assert found["x"].tolist() == wanted
    assert all(found[name] == 0 for name in flags)


def bound_from_memory(x: i32_1d, n: i32_0d, c: i32_0d):
    while cg.graph_do_while(c):
        for i in range(n[()]):
            x[i] += 1
        n[()] -= 1
        c[()] = n[()]


def test_bounds_are_read_in_each_round():
    found = run(bound_from_memory, x=np.zeros(5, "i4"), n=counter(4), c=counter(1))
    assert found["x"].tolist() == [4, 3, 2, 1, 0]


def body_first(x: i32_1d, c: i32_0d):
    while cg.graph_do_while(c):
        x[0] += 1
        c[()] = 0


BEFORE = {
    "an extent": ("n = x.shape[0]", 4),
    "of an extent and a parameter": ("n = 2 * x.shape[0] - m", 7),
    "of a parameter": ("n = m * m + 2", 3),
    "of memory": ("n = x.shape[0] + y[0]", 5),
    "several": ("n, k = x.shape[0], y.shape[0]\n    n += k", 8),
}


@pytest.mark.parametrize(
    "around",
    ["while cg.graph_do_while(c):", "while cg.graph_while(c[()] > 0):", "if cg.graph_if(c[()] > 0):"],
)
@pytest.mark.parametrize("what", BEFORE)
def test_values_from_before_a_conditional_are_those_inside_and_behind_it(what, around):
    line, n = BEFORE[what]
    k = function_of(
        "def k(x: ndarray(i32, 1), y: ndarray(i32, 1), c: ndarray(i32, 0), m: i32):\n"
        f"    {line}\n    {around}\n"
        "        for i in x:\n            if i < n - 1:\n                x[i] += n\n"
        "        c[()] -= 1\n"
        "    for i in y:\n        y[i] += n\n"
    )
    found = run(k, x=np.zeros(4, "i4"), y=np.ones(4, "i4"), c=counter(1), m=1)
    np.testing.assert_array_equal(found["x"], np.where(np.arange(4) < n - 1, n, 0))
    np.testing.assert_array_equal(found["y"], np.full(4, 1 + n))


def test_the_body_of_do_while_runs_at_least_once():
    assert run(body_first, x=np.zeros(1, "i4"), c=counter(5))["x"].tolist() == [1]


def test_a_field_may_be_the_flag():
    flag = Field(counter(3), "flag")

    def count(x: i32_1d):
        while cg.graph_do_while(flag):
            x[0] += 1
            flag[()] -= 1

    assert run_all(count, [flag], graph="conditional", x=np.zeros(1, "i4"))["x"].tolist() == [3]


def halve(x: f32_1d, out: i32_1d):
    while cg.graph_while(x[0] > 1.0):
        for i in x:
            x[i] = x[i] / 2
        out[0] += 1


@pytest.mark.parametrize(("start", "rounds"), [(1.0, 0), (2.0, 1), (1000.0, 10)])
def test_graph_while_asks_first(start, rounds):
    found = run(halve, x=np.full(5, start, "f4"), out=np.zeros(1, "i4"))
    assert found["out"].tolist() == [rounds]
    np.testing.assert_array_equal(found["x"], np.full(5, start / 2**rounds, "f4"))


def either(x: i32_1d, n: cg.i32):
    k = n * 2
    if cg.graph_if(k > 4):
        for i in x:
            x[i] = k
    else:
        for i in x:
            x[i] = -k
    x[0] += 100


@pytest.mark.parametrize("n", [0, 2, 3, -7])
def test_graph_if_runs_one_of_its_bodies(n):
    wanted = [2 * n if n > 2 else -2 * n] * 3
    wanted[0] += 100
    assert run(either, x=np.zeros(3, "i4"), n=n)["x"].tolist() == wanted


def without_else(x: i32_1d, n: cg.i32):
    if cg.graph_if(n):
        for i in x:
            x[i] = 1


@pytest.mark.parametrize("n", [0, 1, -1])
def test_graph_if_without_else(n):
    assert run(without_else, x=np.zeros(2, "i4"), n=n)["x"].tolist() == [int(n != 0)] * 2


def chosen(x: i32_1d, n: cg.i64):
    match cg.graph_switch(n):
        case 0:
            x[0] = 1
        case 3:
            for i in x:
                x[i] = 3
        case 1:
            x[1] = 2


@pytest.mark.parametrize("n", [-1, 0, 1, 2, 3, 4, 1 << 32, (1 << 32) + 3])
def test_graph_switch_runs_the_body_of_the_number(n):
    wanted = {0: [1, 0, 0], 3: [3, 3, 3], 1: [0, 2, 0]}.get(n, [0, 0, 0])
    assert run(chosen, x=np.zeros(3, "i4"), n=n)["x"].tolist() == wanted


def test_conditionals_nest_as_python_has_them():
    for rounds in (1, 2, 5):
        found = run(nested_flow, x=np.zeros(3, "i4"), c=counter(rounds), d=counter(0))
        assert found["x"].tolist() == nested_flow_in_python(rounds)


@cg.func
def step(x, c):
    for i in x:
        x[i] += 1
    c[()] -= 1


@cg.func
def rounds(x, c):
    while cg.graph_do_while(c):
        step(x, c)


def through_functions(x: i32_1d, c: i32_0d):
    rounds(x, c)
    x[0] = -x[0]


def test_a_conditional_may_be_in_a_function_that_is_inlined_at_the_top_level():
    assert run(through_functions, x=np.zeros(3, "i4"), c=counter(4))["x"].tolist() == [-4, 4, 4]


def drawn(x: cg.ndarray(cg.u32, 2), c: i32_0d):
    while cg.graph_do_while(c):
        c[()] -= 1
        for i in range(x.shape[1]):
            x[c[()], i] = cg.random(cg.u32)


def drawn_in_blocks(x: cg.ndarray(cg.u32, 2), c: i32_0d):
    while cg.graph_do_while(c):
        c[()] -= 1
        for b, t in cg.blocks(2, 8):
            x[c[()], 8 * b + t] = cg.random(cg.u32)


def test_each_round_of_blocks_draws_other_numbers():
    found = run(drawn_in_blocks, x=np.zeros((3, 16), "u4"), c=counter(3))["x"]
    assert len(np.unique(found)) == found.size


def asks_once(f: f32_1d):
    if (cg.vec2(cg.atomic_add(f[0], 1.0), 2.0) > 3.0).any():
        f[1] = 1.0
    while (cg.vec2(cg.atomic_add(f[2], 1.0), 0.0) > 3.0).any():
        f[3] += 1.0
        f[2] = 0.0


def test_the_test_of_a_plain_statement_is_translated_once():
    assert run_all(asks_once, f=np.array([0, 0, 4, 0], "f4"))["f"].tolist() == [1, 0, 1, 1]


def test_each_round_draws_other_numbers():
    found = run(drawn, x=np.zeros((4, 50), "u4"), c=counter(4))["x"]
    assert len(np.unique(found)) == found.size


def test_a_task_is_what_one_round_runs_and_the_test_of_the_flag_is_in_the_last_serial_one():
    program, _ = lower(
        carried, specialise(carried, {"x": np.zeros(2, "i4"), "c": counter(1)}), graph="conditional"
    )
    first, branch = program.plan
    assert first == 0
    assert (branch.kind, branch.condition.initial, branch.plans) == ("while", 1, ((1, 2),))
    assert len(program.tasks) == 3


MISTAKES = [
    (CompileSyntaxError, "cg.graph_if is a statement of its own", "y = another_name(n)  #!"),
    (CompileLoopError, "loop_config is not followed by a loop",
     "cg.loop_config(block_dim=64)  #!\nif cg.graph_if(n):\n    for i in x:\n        x[i] = 1"),
    (CompileNameError, 'nowhere',
     'while cg.graph_do_while(nowhere):  #!\n    x[0] = 1'),
    (CompileTypeError, "the flag of cg.graph_do_while is the array 'x' of 1 dimensions",
     'while cg.graph_do_while(x):  #!\n    x[0] = 1'),
    (CompileTypeError, "the array 'f' of 0 dimensions of f32",
     'while cg.graph_do_while(f):  #!\n    x[0] = 1'),
    (CompileTypeError, "the parameter 'n'",
     'while cg.graph_do_while(n):  #!\n    x[0] = 1'),
    (CompileTypeError, 'the flag',
     'while cg.graph_do_while(c[()]):  #!\n    x[0] = 1'),
    (CompileTypeError, 'takes one argument',
     'while cg.graph_do_while():  #!\n    x[0] = 1'),
    (CompileTypeError, 'takes one argument',
     'while cg.graph_do_while(c, c):  #!\n    x[0] = 1'),
    (CompileTypeError, 'takes one argument',
     'while cg.graph_do_while(flag=c):  #!\n    x[0] = 1'),
    (CompileSyntaxError, 'not at the kernel top level',
     'if n > 1:\n    while cg.graph_do_while(c):  #!\n        x[0] = 1'),
    (CompileSyntaxError, 'not at the kernel top level',
     'for i in range(n):\n    while cg.graph_do_while(c):  #!\n        x[0] = 1'),
    (CompileSyntaxError, 'not at the kernel top level',
     'while n > 1:\n    while cg.graph_do_while(c):  #!\n        x[0] = 1'),
    (CompileSyntaxError, 'not at the kernel top level',
     'if n > 1:\n    if cg.graph_if(n):  #!\n        x[0] = 1'),
    (CompileSyntaxError, 'a statement of its own',
     'while not cg.graph_do_while(c):  #!\n    x[0] = 1'),
    (CompileSyntaxError, 'a statement of its own',
     'y = cg.graph_do_while(c)  #!'),
    (CompileSyntaxError, 'a statement of its own',
     'cg.graph_do_while(c)  #!'),
    (CompileSyntaxError, 'a statement of its own',
     'if cg.graph_do_while(c):  #!\n    x[0] = 1'),
    (CompileSyntaxError, 'a statement of its own',
     'while cg.graph_if(n):  #!\n    x[0] = 1'),
    (CompileSyntaxError, 'a statement of its own',
     'while cg.graph_while(n) and n:  #!\n    x[0] = 1'),
    (CompileLoopError, 'else of a loop',
     'while cg.graph_do_while(c):  #!\n    x[0] = 1\nelse:\n    x[0] = 2'),
    (CompileLoopError, 'cannot leave a body',
     'while cg.graph_do_while(c):\n    break  #!'),
    (CompileLoopError, 'cannot leave a body',
     'while cg.graph_do_while(c):\n    continue  #!'),
    (CompileReturnError, 'return cannot leave control flow',
     'while cg.graph_do_while(c):\n    return  #!'),
    (CompileTypeError, 'the condition of a while cannot be a f32',
     'while cg.graph_while(f[()]):  #!\n    x[0] = 1'),
    (CompileTypeError, 'the condition of an if cannot be a f32',
     'if cg.graph_if(f[()]):  #!\n    x[0] = 1'),
    (CompileTypeError, 'the value of cg.graph_switch is f32',
     'match cg.graph_switch(f[()]):  #!\n    case 0:\n        x[0] = 1'),
    (CompileSyntaxError, 'a case of cg.graph_switch is a number',
     'match cg.graph_switch(n):\n    case _:  #!\n        x[0] = 1'),
    (CompileSyntaxError, 'a case of cg.graph_switch is a number',
     'match cg.graph_switch(n):\n    case 1 if n > 1:  #!\n        x[0] = 1'),
    (CompileSyntaxError, 'a case of cg.graph_switch is a number',
     'match cg.graph_switch(n):\n    case -1:  #!\n        x[0] = 1'),
    (CompileValueError, 'case 1 is used twice',
     'match cg.graph_switch(n):\n    case 1:\n        x[0] = 1\n    case 1:  #!\n        x[0] = 2'),
    (CompileValueError, 'numbers of cases are below 1024',
     'match cg.graph_switch(n):\n    case 5000:  #!\n        x[0] = 1'),
]  # fmt: skip


def written(body):
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"def k(x: ndarray(i32, 1), c: ndarray(i32, 0), f: ndarray(f32, 0), n: i32):\n{lines}"


ARGUMENTS = {"x": np.zeros(2, "i4"), "c": counter(1), "f": np.array(1, "f4"), "n": 1}


@pytest.mark.parametrize(("kind", "words", "body"), MISTAKES, ids=[m[1] for m in MISTAKES])
def test_graph_flow_without_a_meaning_is_refused(kind, words, body):
    source = written(body)
    k = function_of(source, another_name=cg.graph_if)
    with pytest.raises(CompileError, match=words) as caught:
        lower(k, specialise(k, ARGUMENTS), graph="conditional")
    assert type(caught.value) is kind
    lines = [number for number, line in enumerate(source.splitlines(), 1) if "#!" in line]
    assert [caught.value.loc.line] == lines
    assert caught.value.remedy


def test_a_graph_that_is_a_part_of_others_relies_on_no_initial_condition():
    program, _ = lower(
        carried, specialise(carried, {"x": np.zeros(2, "i4"), "c": counter(1)}), graph="embedded"
    )
    assert program.plan[-1].condition.initial is None


def test_conditions_in_memory_are_temporary_arrays():
    arguments = specialise(nested, {"x": np.zeros(2, "i4"), "c": counter(1), "d": counter(1)})
    program, _ = lower(nested, arguments, graph="host", verify_ir=True)
    assert {"graph.condition.0", "graph.condition.1"} <= {array.path for array in program.temps}
    assert not any(slot.kind == "condition" for task in program.tasks for slot, _ in layout(task))


@pytest.mark.parametrize(
    "test", ["while cg.graph_do_while(c)", "while cg.graph_while(n)", "if cg.graph_if(n)"]
)
def test_conditionals_are_for_graph_kernels(test):
    k = function_of(written(f"{test}:\n    x[0] = 1"))
    with pytest.raises(CompileSyntaxError, match=r"is for graph kernels\n(.*\n)*.*@cg.kernel\(graph=True\)"):
        lower(k, specialise(k, ARGUMENTS))


def changed_in_parallel(x: i32_1d, y: i32_1d, c: i32_0d):
    while cg.graph_do_while(c):
        for i in x:
            y[i] = x[(i * 7 + 3) % x.shape[0]] + 1
        for i in x:
            x[i] = y[i]
            if i == x.shape[0] // 2:
                c[()] -= 1


def until_small(x: f32_1d, y: i32_1d, c: i32_0d):
    while cg.graph_while(x[0] + x[x.shape[0] - 1] > 1.0 or c[()] > 0):
        for i in x:
            x[i] = x[i] / 2
        for i in y:
            y[i] += 1
            if i == 0:
                c[()] -= 1


@pytest.mark.parametrize("size", [1, 65, 300])
def test_the_test_of_a_loop_is_in_a_last_task_that_is_parallel_too(size):
    start, rounds = np.arange(size, dtype="i4"), 5
    wanted, i = start.copy(), np.arange(size)
    for _ in range(rounds):
        wanted = wanted[(i * 7 + 3) % size] + 1
    found = run(changed_in_parallel, x=start, y=np.zeros_like(start), c=counter(rounds))
    np.testing.assert_array_equal(found["x"], wanted)
    found = run(until_small, x=np.full(size, 50, "f4"), y=np.zeros(size, "i4"), c=counter(3))
    assert np.unique(found["y"]).tolist() == [7]  # 2 * 50 / 2**7 is below 1
    for function, x, before in ((changed_in_parallel, start, ()), (until_small, np.zeros(size, "f4"), (0,))):
        signature = specialise(function, {"x": x, "y": start, "c": counter(1)})
        program, _ = lower(function, signature, graph="conditional")
        *first, branch = program.plan
        assert tuple(first) == before  # what asks first
        assert len(branch.plans[0]) == 2
        last = program.tasks[branch.plans[0][-1]].body.body[-1]
        assert isinstance(last, ir.Last)
        assert any(isinstance(each, ir.SetCondition) for each in ir.walk(last.body))
        program, _ = lower(function, signature, graph="embedded")  # which may run twice at the same time
        assert not any(isinstance(each, ir.Last) for task in program.tasks for each in task.body.body)


def test_a_thread_that_an_assert_may_end_tests_no_condition():
    signature = specialise(
        changed_in_parallel, {"x": np.zeros(2, "i4"), "y": np.zeros(2, "i4"), "c": counter(1)}
    )
    program, _ = lower(changed_in_parallel, signature, graph="conditional", debug=True)
    (branch,) = program.plan
    assert branch.plans == ((0, 1, 2),)
    assert program.tasks[2].loop is None
