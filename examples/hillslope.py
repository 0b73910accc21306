# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Smooth a landscape until it no longer changes: a while node decides the number of steps.

Soil creeps downhill at a speed that is proportional to the slope, so an elevation z changes by linear hillslope
diffusion, dz/dt = D laplace(z), with the rim of the map held fixed. The map is the elevation model of the Jacksboro
fault (Tennessee) that matplotlib ships, or any 2-D array (--input file.npy).

One graph allocates memory and copies the map to the device. A while node repeats time steps until the largest change of
a step is below a tolerance. The graph then copies the map back, calls the host, and frees the memory. The number of
steps is not known at the launch, and the host takes no part in the loop.

    alloc old -> copy map to old -+-> while (begin -> diffuse -> measure) -+-> copy map back ----+-> callback -> free
    alloc new, change ------------+                                        +-> copy change back -+

    python examples/hillslope.py [--driver cuda|host] [--input file.npy] [--tolerance metres] [--output picture.png]
                                [--graph graph.svg]
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path
from typing import Any

import numpy as np

import cuda_graphs as cg

Map = cg.Array2[cg.f32]
# A map has no f64, so the compiler knows that `change` is no element of a map that the loop writes. Each thread then
# keeps its largest change in a register, and there is one atomic operation for each block, not for each cell.
Change = cg.Array0[cg.f64]


@cg.kernel
def begin(change: Change) -> None:
    change[()] = 0.0


@cg.kernel
def diffuse(z: Map, w: Map, cx: cg.f32, cy: cg.f32) -> None:
    """Compute w, which is z after one time step. Cells of the rim stay as they are."""
    for i, j in z:
        m = z[i, j]
        if i == 0 or i == z.shape[0] - 1 or j == 0 or j == z.shape[1] - 1:
            w[i, j] = m
        else:
            w[i, j] = m + (
                cx * ((z[i, j - 1] - m) + (z[i, j + 1] - m)) + cy * ((z[i - 1, j] - m) + (z[i + 1, j] - m))
            )


@cg.kernel
def measure(z: Map, w: Map, change: Change) -> None:
    """Take w over into z, and find the largest change."""
    for i, j in z:
        cg.atomic_max(change[()], abs(w[i, j] - z[i, j]))
        z[i, j] = w[i, j]


DIFFUSIVITY = 0.01  # m2 a year, a soil-covered hillslope in a humid climate
METRES_PER_DEGREE = 111_320.0


def load_map(path: Path | None, spacing: float) -> tuple[np.ndarray, float, float]:
    """Return elevations in metres as float32, and the distances of columns and of rows in metres."""
    if path is not None:
        z = np.load(path)
        if z.ndim != 2 or min(z.shape) < 3:
            raise SystemExit(
                f"{path} holds an array of shape {z.shape}; a map has two dimensions of 3 or more"
            )
        return np.ascontiguousarray(z, np.float32), spacing, spacing
    from matplotlib.cbook import get_sample_data

    dem: Any = get_sample_data("jacksboro_fault_dem.npz")
    with dem:
        latitude = np.radians((float(dem["ymin"]) + float(dem["ymax"])) / 2)
        dx = float(dem["dx"]) * METRES_PER_DEGREE * np.cos(latitude)
        return dem["elevation"].astype(np.float32), float(dx), float(dem["dy"]) * METRES_PER_DEGREE


def stable_step(dx: float, dy: float) -> tuple[float, np.float32, np.float32]:
    """Return a time step in years, 80% of the stable limit, and the weights of horizontal and vertical neighbours."""
    years = 0.8 / (2 * DIFFUSIVITY * (dx**-2 + dy**-2))
    return years, np.float32(DIFFUSIVITY * years / dx**2), np.float32(DIFFUSIVITY * years / dy**2)


def smooth_on_device(
    z: np.ndarray, cx: np.float32, cy: np.float32, tolerance: float, limit: int, drawing: Path | None = None
) -> tuple[np.ndarray, int, float, float]:
    """Return the smoothed map, the number of steps, the last step's largest change, and the seconds of the launch.

    Draw the graph to the file `drawing`.
    """
    device = cg.Device()
    device.set_current()
    stream = device.create_stream()

    def pinned(shape: tuple[int, ...], dtype: type) -> np.ndarray:
        size = math.prod(shape) * np.dtype(dtype).itemsize
        buffer = cg.PinnedMemoryResource().allocate(size, stream=stream)
        return np.from_dlpack(buffer).view(dtype).reshape(shape)

    tolerance = float(np.float32(tolerance))
    host_map, host_change = pinned(z.shape, np.float32), pinned((), np.float64)
    host_map[:] = z

    g = cg.GraphDef()
    z_old, z_new = (g.alloc(shape=z.shape, dtype=cg.f32) for _ in range(2))
    change = g.alloc(shape=(), dtype=cg.f64)
    ready = g.join(z_old.memcpy(z_old, host_map), z_new, change)

    loop = ready.while_loop(lambda: change[()] >= tolerance, do=True, max_iterations=limit, name="steps")
    # The kernels round like NumPy, so the results can be compared to the last bit.
    loop.body.call(begin, change).call(diffuse, z_old, z_new, cx, cy).call(measure, z_old, z_new, change)

    done = g.join(loop.memcpy(host_map, z_old), loop.memcpy(host_change, change))
    changes: list[float] = []
    reported = done.callback(lambda: changes.append(float(host_change)), name="report")
    reported.free(z_new).free(z_old).free(change)

    if drawing is not None:
        g.draw(drawing)
    graph = g.instantiate()
    graph.upload(stream)
    stream.sync()
    start = time.perf_counter()
    graph.launch(stream)
    stream.sync()
    seconds = time.perf_counter() - start
    return host_map.copy(), graph.iterations["steps"].iterations, changes[0], seconds


def smooth_in_numpy(
    z: np.ndarray, cx: np.float32, cy: np.float32, tolerance: float, limit: int
) -> tuple[np.ndarray, int, float]:
    """Run the same loop in NumPy, with the same operations in the same order."""
    z = z.copy()
    m, left, right, up, down = z[1:-1, 1:-1], z[1:-1, :-2], z[1:-1, 2:], z[:-2, 1:-1], z[2:, 1:-1]
    steps, change = 0, np.float32(np.inf)
    while change >= np.float32(tolerance) and steps < limit:
        w = m + (cx * ((left - m) + (right - m)) + cy * ((up - m) + (down - m)))
        change = np.abs(w - m).max()
        m[:] = w
        steps += 1
    return z, steps, float(change)


def draw(path: Path, maps: dict[str, np.ndarray], dx: float, dy: float) -> None:
    """Draw a shaded relief of each map, side by side, with one colour scale."""
    from matplotlib import colormaps
    from matplotlib.colors import LightSource
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6 * len(maps), 5.4), layout="constrained")
    first = next(iter(maps.values()))
    sun = LightSource(azdeg=315, altdeg=45)
    for axes, (title, z) in zip(figure.subplots(1, len(maps)), maps.items(), strict=True):
        relief = sun.shade(
            z,
            colormaps["gist_earth"],
            blend_mode="soft",
            vmin=first.min(),
            vmax=first.max(),
            vert_exag=3,
            dx=dx,
            dy=dy,
        )
        axes.imshow(relief, extent=(0, z.shape[1] * dx / 1000, z.shape[0] * dy / 1000, 0), aspect="equal")
        axes.set(title=title, xlabel="km", ylabel="km")
    figure.savefig(path, dpi=100)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--input", type=Path, help="a .npy file with a 2-D array of elevations in metres")
    parser.add_argument("--spacing", type=float, default=30.0, help="metres between cells of --input")
    parser.add_argument(
        "--driver", choices=("auto", "cuda", "host"), help="default: CUDA_GRAPHS_DRIVER, else auto"
    )
    parser.add_argument(
        "--tolerance", type=float, default=0.1, help="stop when no cell changes by as much; metres"
    )
    parser.add_argument("--steps", type=int, default=20_000, help="stop after so many steps at the latest")
    parser.add_argument("--output", type=Path, default=Path("hillslope.png"), help="the picture to write")
    parser.add_argument("--graph", type=Path, help="a picture of the graph to write, .svg or .dot")
    options = parser.parse_args()

    if options.driver:
        cg.use_driver(options.driver)
    z, dx, dy = load_map(options.input, options.spacing)
    years, cx, cy = stable_step(dx, dy)
    print(f"{cg.driver_info()}\n{cg.Device().name}")
    print(
        f"map: {z.shape[0]} x {z.shape[1]} cells of {dy:.1f} x {dx:.1f} m, {z.min():.0f} to {z.max():.0f} m"
    )

    smooth, steps, change, seconds = smooth_on_device(
        z, cx, cy, options.tolerance, options.steps, options.graph
    )
    print(
        f"graph: {steps} steps, {seconds:.3f} s, {1e6 * seconds / steps:.1f} us a step; last change {change:.4f} m"
    )

    start = time.perf_counter()
    expected, expected_steps, _ = smooth_in_numpy(z, cx, cy, options.tolerance, options.steps)
    seconds = time.perf_counter() - start
    print(f"NumPy: {expected_steps} steps, {seconds:.3f} s, {1e6 * seconds / expected_steps:.1f} us a step")

    difference = float(np.abs(smooth - expected).max())
    print(f"largest difference: {difference:g} m")
    if steps != expected_steps or difference > 1e-6 * float(np.abs(expected).max()):
        raise SystemExit("the graph and NumPy disagree")

    title = f"after {steps} steps, {steps * years / 1e6:.1f} million years"
    draw(options.output, {"before": z, title: smooth}, dx, dy)
    print(f"wrote {options.output}")


if __name__ == "__main__":
    main()
