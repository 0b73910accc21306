# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A solver in the style of robot simulators, in Quadrants' words: `large_solver.py FUNCTIONS ARCH FOLDER`.

A child of large_program.py, on either library. Many arrays in frozen dataclasses, one configuration, and functions
whose bodies are generated: each has 100 statements, and each kernel inlines a part of them. A step is six kernels and a
loop that the device ends.
"""

import importlib.util
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

GROUPS, ARRAYS, STATEMENTS, KERNELS, ENVIRONMENTS = 8, 12, 100, 6, 1
SECONDS = 3.0

HEAD = """
import dataclasses
import quadrants as qd

Floats = qd.types.ndarray(qd.f32, 2)

@qd.data_oriented
class Config:
    def __init__(self):
        self.is_sparse, self.iterations, self.tolerance = False, 2, 1e-6

    def __eq__(self, other):
        return isinstance(other, Config) and self.key() == other.key()

    def __hash__(self):
        return hash(self.key())

    def key(self):
        return self.is_sparse, self.iterations, self.tolerance

"""


def group_text(number: int) -> str:
    """Return a frozen dataclass of arrays."""
    members = "".join(f"    x{i}: Floats\n" for i in range(ARRAYS))
    return f"@dataclasses.dataclass(frozen=True)\nclass Group{number}:\n{members}\n"


def function_text(number: int) -> str:
    """Return a function of many statements on the arrays of one group, with a static branch."""
    lines = [f"@qd.func\ndef f{number}(g: Group{number % GROUPS}, i, e, config: qd.template()):"]
    lines += ["    t = g.x0[i, e]"]
    for k in range(STATEMENTS):
        lines.append(
            f"    t = t * {0.25 + 0.001 * k:.3f} + g.x{(number + k) % ARRAYS}[i, e] * {0.5 / (k + 2):.4f}"
        )
    lines += [
        "    if qd.static(config.is_sparse):",
        "        t = t - 1.0",
        f"    g.x{number % ARRAYS}[i, e] = t",
    ]
    return "\n".join(lines) + "\n\n"


def kernel_text(number: int, functions: int) -> str:
    """Return a kernel that calls every KERNELS-th function for each element, and takes all groups of arrays."""
    parameters = ", ".join(f"g{i}: Group{i}" for i in range(GROUPS))
    calls = "".join(
        f"            f{n}(g{n % GROUPS}, i, e, config)\n" for n in range(number, functions, KERNELS)
    )
    return (
        f"@qd.kernel\ndef k{number}({parameters}, config: qd.template()):\n"
        f"    for e in range(g0.x0.shape[1]):\n        for i in range(g0.x0.shape[0]):\n{calls}\n"
    )


SOLVE = """
@qd.kernel(graph=True)
def solve(x: Floats, left: qd.types.ndarray(qd.i32, 0)):
    while qd.graph_do_while(left):
        for e in range(x.shape[1]):
            for i in range(x.shape[0]):
                x[i, e] = x[i, e] * 0.5 + 0.25
        for i in range(1):
            left[()] -= 1

"""


def program_text(functions: int) -> str:
    """Return the source of the solver."""
    return (
        HEAD
        + "".join(map(group_text, range(GROUPS)))
        + "".join(map(function_text, range(functions)))
        + "".join(kernel_text(n, functions) for n in range(KERNELS))
        + SOLVE
    )


def load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("solver", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["solver"] = module
    spec.loader.exec_module(module)
    return module


def main() -> None:
    functions, arch, folder = int(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    import quadrants as qd

    (folder / "solver.py").write_text(program_text(functions))
    qd.init(arch=getattr(qd, arch), cpu_max_num_threads=1)
    solver = load(folder / "solver.py")
    generator = np.random.default_rng(1)

    def array() -> Any:
        found = qd.ndarray(qd.f32, (16, ENVIRONMENTS))
        found.from_numpy(generator.random((16, ENVIRONMENTS), "f4"))
        return found

    groups = [getattr(solver, f"Group{i}")(*(array() for _ in range(ARRAYS))) for i in range(GROUPS)]
    kernels = [getattr(solver, f"k{i}") for i in range(KERNELS)]
    config, left = solver.Config(), qd.ndarray(qd.i32, ())

    def step() -> None:
        for each in kernels:
            each(*groups, config)
        left.fill(4)
        solver.solve(groups[0].x0, left)

    begin = time.perf_counter()
    step()
    qd.sync()
    start = time.perf_counter() - begin
    for _ in range(9):
        step()
    found = [getattr(g, f"x{i}").to_numpy() for g in groups for i in range(ARRAYS)]
    np.save(folder / "values.npy", np.array(found))
    count, begin = 0, time.perf_counter()
    processor = time.process_time()
    while time.perf_counter() - begin < SECONDS:
        for _ in range(20):
            step()
        qd.sync()
        count += 20
    times = {
        "start": start,
        "step": (time.perf_counter() - begin) / count * 1e6,
        "processor": (time.process_time() - processor) / count * 1e6,
    }
    (folder / "times.json").write_text(json.dumps(times))


if __name__ == "__main__":
    main()
