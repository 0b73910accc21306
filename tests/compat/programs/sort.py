# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A bitonic sort of keys with their values."""

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu)
n = 256
keys = ti.field(ti.i32, shape=n)
values = ti.field(ti.i32, shape=n)
given = np.random.default_rng(10).permutation(n).astype(np.int32)
keys.from_numpy(given)
values.from_numpy(np.arange(n, dtype=np.int32))


@ti.kernel
def exchange(k: ti.i32, j: ti.i32):
    for i in range(n):
        other = i ^ j
        if other > i:
            ascends = (i & k) == 0
            if (keys[i] > keys[other]) == ascends:
                keys[i], keys[other] = keys[other], keys[i]
                values[i], values[other] = values[other], values[i]


k = 2
while k <= n:
    j = k // 2
    while j > 0:
        exchange(k, j)
        j //= 2
    k *= 2
result = {"keys": keys.to_numpy(), "values": values.to_numpy()}


def truth():
    return {"keys": np.sort(given), "values": np.argsort(given)}
