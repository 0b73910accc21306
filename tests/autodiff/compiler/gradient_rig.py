# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Gradients of functions on all targets (rig.py), and central differences to compare them with."""

from contextlib import suppress

import numpy as np

from cuda_graphs.compiler.autodiff import gradient
from cuda_graphs.compiler.autodiff.analysis.size_expressions import SizeOverflow, evaluate
from cuda_graphs.compiler.frontend import translate
from cuda_graphs.compiler.ir.interpreter import interpret
from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.passes.debug import without_asserts
from cuda_graphs.compiler.passes.propagate import propagate
from cuda_graphs.compiler.pipeline import lower
from tests.compiler.rig import Grad, compare, flattened

OVERFLOW = "adstack.overflow"


def floats(*values):
    """An array with a gradient."""
    return Grad(np.array(values, np.float64))


def zeros(*shape):
    return Grad(np.zeros(shape))


def ints(*values):
    return np.array(values, np.int32)


def flat_of(arguments):
    return {path: v for name, value in arguments.items() for path, v in flattened(name, value)}


def grads_of(arguments):
    """The paths of what has a gradient."""
    return [name for name, value in arguments.items() if isinstance(value, Grad)]


def leaf_in(memory):
    """Returns a function that gives the value of each leaf of a size expression for these arguments."""

    def leaf(kind, path, what):
        if kind == "extent":
            return memory[path].shape[what]
        return int(memory[path] if kind == "scalar" else memory[path][what])

    return leaf


def capacities_of(function, arguments, memory, targets):
    """{stack: capacity}, as the counting kernel says it, which every expression covers."""
    signature = specialise(function, arguments)
    kernel, _ = translate(function, dict(signature))
    stacks = gradient(propagate(without_asserts(kernel))).stacks
    if not stacks:
        return {}
    counting, _ = lower(function, signature, verify_ir=True, mode="count")
    counts = compare(counting, memory, targets=targets)[1]

    leaf = leaf_in(memory)
    for stack, count in zip(stacks, counts, strict=True):
        if stack.capacity is not None:
            with suppress(SizeOverflow):
                assert evaluate(stack.capacity, leaf) >= count, (stack.array.path, stack.capacity)
    return {stack.array.path: max(1, int(count)) for stack, count in zip(stacks, counts, strict=True)}


def forward(function, arguments):
    """The arrays after the function ran."""
    program, _ = lower(function, specialise(function, arguments), verify_ir=True)
    return compare(program, {"random.seed": 0} | flat_of(arguments), exact=False, targets=("interpreter",))[0]


def gradients(function, seeds, *, targets=None, capacities=None, debug=False, is_race=False, **arguments):
    """{path: gradient} after the function and its gradient ran, with the adjoints of its results as `seeds` says.

    All targets must agree, and nothing but gradients changes. `is_race`: which iteration writes last is open, so
    forward mode, where another one may, is not asked.
    """
    memory = {"random.seed": 0} | flat_of(arguments) | forward(function, arguments)
    is_counted = capacities is None
    capacities = capacities_of(function, arguments, memory, targets) if is_counted else capacities
    adjoints = {f"{path}.grad": np.zeros_like(memory[path]) for path in grads_of(arguments)}
    for path, seed in seeds.items():
        adjoints[f"{path}.grad"][...] = seed
    program, _ = lower(function, specialise(function, arguments), verify_ir=True, mode="reverse", debug=debug)
    flat = memory | adjoints | capacities | {OVERFLOW: np.zeros(1, np.int64)}
    found, _ = compare(program, flat, exact=False, targets=targets)
    for path, value in memory.items():
        np.testing.assert_array_equal(found.get(path, value), value, err_msg=f"{path} changed")
    if is_counted:
        assert found[OVERFLOW][0] == 0, "a stack had no capacity"
    if is_counted and not is_race:
        check_forward(function, seeds, found, arguments)
    return {path: found[f"{path}.grad"] for path in grads_of(arguments)} | {OVERFLOW: int(found[OVERFLOW][0])}


def check_forward(function, seeds, found, arguments):
    """Law: gradients times a direction are seeds times the duals of results that change in it, but for rounding."""
    random, paths = np.random.default_rng(5), grads_of(arguments)
    flat = {"random.seed": 0} | flat_of(arguments)
    directions = {path: random.standard_normal(flat[path].shape).astype(flat[path].dtype) for path in paths}
    program, _ = lower(function, specialise(function, arguments), verify_ir=True, mode="forward")
    duals = {f"{path}.dual": values for path, values in directions.items()}
    after, _ = compare(program, flat | duals, exact=False, targets=("interpreter",))
    back = [found[f"{path}.grad"] * directions[path] for path in paths]
    there = [after[f"{path}.dual"] * seed for path, seed in seeds.items()]
    size = max((float(np.max(np.abs(each), initial=0)) for each in (*back, *there)), default=0.0)
    if np.isfinite(size):
        places = max(np.finfo(flat[path].dtype).eps for path in paths)
        total = sum(float(np.sum(each)) for each in back)
        other = sum(float(np.sum(each)) for each in there)
        assert abs(total - other) <= 1e4 * places * max(size, 1e-30), f"reverse {total}, forward {other}"


def differences(function, seeds, wrt, step=1e-6, **arguments):
    """Central differences of the sum of seeds times results, with respect to an argument, on the interpreter."""
    kernel, _ = translate(function, dict(specialise(function, arguments)))
    flat = flat_of(arguments)

    def loss(values):
        arrays = {p: v.copy() for p, v in (flat | {wrt: values}).items() if isinstance(v, np.ndarray)}
        interpret(kernel, arrays, flat)
        return sum(float(np.sum(arrays[path] * seed)) for path, seed in seeds.items())

    found = np.zeros_like(flat[wrt])
    for at in np.ndindex(found.shape):
        high, low = flat[wrt].copy(), flat[wrt].copy()
        high[at] += step
        low[at] -= step
        found[at] = (loss(high) - loss(low)) / (2 * step)
    return found


def check(function, seeds, wrt, *, rtol=1e-6, atol=1e-7, targets=None, **arguments):
    """The gradients are central differences."""
    found = gradients(function, seeds, targets=targets, **arguments)
    for path in (wrt,) if isinstance(wrt, str) else wrt:
        wanted = differences(function, seeds, path, **arguments)
        np.testing.assert_allclose(found[path], wanted, rtol=rtol, atol=atol, err_msg=f"gradient of {path}")
    return found
