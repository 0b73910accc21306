# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Smooth a landscape until it no longer changes: a while node decides the number of steps.

Soil creeps downhill at a speed that is proportional to the slope, so an elevation z changes by linear hillslope
diffusion, dz/dt = D laplace(z), with the rim of the map held fixed. The map is the elevation model of the Jacksboro
fault (Tennessee) that matplotlib ships, or any 2-D array (--input file.npy).

One graph allocates memory and copies the map to the device. A while node repeats time steps until the largest change of
a step is below a tolerance. The graph then copies the map back, calls the host, and frees the memory. The number of
steps is not known at the launch, and the host takes no part in the loop.

    alloc old ---> copy map to old --+
    alloc state -> clear state ------+-> while (diffuse -> measure -> decide) -+-> copy map back ---+-> callback -> free
    alloc new -----------------------+                                         +-> copy state back -+

    python examples/hillslope.py [--driver cuda|host] [--input file.npy] [--tolerance metres] [--output picture.png]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import cuda_graphs as cg

SOURCE = r"""
#include <cuda_graphs.h>

struct State {
    int change;  // the largest change of this step in metres: the bits of a float, which order like ints when >= 0
    int steps;
};

// w = z after one time step. Cells of the rim stay as they are.
extern "C" __global__ void diffuse(const float* z, float* w, int rows, int columns, float cx, float cy) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || column >= columns) return;
    int i = row * columns + column;
    float m = z[i];
    if (row == 0 || row == rows - 1 || column == 0 || column == columns - 1) {
        w[i] = m;
    } else {
        w[i] = m + (cx * ((z[i - 1] - m) + (z[i + 1] - m)) + cy * ((z[i - columns] - m) + (z[i + columns] - m)));
    }
}

// Takes w over into z and finds the largest change: each thread over its cells, each block over its threads by halving
// in shared memory, the grid by an atomic.
extern "C" __global__ void measure(float* z, const float* w, int cells, State* state) {
    __shared__ float largest[128];
    float mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < cells; i += gridDim.x * blockDim.x) {
        mine = fmaxf(mine, fabsf(w[i] - z[i]));
        z[i] = w[i];
    }
    largest[threadIdx.x] = mine;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) largest[threadIdx.x] = fmaxf(largest[threadIdx.x], largest[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicMax(&state->change, __float_as_int(largest[0]));
}

extern "C" __global__ void decide(State* state, float tolerance, int limit, cudaGraphConditionalHandle more) {
    float change = __int_as_float(state->change);
    state->steps += 1;
    bool again = change >= tolerance && state->steps < limit;
    if (again) state->change = 0;  // else the host wants to see it
    cudaGraphSetConditional(more, again);
}
"""

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

    with get_sample_data("jacksboro_fault_dem.npz") as dem:
        latitude = np.radians((float(dem["ymin"]) + float(dem["ymax"])) / 2)
        dx = float(dem["dx"]) * METRES_PER_DEGREE * np.cos(latitude)
        return dem["elevation"].astype(np.float32), float(dx), float(dem["dy"]) * METRES_PER_DEGREE


def stable_step(dx: float, dy: float) -> tuple[float, np.float32, np.float32]:
    """Return a time step in years, 80% of the stable limit, and the weights of horizontal and vertical neighbours."""
    years = 0.8 / (2 * DIFFUSIVITY * (dx**-2 + dy**-2))
    return years, np.float32(DIFFUSIVITY * years / dx**2), np.float32(DIFFUSIVITY * years / dy**2)


def smooth_on_device(
    z: np.ndarray, cx: np.float32, cy: np.float32, tolerance: float, limit: int
) -> tuple[np.ndarray, int, float, float]:
    """Return the smoothed map, the number of steps, the last step's largest change, and the seconds of the launch."""
    device = cg.Device()
    device.set_current()
    stream = device.create_stream()

    # Without fused multiply-add the device rounds like NumPy, and the results can be compared to the last bit.
    module = cg.Program(SOURCE, code_type="c++", options=cg.ProgramOptions(fma=False)).compile("cubin")
    diffuse, measure, decide = (module.get_kernel(name) for name in ("diffuse", "measure", "decide"))

    pinned = cg.PinnedMemoryResource()
    map_buffer = pinned.allocate(z.nbytes, stream=stream)
    state_buffer = pinned.allocate(8, stream=stream)
    host_map = np.from_dlpack(map_buffer).view(np.float32).reshape(z.shape)
    host_state = np.from_dlpack(state_buffer).view([("change", np.float32), ("steps", np.int32)])
    host_map[:] = z

    rows, columns = (np.int32(extent) for extent in z.shape)
    per_cell = cg.LaunchConfig(grid=(-(-z.shape[1] // 32), -(-z.shape[0] // 8)), block=(32, 8))
    per_processor = cg.LaunchConfig(grid=2 * device.properties.multiprocessor_count, block=128)
    once = cg.LaunchConfig(grid=1, block=1)

    g = cg.GraphDef()
    z_old, z_new, state = g.alloc(z.nbytes), g.alloc(z.nbytes), g.alloc(8)
    ready = g.join(z_old.memcpy(z_old.dptr, map_buffer, z.nbytes), state.memset(state.dptr, 0, 8), z_new)

    more = g.create_condition(default_value=1)
    loop = ready.while_loop(more)
    (
        loop.body.launch(per_cell, diffuse, z_old.dptr, z_new.dptr, rows, columns, cx, cy)
        .launch(per_processor, measure, z_old.dptr, z_new.dptr, np.int32(z.size), state.dptr)
        .launch(once, decide, state.dptr, np.float32(tolerance), np.int32(limit), more)
    )

    done = g.join(
        loop.memcpy(map_buffer, z_old.dptr, z.nbytes),
        loop.memcpy(state_buffer, state.dptr, 8),
    )
    results: list[tuple[int, float]] = []
    told = done.callback(
        lambda: results.append((int(host_state["steps"][0]), float(host_state["change"][0])))
    )
    told.free(z_new.dptr).free(z_old.dptr).free(state.dptr)

    graph = g.instantiate()
    graph.upload(stream)
    stream.sync()
    start = time.perf_counter()
    graph.launch(stream)
    stream.sync()
    seconds = time.perf_counter() - start
    ((steps, change),) = results
    return host_map.copy(), steps, change, seconds


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
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
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
    options = parser.parse_args()

    if options.driver:
        cg.use_driver(options.driver)
    z, dx, dy = load_map(options.input, options.spacing)
    years, cx, cy = stable_step(dx, dy)
    print(f"{cg.driver_info()}\n{cg.Device().name}")
    print(
        f"map: {z.shape[0]} x {z.shape[1]} cells of {dy:.1f} x {dx:.1f} m, {z.min():.0f} to {z.max():.0f} m"
    )

    smooth, steps, change, seconds = smooth_on_device(z, cx, cy, options.tolerance, options.steps)
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
