# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Threads of a block that share memory, and of a warp that exchange values. The peers run it on GPUs only."""

import numpy as np
import taichi as ti

ti.init(arch=ti.gpu)
n, size = 256, 64
x = ti.field(ti.i32, shape=n)
turned = ti.field(ti.i32, shape=n)
scans = ti.field(ti.i32, shape=(n, 5))
values = np.random.default_rng(13).integers(1, 50, n).astype(np.int32)
x.from_numpy(values)


@ti.kernel
def exchange():
    ti.loop_config(block_dim=64)
    for i in range(n):
        tile = ti.simt.block.SharedArray((size,), ti.i32)
        t = i % size
        tile[t] = x[i]
        ti.simt.block.sync()
        turned[i] = tile[size - 1 - t]
        scans[i, 0] = ti.simt.subgroup.inclusive_add(x[i])
        scans[i, 1] = ti.simt.subgroup.exclusive_add(x[i])
        scans[i, 2] = ti.simt.subgroup.reduce_add(x[i])
        scans[i, 3] = ti.simt.subgroup.inclusive_max(x[i])
        scans[i, 4] = ti.simt.subgroup.shuffle(x[i], ti.u32(3))


exchange()
result = {"turned": turned.to_numpy(), "scans": scans.to_numpy()}


def truth():
    warps = values.reshape(-1, 32)
    sums = warps.cumsum(1)
    parts = [sums, sums - warps, sums[:, -1:] + 0 * warps, np.maximum.accumulate(warps, 1), warps[:, 3:4] + 0 * warps]
    return {"turned": values.reshape(-1, size)[:, ::-1].ravel(), "scans": np.stack([each.ravel() for each in parts], 1)}
