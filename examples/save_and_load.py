# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A solver in a file: one process builds a loop and saves it, another process loads and launches it.

The loop solves a heat equation until it no longer changes. The process that loads it does not know the kernels, and
does not compile them. It may use another driver.

    python examples/save_and_load.py [number of points]
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import cuda_graphs as cg

Vector = cg.Array1[cg.f64]

LOAD = """
import sys

import numpy as np

import cuda_graphs as cg

g = cg.load(sys.argv[1])
ends = cg.array(np.load(sys.argv[2]))
u = cg.ndarray(cg.f64, g.outputs["u"].default.shape)
graph = g.instantiate()
stream = cg.Device().create_stream()
graph.launch(stream, ends=ends, u=u)
stream.sync()
np.save(sys.argv[3], u.to_numpy())
print(f"loaded on the {cg.driver_info().kind} driver: {graph.iterations}")
"""


@cg.kernel
def begin(ends: Vector, u: Vector) -> None:
    for i in u:
        u[i] = ends[0] if i == 0 else ends[1] if i == u.shape[0] - 1 else 0.0


@cg.kernel
def step(u: Vector, v: Vector, change: Vector) -> None:
    change[0] = 0.0
    for i in range(1, u.shape[0] - 1):
        v[i] = 0.5 * (u[i - 1] + u[i + 1])
    for i in range(1, u.shape[0] - 1):
        cg.atomic_max(change[0], abs(v[i] - u[i]))
        u[i] = v[i]


n = int(sys.argv[1]) if len(sys.argv) > 1 else 65
ends, u = cg.ndarray(cg.f64, 2), cg.ndarray(cg.f64, n)
v, change = cg.ndarray(cg.f64, n), cg.ndarray(cg.f64, 1)

g = cg.GraphDef()
loop = g.call(begin, ends, u).while_loop(
    lambda change: change[0] > 1e-12, args=(change,), do=True, name="relaxation"
)
loop.body.call(step, u, v, change)

with tempfile.TemporaryDirectory() as folder:
    file, given, found = (str(Path(folder, name)) for name in ("heat.cgg", "ends.npy", "u.npy"))
    g.save(file, inputs={"ends": ends}, outputs={"u": u}, include=[v, change])
    np.save(given, np.array([1.0, 3.0]))
    subprocess.run([sys.executable, "-c", LOAD, file, given, found], check=True)
    assert np.allclose(np.load(found), np.linspace(1, 3, n), atol=1e-7)
print(f"{n} points between 1 and 3 are a straight line")
