# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a size expression of a stack is at least the counted number of values, for every sign of bounds. Loops without
an expression are counted, and entries on disk carry both."""

import json

import numpy as np
import pytest

from cuda_graphs.compiler.autodiff import counting, gradient, saved_values
from cuda_graphs.compiler.autodiff.analysis.size_expressions import SizeOverflow, evaluate
from cuda_graphs.compiler.cache import artifact_cache
from cuda_graphs.compiler.codegen.x86.x86_target import X86
from cuda_graphs.compiler.frontend.translate import translate
from cuda_graphs.compiler.ir.interpreter import interpret
from cuda_graphs.compiler.language.number_rules import USUAL
from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.passes.propagate import propagate
from cuda_graphs.compiler.pipeline import compile_kernel
from cuda_graphs.native import disk_cache
from tests.autodiff.compiler.gradient_rig import flat_of, floats, gradients, ints, leaf_in, zeros
from tests.compiler.rig import cg, function_of

f64, i32 = cg.f64, cg.i32
ndarray = cg.types.ndarray


def stacks_of(function, **arguments):
    kernel, _ = translate(function, dict(specialise(function, arguments)))
    return gradient(propagate(kernel)).stacks


def capacities(function, **arguments):
    """[(expression, count)] of the stacks of a gradient; SizeOverflow in place of the first where it says nothing."""
    kernel, _ = translate(function, dict(specialise(function, arguments)))
    kernel = propagate(kernel)
    flat = flat_of(arguments)
    leaf, found = leaf_in(flat), []
    arrays = {path: value.copy() for path, value in flat.items() if isinstance(value, np.ndarray)}
    for stack, count in zip(gradient(kernel).stacks, interpret(counting(kernel), arrays, flat), strict=True):
        try:
            found.append((None if stack.capacity is None else evaluate(stack.capacity, leaf), int(count)))
        except SizeOverflow:
            found.append((SizeOverflow, int(count)))
    return found


def from_below_zero(x: ndarray(f64, 1), n: i32, y: ndarray(f64, 0)):
    for i in x:
        v = x[i]
        for j in range(-2, n):
            v = cg.sin(v) + j
        y[()] += v


def from_what_is_subtracted(x: ndarray(f64, 1), n: i32, y: ndarray(f64, 0)):
    for i in x:
        v = x[i]
        for j in range(2 - (3 - n)):
            v = cg.sin(v) + j
        y[()] += v


def product_of_numbers(x: ndarray(f64, 1), n: i32, y: ndarray(f64, 0)):
    for i in x:
        v = x[i]
        for j in range(n * n):
            v = cg.sin(v) + j
        y[()] += v


@pytest.mark.parametrize("n", [-5, -2, -1, 0, 1, 3, 7])
@pytest.mark.parametrize(
    "function", [from_below_zero, from_what_is_subtracted, product_of_numbers], ids=lambda each: each.__name__
)
def test_a_single_loop_has_exactly_its_trips(function, n):
    ((expression, count),) = capacities(function, x=floats(0.3, 0.7), n=n, y=zeros())
    assert expression == count


def test_a_number_that_wraps_around_is_no_bound():
    def wraps(x: ndarray(f64, 1), n: i32, y: ndarray(f64, 0)):
        for i in x:
            v = x[i]
            for j in range(n * n + 3):
                v = cg.sin(v) + j
            y[()] += v

    ((expression, count),) = capacities(wraps, x=floats(0.3), n=65536, y=zeros())
    assert expression is SizeOverflow
    assert count == 3


def test_values_that_are_used_twice_again_and_again_are_looked_at_once(monkeypatch):
    """A second visit of each value would double the compile time of the gradient."""
    squares = "".join(f"            a{n + 1} = a{n} * a{n}\n" for n in range(12))
    k = function_of(
        "def k(x: ndarray(f64, 1), y: ndarray(f64, 0), n: i32):\n"
        "    for i in x:\n        v = x[i]\n        for _ in range(n):\n            a0 = v * 0.5\n"
        f"{squares}            v = cg.sin(a12)\n        y[()] += v\n"
    )
    calls, real = [], saved_values.is_recomputable
    monkeypatch.setattr(saved_values, "is_recomputable", lambda *args: calls.append(args) or real(*args))
    capacities(k, x=floats(0.3), n=2, y=zeros())
    assert 12 < len(calls) < 2000


def test_loops_in_loops_multiply_and_statements_add():
    def nested(x: ndarray(f64, 2), n: i32, y: ndarray(f64, 0)):
        for i in range(x.shape[0]):
            v = x[i, 0]
            for j in range(x.shape[1]):
                for _ in range(n):
                    v = cg.sin(v)
                v = cg.cos(v) * x[i, j]
            y[()] += v

    x = floats(*np.linspace(0.1, 1, 12))
    x.data = x.data.reshape(3, 4)
    assert capacities(nested, x=x, n=5, y=zeros()) == [(4 * 5 + 4, 4 * 5 + 4)]


def test_bound_in_an_array_is_read():
    def read(x: ndarray(f64, 1), b: ndarray(i32, 1), y: ndarray(f64, 0)):
        for i in x:
            v = x[i]
            for _ in range(b[i]):
                v = cg.sin(v)
            y[()] += v

    assert capacities(read, x=floats(0.3, 0.7, 1.1), b=ints(4, 0, 9), y=zeros()) == [(9, 9)]


def test_a_while_is_counted():
    def halves(x: ndarray(f64, 1), y: ndarray(f64, 0)):
        for i in x:
            v = x[i]
            while v > 0.1:
                v = cg.sin(v) * 0.5
            y[()] += v

    found = capacities(halves, x=floats(0.05, 0.3, 4.0), y=zeros())
    assert {expression for expression, _ in found} == {None}


def test_a_break_leaves_the_room_of_its_range():
    def leaves(x: ndarray(f64, 1), n: i32, y: ndarray(f64, 0)):
        for i in x:
            v = x[i]
            for _ in range(n):
                if v < 0.3:
                    break
                v = cg.sin(v)
            y[()] += v

    found = capacities(leaves, x=floats(0.1, 0.9), n=6, y=zeros())
    assert found
    for expression, count in found:
        assert count <= expression


def test_a_kernel_whose_own_stack_is_too_small_says_so_and_writes_nothing():
    """Its statements are several tasks, with parallel loops between them, which add nothing either."""

    def serial_and_parallel(
        x: ndarray(f64, 1), at: ndarray(i32, 1), n: i32, y: ndarray(f64, 1), z: ndarray(f64, 1)
    ):
        v = x[0]
        if n > 0:
            for _ in range(n):
                v = cg.sin(v) * x[1]
            z[0] = v * v
        for i in x:
            y[at[i]] = v * x[i] + x[i] * x[i]
        z[1] = v

    x, seeds = floats(0.3, 0.7, 1.1), {"y": np.array([1.0, 2.0, 3.0]), "z": np.array([4.0, 5.0])}
    given = {"x": x, "at": ints(2, 0, 1), "n": 6, "y": zeros(3), "z": zeros(2)}
    right = gradients(serial_and_parallel, seeds, **given)
    assert np.all(right["x"] != 0) and np.all(right["y"] == 0) and np.all(right["z"] == 0)
    stacks = [stack.array.path for stack in stacks_of(serial_and_parallel, **given)]
    found = gradients(serial_and_parallel, seeds, capacities=dict.fromkeys(stacks, 5), **given)
    assert found["adstack.overflow"] > 0
    np.testing.assert_array_equal(found["x"], 0)
    for path, seed in seeds.items():
        np.testing.assert_array_equal(found[path], seed)


# On disk


def artifact():
    arguments = {"x": floats(0.3), "n": 3, "y": zeros()}
    return compile_kernel(from_below_zero, specialise(from_below_zero, arguments), X86(), mode="reverse")


def test_entries_on_disk_carry_what_is_known_of_a_gradient():
    made = artifact()
    assert made.gradient.stacks
    functions = {each.__qualname__: [each] for each in made.free_values}
    found = artifact_cache.decoded(artifact_cache.encoded(made, functions), functions)
    assert found.gradient == made.gradient
    assert evaluate(found.gradient.stacks[0].capacity, lambda *leaf: 3) == 5


def without_gradient(head):
    del head["gradient"]


def without_expressions(head):
    for stack in head["gradient"]["stacks"]:
        del stack["capacity"]


def without_stacks(head):
    del head["gradient"]["stacks"]


@pytest.mark.parametrize("damage", [without_gradient, without_expressions, without_stacks])
def test_an_entry_without_expressions_is_refused_and_compiled_again(tmp_path, monkeypatch, damage):
    """Without its expressions an entry would give stacks that are too small. The damaged file has its right name."""
    monkeypatch.setenv("CUDA_GRAPHS_CACHE", "1")
    monkeypatch.setenv("CUDA_GRAPHS_CACHE_DIR", str(tmp_path))
    fresh = artifact_cache.CompileCache()
    monkeypatch.setattr(artifact_cache, "compile_cache", fresh)
    signature = specialise(from_below_zero, {"x": floats(0.3), "n": 3, "y": zeros()})
    made = artifact_cache.cached_compile(from_below_zero, signature, X86(), mode="reverse")
    name, functions = artifact_cache.fingerprint(
        from_below_zero, signature, X86(), False, None, None, None, "reverse", False, USUAL, (), None
    )
    data = disk_cache.read(artifact_cache.KIND, name)
    start = 8 + int.from_bytes(data[:8], "little")
    head = json.loads(data[8:start])
    damage(head)
    text = json.dumps(head).encode()
    assert disk_cache.write(artifact_cache.KIND, name, len(text).to_bytes(8, "little") + text + data[start:])
    assert artifact_cache.load(name, functions).gradient is None
    again = artifact_cache.cached_compile(from_below_zero, signature, X86(), mode="reverse")
    assert again.gradient == made.gradient and again.gradient.stacks[0].capacity is not None
    assert (fresh.hits, fresh.misses, fresh.stored) == (0, 2, 2)
    artifact_cache.cached_compile(from_below_zero, signature, X86(), mode="reverse")
    assert fresh.hits == 1
