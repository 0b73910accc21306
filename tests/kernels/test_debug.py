# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: with debug=True what goes wrong in a kernel is an exception of its call, and the device goes on."""

import gc

import numpy as np
import pytest

import cuda_graphs as cg
from tests.conftest import wait_until

i32_1d = cg.types.ndarray(cg.i32, ndim=1)


@cg.kernel(debug=True)
def shift(x: i32_1d, y: i32_1d, n: cg.i32):
    for i in range(n):
        y[i] = x[i + 1]


@cg.kernel(debug=True)
def claim(x: i32_1d, scale: cg.f32, low: cg.u8):
    for i in x:
        assert x[i] < 5, f"x is {x[i]} at {i}, {scale:.2f}, {low}"


def test_an_index_outside_is_named_with_its_array_and_line():
    x, y = cg.ndarray(cg.i32, 10), cg.ndarray(cg.i32, 12)
    shift(x, y, 9)
    with pytest.raises(cg.KernelIndexError) as caught:
        shift(x, y, 10)
    text = str(caught.value)
    line = shift.__wrapped__.__code__.co_firstlineno + 3
    assert "index 10 is outside of axis 0 of 'x', which has 10 elements" in text
    assert f'test_debug.py", line {line}, in shift' in text
    assert "y[i] = x[i + 1]" in text
    assert isinstance(caught.value, IndexError)
    with pytest.raises(cg.KernelIndexError, match="index 12 is outside of axis 0 of 'y'"):
        shift(cg.ndarray(cg.i32, 20), y, 13)
    shift(x, y, 9)
    assert y.to_numpy().sum() == 0


def test_negative_indices_are_outside():
    @cg.kernel(debug=True)
    def back(x: cg.types.ndarray(cg.f32, ndim=2), k: cg.i32):
        x[0, k] = 1.0

    with pytest.raises(
        cg.KernelIndexError, match="index -1 is outside of axis 1 of 'x', which has 3 elements"
    ):
        back(np.zeros((2, 3), "f"), -1)


def test_fields_are_checked_too():
    field = cg.field(cg.i32, 4)

    @cg.kernel(debug=True)
    def write(k: cg.i32):
        field[k] = 1

    write(3)
    with pytest.raises(cg.KernelIndexError, match="index 4 is outside of axis 0"):
        write(4)


def test_messages_with_percent_signs_are_pythons():
    @cg.kernel(debug=True)
    def check(n: cg.i32, a: cg.f64):
        assert n < 3, "n is %d, a %5.1f, 100%%" % (n, a)  # noqa: UP031

    check(2, 0.5)
    with pytest.raises(cg.KernelAssertionError, match=r"n is 3, a   0\.5, 100%"):
        check(3, 0.5)


def test_an_assert_that_fails_has_its_message_with_values():
    x = cg.ndarray(cg.i32, 1000)
    claim(x, 0.5, 200)
    x[700] = 9
    with pytest.raises(cg.KernelAssertionError, match=r"x is 9 at 700, 0\.50, 200") as caught:
        claim(x, 0.5, 200)
    assert isinstance(caught.value, AssertionError)
    assert "assert x[i] < 5" in str(caught.value)
    x[700] = 0
    claim(x, 0.5, 200)


def test_asserts_without_debug_are_not_checked():
    free = cg.kernel(claim.__wrapped__)
    x = cg.ndarray(cg.i32, 3)
    x.fill(9)
    free(x, 0.5, 1)
    with pytest.raises(cg.KernelAssertionError):
        claim(x, 0.5, 1)


def test_calls_of_functions_are_in_the_message():
    @cg.func
    def inner(x, i):
        return x[i]

    @cg.kernel(debug=True)
    def outer(x: i32_1d) -> cg.i32:
        return inner(x, 7)

    with pytest.raises(cg.KernelIndexError) as caught:
        outer(np.zeros(7, "i4"))
    assert "in outer" in str(caught.value)
    assert "in inner" in str(caught.value)
    assert outer(np.arange(8, dtype="i4")) == 7


def test_debug_kernels_are_nodes_too(stream):
    x, y = cg.ndarray(cg.i32, 10), cg.ndarray(cg.i32, 10)
    x.fill(3)
    g = cg.GraphDef()
    g.call(shift, x, y, 9)
    g.instantiate().launch(stream)
    stream.sync()
    assert y.to_numpy().tolist() == [3] * 9 + [0]
    shift(x, y, 9)


def wait_for_stream(device, stream):
    stream.sync()


def wait_for_event(device, stream):
    stream.record().sync()


def wait_for_device(device, stream):
    device.sync()


@pytest.mark.parametrize("wait", [wait_for_stream, wait_for_event, wait_for_device])
def test_error_in_a_graph_is_raised_by_the_next_wait(device, stream, wait):
    x, y = cg.ndarray(cg.i32, 10), cg.ndarray(cg.i32, 12)
    x.fill(3)
    g = cg.GraphDef()
    g.call(shift, x, y, g.param("n", cg.i32))
    graph = g.instantiate()
    line = shift.__wrapped__.__code__.co_firstlineno + 3
    for _ in range(2):
        graph.launch(stream, n=10)
        with pytest.raises(
            cg.KernelIndexError, match="index 10 is outside of axis 0 of 'x', which has 10"
        ) as caught:
            wait(device, stream)
        assert f'test_debug.py", line {line}, in shift' in str(caught.value)
        graph.launch(stream, n=9)  # and the graph goes on, as do its stream and its device
        wait(device, stream)
    assert y.to_numpy().tolist() == [3] * 9 + [0] * 3
    shift(x, y, 9)


def test_error_in_a_captured_call_is_raised_by_the_next_wait(device, stream):
    x = cg.ndarray(cg.i32, 20)
    with device.create_graph_builder() as gb:
        claim(x, 0.5, 200, stream=gb)
    graph = gb.complete()
    graph.launch(stream)
    stream.sync()
    x[7] = 9
    graph.launch(stream)
    with pytest.raises(cg.KernelAssertionError, match=r"x is 9 at 7, 0\.50, 200"):
        stream.sync()
    x[7] = 0
    graph.launch(stream)
    stream.sync()


def test_each_call_in_a_graph_tells_of_itself(stream):
    x, y = cg.ndarray(cg.i32, 10), cg.ndarray(cg.i32, 10)
    x.fill(9)
    g = cg.GraphDef()
    g.call(shift, x, y, 10).call(claim, x, 0.5, 1).call(shift, x, y, 9)
    g.instantiate().launch(stream)
    kinds = set()
    for _ in range(2):
        with pytest.raises(cg.KernelError) as caught:
            stream.sync()
        kinds.add(type(caught.value))
    assert kinds == {cg.KernelIndexError, cg.KernelAssertionError}
    stream.sync()
    assert y.to_numpy().tolist() == [9] * 9 + [0]


def test_error_in_a_graph_is_raised_after_the_graph_is_gone(stream):
    x = cg.ndarray(cg.i32, 10)
    x.fill(9)
    g = cg.GraphDef()
    g.call(claim, x, 0.5, 1)
    graph = g.instantiate()
    graph.launch(stream)
    event = stream.record()
    wait_until(lambda: event.is_done)
    del g, graph
    gc.collect()
    with pytest.raises(cg.KernelAssertionError, match="x is 9"):
        stream.sync()
    stream.sync()


def test_a_launch_tells_too(stream):
    x = cg.ndarray(cg.i32, 10)
    x.fill(9)
    cg.launch(stream, None, claim, x, 0.5, 1)
    with pytest.raises(cg.KernelAssertionError, match="x is 9"):
        stream.sync()
    stream.sync()


@cg.kernel(graph=True, debug=True)
def twice(x: i32_1d, n: cg.i32):
    for i in range(n):
        x[i] += 1
    for i in range(n):
        x[i] += 1


def test_a_call_of_a_graph_kernel_raises_and_can_be_made_again(device):
    x = cg.ndarray(cg.i32, 5)
    twice(x, 5)
    words = "index 5 is outside of axis 0 of 'x', which has 5 elements"
    with pytest.raises(cg.KernelIndexError, match=words):
        twice(x, 6)
    device.sync()  # which has nothing more to tell
    x.fill(0)
    twice(x, 5)
    assert x.to_numpy().tolist() == [2] * 5


@cg.kernel(debug=True)
def several(x: i32_1d, v: cg.types.vec(3, cg.i32), out: cg.types.ndarray(cg.vec2, ndim=2), k: cg.i32):
    total = 0
    for i in x:
        total += x[i]
    last = x[k]
    for i, j in out:
        out[i, j] = cg.vec2(0.0, total + last + v.z + x[i + k])
        out[i + k // 5, j] += cg.vec2(1.0, 0.0)


@pytest.mark.parametrize("in_graph", [False, True])
@pytest.mark.parametrize(
    ("k", "words", "at"),
    [
        (0, "", ""),
        (4, "index 4 is outside of axis 0 of 'x', which has 4 elements", "last = x[k]"),
        (-1, "index -1 is outside of axis 0 of 'x', which has 4 elements", "last = x[k]"),
        (-(2**28), "index -268435456 is outside of axis 0 of 'x', which has 4 elements", "last = x[k]"),
        (3, "is outside of axis 0 of 'x', which has 4 elements", "x[i + k]"),
        (5, "index 3 is outside of axis 0 of 'out', which has 3 elements", "out[i + k // 5, j] += "),
    ],
)
def test_each_task_is_checked_with_its_line(stream, in_graph, k, words, at):
    x, out = cg.ndarray(cg.i32, 4 if k < 5 else 9), cg.ndarray(cg.vec2, (3, 3))
    x.fill(1)
    if in_graph:
        g = cg.GraphDef()
        g.call(several, x, (1, 2, 3), out, k)
        g.instantiate().launch(stream)
    try:
        stream.sync() if in_graph else several(x, (1, 2, 3), out, k)
        found = ""
    except cg.KernelIndexError as error:
        found = str(error)
    assert words in found
    assert at in found
    assert (found == "") == (k == 0)
    if k == 0:
        assert out.to_numpy().tolist() == [[[1, 9]] * 3] * 3


PRINTS = """
import cuda_graphs as cg
@cg.kernel
def speak(n: cg.i32, x: cg.f32):
    print("n is", n, f"and x {x:.2f}")
import os
for n in range(2):
    speak(n, 0.5)
    os.write(1, b"called\\n")
"""


def test_a_call_of_a_kernel_that_prints_waits_for_it(run_child, tmp_path):
    script = tmp_path / "prints.py"
    script.write_text(PRINTS)
    done = run_child(f"import runpy; runpy.run_path({str(script)!r})")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "n is 0 and x 0.50\ncalled\nn is 1 and x 0.50\ncalled\n"


def test_a_kernel_shows_what_it_becomes():
    @cg.kernel
    def double(x: cg.types.ndarray(cg.f32, ndim=1)):
        for i in x:
            x[i] = x[i] * 2

    x = np.zeros(3, "f")
    found = double.inspect(x, target="x86")
    assert "parallel for" in found.ir
    assert "define void @double_0_loop" in found.llvm
    assert "vmulps" in found.code or "vaddps" in found.code or "addps" in found.code
    assert repr(found) == f"<Inspection of {double.__qualname__} for x86: 1 tasks; .ir, .llvm, .code>"
    ptx = double.inspect(x=x, target="ptx")
    assert ".entry double_0_loop" in ptx.code
    assert all(text in str(ptx) for text in (ptx.ir, ptx.llvm, ptx.code))
    assert double.inspect(x).target in ("x86", "ptx")
    with pytest.raises(ValueError, match="target must be one of ptx, x86, got 'arm'"):
        double.inspect(x, target="arm")
    assert [task.writes for task in found.artifact.tasks] == [frozenset({"x"})]
