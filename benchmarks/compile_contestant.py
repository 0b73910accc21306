# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""One process of compile.py: MODULE DRIVER ROW FOLDER prints the milliseconds of one first call as JSON.

The clock runs from the call until its result has been read. `elapsed` is the time on the clock, `cpu` the CPU time of
all threads in it, `process` the CPU time of the whole process, with its imports.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from compile_programs import BODIES, PROGRAMS
from contestant import Absent, peer, start
from problems import FIRST

# Contestants that have decorators for kernels and functions of the same names, and the name of their library.
LIBRARIES = {"with_cuda_graphs": ("cuda_graphs", "cg"), "with_quadrants": ("quadrants", "qd")}


def program(module: str, found: Any, row: str, folder: Path) -> tuple[Callable[[], object], Any]:
    """Return (one call of a generated program, its result). Its source is a module in the folder."""
    if module not in LIBRARIES:
        raise Absent("has no such program")
    package, name = LIBRARIES[module]
    array = f"{name}.types.ndarray({name}.f32, 1)"
    text = f"import {package} as {name}\n\n" + PROGRAMS[row]().replace("{lib}", name).replace(
        "{array}", array
    )
    (folder / "program.py").write_text(text)
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True
    run = importlib.import_module("program").run
    given = [found.put(np.linspace(0.1, 1.0, 3 * BODIES, dtype="f4")) for _ in range(2)]
    return lambda: run(*given), given[1]


def first_call(module: str, driver: str, row: str, folder: str) -> dict[str, Any]:
    found = peer(module, driver)
    call, result = start(found, FIRST[row]) if row in FIRST else program(module, found, row, Path(folder))
    begin = time.perf_counter(), time.process_time()
    call()
    found.sync()
    value = found.get(result)
    end = time.perf_counter(), time.process_time()
    elapsed, cpu = (1e3 * (b - a) for a, b in zip(begin, end))
    return {
        "elapsed": elapsed,
        "cpu": cpu,
        "process": 1e3 * end[1],
        "result": float(np.abs(value.astype("f8")).sum()),
    }


if __name__ == "__main__":
    module, driver, row, folder = sys.argv[1:]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # output of a peer is not an answer
    os.environ["CUDA_GRAPHS_DRIVER"] = driver
    answers.write(json.dumps(first_call(module, driver, row, folder)) + "\n")
    answers.close()
