# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Run the programs with the peers and with this package, and compare the results. By hand, where the peers are installed.

    python -m tests.compat.compare_with_peers --peer-python /path/to/python [--peer taichi|quadrants] [PROGRAM ...]

The interpreter of `--peer-python` has the peer and NumPy. Each program runs once in a process of each.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

PROGRAMS = Path(__file__).parent / "programs"
ROOT = Path(__file__).parents[2]

# Runs a program and writes its results to a file.
RUN = """
import runpy, sys
import numpy as np
if sys.argv[3] == "ours":
    from cuda_graphs.compat.shim import install
    install()
found = runpy.run_path(sys.argv[1])
np.savez(sys.argv[2], **{name: np.asarray(value) for name, value in found["result"].items()})
"""


def results(python: str, program: Path, side: str, folder: Path) -> dict[str, np.ndarray]:
    """Return the results of a program in a process of its own."""
    output = folder / f"{side}.npz"
    environment = {**os.environ, "PYTHONPATH": str(ROOT) if side == "ours" else ""}
    command = [python, "-c", RUN, str(program), str(output), side]
    subprocess.run(command, check=True, env=environment, cwd=folder, capture_output=True)
    with np.load(output) as found:
        return dict(found)


def difference(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Return the largest difference, relative to the largest value."""
    scale = max(1.0, float(np.abs(theirs).max(initial=0)))
    return float(np.abs(ours.astype(float) - theirs.astype(float)).max(initial=0)) / scale


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer-python", required=True)
    parser.add_argument("--peer", choices=("taichi", "quadrants"), default="taichi")
    parser.add_argument("programs", nargs="*")
    options = parser.parse_args()
    for path in sorted(PROGRAMS.glob("*.py")):
        if options.programs and path.stem not in options.programs:
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            program = folder / path.name
            program.write_text(path.read_text().replace("import taichi", f"import {options.peer}"))
            try:
                theirs = results(options.peer_python, program, "theirs", folder)
                ours = results(sys.executable, program, "ours", folder)
            except subprocess.CalledProcessError as error:
                print(f"{path.stem:12} failed: {error.stderr.decode().strip().splitlines()[-1]}", flush=True)
                continue
        worst = {key: difference(ours[key], theirs[key]) for key in theirs}
        print(f"{path.stem:12}", ", ".join(f"{key} {value:.1e}" for key, value in worst.items()), flush=True)


if __name__ == "__main__":
    main()
