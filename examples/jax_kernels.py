# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The shape of a hanging chain: JAX minimises an energy that a kernel of Python computes.

The kernel gives the energy of each link: its weight times its height, and a stiff spring that keeps its length. JAX
differentiates the energy through the gradient of the kernel. All steps of the descent are one compiled loop of JAX. The
result is compared with the theory, a catenary. The example needs JAX.

python examples/jax_kernels.py [steps]
"""

import importlib.util
import math
import sys

import cuda_graphs as cg

if not importlib.util.find_spec("jax"):
    print("This example needs JAX, which is not here.")
    sys.exit(0)

from typing import Any

import jax
import jax.numpy as jnp

LINKS, LENGTH, SPAN, STIFFNESS = 16, 1.5, 1.0, 300.0
Points = cg.Array2[cg.f32]
Numbers = cg.Array1[cg.f32]


@cg.kernel
def link_energy(points: Points, length: cg.f32, stiffness: cg.f32, energy: Numbers) -> None:
    for i in energy:
        dx = points[i + 1, 0] - points[i, 0]
        dy = points[i + 1, 1] - points[i, 1]
        stretch = cg.sqrt(dx * dx + dy * dy) / length - 1.0
        height = 0.5 * (points[i, 1] + points[i + 1, 1])
        energy[i] = length * height + 0.5 * stiffness * length * stretch * stretch


energies = cg.interop.jax(
    link_energy,
    out={"energy": lambda points, length, stiffness: jnp.zeros(LINKS, points.dtype)},
)
steps = int(sys.argv[1]) if len(sys.argv) > 1 else 1500
x = jnp.linspace(0, SPAN, LINKS + 1)
start = jnp.stack([x, -4 * x * (SPAN - x)], axis=1).astype(jnp.float32)
is_free = jnp.zeros((LINKS + 1, 1)).at[1:-1].set(1)  # the ends are fixed


def energy(points: Any) -> Any:
    return energies(points, LENGTH / LINKS, STIFFNESS).sum()


def descend(points: Any) -> Any:
    """Return the points of least energy, by steps with momentum."""

    def step(_: Any, state: Any) -> Any:
        points, speed = state
        speed = 0.98 * speed - 1e-4 * is_free * jax.grad(energy)(points)
        return points + speed, speed

    return jax.lax.fori_loop(0, steps, step, (points, jnp.zeros_like(points)))[0]


def catenary_sag() -> float:
    """Return how far a chain of this length hangs down: 2 a sinh(span / 2 a) = length."""
    low, high = 0.05, 10.0
    a = low
    for _ in range(60):
        a = (low + high) / 2
        low, high = (low, a) if 2 * a * math.sinh(SPAN / (2 * a)) < LENGTH else (a, high)
    return a * (math.cosh(SPAN / (2 * a)) - 1)


points = jax.jit(descend)(start)
sag, wanted = -float(points[:, 1].min()), catenary_sag()
print(f"the chain hangs {sag:.3f} below its ends after {steps} steps; the theory says {wanted:.3f}")
assert abs(sag - wanted) < 0.02
