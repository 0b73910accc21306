# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: kernels with the shapes of large simulations compute what NumPy computes: many arrays in nested dataclasses,
one configuration that static branches read, and many functions with many statements."""

import dataclasses
import importlib.util
import textwrap

import numpy as np
import pytest

import cuda_graphs as cg

ARRAYS, FUNCTIONS, STATEMENTS = 40, 12, 20

HEAD = """
import dataclasses
import cuda_graphs as cg

Floats = cg.types.NDArray[cg.f64, 2]

@dataclasses.dataclass(frozen=True)
class Solver:
    is_sparse: bool = False
    iterations: int = 2

@dataclasses.dataclass(frozen=True)
class Config:
    solver: Solver = Solver()
    levels: tuple = (1, 2)

"""


def group_text(number):
    """Returns a frozen dataclass of ten arrays."""
    members = "".join(f"    x{number}_{i}: Floats\n" for i in range(10))
    return f"@dataclasses.dataclass(frozen=True)\nclass Group{number}:\n{members}\n"


def function_text(number, decorator, statements):
    """Returns a function of many statements, with static branches. It is Python too."""
    group = number % (ARRAYS // 10)
    lines = [
        f"{decorator}def f{number}(state: cg.template, i, j, config: cg.template):",
        f"    t = state.g{group}.x{group}_0[i, j]",
    ]
    for k in range(statements):
        lines.append(f"    t = t * 0.5 + state.g{group}.x{group}_{k % 9}[i, j] * {k % 7 + 1}.0")
    lines += [
        "    if cg.static(config.solver.is_sparse):", "        t = t - 1.0", "    else:", "        t = t + 0.25",
        "    for level in cg.static(config.levels):", "        t = t + 0.125 * level",
        f"    state.g{group}.x{group}_9[i, j] += t",
    ]  # fmt: skip
    return "\n".join(lines) + "\n\n"


def program_text(inline, functions, statements):
    """Returns the text of a program with so many functions of so many statements."""
    groups = range(ARRAYS // 10)
    state = "".join(f"    g{i}: Group{i}\n" for i in groups)
    calls = "".join(f"                f{n}(state, i, j, config)\n" for n in range(functions))
    kernel = (
        "@cg.kernel\ndef step(state: State, config: cg.template) -> None:\n"
        "    for i in range(state.g0.x0_0.shape[0]):\n"
        "        for _ in range(cg.static(config.solver.iterations)):\n"
        f"            for j in range(state.g0.x0_0.shape[1]):\n{calls}"
    )
    functions = "".join(function_text(n, inline, statements) for n in range(functions))
    return (
        HEAD
        + "".join(map(group_text, groups))
        + f"@dataclasses.dataclass(frozen=True)\nclass State:\n{state}\n"
        + functions
        + kernel
    )


@pytest.fixture
def sizes():
    """The number of functions, and that of the statements of each."""
    return FUNCTIONS, STATEMENTS


@pytest.fixture
def program(tmp_path, monkeypatch, sizes):
    """Returns the module of the program."""
    path = tmp_path / "large_program.py"
    path.write_text(textwrap.dedent(program_text("@cg.func\n", *sizes)))
    spec = importlib.util.spec_from_file_location("large_program", path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(__import__("sys").modules, "large_program", module)
    spec.loader.exec_module(module)
    yield module
    module.step.forget()


def state_of(program, arrays):
    groups = [getattr(program, f"Group{g}")(*arrays[10 * g : 10 * g + 10]) for g in range(ARRAYS // 10)]
    return program.State(*groups)


def run_in_python(arrays, config, functions, statements):
    """The same statements, on all elements at once, by the rules of the text."""
    for _ in range(config.solver.iterations):
        for number in range(functions):
            group = number % (ARRAYS // 10)
            x = arrays[10 * group : 10 * group + 10]
            t = x[0]
            for k in range(statements):
                t = t * 0.5 + x[k % 9] * (k % 7 + 1)
            t = t - 1.0 if config.solver.is_sparse else t + 0.25
            for level in config.levels:
                t = t + 0.125 * level
            x[9] += t


def test_kernel_with_nested_arrays_and_a_configuration_computes_what_numpy_computes(program, sizes):
    given = np.random.default_rng(25).random((ARRAYS, 3, 4))
    arrays = [cg.array(each, cg.f64) for each in given]
    truth = [each.copy() for each in given]
    state = state_of(program, arrays)
    configs = [
        program.Config(),
        program.Config(program.Solver(is_sparse=True, iterations=3)),
        program.Config(levels=(3,)),
    ]
    for config in (*configs, *(dataclasses.replace(each) for each in configs)):
        program.step(state, config)
        run_in_python(truth, config, *sizes)
    for ours, wanted in zip(arrays, truth, strict=True):
        np.testing.assert_allclose(ours.to_numpy(), wanted, rtol=1e-12)
    assert repr(program.step).endswith("3 specialisations>")


@pytest.mark.nightly
@pytest.mark.parametrize("sizes", [(50, 400)])
def test_kernel_of_20000_statements_computes_what_numpy_computes(program, sizes):
    given = np.random.default_rng(25).random((ARRAYS, 3, 4))
    arrays = [cg.array(each, cg.f64) for each in given]
    truth = [each.copy() for each in given]
    config = program.Config(program.Solver(iterations=1))
    program.step(state_of(program, arrays), config)
    run_in_python(truth, config, *sizes)
    for ours, wanted in zip(arrays, truth, strict=True):
        np.testing.assert_allclose(ours.to_numpy(), wanted, rtol=1e-12)
