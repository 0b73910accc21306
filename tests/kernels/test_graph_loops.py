# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Requirements of loops between the tasks of a graph kernel, a law each, for each lowering of a loop; and the flags
that loops accept. graph_kernel_laws.py lists them."""

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs import testing
from tests.compiler.rig import function_of
from tests.kernels.graph_kernels import array, body, counted, counters, f32_1d, i32_0d, i32_1d


def flag(value):
    return array(value, cg.i32)


def test_the_body_runs_again_as_long_as_the_flag_is_not_0(lowering):
    """A counter runs out, a flag is written; any number but 0 is once more"""

    @cg.kernel(graph=True, loop=lowering)
    def search(x: i32_1d, wanted: cg.i32, at: i32_0d, go: i32_0d):
        while cg.graph_do_while(go):
            at[()] += 1
            go[()] = 0 if x[at[()]] == wanted else -at[()] - 1

    x = array([5, 3, 9, 1, 7], cg.i32)
    for wanted, place in ((7, 4), (3, 1), (5, 0), (9, 2)):
        at, go = flag(-1), flag(1)
        search(x, wanted, at, go)
        assert (at[()], go[()]) == (place, 0)
    assert counters(search) == counted(lowering)
    counting, x = cg.kernel(body, graph=True, loop=lowering), array(np.zeros(40), cg.i32)
    total = 0
    for rounds in (1, 2, 17, 1, 300):
        c = flag(rounds)
        counting(x, c)
        total += rounds
        assert c[()] == 0
        np.testing.assert_array_equal(x.to_numpy(), np.full(40, total))
    assert counters(counting) == counted(lowering)


def test_the_body_runs_at_least_once(lowering):
    """The flag keeps the last value that the body wrote"""

    @cg.kernel(graph=True, loop=lowering)
    def once(x: i32_1d, go: i32_0d):
        while cg.graph_do_while(go):
            for i in x:
                x[i] += 1
            go[()] = 0

    x = array([0, 0], cg.i32)
    for calls, start in enumerate((1, 0, -5, 2**31 - 1, 0), 1):
        go = flag(start)
        once(x, go)
        assert (x.to_numpy().tolist(), go[()]) == ([calls] * 2, 0)


def test_tasks_of_a_body_stay_in_order(lowering):
    """Loops, bare statements and locals of the body, which do not commute"""

    @cg.kernel(graph=True, loop=lowering)
    def mixed(x: f32_1d, y: f32_1d, c: i32_0d):
        while cg.graph_do_while(c):
            for i in x:
                y[i] = x[i] * 2
            t = y[0] + 1
            for i in y:
                x[i] = y[i] - t
            x[0] = x[0] * 3
            for i in x:
                x[i] = x[i] + y[i]
            c[()] -= 1

    x, y = np.array([1, 2, 3], "f4"), np.zeros(3, "f4")
    mine = array(x), array(y)
    mixed(*mine, flag(4))
    for _ in range(4):
        y = x * 2
        x = y - (y[0] + 1)
        x[0] *= 3
        x = x + y
    np.testing.assert_array_equal(mine[0].to_numpy(), x)
    np.testing.assert_array_equal(mine[1].to_numpy(), y)


def nest(x: i32_1d, a: i32_0d, b: i32_0d, c: i32_0d, d: i32_0d):
    x[0] = x[0] * 2
    while cg.graph_do_while(a):
        b[()] = 2
        while cg.graph_do_while(b):
            c[()] = b[()]
            while cg.graph_do_while(c):
                for i in range(1, x.shape[0]):
                    x[i] += 1
                c[()] -= 1
            b[()] -= 1
        for i in x:
            x[i] = x[i] * 3
        a[()] -= 1
    while cg.graph_do_while(d):
        x[0] = x[0] + 10
        d[()] -= 1
    for i in x:
        x[i] = -x[i]


def nest_in_python(x, a, d):
    x[0] *= 2
    for _ in range(a):
        x[1:] += 1 + 2
        x *= 3
    x[0] += 10 * d
    return -x


def test_loops_stand_in_each_other_beside_each_other_and_beside_tasks(lowering):
    """The handle of an inner loop is armed in each round of the outer one, all of them in each launch"""
    kernel = cg.kernel(nest, graph=True, loop=lowering)
    for number, (a, d) in enumerate(((1, 1), (3, 2), (2, 5), (1, 1))):
        x = array([1, 0, 2], cg.i32)
        flags = flag(a), flag(9), flag(9), flag(d)
        kernel(x, *flags)
        np.testing.assert_array_equal(x.to_numpy(), nest_in_python(np.array([1, 0, 2]), a, d))
        assert [each[()] for each in flags] == [0] * 4
        assert counters(kernel) == counted(lowering, replayed=number > 0)
    if lowering == "conditional":  # six tasks, as many statements between loops, four loops
        assert kernel.graph_stats.nodes == kernel.graph_stats.tasks + 4


def test_each_launch_arms_the_loop_anew_and_replays_one_graph(lowering):
    kernel, x, c = cg.kernel(body, graph=True, loop=lowering), array([0], cg.i32), flag(0)
    total = 0
    for number in range(50):
        c.fill(number % 4 + 1)
        kernel(x, c)
        total += number % 4 + 1
        assert counters(kernel) == counted(lowering, replayed=number > 0)
    assert (x[0], c[()]) == (total, 0)
    assert kernel.graph_stats.lowering == lowering


def test_flags_may_alternate_a_thousand_times(lowering):
    """No exception, nothing built again, the right result"""
    kernel, x = cg.kernel(body, graph=True, loop=lowering), array([0, 0], cg.i32)
    flags = flag(0), flag(0), flag(0)
    total = 0
    for number in range(1000):
        mine = flags[number % 2 if number < 900 else number % 3]
        mine.fill(1 + number % 3)
        kernel(x, mine)
        total += 1 + number % 3
    assert x.to_numpy().tolist() == [total] * 2
    assert [each[()] for each in flags] == [0] * 3
    assert counters(kernel) == counted(lowering)


def test_only_nodes_whose_arguments_changed_are_set_in_bodies_too(driver):
    """The flag is an argument of the task that counts, and of no other"""
    if driver.kind != "host":
        pytest.skip("only the host driver counts calls")
    kernel = cg.kernel(nest, graph=True, loop="conditional")
    x, y, (a, b, c, d, e) = array([1, 2], cg.i32), array([1, 2], cg.i32), (flag(1) for _ in range(5))

    def set_nodes(*arguments):
        for each in arguments[1:]:
            each.fill(1)
        with testing.calls() as made:
            kernel(*arguments)
        assert made["cuGraphLaunch"] == 1
        assert not any("Memcpy" in name or "Update" in name or "Instantiate" in name for name in made)
        return made["cuGraphExecNodeSetParams"]

    kernel(x, a, b, c, d)
    assert set_nodes(x, a, b, c, d) == 0
    tasks = kernel.explain(x, a, b, c, d).tasks

    def takers(name):
        return sum(name in task.parameters for task in tasks)

    assert set_nodes(x, a, b, c, e) == takers("d") == 1
    assert set_nodes(x, a, b, d, e) == takers("c") == 2
    assert set_nodes(x, a, c, d, e) == takers("b") == 3
    assert set_nodes(y, a, c, d, e) == takers("x")
    assert set_nodes(y, a, c, d, e) == 0
    assert counters(kernel) == (1, 1, True)


def test_the_device_decides_without_the_host(driver):
    """A call is one launch, however many rounds there are, and waits for none of them"""
    if driver.kind != "host":
        pytest.skip("only the host driver counts calls")
    kernel, x, c = cg.kernel(body, graph=True), array([0], cg.i32), flag(1)
    kernel(x, c)
    assert kernel.graph_stats.lowering != "host"
    c.fill(100)
    kernel(x, c)
    c.fill(100)
    with testing.calls() as made:
        kernel(x, c)
    assert made["cuGraphLaunch"] == 1
    assert not any("Synchronize" in name or "Memcpy" in name or name == "cuLaunchKernel" for name in made)
    assert x[0] == 201


def test_all_lowerings_agree(lowering):
    """The lowering that runs on the host is among them"""
    for rounds in (1, 3, 6):
        found = []
        for loop in (lowering, "host"):
            kernel = cg.kernel(nest, graph=True, loop=loop)
            x = array(np.arange(70), cg.i32)
            kernel(x, flag(rounds), flag(0), flag(0), flag(2))
            assert kernel.graph_stats.lowering == loop
            found.append(x.to_numpy())
        np.testing.assert_array_equal(*found)


# Which flags there may be.


@cg.data_oriented
class Simulation:
    def __init__(self, n, rounds):
        self.x, self.go, self.count = array(np.zeros(n), cg.i32), flag(rounds), cg.field(cg.i32, ())

    @cg.kernel(graph=True)
    def run(self):
        while cg.graph_do_while(self.go):
            for i in self.x:
                self.x[i] += 1
            self.go[()] -= 1

    @cg.kernel(graph=True)
    def count_down(self):
        while cg.graph_do_while(self.count):
            self.x[0] += 10
            self.count[()] -= 1


def test_a_member_of_self_may_be_the_flag():
    """An array that comes with a call, or a field that is a part of the code"""
    one, two = Simulation(3, 4), Simulation(5, 2)
    for each, rounds in ((one, 4), (two, 2)):
        each.run()
        assert each.x.to_numpy().tolist() == [rounds] * each.x.size
        each.count.fill(rounds)
        each.count_down()
        assert (each.x[0], each.count[()]) == (rounds + 10 * rounds, 0)
    assert counters(two.run) == (1, 1, True)  # one kernel: the arrays are arguments
    for kernel in (Simulation.run, Simulation.count_down):
        kernel.forget()


def test_a_field_may_be_the_flag(lowering):
    """By its name, or as a template, with an entry each"""
    fields = [cg.field(cg.i32, ()) for _ in range(2)]

    @cg.kernel(graph=True, loop=lowering)
    def count(x: i32_1d, f: cg.template):
        while cg.graph_do_while(f):
            x[0] += 1
            f[()] -= 1

    x = array([0], cg.i32)
    for field in (*fields, *fields):
        field.fill(3)
        count(x, field)
        assert field[()] == 0
    assert x[0] == 12
    assert counters(count) == counted(lowering, graphs=2, builds=2)


def test_a_function_may_hold_the_loop(lowering):
    """The parameter of the function is the flag of its caller."""

    @cg.func
    def repeat(x, c: i32_0d):
        while cg.graph_do_while(c):
            for i in x:
                x[i] += 1
            c[()] -= 1

    @cg.kernel(graph=True, loop=lowering)
    def twice(x: i32_1d, a: i32_0d, b: i32_0d):
        repeat(x, a)
        repeat(x, b)

    x = array([0, 0], cg.i32)
    for a, b in ((1, 2), (5, 1)):
        twice(x, flag(a), flag(b))
    assert x.to_numpy().tolist() == [9, 9]
    assert counters(twice) == counted(lowering)


def test_array_may_be_the_flag_of_two_loops(lowering):
    """The second loop begins with what the first has left"""

    @cg.kernel(graph=True, loop=lowering)
    def both(x: i32_1d, a: i32_0d, b: i32_0d):
        while cg.graph_do_while(a):
            x[0] += 1
            a[()] -= 1
        b[()] += 3
        while cg.graph_do_while(b):
            x[0] += 10
            b[()] -= 1

    x, same, other = array([0], cg.i32), flag(2), flag(2)
    both(x, same, same)
    assert (x[0], same[()]) == (32, 0)
    other.fill(2)
    same.fill(1)
    both(x, other, same)
    assert (x[0], same[()], other[()]) == (32 + 2 + 40, 0, 0)
    assert counters(both) == counted(lowering)


# Misuse: each of these is refused with the line, and never runs once. tests/compiler/test_graph_flow.py has what is
# written; here is what is called.

MISUSE = {
    "an unknown name": "while cg.graph_do_while(nowhere):\n    x[0] = 1",
    "a number": "while cg.graph_do_while(n):\n    x[0] = 1",
    "an array of one dimension": "while cg.graph_do_while(x):\n    x[0] = 1",
    "an array of floats": "while cg.graph_do_while(f):\n    x[0] = 1",
    "an array of another integer": "while cg.graph_do_while(u):\n    x[0] = 1",
    "its value": "while cg.graph_do_while(c[()]):\n    x[0] = 1",
    "a constant": "while cg.graph_do_while(1):\n    x[0] = 1",
    "a name as a string": "while cg.graph_do_while('c'):\n    x[0] = 1",
    "not": "while not cg.graph_do_while(c):\n    x[0] = 1",
    "and": "while cg.graph_do_while(c) and n > 0:\n    x[0] = 1",
    "below if": "if n > 0:\n    while cg.graph_do_while(c):\n        x[0] = 1",
    "below for": "for i in range(n):\n    while cg.graph_do_while(c):\n        x[0] = 1",
    "below while": "while n > x[0]:\n    while cg.graph_do_while(c):\n        x[0] = 1",
    "as an expression": "x[0] = cg.graph_do_while(c)",
    "as a statement": "cg.graph_do_while(c)",
    "in if": "if cg.graph_do_while(c):\n    x[0] = 1",
    "two flags": "while cg.graph_do_while(c, c):\n    x[0] = 1",
    "none": "while cg.graph_do_while():\n    x[0] = 1",
    "left by break": "while cg.graph_do_while(c):\n    x[0] = 1\n    break",
}


@pytest.mark.parametrize("words", MISUSE)
def test_misuse_is_refused_and_nothing_runs(words):
    lines = "".join(f"    {line}\n" for line in MISUSE[words].splitlines())
    parameters = "x: ndarray(i32, 1), c: ndarray(i32, 0), f: ndarray(f32, 0), u: ndarray(u32, 0), n: i32"
    kernel = cg.kernel(function_of(f"def k({parameters}):\n{lines}"), graph=True)
    x, u = array([7], cg.i32), cg.ndarray(cg.u32, ())
    for _ in range(2):  # the second call tries again, and says the same
        with pytest.raises(cg.CompileError, match=r"graph_do_while|nowhere|body") as caught:
            kernel(x, flag(1), array(1.0), u, 3)
        assert "line 2" in str(caught.value) or "line 3" in str(caught.value) or "line 4" in str(caught.value)
    assert x[0] == 7
    assert counters(kernel) == (0, 0, False)


def test_a_flag_of_another_type_in_a_call_is_refused():
    """Where the parameter says nothing of it, the compiler does; else the call"""

    @cg.kernel(graph=True)
    def loose(x: i32_1d, c: cg.types.NDArray):
        while cg.graph_do_while(c):
            x[0] += 1
            c[()] -= 1

    x = array([0], cg.i32)
    for wrong in (cg.ndarray(cg.i64, ()), cg.ndarray(cg.f32, ()), cg.ndarray(cg.u8, ()), flag([1])):
        with pytest.raises(cg.CompileError, match=r"the flag of cg\.graph_do_while"):
            loose(x, wrong)
    loose(x, flag(2))
    assert x[0] == 2
    strict = cg.kernel(body, graph=True)
    for wrong, error in ((cg.ndarray(cg.i64, ()), TypeError), (flag([1]), ValueError), (1, TypeError)):
        with pytest.raises(error, match="'c'"):
            strict(x, wrong)
    assert x[0] == 2


def test_a_loop_needs_the_flag_of_the_decorator():
    plain, x = cg.kernel(body), array([0], cg.i32)
    with pytest.raises(
        cg.CompileError, match=r"(?s)graph_do_while is for graph kernels.*@cg\.kernel\(graph=True\)"
    ):
        plain(x, flag(3))
    assert x[0] == 0
