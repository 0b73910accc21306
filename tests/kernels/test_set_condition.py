# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a kernel with a parameter `c: cg.Condition` sets that condition of its graph, as CUDA C++ does."""

import numpy as np
import pytest

import cuda_graphs as cg

F1 = cg.types.ndarray(cg.f32, ndim=1)
I1 = cg.types.ndarray(cg.i32, ndim=1)


@cg.kernel
def halve(x: F1):
    for i in x:
        x[i] = x[i] * 0.5


@cg.kernel
def above(c: cg.Condition, x: F1, tol: cg.f32):
    cg.set_condition(c, x[0] > tol)


@cg.kernel
def any_above(c: cg.Condition, x: F1, tol: cg.f32):
    cg.set_condition(c, 0)
    for i in x:
        if x[i] > tol:
            cg.set_condition(c, 1)


@cg.kernel
def choose(c: cg.Condition, which: I1):
    cg.set_condition(c, which[0])


@cg.kernel
def choose_wide(c: cg.Condition, which: cg.types.ndarray(cg.i64, ndim=1)):
    cg.set_condition(c, which[0])


@cg.kernel
def add(x: I1, value: cg.i32):
    x[0] = x[0] + value


def floats(*values):
    made = cg.ndarray(cg.f32, len(values))
    made.from_numpy(np.array(values, "f"))
    return made


def ints(*values, dtype=cg.i32, numpy="i4"):
    made = cg.ndarray(dtype, len(values))
    made.from_numpy(np.array(values, numpy))
    return made


def halved(values, tol, some=False):
    """Halve until the first element (or each of `some`) is at most `tol`. The test comes first."""
    x = np.array(values, "f")
    while (x > tol).any() if some else x[0] > tol:
        x = x * np.float32(0.5)
    return x


@pytest.mark.parametrize("tol", [0.25, 100.0, 1e-6])
@pytest.mark.parametrize(("test", "some"), [(above, False), (any_above, True)])
def test_a_loop_whose_condition_a_python_kernel_sets_runs_as_often_as_in_python(stream, test, some, tol):
    start = (3.0, 50.0, 1.0)
    x = floats(*start)
    g = cg.GraphDef()
    c = g.create_condition()
    loop = g.call(test, c, x, tol).while_loop(c)
    loop.body.call(halve, x).call(test, c, x, tol)
    g.instantiate().launch(stream)
    stream.sync()
    np.testing.assert_array_equal(x.to_numpy(), halved(start, tol, some))


def test_a_captured_call_sets_the_condition_of_its_graph(device, stream):
    x = floats(40.0, 1.0)
    with device.create_graph_builder() as gb:
        c = gb.create_condition()
        above(c, x, 1.0, stream=gb)
        with gb.while_loop(c) as body:
            halve(x, stream=body)
            above(c, x, 1.0, stream=body)
    gb.complete().launch(stream)
    stream.sync()
    np.testing.assert_array_equal(x.to_numpy(), halved((40.0, 1.0), 1.0))


def test_launch_takes_a_kernel_that_sets_a_condition(stream):
    x = floats(9.0)
    g = cg.GraphDef()
    c = g.create_condition(default_value=1)
    loop = g.while_loop(c)
    loop.body.launch(None, halve, x).launch(None, above, c, x, 2.0)
    g.instantiate().launch(stream)
    stream.sync()
    assert x.to_numpy()[0] == 1.125


@pytest.mark.parametrize("which", [0, 1, 2, 3, -1])
@pytest.mark.parametrize("dtype", ["i4", "i8"])
def test_a_switch_takes_the_number_that_is_set_as_a_u32(stream, which, dtype):
    kernel, wide = (choose, cg.i32) if dtype == "i4" else (choose_wide, cg.i64)
    n, x = ints(which, dtype=wide, numpy=dtype), ints(0)
    g = cg.GraphDef()
    c = g.create_condition()
    cases = g.call(kernel, c, n).switch(c, 3)
    for number, body in enumerate(cases.branches):
        body.call(add, x, 10 + number)
    g.instantiate().launch(stream)
    stream.sync()
    assert x.to_numpy()[0] == (10 + which if 0 <= which < 3 else 0)


def test_a_wide_number_that_is_not_zero_stays_so(stream):
    n, x = ints(1 << 32, dtype=cg.i64, numpy="i8"), ints(0)
    g = cg.GraphDef()
    c = g.create_condition()
    g.call(choose_wide, c, n).if_then(c).then.call(add, x, 1)
    g.instantiate().launch(stream)
    stream.sync()
    assert x.to_numpy()[0] == 1


@pytest.mark.parametrize("way", ["conditional", "resident", "auto"])
def test_a_graph_kernel_sets_a_condition_of_the_graph_around_it(stream, way):
    @cg.kernel(graph=True, loop=way)
    def rounds(c: cg.Condition, x: I1, y: I1):
        while cg.graph_while(x[0] % 4 != 0):
            for i in x:
                x[i] += 1
        for i in y:
            y[i] += 1
        x[0] += 1
        cg.set_condition(c, x[0] < 20)

    x, y = ints(1, 0), ints(0)
    g = cg.GraphDef()
    c = g.create_condition(default_value=1)
    g.while_loop(c).body.call(rounds, c, x, y)
    g.instantiate().launch(stream)
    stream.sync()
    assert x.to_numpy()[0] == 21
    assert y.to_numpy()[0] == 5


def test_a_call_outside_of_a_graph_is_refused(stream):
    g = cg.GraphDef()
    c, x = g.create_condition(), floats(1.0)
    with pytest.raises(
        RuntimeError, match=r"above\(\) sets a condition of a graph, and its stream is not captured"
    ):
        above(c, x, 1.0)

    @cg.kernel(graph=True)
    def whole(c: cg.Condition, x: F1):
        cg.set_condition(c, x[0] > 1)

    with pytest.raises(RuntimeError, match=r"whole\(\) sets a condition of a graph"):
        whole(c, x, stream=stream)


@pytest.mark.parametrize("wrong", [1, None, 0.5, "c", np.uint64(3), object()])
def test_a_parameter_for_a_condition_takes_nothing_else(wrong):
    g = cg.GraphDef()
    with pytest.raises(TypeError, match=r"parameter 'c' takes a Condition, got .*create_condition"):
        g.call(above, wrong, floats(1.0), 1.0)
    assert not g.nodes()


def test_a_condition_is_no_number():
    g = cg.GraphDef()
    c = g.create_condition()
    with pytest.raises(TypeError, match="'tol'"):
        g.call(above, c, floats(1.0), c)
    with pytest.raises(TypeError, match="'x'"):
        g.call(above, c, c, 1.0)


def refused(kernel, *args):
    with pytest.raises(cg.CompileError) as error:
        cg.GraphDef().call(kernel, *args)
    return str(error.value)


def test_set_condition_refuses_what_is_no_condition_and_floats():
    @cg.kernel
    def number(n: cg.i32, x: F1):
        cg.set_condition(n, 1)

    @cg.kernel
    def real(c: cg.Condition, x: F1):
        cg.set_condition(c, x[0])

    @cg.kernel
    def whole_array(c: cg.Condition, x: F1):
        cg.set_condition(c, x)

    @cg.kernel
    def used(c: cg.Condition, x: F1):
        x[0] = c + 1

    c, x = cg.GraphDef().create_condition(), floats(1.0)
    assert "cg.set_condition sets a condition, not the parameter 'n'" in refused(number, 1, x)
    assert "a condition is an integer or a bool, not f32" in refused(real, c, x)
    assert "the array 'x'" in refused(whole_array, c, x)
    assert "the condition 'c'" in refused(used, c, x)


def test_a_condition_kernel_has_no_gradient():
    @cg.kernel
    def both(c: cg.Condition, x: cg.types.ndarray(cg.f32, ndim=1, needs_grad=True)):
        cg.set_condition(c, x[0] > 1)

    x = cg.ndarray(cg.f32, 1, needs_grad=True)
    with pytest.raises((cg.CompileError, RuntimeError)):
        both.grad(cg.GraphDef().create_condition(), x)
