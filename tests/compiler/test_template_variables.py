# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a function changes the variable, the vector, the structure or the element that a template parameter gets, at any
depth of calls. Other parameters are copies."""

import dataclasses

import numpy as np

from cuda_graphs.compiler.ir.types import f32, i32
from cuda_graphs.compiler.language.annotations import ndarray, template, vec
from tests.compiler.rig import cg, run_all


@dataclasses.dataclass
class Ball:
    radius: f32
    at: vec(3, f32)


def add(place: template, value):
    place += value


def add_to_copy(place, value):
    place += value


def each_neighbour(n, result: template, task: template):
    for i in range(n):
        for j in range(2):
            if i != j:
                task(i, j, result)


def pair(i, j, result: template):
    result -= cg.vector(1.0, 2.0, 3.0) * (i + 10 * j)


def count(i, j, result: template):
    result += 1


def grow(ball: template, by):
    ball.radius += by
    ball.at += cg.vector(by, 0.0, 0.0)


def test_functions_change_vectors_that_they_take_as_templates():
    def kernel(x: ndarray(f32, 1), v: ndarray(vec(3, f32), 1), n: i32):
        for i in x:
            sums = cg.vector(0.0, 0.0, 0.0)
            each_neighbour(n, sums, pair)
            found = 0
            each_neighbour(n, found, count)
            add(sums[1], 100.0)
            add_to_copy(sums, 5.0)
            v[i] = sums
            x[i] = found

    pairs = [(i, j) for i in range(3) for j in range(2) if i != j]
    total = sum(i + 10 * j for i, j in pairs)
    found = run_all(kernel, x=np.zeros(4, np.float32), v=np.zeros((4, 3), np.float32), n=3)
    np.testing.assert_array_equal(found["x"], np.full(4, len(pairs)))
    np.testing.assert_array_equal(found["v"], np.tile([-total, 100 - 2 * total, -3 * total], (4, 1)))


def test_functions_change_elements_and_structures_that_they_take_as_templates():
    def kernel(x: ndarray(f32, 1), v: ndarray(vec(3, f32), 1)):
        for i in x:
            ball = Ball(1.0, cg.vector(0.0, 0.0, 0.0))
            grow(ball, 2.0)
            grow(ball, 3.0)
            add(x[i], ball.radius)
            add(v[i], ball.at)
            add(v[i][2], 7.0)

    found = run_all(kernel, x=np.ones(4, np.float32), v=np.ones((4, 3), np.float32))
    np.testing.assert_array_equal(found["x"], np.full(4, 7))
    np.testing.assert_array_equal(found["v"], np.tile([6, 1, 8], (4, 1)))


def test_fill_assigns_to_all_elements():
    def kernel(x: ndarray(f32, 2), v: ndarray(vec(3, f32), 1), w: ndarray(vec(3, f32), 1), a: f32):
        x.fill(a)
        v.fill(2)
        w.fill(cg.vector(a, 0.0, 1.0))

    zeros = {"x": np.zeros((3, 4), np.float32)} | dict.fromkeys(("v", "w"), np.zeros((5, 3), np.float32))
    found = run_all(kernel, a=1.5, **zeros)
    np.testing.assert_array_equal(found["x"], np.full((3, 4), 1.5))
    np.testing.assert_array_equal(found["v"], np.full((5, 3), 2))
    np.testing.assert_array_equal(found["w"], np.tile([1.5, 0, 1], (5, 1)))


def test_types_of_numbers_and_vectors_are_known_when_compiling():
    def kernel(x: ndarray(f32, 1), k: ndarray(i32, 1), v: ndarray(vec(3, f32), 1)):
        for i in x:
            number, t = x[i] * 2.0, k[i]
            x[i] = 1.0 if cg.static(number.dtype is f32 and t.dtype == i32 and x[i].dtype is f32) else 2.0
            k[i] = cg.cast(x[i] * 3.5, t.dtype) + cg.cast(cg.static(t.dtype.maximum), t.dtype) * 0
            v[i].x = cg.cast(1, v[i].dtype)

    found = run_all(
        kernel, x=np.zeros(4, np.float32), k=np.zeros(4, np.int32), v=np.zeros((4, 3), np.float32)
    )
    np.testing.assert_array_equal(found["x"], np.ones(4))
    np.testing.assert_array_equal(found["k"], np.full(4, 3))


def test_components_of_constant_vectors_are_known_when_compiling():
    corner = vec(2, i32)(1, 2)

    def kernel(x: ndarray(i32, 1)):
        for offset in cg.static(cg.grouped(cg.ndrange(3, 3))):
            if cg.static(offset[0] == 0 and offset.y > 1):
                x[0] += 1
            if cg.static(offset.sum() == 2 and (offset != corner)):
                x[1] += 1
            if cg.static(offset == corner):
                x[2] += 10 * offset.x + cg.static(offset).y
        x[3] = cg.static(corner[1] + corner.n)

    found = run_all(kernel, x=np.zeros(4, np.int32))
    np.testing.assert_array_equal(found["x"], [1, 3, 12, 4])


def test_fences_are_accepted_on_all_targets():
    def kernel(x: ndarray(f32, 1), y: ndarray(f32, 1)):
        for i in x:
            y[i] = x[i]
            cg.fence()
            x[i] = y[i] + 1.0
        for b, t in cg.blocks(2, 2):
            y[b * 2 + t] += 1.0
            cg.fence()
            cg.block.sync()
            x[b * 2 + t] += y[b * 2 + 1 - t]

    given = np.arange(4, dtype=np.float32)
    found = run_all(kernel, x=given, y=np.zeros(4, np.float32))
    np.testing.assert_array_equal(found["x"], given + 1 + given[[1, 0, 3, 2]] + 1)
