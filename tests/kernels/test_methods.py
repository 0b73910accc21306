# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a kernel in a class takes the arrays of its object as they are in each call, and its other members as constants
that are never stale."""

import dataclasses
import sys

import numpy as np
import pytest

import cuda_graphs as cg

f32_1d = cg.types.ndarray(cg.f32, ndim=1)


@dataclasses.dataclass
class Limits:
    low: float
    high: float


@cg.data_oriented
class Inner:
    def __init__(self, n):
        self.weights = cg.ndarray(cg.f32, n)
        self.weights.fill(0.5)
        self.scale = 2.0


@cg.data_oriented
class Waves:
    SHIFT = 1.0

    def __init__(self, n, speed=3.0):
        self.n, self.speed = n, speed
        self.x = cg.ndarray(cg.f32, n)
        self.table = cg.field(cg.f32, n)
        self.limits = Limits(-100.0, 100.0)
        self.inner = Inner(n)
        self.calls = 0
        self.unused = object()

    @cg.func
    def moved(self, v, i):
        return v + self.speed * self.inner.weights[i] * self.inner.scale

    @cg.kernel
    def step(self, amount: cg.f32):
        for i in range(self.n):
            v = self.moved(self.x[i], i) + amount * self.SHIFT
            self.x[i] = min(max(v, self.limits.low), self.limits.high)
            self.table[i] = v

    @cg.kernel
    def total(self) -> cg.f32:
        s = 0.0
        for i in self.x:
            s += self.x[i]
        return s

    @cg.kernel
    def of_helper(self, out: f32_1d):
        out[0] = helper(self)


@cg.func
def helper(waves):
    return waves.speed * waves.n


def made(kernel):
    """Returns the number of kernels for objects of the class."""
    return int(repr(kernel).split("made for ")[1].split()[0])


@pytest.fixture(autouse=True)
def afresh(device):
    yield
    device.sync()
    for kernel in (Waves.step, Waves.total, Waves.of_helper):
        kernel.forget()


def test_a_method_forgets_what_was_compiled_for_its_object():
    waves = Waves(5)
    waves.step(1.0)
    assert "1 specialisation" in repr(Waves.step.of(waves))
    waves.step.forget()
    assert "0 specialisations" in repr(Waves.step.of(waves))
    waves.step(2.0)
    assert waves.x.to_numpy().tolist() == [9.0] * 5


def test_arrays_of_an_object_are_arguments_and_the_rest_is_constant():
    waves = Waves(5)
    waves.step(1.0)
    waves.step(2.0)
    assert waves.x.to_numpy().tolist() == [9.0] * 5
    assert waves.table.to_numpy().tolist() == [9.0] * 5
    assert waves.total() == 45
    assert made(Waves.step) == 1


def test_a_changed_member_is_seen_and_one_that_is_not_used_costs_nothing(monkeypatch):
    waves = Waves(3)
    waves.step(1.0)
    waves.calls, waves.unused = 7, "other"
    waves.step(1.0)
    assert made(Waves.step) == 1
    assert waves.x[0] == 8
    waves.speed = 4.0
    waves.step(0.0)
    assert waves.x[0] == 12
    waves.inner.scale = 1.0
    waves.step(0.0)
    assert waves.x[0] == 14
    waves.limits.high = 5.0
    waves.step(0.0)
    assert waves.x[0] == 5
    monkeypatch.setattr(Waves, "SHIFT", 0.0)
    waves.limits = Limits(-1.0, 50.0)
    waves.step(9.0)
    assert waves.x[0] == 7
    assert made(Waves.step) == 5


def test_other_arrays_of_the_same_kind_need_no_other_code():
    waves = Waves(4)
    waves.step(1.0)
    old = waves.x
    waves.x = cg.ndarray(cg.f32, 4)
    waves.step(2.0)
    assert (old[0], waves.x[0]) == (4, 5)
    waves.x = np.zeros(4, "f")
    waves.step(0.0)
    assert waves.x.tolist() == [3] * 4
    assert made(Waves.step) == 1


def test_objects_do_not_mix():
    a, b = Waves(2), Waves(2, speed=10.0)
    for _ in range(3):
        a.step(0.0)
        b.step(0.0)
    assert (a.x[0], b.x[0]) == (9, 30)
    assert (a.table[1], b.table[1]) == (9, 30)


def test_self_may_be_handed_to_functions():
    waves, out = Waves(3, speed=2.5), cg.ndarray(cg.f32, 1)
    waves.of_helper(out)
    assert out[0] == 7.5
    waves.speed = 3.0
    waves.of_helper(out)
    assert out[0] == 9


def test_a_method_that_is_replaced_is_seen(monkeypatch):
    waves = Waves(2)
    waves.step(0.0)

    @cg.func
    def moved(self, v, i):
        return v - self.n

    monkeypatch.setattr(Waves, "moved", moved)
    waves.step(0.0)
    assert waves.x[0] == 1


def test_a_subclass_has_its_own():
    @cg.data_oriented
    class Slow(Waves):
        @cg.func
        def moved(self, v, i):
            return v + 1.0

    slow, waves = Slow(2), Waves(2)
    slow.step(0.0)
    waves.step(0.0)
    assert (slow.x[0], waves.x[0]) == (1, 3)


def test_a_dataclass_may_have_kernels():
    @dataclasses.dataclass
    class Body:
        mass: float
        at: object

        @cg.kernel
        def fall(self, dt: cg.f32):
            for i in self.at:
                self.at[i] -= self.mass * dt

    body = Body(2.0, np.ones(3, "f"))
    body.fall(0.25)
    assert body.at.tolist() == [0.5] * 3


@dataclasses.dataclass
class Ray:
    origin: cg.vec3
    direction: cg.vec3

    @cg.func
    def at(self, t):
        return self.origin + self.direction * t


def test_functions_of_dataclasses_are_methods_in_kernels():
    @cg.kernel
    def follow(ray: Ray, t: cg.f32) -> cg.f32:
        return ray.at(t).sum() + ray.at(t=0.0).x

    assert follow(Ray((1, 2, 3), (0, 0, 2)), 5.0) == 17


def test_a_kernel_is_not_called_by_another_one():
    @cg.data_oriented
    class Both:
        @cg.kernel
        def one(self):
            pass

        @cg.kernel
        def two(self):
            self.one()

    with pytest.raises(cg.CompileSyntaxError, match=r"the kernel self\.one is called in a kernel"):
        Both().two()


def test_methods_are_nodes_of_graphs(device):
    stream = device.create_stream()
    waves = Waves(6)
    g = cg.GraphDef()
    g.call(waves.step, 1.0).call(waves.step, 2.0).launch(None, waves.step, 0.0)
    graph = g.instantiate()
    waves.x[0]  # what was written before is done
    graph.launch(stream)
    stream.sync()
    assert waves.x.to_numpy().tolist() == [12.0] * 6


def test_methods_are_called_by_name_on_streams_and_compiled_before(device):
    stream = device.create_stream()
    waves = Waves(3)
    cg.compile_all([(waves.step, 1.0)], progress=False)
    waves.step.compile(amount=1.0)
    waves.step(amount=1.0, stream=stream)
    stream.sync()
    assert waves.x[0] == 4
    assert "step" in str(waves.step.inspect(1.0).ir)
    assert made(Waves.step) == 1


def test_misuse_is_refused():
    class Plain:
        @cg.kernel
        def step(self):
            pass

    with pytest.raises(TypeError, match=r"Plain has the kernel step.*@cg.data_oriented"):
        Plain().step()
    with pytest.raises(TypeError, match=r"call it as a method of an object, obj.step\(...\)"):
        Waves.step(Waves(1), 1.0)
    with pytest.raises(TypeError, match="@data_oriented takes a class"):
        cg.data_oriented(3)
    waves = Waves(2)
    with pytest.raises(
        TypeError, match=r"step\(\) takes 2 arguments \(self, amount\), got 1: amount missing"
    ):
        waves.step()
    with pytest.raises(TypeError, match="parameter 'amount' takes f32"):
        waves.step("text")
    waves.x = [1.0, 2.0]
    with pytest.raises(cg.CompileError, match="x"):
        waves.step(1.0)
    with pytest.raises(cg.CompileError, match="parameter 'self' of kernel alone has no annotation"):

        @cg.kernel
        def alone(self):
            pass


def test_members_are_read_only_in_kernels():
    @cg.data_oriented
    class Counter:
        def __init__(self):
            self.n = 1

        @cg.kernel
        def bump(self):
            self.n = 2

        @cg.kernel
        def missing(self):
            self.nothing = 2

    with pytest.raises(
        cg.CompileImmutableError, match=r"'self\.n' is a member of 'self', which is immutable"
    ):
        Counter().bump()
    with pytest.raises(cg.CompileNameError, match="Counter has no member 'nothing'"):
        Counter().missing()


@cg.data_oriented
class Scaled:
    """An object has its own array, and the scale of its class."""

    scale = 3.0

    def __init__(self):
        self.x = cg.ones(3, cg.f64)

    def of(self, i):
        return self.x[i] * self.scale

    @property
    def first(self):
        return self.x[0] * self.scale

    @classmethod
    @cg.func
    def times(cls, a):
        return cls.scale * a

    @cg.func
    @classmethod
    def twice(cls, a):
        return 2.0 * cls.scale * a


@cg.data_oriented
class Shifted(Scaled):
    def of(self, i):
        return Scaled.of(self, i) + 1.0


@cg.func
def element_of(scaled, i):
    return scaled.x[i] * scaled.scale


@cg.func
def first_of(scaled):
    return scaled.first


def test_objects_that_are_passed_as_a_whole_have_the_attributes_of_their_classes(device, monkeypatch):
    scaled, shifted = Scaled(), Shifted()

    @cg.kernel
    def passed(i: cg.i32) -> cg.f64:
        return element_of(scaled, i)

    @cg.kernel
    def by_class(i: cg.i32) -> cg.f64:
        return Scaled.of(scaled, i)

    @cg.kernel
    def of_property(i: cg.i32) -> cg.f64:
        return first_of(scaled)

    @cg.kernel
    def of_subclass(i: cg.i32) -> cg.f64:
        return shifted.of(i) - 1.0

    kernels = (passed, by_class, of_property, of_subclass)
    assert [k(0) for k in kernels] == [3] * 4
    monkeypatch.setattr(Scaled, "scale", 5.0)
    assert [k(0) for k in kernels] == [5] * 4
    scaled.scale = 7.0
    assert [k(0) for k in kernels] == [7, 7, 7, 5]


def test_class_methods_of_an_object_get_the_class_as_it_is(device, monkeypatch):
    @cg.data_oriented
    class Own(Scaled):
        @cg.kernel
        def own(self) -> cg.f64:
            return self.times(cg.f64(1.0)) + 10.0 * self.twice(cg.f64(1.0))

    scaled = Own()
    scaled.scale = 7.0
    assert scaled.own() == 3 + 60

    @cg.kernel
    def of_class(a: cg.f64) -> cg.f64:
        return Scaled.times(a) + Scaled.twice(a)

    assert of_class(1.0) == 9
    other = Own()
    assert other.own() == 3 + 60
    monkeypatch.setattr(Scaled, "scale", 4.0)
    assert of_class(1.0) == 12 and other.own() == 4 + 80


def test_kernels_can_be_class_methods_and_static_methods():
    @cg.data_oriented
    class Scaled:
        factor = 5

        @classmethod
        @cg.kernel
        def times_factor(cls, a: cg.i32) -> cg.i32:
            return a * cls.factor

        @staticmethod
        @cg.kernel
        def doubled(a: cg.i32) -> cg.i32:
            return 2 * a

        @cg.kernel
        def plus_factor(self, a: cg.i32) -> cg.i32:
            return a + self.factor

    class Larger(Scaled):
        factor = 7

    assert (Scaled.times_factor(3), Scaled().times_factor(3)) == (15, 15)
    assert (Larger.times_factor(3), Larger().times_factor(3)) == (21, 21)
    assert (Scaled.doubled(4), Larger().doubled(4), Larger().plus_factor(1)) == (8, 8, 8)
    Scaled.factor = 2
    assert (Scaled.times_factor(3), Larger.times_factor(3)) == (6, 21)
    Scaled.factor = 5
    assert Scaled.times_factor(3) == 15


def scaled():
    """Return a class with kernels that are class methods, and a class that inherits them."""

    class Scaled:
        factor = 5.0

        @cg.kernel
        @classmethod
        def scale(cls, x: f32_1d, y: f32_1d) -> None:
            for i in x:
                y[i] = cls.factor * x[i]

        @classmethod
        @cg.kernel
        def inner(cls, x: f32_1d, y: f32_1d) -> None:
            for i in x:
                y[i] = cls.factor * x[i]

    class Doubled(Scaled):
        factor = 10.0

    return Scaled, Doubled


def test_class_methods_have_gradients_and_write_arrays():
    Scaled, _ = scaled()
    x, y = cg.ndarray(cg.f32, 3, needs_grad=True), cg.ndarray(cg.f32, 3, needs_grad=True)
    x.fill(2)
    Scaled.scale(x, y)
    assert y.to_numpy().tolist() == [10, 10, 10]
    y.grad.fill(1)
    Scaled.scale.grad(x, y)
    assert x.grad.to_numpy().tolist() == [5, 5, 5]


def test_class_methods_belong_to_the_class_that_is_asked():
    Scaled, Doubled = scaled()
    x, y = cg.ones(3, cg.f32), cg.zeros(3, cg.f32)
    for call, factor in ((Scaled.scale, 5), (Doubled.scale, 10), (Scaled().scale, 5), (Doubled().inner, 10)):
        call(x, y)
        assert y.to_numpy().tolist() == [factor] * 3
    g = cg.GraphDef()
    g.call(Doubled.scale, x, y)
    y.fill(0)
    stream = cg.Device().create_stream()
    g.instantiate().launch(stream)
    stream.sync()
    assert y.to_numpy().tolist() == [10] * 3


def test_a_class_method_above_its_kernel_has_all_methods_or_says_what_to_do():
    Scaled, _ = scaled()
    if sys.version_info < (3, 13):
        assert Scaled.inner.grad
    else:
        with pytest.raises(AttributeError, match=r"Write @cg\.kernel above @classmethod"):
            Scaled.inner.grad  # noqa: B018
    with pytest.raises(AttributeError, match="has no attribute 'other'"):
        Scaled.inner.other  # noqa: B018
