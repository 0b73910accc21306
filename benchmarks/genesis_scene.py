# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""One scene of Genesis: `genesis_scene.py SCENE STEPS FOLDER`. A child of genesis_compare.py, on either library.

It writes the positions of joints or particles after each of the first steps, and the times, into the folder.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import genesis as gs
import numpy as np

SECONDS = 3.0  # of the loop whose steps are counted


def falling_box(scene: Any) -> list[Any]:
    return [scene.add_entity(gs.morphs.Box(size=(0.2, 0.2, 0.2), pos=(0, 0, 0.5), euler=(10, 20, 30)))]


def stack(scene: Any) -> list[Any]:
    places = [(0, 0.02 * i, 0.11 + 0.22 * i) for i in range(3)]
    return [scene.add_entity(gs.morphs.Box(size=(0.2, 0.2, 0.2), pos=place)) for place in places]


def mixed(scene: Any) -> list[Any]:
    shapes = (
        gs.morphs.Sphere(radius=0.1, pos=(0, 0, 0.3)),
        gs.morphs.Cylinder(radius=0.1, height=0.2, pos=(0.05, 0, 0.6), euler=(30, 0, 0)),
        gs.morphs.Box(size=(0.2, 0.1, 0.2), pos=(0.02, 0.03, 0.9)),
    )
    return [scene.add_entity(each) for each in shapes]


def franka(scene: Any) -> list[Any]:
    return [scene.add_entity(gs.morphs.MJCF(file="xml/franka_emika_panda/panda.xml"))]


def duck(scene: Any) -> list[Any]:
    return [scene.add_entity(gs.morphs.Mesh(file="meshes/duck.obj", scale=0.1, pos=(0, 0, 0.4)))]


def quadruped(scene: Any) -> list[Any]:
    return [scene.add_entity(gs.morphs.URDF(file="urdf/go2/urdf/go2.urdf", pos=(0, 0, 0.42)))]


def elastic(scene: Any) -> list[Any]:
    return [
        scene.add_entity(
            material=gs.materials.MPM.Elastic(), morph=gs.morphs.Box(pos=(0, 0, 0.3), size=(0.2, 0.2, 0.2))
        )
    ]


def liquid(scene: Any) -> list[Any]:
    return [
        scene.add_entity(
            material=gs.materials.SPH.Liquid(), morph=gs.morphs.Box(pos=(0, 0, 0.3), size=(0.2, 0.2, 0.2))
        )
    ]


SCENES: dict[str, Callable[[Any], list[Any]]] = {
    "box": falling_box,
    "stack": stack,
    "mixed": mixed,
    "environments": falling_box,
    "franka": franka,
    "duck": duck,
    "quadruped": quadruped,
    "elastic": elastic,
    "liquid": liquid,
}
BOX = {"lower_bound": (-0.5, -0.5, 0), "upper_bound": (0.5, 0.5, 1)}


def options(name: str) -> dict[str, Any]:
    """Return the options of a scene: those of particles have a box of their own and short steps."""
    steps = {"sim_options": gs.options.SimOptions(dt=4e-3, substeps=4)}
    if name == "elastic":
        return {**steps, "mpm_options": gs.options.MPMOptions(grid_density=32, **BOX)}
    if name == "liquid":
        return {**steps, "sph_options": gs.options.SPHOptions(particle_size=0.02, **BOX)}
    return {}


def started(name: str) -> tuple[Any, list[Any], float]:
    """Return the scene after its build and two steps, its bodies, and the seconds that this took."""
    begin = time.perf_counter()
    scene = gs.Scene(show_viewer=False, **options(name))
    scene.add_entity(gs.morphs.Plane())
    bodies = SCENES[name](scene)
    scene.build(n_envs=4 if name == "environments" else 0)
    if name == "franka":
        bodies[0].control_dofs_position(np.array([0.3, -0.4, 0.2, -1.8, 0.1, 1.5, 0.6, 0.03, 0.03]))
    scene.step()
    scene.step()
    return scene, bodies, time.perf_counter() - begin


def trajectory(scene: Any, bodies: list[Any], steps: int) -> Any:
    """Return the joint positions of all bodies, or the positions of all particles, after each step."""
    rows = []
    for _ in range(steps):
        scene.step()
        places = [
            each.get_qpos() if hasattr(each, "get_qpos") else each.get_particles_pos() for each in bodies
        ]
        rows.append(np.concatenate([np.asarray(each.cpu()).ravel() for each in places]))
    return np.array(rows)


def speed(scene: Any) -> float:
    """Return the steps a second."""
    begin = now = time.perf_counter()
    count = 0
    while now - begin < SECONDS:
        scene.step()
        count, now = count + 1, time.perf_counter()
    return count / (now - begin)


def main() -> None:
    name, steps, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    gs.init(backend=gs.cpu, logging_level="error", seed=1)
    scene, bodies, start = started(name)
    np.save(folder / "trajectory.npy", trajectory(scene, bodies, steps))
    (folder / "times.json").write_text(json.dumps({"start": start, "steps": speed(scene)}))


if __name__ == "__main__":
    main()
