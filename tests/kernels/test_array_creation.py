# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: functions that make arrays have the names, the order of arguments and the values of NumPy's. Arrays show a few
values, exchange them with PyTorch, and have no arithmetic."""

import operator

import numpy as np
import pytest

import cuda_graphs as cg
from tests.kernels.test_array_views import DTYPES

SHAPES = [(), 3, (3,), (2, 3), [2, 3], (0, 4), (2, 3, 4)]


@pytest.mark.parametrize("name", DTYPES)
def test_arrays_are_made_as_by_numpy(device, name):
    dtype = getattr(cg, name)
    for shape in SHAPES:
        for found, wanted in (
            (cg.zeros(shape, dtype), np.zeros(shape, dtype.dtype)),
            (cg.ones(shape, dtype), np.ones(shape, dtype.dtype)),
            (cg.full(shape, 1, dtype), np.full(shape, 1, dtype.dtype)),
            (cg.array(np.ones(shape, dtype.dtype)), np.ones(shape, dtype.dtype)),
            (cg.array(np.ones(shape), dtype), np.ones(shape, dtype.dtype)),
        ):
            assert (found.shape, found.dtype) == (wanted.shape, dtype)
            np.testing.assert_array_equal(found.to_numpy(), wanted)
        empty = cg.empty(shape, dtype)
        assert (empty.shape, empty.dtype) == (np.empty(shape).shape, dtype)


def test_ranges_are_those_of_numpy(device):
    for arguments in ((5,), (2, 7), (0, 10, 3), (5, 0, -2), (0.0, 1.0, 0.25), (3, 3), (0, 1, 0.5), (-1,)):
        wanted = np.arange(*arguments)
        found = cg.arange(*arguments)
        assert found.dtype is (cg.i32 if wanted.dtype.kind == "i" else cg.f32)
        np.testing.assert_array_equal(found.to_numpy(), wanted)
    np.testing.assert_array_equal(cg.arange(0, 5, 2, cg.f64).to_numpy(), np.arange(0, 5, 2, "f8"))
    for arguments, error in (
        (("5",), TypeError),
        ((0, None, "1"), TypeError),
        ((True,), TypeError),
        ((0, 5, 0), ZeroDivisionError),
    ):
        with pytest.raises(error):
            cg.arange(*arguments)


def test_without_a_dtype_numbers_have_the_types_of_kernels(device):
    for made, dtype in (
        (cg.zeros(2), cg.f32),
        (cg.ones(2), cg.f32),
        (cg.empty(2), cg.f32),
        (cg.full(2, 3), cg.i32),
        (cg.full(2, 3.0), cg.f32),
        (cg.full(2, True), cg.bool_),
        (cg.full(2, np.float64(1)), cg.f64),
        (cg.array(3), cg.i32),
        (cg.array([1, 2.5]), cg.f32),
        (cg.array([[True], [False]]), cg.bool_),
        (cg.array(np.arange(3, dtype="u2")), cg.u16),
        (cg.array(cg.zeros(3, cg.bf16)), cg.bf16),
        (cg.array(cg.zeros(3, cg.vec3)), cg.f32),
    ):
        assert made.dtype is dtype
    assert cg.array(cg.zeros(3, cg.vec3)).element_shape == (3,)
    assert cg.array([[1, 2, 3], [4, 5, 6]], cg.vec3).shape == (2,)
    assert cg.zeros(3, needs_grad=True).needs_grad and cg.array([1.0], needs_grad=True).grad is not None
    assert cg.ones(3, device=0).device == device


def test_an_array_of_an_array_is_a_copy(device):
    first = cg.arange(4)
    second = cg.array(first)
    second[0] = 9
    assert first[0] == 0 and second.base is None


def test_values_other_than_arrays_of_numbers_are_refused(device):
    for make, error, text in (
        (lambda: cg.array("text"), TypeError, "must be numbers"),
        (lambda: cg.array([[1], [2, 3]]), ValueError, "lists are ragged"),
        (lambda: cg.array(None), TypeError, "must be numbers"),
        (lambda: cg.array(np.zeros(2, "c8")), TypeError, "dtype must be an element type"),
        (lambda: cg.array([2**31]), OverflowError, "give a dtype such as cg.i64"),
        (lambda: cg.array([[1, 2]], cg.vec3), ValueError, r"do not end with the components \(3,\)"),
        (lambda: cg.zeros(3, "f32"), TypeError, "dtype must be an element type"),
        (lambda: cg.zeros(cg.f32, 3), TypeError, "dtype must be an element type"),
        (lambda: cg.empty(-1), ValueError, "extents must be from 0"),
        (lambda: cg.full(2, "1"), TypeError, "must be numbers"),
        (lambda: cg.full(2, 1.5, cg.i32), TypeError, "takes an integer"),
        (lambda: cg.ones(2, cg.i32, needs_grad=True), TypeError, "has no gradient"),
        (
            lambda: cg.array(cg.GraphDef().alloc(shape=2, dtype=cg.f32)),
            TypeError,
            "exists only while its graph runs",
        ),
    ):
        with pytest.raises(error, match=text):
            make()


def test_the_repr_has_a_few_values(device):
    for array, text in (
        (cg.arange(3), "<NDArray i32 shape=(3,) [0 1 2]>"),
        (cg.full((), 2.5), "<NDArray f32 shape=() 2.5>"),
        (cg.zeros((0, 3)), "<NDArray f32 shape=(0, 3) []>"),
        (cg.array([[1, -2], [3, 4]]), "<NDArray i32 shape=(2, 2) [[1 -2] [3 4]]>"),
        (cg.arange(1000), "<NDArray i32 shape=(1000,) [0 1 2 ... 997 998 999]>"),
        (cg.ones((100, 100), cg.bf16), "<NDArray bf16 shape=(100, 100) [1. 1. 1. ... 1. 1. 1.]>"),
    ):
        assert repr(array) == text


def test_the_repr_reads_nothing_in_a_capture_nor_before_the_first_use(device, stream):
    array, field = cg.arange(3), cg.field(cg.i32, 3)
    assert repr(field) == "<Field i32 shape=(3,)>"
    for mode in ("relaxed", "thread_local", "global"):
        builder = stream.create_graph_builder().begin_building(mode)
        assert repr(array) == "<NDArray i32 shape=(3,)>"
        builder.end_building().complete().launch(stream)  # the capture is whole
    with cg.capture() as builder:
        array.fill(1)
        assert repr(array) == "<NDArray i32 shape=(3,)>"
    assert repr(array) == "<NDArray i32 shape=(3,) [0 1 2]>"
    stream.sync()


BINARY = "add sub mul matmul truediv floordiv mod pow lshift rshift and_ or_ xor lt le gt ge".split()


@pytest.mark.parametrize("name", BINARY)
def test_arithmetic_and_comparisons_raise_and_say_who_does_them(device, name):
    array, function = cg.arange(3), getattr(operator, name)
    for other in (1, 2.5, cg.arange(3), array, None, np.arange(3)):
        with pytest.raises(
            TypeError, match=r"no arithmetic or comparisons.*NumPy \(to_numpy\), CuPy or PyTorch"
        ):
            function(array, other)
    with pytest.raises(TypeError, match="no arithmetic"):
        function(1, array)


def test_unary_and_assigning_operators_raise_too(device):
    array = cg.arange(3)
    for function in (operator.neg, operator.pos, operator.abs, operator.invert):
        with pytest.raises(TypeError, match="no arithmetic"):
            function(array)
    for function in (operator.iadd, operator.imul, operator.ipow):
        with pytest.raises(TypeError, match="no arithmetic"):
            function(array, 1)


def test_equality_is_identity_so_that_lists_and_dictionaries_find_arrays(device):
    array, other = cg.arange(3), cg.arange(3)
    assert array == array and array != other
    assert {array: 1}[array] == 1 and [other, array].index(array) == 1
    assert hash(array) != hash(other)


class Tensor:
    """A tensor of PyTorch on the host, for machines without it."""

    requires_grad, is_leaf = False, True

    def __init__(self, values, dtype=None):
        self.values, self.dtype = np.asarray(values), dtype

    def detach(self):
        return self

    cpu = detach

    def float(self):
        return Tensor(self.values.astype("f"), "torch.float32")

    def numpy(self):
        if self.dtype == "torch.bfloat16":
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self.values

    def clone(self):
        return Tensor(self.values.copy(), self.dtype)


@pytest.fixture
def torch(monkeypatch):
    class Module:
        @staticmethod
        def from_dlpack(array):
            return Tensor(np.from_dlpack(array))

    monkeypatch.setitem(__import__("sys").modules, "torch", Module)
    return Module


def test_tensors_are_copied_in_and_out(device, torch):
    array = cg.zeros((2, 3))
    array.from_torch(Tensor(np.arange(6).reshape(2, 3)))
    np.testing.assert_array_equal(array.to_numpy(), np.arange(6).reshape(2, 3))
    array[1].from_torch(Tensor(np.ones(3), "torch.bfloat16"))
    assert array.to_numpy()[1].tolist() == [1, 1, 1]
    if array.buffer.is_host_accessible:
        tensor = array.to_torch()
        array.fill(7)
        np.testing.assert_array_equal(tensor.numpy(), [[0, 1, 2], [1, 1, 1]])
    with pytest.raises(TypeError, match="must be a tensor of PyTorch, got ndarray"):
        array.from_torch(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="have the shape"):
        array.from_torch(Tensor(np.zeros(3)))


def test_real_tensors_of_pytorch(device):
    torch = pytest.importorskip("torch")
    array = cg.arange(6).reshape(2, 3)
    tensor = array.to_torch()
    array.fill(0)
    assert tensor.tolist() == [[0, 1, 2], [3, 4, 5]]
    array.from_torch(tensor + 1)
    assert array.to_numpy().tolist() == [[1, 2, 3], [4, 5, 6]]
    array.from_torch(torch.ones(2, 3, dtype=torch.bfloat16, requires_grad=True))
    assert array.to_numpy().tolist() == [[1] * 3] * 2


BIG = 2**64 - 1
# Values of integer arrays -> the type of their elements. NumPy takes the first two for floats.
INTEGERS = [
    ([1, BIG], "u64"),
    ([[2**53 + 1, BIG], [0, 2**63]], "u64"),
    ([-(2**63), 2**63 - 1], "i64"),
    ([0, 255], "u8"),
    ((-128, 127), "i8"),
    ([True, False], "i32"),
]


@pytest.mark.parametrize(("values", "dtype"), INTEGERS)
def test_ints_in_lists_keep_their_values(device, values, dtype):
    wanted = np.array(values, np.dtype(f"{dtype[0]}{int(dtype[1:]) // 8}"))
    made = cg.array(values, getattr(cg, dtype))
    assert made.to_numpy().dtype == wanted.dtype and (made.to_numpy() == wanted).all()
    assigned = cg.zeros(wanted.shape, getattr(cg, dtype))
    assigned[:] = values
    assert (assigned.to_numpy() == wanted).all()


@pytest.mark.parametrize(
    ("values", "dtype"),
    [([300, -1], "u8"), ([2**40], "i32"), ([-1], "u64"), ([2**64, 0], "u64"), ([[0], [-129]], "i8")],
)
def test_ints_that_do_not_fit_are_refused(device, values, dtype):
    kind = getattr(cg, dtype)
    with pytest.raises(OverflowError, match=f"does not fit {dtype}, whose numbers go from"):
        cg.array(values, kind)
    x = cg.full(np.shape(values), 7, kind)
    with pytest.raises(OverflowError, match=f"does not fit {dtype}"):
        x[:] = values
    assert (x.to_numpy() == 7).all()
