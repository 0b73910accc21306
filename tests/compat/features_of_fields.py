# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Documented features of Taichi, one a function: fields, arrays, kernels, functions, structures, gradients."""

import math

import numpy as np

import cuda_graphs.compat.taichi as ti
from cuda_graphs.compat.taichi import math as tm

CASES = []


def case(function):
    CASES.append(function)
    return function


@case
def field_basics():
    x = ti.field(ti.f32, shape=(3, 4))
    assert x.shape == (3, 4)
    x.fill(2)
    x[1, 2] = 5
    assert x[1, 2] == 5 and x.to_numpy().sum() == 2 * 11 + 5
    s = ti.field(float, shape=())
    s[None] = 3.5
    assert s[None] == 3.5
    v = ti.Vector.field(3, dtype=ti.f32, shape=5)
    v[2] = [1, 2, 3]
    assert v[2][1] == 2 and v[2].y == 2
    assert v.n == 3
    v[0] = ti.Vector([4, 5, 6])
    m = ti.Matrix.field(2, 3, ti.i32, shape=4)
    m[1] = [[1, 2, 3], [4, 5, 6]]
    assert m[1][1, 2] == 6
    assert (m.n, m.m) == (2, 3)
    assert m.to_numpy().shape == (4, 2, 3)


@case
def ndarray_basics():
    a = ti.ndarray(ti.f32, shape=(2, 3))
    a.fill(1)
    a[1, 1] = 7
    assert a.to_numpy()[1, 1] == 7
    b = ti.Vector.ndarray(2, ti.i32, 4)
    b[1] = [3, 4]
    assert b[1][1] == 4
    assert b.to_numpy().shape == (4, 2)
    c = ti.Matrix.ndarray(2, 2, ti.f32, (3,))
    c[0] = [[1, 2], [3, 4]]
    assert c[0][1, 0] == 3
    assert a.shape == (2, 3) and a.dtype == ti.f32
    d = ti.ndarray(dtype=ti.math.vec3, shape=3)
    d[0] = ti.math.vec3(1, 2, 3)
    assert d[0][2] == 3
    a2 = ti.ndarray(ti.f32, (2, 3))
    a2.copy_from(a)
    assert a2[1, 1] == 7


@case
def kernel_returns():
    @ti.kernel
    def f(a: ti.i32, b: ti.f32) -> ti.f32:
        return a * b

    assert f(3, 2.5) == 7.5

    @ti.kernel
    def g() -> ti.math.vec3:
        return ti.math.vec3(1, 2, 3)

    assert list(g()) == [1, 2, 3]

    @ti.kernel
    def h(m: ti.types.matrix(2, 2, ti.f32)) -> ti.types.matrix(2, 2, ti.f32):
        return m @ m

    r = h(ti.Matrix([[1.0, 2.0], [3.0, 4.0]]))
    assert r[0, 0] == 7

    @ti.kernel
    def two() -> (ti.i32, ti.f32):
        return 3, 4.5

    assert tuple(two()) == (3, 4.5)


@case
def struct_for():
    x = ti.field(ti.i32, shape=(4, 5))

    @ti.kernel
    def f():
        for i, j in x:
            x[i, j] = i * 10 + j

    f()
    assert x[3, 4] == 34

    @ti.kernel
    def g():
        for at in ti.grouped(x):
            x[at] += at[0] + at.y

    g()
    assert x[3, 4] == 41

    @ti.kernel
    def h() -> ti.i32:
        t = 0
        for i, j in ti.ndrange(3, (1, 4)):
            t += i * j
        return t

    assert h() == sum(i * j for i in range(3) for j in range(1, 4))

    @ti.kernel
    def k() -> ti.i32:
        t = 0
        for at in ti.grouped(ti.ndrange((1, 3), (2, 4))):
            t += at.x * at.y
        return t

    assert k() == (1 + 2) * (2 + 3)


@case
def static_things():
    @ti.kernel
    def f() -> ti.i32:
        t = 0
        for i in ti.static(range(4)):
            t += i
        for i, j in ti.static(ti.ndrange(2, 3)):
            t += i * j
        if ti.static(True):
            t += 100
        else:
            t += 1000
        return t

    assert f() == 6 + 3 + 100


@case
def template_args():
    x = ti.field(ti.f32, shape=4)
    y = ti.field(ti.f32, shape=4)
    y.fill(2)

    @ti.kernel
    def add(a: ti.template(), b: ti.template()):
        for i in a:
            a[i] += b[i]

    add(x, y)
    add(x, y)
    assert x[0] == 4

    @ti.kernel
    def n(k: ti.template()) -> ti.i32:
        return ti.static(k * 2)

    assert n(4) == 8


@case
def atomics():
    x = ti.field(ti.i32, shape=())
    y = ti.field(ti.f32, shape=())

    @ti.kernel
    def f() -> ti.i32:
        for i in range(100):
            x[None] += i
            ti.atomic_add(y[None], 0.5)
        return 0

    f()
    assert x[None] == 4950 and y[None] == 50

    @ti.kernel
    def mx():
        x[None] = 0
        for i in range(100):
            ti.atomic_max(x[None], (i * 37) % 101)

    mx()
    assert x[None] == max((i * 37) % 101 for i in range(100))

    @ti.kernel
    def old() -> ti.i32:
        x[None] = 5
        return ti.atomic_sub(x[None], 2)

    assert old() == 5 and x[None] == 3

    @ti.kernel
    def bits():
        x[None] = 0b1100
        ti.atomic_or(x[None], 1)
        ti.atomic_and(x[None], 0b1001)
        ti.atomic_xor(x[None], 0b11)

    bits()
    assert x[None] == ((0b1100 | 1) & 0b1001) ^ 0b11


@case
def vector_ops():
    @ti.kernel
    def f() -> ti.f32:
        a = ti.Vector([1.0, 2.0, 3.0])
        b = ti.Vector([4.0, 5.0, 6.0])
        c = a.cross(b)
        d = a.dot(b)
        e = (a * b).sum()
        n = a.norm()
        q = b.normalized()
        return (
            c[0]
            + d
            + e
            + n * n
            + q.norm()
            + ti.abs(-a).max()
            + a.min()
            + a.norm_sqr()
            + a.outer_product(b)[1, 2]
        )

    assert abs(f() - (-3 + 32 + 32 + 14 + 1 + 3 + 1 + 14 + 12)) < 1e-4

    @ti.kernel
    def g() -> ti.f32:
        m = ti.Matrix([[1.0, 2.0], [3.0, 4.0]])
        i = m.inverse()
        return (
            (m @ i).trace()
            + m.determinant()
            + m.transpose()[0, 1]
            + ti.Matrix.identity(ti.f32, 2)[0, 0]
            + (m + 1)[0, 0]
            + (2 * m)[1, 1]
        )

    assert abs(g() - (2 - 2 + 3 + 1 + 2 + 8)) < 1e-4

    @ti.kernel
    def h() -> ti.i32:
        v = ti.Vector([1, 2, 3, 4])
        w = v + v
        w[0] = 9
        return w.sum() + v[1:3].sum() + v.any() + v.all()

    assert h() == 27 + 5 + 2


@case
def swizzles():
    @ti.kernel
    def f() -> tm.vec3:
        v = tm.vec4(1, 2, 3, 4)
        a = v.zyx
        a.xy = tm.vec2(8, 9)
        return a

    assert list(f()) == [8, 9, 1]
    v = tm.vec3(1, 2, 3)
    assert list(v.xy) == [1, 2]
    v.x = 5
    assert v[0] == 5
    assert list(v.rgb) == [5, 2, 3]


@case
def structs():
    P = ti.types.struct(x=ti.f32, v=tm.vec3)
    p = P(x=1.0, v=[1, 2, 3])
    assert p.x == 1 and p.v[2] == 3
    f = P.field(shape=4)
    f[1] = P(x=2, v=[4, 5, 6])
    assert f[1].x == 2 and f[1].v[1] == 5
    f.x.fill(3)
    assert f[0].x == 3
    f[2].x = 11
    assert f[2].x == 11 and f.x[2] == 11

    @ti.kernel
    def k() -> ti.f32:
        for i in f:
            f[i].x = i
            f[i].v = tm.vec3(i)
        q = P(x=2.0, v=tm.vec3(1))
        q.x += 1
        return q.x + f[3].x + f[3].v.sum()

    assert k() == 3 + 3 + 9

    @ti.dataclass
    class Ball:
        c: tm.vec2
        r: ti.f32

        @ti.func
        def area(self):
            return 3.0 * self.r * self.r

        @ti.func
        def grow(self, k):
            self.r *= k

    b = Ball.field(shape=2)
    b[0].r = 2.0

    @ti.kernel
    def ar() -> ti.f32:
        b[0].grow(2.0)
        return b[0].area()

    assert ar() == 48
    bb = Ball(c=[1, 2], r=3)
    assert bb.r == 3
    d = f.to_numpy()
    assert set(d) == {"x", "v"}


@case
def nested_structs():
    V = ti.types.struct(a=ti.i32, b=ti.f32)
    W = ti.types.struct(v=V, c=ti.i32)
    f = W.field(shape=3)

    @ti.kernel
    def k():
        for i in f:
            f[i].v.a = i
            f[i].c = 2 * i

    k()
    assert f[2].v.a == 2 and f[2].c == 4


@case
def func_things():
    @ti.func
    def fact(n):
        r = 1
        for i in range(1, n + 1):
            r *= i
        return r

    @ti.func
    def swap(a: ti.template(), b: ti.template()):
        a, b = b, a

    @ti.func
    def early(x):
        r = 0
        if x > 3:
            r = 1
        return r

    @ti.kernel
    def k() -> ti.i32:
        a = 1
        b = 2
        swap(a, b)
        return fact(5) * 10 + a + early(5)

    assert k() == 1203


@case
def while_break():
    @ti.kernel
    def f() -> ti.i32:
        i = 0
        while True:
            i += 1
            if i > 10:
                break
            if i % 2:
                continue
        t = 0
        for _ in range(1):
            for j in range(10):
                if j == 5:
                    break
                t += j
        return i * 100 + t

    assert f() == 1110


@case
def types_cast():
    @ti.kernel
    def f() -> ti.i32:
        a = ti.cast(3.7, ti.i32)
        b = ti.i32(2.9)
        c = int(4.2)
        d = ti.cast(ti.Vector([1.5, 2.5]), ti.i32).sum()
        return a + b + c + d

    assert f() == 3 + 2 + 4 + 3

    @ti.kernel
    def g() -> ti.u8:
        return ti.cast(300, ti.u8)

    assert g() == 300 % 256

    @ti.kernel
    def h() -> ti.f32:
        return ti.bit_cast(1065353216, ti.f32)

    assert h() == 1.0

    @ti.kernel
    def d() -> ti.f32:
        return 7 / 2

    assert d() == 3.5

    @ti.kernel
    def e() -> ti.i32:
        return -7 // 2 * 10 + -7 % 3

    assert e() == (-7 // 2) * 10 + (-7 % 3)

    @ti.kernel
    def p() -> ti.f32:
        return 2**10 + 2.0**0.5

    assert abs(p() - 1024 - 2**0.5) < 1e-3


@case
def math_fn():
    @ti.kernel
    def f(x: ti.f32) -> ti.f32:
        return (
            ti.sin(x)
            + ti.cos(x)
            + ti.tan(x)
            + ti.asin(x)
            + ti.acos(x)
            + ti.atan2(x, 1.0)
            + ti.tanh(x)
            + ti.exp(x)
            + ti.log(x)
            + ti.sqrt(x)
            + ti.rsqrt(x)
            + ti.floor(x)
            + ti.ceil(x)
            + ti.round(x)
            + abs(x)
            + ti.max(x, 0.1)
            + min(x, 2.0)
            + ti.pow(x, 2.0)
        )

    x = 0.3
    e = (
        math.sin(x)
        + math.cos(x)
        + math.tan(x)
        + math.asin(x)
        + math.acos(x)
        + math.atan2(x, 1)
        + math.tanh(x)
        + math.exp(x)
        + math.log(x)
        + x**0.5
        + x**-0.5
        + 0
        + 1
        + 0
        + x
        + x
        + x
        + x * x
    )
    assert abs(f(x) - e) < 1e-4

    @ti.kernel
    def g() -> ti.f32:
        return (
            tm.clamp(5.0, 0.0, 1.0)
            + tm.mix(0.0, 2.0, 0.5)
            + tm.fract(1.25)
            + tm.sign(-2.0)
            + tm.step(1.0, 2.0)
            + tm.smoothstep(0.0, 1.0, 0.5)
            + tm.mod(5.5, 2.0)
            + tm.length(tm.vec2(3, 4))
            + tm.distance(tm.vec2(0, 0), tm.vec2(3, 4))
        )

    assert abs(g() - (1 + 1 + 0.25 - 1 + 1 + 0.5 + 1.5 + 5 + 5)) < 1e-5

    @ti.kernel
    def mm() -> ti.i32:
        return ti.max(1, 2, 3) + ti.min(4, 5, -6)

    assert mm() == -3


@case
def random_():
    x = ti.field(ti.f32, 1000)

    @ti.kernel
    def f():
        for i in x:
            x[i] = ti.random()

    f()
    a = x.to_numpy()
    assert a.min() >= 0 and a.max() < 1 and abs(a.mean() - 0.5) < 0.05

    @ti.kernel
    def g():
        for i in x:
            x[i] = ti.randn()

    g()
    assert abs(x.to_numpy().std() - 1) < 0.1

    @ti.kernel
    def h() -> ti.i32:
        return ti.random(ti.i32)

    h()


@case
def ternary_bool():
    @ti.kernel
    def f(a: ti.i32) -> ti.i32:
        b = 3 if a > 2 else 4
        c = a > 1 and a < 5
        d = not c or a == 9
        e = 1 < a < 4
        return b + c + d * 10 + e * 100

    assert f(3) == 3 + 1 + 0 + 100

    @ti.kernel
    def s(a: ti.i32) -> ti.i32:
        return ti.select(a > 2, 10, 20)

    assert s(3) == 10


@case
def printing():
    @ti.kernel
    def f():
        for i in range(1):
            print("hello", i, 2.5, ti.Vector([1, 2]))
        print(f"v {3}", end="")
        print()
        print("b", "c", sep="|")

    f()
    ti.sync()


@case
def numpy_io():
    a = np.arange(12, dtype=np.float32).reshape(3, 4)

    @ti.kernel
    def f(x: ti.types.ndarray()):
        for i, j in ti.ndrange(x.shape[0], x.shape[1]):
            x[i, j] *= 2

    f(a)
    assert a[2, 3] == 22

    @ti.kernel
    def g(x: ti.types.ndarray(dtype=ti.f32, ndim=2)) -> ti.f32:
        t = 0.0
        for i, j in x:
            t += x[i, j]
        return t

    assert g(a) == a.sum()
    n = ti.ndarray(ti.f32, (3, 4))
    n.from_numpy(a)
    assert g(n) == a.sum()
    x = ti.field(ti.f32, (3, 4))
    x.from_numpy(a)
    assert (x.to_numpy() == a).all()
    v = ti.Vector.field(2, ti.f32, 3)
    v.from_numpy(np.ones((3, 2), np.float32))
    assert v[1][1] == 1

    @ti.kernel
    def h(x: ti.types.ndarray(dtype=tm.vec3, ndim=1)):
        for i in x:
            x[i] += tm.vec3(1, 2, 3)

    b = np.zeros((4, 3), np.float32)
    h(b)
    assert b[3, 2] == 3


@case
def data_oriented():
    @ti.data_oriented
    class A:
        def __init__(self, n):
            self.n = n
            self.x = ti.field(ti.f32, n)
            self.k = 3

        @ti.kernel
        def fill(self, v: ti.f32):
            for i in self.x:
                self.x[i] = self.get(i) * v

        @ti.func
        def get(self, i):
            return i + self.k

        @staticmethod
        @ti.kernel
        def st(a: ti.i32) -> ti.i32:
            return a + 1

        @ti.kernel
        def total(self) -> ti.f32:
            t = 0.0
            for i in range(self.n):
                t += self.x[i]
            return t

    a = A(4)
    a.fill(2.0)
    assert a.x[3] == 12
    assert a.total() == 2 * (3 + 4 + 5 + 6)
    assert A.st(4) == 5
    b = A(6)
    b.fill(1.0)
    assert b.total() == sum(range(3, 9))


@case
def tape():
    x = ti.field(ti.f32, shape=4, needs_grad=True)
    out = ti.field(ti.f32, shape=(), needs_grad=True)

    @ti.kernel
    def loss():
        for i in x:
            out[None] += x[i] ** 2

    for i in range(4):
        x[i] = i
    with ti.ad.Tape(loss=out):
        loss()
    assert out[None] == 14 and x.grad[3] == 6
    with ti.ad.Tape(out):
        loss()
    out.grad[None] = 1
    x.grad.fill(0)
    loss()
    loss.grad()
    assert x.grad[2] == 4


@case
def loopconf():
    x = ti.field(ti.i32, 100)

    @ti.kernel
    def f():
        ti.loop_config(serialize=True)
        for i in range(1, 100):
            x[i] = x[i - 1] + 1
        ti.loop_config(parallelize=8, block_dim=16)
        for i in range(100):
            x[i] *= 2

    f()
    assert x[99] == 198


@case
def offsets():
    x = ti.field(ti.i32, shape=(4, 4), offset=(-2, -1))

    @ti.kernel
    def f():
        for i, j in x:
            x[i, j] = i * 10 + j

    f()
    assert x[-2, -1] == -21 and x[1, 2] == 12
    assert x.to_numpy()[0, 0] == -21


@case
def placing():
    a = ti.field(ti.f32)
    b = ti.Vector.field(2, ti.f32)
    ti.root.dense(ti.ij, (4, 5)).place(a, b)
    assert a.shape == (4, 5)
    a[3, 4] = 1
    b[0, 0] = [1, 2]
    c = ti.field(ti.i32)
    blk = ti.root.dense(ti.i, 3)
    blk.dense(ti.j, 2).place(c)
    assert c.shape == (3, 2)
    d = ti.field(ti.i32)
    ti.root.place(d)
    d[None] = 3
    assert d[None] == 3
    e = ti.field(ti.f32, needs_grad=True)
    ti.root.dense(ti.i, 4).place(e, e.grad)
    e.grad[0] = 1


@case
def sort_():
    k = ti.field(ti.i32, 37)
    v = ti.field(ti.i32, 37)
    a = np.random.RandomState(0).randint(0, 99, 37).astype(np.int32)
    k.from_numpy(a)
    v.from_numpy(a * 2)
    ti.algorithms.parallel_sort(k, v)
    assert (k.to_numpy() == np.sort(a)).all() and (v.to_numpy() == 2 * np.sort(a)).all()
    p = ti.algorithms.PrefixSumExecutor(37)
    k.from_numpy(a)
    p.run(k)
    assert (k.to_numpy() == np.cumsum(a)).all()


@case
def host_matrix():
    a = ti.Vector([1, 2, 3])
    b = a + 1
    assert list(b) == [2, 3, 4]
    assert a.sum() == 6 and a.norm() == 14**0.5 and a.max() == 3
    m = ti.Matrix([[1, 2], [3, 4]])
    assert (m @ m)[0, 0] == 7 and m.transpose()[0, 1] == 3 and abs(m.determinant() + 2) < 1e-6 and m.n == 2
    assert a.to_numpy().tolist() == [1, 2, 3]
    assert m.to_list() == [[1, 2], [3, 4]]
    assert ti.Vector([1.0, 0.0]).dot(ti.Vector([0.0, 1.0])) == 0


@case
def real_func():
    @ti.real_func
    def fib(n: ti.i32) -> ti.i32:
        r = n
        if n > 1:
            r = fib(n - 1) + fib(n - 2)
        return r

    @ti.kernel
    def f(n: ti.i32) -> ti.i32:
        return fib(n)

    assert f(10) == 55


@case
def frexp_():
    @ti.kernel
    def f(x: ti.f32) -> tm.vec2:
        a, b = ti.frexp(x)
        return tm.vec2(a, b)

    assert list(f(6.0)) == [0.75, 3]


@case
def bitops():
    @ti.kernel
    def f(a: ti.i32) -> ti.i32:
        return ((a << 2) | 1) ^ (a >> 1) & ~3

    assert f(13) == ((13 << 2) | 1) ^ (13 >> 1) & ~3

    @ti.kernel
    def g(a: ti.u32) -> ti.u32:
        return tm.popcnt(a)

    assert g(255) == 8


@case
def f64s():
    x = ti.field(ti.f64, 3)
    x[0] = 1e-300
    assert x[0] == 1e-300
    y = ti.field(ti.i64, 3)
    y[0] = 2**40
    assert y[0] == 2**40
    z = ti.field(ti.u8, 3)
    z[0] = 255
    assert z[0] == 255
    h = ti.field(ti.f16, 3)
    h[0] = 0.5
    assert h[0] == 0.5
    b = ti.field(ti.u1, 3)
    b[0] = True
    assert b[0] == 1


@case
def gradk():
    x = ti.field(ti.f32, (), needs_grad=True)
    y = ti.field(ti.f32, (), needs_grad=True)

    @ti.kernel
    def f():
        y[None] = ti.sin(x[None])

    x[None] = 0.5
    y.grad[None] = 1
    f()
    f.grad()
    assert abs(x.grad[None] - math.cos(0.5)) < 1e-6


@case
def custom_grad():
    x = ti.field(ti.f32, 4, needs_grad=True)
    t = ti.field(ti.f32, (), needs_grad=True)

    @ti.kernel
    def func(m: ti.f32):
        for i in range(4):
            t[None] += x[i] * m

    @ti.ad.grad_replaced
    def forward(m):
        func(m)

    @ti.ad.grad_for(forward)
    def backward(m):
        func.grad(m * 10)

    with ti.ad.Tape(t):
        forward(4)
    assert x.grad[0] == 40
