# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A large program of Quadrants on this package beside Quadrants: first and second start, and the time of a step.

    python benchmarks/large_program.py [--python PYTHON] [--arch cpu|cuda] [--functions 200] [--turns 3] [--json FILE]

The solver (large_solver.py) has 100 statements in each of its functions, 20,000 by default, 97 arrays, and one
configuration. The interpreter PYTHON has Quadrants 1.3.3 and what this package needs. Each turn runs both libraries, in
processes of their own. The first turn begins with empty caches of code, the others find it on disk.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from contestants import machine
from timing import write

HERE = Path(__file__).parent
SIDES = {"cuda_graphs": ["-m", "cuda_graphs.compat"], "Quadrants": []}
DRIVERS = {"cpu": "host", "cuda": "cuda"}


def run(options: Any, side: str, caches: Path) -> tuple[dict[str, float], Any]:
    """Run the solver in a process of its own, and return its times and the arrays after ten steps."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, (str(HERE.parent), os.environ.get("PYTHONPATH")))),
        "CUDA_GRAPHS_DRIVER": DRIVERS[options.arch],
        "CUDA_GRAPHS_CACHE_DIR": str(caches / "ours"),
        "QD_OFFLINE_CACHE_FILE_PATH": str(caches / "theirs"),
        "XDG_CACHE_HOME": str(caches / "theirs"),
    }
    with tempfile.TemporaryDirectory() as folder:
        child = [str(HERE / "large_solver.py"), str(options.functions), options.arch, folder]
        command = [options.python, *SIDES[side], *child]
        done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"the solver with {side} failed:\n{done.stderr[-2000:]}")
        return json.loads(Path(folder, "times.json").read_text()), np.load(Path(folder, "values.npy"))


def has_quadrants(python: str) -> bool:
    """Return True if the interpreter finds Quadrants itself."""
    code = "import importlib.util, sys; sys.exit(importlib.util.find_spec('quadrants') is None)"
    return subprocess.run([python, "-c", code], check=False).returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", default=sys.executable, help="the interpreter with Quadrants")
    parser.add_argument("--arch", default="cpu", choices=DRIVERS)
    parser.add_argument("--functions", type=int, default=200)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    sides = list(SIDES) if has_quadrants(options.python) else ["cuda_graphs"]
    found: dict[str, list[dict[str, float]]] = {side: [] for side in sides}
    values: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as caches:
        for turn in range(options.turns):
            for side in sides:
                times, values[side] = run(options, side, Path(caches))
                found[side].append(times)
                numbers = ", ".join(f"{name} {value:.1f}" for name, value in times.items())
                print(f"turn {turn} {side}: {numbers} (s, us, us)", flush=True)
    rows = {
        side: {
            "first start": each[0]["start"],
            "second start": statistics.median(one["start"] for one in each[1:] or each),
            "step": statistics.median(one["step"] for one in each),
            "processor": min(one["processor"] for one in each),
        }
        for side, each in found.items()
    }
    if len(sides) == 2:
        ours, theirs = (rows[side] for side in sides)
        for name in ours:
            print(f"{name}: {ours[name]:.1f} / {theirs[name]:.1f} = {ours[name] / theirs[name]:.2f}x")
        print(f"largest difference: {np.abs(values['cuda_graphs'] - values['Quadrants']).max():.1e}")
    write(options.json, {"machine": machine(), "rows": rows})


if __name__ == "__main__":
    main()
