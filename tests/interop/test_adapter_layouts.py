# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: each argument becomes the parameters that the library's compiler made of it, checked with code that numba-cuda
and Triton themselves made; what they would pass in another way is refused."""

import numpy as np
import pytest

import cuda_graphs as cg
from tests.graph_rig import pinned
from tests.interop import stand_ins
from tests.interop.stand_ins import Array, Boolean, Dispatcher, Float, Integer, JITFunction, RawKernel

__all__ = ["pinned"]


def array_of(values, dtype=None):
    values = np.asarray(values)
    array = cg.ndarray(dtype or values.dtype, values.shape)
    array.from_numpy(values)
    return array


# numba-cuda


def vectorisation_of(x, a, n, flag, z, pair):
    """Computes the result of the kernel in Python."""
    y = np.zeros(len(x))
    stand_ins.spread(x.astype("f8"), y, np.float64(np.float32(a)), n, flag, np.complex128(z), pair)
    return y


@pytest.mark.parametrize(
    "rest",
    [
        (2.5, 7, True, 1 + 2j, (3, 0.25)),
        (np.float32(0.5), np.int8(-3), np.bool_(False), np.complex64(5j), (np.int16(-4), np.float32(1.5))),
        (3, np.uint16(9), False, 2.0, (True, 2)),
        (np.float16(0.5), True, True, 1, (-1, -1.0)),
    ],
    ids=str,
)
def test_numba_gets_each_argument_as_it_was_declared(device, stream, rest):
    values = np.arange(60, dtype="f").reshape(20, 3)
    y = cg.ndarray(cg.f64, 20)
    kernel = cg.interop.numba(stand_ins.numba_spread([]))
    cg.launch(stream, {"grid": 1, "block": 32}, kernel, array_of(values), y, *rest)
    stream.sync()
    np.testing.assert_allclose(y.to_numpy(), vectorisation_of(values, *rest))


def test_numba_gets_strides(device, stream, pinned):
    whole = pinned(range(240), "f4").reshape(20, 12)
    y = cg.ndarray(cg.f64, 10)
    kernel = cg.interop.numba(stand_ins.numba_spread([], declarations=2))
    for part in (whole[:10, ::4], whole[::2, 3:9], whole.T[:10, :5], whole[::-2]):
        rest = (1.0, 1, False, 0j, (0, 0.0))
        cg.launch(stream, {"grid": 1, "block": 32}, kernel, part, y, *rest)
        stream.sync()
        np.testing.assert_allclose(y.to_numpy(), vectorisation_of(part[:10], *rest))


@pytest.mark.parametrize("declarations", [1, 2])
@pytest.mark.parametrize(
    ("at", "value", "error", "text"),
    [
        (3, 1 << 31, OverflowError, "argument 'n' takes .*, got 2147483648"),
        (3, -(1 << 31) - 1, OverflowError, "argument 'n'"),
        (6, (1 << 15, 1.0), OverflowError, r"argument 'pair'\[0\]"),
        (3, 1.5, TypeError, "is not compiled for"),
        (2, 1j, TypeError, "is not compiled for"),
        (6, (1, 2.0, 3), TypeError, "is not compiled for"),
        (6, 1, TypeError, "is not compiled for"),
        (0, 1.0, TypeError, "is not compiled for"),
        (2, object(), TypeError, "argument 'a' of .*Cannot determine Numba type"),
    ],
)  # fmt: skip
def test_numba_is_given_nothing_that_does_not_fit(device, at, value, error, text, declarations):
    args = [array_of(np.zeros((5, 3), "f")), cg.ndarray(cg.f64, 5), 1.0, 1, True, 0j, (1, 1.0)]
    args[at] = value
    g = cg.GraphDef()
    with pytest.raises(error, match=text):
        g.call(cg.interop.numba(stand_ins.numba_spread([], declarations=declarations))[1, 32], *args)
    assert not g.nodes()


@pytest.mark.parametrize(
    "x",
    [
        lambda: cg.ndarray(cg.f64, (5, 3)),
        lambda: cg.ndarray(cg.f32, 5),
        lambda: cg.ndarray(cg.i32, (5, 3)),
        lambda: cg.ndarray(cg.f32, (5, 3, 1)),
    ],
)
def test_numba_is_given_no_array_of_another_type(device, x):
    g = cg.GraphDef()
    kernel = cg.interop.numba(stand_ins.numba_spread([]))[1, 32]
    with pytest.raises(TypeError, match="is not compiled for"):
        g.call(kernel, x(), cg.ndarray(cg.f64, 5), 1.0, 1, True, 0j, (1, 1.0))


def add(x, n, amount):
    """The signature of the kernel of tests/graph_rig.py that does x[i] += amount."""


def test_numba_compiles_once_for_types_that_were_not_declared(device, stream, code):
    types = (Integer(64, True), Integer(32, True), Integer(32, True))
    dispatcher = Dispatcher(add, [], made={types: (code, "add")})
    x = array_of(np.arange(4, dtype="i4"))
    kernel = cg.interop.numba(dispatcher)[1, 32]
    for _ in range(3):
        cg.launch(stream, None, kernel, x.handle, np.int32(3), np.int32(5))
    stream.sync()
    assert x.to_numpy().tolist() == [15, 16, 17, 3]
    assert dispatcher.compiles == [types]


def test_code_of_another_layout_is_not_launched(device, code):
    types = (Array(Integer(32, True), 1, "C"), Integer(32, True), Integer(32, True))
    dispatcher = Dispatcher(add, [], made={types: (code, "add")})
    g = cg.GraphDef()
    with pytest.raises(
        TypeError,
        match=r"parameters of \[8, 4, 4\] bytes, but its arguments have \[8, 8, 8, 8, 8, 8, 8, 4, 4\]",
    ):
        g.call(cg.interop.numba(dispatcher)[1, 32], cg.ndarray(cg.i32, 4), np.int32(3), np.int32(5))
    assert not g.nodes()


def test_numba_with_extensions_is_refused(device):
    dispatcher = stand_ins.numba_spread([])
    dispatcher.extensions = [object()]
    with pytest.raises(TypeError, match="has extensions"):
        cg.GraphDef().call(cg.interop.numba(dispatcher)[1, 32])


def test_numba_takes_named_parameters_that_are_numbers_only(device):
    g = cg.GraphDef()
    pointer = g.param("x", cg.pointer)
    kernel = cg.interop.numba(stand_ins.numba_spread([]))[1, 32]
    rest = cg.ndarray(cg.f64, 5), 1.0, 1, True, 0j, (1, 1.0)
    with pytest.raises(TypeError, match=r"argument 'x' is .*an array is more than an address"):
        g.call(kernel, pointer, *rest)
    small = g.param("a", cg.f64)  # which is not what was declared, and has no value to convert
    with pytest.raises(TypeError, match="bytes"):
        g.call(kernel, array_of(np.zeros((5, 3), "f")), rest[0], small, *rest[2:])
    assert not g.nodes()


@pytest.mark.parametrize(
    ("type_", "value"),
    [(Float(32), 1.5), (Integer(8, False), 200), (Boolean(), True)],
    ids=str,
)
def test_numbers_have_the_width_of_their_type(type_, value):
    from cuda_graphs.interop.numba_kernel import flatten

    sizes = {Float(32): 4, Integer(8, False): 1, Boolean(): 1}
    assert list(flatten(type_, value, "x")) == [(value, sizes[type_])]


def test_blocks_that_wait_for_each_other_are_launched_together(device, code):
    types = (Integer(64, True), Integer(32, True), Integer(32, True))
    numba = cg.interop.numba(Dispatcher(add, [], made={types: (code, "add")}, cooperative=True))
    cupy = cg.interop.cupy(RawKernel(code, "add", [], enable_cooperative_groups=True))
    x = cg.ndarray(cg.i32, 4)
    g = cg.GraphDef()
    for kernel in (numba, cupy):
        assert g.call(kernel[1, 32], x.handle, np.int32(4), np.int32(1)).config.is_cooperative


# CuPy


def test_cupy_takes_the_width_of_the_parameter(device, stream, code):
    x = array_of(np.arange(4, dtype="i4"))
    kernel = cg.interop.cupy(RawKernel(code, "add", []))
    cg.launch(stream, {"grid": 1, "block": 32}, kernel, x, 3, np.int32(5))
    stream.sync()
    assert x.to_numpy().tolist() == [5, 6, 7, 3]
    with pytest.raises(
        TypeError, match=r"parameter 1 of kernel 'add' takes 4 bytes of unknown type; numpy.int64, of 8 bytes"
    ):
        cg.launch(stream, {"grid": 1, "block": 32}, kernel, x, np.int64(3), 5)


def test_cupy_takes_pointers_as_named_parameters(device, stream, code):
    x, y = array_of(np.arange(4, dtype="i4")), array_of(np.arange(4, dtype="i4"))
    g = cg.GraphDef()
    g.call(cg.interop.cupy(RawKernel(code, "add", []))[1, 32], g.param("x", cg.pointer, default=x), 4, 5)
    graph = g.instantiate()
    graph.launch(stream)
    graph.launch(stream, x=y)
    graph.launch(stream, x=y)
    stream.sync()
    assert x.to_numpy().tolist() == [5, 6, 7, 8]
    assert y.to_numpy().tolist() == [10, 11, 12, 13]


def test_shared_memory_comes_with_the_configuration(device, stream, code):
    out = cg.ndarray(cg.i32, ())
    g = cg.GraphDef()
    node = g.call(cg.interop.cupy(RawKernel(code, "shape", []))[1, (4, 2), 1024], out)
    assert node.shmem_size == 1024
    g.instantiate().launch(stream)
    stream.sync()
    assert out[()] == 8


# Triton


@pytest.fixture
def axpy(device):
    x, y = array_of(np.arange(100, dtype="f")), array_of(np.ones(100, "f"))
    return x, y


@pytest.mark.parametrize("step", [1, 3], ids=["a constant of the code", "a parameter"])
def test_triton_gets_what_is_a_parameter_of_the_code(axpy, stream, step):
    x, y = axpy
    kernel = cg.interop.triton(JITFunction(), BLOCK=64)[2]
    cg.launch(stream, None, kernel, x, y, 2.0, 90, step)
    stream.sync()
    i = np.arange(100)
    touched = (i % step == 0) & (i < 90) & (i < 128 * step)
    np.testing.assert_array_equal(y.to_numpy(), 1 + 2 * i * touched)


def test_triton_chooses_the_block_and_compiles_for_the_arguments(axpy, stream):
    x, y = axpy
    function = JITFunction()
    seen = []

    def grid(arguments):
        seen.append(arguments)
        return ((arguments["n"] + arguments["BLOCK"] - 1) // arguments["BLOCK"],)

    kernel = cg.interop.triton(function, BLOCK=64, num_warps=2)[grid]
    g = cg.GraphDef()
    node = g.call(kernel, Tensor := stand_ins.Tensor(x), y, 2.0, 100, 1)
    assert (node.grid, node.block, node.shmem_size) == ((2, 1, 1), (64, 1, 1), 0)
    ((args, warmed_grid, options),) = function.warmed
    assert (warmed_grid, options) == ((2,), {"num_warps": 2})
    assert args[0] is Tensor
    assert (args[1].data_ptr(), args[1].dtype) == (y.handle, "float32")
    assert args[2:] == (2.0, 100, 1, 64)
    assert seen[0]["num_warps"] == 2
    g.instantiate().launch(stream)
    stream.sync()
    np.testing.assert_array_equal(y.to_numpy(), 1 + 2 * np.arange(100))


def test_triton_makes_code_for_any_value_of_a_named_parameter(axpy, stream):
    x, y = axpy
    function = JITFunction()
    g = cg.GraphDef()
    n, step = g.param("n", cg.i32), g.param("step", cg.i32)
    g.call(cg.interop.triton(function, BLOCK=64)[2], x, y, 1.0, n, step)
    ((args, _, _),) = function.warmed
    assert all(value != 1 and value % 16 for value in args[3:5])
    graph = g.instantiate()
    graph.launch(stream, n=100, step=1)
    graph.launch(stream, n=64, step=16)
    stream.sync()
    i = np.arange(100)
    np.testing.assert_array_equal(y.to_numpy(), 1 + i + i * ((i % 16 == 0) & (i < 64)))
    for type_ in (cg.pointer, cg.f64, cg.i8):
        with pytest.raises(
            TypeError, match="for Triton a named parameter must be one of i32, i64, u64, f32, bool"
        ):
            g.call(cg.interop.triton(function, BLOCK=64)[2], x, y, 1.0, g.param(f"p_{type_}", type_), 1)


def test_triton_has_scratch_memory_for_each_block(axpy, stream):
    x, y = axpy
    function = JITFunction(global_scratch_size=128, profile_scratch_size=0)
    g = cg.GraphDef()
    g.call(cg.interop.triton(function, BLOCK=64)[2], x, y, 2.0, 100, 1)
    g.instantiate().launch(stream)
    stream.sync()
    np.testing.assert_array_equal(y.to_numpy(), 1 + 2 * np.arange(100))


def test_bfloat16_has_its_name(device):
    function = JITFunction()
    kernel = cg.interop.triton(function, BLOCK=64)[2]
    cg.GraphDef().call(kernel, cg.ndarray(cg.bf16, 4), cg.ndarray(cg.f32, 4), 1.0, 4, 1)
    assert function.warmed[0][0][0].dtype == "bfloat16"


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (lambda x, y: (x, y, 2.0, 100), "takes .*missing a required argument: 'step'"),
        (lambda x, y: (x, y, 2.0, 100, 1, 64, 9), "takes .*(too many|multiple values)"),
        (lambda x, y: (x.buffer, y, 2.0, 100, 1), "argument 'x' is a Buffer, whose elements have no type"),
        (lambda x, y: (x, [1], 2.0, 100, 1), "failed to specialize"),
        (lambda x, y: (x, y, 2.0, (100, 2), 1), "failed to specialize"),
    ],
)
def test_arguments_that_triton_does_not_take_are_refused(axpy, args, text):
    g = cg.GraphDef()
    with pytest.raises(TypeError, match=text):
        g.call(cg.interop.triton(JITFunction(), BLOCK=64)[2], *args(*axpy))
    assert not g.nodes()


def test_triton_with_other_parameters_than_known_is_refused(axpy):
    function = JITFunction()
    function.type_of = lambda name, value: "constexpr" if name != "x" else "*fp32"
    with pytest.raises(TypeError, match="has 5 parameters more than arguments"):
        cg.GraphDef().call(cg.interop.triton(function, BLOCK=64)[2], *axpy, 2.0, 100, 1)


def test_code_for_another_device_is_refused(axpy):
    function = JITFunction(target=type("Target", (), {"arch": 50}))
    with pytest.raises(ValueError, match=r"compiled axpy for sm_50, but the current"):
        cg.GraphDef().call(cg.interop.triton(function, BLOCK=64)[2], *axpy, 2.0, 100, 1)


def test_error_for_an_autotuned_kernel_asks_for_its_function(device):
    tuned = JITFunction()
    tuned.configs = []
    with pytest.raises(TypeError, match=r"for an autotuned kernel pass .fn"):
        cg.interop.triton(tuned)


def test_triton_takes_the_grid_alone(device):
    kernel = cg.interop.triton(JITFunction(), BLOCK=64)
    for config in (cg.LaunchConfig(grid=1, block=64), {"grid": 1}, 1.5):
        with pytest.raises(ValueError, match="takes only a grid"):
            kernel[config]
