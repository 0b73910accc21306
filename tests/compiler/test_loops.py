# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: loops run over what Python's would, in tasks where nothing around them decides at run time, on every target."""

import warnings

import numpy as np
import pytest

from cuda_graphs.compiler import errors
from cuda_graphs.compiler.ir.interpreter import AssertionFailed
from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.pipeline import lower
from tests.compiler.rig import Field, cg, execute, function_of, run_all

i32s = cg.ndarray(cg.i32, 1)


def zeros(n, code="i4"):
    return np.zeros(n, code)


# (types of the bounds, bounds, step)
BOUNDS = [
    (("i8", "i8"), (-5, 5), 3),
    (("u8", "u8"), (250, 255), 2),
    (("u8", "u8"), (7, 0), -1),
    (("i8", "u8"), (-5, 5), 1),
    (("u8", "i8"), (5, -5), -2),
    (("i16", "u32"), (-3, 4), 1),
    (("u16", "i64"), (3, -4), -1),
    (("u32", "u32"), (2**32 - 4, 2**32 - 1), 1),
    (("i64", "i64"), (2**40, 2**40 + 5), 2),
    (("u64", "u64"), (2**63 + 1, 2**63 + 4), 1),
    (("u64", "u64"), (4, 1), -1),
    (("i8", "u64"), (-3, 4), 1),
    (("u64", "i16"), (2**64 - 1, 5), 1),
    (("i32", "i32"), (2, 2), 1),
    (("i32", "i32"), (5, -5), 1),
    (("i32", "i32"), (-(2**31), -(2**31) + 3), 2),
    (("i32", "i32"), (2**31 - 3, 2**31 - 1), 1),
]


@pytest.mark.filterwarnings("ignore:.*the conversion can lose:cuda_graphs.CompileWarning")
def test_a_range_of_any_integer_types_is_pythons():
    for (first, second), (begin, end), step in BOUNDS:
        body = f"""def kernel(out: ndarray(i64, 1), a: {first}, b: {second}):
    for i in range(a, b, {step}):
        out[0] += 1
        out[1] += i % 1000
    for _ in range(1):
        for j in range(a, b, {step}):
            out[2] = out[2] * 3 + j % 10
"""
        points = range(begin, end, step)
        last = 0
        for j in points:
            last = last * 3 + j % 10
        found = run_all(function_of(body), out=zeros(3, "i8"), a=begin, b=end)["out"]
        assert found.tolist() == [len(points), sum(i % 1000 for i in points), last], (
            first,
            second,
            begin,
            end,
        )


# Steps that come with a call, of each type.
STEPS = {
    "i8": (3, -2, -128, 0),
    "u8": (2,),
    "u64": (2**64 - 1,),
    "i64": (-1, 2**63 - 1),
}
NEAR = [each for each in BOUNDS if each[0] != ("u64", "i16")][::4]
FAR = [
    (("i64", "i64"), (-(2**63), 2**63 - 1), 2**62),
    (("i64", "i64"), (2**63 - 1, -(2**63)), -(2**62)),
    (("u64", "u64"), (0, 2**64 - 1), 2**62),
]


@pytest.mark.parametrize("kind", STEPS)
def test_a_step_may_come_with_a_call(kind):
    """One of 0, which Python refuses, runs no times: an assert of kernels with debug."""
    source = f"""def kernel(out: ndarray(i64, 1), s: {kind}):
    for i in range(-9, 9, s):
        out[0] += i * i + 1
    for i in cg.grouped(range(9, -9, s)):
        out[1] += i.x * i.x + 1
"""
    for step in STEPS[kind]:
        found = run_all(function_of(source), out=zeros(2, "i8"), s=step)["out"]
        points = (range(-9, 9, step), range(9, -9, step)) if step else ((), ())
        assert found.tolist() == [sum(i * i + 1 for i in each) for each in points], step


def test_ranges_near_the_ends_of_all_types_are_pythons():
    steps = [1, 2, 5, -1, -3, 2**63 - 1, -(2**63)]
    for (first, second), (begin, end), _ in NEAR:
        source = f"""def kernel(out: ndarray(i64, 2), steps: ndarray(i64, 1), a: {first}, b: {second}):
    for q in steps:
        for j in range(a, b, steps[q]):
            out[q, 0] += 1
            out[q, 1] = out[q, 1] * 3 + j % 10
"""
        arguments = {"out": np.zeros((len(steps), 2), "i8"), "steps": np.array(steps), "a": begin, "b": end}
        found = run_all(function_of(source), **arguments)["out"]
        for q, step in enumerate(steps):
            points, last = range(begin, end, step), 0
            for j in points:
                last = last * 3 + j % 10
            assert found[q].tolist() == [len(points), last], (first, second, step)


def test_bounds_may_be_as_far_apart_as_can_be():
    for (first, second), (begin, end), step in FAR:
        body = f"""def kernel(out: ndarray({first}, 1), a: {first}, b: {second}, s: i64):
    for _ in range(1):
        k = 0
        for i in range(a, b, s):
            out[k] = i
            k += 1
"""
        points = list(range(begin, end, step))
        found = run_all(
            function_of(body), out=np.zeros(4, {"i64": "i8", "u64": "u8"}[first]), a=begin, b=end, s=step
        )["out"]
        assert [int(each) for each in found] == points


def test_a_step_of_0_is_told_with_debug():
    def kernel(n: cg.i32, s: cg.i32):
        for _ in range(0, n, s):
            pass

    kernel, _ = lower(kernel, specialise(kernel, {"n": 3, "s": 0}), debug=True)
    with pytest.raises(AssertionFailed, match="the step of a range is 0"):
        execute("interpreter", kernel, {"n": 3, "s": 0})


def jumping(out: i32s, n: cg.i32, s: cg.i32):
    for i in range(0, n, s):
        if i == 4:
            continue
        for j in range(n, 0, -s):
            if j < 3:
                break
            out[i] += j


def test_loops_with_such_a_step_are_continued_and_left():
    wanted = [sum(range(10, 2, -2)) if i % 2 == 0 and i != 4 else 0 for i in range(10)]
    assert run_all(jumping, out=zeros(10), n=10, s=2)["out"].tolist() == wanted


@pytest.mark.filterwarnings("ignore:.*the conversion can lose:cuda_graphs.CompileWarning")
def test_constant_bounds_take_the_type_that_holds_both():
    body = """def kernel(out: ndarray(i32, 1), n: u32, w: u64):
    for i in range(-2, n):
        out[0] += i
    for i in range(n, -1, -1):
        out[1] += 1
    for i in range(0, w):
        out[2] += cg.cast(i, cg.i32)
"""
    found = run_all(function_of(body), out=zeros(3), n=3, w=4)["out"]
    assert found.tolist() == [sum(range(-2, 3)), 4, 6]


def once(out: i32s, n: cg.i32):
    m = n
    for _ in range(m):
        m += 5
        out[0] += 1
    k = n
    for _ in range(1):
        for _ in range(k):
            k += 5
            out[1] += 1
    out[2], out[3] = m, k
    for _ in range(out[4]):
        out[4] += 1


def test_bounds_are_evaluated_once_before_the_loop():
    found = run_all(once, out=np.array([0, 0, 0, 0, 4], "i4"), n=3)["out"]
    assert found.tolist() == [3, 3, 18, 18, 8]


@cg.func
def count_in(out: i32s, at: cg.template, n):
    for _ in range(n):
        out[at] += 1


FLAG = Field(np.ones((2, 3), "i4"), "flag")


def levels(out: i32s, n: cg.i32, plane: cg.ndarray(cg.i32, 2)):
    count_in(out, 0, n)
    if cg.static(True):
        for _ in range(n):
            out[1] += 1
    for _ in cg.static(range(2)):
        for _ in range(n):
            out[2] += 1
    if n > 1:
        for _ in range(n):
            out[3] += 1
        for i, j in FLAG:
            out[4] += FLAG[i, j]
        for _, _ in plane:
            out[5] += 1
        for at in cg.grouped(cg.ndrange(2, (1, 3))):
            out[6] += at.x * 10 + at.y
        count_in(out, 7, n)
    while out[8] < 2:
        for _ in range(n):
            out[9] += 1
        out[8] += 1


def test_loops_are_tasks_where_nothing_around_them_decides_at_run_time():
    arguments = {"out": zeros(10), "n": 3, "plane": zeros((2, 2))}
    found = run_all(levels, fields=[FLAG], **arguments)["out"]
    assert found.tolist() == [3, 3, 6, 3, 6, 4, 1 + 2 + 11 + 12, 3, 2, 6]
    program, _ = lower(levels, specialise(levels, arguments))
    assert [task.loop is not None for task in program.tasks] == [True, True, True, True, False]


def empty(out: i32s, n: cg.i32):
    for _ in range(n):
        out[0] += 1
    for _ in range(n, 3, -1):
        out[0] += 1
    for _, _ in cg.ndrange(3, n):
        out[0] += 1
    for _ in range(0):
        out[0] += 1


@pytest.mark.parametrize("n", [0, -1, -100])
def test_empty_and_negative_ranges_run_no_times(n):
    assert run_all(empty, out=zeros(1), n=n)["out"][0] == 0


def shapes(out: cg.ndarray(cg.i32, 3)):
    for at in cg.grouped(out):
        out[at] = at[0] * 100 + at.y * 10 + at.z
    for i in range(out.shape[0] - 1):
        out[i, 0, 0] -= 1000


def test_extents_and_expressions_are_bounds():
    wanted = np.fromfunction(lambda i, j, k: 100 * i + 10 * j + k, (2, 3, 2))
    wanted[0, 0, 0] -= 1000
    np.testing.assert_array_equal(run_all(shapes, out=zeros((2, 3, 2)))["out"], wanted)


# Configuration of the next loop.


def configured(out: i32s):
    cg.loop_config(block_dim=64, name="first")
    n = out.shape[0]
    for i in range(n):
        out[i] = i
    for i in range(n):
        out[i] += 1
    cg.loop_config(serialize=True)
    for i in range(1, n):
        out[i] += out[i - 1]
    cg.loop_config(parallelize=2)
    for i in range(n):
        out[i] *= 2


def test_loop_config_is_for_the_next_loop_alone():
    arguments = {"out": zeros(5)}
    assert run_all(configured, **arguments)["out"].tolist() == [2, 6, 12, 20, 30]
    program, _ = lower(configured, specialise(configured, arguments))
    settings = [task.loop.settings for task in program.tasks if task.loop is not None]
    assert [each.block_dim for each in settings] == [64, None, None]
    assert [each.parallelize for each in settings] == [None, None, 2]
    assert [task.name for task in program.tasks][:2] == ["configured_0_first", "configured_1_loop"]
    assert [task.loop is None for task in program.tasks] == [False, False, True, False]


CHOSEN = 32


def chosen(out: i32s, dims: cg.template):
    for _ in range(1):
        cg.loop_config(block_dim=dims[0])
        for _ in range(3):
            out[0] += 1
    cg.loop_config(block_dim=CHOSEN)
    if cg.static(dims[1]):
        for _ in range(2):
            out[0] += 1


def test_loop_config_takes_what_is_known_when_compiling_and_reaches_into_static_branches():
    arguments = {"out": zeros(1), "dims": (128, True)}
    assert run_all(chosen, **arguments)["out"].tolist() == [5]
    program, _ = lower(chosen, specialise(chosen, arguments))
    assert program.tasks[-1].loop.settings.block_dim == 32


# Loops over cg.static.


def unrolled(out: i32s, n: cg.template):
    for i in cg.static(range(n)):
        out[0] += i


def test_a_long_loop_over_static_warns_with_its_place():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run_all(unrolled, out=zeros(1), n=32)["out"][0] == sum(range(32))
    with pytest.warns(errors.CompileWarning, match="unrolled 33 times") as caught:
        lower(unrolled, specialise(unrolled, {"out": zeros(1), "n": 33}))
    assert (caught[0].filename, caught[0].lineno) == (__file__, unrolled.__code__.co_firstlineno + 1)
    assert issubclass(errors.CompileWarning, SyntaxWarning)


def left_early(out: i32s, limit: cg.template):
    for i in cg.static(range(9)):
        if cg.static(i == limit):
            break
        if cg.static(i % 2):
            continue
        out[i] = 1


def test_static_loops_are_left_by_what_is_known_when_compiling():
    assert run_all(left_early, out=zeros(9), limit=5)["out"].tolist() == [1, 0, 1, 0, 1, 0, 0, 0, 0]


SHAPED = Field(np.zeros((2, 3), "f4"), "shaped")


def shapes_when_compiling(out: i32s, x: cg.ndarray(cg.f64, 2), k: cg.template):
    for i in cg.static(range(SHAPED.shape[0] * SHAPED.shape[1])):
        out[0] += i
    out[1] = cg.static(len(x.shape))
    if cg.static(x.dtype == cg.f64 and SHAPED.dtype == cg.f32 and x is not None):
        out[2] = 1
    width = cg.static(SHAPED.shape[1])
    out[3] = width * cg.static(sum(SHAPED.shape)) + cg.static(k[1])
    for each in cg.static([x, x]):
        out[4] += each.shape[1]


def test_static_knows_types_dimensions_and_the_extents_of_fields():
    found = run_all(shapes_when_compiling, fields=[SHAPED], out=zeros(5), x=np.zeros((2, 7)), k=(1, 100))[
        "out"
    ]
    assert found.tolist() == [15, 2, 1, 115, 14]


def told(n: cg.i32, v: cg.vec3, x: cg.ndarray(cg.vec2, 1)):
    cg.static_print(n, v, x, x[n], x[n].y, (1, "text"), v.x)


def test_static_print_writes_types_of_values(capsys):
    lower(told, specialise(told, {"n": 1, "v": (1.0, 2.0, 3.0), "x": np.zeros((3, 2), "f")}))
    assert capsys.readouterr().out == "i32 vec(3, f32) x: f32, 1 dimensions vec(2, f32) f32 (1, 'text') f32\n"


def over_all(x, hits):
    for _i in range(x.shape[0]):
        for _j in range(x.shape[1]):
            hits[0] += 1
    for _i, _j in x:
        hits[1] += 1
    for at in cg.grouped(x):
        hits[2] += at.x + 1
    for _i, _j in cg.ndrange(x.shape[0], (0, x.shape[1])):
        hits[3] += 1
    hits[4] = x.shape[0] * 10 + x.shape[1]


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (2, 3)], ids=repr)
@pytest.mark.parametrize("is_field", [False, True], ids=["array", "field"])
def test_loops_over_an_array_without_elements_run_no_iteration(shape, is_field):
    data = np.zeros(shape, np.float32)
    number = shape[0] * shape[1]
    arguments = {"x": Field(data) if is_field else data, "hits": np.zeros(5, np.int32)}
    found = run_all(annotated(over_all, is_field), fields=[arguments["x"]] if is_field else (), **arguments)
    grouped = sum(i + 1 for i in range(shape[0])) * shape[1]
    assert found["hits"].tolist() == [number, number, grouped, number, shape[0] * 10 + shape[1]]


def annotated(function, is_field):
    array = cg.ndarray(cg.f32, 2)
    function.__annotations__ = {"x": cg.template if is_field else array, "hits": cg.ndarray(cg.i32, 1)}
    return function
