# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Chains of rigid bodies swing: structures with methods, quaternions and functions in kernels.

A chain hangs from a fixed point. Joints hold the bodies together by extended position-based dynamics (Müller et al.,
"Detailed Rigid Body Simulation with Extended Position Based Dynamics", 2020). A thread moves one chain, a call moves
all of them. A chain of one body is a pendulum, whose period is known.

    python examples/rigid_chain.py [chains]
"""

import dataclasses
import sys

import numpy as np

import cuda_graphs as cg

DT = 2e-4
GRAVITY = 9.8
LINK = 0.2  # metres from the joint of a body to its centre
SIDE = 0.1  # of a cube, whose inertia is the same about all axes
MASS = 1.0
INERTIA = MASS * SIDE**2 / 6

vec3 = cg.vec3[cg.f64]
quat = cg.vec4[cg.f64]


@dataclasses.dataclass
class Body:
    place: vec3
    turn: quat
    speed: vec3
    spin: vec3

    def end(self, sign: cg.f64) -> vec3:
        """Return the vector from the centre to the upper joint (1) or the lower joint (-1)."""
        return cg.quat_rotate(self.turn, sign * vec3(0.0, 0.0, LINK))

    def rotate(self, angles: vec3) -> None:
        """Turn by a small rotation."""
        change = cg.quat_mul(cg.vector(*angles, 0.0), self.turn)
        self.turn = (self.turn + 0.5 * change).normalized()

    def push(self, impulse: vec3, arm: vec3) -> None:
        """Apply a positional impulse at an arm from the centre."""
        self.place += impulse / MASS
        self.rotate(arm.cross(impulse) / INERTIA)

    def energy(self) -> cg.f64:
        """Return the energy of the movement and of the height."""
        moving = MASS * self.speed.norm_sqr() + INERTIA * self.spin.norm_sqr()
        return 0.5 * moving + MASS * GRAVITY * self.place.z


Chains = cg.Array2[Body]


@cg.func
def softness(arm: vec3) -> cg.mat3[cg.f64]:
    """Return the matrix by which an impulse at an arm moves the point there."""
    unit = cg.mat3(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    return unit / MASS + (arm.norm_sqr() * unit - cg.outer(arm, arm)) / INERTIA


@cg.kernel(default_float=cg.f64)
def swing(chains: Chains, before: Chains, steps: cg.i32) -> None:
    for c in range(chains.shape[0]):
        for _ in range(steps):
            for k in range(chains.shape[1]):
                before[c, k] = chains[c, k]
                body = chains[c, k]
                body.speed.z -= DT * GRAVITY
                body.place += DT * body.speed
                body.rotate(DT * body.spin)
                chains[c, k] = body
            for k in range(chains.shape[1]):
                body = chains[c, k]
                arm = body.end(1.0)
                if k == 0:
                    body.push(-cg.solve(softness(arm), body.place + arm), arm)
                else:
                    above = chains[c, k - 1]
                    other = above.end(-1.0)
                    gap = body.place + arm - above.place - other
                    impulse = cg.solve(softness(arm) + softness(other), gap)
                    body.push(-impulse, arm)
                    above.push(impulse, other)
                    chains[c, k - 1] = above
                chains[c, k] = body
            for k in range(chains.shape[1]):
                body = chains[c, k]
                turned = cg.quat_mul(body.turn, cg.quat_conjugate(before[c, k].turn))
                body.speed = (body.place - before[c, k].place) / DT
                body.spin = 2.0 * turned.xyz / DT * (1.0 if turned.w >= 0 else -1.0)
                chains[c, k] = body


@cg.kernel(default_float=cg.f64)
def total_energy(chains: Chains) -> cg.f64:
    total = 0.0
    for c, k in chains:
        total += chains[c, k].energy()
    return total


def hang(chains: int, links: int, angles: np.ndarray) -> cg.StructArray:
    """Return straight chains, each at an angle from the vertical."""
    made = cg.ndarray(Body, (chains, links), layout="aos")
    values = np.zeros((chains, links), made.dtype)
    down = np.stack([-np.sin(angles), 0 * angles, -np.cos(angles)], axis=-1)
    values["place"] = down[:, None] * LINK * (2 * np.arange(links) + 1)[:, None]
    values["turn"][..., 1] = np.sin(angles / 2)[:, None]
    values["turn"][..., 3] = np.cos(angles / 2)[:, None]
    made.from_numpy(values)
    return made


def half_period(chains: cg.StructArray, before: cg.StructArray) -> float:
    """Return the time in seconds until the first chain swings back."""
    for step in range(1, 100_000):
        swing(chains, before, 1)
        if chains[0, 0].speed.x < 0:
            return step * DT
    raise RuntimeError("the pendulum does not swing back")


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 256
    pendulum = hang(1, 1, np.array([0.02]))
    found = 2 * half_period(pendulum, cg.ndarray(Body, (1, 1), layout="aos"))
    expected = 2 * np.pi * np.sqrt((INERTIA + MASS * LINK**2) / (MASS * GRAVITY * LINK))
    print(f"period of one body {found:.4f} s, by theory {expected:.4f} s")
    assert abs(found - expected) < 2e-3 * expected

    links = 5
    chains = hang(count, links, np.linspace(0.3, 1.2, count))
    before = cg.ndarray(Body, (count, links), layout="aos")
    first = total_energy(chains)
    swing(chains, before, 2500)
    last = total_energy(chains)
    joints = chains.to_numpy()["place"]
    lengths = np.linalg.norm(np.diff(joints, axis=1), axis=-1)
    print(f"{count} chains of {links} bodies, 0.5 s: energy {first:.3f} J, then {last:.3f} J")
    print(f"neighbours are at most {lengths.max():.4f} m apart, of {2 * LINK} m")
    assert abs(last - first) < 0.01 * abs(first)
    assert lengths.max() < 2 * LINK * 1.001


main()
