# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Rays that meet spheres: distances, normals and a light."""

import numpy as np
import taichi as ti
import taichi.math as tm

ti.init(arch=ti.cpu, default_fp=ti.f64)
n = 24
vec3 = ti.types.vector(3, ti.f64)
spheres = ti.Vector.field(4, ti.f64, shape=3)
image = ti.field(ti.f64, shape=(n, n))
data = np.array([[0.0, 0.0, -3.0, 1.0], [1.0, 0.5, -4.0, 1.5], [-1.0, -0.5, -2.0, 0.4]])
spheres.from_numpy(data)


@ti.func
def hit(origin, way, centre, radius):
    between = origin - centre
    b = between.dot(way)
    inside = b * b - between.dot(between) + radius * radius
    found = tm.inf
    if inside > 0:
        t = -b - ti.sqrt(inside)
        if t > 0:
            found = t
    return found


@ti.kernel
def render():
    for i, j in image:
        way = tm.normalize(vec3((i + 0.5) / n - 0.5, (j + 0.5) / n - 0.5, -1.0))
        origin = vec3(0.0)
        nearest, normal = tm.inf, vec3(0.0)
        for k in range(spheres.shape[0]):
            centre = spheres[k].xyz
            t = hit(origin, way, centre, spheres[k].w)
            if t < nearest:
                nearest = t
                normal = tm.normalize(origin + t * way - centre)
        light = tm.normalize(vec3(1.0, 1.0, 1.0))
        image[i, j] = tm.clamp(normal.dot(light), 0.1, 1.0) if nearest < tm.inf else 0.0


render()
result = {"image": image.to_numpy()}


def truth():
    i, j = np.indices((n, n))
    way = np.stack([(i + 0.5) / n - 0.5, (j + 0.5) / n - 0.5, -np.ones((n, n))], -1)
    way /= np.linalg.norm(way, axis=-1, keepdims=True)
    nearest, normal = np.full((n, n), np.inf), np.zeros((n, n, 3))
    for *centre, radius in data:
        centre = np.array(centre)
        b = -(way @ centre)
        inside = b * b - centre @ centre + radius**2
        t = np.where(inside > 0, -b - np.sqrt(np.maximum(inside, 0)), np.inf)
        t = np.where(t > 0, t, np.inf)
        closer = t < nearest
        at = np.where(closer, t, 0)[..., None] * way - centre
        normal = np.where(closer[..., None], at / np.linalg.norm(at, axis=-1, keepdims=True), normal)
        nearest = np.minimum(nearest, t)
    light = np.ones(3) / np.sqrt(3)
    return {"image": np.where(nearest < np.inf, np.clip(normal @ light, 0.1, 1), 0)}
