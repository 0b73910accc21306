# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of fields and arrays on the host: shapes for NumPy, copies between types, and what types of vectors have."""

import numpy as np
import pytest

import cuda_graphs as cg
import cuda_graphs.compat.quadrants as qd

NUMBERS = np.arange(6, dtype=np.float32).reshape(2, 3)


def vectors():
    return qd.Vector.field(3, qd.f32, shape=2)


def columns():
    return qd.Matrix.field(3, 1, qd.f32, shape=2)


@pytest.mark.parametrize("make", [vectors, columns])
def test_matrices_of_one_column_are_vectors_in_numpy(make):
    x = make()
    for values in (NUMBERS, NUMBERS[..., np.newaxis] * 2):
        x.from_numpy(values)
        assert (x.to_numpy() == values.reshape(2, 3)).all()
        assert (x.to_numpy(keep_dims=True) == values.reshape(2, 3, 1)).all()
    assert (x.to_numpy().shape, x.to_numpy(keep_dims=True, dtype=np.float64).dtype) == ((2, 3), np.float64)


@pytest.mark.parametrize("make", [vectors, columns])
def test_values_of_another_shape_are_refused(make):
    for shape in ((2, 2), (3, 2), (2, 3, 2), (2, 1, 3)):
        with pytest.raises(ValueError, match="values have the shape"):
            make().from_numpy(np.ones(shape, np.float32))


def test_other_shapes_keep_their_dimensions():
    for x, shape in (
        (qd.Matrix.field(1, 3, qd.f32, shape=2), (2, 1, 3)),
        (qd.Matrix.field(2, 2, qd.f32, shape=3), (3, 2, 2)),
        (qd.Matrix.ndarray(3, 1, qd.f32, shape=2), (2, 3, 1)),
        (qd.field(qd.f32, shape=(4, 1)), (4, 1)),
    ):
        x.from_numpy(np.ones(shape, np.float32))
        assert x.to_numpy().shape == shape


def test_gradients_of_columns_have_the_shape_of_their_field():
    x = qd.Matrix.field(3, 1, qd.f32, shape=2, needs_grad=True)
    x.grad.from_numpy(NUMBERS)
    assert (x.grad.to_numpy() == NUMBERS).all()
    assert x.grad.to_numpy(keep_dims=True).shape == (2, 3, 1)


def test_column_in_a_kernel_has_two_indices():
    x = columns()
    x.from_numpy(NUMBERS)

    @qd.kernel
    def second() -> qd.f32:
        return x[1][1, 0]

    assert second() == 4


@pytest.mark.parametrize("make", [qd.field, qd.ndarray], ids=["field", "array"])
def test_copies_convert_numbers(make):
    x, y = make(qd.f64, 3), make(qd.i32, 3)
    x.from_numpy(np.array([1.5, -2.5, 3.0]))
    y.copy_from(x)
    assert y.to_numpy().tolist() == [1, -2, 3]
    x.copy_from(y)
    assert x.to_numpy().tolist() == [1, -2, 3]
    with pytest.raises(ValueError, match="shape"):
        x.copy_from(make(qd.i32, 2))
    with pytest.raises(TypeError, match="other"):
        x.copy_from(np.ones(3))


def test_copies_take_fields_that_were_placed():
    x, y = qd.field(qd.f32, 3), qd.field(qd.f32)
    qd.root.dense(qd.i, 3).place(y)
    x.fill(2)
    y.copy_from(x)
    x.fill(1)
    x.copy_from(y)
    assert x.to_numpy().tolist() == [2, 2, 2]


def test_types_of_vectors_and_matrices_have_their_extents():
    vector, matrix = qd.types.vector(3, qd.f64), qd.types.matrix(2, 4, qd.i32)
    assert (vector.n, vector.m, vector.ndim, vector.get_shape(), vector.dtype) == (3, 1, 1, (3,), qd.f64)
    assert (matrix.n, matrix.m, matrix.ndim, matrix.get_shape(), matrix.dtype) == (2, 4, 2, (2, 4), qd.i32)
    assert (qd.math.vec2.n, qd.math.mat3.get_shape()) == (2, (3, 3))


def test_types_of_vectors_make_fields_and_arrays():
    for kind in (qd.types.vector(3, qd.f32), qd.types.matrix(2, 3, qd.i32)):
        x, y = kind.field(shape=(2, 2)), kind.ndarray(shape=4)
        assert (isinstance(x, cg.Field), isinstance(y, qd.Ndarray)) == (True, True)
        assert (x.shape, x.element_shape, y.element_shape) == ((2, 2), kind.get_shape(), kind.get_shape())
        assert x.element_type == y.element_type == kind
    assert qd.ndarray(qd.f64, 2).element_type == qd.f64


def test_vectors_that_kernels_return_are_those_of_the_host():
    Pair = qd.types.struct(count=qd.i32, place=qd.math.vec2)

    @qd.kernel
    def point() -> qd.math.vec2:
        return qd.math.vec2(0.1, 2.0)

    @qd.kernel
    def pair() -> Pair:
        return Pair(count=3, place=[1, 2])

    found = point()
    assert (found.x, found.to_numpy().dtype) == (np.float32(0.1), np.float32)
    assert (found == [0, 2]).to_list() == [False, True]
    found[0] = 5
    assert found.to_list() == [5, 2]
    s = pair()
    s.place.x += 1
    assert s.to_dict() == {"count": 3, "place": [2, 2]}
