# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Genesis moves bodies as it does on Quadrants, where both are installed beside this package (`make nightly`)."""

import importlib.util
import json
import os
import subprocess
import sys

import numpy as np
import pytest

WHY = "genesis-world is not installed here: pip install genesis-world==1.4.5 torch"
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(importlib.util.find_spec("genesis") is None, reason=WHY),
]

# The largest distance of positions in 80 steps. Contacts of "quadruped" and "mixed" are found by iterations whose
# number depends on the last bit: two floating point types of Quadrants differ by 0.1 in them.
LIMITS = {
    "box": 1e-3,
    "stack": 1e-3,
    "environments": 1e-3,
    "franka": 1e-3,
    "duck": 1e-3,
    "quadruped": 0.2,
    "mixed": 1.5,
    "elastic": 1e-4,  # MPM: 1,034 particles
    "liquid": 1e-3,  # SPH: 1,000 particles
}


def trajectory(command, scene, folder, tree, **variables):
    child = str(tree / "benchmarks/genesis_scene.py")
    done = subprocess.run(
        [sys.executable, *command, child, scene, "80", str(folder)],
        env={**os.environ, "PYTHONPATH": str(tree), "PYTHONWARNINGS": "ignore", **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads((folder / "times.json").read_text())["steps"] > 0
    return np.load(folder / "trajectory.npy")


@pytest.mark.parametrize("scene", LIMITS)
def test_bodies_move_as_on_quadrants(scene, tmp_path, pytestconfig):
    found = []
    for command in (["-m", "cuda_graphs.compat"], []):
        folder = tmp_path / f"side{len(found)}"
        folder.mkdir()
        found.append(trajectory(command, scene, folder, pytestconfig.rootpath, CUDA_GRAPHS_DRIVER="host"))
    assert np.abs(found[0] - found[1]).max() < LIMITS[scene]
