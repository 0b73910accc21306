# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: an ndarray is there when it is made, a field when it is used first; memory of others becomes one by DLPack; each
goes to kernels as what it is."""

import types

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.core.resources import boxes
from tests.graph_rig import pinned
from tests.thread_rig import side_by_side

__all__ = ["pinned"]


@cg.kernel
def double(x: cg.types.ndarray(cg.f32, ndim=1)):
    for i in x:
        x[i] = 2 * x[i]


# Fields


def test_a_field_takes_memory_when_it_is_used_first(device):
    before = boxes.live()["pointer"]
    field = cg.field(cg.f32, 10, needs_grad=True)
    assert (field.shape, field.size, field.nbytes, field.strides, field.needs_grad) == (
        (10,),
        10,
        40,
        (4,),
        True,
    )
    assert repr(field) == "<Field f32 shape=(10,) needs_grad=True>"
    assert len(field) == 10
    assert boxes.live()["pointer"] == before
    assert field[3] == 0
    assert boxes.live()["pointer"] == before + 2  # itself and its gradients
    assert field.device == device


@pytest.mark.parametrize(
    "use",
    [
        lambda f: f.fill(0),
        lambda f: f.to_numpy(),
        lambda f: f.from_numpy(np.zeros(3, "f")),
        lambda f: f.__setitem__(0, 0),
        lambda f: f[0],
        lambda f: f.handle,
        lambda f: f.buffer,
        lambda f: f.device,
        lambda f: f.copy_from(cg.ndarray(cg.f32, 3)),
        lambda f: cg.ndarray(cg.f32, 3).copy_from(f),
        lambda f: f.__cuda_array_interface__,
        lambda f: f.__dlpack__(),
        lambda f: f.__dlpack_device__(),
        lambda f: np.array(f),
        lambda f: f.__copy__(),
        lambda f: f.__reduce__(),
    ],
)
def test_whatever_is_done_with_it_first_finds_zeros(device, use):
    field = cg.field(cg.f32, 3)
    use(field)
    assert field.to_numpy().tolist() == [0, 0, 0]


def test_fields_are_made_before_a_driver_is_chosen(run_child, driver):
    done = run_child(f"""
import cuda_graphs as cg

F = cg.field(cg.vec3, 4, needs_grad=True)
cg.use_driver({driver.kind!r})
F.fill(2)
assert F.to_numpy().tolist() == [[2, 2, 2]] * 4
assert F.grad.to_numpy().tolist() == [[0, 0, 0]] * 4
""")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


FORKED = """
import os, threading, warnings
import cuda_graphs as cg
from cuda_graphs.kernels.arrays import ndarray
cg.Device().set_current()
field, held, gate = cg.field(cg.i32, 3), threading.Event(), threading.Event()
def hold(*args):  # of the thread that makes the memory of another field
    held.set()
    gate.wait()
ndarray.keep_alive.release_finished = hold
thread = threading.Thread(target=lambda: cg.field(cg.i32, 4).handle)
thread.start()
held.wait()
warnings.simplefilter("ignore")  # of Python, that threads run
child = os.fork()
if child == 0:
    try:
        field.handle
    except cg.CUDAError as error:
        os._exit(error.code)
    os._exit(99)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
gate.set()
thread.join()
"""


def test_a_forked_child_is_refused_while_a_thread_makes_the_memory_of_a_field(run_child):
    done = run_child(FORKED)
    assert (done.returncode, done.stdout, done.stderr) == (0, "3\n", "")  # CUDA_ERROR_NOT_INITIALIZED


def test_threads_that_use_it_first_at_once_find_one_memory(device):
    for _ in range(20):
        field, found = cg.field(cg.i32, 100), []

        def look(field=field, found=found):
            found.append((field.handle, field.grad))

        side_by_side(*[look] * 4)
        assert found == [(field.handle, None)] * 4


def test_a_field_is_no_argument_of_an_array_parameter(device):
    field = cg.field(cg.f32, 3)
    with pytest.raises(TypeError, match=r"'x' takes an array, .*: use the field by its name, or declare"):
        double(field)
    with_grad = cg.field(cg.f32, 3, needs_grad=True)
    with_grad.grad.fill(4)
    double(with_grad.grad)  # which is an array as others
    assert with_grad.grad.to_numpy().tolist() == [8, 8, 8]


def test_wrong_fields_are_refused_when_they_are_made():
    for make, error in (
        (lambda: cg.field("f32", 3), TypeError),
        (lambda: cg.field(cg.f32, -1), ValueError),
        (lambda: cg.field(cg.i32, 3, needs_grad=True), TypeError),
        (lambda: cg.field(cg.f32, 3, device="first"), TypeError),
    ):
        with pytest.raises(error):
            make()


# Shapes and values of the host


@pytest.mark.parametrize("shape", [np.int64(3), np.uint8(3), (np.int32(3),), [3]], ids=repr)
def test_extents_are_ints_of_python_or_numpy(device, shape):
    array = cg.ndarray(cg.f32, shape)
    assert array.shape == (3,)
    assert type(array.shape[0]) is int


@pytest.mark.parametrize("make", [cg.ndarray, cg.field], ids=["ndarray", "field"])
@pytest.mark.parametrize("shape", [-1, (3, -1), 2**31, (0, 2**31), np.int64(-1)], ids=repr)
def test_extents_are_from_0_to_what_an_i32_holds(device, make, shape):
    with pytest.raises(ValueError, match="is not a valid shape: extents must be from 0 to 2147483647"):
        make(cg.f32, shape)


def test_array_without_dimensions_has_one_element(device):
    for make in (cg.ndarray, cg.field):
        array = make(cg.i32, ())
        array[None] = 5
        assert array[()] == array[None] == 5
        assert array.to_numpy().shape == ()
        with pytest.raises(IndexError, match="takes 0 indices, got 1"):
            array[0]


@pytest.mark.parametrize("value", [np.ones(3), np.ones(1), [1.0], (1.0,), 1j, np.complex64(1)], ids=repr)
def test_an_element_is_one_number(device, value):
    array = cg.ndarray(cg.f32, 3)
    for write in (lambda: array.__setitem__(1, value), lambda: array.fill(value)):
        with pytest.raises(TypeError, match="takes a number"):
            write()
    assert not array.to_numpy().any()


def test_types_are_converted_silently(device):
    array = cg.ndarray(cg.i8, 4)
    array.from_numpy(np.array([1.9, -1.9, 3.0, 0.0]))
    assert array.to_numpy().tolist() == [1, -1, 3, 0]
    array.from_numpy(np.array([300, -1, 2, 3]))
    assert array.to_numpy().tolist() == [44, -1, 2, 3]
    single = cg.ndarray(cg.f32, 2)
    single.from_numpy(np.array([1e300, 0.1]))
    assert single.to_numpy().tolist() == [float("inf"), np.float32(0.1)]
    single.from_numpy(np.array([True, False]))
    assert single.to_numpy().tolist() == [1, 0]


def test_values_that_are_no_numpy_array_are_refused(device):
    array = cg.ndarray(cg.f32, 3)
    for given in ([1, 2, 3], None, 1.0, cg.ndarray(cg.f32, 3), memoryview(b"123")):
        with pytest.raises(TypeError, match="values must be a NumPy array"):
            array.from_numpy(given)
    for given in (np.zeros(4), np.zeros((3, 1)), np.zeros(()), np.zeros((1, 3))):
        with pytest.raises(ValueError, match="takes \\(3,\\)"):
            array.from_numpy(given)


def test_arrays_copy_from_arrays_only(device):
    array = cg.ndarray(cg.f32, 3)
    for given in (np.zeros(3, "f"), None, array.buffer):
        with pytest.raises(TypeError):
            array.copy_from(given)


# DLPack


class Tensor:
    """An array of which only DLPack tells."""

    def __init__(self, array):
        self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__


@cg.kernel
def halve(x: cg.types.ndarray(cg.bf16, ndim=1)):
    for i in x:
        x[i] = x[i] * 0.5


@pytest.mark.filterwarnings("ignore:.*the conversion can lose:cuda_graphs.CompileWarning")
def test_bfloat16_is_known_by_its_code_in_dlpack(device, stream):
    array = cg.ndarray(cg.bf16, 10)
    array.from_numpy(np.arange(10, dtype="f"))
    halve(Tensor(array))
    assert array.to_numpy().tolist() == [0.5 * i for i in range(10)]
    g = cg.GraphDef()
    g.call(halve, Tensor(array))
    g.instantiate().launch(stream)
    stream.sync()
    assert array.to_numpy().tolist() == [0.25 * i for i in range(10)]
    again = cg.from_dlpack(Tensor(array))
    assert (again.dtype, again.handle) == (cg.bf16, array.handle)
    with pytest.raises(TypeError, match="'x' takes elements of f32, not bf16"):
        double(Tensor(array))


def test_an_array_of_others_memory_is_that_memory(device, stream, pinned):
    numbers = pinned(range(12), "f4")
    whole = cg.from_dlpack(Tensor(numbers))
    assert (whole.shape, whole.dtype, whole.handle) == ((12,), cg.f32, numbers.ctypes.data)
    double(whole)
    assert whole[11] == 22
    assert numbers.tolist() == [2 * i for i in range(12)]
    rows = cg.from_dlpack(numbers.reshape(4, 3), cg.vec3)
    assert (rows.shape, rows.element_shape) == ((4,), (3,))
    rows[1] = [1, 2, 3]
    assert numbers[3:6].tolist() == [1, 2, 3]
    rows.fill(7)
    assert numbers.tolist() == [7] * 12
    rows.copy_from(cg.ndarray(cg.vec3, 4))
    assert not numbers.any()
    g = cg.GraphDef()
    g.memset(whole, np.float32(1), 12).launch(None, double, whole)
    g.instantiate().launch(stream)
    stream.sync()
    assert numbers.tolist() == [2] * 12


def test_array_from_dlpack_keeps_the_memory(device):
    array = cg.ndarray(cg.i64, 4)
    array.fill(-7)
    handle = array.handle
    view = cg.from_dlpack(Tensor(array))
    again = cg.from_dlpack(view)
    del array, view
    assert again.handle == handle
    assert again.to_numpy().tolist() == [-7] * 4


@pytest.mark.parametrize(
    ("make", "dtype", "error", "text"),
    [
        (lambda x: [1.0], None, TypeError, "takes an array"),
        (lambda x: x.astype("c8"), None, TypeError, "arrays of complex64 are not supported"),
        (lambda x: x[::2], None, ValueError, "read-only, has gaps, or is not in memory"),
        (lambda x: np.ones(12, "f"), None, ValueError, "copy it with from_numpy"),
        (lambda x: np.broadcast_to(x, (2, 12)), None, ValueError, "read-only, has gaps"),
        (lambda x: x, cg.vec3, ValueError, r"takes elements of shape \(3,\), not \(12,\)"),
        (lambda x: x.reshape(4, 3), cg.types.vec(3, cg.i32), TypeError, "takes elements of i32, not f32"),
        (lambda x: x, cg.f64, TypeError, "takes elements of f64, not f32"),
        (lambda x: x, "f4", TypeError, "dtype must be an element type"),
    ],
)
def test_memory_that_cannot_become_an_array_is_refused(device, pinned, make, dtype, error, text):
    with pytest.raises(error, match=text):
        cg.from_dlpack(make(pinned(range(12), "f4")), dtype)


@cg.func
def three():
    return 3


FUNCTIONS = {"three": three}


def test_fields_and_functions_are_used_where_containers_hold_them():
    fields = [cg.field(cg.i32, 3), cg.field(cg.i32, 3)]
    box = types.SimpleNamespace(pair=(fields[1], fields[0]))

    @cg.kernel
    def through_containers():
        for i in range(3):
            fields[0][i] = i
        for each in cg.static(fields):
            for i in each:
                each[i] += 10
        f = cg.static(box.pair[0])
        for i in f:
            f[i] += cg.static(FUNCTIONS["three"])() + FUNCTIONS["three"]() + box.pair[1].shape[0]
        cg.static(fields[0])[1] = 7

    through_containers()
    assert [each.to_numpy().tolist() for each in fields] == [[10, 7, 12], [19, 19, 19]]
