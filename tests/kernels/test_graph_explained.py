# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: `explain` lists the values that are fixed in the code, with their lines, the parameters that each call may
change, the tasks, and the lowering of the loops between them, with its reason. `graph` returns the nodes of a call as a
definition like any other. Neither runs a kernel."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import cuda_graphs as cg
from tests.kernels.graph_kernels import (
    array,
    body,
    checked,
    count_down,
    f32_1d,
    i32_0d,
    i32_1d,
    on_the_host,
    seed,
    two,
)

SCALE = 3
TABLE = [1, 2]


def line_of(kernel, words):
    """ "file.py:12" of the line of its source that has these words."""
    function = getattr(kernel, "__wrapped__", kernel)
    lines = Path(__file__).read_text().splitlines()
    first = function.__code__.co_firstlineno
    number = next(n for n in range(first, first + 20) if words in lines[n - 1])
    return f"{__file__}:{number}"


def baked(found):
    return {each.name: each.value for each in found.baked}


def sources(found):
    return {each.name: each.source for each in found.baked}


def scale(x: f32_1d, c: i32_0d, amount: cg.f32, times: cg.template):
    while cg.graph_do_while(c):
        for i in x:
            x[i] = x[i] * SCALE
        for i in x:
            x[i] = x[i] + amount * times
        c[()] -= 1


def test_explanation_tells_fixed_values_from_parameters(lowering):
    kernel = cg.kernel(scale, graph=True, loop=lowering, fuse=False)
    x, c = array([1, 2]), array(2, cg.i32)
    found = kernel.explain(x, c, times=5, amount=1.0)
    assert (found.kernel, baked(found)) == ("scale", {"SCALE": 3, "times": 5})
    assert sources(found) == {"SCALE": line_of(kernel, "* SCALE"), "times": line_of(kernel, "* times")}
    assert set(found.parameters) == {"x", "x.shape[0]", "c", "amount"}
    assert [task.is_parallel for task in found.tasks] == [True, True, False]
    assert [set(task.parameters) - {"c"} for task in found.tasks[:2]] == [
        {"x", "x.shape[0]"},
        {"x", "x.shape[0]", "amount"},
    ]
    assert "c" in found.tasks[2].parameters
    lines = found.tasks[0].source, found.tasks[2].source
    assert lines == (f"{__file__}:{line_number(kernel, 2)}", line_of(kernel, "c[()] -= 1"))
    assert (found.lowering, found.why) == (lowering, f'the kernel sets loop="{lowering}"')
    launches = {"scale_0_resident"} if lowering == "resident" else {None}
    assert {task.launch for task in found.tasks} == launches
    text = str(found)
    for words in (
        f"runs as {lowering}: ",
        f"SCALE = 3  ({line_of(kernel, '* SCALE')})",
        f"times = 5  ({line_of(kernel, '* times')})",
        "), parallel",
        "), one thread",
        "parameters: ",
    ):
        assert words in text
    assert (x.to_numpy().tolist(), c[()]) == ([1, 2], 2)  # nothing ran
    assert (kernel.graph_stats.graphs, kernel.graph_stats.builds) == (0, 0)


def line_number(kernel, below):
    return kernel.__wrapped__.__code__.co_firstlineno + below


def test_explained_lowering_is_the_one_that_a_call_runs(lowering):
    kernel = cg.kernel(scale, graph=True, loop=lowering, fuse=False)
    found = kernel.explain(array([1]), array(1, cg.i32), 1.0, 2)
    kernel(array([1]), array(1, cg.i32), 1.0, 2)
    assert kernel.graph_stats.lowering == found.lowering
    assert kernel.graph_stats.tasks == len(found.tasks)


@dataclasses.dataclass
class Settings:
    data: cg.types.NDArray
    mode: cg.template
    gain: cg.f32


def test_members_of_structs_open_types_and_fields_are_explained():
    field, offsets = cg.field(cg.f32, 2), cg.field(cg.f32, 2)
    vector = cg.types.NDArray[cg.f32, 1]

    @cg.kernel(graph=True)
    def settle(s: Settings, y: vector, z: vector | None, f: cg.template):
        for i in s.data:
            if cg.static(s.mode == "fast"):
                s.data[i] = y[i] * s.gain + f[i]
        for i in y:
            y[i] = offsets[i] + cg.static(TABLE[1])

    found = settle.explain(Settings(array([1, 2]), "fast", 0.5), array([1, 2]), None, field)
    names = baked(found)
    assert (names["s.mode"], names["z"], names["TABLE"]) == ("fast", None, [1, 2])
    assert (names["s.data.dtype"], names["s.data.ndim"]) == (cg.f32, 1)
    assert not {"y.dtype", "y.ndim", "s.data", "s.gain", "y"} & set(names)
    assert names["f"].shape == (2,)
    assert names["offsets"] is offsets
    places = sources(found)
    assert places["s.mode"] == line_of(settle, "cg.static(s.mode")
    assert places["f"] == line_of(settle, "+ f[i]")
    assert places["offsets"] == places["TABLE"] == line_of(settle, "offsets[i]")
    assert {"s.data", "s.gain", "y"} <= set(found.parameters)


@cg.func
def offset(v):
    return v + SCALE


def test_constants_of_functions_that_are_inlined_are_explained_with_their_line():
    @cg.kernel(graph=True)
    def shift(x: f32_1d):
        for i in x:
            x[i] = offset(x[i])

    found = shift.explain(array([1]))
    assert (baked(found), sources(found)) == (
        {"SCALE": 3},
        {"SCALE": line_of(offset.__cuda_graphs_func__, "+ SCALE")},
    )


@cg.func(inline=False)
def cube(v):
    return v * v * v


@cg.func(inline=False, max_depth=16)
def factorial(n: cg.i32) -> cg.i32:
    return 1 if n < 2 else n * factorial(n - 1)


@cg.func(inline=False)
def larger(v: cg.types.vec3, n: cg.i32) -> cg.types.vec3:
    return v * cube(cg.f32(n))


@pytest.mark.parametrize("options", [{}, {"graph": True, "chain": "resident"}, {"debug": True}])
def test_functions_that_are_called_are_explained(options):
    @cg.kernel(**options)
    def run(x: f32_1d, n: i32_1d):
        for i in x:
            x[i] = offset(cube(x[i]))
        for i in n:
            n[i] = factorial(n[i]) + cube(n[i])
            x[i] += larger(cg.vec3(1, 2, 3), n[i]).y

    found = run.explain(array([1]), array([1], cg.i32))
    first, second = (task.name for task in found.tasks)
    described = {(each.name, each.signature): (each.source, each.tasks) for each in found.functions}

    def source(function, below=1):
        first = function.__cuda_graphs_func__.__code__.co_firstlineno
        return f"{__file__}:{first + below}"

    assert described == {
        ("cube", "(f32) -> f32"): (source(cube), (first, second)),
        ("factorial", "(i32) -> i32"): (source(factorial), (second,)),
        ("cube", "(i32) -> i32"): (source(cube), (second,)),
        ("larger", "(f32, f32, f32, i32) -> f32, f32, f32"): (source(larger), (second,)),
    }
    assert f"cube(f32) -> f32  ({source(cube)}), called by {first}, {second}" in str(found)
    assert "factorial" in found._repr_html_()
    assert "offset" not in {each.name for each in found.functions}  # it is inlined
    assert run.explain(array([1]), array([1], cg.i32)) == found


def test_a_kernel_without_called_functions_does_not_mention_them():
    found = two.explain(1.0, array([1]), array([1]))
    assert found.functions == ()
    assert "functions that are called" not in str(found)


@cg.data_oriented
class Model:
    def __init__(self):
        self.x, self.rate, self.go = array([1, 2]), 0.5, array(1, cg.i32)

    @cg.kernel(graph=True)
    def step(self):
        while cg.graph_do_while(self.go):
            for i in self.x:
                self.x[i] *= self.rate
            self.go[()] = 0


def test_members_of_self_are_explained():
    model = Model()
    found = model.step.explain()
    assert baked(found)["self.rate"] == 0.5
    assert {"self.x", "self.go"} <= set(found.parameters)
    assert model.x.to_numpy().tolist() == [1, 2]
    kinds = sorted(type(node).__name__ for node in model.step.graph().nodes())
    assert kinds == ["KernelNode", "WhileNode"]
    Model.step.forget()


def test_the_reason_for_a_lowering_is_given():
    x, c = array([0], cg.i32), array(2, cg.i32)
    assert "debug=True" in checked.explain(x, c).why
    assert 'loop="host"' in on_the_host.explain(x, c).why
    found = count_down.explain(x, c)
    assert found.lowering != "host"
    assert found.why
    plain = cg.kernel(two.__wrapped__).explain(1.0, array([1]), array([1]))
    assert (plain.lowering, "no graph kernel" in plain.why) == (None, True)


def test_call_with_wrong_arguments_cannot_be_explained():
    with pytest.raises(TypeError):
        two.explain(1.0)
    with pytest.raises(TypeError, match="'x'"):
        two.graph(1.0, 2.0, array([1]))

    @cg.kernel(graph=True)
    def wrong(x: f32_1d):
        x[0] = nowhere  # noqa: F821

    for ask in (wrong.explain, wrong.graph):
        with pytest.raises(cg.CompileError, match="nowhere"):
            ask(array([1]))


# kernel.graph


def test_the_graph_of_a_call_can_be_looked_at(stream, tmp_path):
    x, c = array([0, 0], cg.i32), array(2, cg.i32)
    g = count_down.graph(x, c)
    assert isinstance(g, cg.GraphDef)
    kinds = [type(node) for node in g.nodes()]
    assert sorted(kind.__name__ for kind in kinds) == [
        "KernelNode",
        "WhileNode",
    ]  # the first arms the condition
    (loop,) = (node for node in g.nodes() if isinstance(node, cg.WhileNode))
    assert len(loop.body.nodes()) == 2
    assert len(g.edges()) == 1
    g.debug_dot_print(str(tmp_path / "g.dot"))
    assert "body" in (tmp_path / "g.dot").read_text()
    assert x.to_numpy().tolist() == [0, 0]
    g.instantiate().launch(stream)
    stream.sync()
    assert x.to_numpy().tolist() == [2, 2]


def test_the_graph_of_a_call_can_be_gone_on_with_and_changed(stream):
    """The graph has the given arguments, and the kernel's own graph is another one."""
    x, y = array([1, 2]), array([0, 0])
    g = two.graph(y=y, x=x, a=3.0)
    (last,) = (node for node in g.nodes() if not node.succ)
    doubled = last.call(two, 1.0, y, x)
    assert len(g.nodes()) == 4
    graph = g.instantiate()
    two(0.0, array([5]), array([5]))
    graph.launch(stream)
    stream.sync()
    # y = 3x = [3, 6], x = y + 1 = [4, 7]; then x += y = [7, 13], y = x + 1
    assert (x.to_numpy().tolist(), y.to_numpy().tolist()) == ([7, 13], [8, 14])
    doubled.destroy()
    assert len(g.nodes()) == 3


def test_the_graph_of_a_call_keeps_what_it_needs(stream):
    @cg.kernel(graph=True)
    def carried(x: i32_1d, c: i32_0d):
        total = 0
        while cg.graph_do_while(c):
            for i in x:
                total += x[i]
            c[()] -= 1
        for i in x:
            x[i] = total

    x, c = array([1, 2, 3], cg.i32), array(2, cg.i32)
    g = carried.graph(x, c)
    carried.forget()
    del carried
    graph = g.instantiate()
    del g
    for rounds, wanted in ((2, 12), (1, 36)):
        seed(c, rounds)
        cg.Device(0).sync()
        graph.launch(stream)
        stream.sync()
        assert x.to_numpy().tolist() == [wanted] * 3


def test_a_kernel_without_the_flag_has_a_graph_of_a_call_too(stream):
    x, y = array([1]), array([1])
    g = cg.kernel(two.__wrapped__).graph(2.0, x, y)
    assert [type(node) for node in g.nodes()] == [cg.KernelNode] * 2
    g.instantiate().launch(stream)
    stream.sync()
    assert (x[0], y[0]) == (4, 3)


def test_arrays_of_the_host_are_in_no_graph_that_is_launched_later(driver):
    """Each launch would have to copy them, unless the device reaches their memory."""
    if driver.kind == "host":
        pytest.skip("the host driver reaches all memory")
    with pytest.raises(ValueError, match="the device cannot access"):
        two.graph(1.0, np.ones(3, "f4"), np.ones(3, "f4"))
    assert two.explain(1.0, np.ones(3, "f4"), np.ones(3, "f4")).tasks


def test_bodies_have_names_that_tell_their_lines():
    tasks = cg.kernel(body, graph=True).explain(array([0], cg.i32), array(1, cg.i32)).tasks
    assert [task.name for task in tasks] == ["body_0_loop", "body_1_serial"]
