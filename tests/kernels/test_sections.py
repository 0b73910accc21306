# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: sections are branches of the graph of a call, whatever that is made for; arrays that a call gives them are
apart, or it is refused."""

import dataclasses
import gc

import numpy as np
import pytest

import cuda_graphs as cg
from tests.kernels.graph_kernels import array, f32_1d, i32_0d, i32_1d


def steps(a: i32_1d, b: i32_1d, c: i32_1d, rounds: i32_0d):
    while cg.graph_do_while(rounds):
        for i in a:
            a[i] += 1
        with cg.graph_parallel():
            with cg.graph_section():
                for i in b:
                    b[i] += a[i]
                for i in b:
                    b[i] *= 2
            with cg.graph_section():
                for i in c:
                    c[i] -= a[i]
            with cg.graph_section():
                rounds[()] -= 1
        for i in a:
            a[i] += b[i] + c[i]


def steps_in_numpy(a, b, c, rounds):
    for _ in range(rounds):
        a = a + 1
        b, c = (b + a) * 2, c - a
        a = a + b + c
    return a, b, c


kernel = cg.kernel(steps, graph=True)
on_host = cg.kernel(steps, graph=True, loop="host")
checked = cg.kernel(steps, graph=True, debug=True)


@cg.kernel(graph=True)
def two_sections(x: i32_1d, y: i32_1d):
    with cg.graph_parallel():
        with cg.graph_section():
            for i in x:
                x[i] += 1
        with cg.graph_section():
            for i in y:
                y[i] += 2


def numbers(*values):
    return [array(v, cg.i32) for v in values]


def path_between(first, last):
    """Returns whether a path leads from one node to another."""
    return last in first.succ or any(path_between(node, last) for node in first.succ)


@pytest.mark.parametrize("of", [kernel, on_host, checked], ids=["conditional", "host", "debug"])
def test_every_lowering_does_what_python_does(of):
    of.forget()
    for rounds, size in ((1, 4), (3, 1000), (2, 1)):
        values = np.arange(size), np.ones(size), np.full(size, 3)
        a, b, c, left = numbers(*values, rounds)
        of(a, b, c, left)
        for found, wanted in zip((a, b, c), steps_in_numpy(*values, rounds), strict=True):
            np.testing.assert_array_equal(found.to_numpy(), wanted)
        assert left.to_numpy() == 0
    assert of.graph_stats.builds == (of is kernel)


def test_sections_are_branches_that_one_node_joins():
    x, y = numbers([1], [2])
    g = two_sections.graph(x, y)
    assert sorted(type(node).__name__ for node in g.nodes()) == ["EmptyNode", "KernelNode", "KernelNode"]
    join = next(node for node in g.nodes() if isinstance(node, cg.EmptyNode))
    first, second = join.pred
    assert not path_between(first, second)
    assert not path_between(second, first)
    two_sections(x, y)
    stats = two_sections.graph_stats
    assert (stats.tasks, stats.nodes) == (2, 3)
    assert (x.to_numpy()[0], y.to_numpy()[0]) == (2, 4)
    assert not g.check()


def test_the_inner_order_of_a_section_and_what_is_around_are_kept():
    @cg.kernel(graph=True, fuse=False)
    def around(x: i32_1d, y: i32_1d, z: i32_1d):
        for i in x:
            x[i] += 1
        with cg.graph_parallel():
            with cg.graph_section():
                for i in x:
                    x[i] *= 2
                for i in x:
                    x[i] += 1
            with cg.graph_section():
                for i in y:
                    y[i] += 5
        with cg.graph_parallel():
            with cg.graph_section():
                for i in x:
                    x[i] *= 3
            with cg.graph_section():
                for i in z:
                    z[i] = y[i]
        for i in x:
            x[i] += z[i]

    x, y, z = numbers([1], [1], [0])
    nodes = around.graph(x, y, z).nodes()
    assert len(nodes) == 7 + 2  # tasks, and a join for each region
    around(x, y, z)
    assert x.to_numpy()[0] == ((1 + 1) * 2 + 1) * 3 + 6
    (first,) = [node for node in nodes if not node.pred]
    (last,) = [node for node in nodes if not node.succ]
    assert len(first.succ) == 2
    assert isinstance(last, cg.KernelNode)
    around.forget()


def test_regions_of_one_section_or_of_none_need_no_join():
    @cg.kernel(graph=True)
    def alone(x: i32_1d):
        with cg.graph_parallel():
            pass
        with cg.graph_parallel():  # noqa: SIM117
            with cg.graph_section():
                for i in x:
                    x[i] += 1
        with cg.graph_parallel():
            with cg.graph_section():
                pass
            with cg.graph_section():
                x[0] += 1

    x = array([1, 2], cg.i32)
    alone(x)
    assert (alone.graph_stats.tasks, alone.graph_stats.nodes) == (2, 2)
    assert x.to_numpy().tolist() == [3, 3]
    alone.forget()


def test_sections_go_into_definitions_and_captures(stream):
    values = np.arange(5), np.ones(5), np.full(5, 3)
    wanted = steps_in_numpy(*values, 3)
    before, after = numbers([0], [0])
    a, b, c, left = numbers(*values, 3)

    def in_a_definition():
        g = cg.GraphDef()
        g.call(two_sections, before, after).call(kernel, a, b, c, left).call(two_sections, before, after)
        return g.instantiate()

    def in_a_capture():
        with cg.Device(0).create_graph_builder() as builder:
            two_sections(before, after, stream=builder)
            kernel(a, b, c, left, stream=builder)
            two_sections(before, after, stream=builder)
        nodes = builder.graph_definition.nodes()
        assert sorted(type(node).__name__ for node in nodes).count("EmptyNode") == 2
        for join in (node for node in nodes if isinstance(node, cg.EmptyNode)):
            first, second = join.pred
            assert not path_between(first, second)
            assert not path_between(second, first)
        return builder.complete()

    for count, make in enumerate((in_a_definition, in_a_capture), 1):
        for memory, value in zip((a, b, c), values, strict=True):
            memory.from_numpy(value.astype("i4"))
        left.fill(3)
        make().launch(stream)
        stream.sync()
        for found, value in zip((a, b, c), wanted, strict=True):
            np.testing.assert_array_equal(found.to_numpy(), value)
        assert (before.to_numpy()[0], after.to_numpy()[0]) == (2 * count, 4 * count)


def test_arrays_that_share_memory_are_refused_where_sections_would_race(stream):
    x, y = numbers([1, 2], [3, 4])
    both = r"two_sections\(\): 'x' and 'y' share memory.*lines \d+ and \d+"
    with pytest.raises(ValueError, match=both):
        two_sections(x, x)
    with pytest.raises(ValueError, match=both):
        cg.GraphDef().call(two_sections, y, y)
    with cg.Device(0).create_graph_builder() as builder:
        with pytest.raises(ValueError, match=both):
            two_sections(x, x, stream=builder)
        two_sections(x, y, stream=builder)
    assert x.to_numpy().tolist() == [1, 2]  # nothing ran
    two_sections(x, y)  # and calls go on
    assert (x.to_numpy().tolist(), y.to_numpy().tolist()) == ([2, 3], [5, 6])


def test_the_lines_of_the_sections_are_named():
    line = two_sections.__wrapped__.__code__.co_firstlineno
    x = array([1], cg.i32)
    with pytest.raises(ValueError, match=f"lines {line + 3} and {line + 6}"):
        two_sections(x, x)


def test_parts_of_one_memory_may_touch_but_not_overlap():
    whole = np.zeros(10, "i4")
    two_sections(whole[:5], whole[5:])
    assert whole.tolist() == [1] * 5 + [2] * 5
    with pytest.raises(ValueError, match="share memory"):
        two_sections(whole[:6], whole[5:])
    with pytest.raises(ValueError, match="share memory"):
        two_sections(whole, whole[9:])
    two_sections(whole[:0], whole)  # of no elements
    two_sections(whole[5:5], whole)
    assert whole.tolist() == [5] * 5 + [6] * 5
    gc.collect()


def test_arrays_that_are_only_read_may_be_one():
    @cg.kernel(graph=True)
    def read(a: i32_1d, b: i32_1d, x: i32_1d, y: i32_1d):
        with cg.graph_parallel():
            with cg.graph_section():
                for i in x:
                    x[i] = a[i]
            with cg.graph_section():
                for i in y:
                    y[i] = b[i]

    a, x, y = numbers([1, 2], [0, 0], [0, 0])
    read(a, a, x, y)
    assert x.to_numpy().tolist() == y.to_numpy().tolist() == [1, 2]
    with pytest.raises(ValueError, match="'a' and 'y' share memory"):
        read(y, x, a, y)
    with pytest.raises(ValueError, match="'x' and 'b' share memory"):
        read(a, x, x, y)
    read(x, y, x, y)  # in one section
    read.forget()


def test_other_element_types_share_memory_too():
    @cg.kernel(graph=True)
    def mixed(x: i32_1d, y: f32_1d):
        with cg.graph_parallel():
            with cg.graph_section():
                for i in x:
                    x[i] = 1
            with cg.graph_section():
                for i in y:
                    y[i] = 2.0

    x = np.zeros(4, "i4")
    with pytest.raises(ValueError, match="'x' and 'y' share memory"):
        mixed(x, x.view("f4"))
    mixed(x[:2], x[2:].view("f4"))
    assert x.tolist() == [1, 1, *np.full(2, 2, "f4").view("i4")]
    mixed.forget()


def test_a_field_and_an_array_are_compared_too():
    field = cg.field(cg.i32, 4)

    @cg.kernel(graph=True)
    def fill(x: i32_1d):
        with cg.graph_parallel():
            with cg.graph_section():
                for i in field:
                    field[i] = 1
            with cg.graph_section():
                for i in x:
                    x[i] = 2

    x = array([0, 0], cg.i32)
    fill(x)
    assert (field.to_numpy().tolist(), x.to_numpy().tolist()) == ([1] * 4, [2] * 2)
    seen = cg.from_dlpack(field)
    with pytest.raises(ValueError, match="share memory"):
        fill(seen)
    del seen
    fill.forget()


@dataclasses.dataclass
class Halves:
    left: i32_1d
    right: i32_1d


def test_members_of_structs_and_of_objects_are_compared_by_their_names():
    @cg.kernel(graph=True)
    def fill(halves: Halves, other: i32_1d):
        with cg.graph_parallel():
            with cg.graph_section():
                for i in halves.left:
                    halves.left[i] = 1
            with cg.graph_section():
                for i in halves.right:
                    halves.right[i] = other[i]

    left, right, other = numbers([0, 0], [0, 0], [5, 6])
    fill(Halves(left, right), other)
    assert (left.to_numpy().tolist(), right.to_numpy().tolist()) == ([1, 1], [5, 6])
    with pytest.raises(ValueError, match=r"'halves\.left' and 'halves\.right' share memory"):
        fill(Halves(left, left), other)
    with pytest.raises(ValueError, match=r"'halves\.left' and 'other' share memory"):
        fill(Halves(left, right), left)
    fill.forget()


@cg.data_oriented
class Pair:
    def __init__(self, left, right):
        self.left, self.right = left, right

    @cg.kernel(graph=True)
    def step(self, amount: cg.i32):
        with cg.graph_parallel():
            with cg.graph_section():
                for i in self.left:
                    self.left[i] += amount
            with cg.graph_section():
                for i in self.right:
                    self.right[i] -= amount


def test_kernels_of_classes_have_sections():
    left, right = numbers([0, 0], [0])
    Pair(left, right).step(3)
    assert (left.to_numpy().tolist(), right.to_numpy().tolist()) == ([3, 3], [-3])
    with pytest.raises(ValueError, match=r"'self\.left' and 'self\.right' share memory"):
        Pair(left, left).step(3)
    Pair.step.forget()


def test_many_sections_of_many_tasks_are_run_as_the_graph_says():
    """Each section is a chain that does not commute; a wrong order within it is a wrong number."""

    @cg.kernel(graph=True)
    def chains(a: i32_1d, b: i32_1d, c: i32_1d, d: i32_1d, rounds: i32_0d):
        while cg.graph_do_while(rounds):
            with cg.graph_parallel():
                for number in cg.static(range(4)):
                    with cg.graph_section():
                        for step in cg.static(range(4)):
                            for i in (a, b, c, d)[number]:
                                (a, b, c, d)[number][i] = (a, b, c, d)[number][i] * 3 + step + number
            rounds[()] -= 1

    given = numbers(*([number] * size for number, size in enumerate((1, 700, 33, 5))))
    chains(*given, array(3, cg.i32))
    for number, found in enumerate(given):
        wanted = np.int32(number)
        for step in [0, 1, 2, 3] * 3:
            wanted = np.int32(int(wanted) * 3 + step + number)
        np.testing.assert_array_equal(found.to_numpy(), np.full(found.shape, wanted))
    g = chains.graph(*given, array(3, cg.i32))
    (loop,) = [node for node in g.nodes() if isinstance(node, cg.WhileNode)]
    (join,) = [node for node in loop.body.nodes() if isinstance(node, cg.EmptyNode)]
    assert len(join.pred) == 4
    chains.forget()


def test_sections_of_a_static_loop_write_rows_and_halves_of_one_array():
    @cg.kernel(graph=True)
    def rows(x: cg.types.ndarray(cg.i32, 2), half: cg.i32):
        with cg.graph_parallel():
            for row in cg.static(range(3)):
                with cg.graph_section():
                    for i in range(half):
                        x[row, i] += row * 100 + i
                    for i in range(half):
                        x[row, i] *= 2
                with cg.graph_section():
                    for i in range(half, x.shape[1]):
                        x[row, i] -= i

    x, wanted = cg.ndarray(cg.i32, (3, 1000)), np.zeros((3, 1000), "i4")
    columns = np.arange(1000)
    for half in (400, 1000, 0):
        rows(x, half)
        changed = 2 * (wanted + 100 * np.arange(3)[:, None] + columns)
        wanted = np.where(columns < half, changed, wanted - columns)
        np.testing.assert_array_equal(x.to_numpy(), wanted)
    rows.forget()


def test_wrong_sections_are_an_error_of_the_call_and_the_kernel_works_on():
    @cg.kernel(graph=True)
    def wrong(x: i32_1d, kind: cg.template):
        with cg.graph_parallel():
            with cg.graph_section():
                x[0] = 1
            with cg.graph_section():
                if cg.static(kind == "wrong"):
                    x[0] = 2

    x = array([0, 0], cg.i32)
    with pytest.raises(cg.CompileSectionError, match="the array 'x'") as caught:
        wrong(x, "wrong")
    assert __file__ in str(caught.value)
    wrong(x, "right")
    assert x.to_numpy().tolist() == [1, 0]
    wrong.forget()


def test_words_of_sections_mean_nothing_outside():
    for word in (cg.graph_parallel, cg.graph_section):
        with pytest.raises(RuntimeError, match=word.__name__):
            word()
