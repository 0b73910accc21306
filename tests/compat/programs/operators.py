# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Operators and functions on numbers of several types."""

import numpy as np
import taichi as ti

ti.init(arch=ti.cpu)
n = 40
ints = ti.field(ti.i32, shape=(n, 9))
floats = ti.field(ti.f32, shape=(n, 12))
wide = ti.field(ti.i64, shape=n)


@ti.kernel
def compute():
    for i in range(n):
        a, b = i - 20, 7
        ints[i, 0] = a // b
        ints[i, 1] = a % b
        ints[i, 2] = a & b
        ints[i, 3] = a | b
        ints[i, 4] = a ^ b
        ints[i, 5] = ~a
        ints[i, 6] = a << 2
        ints[i, 7] = a >> 1
        ints[i, 8] = ti.select(a > b, a, b) + int(not a > 0)
        wide[i] = ti.cast(a, ti.i64) * 100000 * 100000
        x = (i + 1) * 0.1
        floats[i, 0] = a / b
        floats[i, 1] = ti.sqrt(x)
        floats[i, 2] = ti.exp(-x) + ti.log(x)
        floats[i, 3] = ti.sin(x) * ti.cos(x) - ti.tan(0.3 * x)
        floats[i, 4] = ti.atan2(x, 2.0)
        floats[i, 5] = ti.floor(x) + ti.ceil(x)
        floats[i, 6] = ti.tanh(x) + ti.abs(-x)
        floats[i, 7] = x**3 + ti.pow(x, 0.5)
        floats[i, 8] = ti.max(x, 1.0, 0.5) - ti.min(x, 2.0)
        floats[i, 9] = ti.acos(0.2 * ti.sin(x)) + ti.asin(0.3)
        floats[i, 10] = ti.rsqrt(x)
        floats[i, 11] = ti.round(x * 1.3)


compute()
result = {"ints": ints.to_numpy(), "floats": floats.to_numpy(), "wide": wide.to_numpy()}


def truth():
    a = np.arange(n) - 20
    b, x = 7, (np.arange(n) + 1) * 0.1
    ints = [a // b, a % b, a & b, a | b, a ^ b, ~a, a << 2, a >> 1, np.where(a > b, a, b) + (a <= 0)]
    floats = [
        a / b, np.sqrt(x), np.exp(-x) + np.log(x), np.sin(x) * np.cos(x) - np.tan(0.3 * x), np.arctan2(x, 2),
        np.floor(np.float32(x)) + np.ceil(np.float32(x)), np.tanh(x) + x, x**3 + x**0.5, np.maximum(x, 1) - np.minimum(x, 2),
        np.arccos(0.2 * np.sin(x)) + np.arcsin(0.3), 1 / np.sqrt(x), np.round(x * 1.3),
    ]  # fmt: skip
    return {"ints": np.stack(ints, 1), "floats": np.stack(floats, 1), "wide": a.astype("i8") * 10000000000}


allowed = {"floats": 0.01}  # the share of roundings that may fall to the other side
