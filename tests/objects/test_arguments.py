# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: an argument reaches the kernel as its parameter is declared, or an error names the parameter."""

import ctypes
import enum
import re

import numpy as np
import pytest

import cuda_graphs as cg
from tests.objects.kernels import TYPES

ONE = cg.LaunchConfig(grid=1, block=1)


class Size(enum.IntEnum):
    SMALL = 3


class MyInt(int):
    pass


def launch(stream, kernel, *args):
    cg.launch(stream, ONE, kernel, *args)


def launch_node(stream, kernel, *args):
    g = cg.GraphDef()
    g.launch(ONE, kernel, *args)
    g.instantiate().launch(stream)


@pytest.fixture(params=[launch, launch_node], ids=["stream", "node"])
def echo(request, module, stream, pinned):
    """Returns a function that gives the value that a kernel finds in its one parameter of a type (NumPy's name)."""

    def run(kind, value):
        dtype = np.dtype(kind)
        out = pinned(1, dtype)
        request.param(stream, module.get_kernel(f"take<{TYPES[kind]}>"), value, out.ctypes.data)
        stream.sync()
        return out[0].item()

    return run


TAKEN = [
    # a Python number takes the width of the parameter
    *(
        (kind, value, value)
        for kind in ("i1", "i2", "i4", "i8")
        for value in (-1, 0, 7, True, Size.SMALL, MyInt(5))
    ),
    *(
        (f"i{n}", value, value)
        for n in (1, 2, 4, 8)
        for value in (-(1 << (8 * n - 1)), (1 << (8 * n - 1)) - 1)
    ),
    *((f"u{n}", (1 << 8 * n) - 1, (1 << 8 * n) - 1) for n in (1, 2, 4, 8)),
    ("u4", -1, 0xFFFFFFFF),
    ("i4", 0xFFFFFFFF, -1),
    ("f4", 1.5, 1.5),
    ("f4", 0.1, float(np.float32(0.1))),
    ("f8", 0.1, 0.1),
    ("f4", float("inf"), float("inf")),
    ("c8", 1 + 2j, 1 + 2j),
    ("c16", 0.1 + 2j, 0.1 + 2j),
    ("?", True, True),
    ("?", False, False),
    ("?", 1, True),
    # what has a width of its own
    *((kind, np.dtype(kind).type(value), value) for kind in ("i1", "i2", "i4", "i8") for value in (-3, 5)),
    *((kind, np.dtype(kind).type(200), 200) for kind in ("u1", "u2", "u4", "u8")),
    ("f2", np.float16(1.5), 1.5),
    ("f4", np.float32(0.1), float(np.float32(0.1))),
    ("f8", np.float64(0.1), 0.1),
    ("c8", np.complex64(1 - 1j), 1 - 1j),
    ("c16", np.complex128(0.1 - 1j), 0.1 - 1j),
    ("?", np.bool_(True), True),
    ("i8", np.longlong(-4), -4),
    ("u8", np.ulonglong(4), 4),
    ("i1", ctypes.c_int8(-3), -3),
    ("u2", ctypes.c_uint16(40000), 40000),
    ("i4", ctypes.c_int(-3), -3),
    ("u8", ctypes.c_size_t(1 << 40), 1 << 40),
    ("f4", ctypes.c_float(0.5), 0.5),
    ("f8", ctypes.c_double(0.1), 0.1),
    ("?", ctypes.c_bool(True), True),
    ("u8", ctypes.c_void_p(0x1234), 0x1234),
]


@pytest.mark.parametrize(("kind", "value", "seen"), TAKEN, ids=lambda v: f"{type(v).__name__}-{v}")
def test_a_value_reaches_the_kernel(echo, kind, value, seen):
    assert echo(kind, value) == seen


def test_nan_stays_nan(echo):
    assert echo("f4", float("nan")) != echo("f4", float("nan"))


@pytest.mark.parametrize("n", [1, 2, 4, 8])
@pytest.mark.parametrize("over", [False, True])
def test_an_int_that_does_not_fit_is_an_overflow_error(echo, n, over):
    value = 1 << 8 * n if over else -(1 << (8 * n - 1)) - 1
    with pytest.raises(OverflowError, match=re.escape(f"{value} does not fit")):
        echo(f"i{n}", value)


WRONG_WIDTH = [
    ("i2", 1.0, "has 2 bytes; a float fills 4 or 8 bytes"),
    ("c16", 1, "has 16 bytes; an int fills 1, 2, 4 or 8 bytes"),
    ("i4", 1j, "has 4 bytes; a complex fills 8 or 16 bytes"),
    ("i4", np.int64(1), "has 4 bytes; numpy.int64 has 8"),
    ("f8", np.float32(1), "has 8 bytes; numpy.float32 has 4"),
    ("f4", np.float64(1), "has 4 bytes; numpy.float64 has 8"),
    ("i1", ctypes.c_int(1), "has 1 byte; ctypes.c_int has 4"),
]


@pytest.mark.parametrize(("kind", "value", "message"), WRONG_WIDTH, ids=lambda v: str(v))
def test_a_wrong_width_is_a_type_error_that_names_the_parameter(echo, kind, value, message):
    with pytest.raises(TypeError, match=r"^parameter 0 of kernel '\w+' " + re.escape(message)):
        echo(kind, value)


def test_a_buffer_fills_an_address_only(echo, device, stream):
    buffer = device.allocate(16, stream=stream)
    with pytest.raises(TypeError, match="has 4 bytes; a Buffer is passed as an address of 8 bytes"):
        echo("i4", buffer)
    assert echo("u8", buffer) == buffer.handle


def test_a_closed_buffer_is_refused(echo, device, stream):
    buffer = device.allocate(16, stream=stream)
    buffer.close()
    with pytest.raises(cg.ClosedBufferError, match=r"parameter 0 of kernel .*no active allocation"):
        echo("u8", buffer)


@pytest.mark.parametrize(
    "value",
    ["text", None, [1], (1,), {}, object(), b"12345678", np.zeros(2, np.int32), (ctypes.c_int * 2)()],
    ids=lambda value: type(value).__name__,
)
def test_other_types_are_refused_by_name(echo, value):
    with pytest.raises(TypeError, match=re.escape(f"the argument is of unsupported type: {type(value)}")):
        echo("i8", value)


class Pair(ctypes.Structure):
    _fields_ = (("x", ctypes.c_double), ("n", ctypes.c_int))


def pairs():
    as_numpy = np.zeros((), np.dtype([("x", "f8"), ("n", "i4")], align=True))
    as_numpy["x"], as_numpy["n"] = 1.5, 7
    return {"ctypes": Pair(1.5, 7), "numpy": as_numpy[()]}


@pytest.mark.parametrize("name", ["ctypes", "numpy"])
def test_a_structure_is_passed_by_value(module, stream, pinned, name):
    out = pinned(2, np.float64)
    cg.launch(stream, ONE, module.get_kernel("take_pair"), pairs()[name], out.ctypes.data)
    stream.sync()
    assert out.tolist() == [1.5, 7.0]


def test_more_arguments_than_fit_on_the_stack_are_all_passed(module, stream, pinned):
    out = pinned(1, np.int64)
    values = [(37 * i) % 101 - 50 for i in range(40)]
    cg.launch(stream, ONE, module.get_kernel("many"), out.ctypes.data, *values)
    stream.sync()
    assert out[0] == sum(value * (i + 1) for i, value in enumerate(values))


@pytest.mark.parametrize(("args", "got"), [((), 0), ((1,), 1), ((1, 2), 2), ((1, 2, 3, 4), 4)])
def test_a_wrong_count_is_a_type_error(module, stream, args, got):
    with pytest.raises(TypeError, match=f"^kernel 'fill' takes 3 arguments, got {got}$"):
        cg.launch(stream, ONE, module.get_kernel("fill"), *args)


def test_handles_of_cuda_bindings_are_passed_by_value(echo):
    bindings = pytest.importorskip("cuda.bindings.driver")
    assert echo("u8", bindings.CUdeviceptr(0x1230)) == 0x1230
    with pytest.raises(TypeError, match="has 4 bytes"):
        echo("i4", bindings.CUdeviceptr(0x1230))


def test_numpy_that_is_imported_late_is_understood(run_child):
    child = run_child(
        """
import cuda_graphs as cg
d = cg.Device(); d.set_current(); s = d.create_stream()
k = cg.Program('extern "C" __global__ void f(float x, double y) {}').compile().get_kernel("f")
one = cg.LaunchConfig(grid=1, block=1)
cg.launch(s, one, k, 1.0, 2.0)
import numpy as np
cg.launch(s, one, k, np.float32(1), np.float64(2))
s.sync()
"""
    )
    assert (child.returncode, child.stdout, child.stderr) == (0, "", "")
