# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Particles as structures with methods, in a field of structures."""

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu)
vec3 = ti.types.vector(3, ti.f32)


@ti.dataclass
class Particle:
    pos: vec3
    vel: vec3
    mass: ti.f32

    @ti.func
    def energy(self):
        return 0.5 * self.mass * self.vel.norm_sqr()


n, steps, dt = 30, 10, 0.1
particles = Particle.field(shape=n)
sphere = ti.types.struct(centre=vec3, radius=ti.f32)
balls = sphere.field(shape=2)
energies = ti.field(ti.f32, shape=n)
inside = ti.field(ti.i32, shape=n)


@ti.kernel
def begin():
    for i in particles:
        particles[i].pos = vec3(i * 0.1, 0.0, 1.0)
        particles[i].vel = vec3(0.0, i, 1.0)
        particles[i].mass = 1.0 + i
    for i in balls:
        balls[i] = sphere(vec3(i, 1.0, 2.0), radius=1.0 + i)


@ti.kernel
def step():
    for i in particles:
        particles[i].vel.y -= 9.8 * dt
        p = particles[i]
        p.pos += p.vel * dt
        particles[i] = p


@ti.kernel
def measure():
    for i in particles:
        energies[i] = particles[i].energy()
        count = 0
        for j in range(balls.shape[0]):
            if (particles[i].pos - balls[j].centre).norm() < balls[j].radius:
                count += 1
        inside[i] = count


begin()
for _ in range(steps):
    step()
measure()
result = {"pos": particles.pos.to_numpy(), "energies": energies.to_numpy(), "inside": inside.to_numpy()}


def truth():
    i = np.arange(n)
    pos = np.stack([i * 0.1, 0.0 * i, 0 * i + 1.0], 1)
    vel = np.stack([0.0 * i, i, 0 * i + 1.0], 1)
    for _ in range(steps):
        vel[:, 1] -= 9.8 * dt
        pos += vel * dt
    inside = sum(np.linalg.norm(pos - [j, 1, 2], axis=1) < 1 + j for j in range(2))
    return {"pos": pos, "energies": 0.5 * (1 + i) * (vel**2).sum(1), "inside": inside}
