# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The host time of a call with many arrays and one configuration object.

    python benchmarks/configuration.py [--driver host|cuda] [--arrays 400] [--rounds 60] [--json FILE]

The contestants take turns in one process. They differ in the template argument, and in how they pass the arrays: one by
one, in a dataclass, as members of the object of a method, or as those of a template. The last two use all arrays, the
others use two. The time is that of the calling thread, which waits for nothing.
"""

import argparse
import dataclasses
import importlib.util
import sys
import tempfile
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from contestants import machine
from timing import measure, show, warm_up, write

import cuda_graphs as cg

CALLS = 50  # calls in a turn

PROGRAM = """
from dataclasses import dataclass

import cuda_graphs as cg


@cg.kernel
def advance({parameters}, config: cg.template) -> None:
    for i in range(1):
        if cg.static(config is None or config.solver.kind == "newton"):
            a0[i] += 1
        a{last}[i] += 1


@dataclass
class State:
{members}


@cg.kernel
def advance_state(s: State, config: cg.template) -> None:
    for i in range(1):
        s.a0[i] += 1
        s.a{last}[i] += 1


@cg.data_oriented
class Solver:
    def __init__(self, arrays):
        for number, each in enumerate(arrays):
            setattr(self, f"a{{number}}", each)

    @cg.kernel
    def advance(self, config: cg.template) -> None:
        for i in range(1):
            {uses}


@cg.kernel
def advance_template(s: cg.template, config: cg.template) -> None:
    for i in range(1):
        {uses_of_template}
"""


@dataclasses.dataclass(frozen=True)
class Solver:
    kind: str = "newton"
    steps: int = 50
    tolerance: float = 1e-6
    sizes: tuple[int, ...] = (16, 32)


@dataclasses.dataclass(frozen=True)
class Config:
    """A configuration like those of large simulations: nested, and never changed."""

    solver: Solver = Solver()
    gravity: tuple[float, ...] = (0.0, 0.0, -9.81)
    has_contacts: bool = True
    substeps: int = 4


def program_of(arrays: int) -> Any:
    """Return a module with kernels of that many arrays."""
    parameters = ", ".join(f"a{i}: cg.Array1[cg.f32]" for i in range(arrays))
    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
        members = "\n".join(f"    a{i}: cg.Array1[cg.f32]" for i in range(arrays))
        uses = "\n            ".join(f"self.a{i}[i] += 1" for i in range(arrays))
        texts = {
            "members": members,
            "uses": uses,
            "uses_of_template": uses.replace("self", "s").replace("\n    ", "\n"),
        }
        file.write(PROGRAM.format(parameters=parameters, last=arrays - 1, **texts))
    spec = importlib.util.spec_from_file_location("many_arrays", file.name)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["many_arrays"] = module
    spec.loader.exec_module(module)
    return module


def timed(kernel: Any, arguments: tuple[Any, ...]) -> Callable[[], float]:
    """Return a contestant: microseconds of a call, without waiting."""

    def run() -> float:
        start = time.thread_time_ns()
        for _ in range(CALLS):
            kernel(*arguments)
        elapsed = time.thread_time_ns() - start
        cg.Device().sync()
        return elapsed / CALLS / 1e3

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--driver", default="auto", choices=("auto", "cuda", "host"))
    parser.add_argument("--arrays", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    cg.use_driver(options.driver)
    cg.Device().set_current()
    program = program_of(options.arrays)
    arrays = [cg.zeros(1, cg.f32) for _ in range(options.arrays)]
    mutable = types.SimpleNamespace(**vars(Config()), notes=["a", "b"])
    configs = {"no configuration": None, "frozen dataclass": Config(), "object that can change": mutable}
    warm_up()
    contestants = {name: timed(program.advance, (*arrays, each)) for name, each in configs.items()}
    contestants["arrays in a dataclass"] = timed(program.advance_state, (program.State(*arrays), Config()))
    contestants["arrays of a method's object"] = timed(program.Solver(arrays).advance, (Config(),))
    solver = program.Solver(arrays)
    contestants["arrays of a template"] = timed(program.advance_template, (solver, Config()))
    found = measure(contestants, options.rounds)
    show(machine(), {f"{options.arrays} arrays": found})
    write(options.json, {"machine": machine(), "figures": {f"{options.arrays} arrays": found}})


if __name__ == "__main__":
    main()
