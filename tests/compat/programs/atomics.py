# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Sums, extrema and lists that many threads make."""

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu)
n = 1000
x = ti.field(ti.f32, shape=n)
least = ti.field(ti.f32, shape=())
most = ti.field(ti.f32, shape=())
bits = ti.field(ti.i32, shape=2)
taken = ti.field(ti.i32, shape=())
chosen = ti.field(ti.i32, shape=n)
values = np.random.default_rng(7).random(n, "f4")
x.from_numpy(values)
least[None], most[None] = 2.0, -2.0


@ti.kernel
def measure():
    for i in x:
        ti.atomic_min(least[None], x[i])
        ti.atomic_max(most[None], x[i])
        ti.atomic_or(bits[0], 1 << (i % 7))
        ti.atomic_xor(bits[1], i)


@ti.kernel
def choose(limit: ti.f32) -> ti.i32:
    for i in x:
        if x[i] > limit:
            place = ti.atomic_add(taken[None], 1)
            chosen[place] = i
    return taken[None]


measure()
number = choose(0.75)
result = {
    "least": least[None], "most": most[None], "bits": bits.to_numpy(), "number": number,
    "chosen": np.sort(chosen.to_numpy()[:number]),
}


def truth():
    found = np.flatnonzero(values > np.float32(0.75))
    bits = np.array([127, np.bitwise_xor.reduce(np.arange(n))])
    return {"least": values.min(), "most": values.max(), "bits": bits, "number": len(found), "chosen": found}
