# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: an array holds what NumPy says it holds, wherever its memory is, and other libraries see the same elements."""

import copy
import gc
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import cuda_graphs as cg

TYPES = {
    name: getattr(cg, name)
    for name in ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64", "bool_")
}
SHAPES = [(), (1,), (7,), (2, 3), (3, 1, 4), (2, 2, 2, 2)]


def values_of(dtype, shape, seed=1):
    bits = np.random.default_rng(seed).integers(0, 256, (*shape, dtype.itemsize), np.uint8)
    if dtype.kind == "b":
        bits &= 1
    values = bits.view(dtype).reshape(shape)
    return np.where(np.isnan(values), 1, values).astype(dtype) if dtype.kind == "f" else values


def test_written_values_are_there_for_every_stream(device, stream):
    """Also for one that does not wait for the legacy stream, on which the copy may be under way yet."""

    @cg.kernel
    def take(x: cg.types.ndarray(cg.f32, 1), y: cg.types.ndarray(cg.f32, 1)):
        for i in x:
            y[i] = x[i]

    for size, rounds in ((1, 50), (5000, 200), (100_000, 20)):
        x, y = cg.ndarray(cg.f32, size), cg.ndarray(cg.f32, size)
        for n in range(1, rounds):
            x.from_numpy(np.full(size, n, np.float32))
            take(x, y, stream=stream)
            stream.sync()
            assert (y.to_numpy() == n).all()


USES = {
    "to_numpy": lambda x, y: x.to_numpy(),
    "from_numpy": lambda x, y: x.from_numpy(np.ones(4, np.float32)),
    "element": lambda x, y: x[1],
    "assignment": lambda x, y: x.__setitem__(1, 2.0),
    "fill": lambda x, y: x.fill(3),
    "copy_from": lambda x, y: x.copy_from(y),
    "node": lambda x, y: cg.GraphDef().while_loop(lambda: x[0] < 1),
}


@pytest.mark.parametrize("use", USES)
def test_array_of_another_thread_needs_no_set_current(device, use):
    """A thread without a current device gets device 0, as on machines with several devices."""
    x, y = cg.zeros(4), cg.ones(4)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(USES[use], x, y).result()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", TYPES)
def test_elements_come_back_as_they_went(device, name, shape):
    dtype = np.dtype(TYPES[name].dtype)
    array = cg.ndarray(TYPES[name], shape)
    assert (array.to_numpy() == np.zeros(shape, dtype)).all()
    values = values_of(dtype, shape)
    array.from_numpy(values)
    back = array.to_numpy()
    assert back.dtype == dtype
    assert back.shape == shape
    assert (back == values).all()
    for index in np.ndindex(shape):
        assert array[index] == values[index].item()


@pytest.mark.parametrize("name", TYPES)
def test_assignment_writes_one_element_and_no_other(device, name):
    array, model = cg.ndarray(TYPES[name], (3, 4)), np.zeros((3, 4), TYPES[name].dtype)
    for index, value in {(0, 0): 1, (2, 3): 1, (-1, 0): 1, (1, -4): 0}.items():
        array[index] = value
        model[index] = value
        assert (array.to_numpy() == model).all()


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("value", [0, 1, 1.0, np.float32(0.5), np.int64(1), True])
def test_filling_is_filling_of_numpy(device, name, value):
    array, model = cg.ndarray(TYPES[name], (5, 3)), np.zeros((5, 3), TYPES[name].dtype)
    if isinstance(value, (float, np.floating)) and TYPES[name].kind != "float":
        with pytest.raises(TypeError, match="takes an integer"):
            array.fill(value)
    else:
        array.fill(value)
        model.fill(value)
    assert (array.to_numpy() == model).all()


def test_eight_bytes_are_filled_with_any_pattern(device):
    for dtype, value in ((cg.f64, 0.1), (cg.i64, -3), (cg.u64, 2**64 - 1), (cg.i64, 2**40 + 5)):
        array = cg.ndarray(dtype, 1000)
        array.fill(value)
        assert (array.to_numpy() == np.full(1000, value, dtype.dtype)).all()


def test_bfloat16_rounds_to_the_nearest_and_ties_to_even(device):
    step = 2.0**-7
    given = [
        1 + step / 2,
        1 + 3 * step / 2,
        1 + 0.6 * step,
        -(1 + step / 2),
        3.4e38,
        np.inf,
        -np.inf,
        0.0,
        -0.0,
    ]
    wanted = [1.0, 1 + 2 * step, 1 + step, -1.0, np.inf, np.inf, -np.inf, 0.0, -0.0]
    array = cg.ndarray(cg.bf16, len(given))
    array.from_numpy(np.array(given, np.float32))
    back = array.to_numpy()
    assert back.dtype == np.float32
    assert back.tolist() == wanted
    assert np.signbit(back).tolist() == np.signbit(wanted).tolist()
    array[0] = float("nan")
    assert np.isnan(array[0])
    assert array.nbytes == 2 * len(given)


def test_properties_and_repr_of_an_array(device):
    array = cg.ndarray(cg.f32, (2, 3, 4), needs_grad=True)
    assert (array.shape, array.ndim, array.size, array.itemsize, array.nbytes) == ((2, 3, 4), 3, 24, 4, 96)
    assert array.strides == np.zeros((2, 3, 4), np.float32).strides
    assert array.dtype is cg.f32
    assert array.device == device
    assert array.handle == array.buffer.handle != 0
    assert array.needs_grad
    assert (array.grad.shape, array.grad.dtype, array.grad.needs_grad) == ((2, 3, 4), cg.f32, False)
    assert array.grad.handle != array.handle
    assert len(array) == 2
    rows = "[0. 0. 0. 0.] [0. 0. 0. 0.] [0. 0. 0. 0.]"
    assert repr(array) == f"<NDArray f32 shape=(2, 3, 4) needs_grad=True [[{rows}] [{rows}]]>"
    assert repr(cg.field(cg.i32, 5)) == "<Field i32 shape=(5,)>"
    assert cg.ndarray(cg.f32, 2).grad is None
    with pytest.raises(TypeError, match="has no length"):
        len(cg.ndarray(cg.f32, ()))


@pytest.mark.parametrize(
    ("given", "dtype"),
    [
        (np.float32, cg.f32),
        (np.dtype("i8"), cg.i64),
        (np.uint8, cg.u8),
        (bool, cg.bool_),
        (float, cg.f32),
        (int, cg.i32),
    ],
)
def test_types_of_numpy_and_python_name_elements(device, given, dtype):
    assert cg.ndarray(given, 1).dtype is dtype


@pytest.mark.parametrize("given", ["f32", 4, None, cg.pointer, np.complex64, np.dtype(">f4"), str], ids=str)
def test_other_types_are_refused(device, given):
    with pytest.raises(TypeError, match="dtype must be an element type"):
        cg.ndarray(given, 1)


@pytest.mark.parametrize(
    ("shape", "error"),
    [(-1, ValueError), ((2, -1), ValueError), (2**31, ValueError), (1.5, TypeError), ("3", TypeError),
     (None, TypeError), ((2, None), TypeError), (True, TypeError)],
)  # fmt: skip
def test_shapes_that_are_none_are_refused(device, shape, error):
    with pytest.raises(error, match="shape"):
        cg.ndarray(cg.f32, shape)


def test_only_floats_have_gradients(device):
    with pytest.raises(TypeError, match="an array of i32 has no gradient"):
        cg.ndarray(cg.i32, 3, needs_grad=True)


@pytest.mark.parametrize(
    ("index", "error", "text"),
    [
        ((0, 0, 0), IndexError, "takes 2 indices, got 3"),
        ((2, 0), IndexError, "index 2 is out of bounds for axis 0"),
        ((0, -4), IndexError, "index -4 is out of bounds for axis 1"),
        ((0, 1.0), TypeError, "must be an int, a slice or '...', got float"),
        (None, TypeError, "got NoneType"),
        ([0, 1], TypeError, "got list: copy the array to NumPy"),
        ((slice(None), 0), ValueError, "not next to each other in C order"),
    ],
)
def test_wrong_indices_are_refused_and_nothing_changes(device, index, error, text):
    array = cg.ndarray(cg.f32, (2, 3))
    with pytest.raises(error, match=text):
        array[index]
    with pytest.raises(error, match=text):
        array[index] = 1.0
    assert not array.to_numpy().any()


@pytest.mark.parametrize(
    ("dtype", "value", "error", "text"),
    [
        ("u8", 256, OverflowError, "from 0 to 255, got 256"),
        ("i8", -129, OverflowError, "from -128 to 127"),
        ("bool_", 2, OverflowError, "from 0 to 1"),
        ("i64", 2**63, OverflowError, "got 9223372036854775808"),
        ("i32", 1.0, TypeError, "takes an integer"),
        ("f32", "1", TypeError, "takes a number, got str"),
        ("f32", None, TypeError, "takes a number, got NoneType"),
    ],
)
def test_values_that_are_no_elements_are_refused_and_nothing_changes(device, dtype, value, error, text):
    array = cg.ndarray(TYPES[dtype], 3)
    for write in (lambda: array.fill(value), lambda: array.__setitem__(0, value)):
        with pytest.raises(error, match=text):
            write()
    assert not array.to_numpy().any()


def test_numpy_arrays_are_taken_whatever_their_layout(device):
    array, values = cg.ndarray(cg.f32, (4, 6)), np.arange(24).reshape(4, 6)
    wide = np.zeros((8, 12))
    wide[::2, ::2] = values
    for given in (
        values,
        np.asfortranarray(values),
        wide[::2, ::2],
        values.astype(np.int8),
        values[::-1][::-1],
    ):
        array.fill(0)
        array.from_numpy(given)
        assert (array.to_numpy() == values).all()


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ([1.0, 2.0], TypeError, "must be a NumPy array, got list"),
        (np.zeros(3), ValueError, r"the shape \(3,\)"),
        (np.zeros((2, 1)), ValueError, "shape"),
        (np.zeros(2, complex), TypeError, "complex128 cannot be converted to f32"),
        (np.array(["a", "b"]), TypeError, "cannot be converted to f32"),
    ],
)
def test_numpy_array_that_does_not_fit_is_refused(device, given, error, text):
    array = cg.ndarray(cg.f32, 2)
    with pytest.raises(error, match=text):
        array.from_numpy(given)
    assert not array.to_numpy().any()


def test_arrays_copy_from_arrays_of_their_kind(device):
    source, target = cg.ndarray(cg.i32, (2, 2)), cg.ndarray(cg.i32, (2, 2))
    source.from_numpy(np.arange(4, dtype=np.int32).reshape(2, 2))
    target.copy_from(source)
    source.fill(0)
    assert target.to_numpy().tolist() == [[0, 1], [2, 3]]
    for other in (cg.ndarray(cg.i32, 4), cg.ndarray(cg.f32, (2, 2))):
        with pytest.raises(ValueError, match="type and shape must be the same"):
            target.copy_from(other)
    with pytest.raises(TypeError, match="other must be an NDArray, got ndarray: from_numpy"):
        target.copy_from(np.zeros(3))


@pytest.mark.parametrize("clone", [copy.copy, copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a))])
def test_copies_are_arrays_of_their_own(device, clone):
    array = cg.field(cg.f64, 3, needs_grad=True)
    array.from_numpy(np.array([1.0, 2.0, 3.0]))
    array.grad.fill(0.5)
    other = clone(array)
    array.fill(0)
    array.grad.fill(0)
    assert type(other) is type(array)
    assert other.to_numpy().tolist() == [1, 2, 3]
    assert other.grad.to_numpy().tolist() == [0.5] * 3


def test_the_host_sees_what_a_stream_has_yet_to_do(device, stream, kernels):
    """Reading waits for work on streams that the default stream does not wait for."""
    array = cg.ndarray(cg.i32, 1)
    for count in range(1, 20):
        for _ in range(50):
            cg.launch(stream, cg.LaunchConfig(grid=1, block=1), kernels.add, array, 1, 1)
        assert array[0] == 50 * count


def test_numpy_has_a_copy_or_a_view_as_the_memory_allows(device):
    array = cg.ndarray(cg.f32, (2, 3))
    array.from_numpy(np.arange(6, dtype=np.float32).reshape(2, 3))
    assert (np.array(array) == array.to_numpy()).all()
    assert np.array(array, dtype=np.int16).dtype == np.int16
    interface = array.__cuda_array_interface__
    assert interface["data"] == (array.handle, False)
    assert (interface["shape"], interface["typestr"]) == ((2, 3), "<f4")
    if array.buffer.is_host_accessible:
        view = np.asarray(array)
        view[0, 0] = 9
        assert array[0, 0] == 9
        tensor = np.from_dlpack(array)
        assert tensor.shape == (2, 3)
        assert tensor.dtype == np.float32
        tensor[1, 1] = 7
        assert array[1, 1] == 7
        for view in (array.to_numpy(copy=False), array.to_numpy(copy=None)):
            view[0, 2] += 1
        assert array[0, 2] == 4
        assert not np.shares_memory(array.to_numpy(copy=True), view)
        with pytest.raises(ValueError, match="has elements of bf16, which NumPy lacks"):
            cg.ndarray(cg.bf16, 2).to_numpy(copy=False)
    else:
        with pytest.raises(ValueError, match="is in memory that the host cannot access"):
            array.to_numpy(copy=False)
        assert array.__dlpack_device__() == (2, device.device_id)
        with pytest.raises(AttributeError, match="use to_numpy"):
            array.__array_interface__  # noqa: B018


def test_views_keep_the_memory(device):
    array = cg.ndarray(cg.i64, 4)
    array.fill(-7)
    capsule = array.__dlpack__() if not array.buffer.is_host_accessible else np.from_dlpack(array)
    del array
    gc.collect()
    if isinstance(capsule, np.ndarray):
        assert capsule.tolist() == [-7] * 4


def test_arrays_are_operands_and_arguments(device, stream, kernels):
    array, other = cg.ndarray(cg.i32, 4), cg.ndarray(cg.i32, 4)
    g = cg.GraphDef()
    filled = g.memset(array, np.int32(5), 4)
    filled.launch(cg.LaunchConfig(grid=1, block=1), kernels.add, array, 1, 1).memcpy(other, array)
    g.instantiate().launch(stream)
    stream.sync()
    assert other.to_numpy().tolist() == [6, 5, 5, 5]


def test_array_is_not_made_by_its_class(device):
    for cls in (type(cg.ndarray(cg.f32, 1)), type(cg.field(cg.f32, 1))):
        with pytest.raises(RuntimeError, match="ndarray\\(\\) or field\\(\\)"):
            cls()
