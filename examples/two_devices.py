# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Heat in a plate that two devices share: each has one half, and copies of the row beside it.

One graph holds the steps of both devices, and the copies of rows between them. One process launches it. Without a
GPU the program runs on two devices of the host driver.

python examples/two_devices.py [rows] [steps]
"""

import os
import sys

import numpy as np

os.environ.setdefault("CUDA_GRAPHS_HOST_DEVICES", "2")  # the host driver reads it when it is loaded

import cuda_graphs as cg

f32_2d = cg.Array2[cg.f32]


@cg.kernel
def step(old: f32_2d, new: f32_2d) -> None:
    for i, j in cg.ndrange((1, old.shape[0] - 1), (1, old.shape[1] - 1)):
        new[i, j] = old[i, j] + 0.2 * (
            old[i - 1, j] + old[i + 1, j] + old[i, j - 1] + old[i, j + 1] - 4 * old[i, j]
        )


def numpy_steps(plate: np.ndarray, steps: int) -> np.ndarray:
    """Return the plate after some steps."""
    old, new = plate.copy(), plate.copy()
    for _ in range(steps):
        middle = old[1:-1, 1:-1]
        around = old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:]
        new[1:-1, 1:-1] = middle + np.float32(0.2) * (around - 4 * middle)
        old, new = new, old
    return old


def add_step(place: cg.GraphDef | cg.GraphNode, old: list[cg.NDArray], new: list[cg.NDArray]) -> cg.GraphNode:
    """Add the copies of the rows at the border, and a step on each device. Return the node after them."""
    upper, lower = old
    down = place.memcpy(lower[:1], upper[-2:-1], name="down")
    up = place.memcpy(upper[-1:], lower[1:2], name="up")
    copied = down.join(up)
    last: cg.GraphNode = copied.call(step, upper, new[0])
    return last.join(copied.call(step, lower, new[1]))


rows = int(sys.argv[1]) if len(sys.argv) > 1 else 256
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 40
devices = cg.Device.get_all_devices()
if len(devices) < 2:
    sys.exit("this example needs two devices; CUDA_GRAPHS_DRIVER=host has as many as you like")

half = rows // 2
plate = np.random.default_rng(1).uniform(0, 100, (2 * half, rows)).astype(np.float32)
parts = plate[: half + 1], plate[half - 1 :]  # each with a row of the other one

arrays = []  # two arrays on each device
for _ in range(2):
    arrays.append([cg.array(part, device=number) for number, part in enumerate(parts)])

graph = cg.GraphDef()
place = graph
for number in range(2):
    place = add_step(place, arrays[number], arrays[1 - number])
assert not graph.check()

with devices[0] as device:  # the launch is for both devices; the stream decides its order
    stream = device.create_stream()
    executable = graph.instantiate()
    for _ in range(steps // 2):
        executable.launch(stream)
    stream.sync()

upper, lower = (array.to_numpy() for array in arrays[0])
found = np.concatenate([upper[:-1], lower[1:]])
expected = numpy_steps(plate, steps // 2 * 2)
difference = np.abs(found - expected).max()
assert difference < 1e-3, difference
print(f"{devices[0].name} and {devices[1].name}: {len(graph.nodes())} nodes, {steps // 2} launches")
print(f"largest difference from NumPy: {difference:.1e} of 100 degrees")
