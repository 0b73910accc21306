# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: in a kernel with checkpoints the resume point and the flag that ended a call decide which top-level loops and
checkpoints run. All targets agree with a model in Python."""

import enum
from random import Random

import numpy as np
import pytest

from cuda_graphs.compiler.errors import (
    CompileCheckpointError,
    CompileError,
    CompileSectionError,
    CompileSyntaxError,
    CompileTypeError,
)
from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.pipeline import lower
from tests.compiler.rig import TARGETS, cg, compare, flattened, function_of

i32_1d = cg.ndarray(cg.i32, 1)
i32_0d = cg.ndarray(cg.i32, 0)
SEED = 7


class Stage(enum.IntEnum):
    FIRST = 4
    SECOND = 2
    THIRD = 9


ALL = (
    ("conditional", (*TARGETS, "gpu")),
    ("embedded", ("interpreter", "gpu")),
    ("host", ("interpreter",)),
)
FEW = (("conditional", ("interpreter", "x86")),)


def run(function, start=0, ways=ALL, **arguments):
    """Runs on all targets and lowerings, which must agree; returns the interpreter's result."""
    flat = {"random.seed": SEED, "checkpoint.start": start}
    flat |= {path: value for name, given in arguments.items() for path, value in flattened(name, given)}
    results = []
    for graph, targets in ways:
        specs = specialise(function, arguments)
        program, _ = lower(function, specs, graph=graph, checkpoints=True, verify_ir=True)
        results.append(compare(program, flat, targets=targets)[0])
    for found in results[1:]:
        for name, value in results[0].items():
            np.testing.assert_array_equal(found[name], value)
    return results[0]


def labels_of(function, **arguments):
    program, _ = lower(function, specialise(function, arguments), graph="conditional", checkpoints=True)
    return program.kernel.checkpoints


def zeros(count=3):
    return np.zeros(count, "i4")


def flag(value=0):
    return np.array(value, "i4")


def straight(x: i32_1d, a: i32_0d, b: i32_0d):
    x[0] += 1
    with cg.checkpoint(Stage.FIRST, yield_on=a):
        for i in range(1, 2):
            x[i] += 10
    for i in range(2, 3):
        x[i] += 100
    with cg.checkpoint(Stage.SECOND, yield_on=b):
        for i in range(3, 4):
            x[i] += 1000
    with cg.checkpoint(7):
        for i in range(4, 5):
            x[i] += 10000


def straight_in_python(start, a, b):
    x, point = [1, 0, 0, 0, 0], start
    for number, amount, stops in ((1, 10, a), (2, 100, 0), (3, 1000, b), (4, 10000, 0)):
        if point <= number:
            point = 0
            x[number] = amount
            if stops:
                break
    return x


@pytest.mark.parametrize("start", range(5))
@pytest.mark.parametrize(("a", "b"), [(0, 0), (1, 0), (0, 5), (-1, 1)])
def test_a_flag_ends_a_call_and_a_resume_begins_at_its_label(start, a, b):
    ways = ALL if (start, a, b) in ((0, 0, 5), (3, 0, 0)) else FEW
    found = run(straight, start, ways, x=zeros(5), a=flag(a), b=flag(b))
    assert found["x"].tolist() == straight_in_python(start, a, b)
    assert (found["a"], found["b"]) == (a, b)  # only the user writes flags


def test_numbers_are_dense_in_the_order_of_the_source():
    found = labels_of(straight, x=zeros(5), a=flag(), b=flag())
    assert found == ((4, "Stage.FIRST"), (None, None), (2, "Stage.SECOND"), (7, None))


def in_a_loop(x: i32_1d, c: i32_0d, stop: i32_0d):
    while cg.graph_do_while(c):
        with cg.checkpoint(0, yield_on=stop):
            for _ in range(1):
                x[0] += 1
                stop[()] = 1 if x[0] == 3 else 0
        for i in range(1, 2):
            x[i] += 1
        with cg.checkpoint(1):
            for _ in range(1):
                x[2] += 1
                c[()] -= 1


def test_a_yield_ends_the_loops_around():
    found = run(in_a_loop, x=zeros(), c=flag(5), stop=flag())
    assert (found["x"].tolist(), found["c"], found["stop"]) == ([3, 2, 2], 3, 1)


def test_a_resume_goes_on_in_the_loop_and_its_later_rounds_are_whole():
    found = run(in_a_loop, 2, x=np.array([3, 2, 2], "i4"), c=flag(3), stop=flag())
    assert (found["x"].tolist(), found["c"]) == ([5, 5, 5], 0)
    found = run(in_a_loop, 3, x=np.array([3, 2, 2], "i4"), c=flag(3), stop=flag())
    assert (found["x"].tolist(), found["c"]) == ([5, 4, 5], 0)


def loops_around(x: i32_1d, c: i32_0d, d: i32_0d, e: i32_0d, stop: i32_0d):
    while cg.graph_do_while(c):
        x[0] += 1
        c[()] -= 1
    while cg.graph_do_while(d):
        for _ in range(1):
            x[1] += 1
            d[()] -= 1
    with cg.checkpoint(5, yield_on=stop):
        for _ in range(1):
            x[2] += 1
    while cg.graph_do_while(e):
        x[3] += 1
        e[()] -= 1
    while cg.graph_while(x[4] < 3):
        x[4] += 1


def test_loops_before_the_label_and_after_a_yield_are_skipped():
    """A resume that entered them would start with counters of 0 and run almost for ever."""
    arguments = {"c": flag(2), "d": flag(3), "e": flag(4)}
    found = run(loops_around, x=zeros(5), stop=flag(1), **arguments)
    assert found["x"].tolist() == [2, 3, 1, 0, 0]
    assert (found["c"], found["d"], found["e"]) == (0, 0, 4)
    found = run(loops_around, 2, x=found["x"], c=found["c"], d=found["d"], e=found["e"], stop=flag(0))
    assert found["x"].tolist() == [2, 3, 2, 4, 3]
    assert (found["c"], found["d"], found["e"]) == (0, 0, 0)
    assert run(loops_around, x=zeros(5), stop=flag(0), **arguments)["x"].tolist() == [2, 3, 1, 4, 3]


def nested_in_a_checkpoint(x: i32_1d, c: i32_0d, stop: i32_0d):
    with cg.checkpoint(0):
        while cg.graph_do_while(c):
            for i in range(2):
                x[i] += 1
            c[()] -= 1
        if cg.graph_if(x[0] > 2):
            for _ in range(1):
                x[3] += 1
    with cg.checkpoint(1, yield_on=stop):
        for i in range(2, 3):
            x[i] += 1


def test_a_checkpoint_may_hold_loops_between_tasks():
    found = run(nested_in_a_checkpoint, x=zeros(4), c=flag(3), stop=flag(1))
    assert found["x"].tolist() == [3, 3, 1, 1]
    found = run(nested_in_a_checkpoint, 2, x=zeros(4), c=flag(0), stop=flag(1))
    assert (found["x"].tolist(), found["c"]) == ([0, 0, 1, 0], 0)


def branches(x: i32_1d, n: cg.i32, stop: i32_0d):
    if cg.graph_if(n > 1):
        with cg.checkpoint(0, yield_on=stop):
            for _ in range(1):
                x[0] += 1
        x[1] += 1
    else:
        with cg.checkpoint(1, yield_on=stop):
            for _ in range(1):
                x[2] += 1
        x[3] += 1
    match cg.graph_switch(n):
        case 0:
            x[4] += 1
        case 2:
            for _ in range(1):
                x[5] += 1
    if cg.graph_if(n):
        x[6] += 1


@pytest.mark.parametrize("n", [0, 2])
@pytest.mark.parametrize("stop", [0, 1])
def test_branches_hold_checkpoints_and_are_skipped_as_a_whole(n, stop):
    taken = [1, 1, 0, 0] if n > 1 else [0, 0, 1, 1]
    after = [0, 0, 0] if stop else [int(n == 0), int(n == 2), int(n != 0)]
    ways = ALL if n == stop == 0 else FEW
    assert run(branches, 0, ways, x=zeros(7), n=n, stop=flag(stop))["x"].tolist() == taken + after
    after = [int(n == 0), int(n == 2), int(n != 0)]
    assert run(branches, 3, FEW, x=zeros(7), n=n, stop=flag(0))["x"].tolist() == [0, 0, 0, 0] + after


@cg.func
def add(x, at):
    for _ in range(1):
        x[at] += 1


def static_parts(x: i32_1d, stop: i32_0d):
    """A docstring."""
    for at in cg.static(range(2)):
        with cg.checkpoint(at, yield_on=stop):
            """Another."""
            add(x, at)
            if cg.static(at == 1):
                cg.loop_config(serialize=True)
                for i in range(2):
                    x[2] += i
    add(x, 3)


def test_static_control_flow_and_functions_are_in_checkpoints():
    found = labels_of(static_parts, x=zeros(4), stop=flag())
    assert [label for label, _ in found] == [0, 1, None]
    assert run(static_parts, x=zeros(4), stop=flag())["x"].tolist() == [1, 1, 1, 1]
    assert run(static_parts, x=zeros(4), stop=flag(1))["x"].tolist() == [1, 0, 0, 0]
    assert run(static_parts, 2, x=zeros(4), stop=flag())["x"].tolist() == [0, 1, 1, 1]


def carried(x: i32_1d, stop: i32_0d):
    n = x[0] + 2
    with cg.checkpoint(0, yield_on=stop):
        for i in range(n):
            x[i] += n
    m = n + 1
    with cg.checkpoint(1):
        for i in range(m - 1, m):
            x[i] += m


def test_statements_between_checkpoints_always_run():
    assert run(carried, x=zeros(5), stop=flag())["x"].tolist() == [2, 2, 3, 0, 0]
    assert run(carried, 2, x=zeros(5), stop=flag())["x"].tolist() == [0, 0, 3, 0, 0]


def without_any(x: i32_1d):
    x[0] += 1


def test_a_kernel_may_have_no_checkpoint():
    assert run(without_any, x=zeros(1))["x"].tolist() == [1]
    assert labels_of(without_any, x=zeros(1)) == ()


def written(body):
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"def k(x: ndarray(i32, 1), c: ndarray(i32, 0), f: ndarray(f32, 0), n: i32):\n{lines}"


ARGUMENTS = {"x": zeros(2), "c": flag(1), "f": np.array(1, "f4"), "n": 1}
LOOP = "    for i in x:\n        x[i] = 1"
AT_1 = f"with cg.checkpoint(1):\n{LOOP}\n"


class Other(enum.Enum):
    ONE = 1


MISTAKES = [
    (CompileCheckpointError, "takes a label", "with cg.checkpoint():  #!\n    pass"),
    (CompileCheckpointError, "takes a label", "with cg.checkpoint(1, c, c):  #!\n    pass"),
    (CompileCheckpointError, "takes a label", "with cg.checkpoint(1, flag=c):  #!\n    pass"),
    (CompileCheckpointError, "takes a label", "with cg.checkpoint(yield_on=c):  #!\n    pass"),
    (CompileCheckpointError, "takes a label", "with cg.checkpoint(1, label=1):  #!\n    pass"),
    (CompileCheckpointError, "takes a label", "with cg.checkpoint(*(1, c)):  #!\n    pass"),
    (CompileCheckpointError, "the label of cg.checkpoint is 'a'", "with cg.checkpoint('a'):  #!\n    pass"),
    (CompileCheckpointError, "the label of cg.checkpoint is 1.5", "with cg.checkpoint(1.5):  #!\n    pass"),
    (CompileCheckpointError, "the label of cg.checkpoint is True", "with cg.checkpoint(True):  #!\n    pass"),
    (CompileCheckpointError, "the label of cg.checkpoint is None", "with cg.checkpoint(None):  #!\n    pass"),
    (CompileCheckpointError, "the label of cg.checkpoint is the parameter 'n'", "with cg.checkpoint(n):  #!\n    pass"),
    (CompileCheckpointError, "the label of cg.checkpoint is", "with cg.checkpoint(Other.ONE):  #!\n    pass"),
    (CompileCheckpointError, "the label 1 is used twice", AT_1 + "with cg.checkpoint(1):  #!\n    pass"),
    (CompileCheckpointError, "is used twice",
     "with cg.checkpoint(4):\n    pass\nwith cg.checkpoint(Stage.FIRST):  #!\n    pass"),
    (CompileCheckpointError, "is used twice",
     "for j in cg.static(range(2)):\n    with cg.checkpoint(3):  #!\n        pass"),
    (CompileTypeError, "yield_on of cg.checkpoint is the array 'x' of 1 dimensions",
     "with cg.checkpoint(1, yield_on=x):  #!\n    pass"),
    (CompileTypeError, "yield_on of cg.checkpoint is the array 'f' of 0 dimensions of f32",
     "with cg.checkpoint(1, yield_on=f):  #!\n    pass"),
    (CompileTypeError, "yield_on of cg.checkpoint is the parameter 'n'",
     "with cg.checkpoint(1, yield_on=n):  #!\n    pass"),
    (CompileTypeError, "yield_on of cg.checkpoint is", "with cg.checkpoint(1, yield_on=c[()]):  #!\n    pass"),
    (CompileCheckpointError, "cg.checkpoint is in another one",
     "with cg.checkpoint(1):\n    with cg.checkpoint(2):  #!\n        pass"),
    (CompileCheckpointError, "cg.checkpoint is in another one",
     "with cg.checkpoint(1):\n    while cg.graph_do_while(c):\n        with cg.checkpoint(2):  #!\n            pass"),
    (CompileCheckpointError, "not at the kernel top level", "if n:\n    with cg.checkpoint(1):  #!\n        pass"),
    (CompileCheckpointError, "not at the kernel top level",
     "for i in x:\n    with cg.checkpoint(1):  #!\n        pass"),
    (CompileCheckpointError, "not at the kernel top level",
     "while n > 3:\n    with cg.checkpoint(1):  #!\n        pass"),
    (CompileCheckpointError, "holds only loops", "with cg.checkpoint(1):\n    x[0] = 1  #!"),
    (CompileCheckpointError, "holds only loops", f"with cg.checkpoint(1):\n{LOOP}\n    c[()] -= 1  #!"),
    (CompileCheckpointError, "holds only loops", "with cg.checkpoint(1):\n    t = x[0]  #!"),
    (CompileCheckpointError, "holds only loops", "with cg.checkpoint(1):\n    cg.atomic_add(x[0], 1)  #!"),
    (CompileCheckpointError, "holds only loops", "with cg.checkpoint(1):\n    print(n)  #!"),
    (CompileCheckpointError, "holds only loops", "with cg.checkpoint(1):\n    if n > 1:  #!\n        x[0] = 1"),
    (CompileCheckpointError, "holds only loops", "with cg.checkpoint(1):\n    while x[0] > 1:  #!\n        x[0] -= 1"),
    (CompileCheckpointError, "holds only loops", "with cg.checkpoint(1):\n    bare(x)  #.#!"),
    (CompileCheckpointError, "is in a function that is called", "in_function(x)  #.#!"),
    (CompileCheckpointError, "is a statement of its own", "cg.checkpoint(1)  #!"),
    (CompileCheckpointError, "is a statement of its own", "with cg.checkpoint(1) as p:  #!\n    pass"),
    (CompileCheckpointError, "is a statement of its own", "with cg.checkpoint(1), cg.checkpoint(2):  #!\n    pass"),
    (CompileSectionError, "in a kernel with checkpoints", "with cg.graph_parallel():  #!\n    pass"),
]  # fmt: skip


@cg.func
def bare(x):
    x[0] = 1


@cg.func
def in_function(x):
    with cg.checkpoint(1):
        for i in x:
            x[i] = 1


@pytest.mark.parametrize(
    ("kind", "words", "body"), MISTAKES, ids=[f"{i}-{m[1]}" for i, m in enumerate(MISTAKES)]
)
def test_checkpoints_without_a_meaning_are_refused(kind, words, body):
    source = written(body)
    k = function_of(source, Other=Other, Stage=Stage, bare=bare, in_function=in_function)
    with pytest.raises(CompileError, match=words) as caught:
        lower(k, specialise(k, ARGUMENTS), graph="conditional", checkpoints=True)
    assert type(caught.value) is kind
    assert caught.value.remedy
    if "#.#!" not in body:  # which is in a function
        lines = [number for number, line in enumerate(source.splitlines(), 1) if "#!" in line]
        assert [caught.value.loc.line] == lines


def test_checkpoints_are_for_kernels_that_say_so():
    k = function_of(written("with cg.checkpoint(1):\n    pass"))
    with pytest.raises(
        CompileCheckpointError, match=r"is for kernels with checkpoints\n(.*\n)*.*checkpoints=True"
    ):
        lower(k, specialise(k, ARGUMENTS), graph="conditional")
    with pytest.raises(CompileSyntaxError, match=r"is for graph kernels"):
        lower(k, specialise(k, ARGUMENTS))


def test_without_checkpoints_loops_have_no_gates():
    program, _ = lower(add_all, specialise(add_all, {"x": zeros()}), graph="conditional")
    assert program.plan == (0,)
    program, _ = lower(add_all, specialise(add_all, {"x": zeros()}), graph="conditional", checkpoints=True)
    gate, branch = program.plan
    assert (gate, branch.kind, branch.plans) == (0, "if", ((1,),))


def add_all(x: i32_1d):
    for i in x:
        x[i] += 1


def nested(x: i32_1d, c: i32_0d, d: i32_0d, stop: i32_0d):
    while cg.graph_do_while(c):
        for _ in range(1):
            d[()] = 2
            x[0] += 1
        while cg.graph_do_while(d):
            with cg.checkpoint(7, yield_on=stop):
                for _ in range(1):
                    x[1] += 1
                    stop[()] = 1 if x[1] == 3 else 0
            for _ in range(1):
                d[()] -= 1
                x[2] += 1
        for _ in range(1):
            c[()] -= 1
            x[3] += 1


def test_a_yield_ends_all_loops_around_and_a_resume_goes_into_all_of_them():
    found = run(nested, x=zeros(4), c=flag(3), d=flag(0), stop=flag())
    assert (found["x"].tolist(), found["c"], found["d"], found["stop"]) == ([2, 3, 2, 1], 2, 2, 1)
    found = run(nested, 2, x=found["x"], c=found["c"], d=found["d"], stop=found["stop"])
    assert (found["x"].tolist(), found["c"], found["d"], found["stop"]) == ([3, 7, 6, 3], 0, 0, 0)


class Program:
    """A random kernel of loops, checkpoints and loops between tasks, as a source and as a model in Python.

    Each loop adds to an element of its own. A checkpoint counts those that ran, and yields at the number `at`.
    """

    ROUNDS = 2

    def __init__(self, random):
        self.random, self.loops, self.counters, self.numbers = random, 0, 0, 0
        self.body = self.statements(2)

    def statements(self, depth):
        return [self.statement(depth) for _ in range(self.random.randint(2, 3))]

    def statement(self, depth):
        kind = self.random.choice(
            ["loop", "checkpoint", "while"] if depth and self.counters < 3 else ["loop", "checkpoint"]
        )
        if kind == "while":
            counter, self.counters = self.counters, self.counters + 1
            seed = self.loop()
            body = [*self.statements(depth - 1), self.loop()]
            return ("while", counter, seed, body, self.numbers)
        if kind == "loop":
            return self.loop()
        self.numbers += 1
        self.loops += 1
        return ("checkpoint", self.numbers, self.loops - 1)

    def loop(self):
        self.numbers += 1
        self.loops += 1
        return ("loop", self.numbers, self.loops - 1)

    def source(self):
        lines = ["def k(x: ndarray(i32, 1), ran: ndarray(i32, 0), stop: ndarray(i32, 0), at: i32,"]
        lines[0] += " c0: ndarray(i32, 0), c1: ndarray(i32, 0), c2: ndarray(i32, 0)):"
        self.write(self.body, lines, "    ")
        return "".join(f"{line}\n" for line in lines)

    def write(self, body, lines, pad, counter=None):
        for place, statement in enumerate(body):
            kind, first, second = statement[:3]
            if kind == "loop":
                ends = counter is not None and place == len(body) - 1
                lines += [f"{pad}for _ in range(1):", f"{pad}    x[{second}] += 1"]
                lines += [f"{pad}    c{counter}[()] -= 1"] if ends else []
            elif kind == "checkpoint":
                lines += [f"{pad}with cg.checkpoint({first}, yield_on=stop):", f"{pad}    for _ in range(1):"]
                inner = (f"x[{second}] += 1", "ran[()] += 1", "stop[()] = 1 if ran[()] == at else 0")
                lines += [f"{pad}        {line}" for line in inner]
            else:
                lines += [f"{pad}for _ in range(1):", f"{pad}    x[{second[2]}] += 1"]
                lines += [
                    f"{pad}    c{first}[()] = {self.ROUNDS}",
                    f"{pad}while cg.graph_do_while(c{first}):",
                ]
                self.write(statement[3], lines, pad + "    ", first)

    def model(self, state, start, at):
        """Changes the state; the label that yielded, or None."""
        self.state, self.point, self.at, self.yielded = state, start, at, None
        self.run(self.body)
        return self.yielded

    def enters(self, number):
        runs = self.point <= number
        self.point = 0 if runs else self.point
        return runs

    def run(self, body, counter=None):
        for place, statement in enumerate(body):
            kind, first, second = statement[:3]
            if kind == "while":
                self.round_of(statement)
            elif self.enters(first):
                self.state["x"][second] += 1
                if kind == "checkpoint":
                    self.state["ran"] += 1
                    self.state["stop"] = int(self.state["ran"] == self.at)
                    if self.state["stop"]:
                        self.point, self.yielded = float("inf"), first
                elif counter is not None and place == len(body) - 1:
                    self.state[f"c{counter}"] -= 1

    def round_of(self, statement):
        _, counter, seed, body, last = statement
        if self.enters(seed[1]):
            self.state["x"][seed[2]] += 1
            self.state[f"c{counter}"] = self.ROUNDS
        again = self.point <= last
        while again:
            self.run(body, counter)
            again = self.state[f"c{counter}"] != 0 and self.point != float("inf")


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_end_and_go_on_as_their_models_do(seed):
    program = Program(Random(seed))
    k = function_of(program.source())
    state = {"x": [0] * program.loops, "ran": 0, "stop": 0, "c0": 0, "c1": 0, "c2": 0}
    start, at = 0, Random(seed).randint(1, 6)
    for _ in range(3):
        arrays = {name: np.array(value, "i4") for name, value in state.items()}
        found = run(k, start, FEW, at=at, **arrays)
        label = program.model(state, start, at)
        assert {name: found[name].tolist() for name in state} == state
        if label is None:
            break
        start, at = label, at + 2
