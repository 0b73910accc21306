# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Gradients on the CPU whose iterations run side by side in the lanes of vectors: each lane has a place of its own on
stacks. Iterations that push values at different times run one by one."""

import numpy as np
import pytest

from cuda_graphs.compiler.codegen.x86.vectorisation_analysis import spread_of
from cuda_graphs.compiler.codegen.x86.x86_target import X86
from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.pipeline import compile_kernel, lower
from tests.autodiff.compiler.gradient_rig import gradients
from tests.compiler.rig import Grad, cg

f32, f64, i32 = cg.f32, cg.f64, cg.i32
ndarray = cg.types.ndarray
N = 75  # parts of 25 iterations: a whole vector of 16, or three of 8, and some more
RNG = np.random.default_rng(11)


def sine_steps(x: ndarray(f32, 1), n: i32, y: ndarray(f32, 0)):
    for i in x:
        v = x[i]
        for _ in range(n):
            v = cg.sin(v) * cg.cos(v) + 0.1
        y[()] += v


def of_two_kinds(x: ndarray(f64, 1), k: ndarray(i32, 1), w: ndarray(f64, 1), n: i32, y: ndarray(f64, 0)):
    for i in x:
        v = x[i]
        at = 1
        for j in range(n):
            for _ in range(j):
                v = v * x[i] * 0.5 + w[at]
            at = k[at]
            v = cg.sqrt(v * v + 0.3)
        y[()] += v * w[at]


def some_take_part(x: ndarray(f64, 1), n: i32, y: ndarray(f64, 1)):
    for i in x:
        v = x[i]
        s = f64(0.0)
        for _ in range(n):
            v = v * v * 0.8 + 0.2
            if v > 0.5:
                s += v * x[i]
        y[i] = s


def at_different_times(x: ndarray(f64, 1), n: i32, y: ndarray(f64, 1)):
    for i in x:
        v = x[i]
        for _ in range(n):
            if v > 0.5:
                v = v * v
            else:
                v = v + 0.3 * x[i]
        y[i] = v


K = np.array([2, 0, 3, 1], np.int32)
WIDE = RNG.uniform(0.1, 1, N)
CASES = {
    "sines": (
        sine_steps,
        {"x": Grad(WIDE.astype(np.float32)), "n": 6, "y": Grad(np.zeros((), np.float32))},
        16,
    ),
    "two kinds of stacks": (
        of_two_kinds,
        {"x": Grad(WIDE), "k": K, "w": Grad(np.array([0.1, 0.4, 0.2, 0.3])), "n": 4, "y": Grad(np.zeros(()))},
        None,  # the gradients of w are sums of all iterations
    ),
    "two kinds of stacks, one gradient": (
        of_two_kinds,
        {"x": Grad(WIDE), "k": K, "w": np.array([0.1, 0.4, 0.2, 0.3]), "n": 4, "y": Grad(np.zeros(()))},
        8,
    ),
    "some take part": (some_take_part, {"x": Grad(WIDE), "n": 5, "y": Grad(np.zeros(N))}, 8),
    "at different times": (at_different_times, {"x": Grad(WIDE), "n": 5, "y": Grad(np.zeros(N))}, None),
}


@pytest.mark.parametrize("name", CASES)
def test_lanes_have_the_gradients_of_the_interpreter(name):
    function, arguments, width = CASES[name]
    signature = specialise(function, arguments)
    program, _ = lower(function, signature, mode="reverse")
    found = [spread_of(task) for task in program.tasks if task.loop is not None]
    assert [each and each.width for each in found] == [width]
    stacks = compile_kernel(function, signature, X86(), mode="reverse").gradient.stacks
    assert {stack.workers for stack in stacks} == {width or 1}
    gradients(function, {"y": 1.0}, targets=("interpreter", "x86"), **arguments)


def test_lanes_without_room_say_so_and_add_nothing():
    function, arguments, _ = CASES["sines"]
    found = gradients(
        function, {"y": 1.0}, capacities={"adstack.0": 5}, targets=("interpreter", "x86"), **arguments
    )
    assert found["adstack.overflow"] == 1
    np.testing.assert_array_equal(found["x"], 0)
