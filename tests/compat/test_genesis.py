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

# Scenes of solids have the bits of Quadrants without fast_math. Of the others: the largest distance of positions in 80
# steps. MPM takes singular vectors, which the libraries compute in different ways, and SPH a power of a constant.
SOLIDS = ["box", "stack", "environments", "franka", "duck", "quadruped", "mixed"]
LIMITS = {"elastic": 5e-6, "liquid": 1e-3}  # 1,034 and 1,000 particles


def trajectory(command, scene, folder, tree, **variables):
    child = str(tree / "benchmarks/genesis_scene.py")
    done = subprocess.run(
        [sys.executable, *command, child, scene, "80", str(folder), "--exact"],
        env={**os.environ, "PYTHONPATH": str(tree), "PYTHONWARNINGS": "ignore", **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads((folder / "times.json").read_text())["steps"] > 0
    return np.load(folder / "trajectory.npy")


def differences(scene, tmp_path, tree):
    found = []
    for command in (["-m", "cuda_graphs.compat"], []):
        folder = tmp_path / f"side{len(found)}"
        folder.mkdir()
        found.append(trajectory(command, scene, folder, tree, CUDA_GRAPHS_DRIVER="host"))
    return found[0] - found[1]


@pytest.mark.parametrize("scene", SOLIDS)
def test_solids_have_the_bits_of_quadrants(scene, tmp_path, pytestconfig):
    assert not differences(scene, tmp_path, pytestconfig.rootpath).any()


@pytest.mark.parametrize("scene", LIMITS)
def test_particles_move_as_on_quadrants(scene, tmp_path, pytestconfig):
    assert np.abs(differences(scene, tmp_path, pytestconfig.rootpath)).max() < LIMITS[scene]
