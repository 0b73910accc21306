# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Reverse mode on programs of which a wrong implementation gets a number wrong that is known: each of them tells one
mistake from what is right. Numbers were worked out by hand and agree with central differences."""

import numpy as np
import pytest

from tests.autodiff.compiler.gradient_rig import check, floats, gradients, ints, zeros
from tests.compiler.rig import Grad, cg

f64, i32 = cg.f64, cg.i32
ndarray = cg.types.ndarray
ONE = {"y": 1.0}


def near(found, wanted, tolerance=1e-8):
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance)


def sine_steps(x: ndarray(f64, 1), n: ndarray(i32, 0), y: ndarray(f64, 0)):
    for i in x:
        v = x[i]
        for _ in range(n[()]):
            v = cg.sin(v) + 0.1
        y[()] += v


def test_a_value_that_a_loop_carries_is_that_of_its_iteration():
    found = gradients(sine_steps, ONE, x=floats(0.3, 0.7, 1.1), n=ints(5)[0:1].reshape(()), y=zeros())
    near(found["x"], [0.529086734, 0.190660332, 0.05740343])


def sums_and_products(x: ndarray(f64, 1), fa: ndarray(i32, 1), nb: ndarray(i32, 1), y: ndarray(f64, 0)):
    for i in range(3):
        acc = f64(1.0)
        for j in range(fa[i]):
            t = f64(0.0)
            for k in range(nb[j]):
                t += x[k] * x[k]
            acc *= 1 + t
        y[()] += acc


def test_loops_in_loops_whose_bounds_are_read_may_be_empty():
    found = gradients(
        sums_and_products, ONE, x=floats(0.2, 0.5, 0.3, 0.9), fa=ints(3, 0, 2), nb=ints(1, 3, 2), y=zeros()
    )
    near(found["x"], [2.7908, 3.8168, 1.42896, 0])


def two_arms(x: ndarray(f64, 1), y: ndarray(f64, 0)):
    for i in x:
        v = x[i]
        for _ in range(6):
            if v > 1:
                v = v * 0.5
            else:
                v = v * v + 0.6
        y[()] += v


def test_a_condition_is_that_of_its_iteration_though_the_body_changes_what_it_is_made_of():
    found = gradients(two_arms, ONE, x=floats(0.5, 0.9, 1.4), y=zeros())
    near(found["x"], [0.583000206, 1.254117781, 0.342215037])


def leaves_early(x: ndarray(f64, 1), y: ndarray(f64, 0)):
    for i in x:
        v = x[i]
        for _ in range(6):
            if v < 0.3:
                break
            v = 0.9 * v * v
        y[()] += v


def leaves_early_by_while(x: ndarray(f64, 1), y: ndarray(f64, 0)):
    for i in x:
        v = x[i]
        n = 0
        while v >= 0.3 and n < 6:
            v = 0.9 * v * v
            n += 1
        y[()] += v


@pytest.mark.parametrize("function", [leaves_early, leaves_early_by_while])
def test_iterations_after_a_break_never_were(function):
    found = gradients(function, ONE, x=floats(0.95, 0.7, 0.2), y=zeros())
    near(found["x"], [1.526200894, 1.000188, 1.0])


def fraction(x: ndarray(f64, 1), y: ndarray(f64, 0)):
    for _ in range(1):
        v = f64(1.0)
        for j in range(4):
            v = x[j] / (v + 1.5)
        y[()] += v


def test_both_operands_of_a_quotient_are_those_of_the_iteration():
    found = gradients(fraction, ONE, x=floats(1.2, 0.8, 2, 0.5), y=zeros())
    near(found["x"], [-0.003461397, 0.021417393, -0.040371786, 0.392095684])


def trips_by_difference(fld: ndarray(i32, 1), arr: ndarray(i32, 1), x: ndarray(f64, 1), y: ndarray(f64, 0)):
    for _ in range(1):
        acc = f64(0.0)
        for i in range(arr.shape[0]):
            m = fld[i] - arr[i]
            if m > 0:
                for k in range(m):
                    acc += x[k] * x[k]
        y[()] += acc


def test_a_loop_visits_nothing_that_it_has_not_visited():
    x = Grad(np.r_[np.full(8, 0.1), np.full(8, 100.0)])
    found = gradients(trips_by_difference, ONE, fld=ints(10, 9, 10, 8), arr=ints(2, 2, 5, 8), x=x, y=zeros())
    near(found["x"], [0.6] * 5 + [0.4, 0.4, 0.2] + [0] * 8)


def powers(x: ndarray(f64, 1), b: ndarray(i32, 1), y: ndarray(f64, 0)):
    for i in b:
        r = f64(1.0)
        for _ in range(b[i]):
            r *= x[i]
        y[()] += r


def test_a_product_of_n_equal_factors_has_n_terms():
    found = gradients(powers, ONE, x=floats(3, 3, 3, 3), b=ints(0, 1, 2, 5), y=zeros())
    near(found["x"], [0, 1, 6, 405])


def swaps(x: ndarray(f64, 1), y: ndarray(f64, 0)):
    for _ in range(1):
        p = x[0]
        q = x[1]
        for _ in range(5):
            p, q = q, p * q + 0.3
        y[()] += q


def test_variables_that_swap_do_so_at_once():
    found = gradients(swaps, ONE, x=floats(0.4, 0.7), y=zeros())
    near(found["x"], [1.259957352, 1.449846244])


def arms_with_roots(x: ndarray(f64, 1), y: ndarray(f64, 0)):
    for i in x:
        c = x[i]
        for _ in range(4):
            if c < 1:
                c = 1.5 * c + 0.4 * c * c
            else:
                c = cg.sqrt(c) - 0.2
        y[()] += c


def test_a_condition_is_not_asked_again_after_the_body():
    found = gradients(arms_with_roots, ONE, x=floats(0.2, 0.6, 1.3), y=zeros())
    near(found["x"], [12.240704254, 0.852594543, 0.175037884])


def zero_in_a_branch(x: ndarray(f64, 0), r: ndarray(i32, 1), y: ndarray(f64, 0)):
    for i in range(4):
        t = cg.sin(x[()])
        if r[i]:
            t = 0
        y[()] += cg.sin(t)


def test_a_zero_that_the_user_writes_ends_what_was_before():
    found = gradients(zero_in_a_branch, ONE, x=Grad(np.array(0.5)), r=ints(0, 1, 0, 1), y=zeros())
    near(found["x"], 1.557287897)


def doubling(z: ndarray(f64, 2), m: i32):
    for k in range(2):
        for i in range(m - 1):
            z[k, i + 1] = 2 * z[k, i]


def test_the_gradient_of_what_was_stored_is_taken():
    seed = np.zeros((2, 6))
    seed[:, 5] = 1
    found = gradients(doubling, {"z": seed}, z=zeros(2, 6), m=6)
    wanted = np.zeros((2, 6))
    wanted[:, 0] = 32
    near(found["z"], wanted)


def segments(off: ndarray(i32, 1), x: ndarray(f64, 1), y: ndarray(f64, 0)):
    for i in range(3):
        acc = f64(1.0)
        for j in range(off[i + 1] - off[i]):
            acc *= 1 + x[off[i] + j]
        y[()] += acc


def test_segments_of_different_lengths():
    found = gradients(segments, ONE, off=ints(0, 2, 3, 6), x=floats(0.2, 0.3, 0.4, 0.5, 0.6, 0.7), y=zeros())
    near(found["x"], [1.3, 1.2, 1.0, 2.72, 2.55, 2.4])


# Against central differences: one law each.


def serial_sum(x: ndarray(f64, 1), y: ndarray(f64, 0)):
    total = f64(0.0)
    for i in x:
        total += x[i] * x[i]
    y[()] = cg.sqrt(total)


def test_a_sum_of_all_iterations_is_used_after_the_loop():
    check(serial_sum, ONE, "x", x=floats(0.3, 0.7, 1.1), y=zeros())


def sum_used_by_all(x: ndarray(f64, 1), y: ndarray(f64, 1)):
    total = f64(0.0)
    for i in x:
        total += x[i] * x[i]
    scale = 1 / cg.sqrt(total)
    for i in x:
        y[i] = x[i] * scale * total


def test_sum_of_one_loop_is_used_by_all_iterations_of_the_next():
    seed = np.array([1.0, -2.0, 0.5])
    check(sum_used_by_all, {"y": seed}, "x", x=floats(0.3, 0.7, 1.1), y=zeros(3))


def reassigned_between_loops(x: ndarray(f64, 1), y: ndarray(f64, 1)):
    s = x[0] * 2.0
    for i in x:
        y[i] += cg.sin(s * x[i])
    s = s * s * x[1]
    for i in x:
        y[i] += cg.cos(s * x[i])


def test_a_variable_of_the_kernel_is_what_it_was_at_each_loop():
    check(
        reassigned_between_loops, {"y": np.array([1.0, -2.0, 0.5])}, "x", x=floats(0.3, 0.7, 1.1), y=zeros(3)
    )


def serial_loop_at_the_top(x: ndarray(f64, 1), y: ndarray(f64, 0)):
    v = x[0]
    cg.loop_config(serialize=True)
    for i in range(x.shape[0]):
        v = cg.sin(v * x[i]) + 0.5
    y[()] = v * v


def test_a_serial_loop_at_the_top_has_a_stack_too():
    check(serial_loop_at_the_top, ONE, "x", x=floats(0.3, 0.7, 1.1, 0.4), y=zeros())


def chained_loops(x: ndarray(f64, 1), t: ndarray(f64, 1), y: ndarray(f64, 0)):
    for i in x:
        t[i] = x[i] * x[i]
    for i in x:
        y[()] += cg.sin(t[i]) * t[(i + 1) % 3]


def test_loops_go_back_in_reverse_order():
    check(chained_loops, ONE, "x", x=floats(0.3, 0.7, 1.1), t=zeros(3), y=zeros())


def triangular(x: ndarray(f64, 1), n: i32, y: ndarray(f64, 0)):
    for i in range(n):
        v = x[i]
        for j in range(i + 1):
            for k in range(j, i + 2):
                v = v * x[j] + 0.1 * cg.sin(v) + 0.01 * k
        y[()] += v


def test_bounds_may_be_the_variables_of_outer_loops():
    check(triangular, ONE, "x", x=floats(0.3, 0.7, 1.1, 0.4), n=4, y=zeros())


def backwards(x: ndarray(f64, 1), y: ndarray(f64, 0)):
    for i in range(2):
        v = f64(1.0) + i
        for j in range(x.shape[0] - 1, -1, -2):
            v = cg.sin(v) * x[j] + v
        for j in range(1, 8, 3):
            v = v * x[j % 4]
        y[()] += v


def test_loops_with_steps():
    check(backwards, ONE, "x", x=floats(0.3, 0.7, 1.1, 0.4), y=zeros())


def skips(x: ndarray(f64, 1), y: ndarray(f64, 0)):
    for i in x:
        if x[i] < 0.35:
            continue
        v = x[i]
        for j in range(8):
            if j % 3 == 1:
                continue
            v = v * v + 0.2
            if v > 1.5:
                break
            v += 0.05 * j
        y[()] += v


def test_continue_and_break_in_one_loop():
    check(skips, ONE, "x", x=floats(0.3, 0.7, 1.1, 0.4), y=zeros())


def nested_while(x: ndarray(f64, 1), y: ndarray(f64, 0)):
    for i in x:
        v = x[i]
        n = 0
        while n < 3:
            w = v
            while w < 2.0:
                w = w * 1.7 + 0.1
                if w > 1.9:
                    break
                v = v * 0.9 + 0.05 * w * w
            v = v * 0.5 + 0.1 * cg.cos(w)
            n += 1
        y[()] += v


def test_while_in_while():
    check(nested_while, ONE, "x", x=floats(0.3, 0.7, 1.1, 0.4), y=zeros())


def grid_of_neighbours(x: ndarray(f64, 2), y: ndarray(f64, 0)):
    for i, j in cg.ndrange((1, x.shape[0] - 1), (1, x.shape[1] - 1)):
        acc = f64(0.0)
        for di, dj in cg.ndrange((-1, 2), (-1, 2)):
            acc += x[i + di, j + dj] * (di + 2 * dj + 1) * acc * 0.1 + x[i + di, j + dj]
            if acc > 2.5:
                break
        y[()] += acc * acc


def test_inner_loops_of_several_axes():
    x = Grad(np.linspace(0.1, 1.2, 20).reshape(4, 5))
    check(grid_of_neighbours, ONE, "x", x=x, y=zeros())


def time_steps(u: ndarray(f64, 2), t: i32):
    for i in range(1, u.shape[1] - 1):
        u[t + 1, i] = u[t, i] + 0.1 * cg.sin(u[t, i - 1] * u[t, i + 1])


def test_an_array_may_be_read_and_written_at_different_times():
    u = Grad(np.linspace(0.1, 1.2, 12).reshape(2, 6))
    seed = np.zeros((2, 6))
    seed[1] = np.arange(6)
    check(time_steps, {"u": seed}, "u", u=u, t=0)


def recurrence_in_memory(z: ndarray(f64, 2), m: i32):
    for k in range(2):
        for i in range(m - 1):
            z[k, i + 1] = cg.sin(z[k, i]) * z[k, i] + 0.3


def test_a_recurrence_through_an_array_that_keeps_its_steps():
    seed = np.zeros((2, 6))
    seed[:, 5] = [1, 2]
    check(recurrence_in_memory, {"z": seed}, "z", z=Grad(np.linspace(0.2, 1, 12).reshape(2, 6)), m=6)


def gathers_and_scatters(x: ndarray(f64, 1), at: ndarray(i32, 1), y: ndarray(f64, 1)):
    for i in x:
        y[at[i]] += x[at[(i + 1) % 4]] * x[i]


def test_indices_that_are_read_from_arrays():
    seed = np.array([1.0, -2.0, 0.5, 3.0])
    check(
        gathers_and_scatters, {"y": seed}, "x", x=floats(0.3, 0.7, 1.1, 0.4), at=ints(2, 2, 0, 3), y=zeros(4)
    )


def carried_index(x: ndarray(f64, 1), nxt: ndarray(i32, 1), y: ndarray(f64, 0)):
    for i in x:
        at = i
        v = f64(1.0)
        for _ in range(5):
            v = v * x[at] + 0.1
            at = nxt[at]
        y[()] += v


def test_an_index_that_a_loop_carries():
    check(carried_index, ONE, "x", x=floats(0.3, 0.7, 1.1, 0.4), nxt=ints(2, 0, 3, 1), y=zeros())


@cg.func
def halve_or_square(v, k):
    w = v * v
    if k % 2 == 0:
        w = v * 0.5 + 0.2
    return w


def inlined(x: ndarray(f64, 1), y: ndarray(f64, 0)):
    for i in x:
        v = x[i]
        for k in range(4):
            v = halve_or_square(v, k) + halve_or_square(x[i], k + 1)
        y[()] += v


def test_functions_are_a_part_of_who_calls_them():
    check(inlined, ONE, "x", x=floats(0.3, 0.7, 1.1, 0.4), y=zeros())


def vectors(x: ndarray(cg.vec(3, f64), 1), y: ndarray(f64, 0)):
    for i in x:
        v = x[i]
        w = cg.vec(3, f64)(0.0)
        for n in range(3):
            for k in cg.static(range(3)):
                w[k] = v[(k + 1) % 3] * v[k] + w[(k + 2) % 3]
            v = v * 0.9 + w.normalized() * (0.1 * n)
        y[()] += v.dot(w) + v.norm()


def test_vectors_component_by_component():
    x = Grad(np.linspace(0.3, 1.2, 6).reshape(2, 3))
    check(vectors, ONE, "x", x=x, y=zeros())


def bounds_of_all_kinds(x: ndarray(f64, 1), n: i32, lo: i32, y: ndarray(f64, 0)):
    for i in x:
        v = x[i]
        m = n * 2 - i
        if i > 1:
            m = n + 1
        for j in range(lo, m):
            v = v * 0.9 + 0.1 * cg.sin(v * j)
        for j in range(2 - (lo - i), abs(lo) + min(n, 3)):
            v = v * cg.cos(v) + 0.01 * j
        y[()] += v


@pytest.mark.parametrize("lo", [-4, 0, 2, 20])
def test_room_for_loops_that_begin_below_zero(lo):
    check(bounds_of_all_kinds, ONE, "x", x=floats(0.3, 0.7, 1.1, 0.4), n=4, lo=lo, y=zeros())


def overwritten(x: ndarray(f64, 1), y: ndarray(f64, 1)):
    for i in x:
        y[i] = x[i] * 3.0
        y[i] += x[i] * x[i]
        y[i] = y[i] * 2.0 + x[i]


def test_an_element_that_is_written_again_and_again():
    check(overwritten, {"y": np.array([1.0, 2.0])}, "x", x=floats(0.3, 0.7), y=zeros(2))


def test_small_stacks_say_so_and_add_nothing():
    x = floats(0.3, 0.7, 1.1)
    found = gradients(two_arms, ONE, capacities={"adstack.0": 6, "adstack.1": 5}, x=x, y=zeros())
    assert found["adstack.overflow"] == 2
    near(found["x"], [0, 0, 0])
