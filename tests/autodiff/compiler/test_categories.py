# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Categories of reverse mode programs, by number; on PTX through the host driver in `make nightly`, where
test_reverse_mode.py and test_random_programs.py always run. Categories that other files test:

     1                           test_operations.py
     2                           test_forward_mode.py, here and in ../calls
     3, 4                        test_derivatives.py
     6                           test_reverse_mode.py, zero_in_a_branch
     8, 10                       test_refusals.py
    17, 25, 28, 31, 40, 41, 42   ../calls: they are about calls
    32, 44                       ../calls/test_known_gradients.py, K18 and K17
"""

import warnings

import numpy as np
import pytest

from cuda_graphs.compiler.autodiff import gradient
from cuda_graphs.compiler.frontend import translate
from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.passes.propagate import propagate
from tests.autodiff.compiler import gradient_rig
from tests.autodiff.compiler.gradient_rig import floats, ints, zeros
from tests.compiler.rig import Field, Grad, cg, targets_here

f32, f64, i8, i32, i64 = cg.f32, cg.f64, cg.i8, cg.i32, cg.i64
ndarray = cg.types.ndarray
ONE = {"y": 1.0}
START = (0.3, 0.7, 1.1, 0.4)


@pytest.fixture(params=["x86", pytest.param("ptx", marks=pytest.mark.nightly)], autouse=True)
def targets(request, monkeypatch):
    """Where the gradients of this file run: on the interpreter, the GPU if there is one, and a target."""
    others = [each for each in targets_here() if each not in ("x86", "ptx")]
    monkeypatch.setitem(globals(), "HERE", (*others, request.param))


HERE: tuple[str, ...] = ()


def gradients(*args, **keywords):
    return gradient_rig.gradients(*args, targets=HERE, **keywords)


def check(*args, **keywords):
    return gradient_rig.check(*args, targets=HERE, **keywords)


def stacks_of(function, **arguments):
    """The types of the stacks of a gradient."""
    kernel, _ = translate(function, dict(specialise(function, arguments)))
    return [stack.array.element for stack in gradient(propagate(kernel)).stacks]


def decay(x: ndarray(f64, 1), n: i32, y: ndarray(f64, 0)):
    for i in x:
        v = x[i]
        for _ in range(n):
            v = v * 0.95
        y[()] += v


def test_05_a_linear_recurrence_needs_no_stack():
    arguments = {"x": floats(*START), "n": 30, "y": zeros()}
    assert stacks_of(decay, **arguments) == []
    np.testing.assert_allclose(gradients(decay, ONE, **arguments)["x"], 0.95**30, rtol=1e-14)


def gated_quotient(x: ndarray(f64, 2), gate: ndarray(i32, 2), n: i32, y: ndarray(f64, 0)):
    for i, j in cg.ndrange(x.shape[0], x.shape[1]):
        v = x[i, j]
        w = f64(2.0)
        for k in range(n):
            before = v
            v = cg.sin(v) + 0.2
            if gate[i, j] > k:
                w = w + before / (v * w)
        if gate[i, j] > 0:
            y[()] += w * v


def test_07_values_that_are_used_after_later_changes_and_cells_that_take_no_part():
    x = Grad(np.linspace(0.2, 1.3, 6).reshape(2, 3))
    gate = ints(0, 1, 2, 3, 0, 5).reshape(2, 3)
    found = check(gated_quotient, ONE, "x", x=x, gate=gate, n=4, y=zeros())
    np.testing.assert_array_equal(found["x"][gate == 0], 0)


@cg.func
def steps(v, n):
    w = v
    for _ in range(n):
        w = cg.sin(w) * v
    return w


def loops_inline_and_in_functions(x: ndarray(f64, 1), n: i32, y: ndarray(f64, 0)):
    for i in x:
        v = x[i]
        for k in range(n):
            v = steps(v, k) + 0.3
            for _ in range(k):
                v = v * cg.cos(v)
        y[()] += v


def test_09_dynamic_loops_in_loops_and_in_functions_need_no_option():
    check(loops_inline_and_in_functions, ONE, "x", x=floats(*START), n=3, y=zeros())


def sibling_component(x: ndarray(cg.vec(2, f64), 1), n: i32, y: ndarray(f64, 0)):
    for i in x:
        for _ in range(n):
            x[i][0] += 2.0 * x[i][1]
        y[()] += x[i][0]


def test_11_a_component_may_be_read_while_its_sibling_is_written():
    x = Grad(np.linspace(0.3, 1.2, 6).reshape(3, 2))
    found = gradients(sibling_component, ONE, x=x, n=5, y=zeros())
    np.testing.assert_allclose(found["x"], [[1, 10]] * 3)


def in_place(x: ndarray(f64, 1), z: ndarray(f64, 1)):
    for i in x:
        z[i] += x[i] * x[i]
        z[i] = z[i] + 3.0 * x[i]


def test_12_each_iteration_may_add_to_its_own_element():
    seed = np.array([1.0, -2.0, 0.5])
    found = gradients(in_place, {"z": seed}, x=floats(0.3, 0.7, 1.1), z=floats(1, 2, 3))
    np.testing.assert_allclose(found["x"], seed * (2 * np.array([0.3, 0.7, 1.1]) + 3))
    np.testing.assert_allclose(found["z"], seed)


def sine_steps(x: ndarray(f64, 1), n: i32, y: ndarray(f64, 0)):
    for i in x:
        v = x[i]
        for _ in range(n):
            v = cg.sin(v) + 0.1
        y[()] += v


def slope(v, n, plus=0.1):
    made = 1.0
    for _ in range(n):
        v, made = np.sin(v) + plus, made * np.cos(v)
    return made


@pytest.mark.parametrize(
    ("number", "n"), [("13", 4096), ("18", 30), ("18", 100), ("29", 1)], ids=lambda each: str(each)
)
def test_13_18_29_one_stack_of_any_room(number, n):
    start = START if n < 1000 else START[:1]
    found = gradients(sine_steps, ONE, x=floats(*start), n=n, y=zeros())
    np.testing.assert_allclose(found["x"], [slope(v, n) for v in start], rtol=1e-10, atol=1e-300)


def both_kinds(x: ndarray(f64, 1), nxt: ndarray(i32, 1), y: ndarray(f64, 0)):
    for _ in range(1):
        v = f64(1.0)
        at = 0
        for _ in range(4):
            v = v * x[at]
            at = nxt[at]
        y[()] += v


def test_14_stacks_of_floats_and_of_integers_in_one_task():
    arguments = {"x": floats(1.0, 3.0, 5.0), "nxt": ints(1, 2, 0), "y": zeros()}
    assert set(stacks_of(both_kinds, **arguments)) == {f64, i32}
    found = gradients(both_kinds, ONE, **arguments)  # x0 * x1 * x2 * x0
    np.testing.assert_allclose(found["x"], [30, 5, 3])


def six_siblings(x: ndarray(f64, 1), y: ndarray(f64, 0)):
    for i in x:
        v = x[i]
        for k in cg.static(range(6)):
            for _ in range(4):
                if v > 0.31 + 0.1 * k:
                    v = v * v * 0.8
                else:
                    v = cg.sin(v) + 0.35
        y[()] += v


def test_15_many_stacks_at_once():
    check(six_siblings, ONE, "x", x=floats(*START), y=zeros())


def narrow(x: ndarray(f32, 1), nxt: ndarray(i8, 1), y: ndarray(f32, 0)):
    for i in x:
        v = x[i]
        k = nxt[i]
        for _ in range(3):
            v = v * x[i32(k)]
            k = nxt[i32(k)]
        y[()] += v


def test_16_stacks_of_narrow_types():
    arguments = {
        "x": Grad(np.array([2.0, 3.0, 4.0], np.float32)), "nxt": np.array([1, 2, 0], np.int8),
        "y": Grad(np.zeros((), np.float32)),
    }  # fmt: skip
    assert i8 in stacks_of(narrow, **arguments)
    found = gradients(narrow, ONE, **arguments)  # each: x_i * x0 * x1 * x2
    total, x = 24.0, np.array([2.0, 3.0, 4.0])
    np.testing.assert_allclose(found["x"], total + total * x.sum() / x, rtol=1e-5)


def linear_sums(x: ndarray(f64, 1), c: ndarray(f64, 1), n: i32, y: ndarray(f64, 1)):
    for i in x:
        a = f64(0.0)
        for _ in range(3):
            a += 2.0 * x[i]
        b = f64(0.0)
        for _ in range(n):
            b += 2.0 * x[i]
        d = f64(0.0)
        for j in range(3):
            d += c[j] * x[i]
        e = f64(0.0)
        for j in range(n):
            e += c[j] * x[i]
        y[i] = a + 10 * b + 100 * d + 1000 * e


def test_19_sums_with_and_without_known_bounds_and_coefficients():
    arguments = {"x": floats(*START), "c": np.array([1.0, 2.0, 4.0, 8.0]), "n": 4, "y": zeros(4)}
    assert stacks_of(linear_sums, **arguments) == []
    found = gradients(linear_sums, {"y": 1.0}, **arguments)
    np.testing.assert_allclose(found["x"], 6 + 80 + 700 + 15000)


def under_an_if(x: ndarray(f64, 1), n: i32, y: ndarray(f64, 0)):
    if n > 2:
        for i in x:
            v = x[i]
            for _ in range(n):
                v = cg.sin(v)
            y[()] += v


@pytest.mark.parametrize("n", [2, 3])
def test_20_a_loop_under_an_if_that_is_decided_when_the_kernel_runs(n):
    found = gradients(under_an_if, ONE, x=floats(*START), n=n, y=zeros())
    wanted = [np.prod([np.cos(v), np.cos(np.sin(v)), np.cos(np.sin(np.sin(v)))]) for v in START]
    np.testing.assert_allclose(found["x"], wanted if n > 2 else [0] * 4)


def snapshot(x: ndarray(f64, 1), y: ndarray(f64, 0)):
    for _ in range(1):
        c = f64(0.0)
        for j in range(4):
            if c < 2.5:
                c = c + x[j]
        y[()] += c


def four_arms(x: ndarray(f64, 1), k: ndarray(i32, 1), y: ndarray(f64, 0)):
    for i in x:
        s = k[i]
        v = x[i]
        for _ in range(2):
            if s == 0:
                s = 1
                v = v * 1.0
            elif s == 1:
                s = 2
                v = v * 2.0
            elif s == 2:
                s = 3
                v = v * 1.0
            else:
                s = 2
                v = v * 3.0
        y[()] += v


def test_21_a_condition_is_what_it_was_before_its_body():
    found = gradients(snapshot, ONE, x=floats(1, 1, 1, 1), y=zeros())
    np.testing.assert_array_equal(found["x"], [1, 1, 1, 0])
    found = gradients(four_arms, ONE, x=floats(1, 1, 1, 1), k=ints(0, 1, 2, 3), y=zeros())
    np.testing.assert_array_equal(found["x"], [2, 2, 3, 3])


def producer_and_consumer(x: ndarray(f64, 1), n: i32, y: ndarray(f64, 0)):
    for i in x:
        a = x[i]
        b = f64(1.0)
        for _ in range(n):
            a = cg.sin(a) + 0.2
        for _ in range(n + 1):
            b = b * a + 0.1
        for _ in range(n):
            a = a * b
        y[()] += a


def test_22_sibling_loops_go_back_from_the_last_to_the_first():
    check(producer_and_consumer, ONE, "x", x=floats(*START), n=3, y=zeros())


def triangle(x: ndarray(f64, 1), n: i32, y: ndarray(f64, 0)):
    for _ in range(1):
        acc = f64(1.0)
        for i in range(n):
            for j in range(i):
                acc = acc + x[j] * x[i] * acc
        y[()] += acc


@pytest.mark.parametrize("n", [3, 5])
def test_23_an_inner_bound_that_is_an_outer_index(n):
    check(triangle, ONE, "x", x=floats(0.3, 0.7, 1.1, 0.4, 0.2), n=n, y=zeros())


def own_components(x: ndarray(cg.vec(3, f64), 1), n: i32, y: ndarray(f64, 0)):
    for i in x:
        v = x[i]
        for _ in range(n):
            for k in cg.static(range(3)):
                v[k] = cg.sin(v[k]) * v[(k + 1) % 3] + 0.3
        y[()] += v[0] + 2.0 * v[1] * v[2]


def test_24_a_component_of_itself_and_no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(own_components, ONE, "x", x=Grad(np.linspace(0.3, 1.2, 6).reshape(2, 3)), n=2, y=zeros())


def wide_indices(x: ndarray(f64, 1), y: ndarray(f64, 0)):
    for i in range(i64(4)):
        v = x[i]
        for j in range(i64(0), i64(3)):
            v = v * v + f64(j) * 0.1
        y[()] += v


def test_26_loops_over_wide_integers():
    check(wide_indices, ONE, "x", x=floats(*START), y=zeros())


def nested_trips(x: ndarray(f64, 2), b: ndarray(i32, 1), y: ndarray(f64, 0)):
    for i in range(x.shape[0]):
        v = x[i, 0]
        for j in range(x.shape[1]):
            for _ in range(b[j]):
                v = cg.sin(v) * x[i, j] + 0.4
        y[()] += v


def test_27_trips_from_an_element_and_from_a_shape():
    x = Grad(np.linspace(0.2, 1.3, 6).reshape(2, 3))
    check(nested_trips, ONE, "x", x=x, b=ints(2, 0, 3), y=zeros())


def stashed(x: ndarray(f64, 1), b: ndarray(i32, 1), n: i32, y: ndarray(f64, 0)):
    for i in x:
        at = i
        v = x[i]
        for _ in range(n):
            for _ in range(b[at]):
                v = cg.sin(v) + 0.2
        y[()] += v


@pytest.mark.parametrize("is_field", [False, True])
def test_30_33_a_bound_at_an_index_that_was_kept(is_field):
    bounds = ints(3, 0, 1, 2)

    def of_a_field(x: ndarray(f64, 1), n: i32, y: ndarray(f64, 0)):
        for i in x:
            at = i
            v = x[i]
            for _ in range(n):
                for _ in range(held[at]):
                    v = cg.sin(v) + 0.2
            y[()] += v

    held = Field(bounds, "held")
    wanted = [slope(v, 2 * n, 0.2) for v, n in zip(START, bounds, strict=True)]
    if not is_field:
        found = gradients(stashed, ONE, x=floats(*START), b=bounds, n=2, y=zeros())
        np.testing.assert_allclose(found["x"], wanted, rtol=1e-12)
        return
    assert f64 in stacks_of(of_a_field, x=floats(*START), n=2, y=zeros())


def of_itself(x: ndarray(f64, 1), n: i32, y: ndarray(f64, 0)):
    for i in x:
        v = x[i]
        k = n
        for _ in range(3):
            k = k
            for _ in range(k):
                v = v * v * 0.9
        y[()] += v


def test_34_a_bound_that_is_set_to_itself():
    check(of_itself, ONE, "x", x=floats(*START), n=2, y=zeros())


def two_differences(x: ndarray(f64, 1), a: ndarray(i32, 1), b: ndarray(i32, 1), y: ndarray(f64, 0)):
    for i in x:
        v = x[i]
        for j in range(a.shape[0]):
            for k in range(b.shape[0]):
                for _ in range(a[j] - b[k]):
                    v += 0.1 * x[i] * v
        y[()] += v


@pytest.mark.parametrize(
    ("a", "b"), [((1, 5), (4, 0)), ((5, 5, 5, 5), (4, 0)), ((0, 0, 0, 7), (1, 1))], ids=str
)
def test_35_differences_of_two_loops(a, b):
    x = floats(0.1, 0.5)
    found = gradients(two_differences, ONE, x=x, a=ints(*a), b=ints(*b), y=zeros())
    trips = sum(max(j - k, 0) for j in a for k in b)
    v = np.array([0.1, 0.5])
    wanted = (1 + 0.1 * v) ** trips + v * trips * 0.1 * (1 + 0.1 * v) ** (trips - 1)
    np.testing.assert_allclose(found["x"], wanted, rtol=1e-12)


def two_tasks(x: ndarray(f64, 1), n: i32, y: ndarray(f64, 0)):
    for i, j in cg.ndrange(x.shape[0], 2):
        v = x[i]
        for _ in range(n):
            v = cg.sin(v) + 0.1 * j
        y[()] += v
    for i, j in cg.ndrange(2, x.shape[0]):
        v = f64(1.0)
        for k in range(j, 4):
            v = v * x[k] * x[i] + 0.3
        y[()] += v


def test_36_tasks_of_one_kernel_have_rooms_of_their_own():
    check(two_tasks, ONE, "x", x=floats(*START), n=5, y=zeros())


def unrolled(x: ndarray(f64, 1), y: ndarray(f64, 0)):
    for i in x:
        v = x[i]
        s = f64(0.0)
        for k in cg.static(range(8)):
            w = v * v
            s += w * v + w * x[i]
            v = v * 0.9 + 0.01 * k * w
        y[()] += s


def halves(x: ndarray(cg.f16, 1), n: i32, y: ndarray(f32, 0)):
    for i in x:
        v = x[i]
        for _ in range(n):
            v = v * v
        y[()] += f32(v)


def test_37_unrolled_code_and_stacks_of_two_bytes():
    check(unrolled, ONE, "x", x=floats(*START), y=zeros())
    x = np.array([0.5, 1.0, -1.0], np.float16)
    found = gradients(halves, ONE, x=Grad(x), n=3, y=Grad(np.zeros((), np.float32)))
    np.testing.assert_allclose(found["x"], 8 * x.astype(float) ** 7, rtol=1e-2)


def least(x: ndarray(f64, 1), y: ndarray(f64, 0)):
    for _ in range(1):
        m = f64(9.0)
        for j in range(x.shape[0]):
            m = min(m, x[j])
        y[()] += m * m


def test_38_a_least_value_that_a_loop_carries():
    found = gradients(least, ONE, x=floats(*START), y=zeros())
    np.testing.assert_allclose(found["x"], [0.6, 0, 0, 0])


def gated(x: ndarray(f64, 1), active: ndarray(f64, 1), at: ndarray(i32, 1), n: i32, y: ndarray(f64, 0)):
    for i in x:
        if active[i] > 0:
            v = x[i]
            for _ in range(n):
                v = cg.sin(v) + 0.1
            y[()] += v
        if active[at[i]] > 0.5:
            w = x[i]
            for _ in range(n):
                w = w * w
            y[()] += w


@pytest.mark.parametrize("fraction", [0, 0.05, 0.5, 1])
def test_39_iterations_that_a_gate_lets_through(fraction):
    x = np.linspace(0.2, 1.1, 40)
    active = (np.arange(40) < 40 * fraction).astype(float)
    at = np.arange(40, dtype=np.int32)[::-1].copy()
    found = gradients(gated, ONE, x=Grad(x), active=active, at=at, n=3, y=zeros())
    wanted = active * [slope(v, 3) for v in x] + active[at] * 8 * x**7
    np.testing.assert_allclose(found["x"], wanted, rtol=1e-12)


def carried_vector(x: ndarray(cg.vec(2, f64), 1), n: i32, y: ndarray(f64, 0)):
    for i in x:
        v = x[i]
        total = f64(0.0)
        for _ in range(n):
            total += v[0] * v[0] + 0.5 * v[1] * v[1]
            v = v * 0.5 + cg.vec(2, f64)(v[1], v[0]) * 0.1
        y[()] += total


def test_43_a_vector_that_a_loop_carries():
    x = Grad(np.linspace(0.3, 1.2, 6).reshape(3, 2))
    assert len(stacks_of(carried_vector, x=x, n=3, y=zeros())) == 2
    check(carried_vector, ONE, "x", x=x, n=3, y=zeros())


def either_arm(x: ndarray(f64, 1), y: ndarray(f64, 0)):
    for i in x:
        v = x[i]
        if i % 2 == 0:
            for _ in range(3):
                v = cg.sin(v) + 0.1 * i
        else:
            w = v
            for _ in range(4):
                w = w * v + 0.2 * i
            v = w
        y[()] += v


def test_45_stacks_that_only_one_arm_uses():
    check(either_arm, ONE, "x", x=Grad(np.linspace(0.1, 0.8, 7)), y=zeros())
