# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the peers that programs lean on without saying so: defaults, conversions, and what a tape clears."""

import numpy as np
import pytest

import cuda_graphs.compat.quadrants as qd
import cuda_graphs.compat.taichi as ti

Pair = qd.types.struct(count=qd.i32, place=qd.math.vec2)


@qd.dataclass
class Body:
    pair: Pair
    mass: float


@pytest.fixture(autouse=True)
def usual_types():
    yield
    qd.init()


def test_missing_members_of_structures_are_zero_in_kernels_and_on_the_host():
    @qd.kernel
    def total() -> qd.f32:
        a, b, c = Pair(count=3), Pair(place=[5, 6]), Body(mass=0.5)
        a.place.x += 2
        return a.count + a.place.x + b.count + b.place.y + c.pair.place.x + c.mass

    assert total() == 3 + 2 + 0 + 6 + 0 + 0.5
    empty = Body()
    assert (empty.mass, empty.pair.count, empty.pair.place.tolist()) == (0.0, 0, [0, 0])


def test_members_have_their_types_on_the_host():
    pair = Pair(count=3.9, place=[1, 2])
    assert (pair.count, (pair.place * 2).tolist(), Pair(1, 2).place.tolist()) == (3, [2, 4], [2, 2])
    assert Body(pair={"count": 4}).pair.count == 4
    pair.count = 7.5
    assert pair.count == 7
    field = Pair.field(shape=2)
    element = field[1]
    element.place, element.count = [3, 4], 2.7
    assert (field.place.to_numpy().tolist(), field[1].count) == ([[0, 0], [3, 4]], 2)


def test_structures_without_a_class_become_those_of_a_class():
    field = Body.field(shape=3)

    @qd.func
    def made(mass):
        return qd.Struct(mass=mass, pair=qd.Struct({"count": 1, "place": qd.Vector([1.0, 2.0])}))

    @qd.kernel
    def fill(key: qd.template()) -> qd.f32:
        for i in field:
            body = made(i * 0.5)
            body.pair.count += i
            field[i] = body
        last = Body(mass=4.0, pair={"count": 7})
        return last["mass"] + last.pair[key]

    assert fill("count") == 11
    assert field.pair.count.to_numpy().tolist() == [1, 2, 3]
    assert (field[2].mass, field[2].pair.place.tolist()) == (1, [1, 2])


def test_numbers_on_the_host_become_those_of_the_array():
    x, y = qd.field(qd.i32, shape=2), qd.ndarray(qd.f32, 2)
    x.fill(2.9)
    x[1] = np.float32(3.0)
    y.fill(1)
    y[0] = np.int64(4)
    assert (x.to_numpy().tolist(), y.to_numpy().tolist()) == ([2, 3], [4, 1])


@pytest.mark.parametrize("make", [qd.field, qd.ndarray], ids=["field", "array"])
def test_integers_outside_of_the_range_keep_their_low_bits(make):
    x, y = make(qd.i32, shape=3), make(qd.u8, shape=2)
    x.fill(0xFFFFFFFF)
    x[1], x[2] = 2**40 + 5, -(2**31) - 1
    y[0], y[1] = 300, -1
    assert (x.to_numpy().tolist(), y.to_numpy().tolist()) == ([-1, 5, 2**31 - 1], [44, 255])


def test_integer_arguments_outside_of_the_range_keep_their_low_bits():
    Counts = qd.types.struct(low=qd.i8, high=qd.u32)

    @qd.kernel
    def f(a: qd.i32, b: qd.u8, v: qd.types.vector(2, qd.i16), c: Counts, out: qd.types.ndarray(qd.i64, 1)):
        out[0], out[1], out[2], out[3], out[4], out[5] = a, b, v[0], v[1], c.low, c.high
        for i in range(a, a + 1):  # the bound is the same number
            out[6] = i

    out = qd.ndarray(qd.i64, 7)
    for number in (2**31, 2**40 + 300, 2**63 - 1, 5):
        f(number, number, [number, -number], Counts(number, number), out)
        numbers = (
            (number, "i4"),
            (number, "u1"),
            (number, "i2"),
            (-number, "i2"),
            (number, "i1"),
            (number, "u4"),
        )
        low = [np.int64(given).astype(kind) for given, kind in numbers]
        assert out.to_numpy().tolist() == [*low, low[0]]
    zero = Counts(0, 0)
    f(-(2**63), 2**64 - 1, [0, 0], zero, out)
    assert out.to_numpy().tolist() == [0, 255, 0, 0, 0, 0, 0]
    for wrong in ((2**63, 0), (-(2**63) - 1, 0), (0, -1), (0, 2**64)):
        with pytest.raises(OverflowError, match=r"of type (i32|u8) takes a number from"):
            f(*wrong, [0, 0], zero, out)


@pytest.mark.parametrize("make", [qd.Vector.field, qd.Vector.ndarray], ids=["field", "array"])
def test_components_become_those_of_the_array(make):
    x, y = make(2, qd.i32, shape=3), make(2, qd.u8, shape=1)
    x.fill(1.5)
    x[1], x[2] = [2.5, True], qd.Vector([7, 8]) / 2
    y[0] = [300, -1]
    assert x.to_numpy().tolist() == [[1, 1], [2, 1], [3, 4]]
    assert (y[0].to_list(), (y[0] - 45).to_list(), (y[0] * 2).to_list()) == ([44, 255], [-1, 210], [88, 510])
    y[0][1] += 2
    x.fill([3.5, -4.5])
    assert (y[0].to_list(), x[0].to_list()) == ([44, 1], [3, -4])
    z = make(2, qd.u64, shape=1)
    z[0] = [2**63 + 1, 3]
    assert z[0].to_list() == [2**63 + 1, 3]
    m = qd.Matrix.field(2, 2, qd.i32, shape=())
    m.fill(2.5)
    m[None][0, 1] = 2**32 + 7
    assert m[None].to_list() == [[2, 7], [2, 2]]


@pytest.mark.parametrize("kind", [qd.f32, qd.f64], ids=str)
def test_sized_vectors_have_the_default_type(kind):
    qd.init(default_fp=kind)
    field = qd.field(qd.math.vec3, shape=1)
    assert field.to_numpy().dtype == kind.dtype

    @qd.kernel
    def first(v: qd.math.vec3) -> qd.f64:
        return v[0] + qd.math.vec2(0.1, 0.0)[0] * 0

    assert (
        first([0.1, 0.2, 0.3]) == first(qd.math.vec3(0.1, 0.2, 0.3)) == float(np.dtype(kind.dtype).type(0.1))
    )


def test_integers_of_the_source_are_real_numbers_where_one_is_needed():
    number = 2

    @qd.kernel
    def total() -> qd.f64:
        s = qd.sin(3) + qd.floor(number) / 4 + 2**-1 + qd.pow(number, -2) + qd.atan2(1, 2)
        for i in qd.static(range(3)):
            s += qd.cos(i)
        return s

    wanted = np.sin(3) + 0.5 + 0.5 + 0.25 + np.arctan2(1, 2) + np.cos([0, 1, 2]).sum()
    assert total() == pytest.approx(wanted, rel=1e-6)


def test_debug_kernels_print_results_that_do_not_fit_and_go_on(capfd):
    qd.init(debug=True)

    @qd.kernel
    def mixed(a: qd.i32) -> qd.i32:
        h = a * 1000003
        for i in range(3):
            h ^= h << 13
            h += qd.cast(qd.cast(a, qd.u8), qd.i32) * i
        return h

    found = mixed(40000)
    qd.sync()
    lines = capfd.readouterr().out.splitlines()
    assert "40000 * 1000003 does not fit i32 in File" in lines[0]
    assert __file__ in lines[0]
    qd.init()
    assert mixed(40000) == found
    assert capfd.readouterr().out == ""


def test_ranges_drop_the_fractions_of_their_bounds():
    x = qd.field(qd.i32, shape=3)

    @qd.kernel
    def count(a: qd.f32) -> qd.i32:
        for i in range(a / 2):
            x[i] = i + 1
        s = 0
        for _ in range(1):
            for i in range(1.9, a):
                s = s * 10 + i
        return s

    assert (count(5.5), x.to_numpy().tolist()) == (1234, [1, 2, 0])


def test_static_gives_several_fields_at_once():
    x, y = (ti.field(ti.f32, shape=3) for _ in range(2))

    @ti.kernel
    def add():
        a, b = ti.static(x, y)
        for i in a:
            b[i] = a[i] + i

    add()
    assert y.to_numpy().tolist() == [0, 1, 2]


def test_assignments_to_template_parameters_reach_the_element():
    x, v, s = qd.field(qd.f32, shape=3), qd.Vector.field(2, qd.f32, shape=2), Pair.field(shape=1)

    @qd.func
    def seven(a: qd.template()):
        a = 7.0  # noqa: F841

    @qd.func
    def swap(a: qd.template(), b: qd.template()):
        c = a
        a = b
        b = c

    @qd.func
    def by_value(a):
        a = a + 1.0
        return a  # noqa: RET504

    @qd.kernel
    def change() -> qd.f32:
        m = qd.Matrix([[1.0, 2.0], [3.0, 4.0]])
        at = qd.cast(x[0], qd.i32)
        seven(x[1])
        seven(v[1][at])
        seven(m[0, at + 1])
        seven(s[0].place[1])
        swap(x[1], x[2])
        return by_value(x[2]) + m[0, 1] * 100

    assert change() == 8 + 700
    assert (x.to_numpy().tolist(), v.to_numpy().tolist()) == ([0, 0, 7], [[0, 0], [7, 0]])
    assert s.place.to_numpy().tolist() == [[0, 7]]


def test_pure_marks_kernels_in_any_order():
    numbers = qd.ndarray(qd.i32, 3)
    numbers.fill(0)

    def add(a: qd.types.NDArray[qd.i32, 1]):
        for i in a:
            a[i] += 1

    for kernel in (qd.pure(qd.kernel(add)), qd.kernel(qd.pure(add))):
        kernel(numbers)
    assert numbers.to_numpy().tolist() == [2, 2, 2]


def test_graph_kernels_may_return_numbers():
    numbers = qd.ndarray(qd.i32, 4)
    numbers.fill(0)

    @qd.kernel(graph=True)
    def add(a: qd.types.ndarray(qd.i32, ndim=1)) -> qd.i32:
        for i in a:
            a[i] += i
        return a[3]

    assert (add(numbers), add(numbers)) == (3, 6)
    assert numbers.to_numpy().tolist() == [0, 2, 4, 6]


def test_tapes_treat_returned_numbers_as_constants():
    x, y = (qd.field(qd.f32, shape=(), needs_grad=True) for _ in range(2))
    x[None] = 3

    @qd.kernel
    def first() -> qd.f32:
        return x[None] * 2

    @qd.kernel
    def add(a: qd.f32):
        y[None] += x[None] * a

    with qd.ad.Tape(loss=y):
        add(first())
    assert (x.grad[None], y[None]) == (6, 18)


def test_status_names_the_checkpoint():
    flag = qd.ndarray(qd.i32, ())
    flag.fill(0)

    @qd.kernel(graph=True, checkpoints=True)
    def stop(flag: qd.types.ndarray(qd.i32, ndim=0)):
        with qd.checkpoint(2, yield_on=flag):
            for _ in range(1):
                flag[None] = 1

    status = stop(flag)
    assert (status.yielded, status.checkpoint, status.label) == (True, 2, 2)


def test_tapes_clear_the_gradients_of_all_fields():
    x, z, y = (ti.field(ti.f32, shape=(), needs_grad=True) for _ in range(3))

    @ti.kernel
    def double():
        y[None] += x[None] * 2

    @ti.kernel
    def times_five():
        y[None] += z[None] * 5

    with ti.ad.Tape(loss=y):
        double()
    assert (x.grad[None], z.grad[None]) == (2, 0)
    with ti.ad.Tape(loss=y):
        times_five()
    assert (x.grad[None], z.grad[None]) == (0, 5)
    with ti.ad.Tape(loss=y, clear_gradients=False):
        double()
    assert (x.grad[None], z.grad[None]) == (2, 5)


KINDS = ["ScalarField", "MatrixField", "Field", "Ndarray", "ScalarNdarray", "VectorNdarray", "MatrixNdarray"]
OBJECTS = {
    "number field": (lambda: qd.field(qd.f32, shape=2), ["ScalarField", "Field"]),
    "vector field": (lambda: qd.Vector.field(2, qd.f32, shape=2), ["MatrixField", "Field"]),
    "matrix field": (lambda: qd.Matrix.field(2, 2, qd.f32, shape=2), ["MatrixField", "Field"]),
    "number array": (lambda: qd.ndarray(qd.f32, 2), ["Ndarray", "ScalarNdarray"]),
    "vector array": (lambda: qd.Vector.ndarray(2, qd.f32, 2), ["Ndarray", "VectorNdarray"]),
    "matrix array": (lambda: qd.Matrix.ndarray(2, 2, qd.f32, 2), ["Ndarray", "MatrixNdarray"]),
    "NumPy array": (lambda: np.zeros(2), []),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_classes_tell_fields_and_arrays_apart(name):
    make, wanted = OBJECTS[name]
    found = make()
    assert sorted(each for each in KINDS if isinstance(found, getattr(qd, each))) == sorted(wanted)


def test_vectors_on_the_host_take_the_functions_of_kernels():
    v, w = qd.Vector([3.0, 4.0]), qd.Vector([1.0, 0.5])
    assert qd.max(v, qd.Vector([5.0, 1.0])).tolist() == [5, 4]
    assert (qd.min(v, 3.5).tolist(), qd.math.min(w, 0.75).tolist()) == ([3, 3.5], [0.75, 0.5])
    assert (qd.max(1, 2, 3), qd.min([2.5, 1])) == (3, 1)
    assert qd.select(qd.Vector([1, 0]), v, w).tolist() == [3, 0.5]
    assert qd.select(qd.Vector([1, 0]), qd.Vector([0.1, 0.2], qd.f64), 0.3).tolist() == [0.1, 0.3]
    assert (v.cross(w), qd.math.cross(v, w)) == (-2.5, -2.5)
    assert v.norm(11.0) == 6
    assert v.normalized(5.0).tolist() == pytest.approx([0.3, 0.4])
    assert np.isinf(qd.Matrix([[1, 1], [1, 1]]).inverse()).all()


def test_results_of_arithmetic_on_the_host_can_be_changed():
    v = qd.Vector([1.0, 2.0]) + 1
    v[0] = 9
    m = qd.Matrix([[1.0, 0.0], [0.0, 2.0]]) @ qd.Matrix([[3.0, 0.0], [0.0, 3.0]])
    m[1, 1] = 7
    m.fill(m[1, 1] + v[0])
    assert (v.tolist(), m.tolist()) == ([9, 3], [[16, 16], [16, 16]])


def test_kernels_can_be_class_methods():
    @qd.data_oriented
    class Scaled:
        factor = 5

        @classmethod
        @qd.kernel
        def times_factor(cls, a: qd.i32) -> qd.i32:
            return a * cls.factor

        @qd.kernel
        def plus_factor(self, a: qd.i32) -> qd.i32:
            return a + self.factor

    class Larger(Scaled):
        factor = 7

    assert (Scaled.times_factor(3), Scaled().times_factor(3), Scaled().plus_factor(3)) == (15, 15, 8)
    assert (Larger.times_factor(3), Larger().plus_factor(3)) == (21, 10)


def test_kernels_print_numbers_as_the_peers_do(capfd):
    @qd.kernel
    def show(a: qd.f32, b: qd.f64, m: qd.math.mat2, v: qd.math.ivec2):
        print(a, b, a > 1, v)
        print(m, f"{a:.2f} {b}", sep=": ")
        print((1, a), [v, v], f"{[1, 2]}")

    show(1.5, 0.1, qd.Matrix([[1, 2], [3, 4.25]]), qd.Vector([1, 2]))
    qd.sync()
    wanted = "1.500000 0.100000000000 1 [1, 2]\n"
    wanted += "[[1.000000, 2.000000], [3.000000, 4.250000]]: 1.50 0.100000000000\n"
    wanted += "[1, 1.500000] [[1, 2], [1, 2]] [1, 2]\n"
    assert capfd.readouterr().out == wanted
