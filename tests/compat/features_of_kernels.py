# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Documented features of Quadrants, one a function: threads, algorithms, elements on the host, layouts, graphs."""

import math

import numpy as np
import pytest

import cuda_graphs.compat.quadrants as ti
from cuda_graphs.compat.quadrants import math as tm

CASES = []


def case(function):
    CASES.append(function)
    return function


@case
def simt():
    x = ti.field(ti.i32, 128)
    y = ti.field(ti.i32, 128)
    z = ti.field(ti.f32, 128)

    @ti.kernel
    def f():
        ti.loop_config(block_dim=64)
        for i in range(128):
            t = ti.simt.block.thread_idx()
            s = ti.simt.block.SharedArray((64,), ti.i32)
            s[t] = i
            ti.simt.block.sync()
            x[i] = s[63 - t]
            y[i] = (
                ti.simt.block.exclusive_add(1, 64, ti.i32)
                + ti.simt.block.reduce_all_add(1, 64, ti.i32) * 1000
            )
            z[i] = ti.simt.block.exclusive_min(ti.f32(i % 7), 64, ti.f32)

    f()
    X = x.to_numpy()
    assert X[0] == 63 and X[64] == 127
    assert y[5] == 64005
    a = np.arange(128) % 7
    e = [np.inf] + [a[64 : 64 + k].min() for k in range(1, 64)]
    assert (z.to_numpy()[64:] == np.array(e, np.float32)).all()


@case
def segs():
    x = ti.field(ti.i32, 64)
    k = ti.field(ti.i32, 64)
    v = ti.field(ti.i32, 64)
    r = np.random.RandomState(1).randint(0, 20, 64).astype(np.int32)
    k.from_numpy(r)

    @ti.kernel
    def f():
        ti.loop_config(block_dim=64)
        for i in range(64):
            x[i] = ti.simt.subgroup.segmented_reduce_add(1, i % 5 == 0)
            a, b = ti.simt.subgroup.bitonic_sort_kv(k[i], i)
            k[i] = a
            v[i] = b

    f()
    for w in (0, 32):
        last = w
        for i in range(w, w + 32):
            if i % 5 == 0:
                last = i
            assert x[i] == i - last + 1, (i, x[i])
        pairs = sorted((int(r[i]), i) for i in range(w, w + 32))
        assert [(k[i], v[i]) for i in range(w, w + 32)] == pairs


@case
def graphdo():
    x = ti.ndarray(ti.i32, 4)
    c = ti.ndarray(ti.i32, ())
    c[None] = 5

    @ti.kernel(graph=True)
    def f(x: ti.types.ndarray(ti.i32, 1), c: ti.types.ndarray(ti.i32, 0)):
        while ti.graph_do_while(c):
            for i in range(x.shape[0]):
                x[i] += 1
            for _ in range(1):
                c[()] -= 1

    f(x, c)
    assert x[2] == 5


@case
def parallel_sort():
    for n in (1, 2, 5, 64, 100, 257):
        k = ti.field(ti.f32, n)
        a = np.random.RandomState(n).rand(n).astype(np.float32)
        k.from_numpy(a)
        ti.algorithms.parallel_sort(k)
        assert (k.to_numpy() == np.sort(a)).all()
        p = ti.field(ti.i32, n)
        b = np.arange(n, dtype=np.int32)
        p.from_numpy(b)
        ti.algorithms.PrefixSumExecutor(n).run(p)
        assert (p.to_numpy() == b.cumsum()).all()
    n = 70000
    p = ti.ndarray(ti.i32, n)
    p.fill(1)
    ti.algorithms.PrefixSumExecutor(n).run(p)
    assert (p.to_numpy() == np.arange(1, n + 1)).all()


@ti.kernel
def split(x: ti.template(), m: ti.template(), e: ti.template()):
    for i in x:
        a, b = ti.frexp(x[i])
        m[i] = a
        e[i] = b


@case
def frexp():
    for dt, np_t in ((ti.f32, np.float32), (ti.f64, np.float64)):
        vals = np.array(
            [
                0,
                -0.0,
                1,
                6,
                -3.7,
                1e-310 if np_t is np.float64 else 1e-42,
                np.finfo(np_t).max,
                np.finfo(np_t).tiny,
                np.inf,
                5e-324,
            ],
            np_t,
        )
        x = ti.field(dt, 10)
        m = ti.field(dt, 10)
        e = ti.field(ti.i32, 10)
        x.from_numpy(vals)

        split(x, m, e)
        M, E = np.frexp(vals)
        assert (m.to_numpy() == M).all() and (e.to_numpy() == E).all(), (m.to_numpy(), M, e.to_numpy(), E)


@case
def spd():
    A = np.array([[1.0, 2.0], [2.0, 1.0]])

    @ti.kernel
    def f(a: tm.mat2) -> tm.mat2:
        return ti.make_spd(a)

    w, v = np.linalg.eigh(A)
    assert np.allclose(np.array(f(ti.Matrix(A))), v @ np.diag(np.maximum(w, 0)) @ v.T, atol=1e-5)


@case
def rots():
    @ti.kernel
    def f() -> tm.mat4:
        return tm.rot_yaw_pitch_roll(0.3, 0.5, 0.7)

    @ti.kernel
    def g() -> tm.mat4:
        return tm.rotation3d(0.3, 0.5, 0.7)

    # What Quadrants 1.3.3 computes.
    first = [[0.82195, 0.56535, 0.06903], [-0.50708, 0.67121, 0.54069], [0.25934, -0.47943, 0.83839]]
    second = [[0.76249, 0.45801, -0.45699], [-0.19961, 0.83839, 0.50721], [0.61545, -0.29552, 0.73068]]
    assert np.allclose(np.array(f())[:3, :3], first, atol=1e-5)
    assert np.allclose(np.array(g())[:3, :3], second, atol=1e-5)


@case
def mats():
    @ti.kernel
    def f() -> ti.f32:
        m = ti.Matrix.zero(ti.f32, 3, 3)
        for i, j in ti.static(ti.ndrange(3, 3)):
            m[i, j] = i * 3 + j
        c = ti.Matrix.cols([tm.vec3(1, 2, 3), tm.vec3(4, 5, 6), tm.vec3(7, 8, 9)])
        r = ti.Matrix.rows([tm.vec3(1, 2, 3), tm.vec3(4, 5, 6), tm.vec3(7, 8, 9)])
        U, S, V = ti.svd(m + ti.Matrix.identity(ti.f32, 3))
        R = m + ti.Matrix.identity(ti.f32, 3) - U @ S @ V.transpose()
        return (
            m.sum()
            + (c - r.transpose()).norm()
            + R.norm()
            + m[2, :].sum()
            + m[:, 1].sum()
            + ti.Matrix.one(ti.f32, 2, 2).sum()
        )

    assert abs(f() - (36 + 21 + 12 + 4)) < 1e-3


@case
def hostwrite():
    v = ti.Vector.field(3, ti.f32, 4)
    v[1][2] = 5
    assert v[1][2] == 5
    v[1].x = 7
    assert v[1][0] == 7
    v[1] += 1
    assert v[1][2] == 6
    m = ti.Matrix.field(2, 2, ti.f32, 2)
    m[0][1, 0] = 3
    assert m[0][1, 0] == 3
    a = ti.Vector([1, 2, 3])
    a[1] = 9
    b = a
    assert a[1] == 9
    a += 1
    assert (a[1], b[1]) == (10, 9)
    w = tm.vec3(1)
    w.y = 4
    assert list(w) == [1, 4, 1]
    w.xz = tm.vec2(7, 8)
    assert list(w) == [7, 4, 8]
    S = ti.types.struct(p=tm.vec3, m=ti.f32)
    s = S.field(3)
    s[1].p[2] = 4
    assert s[1].p[2] == 4
    s[1].m = 2
    assert s[1].m == 2
    s[1].p = [1, 2, 3]
    assert s[1].p.y == 2
    n = ti.ndarray(tm.vec2, 3)
    n[2][1] = 8
    assert n[2].y == 8
    q = S(p=tm.vec3(1, 2, 3), m=1)
    q.m = 4
    s[0] = q
    assert s[0].m == 4

    @ti.kernel
    def use(q: S, w: tm.vec3) -> ti.f32:
        return q.m + w.sum()

    assert use(q, w) == 4 + 19
    assert use(s[1], s[1].p) == 2 + 6


@case
def literals():
    @ti.kernel
    def f() -> ti.f32:
        a = ti.f32(0)
        b = ti.i32(2.7)
        c = float(1)
        d = ti.f64(3)
        e = ti.u8(1.0)
        for _ in range(3):
            a += ti.f32(1)
        return a + b + c + ti.cast(d, ti.f32) + e

    assert f() == 3 + 2 + 1 + 3 + 1


@case
def more_grad():
    n = 4
    x = ti.field(ti.f32)
    y = ti.field(ti.f32)
    out = ti.field(ti.f32)
    ti.root.dense(ti.i, n).place(x, y)
    ti.root.place(out)
    ti.root.lazy_grad()

    @ti.kernel
    def k():
        for i in range(n):
            y[i] = ti.exp(x[i]) * tm.sin(x[i])

    @ti.kernel
    def s():
        for i in range(n):
            out[None] += y[i]

    for i in range(n):
        x[i] = 0.1 * i
    with ti.ad.Tape(out):
        k()
        s()
    for i in range(n):
        assert abs(x.grad[i] - math.exp(0.1 * i) * (math.sin(0.1 * i) + math.cos(0.1 * i))) < 1e-5


@case
def lazy_dual():
    x, y, count = ti.field(ti.f32), ti.field(ti.f32), ti.field(ti.i32)
    ti.root.dense(ti.i, 3).place(x, y, count)
    ti.root.lazy_dual()

    @ti.kernel
    def cubes():
        for i in x:
            y[i] += x[i] ** 3

    for i in range(3):
        x[i] = i
    with ti.ad.FwdMode(loss=y, param=x, seed=[1, 1, 1]):
        cubes()
    assert [y.dual[i] for i in range(3)] == [0, 3, 12]
    assert not count.has_dual()


@case
def fwd():
    x = ti.field(ti.f32, (), needs_dual=True)
    y = ti.field(ti.f32, (), needs_dual=True)

    @ti.kernel
    def f():
        y[None] = x[None] ** 3

    x[None] = 2.0
    with ti.ad.FwdMode(loss=y, param=x):
        f()
    assert y.dual[None] == 12


@case
def whilefor():
    @ti.kernel
    def f(n: ti.i32) -> ti.i32:
        s = 0
        ti.loop_config(serialize=True)
        for i in range(n - 1, -1, -1):
            s = s * 3 + i
        j = 0
        while j < 5 and s > 0:
            j += 1
        return s * 10 + j

    s = 0
    for i in range(4, -1, -1):
        s = s * 3 + i
    assert f(5) == s * 10 + 5

    @ti.kernel
    def g() -> ti.i32:
        c = 0
        for i in range(10):
            if i % 2 == 0:
                continue
            c += i
        return c

    assert g() == 25


@case
def funcs2():
    @ti.func
    def two(a, b):
        return a + b, a - b

    @ti.func
    def defaulted(a, b=3):
        return a * b

    @ti.kernel
    def f() -> ti.i32:
        p, q = two(5, 3)
        return p * 10 + q + defaulted(2) + defaulted(2, b=5)

    assert f() == 82 + 6 + 10


@case
def strings():
    mode = "fast"

    @ti.kernel
    def f() -> ti.i32:
        r = 0
        if ti.static(mode == "fast"):
            r = 1
        return r

    assert f() == 1


@case
def global_const():
    N = 7
    arr = [1, 2, 3]

    @ti.kernel
    def f() -> ti.i32:
        t = N
        for k in ti.static(arr):
            t += k
        for k in ti.static(range(len(arr))):
            t += arr[k]
        return t

    assert f() == 19


@case
def assertion():
    ti.init(debug=True)

    @ti.kernel
    def f(a: ti.i32):
        assert a > 0, "bad a"

    f(1)
    with pytest.raises(AssertionError, match="bad a"):
        f(0)
    ti.init()


@case
def ndarray_struct_types():
    @ti.kernel
    def f(
        a: ti.types.ndarray(ti.types.vector(3, ti.f32), 1),
        b: ti.types.ndarray(dtype=ti.types.matrix(2, 2, ti.f32), ndim=1),
    ):
        for i in a:
            a[i][1] = i
            b[i][0, 1] = 2 * i

    a = ti.Vector.ndarray(3, ti.f32, 4)
    b = ti.Matrix.ndarray(2, 2, ti.f32, 4)
    f(a, b)
    assert a[3][1] == 3 and b[3][0, 1] == 6


@case
def int_ops():
    @ti.kernel
    def f(a: ti.i32, b: ti.i32) -> ti.i32:
        return a // b * 1000 + a % b * 10 + int(a / b)

    assert f(7, 2) == 3013

    @ti.kernel
    def g(a: ti.i64) -> ti.i64:
        return a * a

    assert g(2**31) == 2**62

    @ti.kernel
    def h(a: ti.u32) -> ti.u32:
        return a >> 1

    assert h(2**32 - 1) == 2**31 - 1

    @ti.kernel
    def k(a: ti.i32) -> ti.i32:
        return ti.bit_shr(a, 28)

    assert k(-1) == 15


@case
def fieldcopy():
    a = ti.field(ti.f32, (2, 3))
    b = ti.field(ti.f32, (2, 3))
    a.from_numpy(np.arange(6, dtype=np.float32).reshape(2, 3))
    b.copy_from(a)
    assert b[1, 2] == 5
    assert a.to_numpy(dtype=np.float64).dtype == np.float64
    c = ti.field(dtype=int, shape=4)
    assert c.dtype == ti.i32
    d = ti.field(dtype=ti.f32, shape=[2, 2])
    assert d.shape == (2, 2)
    for i in range(2):
        for j in range(2):
            d[i, j] = i
    assert d[1, 0] == 1
    for at in ti.grouped(d):
        d[at] = 2
    assert d[0, 1] == 2
    for i, j in ti.ndrange(2, 2):
        d[i, j] += i
    assert d[1, 1] == 3


@case
def misc():
    assert ti.static(3) == 3
    e = ti.field(ti.f32, 3)

    @ti.kernel
    def f():
        for i in e:
            e[i] = ti.select(i > 1, 1.0, 2.0) if i != 0 else 5

    f()
    assert e.to_numpy().tolist() == [5, 2, 1]

    @ti.kernel
    def g(x: ti.template(), v: ti.template()):
        for at in ti.grouped(x):
            x[at] = v

    g(e, 4.5)
    assert e[2] == 4.5

    @ti.kernel
    def h() -> ti.f32:
        v = ti.Vector.zero(ti.f32, 3)
        v += 1
        v[0] -= 2
        v *= ti.Vector([1, 2, 3])
        a = [1, 2, 3]
        b = (4, 5)
        return v.sum() + a[1] + b[0] + v.dot(v)

    assert h() == -1 + 2 + 3 + 2 + 4 + 1 + 4 + 9

    @ti.kernel
    def ma():
        for i in range(3):
            ti.atomic_min(e[i], 1.5)
            ti.atomic_add(e[i], i)

    ma()
    assert e.to_numpy().tolist() == [1.5, 2.5, 3.5]
