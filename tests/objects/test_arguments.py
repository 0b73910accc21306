# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: an argument reaches the kernel with its value, as its parameter is declared, or an error names the parameter and
its type. docs/guide/kernel-signatures.md has the rules."""

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
    # a Python number keeps its value
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
    ("f4", 3, 3.0),
    ("f4", True, 1.0),
    ("f4", -(1 << 24), -float(1 << 24)),
    ("f4", 1 << 100, float(1 << 100)),
    ("f8", (1 << 53) - 1, float((1 << 53) - 1)),
    ("f8", 0, 0.0),
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
    ("f2", ctypes.c_uint16(0x3E00), 1.5),  # the parameter is a structure
    # what converts without loss
    ("i8", np.int32(-3), -3),
    ("i8", np.uint32(1 << 31), 1 << 31),
    ("i4", np.uint32(5), 5),
    ("u4", np.int32(5), 5),
    ("u8", np.int8(5), 5),
    ("i4", np.bool_(True), 1),
    ("f8", np.float32(0.1), float(np.float32(0.1))),
    ("f4", np.float16(1.5), 1.5),
    ("f4", np.int16(-7), -7.0),
    ("f8", np.uint32(1 << 31), float(1 << 31)),
    ("c16", np.complex64(1 - 1j), 1 - 1j),
    ("i8", ctypes.c_int(-3), -3),
    ("f8", ctypes.c_float(0.5), 0.5),
    ("f8", np.array(0.5, np.float32), 0.5),
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


OF_ANOTHER_TYPE = [
    ("i2", 1.0, "float 1.0 does not convert to it"),
    ("i4", 3.0, "float 3.0 does not convert to it"),
    ("?", 0.0, "float 0.0 does not convert to it"),
    ("c16", 1, "int 1 does not convert to it"),
    ("c8", 1.0, "float 1.0 does not convert to it"),
    ("i4", 1j, "complex 1j does not convert to it"),
    ("f8", 1j, "complex 1j does not convert to it"),
    ("f2", 1.0, "float 1.0 has no width of its own: pass a typed value"),
    ("f2", 1, "int 1 has no width of its own: pass a typed value"),
    ("i4", np.int64(1), "numpy.int64, of 8 bytes, does not convert to it"),
    ("i4", np.float32(1), "numpy.float32, of 4 bytes, does not convert to it"),
    ("f4", np.int32(1), "numpy.int32, of 4 bytes, does not convert to it"),
    ("f4", np.uint32(1), "numpy.uint32, of 4 bytes, does not convert to it"),
    ("f4", np.float64(1), "numpy.float64, of 8 bytes, does not convert to it"),
    ("f8", np.int64(1), "numpy.int64, of 8 bytes, does not convert to it"),
    ("?", np.int8(1), "numpy.int8, of 1 byte, does not convert to it"),
    ("c8", np.float64(1), "numpy.float64, of 8 bytes, does not convert to it"),
    ("c8", np.complex128(1), "numpy.complex128, of 16 bytes, does not convert to it"),
    ("i1", ctypes.c_int(1), "ctypes.c_int, of 4 bytes, does not convert to it"),
    ("f4", ctypes.c_int(1), "ctypes.c_int, of 4 bytes, does not convert to it"),
    ("i8", ctypes.c_void_p(1), "ctypes.c_void_p, of 8 bytes, does not convert to it"),
    ("f2", np.float32(1), "numpy.float32, of 4 bytes, does not convert to it"),
]


@pytest.mark.parametrize(("kind", "value", "message"), OF_ANOTHER_TYPE, ids=lambda v: str(v))
def test_a_value_of_another_type_is_a_type_error_that_names_both(echo, kind, value, message):
    expected = rf"^parameter 0 of kernel '\w+' takes {re.escape(TYPES[kind])}; " + re.escape(message)
    with pytest.raises(TypeError, match=expected):
        echo(kind, value)


WITHOUT_THE_VALUE = [
    ("u4", -1, OverflowError, "-1 does not fit"),
    ("i4", 0xFFFFFFFF, OverflowError, "4294967295 does not fit"),
    ("u8", -1, OverflowError, "-1 does not fit"),
    ("i8", 1 << 63, OverflowError, "does not fit"),
    ("?", 2, OverflowError, "2 does not fit"),
    ("u4", np.int32(-1), OverflowError, "-1 does not fit"),
    ("i4", np.uint32(1 << 31), OverflowError, "2147483648 does not fit"),
    ("u8", np.int8(-1), OverflowError, "-1 does not fit"),
    ("f4", (1 << 24) + 1, ValueError, "16777217 exactly; pass float(16777217) to round it"),
    ("f8", (1 << 53) + 1, ValueError, "exactly; pass float(9007199254740993) to round it"),
    ("f4", 1 << 128, OverflowError, "does not fit"),
    ("f8", 1 << 1024, OverflowError, "does not fit"),
    ("f4", 1e39, OverflowError, "1e+39 does not fit"),
    ("c8", 1e39j, OverflowError, "does not fit"),
]


@pytest.mark.parametrize(("kind", "value", "error", "message"), WITHOUT_THE_VALUE, ids=lambda v: str(v))
def test_a_number_that_the_type_does_not_have_is_refused(echo, kind, value, error, message):
    with pytest.raises(
        error, match=rf"^parameter 0 of kernel '\w+' takes {re.escape(TYPES[kind])}.*" + re.escape(message)
    ):
        echo(kind, value)


HALVES = """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void halves(__half a, __nv_bfloat16 b, float2 c, float* out) {
    out[0] = __half2float(a); out[1] = __bfloat162float(b); out[2] = c.x; out[3] = c.y;
}
"""


@pytest.fixture(scope="module")
def halves(session_device):
    return cg.Program(HALVES).compile().get_kernel("halves")


def test_half_precision_is_rounded_and_complex_is_two_floats(halves, stream, pinned):
    out = pinned(4, np.float32)
    cg.launch(stream, ONE, halves, 0.1, 1 + 2**-8 + 2**-20, 1.5 - 2j, out)
    stream.sync()
    assert out.tolist() == [float(np.float16(0.1)), 1 + 2**-7, 1.5, -2.0]  # the double is rounded once
    cg.launch(stream, ONE, halves, np.float16(0.5), 256, np.complex64(1j), out)
    stream.sync()
    assert out.tolist() == [0.5, 256.0, 0.0, 1.0]
    for args, error in (
        ((70000.0, 0, 0j), OverflowError), ((2049, 0, 0j), ValueError), ((0, 257, 0j), ValueError),
        ((0, 0, 1.0), TypeError), ((np.float32(0), 0, 0j), TypeError),
    ):  # fmt: skip
        with pytest.raises(error, match="of kernel 'halves' takes"):
            cg.launch(stream, ONE, halves, *args, out)


def test_a_buffer_fills_an_address_only(echo, device, stream):
    buffer = device.allocate(16, stream=stream)
    with pytest.raises(TypeError, match="takes int; a Buffer is passed as an address of 8 bytes"):
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
        echo("u8", value)


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
    with pytest.raises(TypeError, match=r"takes int; .*CUdeviceptr, of 8 bytes, does not convert"):
        echo("i4", bindings.CUdeviceptr(0x1230))
    with pytest.raises(TypeError, match=r"takes double; .*CUdeviceptr, of 8 bytes, does not convert"):
        echo("f8", bindings.CUdeviceptr(0x1230))


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


# ---- arrays

POINTERS = {
    "float": ("f4",), "double": ("f8",), "int": ("i4", "u4"), "unsigned int": ("i4", "u4"), "long": ("i8", "u8"),
    "unsigned long long": ("i8", "u8"), "short": ("i2", "u2"), "bool": ("?",), "__half": ("f2",), "signed char": (),
    "__nv_bfloat16": (),
}  # fmt: skip
ANY = ("char", "unsigned char", "void", "float4", "float*")
ELEMENTS = ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16")
BYTES = ("i1", "u1")  # memory for any type


@pytest.fixture(scope="module")
def pointers(session_device):
    source = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n" + "".join(
        f'extern "C" __global__ void take{i}(const {name}* p) {{}}\n'
        for i, name in enumerate((*POINTERS, *ANY))
    )
    code = cg.Program(source).compile()
    return {name: code.get_kernel(f"take{i}") for i, name in enumerate((*POINTERS, *ANY))}


@pytest.mark.parametrize("pointee", [*POINTERS, *ANY])
@pytest.mark.parametrize("dtype", ELEMENTS)
def test_a_pointer_takes_arrays_of_its_elements(pointers, pinned, pointee, dtype, stream):
    array, kernel = pinned(4, dtype), pointers[pointee]
    if pointee in ANY or dtype in BYTES or dtype in POINTERS[pointee]:
        cg.launch(stream, ONE, kernel, array)
        cg.GraphDef().launch(ONE, kernel, array)
        return
    name = np.dtype(dtype).name
    message = (
        rf"^parameter 0 of kernel 'take\d+' takes const {pointee}\*; the argument is an array of {name}$"
    )
    with pytest.raises(TypeError, match=message):
        cg.launch(stream, ONE, kernel, array)
    g = cg.GraphDef()
    with pytest.raises(TypeError, match=message):
        g.launch(ONE, kernel, array)
    assert g.nodes() == set()


def test_a_pointer_takes_memory_without_elements(pointers, device, stream):
    buffer = device.allocate(16, stream=stream)
    for value in (
        buffer,
        buffer.handle,
        0,
        np.uint64(buffer.handle),
        ctypes.c_void_p(buffer.handle),
        cg.pointer(0),
    ):
        cg.launch(stream, ONE, pointers["float"], value)
    stream.sync()


@pytest.mark.parametrize(
    "value", [1.0, True, -1, 1j, np.float64(1), np.int32(1), ctypes.c_double(1)], ids=repr
)
def test_a_pointer_takes_no_numbers(pointers, stream, value):
    with pytest.raises((TypeError, OverflowError), match=r"takes const float\*; "):
        cg.launch(stream, ONE, pointers["float"], value)
