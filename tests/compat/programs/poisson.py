# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Poisson's equation by conjugate gradients, in a class."""

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu, default_fp=ti.f64)


@ti.data_oriented
class Solver:
    def __init__(self, n):
        self.n = n
        self.x, self.b, self.r, self.p, self.q = (ti.field(ti.f64, shape=(n, n)) for _ in range(5))
        self.sum = ti.field(ti.f64, shape=())

    @ti.func
    def at(self, f: ti.template(), i, j):
        return f[i, j] if 0 <= i < self.n and 0 <= j < self.n else 0.0

    @ti.kernel
    def begin(self):
        for i, j in self.b:
            self.b[i, j] = ti.sin(i * 0.3) * ti.cos(j * 0.2)
            self.r[i, j] = self.b[i, j]
            self.p[i, j] = self.b[i, j]

    @ti.kernel
    def apply(self):
        for i, j in self.p:
            around = self.at(self.p, i - 1, j) + self.at(self.p, i + 1, j)
            around += self.at(self.p, i, j - 1) + self.at(self.p, i, j + 1)
            self.q[i, j] = 4 * self.p[i, j] - around

    @ti.kernel
    def dot(self, a: ti.template(), b: ti.template()):
        self.sum[None] = 0.0
        for I in ti.grouped(a):
            self.sum[None] += a[I] * b[I]

    @ti.kernel
    def add(self, a: ti.template(), scale: ti.f64, b: ti.template()):
        for I in ti.grouped(a):
            a[I] += scale * b[I]

    @ti.kernel
    def turn(self, beta: ti.f64):
        for I in ti.grouped(self.p):
            self.p[I] = self.r[I] + beta * self.p[I]

    def product(self, a, b):
        self.dot(a, b)
        return self.sum[None]

    def solve(self):
        self.begin()
        old = self.product(self.r, self.r)
        while old > 1e-20:
            self.apply()
            alpha = old / self.product(self.p, self.q)
            self.add(self.x, alpha, self.p)
            self.add(self.r, -alpha, self.q)
            new = self.product(self.r, self.r)
            self.turn(new / old)
            old = new


solver = Solver(12)
solver.solve()
result = {"x": solver.x.to_numpy()}


def truth():
    n = 12
    line = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    whole = np.kron(line, np.eye(n)) + np.kron(np.eye(n), line)
    i, j = np.indices((n, n))
    return {"x": np.linalg.solve(whole, (np.sin(i * 0.3) * np.cos(j * 0.2)).ravel()).reshape(n, n)}
