# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: structures are values: made, copied, passed and returned as Python's dataclasses, the same on all targets."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest

from cuda_graphs.compiler import errors
from cuda_graphs.compiler.frontend.translate import translate
from cuda_graphs.compiler.language.signature import specialise
from tests.compiler.rig import Structures, cg, function_of, run_all

LAYOUTS = ("soa", "aos")


@dataclass
class Spin:
    axis: cg.vec2
    rate: cg.f64 = 0.1


@dataclass
class Ball:
    at: cg.vec3
    radius: cg.f32 = 1.5
    count: cg.i32 = 7
    spin: Spin = field(default_factory=lambda: Spin(cg.vec2(1, 2)))

    @cg.func
    def volume(self):
        return self.radius**3

    def moved(self, by):
        self.at += by
        self.count += 1
        return self.at.sum()

    def twice(self, by):
        return self.moved(by) + self.moved(by)


@cg.func
def grown(ball: Ball, by):
    ball.radius += by
    ball.spin.rate = 9.0
    return ball


@cg.func
def made(at) -> Ball:
    return Ball(at, spin=Spin((3, 4), rate=0.2))


def local(out: cg.ndarray(cg.f64, 1), ball: Ball):
    b = Ball(cg.vec3(1, 2, 3))
    c = b
    c.radius, c.at.x = 7.0, 10.0
    out[0] = b.radius + 10 * c.radius + 100 * b.at.x + 1000 * c.at.x
    out[1] = b.spin.rate + b.count + b.spin.axis.y
    out[2] = b.twice(cg.vec3(1, 1, 1)) + 100 * b.count
    d = grown(b, 1.0)
    out[3] = d.radius - b.radius + 10 * (d.spin.rate - b.spin.rate) + b.volume()
    e = made((0, 0, 5))
    out[4] = e.spin.rate + e.spin.axis.x + e.at.z
    e.spin = b.spin
    out[5] = e.spin.rate
    own = ball
    own.at = own.at * 2
    out[6] = own.at.sum() - ball.at.sum() + ball.volume()
    b, c = c, b
    out[7] = b.radius + 10 * c.radius
    cg.loop_config(serialize=True)
    for i in range(3):
        c.count += i
        if i == 1:
            c = Ball(at=c.at + 1, count=c.count)
    out[8] = c.count + 100 * c.at.x + 10000 * c.radius


def test_local_structures_are_values():
    found = run_all(local, out=np.zeros(9), ball=Ball([1, 1, 1], 2.0, 3, Spin([0, 0], 0.0)))["out"]
    wanted = [
        1.5 + 70 + 100 + 10000, 0.1 + 7 + 2, 9 + 12 + 900, 1 + 89 + 3.375, 0.2 + 3 + 5, 0.1, 3 + 8, 7 + 15,
        12 + 400 + 15000,
    ]  # fmt: skip
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


@cg.func
def pair(a) -> SimpleNamespace:
    return SimpleNamespace(low=a, high=SimpleNamespace(at=cg.vec2(a, a + 1), name="far"))


@cg.func
def rate_of(spin: Spin):
    return spin.rate + spin.axis.y


@cg.func
def raise_low(found: cg.template):
    found.low += 100


def unnamed(out: cg.ndarray(cg.f64, 1), spins: cg.ndarray(Spin, 1), n: cg.i32):
    s = SimpleNamespace(a=1, b=n)
    t = s
    t.a += 4
    out[0] = s.a + 10 * t.a + 100 * t["b"]
    if n > 2:
        s = SimpleNamespace(b=7, a=8)
    out[1] = s.a + 10 * s.b
    p = pair(n)
    p.high.at[1] *= 2
    raise_low(p)
    out[2] = p.low + p.high.at.y
    out[3] = rate_of(SimpleNamespace(rate=0.5, axis=cg.vec2(1, n))) + rate_of({"axis": cg.vec2(0, 1)})
    spins[0] = SimpleNamespace(axis=cg.vec2(n, 2), rate=n)
    b = Ball(at=(1, 2, 3), spin=SimpleNamespace(axis=(5, 6)))
    b.spin = SimpleNamespace(axis=b.spin.axis.yx, rate=b.spin.rate + 1)
    out[4] = b.spin.axis.x + b.spin.rate
    out[5] = (SimpleNamespace(a=n) == SimpleNamespace(a=3)) + (
        SimpleNamespace(a=n) != SimpleNamespace(a=3)
    ) * 10


def test_structures_without_a_class_are_values():
    spins = Structures.zeros(Spin, "soa", 1)
    found = run_all(unnamed, out=np.zeros(6), spins=spins, n=3)
    wanted = [1 + 50 + 300, 8 + 70, 103 + 8, 0.5 + 3 + 0.1 + 1, 6 + 1.1, 1]
    np.testing.assert_allclose(found["out"], wanted, rtol=1e-12)
    assert (found["spins.axis"].tolist(), found["spins.rate"].tolist()) == ([[3, 2]], [3])


BALLS = cg.ndarray(Ball, 1)


@cg.func
def push(balls: cg.ndarray(Ball, 1), i, by: cg.f32):
    balls[i].radius += by


def arrays(x: BALLS, y: cg.ndarray(Ball, ndim=1), total: cg.ndarray(cg.f64, 0)):
    for i in x:
        x[i] = Ball(cg.vec3(i, 2 * i, 3), 0.5, i, Spin((i, 1), 0.25))
        push(x, i, 1.0)
        x[i].moved(cg.vec3(1, 0, 0))
        x[i].at[(i + 1) % 3] += 10.0
        x.count[i] *= 2
        x[i].spin.rate += x[i].volume()
        y[i] = x[i]
        y[i].at = x.at[i].zyx
        own = y[i]
        own.radius = 100.0
        total[()] += x[i].spin.rate + own.radius * x.shape[0]
    for j in cg.grouped(y):
        y[j].count += len(y)


@pytest.mark.parametrize("of_x", LAYOUTS)
@pytest.mark.parametrize("of_y", LAYOUTS)
def test_arrays_of_structures_hold_what_kernels_write(of_x, of_y):
    count = 5
    x, y = Structures.zeros(Ball, of_x, count), Structures.zeros(Ball, of_y, count)
    found = run_all(arrays, x=x, y=y, total=np.zeros(()))
    i = np.arange(count)
    at = np.stack([i + 1, 2 * i, np.full(count, 3)], 1).astype("f")
    at[i, (i + 1) % 3] += 10

    def member(name, path, layout, offset, shape=()):
        values = found[f"{name}.{path}"]
        if layout == "soa":
            return values
        return values[:, offset] if not shape else values[:, offset : offset + 3]

    np.testing.assert_array_equal(member("x", "at", of_x, 0, (3,)), at)
    np.testing.assert_array_equal(member("y", "at", of_y, 0, (3,)), at[:, ::-1])
    for name, layout, more in (("x", of_x, 0), ("y", of_y, count)):
        np.testing.assert_array_equal(member(name, "radius", layout, 3), np.full(count, 1.5, "f"))
        np.testing.assert_array_equal(member(name, "count", layout, 4), 2 * (i + 1) + more)
        np.testing.assert_array_equal(member(name, "spin.rate", layout, 4), np.full(count, 0.25 + 3.375))
    assert found["total"] == count * (0.25 + 3.375 + 100 * count)


@dataclass
class Small:
    a: cg.bf16
    way: cg.types.vec(3, cg.bf16)
    n: cg.i16
    h: cg.f16
    turn: cg.types.mat(2, 2, cg.f16)
    b: cg.bf16


def small_floats(x: cg.ndarray(Small, 1), y: cg.ndarray(cg.f32, 2)):
    for i in x:
        x[i] = Small(
            cg.bf16(y[i, 0]), cg.vec3(i, y[i, 1], 2).cast(cg.bf16), cg.i16(i), cg.f16(y[i, 2]),
            cg.mat2((1, 2), (3, y[i, 3])).cast(cg.f16), 0.5
        )  # fmt: skip
        x[i].a *= cg.bf16(1.7)
        x[i].way[i % 3] += cg.bf16(1.0)
        x[i].turn[i % 2, 1] -= x[i].h
        p = x[i]
        p.b += p.a
        x[i] = p
        y[i, 0] = x[i].b + x[i].way.sum() * x[i].turn[0, 1] + x[i].n


@pytest.mark.parametrize("layout", LAYOUTS)
def test_small_floats_are_members_on_all_targets(layout):
    count = 4
    y = np.random.default_rng(3).random((count, 4)).astype("f")

    def rounded(value):
        return np.asarray(value, np.float32).astype(ml_dtypes.bfloat16).astype(np.float32)

    i = np.arange(count)
    a = rounded(rounded(y[:, 0]) * rounded(1.7))
    way = np.stack([i, rounded(y[:, 1]), np.full(count, 2)], 1).astype("f")
    way[i, i % 3] = rounded(way[i, i % 3] + 1)
    h = y[:, 2].astype("f2")
    turn = np.where(i % 2 == 0, np.float16(2) - h, np.float16(2))
    b = rounded(0.5 + a)
    wanted = b + rounded(rounded(way[:, 0] + way[:, 1]) + way[:, 2]) * turn.astype("f") + i
    found = run_all(small_floats, x=Structures.zeros(Small, layout, count), y=y)["y"]
    np.testing.assert_allclose(found[:, 0], wanted, rtol=1e-6)


REFUSED = {
    "b = Ball()": (errors.CompileArgumentError, "Ball: missing a required argument: 'at'"),
    "b = Ball(cg.vec3(1), nothing=2)": (errors.CompileArgumentError, "unexpected keyword argument 'nothing'"),
    "b = Ball(1.0, cg.vec3(1))": (errors.CompileTypeError, "member 'radius' of Ball must be a number"),
    "b = Ball(cg.vec2(1, 2))": (errors.CompileTypeError, "is made of a value of shape (2,)"),
    "b = Ball(cg.vec3(1), spin=3.0)": (errors.CompileTypeError, "member 'spin' of Ball is declared as Spin"),
    "b = Ball(cg.vec3(1))\n    b = 1.0": (errors.CompileTypeError, "a Ball becomes a number of type f32"),
    "b = Ball(cg.vec3(1))\n    b.spin = b": (errors.CompileTypeError, "a Spin becomes a Ball"),
    "b = Ball(cg.vec3(1))\n    t = b.nothing": (errors.CompileNameError, "Ball has no member 'nothing'"),
    "ball.radius = 1.0": (errors.CompileImmutableError, "'ball.radius' is a parameter of the kernel"),
    "c = Counted(1)": (errors.CompileTypeError, "Counted has an __post_init__ of its own"),
    "t = x[0, 0]": (errors.CompileIndexError, "has 1 dimension and 2 were indexed"),
    "t = x.nothing": (errors.CompileNameError, "an array of Ball has no member 'nothing'"),
    "x[0] = 1.0": (errors.CompileTypeError, "a Ball becomes a number"),
    "t = SimpleNamespace(a=1).b": (errors.CompileNameError, "structure of a has no member 'b'"),
    "t = ball['nothing']": (errors.CompileNameError, "Ball has no member 'nothing'"),
    "t = SimpleNamespace(3)": (errors.CompileArgumentError, "a structure is made of members"),
    "t = SimpleNamespace(a=1)\n    t = SimpleNamespace(b=1)": (
        errors.CompileTypeError,
        "a structure of a becomes a structure of b",
    ),
    "x[0] = SimpleNamespace(at=cg.vec3(1))": (errors.CompileTypeError, "a Ball becomes a structure"),
    "b = Ball(cg.vec3(1), spin={'turn': 1})": (
        errors.CompileArgumentError,
        "missing a required argument: 'axis'",
    ),
    "t = x[0].at[3]": (errors.CompileIndexError, "indexed with 3"),
}


@dataclass
class Counted:
    n: cg.i32

    def __post_init__(self):
        self.n += 1


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("body", "refusal"), list(REFUSED.items()), ids=list(REFUSED))
def test_mistakes_are_refused_by_name(body, refusal, layout):
    kernel = function_of(
        f"def kernel(ball: Ball, x: ndarray(Ball, 1)):\n    {body}\n",
        **{each.__name__: each for each in (Ball, Spin, Counted, SimpleNamespace)},
    )
    ball = Ball((0, 0, 0))
    with pytest.raises(refusal[0]) as caught:
        translate(kernel, specialise(kernel, {"ball": ball, "x": Structures.zeros(Ball, layout, 2)}))
    assert refusal[1] in str(caught.value)
