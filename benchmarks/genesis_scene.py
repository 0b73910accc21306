# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""One scene of Genesis: `genesis_scene.py SCENE STEPS FOLDER`. A child of genesis_compare.py, on either library.

It writes the positions of joints or particles after each of the first steps, and the times, into the folder.
`--backend gpu` runs it on the GPU, and `--environments 1024` so many copies of it. `--exact` compiles kernels of
Quadrants without fast_math, which Genesis asks for, and which this package ignores.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import genesis as gs
import numpy as np
import quadrants as qd

SECONDS = 3.0  # of the loop whose steps are counted
BETWEEN_READS = 50  # steps: a read of the positions waits for the GPU


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


def started(name: str, environments: int) -> tuple[Any, list[Any], float]:
    """Return the scene after its build and two steps, its bodies, and the seconds that this took."""
    begin = time.perf_counter()
    scene = gs.Scene(show_viewer=False, **options(name))
    scene.add_entity(gs.morphs.Plane())
    bodies = SCENES[name](scene)
    scene.build(n_envs=environments)
    if name == "franka":
        goal = np.array([0.3, -0.4, 0.2, -1.8, 0.1, 1.5, 0.6, 0.03, 0.03])
        bodies[0].control_dofs_position(np.tile(goal, (environments, 1)) if environments else goal)
    scene.step()
    scene.step()
    positions(bodies)
    return scene, bodies, time.perf_counter() - begin


def positions(bodies: list[Any]) -> Any:
    """Return the joint positions of all bodies, or the positions of all particles. Waits for all steps."""
    places = [each.get_qpos() if hasattr(each, "get_qpos") else each.get_particles_pos() for each in bodies]
    return np.concatenate([np.asarray(each.cpu()).ravel() for each in places])


def trajectory(scene: Any, bodies: list[Any], steps: int) -> Any:
    """Return the positions after each step."""
    rows = []
    for _ in range(steps):
        scene.step()
        rows.append(positions(bodies))
    return np.array(rows)


def speed(scene: Any, bodies: list[Any]) -> float:
    """Return the steps a second."""
    begin = now = time.perf_counter()
    count = 0
    while now - begin < SECONDS:
        scene.step()
        count += 1
        if count % BETWEEN_READS == 0:
            positions(bodies)
        now = time.perf_counter()
    positions(bodies)
    return count / (time.perf_counter() - begin)


def forbid_fast_math() -> None:
    """Let Genesis start the library without fast_math."""
    init = qd.init
    qd.init = lambda *args, **options: init(*args, **{**options, "fast_math": False})


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("scene", choices=SCENES)
    parser.add_argument("steps", type=int)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--backend", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--environments", type=int, help="default: 4 of the scene `environments`, else none")
    parser.add_argument("--exact", action="store_true", help="compile without fast_math")
    args = parser.parse_args()
    if args.exact:
        forbid_fast_math()
    gs.init(backend=getattr(gs, args.backend), logging_level="error", seed=1)
    count = args.environments
    if count is None:
        count = 4 if args.scene == "environments" else 0
    scene, bodies, start = started(args.scene, count)
    np.save(args.folder / "trajectory.npy", trajectory(scene, bodies, args.steps))
    times = {"start": start, "steps": speed(scene, bodies)}
    (args.folder / "times.json").write_text(json.dumps(times))


if __name__ == "__main__":
    main()
