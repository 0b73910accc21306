# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: an array of vectors or matrices is NumPy's array with their components as its last dimensions; on the host an
index gives one element, and in a kernel `x[i]` is one."""

import copy
import pickle

import numpy as np
import pytest

import cuda_graphs as cg

vec3d = cg.types.vec(3, cg.f64)
mat23 = cg.types.mat(2, 3, cg.f32)
ELEMENTS = {
    "vec2": cg.vec2,
    "vec3 of f64": vec3d,
    "vec4": cg.vec4,
    "vec5 of u8": cg.types.vec(5, cg.u8),
    "vec3 of bool": cg.types.vec(3, cg.bool_),
    "vec3 of bf16": cg.types.vec(3, cg.bf16),
    "vec1 of f16": cg.types.vec(1, cg.f16),
    "mat2x3": mat23,
    "mat3 of i64": cg.types.mat(3, 3, cg.i64),
}
SHAPES = [(), (1,), (7,), (2, 3)]


def numbers(shape, dtype, seed=1):
    """Whole numbers that every type holds."""
    most = 2 if dtype == cg.bool_ else 100
    return np.random.default_rng(seed).integers(0, most, shape).astype(dtype.dtype or np.float32)


@pytest.mark.parametrize("make", [cg.ndarray, cg.field], ids=["ndarray", "field"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", ELEMENTS)
def test_elements_come_back_as_they_went(device, name, shape, make):
    element = ELEMENTS[name]
    array = make(element, shape)
    assert (array.shape, array.element_shape, array.dtype) == (shape, element.shape, element.dtype)
    assert not array.to_numpy().any()
    values = numbers(shape + element.shape, element.dtype)
    array.from_numpy(values)
    back = array.to_numpy()
    assert (back.shape, back.dtype) == (values.shape, values.dtype)
    assert (back == values).all()
    for index in np.ndindex(shape):
        assert array[index].shape == element.shape
        assert (array[index] == values[index]).all()


@pytest.mark.parametrize("name", ELEMENTS)
def test_assignment_writes_one_element_and_no_other(device, name):
    element = ELEMENTS[name]
    array = cg.ndarray(element, (2, 3))
    model = array.to_numpy()
    for index, seed in (((0, 0), 1), ((1, 2), 2), ((-1, 0), 3)):
        value = numbers(element.shape, element.dtype, seed)
        array[index] = value
        model[index] = value
        assert (array.to_numpy() == model).all()
        array[index] = value.tolist()
        assert (array.to_numpy() == model).all()
    array[0, 1] = 1  # for all components
    model[0, 1] = 1
    assert (array.to_numpy() == model).all()


@pytest.mark.parametrize("name", ELEMENTS)
def test_filling_is_filling_of_numpy(device, name):
    element = ELEMENTS[name]
    array = cg.ndarray(element, (3, 5))
    for value in (numbers(element.shape, element.dtype), 1, 0):
        array.fill(value)
        assert (array.to_numpy() == np.broadcast_to(value, (3, 5, *element.shape))).all()


def test_properties_and_repr_of_an_array_of_vectors(device):
    array = cg.ndarray(mat23, (4, 5), needs_grad=True)
    assert (array.ndim, array.size, array.itemsize, array.nbytes) == (2, 20, 24, 480)
    assert array.strides == (120, 24)
    assert len(array) == 4
    few = "[[[0. 0. 0.] [0. 0. 0.]] [[0. 0. 0.] [0. 0. 0.]] [[0. 0. 0.] [0. 0. 0.]]"
    assert repr(array) == f"<NDArray mat(2, 3, f32) shape=(4, 5) needs_grad=True {few} ... {few[1:]}]>"
    assert repr(cg.field(cg.vec3, 2)) == "<Field vec(3, f32) shape=(2,)>"
    assert array.needs_grad
    assert (array.grad.shape, array.grad.element_shape, array.grad.dtype) == ((4, 5), (2, 3), cg.f32)
    assert array.grad.handle != array.handle
    assert cg.ndarray(cg.f32, 3).element_shape == ()
    with pytest.raises(TypeError, match="has no gradient"):
        cg.ndarray(cg.types.vec(2, cg.i32), 3, needs_grad=True)


def test_an_element_is_a_copy_that_cannot_be_written(device):
    array = cg.ndarray(cg.vec3, 2)
    with pytest.raises(TypeError, match=r"assign the whole element: x\[i\] = cg.vec3"):
        array[0][1] = 5
    assert not array.to_numpy().any()


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        ([1.0, 2.0], ValueError, r"components of shape \(3,\), or one number, got the shape \(2,\)"),
        ([[1.0, 2.0, 3.0]], ValueError, r"got the shape \(1, 3\)"),
        (["1", 2.0, 3.0], TypeError, "takes a number, got str"),
        ([1.0, None, 3.0], TypeError, "takes a number, got NoneType"),
        (None, TypeError, "takes a number, got NoneType"),
        ({1.0, 2.0, 3.0}, TypeError, "takes a number, got set"),
        ([1j, 0.0, 0.0], TypeError, "takes a number, got complex"),
    ],
)
def test_values_that_are_no_elements_are_refused_and_nothing_changes(device, value, error, text):
    array = cg.ndarray(cg.vec3, 4)
    for write in (lambda: array.fill(value), lambda: array.__setitem__(0, value)):
        with pytest.raises(error, match=text):
            write()
    assert not array.to_numpy().any()


def test_components_are_checked_as_elements_are(device):
    array = cg.ndarray(cg.types.vec(2, cg.u8), 4)
    with pytest.raises(OverflowError, match="from 0 to 255, got 256"):
        array[0] = [1, 256]
    with pytest.raises(TypeError, match="takes an integer"):
        array.fill([1, 0.5])
    assert not array.to_numpy().any()


@pytest.mark.parametrize("shape", [(4,), (4, 2), (3, 4), (12,), (4, 3, 1)], ids=str)
def test_numpy_arrays_of_another_shape_are_refused(device, shape):
    array = cg.ndarray(cg.vec3, 4)
    with pytest.raises(ValueError, match=r"takes \(4, 3\)"):
        array.from_numpy(np.ones(shape, "f"))
    assert not array.to_numpy().any()


def test_copies_need_elements_of_the_same_shape(device):
    source, target = cg.ndarray(cg.vec3, 4), cg.ndarray(cg.vec3, 4)
    source.from_numpy(np.arange(12, dtype="f").reshape(4, 3))
    target.copy_from(source)
    assert (target.to_numpy() == source.to_numpy()).all()
    for other in (
        cg.ndarray(cg.f32, 4),
        cg.ndarray(cg.f32, (4, 3)),
        cg.ndarray(cg.vec2, 4),
        cg.ndarray(vec3d, 4),
    ):
        with pytest.raises(ValueError, match="type and shape must be the same"):
            target.copy_from(other)


@pytest.mark.parametrize("clone", [copy.copy, copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a))])
@pytest.mark.parametrize("make", [cg.ndarray, cg.field], ids=["ndarray", "field"])
def test_copies_are_arrays_of_their_own(device, clone, make):
    array = make(mat23, (2, 2), needs_grad=True)
    values = np.arange(24, dtype="f").reshape(2, 2, 2, 3)
    array.from_numpy(values)
    array.grad.fill(0.5)
    other = clone(array)
    array.fill(0)
    array.grad.fill(0)
    assert type(other) is type(array)
    assert (other.shape, other.element_shape) == ((2, 2), (2, 3))
    assert (other.to_numpy() == values).all()
    assert (other.grad.to_numpy() == 0.5).all()


def test_other_libraries_see_components_as_dimensions(device):
    array = cg.ndarray(mat23, 4)
    array.from_numpy(np.arange(24, dtype="f").reshape(4, 2, 3))
    assert array.__cuda_array_interface__["shape"] == (4, 2, 3)
    assert (np.array(array) == array.to_numpy()).all()
    if array.buffer.is_host_accessible:
        assert np.asarray(array).shape == np.from_dlpack(array).shape == (4, 2, 3)
        np.asarray(array)[3, 1, 2] = -1
        assert array[3][1, 2] == -1
    flat = cg.from_dlpack(array)
    assert (flat.shape, flat.element_shape, flat.handle) == ((4, 2, 3), (), array.handle)


@cg.kernel
def swing(x: cg.types.ndarray(cg.vec3, ndim=1), v: cg.types.ndarray(cg.vec3), a: cg.vec3, dt: cg.f32):
    for i in x:
        v[i] += a * dt
        x[i] = x[i] + v[i] * dt
        x[i].y = abs(x[i].y)


def swung(x, v, a, dt):
    v = v + np.float32(a) * np.float32(dt)
    x = x + v * np.float32(dt)
    x[:, 1] = abs(x[:, 1])
    return x, v


def test_in_a_kernel_an_index_gives_a_vector(device):
    given = np.random.default_rng(3).normal(size=(2, 50, 3)).astype("f")
    x, v = cg.ndarray(cg.vec3, 50), cg.ndarray(cg.vec3, 50)
    x.from_numpy(given[0])
    v.from_numpy(given[1])
    for _ in range(3):
        swing(x, v, (0, -9.81, 1), 0.5)
        given = swung(*given, (0, -9.81, 1), 0.5)
    np.testing.assert_array_equal(x.to_numpy(), given[0])
    np.testing.assert_array_equal(v.to_numpy(), given[1])


def test_numpy_arrays_are_arrays_of_vectors_by_their_last_dimensions():
    given = np.random.default_rng(4).normal(size=(2, 50, 3)).astype("f")
    x, v = given.copy()
    wide = np.zeros((50, 6), "f")
    wide[:, ::2] = v
    for third in (v, wide[:, ::2]):
        x[:] = given[0]
        swing(x, third, (1, 2, 3), 0.25)
        expected = swung(*given, (1, 2, 3), 0.25)
        np.testing.assert_array_equal(x, expected[0])
        np.testing.assert_array_equal(third, expected[1])


def test_in_a_kernel_an_index_gives_a_matrix(device):
    @cg.kernel
    def turn(m: cg.types.ndarray(cg.mat3, ndim=2), x: cg.types.ndarray(cg.vec3, ndim=2)):
        for i, j in m:
            x[i, j] = m[i, j] @ x[i, j]
            m[i, j] = cg.transpose(m[i, j])

    rng = np.random.default_rng(5)
    ms, xs = (rng.integers(-9, 9, (3, 4, 3, 3)).astype("f"), rng.integers(-9, 9, (3, 4, 3)).astype("f"))
    m, x = cg.ndarray(cg.mat3, (3, 4)), cg.ndarray(cg.vec3, (3, 4))
    m.from_numpy(ms)
    x.from_numpy(xs)
    turn(m, x)
    np.testing.assert_array_equal(x.to_numpy(), np.einsum("abij,abj->abi", ms, xs))
    np.testing.assert_array_equal(m.to_numpy(), ms.swapaxes(2, 3))


def test_fields_of_vectors_are_used_by_their_name(device):
    field = cg.field(cg.vec2, (3, 4))
    total = cg.ndarray(cg.vec2, ())

    @cg.kernel
    def mark(scale: cg.f32):
        for i, j in field:
            field[i, j] = cg.vec2(i, j) * scale
        for i, j in field:
            total[()] += field[i, j]

    mark(2.0)
    assert total[()] == (2.0 * 4 * (0 + 1 + 2), 2.0 * 3 * (0 + 1 + 2 + 3))
    total.fill(0)

    @cg.kernel
    def add_up(scale: cg.f32, total: cg.types.ndarray(cg.vec2, ndim=0)):
        for i, j in field:
            field[i, j] = cg.vec2(i, j) * scale
        for i, j in field:
            total[()] += field[i, j]

    add_up(2.0, total)
    i, j = np.meshgrid(np.arange(3), np.arange(4), indexing="ij")
    np.testing.assert_array_equal(field.to_numpy(), 2 * np.stack([i, j], -1))
    np.testing.assert_array_equal(total[()], [2 * i.sum(), 2 * j.sum()])


def test_arrays_of_vectors_are_arguments_of_nodes(device, stream):
    x, v = cg.ndarray(cg.vec3, 20), cg.ndarray(cg.vec3, 20)
    v.fill([1, 2, 3])
    g = cg.GraphDef()
    g.call(swing, x, v, (0, 0, 0), 1.0)
    graph = g.instantiate()
    del g
    for _ in range(3):
        graph.launch(stream)
    stream.sync()
    np.testing.assert_array_equal(x.to_numpy(), np.tile(np.float32([3, 6, 9]), (20, 1)))


def vectors(element, shape=5):
    return cg.ndarray(element, shape)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: vectors(vec3d), TypeError, "'x' takes elements of f32, not f64"),
        (lambda: vectors(cg.vec2), ValueError, r"'x' takes elements of shape \(3,\), not \(2,\)"),
        (lambda: vectors(mat23), ValueError, r"'x' takes elements of shape \(3,\), not \(2, 3\)"),
        (lambda: vectors(cg.f32), ValueError, r"'x' takes elements of shape \(3,\), not \(\)"),
        (lambda: vectors(cg.vec3, (5, 2)), ValueError, "'x' takes 1 dimensions, not 2"),
        (lambda: np.ones((5, 2), "f"), ValueError, r"'x' takes elements of shape \(3,\), not \(2,\)"),
        (lambda: np.ones((5, 3 + 0x10000), "f"), ValueError, "'x' takes elements of shape"),
        (lambda: np.ones(3, "f"), ValueError, "'x' takes 1 dimensions, not 0"),
        (lambda: np.ones((), "f"), ValueError, r"'x' takes elements of shape \(3,\), not \(\)"),
        (lambda: np.ones((2, 5, 3), "f"), ValueError, "'x' takes 1 dimensions, not 2"),
    ],
)  # fmt: skip
def test_arrays_that_do_not_fit_are_refused(device, make, error, text):
    with pytest.raises(error, match=text):
        swing(make(), cg.ndarray(cg.vec3, 5), (0, 0, 0), 1.0)


def test_a_parameter_of_numbers_takes_no_array_of_vectors(device):
    @cg.kernel
    def double(x: cg.types.ndarray(cg.f32, ndim=1)):
        for i in x:
            x[i] *= 2

    with pytest.raises(ValueError, match=r"'x' takes elements of shape \(\), not \(3,\)"):
        double(cg.ndarray(cg.vec3, 4))


def test_a_parameter_that_says_nothing_takes_each(device):
    @cg.kernel
    def double(x: cg.types.ndarray()):
        for i in cg.grouped(x):
            x[i] = x[i] + x[i]

    for element in (cg.f32, cg.vec3, mat23, cg.types.vec(2, cg.i16)):
        array = cg.ndarray(element, (2, 3))
        values = numbers(array.to_numpy().shape, array.dtype)
        array.from_numpy(values)
        double(array)
        np.testing.assert_array_equal(array.to_numpy(), values + values)


def test_debug_names_the_array_and_the_index_of_a_vector(device):
    @cg.kernel(debug=True)
    def shift(x: cg.types.ndarray(cg.vec3, ndim=1)):
        for i in x:
            x[i] = x[i + 1]

    with pytest.raises(
        cg.KernelIndexError, match="index 6 is outside of axis 0 of 'x', which has 6 elements"
    ):
        shift(cg.ndarray(cg.vec3, 6))
