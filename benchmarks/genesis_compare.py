# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Genesis on this package beside Quadrants: trajectories, first and second start, and steps a second.

    python benchmarks/genesis_compare.py --python PYTHON [--turns 3] [--steps 80] [--json FILE] [SCENE ...]
    python benchmarks/genesis_compare.py --python PYTHON --backend gpu [--environments 1024] [SCENE ...]

The interpreter PYTHON has genesis-world 1.4.5 and what this package needs. Each turn runs a scene once with each
library, in processes of their own. The first turn begins with empty caches of code, the others find it on disk.
At last a run of Quadrants without fast_math tells how far two of its own trajectories are apart.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from contestants import machine
from timing import write

HERE = Path(__file__).parent
SCENES = ("box", "stack", "mixed", "environments", "franka", "duck", "quadruped", "elastic", "liquid")
DRIVERS = {"cpu": "host", "gpu": "cuda"}  # of Genesis' backends
SIDES = ("cuda_graphs", "Quadrants")
EXACT = "Quadrants without fast_math"
# Arguments before and after those of the scene.
ARGUMENTS: dict[str, tuple[list[str], list[str]]] = {
    "cuda_graphs": (["-m", "cuda_graphs.compat"], []),
    "Quadrants": ([], []),
    EXACT: ([], ["--exact"]),
}
MISSING = "genesis-world is not installed for {}: pip install genesis-world==1.4.5 torch"


def is_installed(python: str) -> bool:
    """Return True if the interpreter finds Genesis."""
    code = "import importlib.util, sys; sys.exit(importlib.util.find_spec('genesis') is None)"
    return subprocess.run([python, "-c", code], check=False).returncode == 0


def run(
    python: str, side: str, scene: str, caches: Path, options: argparse.Namespace
) -> tuple[dict[str, float], Any]:
    """Run a scene in a process of its own, and return its times and the trajectory."""
    paths = (str(HERE.parent), os.environ.get("PYTHONPATH", ""))
    ours = {
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "CUDA_GRAPHS_DRIVER": DRIVERS[options.backend],
        "CUDA_GRAPHS_CACHE_DIR": str(caches / "ours"),
    }
    # Quadrants keeps its code in the folder of the first variable, which exists for this process only.
    others = {"QD_OFFLINE_CACHE_FILE_PATH": str(caches / "theirs"), "XDG_CACHE_HOME": str(caches / "theirs")}
    environment = {
        **os.environ,
        **others,
        **(ours if side == "cuda_graphs" else {}),
        "PYTHONWARNINGS": "ignore",
    }
    with tempfile.TemporaryDirectory() as folder:
        child = str(HERE / "genesis_scene.py")
        before, after = ARGUMENTS[side]
        command = [
            python,
            *before,
            child,
            scene,
            str(options.steps),
            folder,
            "--backend",
            options.backend,
            *after,
        ]
        if options.environments is not None:
            command += ["--environments", str(options.environments)]
        done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{scene} with {side} failed:\n{done.stderr[-2000:]}")
        return json.loads(Path(folder, "times.json").read_text()), np.load(Path(folder, "trajectory.npy"))


def distance(a: Any, b: Any) -> float:
    """Return the largest difference of two trajectories."""
    return float(np.abs(a - b).max())


def compare(python: str, scene: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return the times of both libraries in turns, and how far their trajectories are apart."""
    row: dict[str, Any] = {"scene": scene}
    with tempfile.TemporaryDirectory() as caches:
        found = [
            {side: run(python, side, scene, Path(caches), options) for side in SIDES}
            for _ in range(options.turns)
        ]
        exact = run(python, EXACT, scene, Path(caches), options)[1]
    for side in SIDES:
        times = [each[side][0] for each in found]
        row[side] = {
            "first start": times[0]["start"],
            "second start": statistics.median(each["start"] for each in times[1:] or times),
            "steps": statistics.median(each["steps"] for each in times),
        }
    ours, theirs = (found[-1][side][1] for side in SIDES)
    row["differences"] = {
        "ours, Quadrants": distance(ours, theirs),
        "ours, exact": distance(ours, exact),
        "Quadrants, exact": distance(theirs, exact),
        "Quadrants, again": distance(theirs, found[0]["Quadrants"][1]),
    }
    return row


def show(row: dict[str, Any]) -> None:
    ours, theirs = row["cuda_graphs"], row["Quadrants"]
    ratios = "  ".join(
        f"{name} {ours[name]:.1f} / {theirs[name]:.1f} = {ours[name] / theirs[name]:.2f}x" for name in ours
    )
    differences = "  ".join(f"{name} {value:.1e}" for name, value in row["differences"].items())
    print(f"{row['scene']:13s} {ratios}  differences: {differences}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", required=True, help="the interpreter with Genesis")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--steps", type=int, default=80, help="steps of the trajectory")
    parser.add_argument("--backend", choices=DRIVERS, default="cpu")
    parser.add_argument("--environments", type=int, help="the number of copies of each scene")
    parser.add_argument("--json", type=Path)
    parser.add_argument("scenes", nargs="*", choices=[[], *SCENES], default=[])
    args = parser.parse_args()
    if not is_installed(args.python):
        raise SystemExit(MISSING.format(args.python))
    print("seconds, and steps a second: cuda_graphs / Quadrants")
    rows = []
    for scene in args.scenes or SCENES:
        rows.append(compare(args.python, scene, args))
        show(rows[-1])
    write(args.json, {"machine": machine(), "rows": rows})


if __name__ == "__main__":
    main()
