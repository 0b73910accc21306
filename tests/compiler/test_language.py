# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: each construct of the language does what Python would do, on every target."""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from tests.compiler.rig import Field, cg, run_all

f32s, i32s = cg.ndarray(cg.f32, 1), cg.ndarray(cg.i32, 1)


def zeros(n, code="i4"):
    return np.zeros(n, code)


# Loops


def ranges(out: i32s, n: cg.i64, small: cg.u8):
    count = 0
    for _ in range(1):
        k = 0
        for i in range(n):
            k += i
        out[0] = k
        k = 0
        for i in range(2, 11, 3):
            k = k * 10 + i
        out[1] = k
        k = 0
        for i in range(7, -1, -3):
            k = k * 10 + i
        out[2] = k
        for _ in range(5, 2):
            k += 1000
        for i in range(small):
            k += i
        out[3] = k
        for _ in range(n, 0, -2):
            k += 1
        out[4] = k
    out[5] = count


@pytest.mark.filterwarnings("ignore:.*the conversion can lose:cuda_graphs.CompileWarning")
def test_range_takes_one_to_three_arguments_of_any_integer_type():
    found = run_all(ranges, out=zeros(6), n=5, small=4)["out"]
    assert found.tolist() == [10, 258, 741, 747, 750, 0]


def parallel_ranges(up: i32s, down: i32s, n: cg.i32):
    for i in range(3, n, 4):
        up[i] = i
    for i in range(n - 1, -1, -2):
        down[i] = i


@pytest.mark.parametrize("n", [0, 4, 23])
def test_parallel_loops_have_steps_of_either_sign(n):
    found = run_all(parallel_ranges, up=zeros(n), down=zeros(n), n=n)
    assert found["up"].tolist() == [i if i in range(3, n, 4) else 0 for i in range(n)]
    assert found["down"].tolist() == [i if i in range(n - 1, -1, -2) else 0 for i in range(n)]


def boxes(out: cg.ndarray(cg.i32, 3), flat: cg.ndarray(cg.i32, 2)):
    for i, j, k in cg.ndrange(out.shape[0], (1, 3), out.shape[2]):
        out[i, j, k] = 100 * i + 10 * j + k
    for at in cg.grouped(flat):
        flat[at] += at[0] * 10 + at.y
    for at in cg.grouped(cg.ndrange(2, (1, 2))):
        flat[at[0], at[1]] += 1000


def test_ndrange_and_grouped_cover_a_box():
    found = run_all(boxes, out=zeros((2, 4, 3)), flat=zeros((2, 3)))
    wanted = zeros((2, 4, 3))
    for i, j, k in itertools.product(range(2), range(1, 3), range(3)):
        wanted[i, j, k] = 100 * i + 10 * j + k
    np.testing.assert_array_equal(found["out"], wanted)
    assert found["flat"].tolist() == [[0, 1001, 2], [10, 1011, 12]]


def leaving(out: i32s):
    for i in range(out.shape[0]):
        total = 0
        for j in range(100):
            if j % 2 == 0:
                continue
            if j > i:
                break
            total += j
        k = 0
        while True:
            k += 1
            if k == 3:
                continue
            if k > 5:
                break
            total += 100
        if i == 4:
            continue
        out[i] = total


def test_break_and_continue_belong_to_the_innermost_loop():
    found = run_all(leaving, out=zeros(7))["out"]
    assert found.tolist() == [400 + sum(range(1, i + 1, 2)) if i != 4 else 0 for i in range(7)]


def nested_axes(out: i32s):
    for _ in range(1):
        for i, j in cg.ndrange(4, 5):
            if j == 3:
                continue
            if i * 5 + j > 11:
                break
            out[0] += 1


def test_break_leaves_all_axes_of_a_loop():
    assert run_all(nested_axes, out=zeros(1))["out"][0] == sum(1 for i in range(12) if i % 5 != 3)


def serial(out: i32s, limit: cg.i32):
    cg.loop_config(serialize=True)
    for i in range(out.shape[0]):
        if i == limit:
            break
        if i > 0:
            out[i] = out[i - 1] + i


def test_a_serial_loop_has_an_order_and_may_be_left():
    assert run_all(serial, out=zeros(8), limit=6)["out"].tolist() == [0, 1, 3, 6, 10, 15, 0, 0]


table = Field(np.arange(12, dtype="i4").reshape(3, 4), "table")


def over_field(out: cg.ndarray(cg.i32, 2)):
    for i, j in table:
        out[i, j] = table[i, j] * table.shape[1]
    for _ in range(1):
        for j, k in table:
            out[0, 0] += table[j, k]


def test_loops_over_fields_know_their_extents():
    found = run_all(over_field, fields=[table], out=zeros((3, 4)))["out"]
    wanted = table.data * 4
    wanted[0, 0] += table.data.sum()
    np.testing.assert_array_equal(found, wanted)


# Decisions


def decide(out: i32s, x: cg.i32, y: cg.f32):
    if x > 3 and y < 0.5:
        out[0] = 1
    elif x == 3 or not y > 0.0:
        out[0] = 2
    else:
        out[0] = 3
    out[1] = 10 if x > 2 else 20
    out[2] = 1 < x <= 5 != 4
    out[3] = x > 0 and out[2] == 1 and y > 0.0


@pytest.mark.parametrize(("x", "y"), [(4, 0.25), (3, 1.0), (5, 0.75), (0, -1.0), (9, 0.0)])
def test_decisions(x, y):
    found = run_all(decide, out=zeros(4), x=x, y=y)["out"]
    first = 1 if x > 3 and y < 0.5 else 2 if x == 3 or not y > 0 else 3
    second = 1 < x <= 5
    assert found.tolist() == [first, 10 if x > 2 else 20, second, x > 0 and second and y > 0]


@cg.func
def bump(x: i32s, i: cg.i32):
    x[i] += 1
    return x[i]


def guarded(calls: i32s, flag: cg.i32):
    a = flag != 0 and bump(calls, 0) > 0
    b = flag != 0 or bump(calls, 1) > 0
    c = bump(calls, 2) if flag != 0 else bump(calls, 3)
    d = 0 < flag < bump(calls, 4)
    if a or b or c > 0 or d:
        calls[5] += 1


@pytest.mark.parametrize("flag", [0, 1])
def test_operand_that_does_not_decide_is_not_executed(flag):
    found = run_all(guarded, calls=zeros(6), flag=flag)["calls"]
    assert found.tolist() == ([1, 0, 1, 0, 1, 1] if flag else [0, 1, 0, 1, 0, 1])


# Functions


@cg.func
def clamp_to(x, low=0, high: cg.i32 = 9):
    y = x
    if y < low:
        y = low
    elif y > high:
        y = high
    return y


@cg.func
def sum_to(x: i32s, n):
    total = 0
    for i in range(n):
        if x[i] < 0:
            break
        total += x[i]
    return total, n


@cg.func
def power(x, n: cg.template):
    if cg.static(n == 0):
        return 1
    return x * power(x, n - 1)


def functions(x: i32s, out: i32s):
    for i in range(out.shape[0]):
        total, n = sum_to(x, i)
        out[i] = clamp_to(total, high=20) * 1000 + n * 100 + power(i, 2)


def test_functions_are_inlined_with_their_loops():
    x = np.array([5, 6, -1, 8, 9], "i4")
    found = run_all(functions, x=x, out=zeros(5))["out"]
    totals = [0, 5, 11, 11, 11]
    assert found.tolist() == [min(t, 20) * 1000 + i * 100 + i * i for i, t in enumerate(totals)]


@cg.func
def fill(x: i32s, value):
    for i in range(x.shape[0]):
        x[i] = value


def tasks_of_functions(x: i32s, y: i32s):
    fill(x, 3)
    fill(y, x[0] + 1)


def test_loops_of_functions_at_the_top_are_tasks():
    from cuda_graphs.compiler.language.signature import specialise
    from cuda_graphs.compiler.pipeline import lower

    arguments = {"x": zeros(5), "y": zeros(7)}
    found = run_all(tasks_of_functions, **arguments)
    assert set(found["x"]) == {3}
    assert set(found["y"]) == {4}
    program, _ = lower(tasks_of_functions, specialise(tasks_of_functions, arguments))
    assert [task.loop is not None for task in program.tasks].count(True) == 2


# Compile time


SCALE, NAMES = 3, ("x", "y")


def static(out: i32s, mode: cg.template, shape: cg.template):
    if cg.static(mode == "big"):
        out[0] = shape[0] * SCALE
    else:
        out[0] = no_such_name  # noqa: F821
    for i in cg.static(range(1, 4)):
        out[i] = i * len(NAMES)
    for i, name in cg.static(enumerate(NAMES)):
        if cg.static(name == "x"):
            continue
        out[4] = i + 10
    for a, b in cg.static(zip((1, 2, 3), (4, 5, 6))):
        if cg.static(a == 3):
            break
        out[5] += a * b
    for i, j in cg.static(cg.ndrange(2, (1, 3))):
        out[6] += 10 * i + j
    squares = [k * k for k in cg.static(range(4))]
    pairs = {"one": 1, "two": squares[2]}
    out[7] = squares[3] + pairs["two"]
    cg.static_assert(SCALE == 3, "scale")
    width = cg.static(len(NAMES) + 1)
    out[8] = cg.static(width * 2) + width


def test_static_is_evaluated_when_compiling():
    found = run_all(static, out=zeros(9), mode="big", shape=(7, 2))["out"]
    assert found.tolist() == [21, 2, 4, 6, 11, 14, 26, 13, 9]


@dataclass
class Inner:
    x: cg.ndarray(cg.f32, 1)
    scale: cg.f32


@dataclass
class Outer:
    a: Inner
    b: Inner
    n: int
    kind: cg.template


def dataclasses_(s: Outer, out: f32s):
    for i in range(s.n):
        out[i] = s.a.x[i] * s.a.scale + s.b.x[i] * s.b.scale
        if cg.static(s.kind == "twice"):
            out[i] *= 2.0


def test_dataclasses_are_taken_apart_to_any_depth():
    x, y = np.arange(4, dtype="f"), np.ones(4, "f")
    s = Outer(Inner(x, 2.0), Inner(y, 0.5), 3, "twice")
    assert run_all(dataclasses_, s=s, out=zeros(4, "f"))["out"].tolist() == [1, 5, 9, 0]


# Assignments


def assignments(out: i32s):
    a = b = 4
    a, b = b + 1, a + 2
    out[0], out[1] = a, b
    a, b = b, a
    out[2] = a * 10 + b
    if (c := a + b) > 3:
        out[3] = c
    (d, e), f = (1, 2), 3
    out[4] = d * 100 + e * 10 + f
    pair = (a, b)
    pair = (pair[1], pair[0])
    out[5] = pair[0] * 10 + pair[1]
    x: cg.i8 = 127
    x = cg.i8(x + 1)
    out[6] = x
    y: int = 3.9
    out[7] = y


def test_assignments():
    assert run_all(assignments, out=zeros(8))["out"].tolist() == [5, 6, 65, 11, 123, 56, -128, 3]


def augmented(x: i32s, f: cg.ndarray(cg.f64, 1), n: cg.i32):
    total = 0
    product = cg.f64(1.0)
    for i in range(n):
        x[0] += i
        x[1] -= i
        x[2] &= ~(1 << i)
        x[3] |= 1 << i
        x[4] ^= i
        f[0] *= 1.5
        f[1] += 0.5
        total += i
        product *= 2.0
        x[5 + i] += 2
    x[20] = total
    f[2] = product


def test_augmented_assignments_of_parallel_loops_lose_nothing():
    n = 10
    x = np.zeros(21, "i4")
    x[2] = -1
    found = run_all(augmented, x=x, f=np.array([1.0, 0.0, 0.0]), n=n)
    total = sum(range(n))
    assert found["x"][:5].tolist() == [total, -total, ~0 << n, (1 << n) - 1, 1]
    assert found["x"][5:].tolist() == [2] * n + [0] * 5 + [total]
    assert found["f"].tolist() == [1.5**n, 5.0, 1024.0]


def atomics(x: i32s, u: cg.ndarray(cg.u32, 1), old: i32s, f: f32s):
    for i in range(old.shape[0]):
        old[i] = cg.atomic_add(x[0], 1)
        cg.atomic_sub(x[1], 2)
        cg.atomic_min(x[2], 7 - i)
        cg.atomic_max(x[3], i)
        cg.atomic_and(u[0], 0xF0F0)
        cg.atomic_or(u[1], 1 << i)
        cg.atomic_xor(u[2], i)
        cg.atomic_mul(x[4], 2)
        cg.atomic_max(f[0], i * 0.5)
        cg.atomic_min(f[1], -1.0 * i)
        cg.atomic_add(f[2], 0.25)
    out = cg.atomic_exchange(x[5], 42)
    x[6] = out
    x[7] = cg.atomic_cas(x[5], 42, 43)
    x[8] = cg.atomic_cas(x[5], 42, 44)


def test_atomics_return_what_was_there_before():
    x = np.array([0, 0, 5, 0, 1, 9, 0, 0, 0], "i4")
    from tests.compiler.rig import targets_here

    for target in targets_here():  # the order of the iterations differs
        found = run_all(
            atomics, targets=[target], x=x, u=np.array([0xFFFF, 0, 0], "u4"), old=zeros(8), f=np.zeros(3, "f")
        )
        assert sorted(found["old"]) == list(range(8))
        assert found["x"].tolist() == [8, -16, 0, 7, 256, 43, 9, 42, 43]
        assert found["u"].tolist() == [0xF0F0, 255, 0]
        assert found["f"].tolist() == [3.5, -7.0, 2.0]


def small_atomics(
    a: cg.ndarray(cg.u8, 1), b: cg.ndarray(cg.i16, 1), c: cg.ndarray(cg.f16, 1), d: cg.ndarray(cg.bool_, 1)
):
    for i in range(20):
        a[1] += 3
        b[0] -= i
        c[1] += 0.5
        d[i % 2] |= i == 3


def test_atomics_of_small_types_leave_their_neighbours_alone():
    found = run_all(small_atomics, a=zeros(4, "u1"), b=zeros(2, "i2"), c=zeros(3, "f2"), d=zeros(4, "?"))
    assert found["a"].tolist() == [0, 60, 0, 0]
    assert found["b"].tolist() == [-190, 0]
    assert found["c"].tolist() == [0, 10, 0]
    assert found["d"].tolist() == [False, True, False, False]


# Results


def results(x: f32s, n: cg.i32) -> tuple[cg.f32, cg.i64]:
    total = 0.0
    for i in range(n):
        total += x[i]
    return total, n * 2


def test_a_kernel_returns_scalars():
    assert run_all(results, x=np.arange(6, dtype="f"), n=6) == (15.0, 12)


def one_result(a: cg.f64) -> cg.i32:
    return a * 2.0


@pytest.mark.filterwarnings("ignore:.*the conversion can lose:cuda_graphs.CompileWarning")
def test_a_result_has_the_type_of_the_annotation():
    assert run_all(one_result, a=3.7) == 7


def shading(x: cg.ndarray(cg.f64, 1), out: cg.ndarray(cg.f64, 2)):
    for i in x:
        out[i, 0] = cg.clamp(x[i], -0.5, 1.0)
        out[i, 1] = cg.mix(2.0, 4.0, x[i])
        out[i, 2] = cg.fract(x[i])
        out[i, 3] = cg.step(0.25, x[i])
        out[i, 4] = cg.smoothstep(0.0, 2.0, x[i])
        out[i, 5] = cg.radians(cg.degrees(x[i]))
        out[i, 6] = cg.clamp(cg.vec2(x[i], 9.0), 0.0, 1.0).sum()


def test_functions_of_shaders():
    x = np.array([-1.5, -0.25, 0.25, 0.75, 1.5, 3.0])
    found = run_all(shading, x=x, out=np.zeros((6, 7)))["out"]
    t = np.clip(x / 2, 0, 1)
    wanted = [np.clip(x, -0.5, 1), 2 * (1 - x) + 4 * x, x - np.floor(x), x >= 0.25, t * t * (3 - 2 * t), x]
    np.testing.assert_allclose(found.T, [*wanted, np.clip(x, 0, 1) + 1], rtol=1e-15)


# Vectors and matrices


@dataclass
class Ray:
    origin: cg.vec3
    speed: float


def vectors(out: f32s, points: cg.ndarray(cg.vec3, 1), ray: Ray):
    a = cg.vec3(1.0, 2.0, 3.0)
    b = cg.vec3(2.0)
    b.y = 5.0
    b[2] += 1.0
    out[0] = a.dot(b)
    out[1] = cg.cross(a, b).x
    out[2] = (a * 2.0 - b / 2.0).sum()
    out[3] = cg.norm(cg.vec2(3.0, 4.0))
    out[4] = a.normalized().norm_sqr()
    out[5] = max(a, b).min()
    c = a.zyx
    a = c + ray.origin * ray.speed
    out[6] = a.x * 100.0 + a.y * 10.0 + a.z
    out[7] = (a > b).all()
    out[8] = cg.distance(a, b) - cg.length(a - b)
    for i in points:
        points[i] += cg.vec3(i, 1.0, 2.0) * 2.0
        points[i].z = -1.0
    total = cg.vec3(0.0)
    for i in range(points.shape[0]):
        total += points[i]
    out[9] = total.x


def test_vectors():
    ray = Ray((0.5, 1.0, 1.5), 2.0)
    found = run_all(vectors, out=zeros(10, "f"), points=np.ones((3, 3), "f"), ray=ray)
    wanted = [21, 2 * 3 - 3 * 5, 12 - 5, 5, 1, 2, 444, False, 0, 9]
    np.testing.assert_allclose(found["out"], wanted, rtol=1e-6)
    assert found["points"].tolist() == [[1 + 2 * i, 3, -1] for i in range(3)]


def matrices(out: cg.ndarray(cg.f64, 2), m: cg.mat(3, 3, cg.f64), small: cg.mat(4, 4, cg.f64)):
    inverse = m.inverse()
    product = inverse @ m
    column = m @ cg.vec(3, cg.f64)(1.0, 0.0, 2.0)
    four = small.inverse() @ small
    two = cg.mat(2, 2, cg.f64)(1.0, 2.0, 3.0, 4.0)
    for i in cg.static(range(3)):
        for j in cg.static(range(3)):
            out[i, j] = product[i, j]
        out[3, i] = column[i]
        out[4, i] = m.transpose()[i, 0]
    out[5, 0] = m.determinant()
    out[5, 1] = four.trace()
    out[5, 2] = (two.inverse() @ two).sum() + cg.outer(two[0], two[1])[1, 0]
    rows = cg.mat([[1, out[5, 1]], two[1]])
    for i, j in cg.static(cg.ndrange(2, 2)):
        out[6 + i, j] = rows[i, j]


def test_matrices():
    random = np.random.default_rng(5)
    m, small = random.random((3, 3)), random.random((4, 4))
    found = run_all(matrices, exact=False, out=zeros((8, 3), "f8"), m=m.tolist(), small=small.tolist())["out"]
    np.testing.assert_allclose(found[:3], np.eye(3), atol=1e-12)
    np.testing.assert_allclose(found[3], m @ [1, 0, 2], rtol=1e-12)
    np.testing.assert_allclose(found[4], m[0], rtol=0)
    np.testing.assert_allclose(found[5], [np.linalg.det(m), 4, 2 + 6], rtol=1e-9)
    np.testing.assert_allclose(found[6:, :2], [[1, 4], [3, 4]], rtol=1e-9)
