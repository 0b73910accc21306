# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: an array of structures consists of its members in either layout, for kernels, NumPy, graphs and gradients."""

import gc
import pickle
import weakref
from dataclasses import dataclass

import numpy as np
import pytest

import cuda_graphs as cg

COUNT = 6
LAYOUTS = ["soa", "aos"]


@dataclass
class Spin:
    axis: cg.vec2
    rate: cg.f64


@dataclass
class Particle:
    at: cg.vec3
    kind: cg.u8
    mass: cg.f64
    spin: Spin
    turn: cg.mat2
    on: cg.bool_ = True

    def move(self, by):
        self.at += by
        self.spin.rate += self.mass


PARTICLES = cg.types.ndarray(Particle, ndim=1)
DTYPE = np.dtype(
    [
        ("at", "f4", 3),
        ("kind", "u1"),
        ("mass", "f8"),
        ("spin", np.dtype([("axis", "f4", 2), ("rate", "f8")], align=True)),
        ("turn", "f4", (2, 2)),
        ("on", "?"),
    ],
    align=True,
)


def values(count=COUNT):
    rng, found = np.random.default_rng(3), np.zeros(count, DTYPE)
    found["at"], found["kind"], found["mass"] = rng.random((count, 3)), np.arange(count), rng.random(count)
    found["spin"]["axis"], found["spin"]["rate"] = rng.random((count, 2)), 0.5
    found["turn"], found["on"] = rng.random((count, 2, 2)), np.arange(count) % 2
    return found


def particle(mass=2.0):
    return Particle([1, 2, 3], 4, mass, Spin([5, 6], 7.0), [[1, 2], [3, 4]], False)


@pytest.fixture(params=LAYOUTS)
def layout(request):
    return request.param


def array(layout, make=cg.ndarray, **options):
    found = make(Particle, COUNT, layout=layout, **options)
    found.from_numpy(values())
    return found


@cg.kernel
def advance(x: PARTICLES, by: cg.vec3, j: cg.i32):
    for i in x:
        x[i].move(by)
        x[i].turn[i % 2, j] = 9.0
        x[i].at[(i + j) % 3] *= 2.0
        p = x[i]
        p.kind += cg.u8(1)
        if p.mass > 0.5:
            x[i] = p


def advanced(given, by, j):
    found = given.copy()
    for i in range(len(found)):
        found["at"][i] += np.float32(by)
        found["spin"]["rate"][i] += found["mass"][i]
        found["turn"][i, i % 2, j] = 9
        found["at"][i, (i + j) % 3] *= 2
        found["kind"][i] += found["mass"][i] > 0.5
    return found


def test_kernels_change_members(layout, device):
    x = array(layout)
    advance(x, (1, 2, 3), 1)
    np.testing.assert_array_equal(x.to_numpy(), advanced(values(), (1, 2, 3), 1))
    advance(x, (0, 0, 1), 0)
    np.testing.assert_array_equal(x.to_numpy(), advanced(advanced(values(), (1, 2, 3), 1), (0, 0, 1), 0))


def test_a_graph_replays_calls_with_structures(layout, device):
    x, y = array(layout), array(layout)
    stream = device.create_stream()
    with stream.create_graph_builder() as builder:
        advance(x, (1, 0, 0), 1, stream=builder)
        advance(y, (0, 1, 0), 0, stream=builder)
    graph = builder.complete()
    del builder
    for _ in range(2):
        graph.launch(stream)
    stream.sync()
    wanted = advanced(advanced(values(), (1, 0, 0), 1), (1, 0, 0), 1)
    np.testing.assert_array_equal(x.to_numpy(), wanted)
    wanted = advanced(advanced(values(), (0, 1, 0), 0), (0, 1, 0), 0)
    np.testing.assert_array_equal(y.to_numpy(), wanted)


@cg.kernel(graph=True)
def twice(x: PARTICLES, left: cg.types.ndarray(cg.i32, 0)):
    while cg.graph_do_while(left):
        for i in x:
            x[i].mass *= 2.0
        left[()] -= 1


def test_graph_kernels_take_structures(layout, device):
    for _ in range(2):
        x, left = array(layout), cg.ndarray(cg.i32, ())
        left[()] = 3
        twice(x, left)
        np.testing.assert_array_equal(x.to_numpy()["mass"], 8 * values()["mass"])


@pytest.mark.parametrize("make", [cg.ndarray, cg.field])
def test_numpy_gets_and_gives_structured_arrays(layout, make, device):
    x = make(Particle, (2, 3), layout=layout)
    assert (x.shape, x.ndim, x.size, len(x), x.dtype, x.layout) == ((2, 3), 2, 6, 2, DTYPE, layout)
    assert not x.to_numpy()["at"].any()
    given = values().reshape(2, 3)
    x.from_numpy(given)
    np.testing.assert_array_equal(x.to_numpy(), given)
    reordered = np.dtype([(name, DTYPE[name]) for name in reversed(DTYPE.names)])
    other = np.zeros((2, 3), reordered)
    for name in DTYPE.names:
        other[name] = given[name]
    y = cg.ndarray(Particle, (2, 3), layout=layout)
    y.from_numpy(other)
    np.testing.assert_array_equal(y.to_numpy(), given)
    z = cg.ndarray(Particle, (2, 3), layout="soa" if layout == "aos" else "aos")
    z.copy_from(y)
    np.testing.assert_array_equal(z.to_numpy(), given)
    for wrong, error in (
        (given.T, ValueError),
        (given["at"], TypeError),
        ([1], TypeError),
        (given[["at"]], TypeError),
    ):
        with pytest.raises(error, match="values"):
            x.from_numpy(wrong)


def test_elements_are_values_of_the_dataclass(layout, device):
    x = array(layout)
    x[2] = particle()
    assert x[2] == particle() and particle() == x[2] and x[2] != particle(3.0)
    assert isinstance(x[2], Particle) and x[2].at.y == 2 and x[2].spin.rate == 7 and x[2].on is False
    assert x[1].kind == 1 and x[1].mass == values()["mass"][1]
    x[3] = x[2]
    assert x[3] == x[2] and pickle.loads(pickle.dumps(x[3])) == x[2]
    with pytest.raises(TypeError, match=r"Assign the whole element: x\[i\] = Particle\(...\)"):
        x[2].mass = 1.0
    with pytest.raises(TypeError, match=r"Assign the whole element: x\[i\] = Spin\(...\)"):
        x[2].spin.rate = 1.0
    for index in ((1, 2), COUNT, -COUNT - 1):
        with pytest.raises(IndexError, match=r"takes 1 indices|out of bounds"):
            x[index]
    with pytest.raises(TypeError, match="an element is a Particle, got"):
        x[0] = "one"
    x.fill(particle())
    assert all(x[i] == particle() for i in range(COUNT))
    x.fill(1)
    assert x[5].at == cg.vec3(1) and x[5].kind == 1 and x[5].spin.rate == 1


def test_copies_are_captured_and_so_are_fills_of_members_that_are_apart(layout, device):
    x, y, z = (array(layout) for _ in range(3))
    before = z.to_numpy()
    stream = device.create_stream()
    with cg.capture() as builder:
        y.copy_from(x)
        if layout == "soa":
            z.fill(particle())
    assert (z.to_numpy() == before).all()
    x[1] = particle(4.0)
    builder.complete().launch(stream)
    stream.sync()
    np.testing.assert_array_equal(y.to_numpy(), x.to_numpy())
    if layout == "soa":
        assert all(z[i] == particle() for i in range(COUNT))


def test_members_are_arrays_where_they_are_apart(device):
    x = array("soa")
    x.at[2] = (7, 8, 9)
    x.spin.rate.fill(3)
    assert x[2].at == cg.vec3(7, 8, 9) and x[1].spin.rate == 3
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        x.nothing  # noqa: B018


@cg.kernel
def of_template(x: cg.template):
    for i in x:
        x[i].mass = i


def test_fields_of_structures(device):
    soa, aos = (cg.field(Particle, COUNT, layout=each) for each in LAYOUTS)

    @cg.kernel
    def between_fields():
        for i in soa:
            aos[i] = soa[i]
            aos[i].move(cg.vec3(1, 1, 1))
            soa.spin.rate[i] = aos.mass[i] + len(aos)

    soa.from_numpy(values())
    between_fields()
    wanted = values()
    np.testing.assert_array_equal(soa.to_numpy()["spin"]["rate"], wanted["mass"] + COUNT)
    wanted["at"] += 1
    wanted["spin"]["rate"] += wanted["mass"]
    np.testing.assert_array_equal(aos.to_numpy(), wanted)
    for each in (soa, aos):
        of_template(each)
        assert each.to_numpy()["mass"].tolist() == list(range(COUNT))


@cg.data_oriented
class World:
    def __init__(self, layout):
        self.particles = array(layout)

    @cg.kernel
    def heavier(self, by: cg.f64):
        for i in self.particles:
            self.particles[i].mass += by


def test_arrays_of_structures_are_members_of_data_oriented_objects(layout, device):
    world = World(layout)
    world.heavier(1.5)
    np.testing.assert_array_equal(world.particles.to_numpy()["mass"], values()["mass"] + 1.5)
    world.heavier.forget()


@dataclass
class Spring:
    at: cg.types.vec(2, cg.f64)
    stiffness: cg.f64
    fixed: cg.i32

    def energy(self, other):
        return 0.5 * self.stiffness * (self.at - other).norm_sqr()


SPRINGS = cg.types.ndarray(Spring, ndim=1)


@cg.kernel
def energies(x: SPRINGS, y: cg.types.ndarray(cg.f64, 0)):
    for i in x:
        p = x[i]
        p.at *= p.at.x
        if p.fixed == 0:
            y[()] += p.energy(x[(i + 1) % x.shape[0]].at)


def test_gradients_flow_to_members(layout, device):
    rng = np.random.default_rng(5)
    start = np.zeros(4, np.dtype([("at", "f8", 2), ("stiffness", "f8"), ("fixed", "i4")], align=True))
    start["at"], start["stiffness"], start["fixed"] = rng.random((4, 2)), rng.random(4), [0, 0, 1, 0]
    x, y = cg.ndarray(Spring, 4, needs_grad=True, layout=layout), cg.ndarray(cg.f64, (), needs_grad=True)
    x.from_numpy(start)

    def energy(given):
        total = 0.0
        for i in range(4):
            if not given["fixed"][i]:
                change = given["at"][i] * given["at"][i, 0] - given["at"][(i + 1) % 4]
                total += 0.5 * given["stiffness"][i] * (change @ change)
        return total

    for _ in range(2):  # the tape clears the gradients before
        with cg.ad.Tape(loss=y):
            y.fill(0)
            energies(x, y)
    assert y.to_numpy() == pytest.approx(energy(start))
    found = x.grad.to_numpy()
    for name, place in (
        ("at", (0, 0)),
        ("at", (1, 1)),
        ("at", (3, 0)),
        ("stiffness", (1,)),
        ("stiffness", (2,)),
    ):
        step, both = 1e-6, []
        for sign in (1, -1):
            moved = start.copy()
            moved[name][place] += sign * step
            both.append(energy(moved))
        assert found[name][place] == pytest.approx((both[0] - both[1]) / (2 * step), rel=1e-6, abs=1e-9), (
            name,
            place,
        )


def test_classes_and_layouts_that_arrays_do_not_take_are_refused(device):
    @dataclass
    class Wide:
        x: cg.types.ndarray(cg.f32, 1)

    @dataclass
    class Empty:
        pass

    with pytest.raises(TypeError, match="member 'x' is declared as ndarray"):
        cg.ndarray(Wide, 3)
    with pytest.raises(TypeError, match="it has no members"):
        cg.ndarray(Empty, 3)
    with pytest.raises(ValueError, match="layout is 'soa' or 'aos', not 'rows'"):
        cg.ndarray(Particle, 3, layout="rows")
    with pytest.raises(TypeError, match="layout='aos' is for arrays of structures"):
        cg.ndarray(cg.f32, 3, layout="aos")

    @dataclass
    class Whole:
        n: cg.i32

    for options in ({"needs_grad": True}, {"needs_dual": True}):
        for make in (cg.ndarray, cg.field):
            with pytest.raises(TypeError, match="needs_dual are for floats, and no member is one"):
                make(Whole, 3, **options)
    with pytest.raises(TypeError, match="parameter 'x' takes an array of Particle, got <StructArray Spring"):
        advance(cg.ndarray(Spring, 2), (0, 0, 0), 0)
    with pytest.raises(ValueError, match="parameter 'x' takes 1 dimensions, not 2"):
        advance(cg.ndarray(Particle, (2, 2)), (0, 0, 0), 0)
    with pytest.raises(TypeError, match="takes an array of Particle, got"):
        advance(np.zeros(3), (0, 0, 0), 0)


def test_classes_of_structures_live_no_longer_than_the_program_keeps_them():
    @dataclass
    class Short:
        at: cg.vec3
        mass: cg.f32

    x = cg.field(Short, 3)
    x.at[0] = (1, 2, 3)
    assert x.to_numpy()["at"][0].tolist() == [1, 2, 3]
    gone = weakref.ref(Short)
    del x, Short
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("layout", ["soa", "aos"])
def test_members_are_not_assigned_as_attributes(device, layout):
    @dataclass
    class Point:
        mass: cg.f32
        place: cg.vec2

    points = cg.ndarray(Point, 3, layout=layout)
    with pytest.raises(AttributeError, match=r"'mass' of <StructArray .* cannot be assigned: x\.mass\.fill"):
        points.mass = 2.0
    with pytest.raises(AttributeError, match=r"'weight' of .*its members are mass, place"):
        points.weight = 2.0
    assert (points.to_numpy()["mass"] == 0).all() and points.mass.shape == (3,)
