# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the signature of a kernel is that of its source, whatever the source hides behind typedefs, macros and
templates. PTX without source tells widths and numbers; other code tells sizes."""

import copy
import ctypes
import pickle

import numpy as np
import pytest

import cuda_graphs as cg

ONE = cg.LaunchConfig(grid=1, block=1)

SOURCE = r"""
#include <cuda_fp16.h>
typedef const float* Input;
struct Pair { int a; float b; };
enum Colour { RED };
#define KERNEL extern "C" __global__
KERNEL void all(Input a, float* __restrict__ b, const int n, unsigned char c, bool d, long e, unsigned long long f,
                double g, __half h, Pair p, Colour k, float4 v, float (*rows)[3], void* any, const __half* halves,
                const char* const* names, signed char s, short t, unsigned u) {}
KERNEL void none() {}
template <class T> struct Of { using type = T; };
template <class T> __global__ void dependent(const typename Of<T>::type* a, typename Of<T>::type b) {}
__global__ void mangled(const double* a, unsigned n) {}
namespace inner { KERNEL void hidden(const float* a, int n) {} }
"""

ALL = (
    "const float*", "float*", "int", "unsigned char", "bool", "long", "unsigned long long", "double", "__half", "Pair",
    "Colour", "float4", "float (*) [3]", "void*", "const __half*", "const char* const*", "signed char", "short",
    "unsigned int",
)  # fmt: skip


@pytest.fixture(scope="module")
def module(session_device):
    module = cg.Program(SOURCE).compile(name_expressions=("dependent<float>", b"dependent<int>"))
    module.get_kernel("none")  # loads it, so that its box counts before any test
    return module


def test_a_kernel_has_the_types_of_its_source(module):
    assert module.get_kernel("all").signature == ALL
    assert module.get_kernel("none").signature == ()


def test_template_arguments_are_resolved(module):
    assert module.get_kernel("dependent<float>").signature == ("const float*", "float")
    assert module.get_kernel(b"dependent<int>").signature == ("const int*", "int")


def test_a_mangled_name_tells_the_types(module):
    assert module.get_kernel("_Z7mangledPKdj").signature == ("const double*", "unsigned int")


def test_a_kernel_that_the_end_of_the_source_cannot_name_has_the_types_of_its_code(module, driver):
    kernel = module.get_kernel("hidden")
    assert len(kernel.signature) == 2 and "int" not in kernel.signature
    assert module.get_kernel("all").signature == ALL  # the other kernels of the program keep theirs


def test_repr_shows_the_types(module):
    assert repr(module.get_kernel("_Z7mangledPKdj")).startswith(
        "<Kernel _Z7mangledPKdj(const double*, unsigned int) "
    )


def test_copies_and_pickles_of_code_keep_the_signatures(module):
    for again in (copy.copy(module), pickle.loads(pickle.dumps(module))):
        assert again.get_kernel("all").signature == ALL


def test_every_kernel_object_of_one_kernel_has_its_signature(module):
    kernel = module.get_kernel("all")
    assert cg.Kernel.from_handle(kernel.handle).signature == ALL
    node = cg.GraphDef().launch(ONE, module.get_kernel("_Z7mangledPKdj"), 0, 3)
    assert node.kernel.signature == ("const double*", "unsigned int")
    assert node.args == (0, 3)


@pytest.mark.parametrize(
    "options", [{"std": "c++11"}, {"relocatable_device_code": True}, {"debug": True}, {"lineinfo": True}]
)
def test_options_of_the_program_do_not_change_it(options, session_device):
    code = 'extern "C" __global__ void f(const ELEMENT* x, int n) {}'
    program = cg.Program(code, options={"define_macro": ("ELEMENT", "short"), **options})
    assert program.compile().get_kernel("f").signature == ("const short*", "int")


def test_source_that_uses_textures_has_signatures(session_device):
    """NVRTC declares no textures where it shall declare little."""
    code = 'extern "C" __global__ void f(cudaTextureObject_t t, float* x) {}'
    assert cg.Program(code).compile().get_kernel("f").signature == ("unsigned long long", "float*")


def test_a_kernel_may_have_the_name_of_a_function_of_cuda(session_device):
    code = (
        'extern "C" __global__ void any(const float* x, float* y) {} extern "C" __global__ void add(int n) {}'
    )
    module = cg.Program(code).compile()
    assert module.get_kernel("any").signature == ("const float*", "float*")
    assert module.get_kernel("add").signature == ("int",)


# ---- PTX

PTX = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry f(
    .param .u64 f_0,
    .param .f32 f_1, // a float, with a comment
    .param .f64 f_2,
    .param .u32 f_3,
    .param .s8 f_4,
    .param .b32 f_5,
    .param .align 8 .b8 f_6[24]
)
{ ret; }
.visible .entry ff() { ret; }
"""
MARKED = PTX.replace(".u64 f_0", ".u64 .ptr .global .align 4 f_0, .param .u64 f_9")

NUMBERS = (
    "float of 4 bytes", "float of 8 bytes", "integer of 4 bytes", "integer of 1 byte", "4 bytes of unknown type",
    "structure of 24 bytes",
)  # fmt: skip


def test_ptx_tells_widths_and_numbers(device):
    code = cg.ObjectCode.from_ptx(PTX.encode())
    assert code.get_kernel("f").signature == ("integer or pointer of 8 bytes", *NUMBERS)
    assert code.get_kernel("ff").signature == ()


def test_ptx_that_marks_pointers_tells_them_from_numbers(device):
    kernel = cg.ObjectCode.from_ptx(MARKED.encode()).get_kernel("f")
    assert kernel.signature == ("pointer to an unknown type", "integer of 8 bytes", *NUMBERS)
    assert "pointer to an unknown type" in repr(kernel)


def test_a_mangled_name_that_does_not_fit_the_ptx_tells_nothing(device):
    """Numba mangles names of Python types."""
    code = PTX.replace(" f(", " _Z1fi(")
    kernel = cg.ObjectCode.from_ptx(code.encode()).get_kernel("_Z1fi")
    assert kernel.signature == ("integer or pointer of 8 bytes", *NUMBERS)


def test_a_mangled_name_gives_ptx_its_types(device):
    code = PTX.replace(" ff()", " _Z1fPKfi(.param .u64 a, .param .u32 b)")
    assert cg.ObjectCode.from_ptx(code.encode()).get_kernel("_Z1fPKfi").signature == ("const float*", "int")


# ---- unknown signatures

RAW = """
extern "C" __global__ void raw(long long* out, int i, float f, unsigned long long address, double d) {
    out[0] = i; out[1] = f; out[2] = address; out[3] = d;
}
"""


@pytest.fixture
def raw(device):
    """A kernel of code that foreign code loaded, which tells no types."""
    image = cg.Program(RAW).compile().code
    driver = ctypes.CDLL(cg.driver_info().path)
    library, found = ctypes.c_void_p(), ctypes.c_void_p()
    assert driver.cuLibraryLoadData(ctypes.byref(library), image, None, None, 0, None, None, 0) == 0
    assert driver.cuLibraryGetKernel(ctypes.byref(found), library, b"raw") == 0
    yield cg.Kernel.from_handle(found.value)
    device.sync()
    assert driver.cuLibraryUnload(library) == 0


def test_code_without_types_tells_sizes(raw):
    assert raw.signature == tuple(f"{size} bytes of unknown type" for size in (8, 4, 4, 8, 8))
    assert "signature unknown" in repr(raw)


def test_parameters_of_unknown_type_take_typed_values_and_addresses(raw, pinned, stream):
    out = pinned(4, np.int64)
    cg.launch(stream, ONE, raw, out, np.int32(-2), cg.f32(3), 1 << 63, ctypes.c_double(4))
    stream.sync()
    assert out.tolist() == [-2, 3, -(1 << 63), 4]
    node = cg.GraphDef().launch(ONE, raw, out.ctypes.data, cg.i32(7), np.float32(8), out, cg.f64(9))
    node.graph.instantiate().launch(stream)
    stream.sync()
    assert out.tolist() == [7, 8, out.ctypes.data, 9]


UNTYPED = [
    (1, 7, TypeError, "int 7 has no width of its own: pass a typed value"),
    (1, True, TypeError, "bool True has no width of its own"),
    (2, 1.0, TypeError, "float 1.0 has no width of its own"),
    (4, 1.0, TypeError, "float 1.0 has no width of its own"),
    (3, 1j, TypeError, "complex 1j has no width of its own"),
    (3, -1, OverflowError, "-1 does not fit"),
    (1, np.int64(1), TypeError, "numpy.int64, of 8 bytes, does not convert"),
    (4, np.float32(1), TypeError, "numpy.float32, of 4 bytes, does not convert"),
]


@pytest.mark.parametrize(("index", "value", "error", "message"), UNTYPED, ids=lambda v: str(v))
def test_values_without_a_type_are_refused_where_the_type_is_unknown(
    raw, stream, index, value, error, message
):
    args = [0, np.int32(0), np.float32(0), 0, np.float64(0)]
    args[index] = value
    sizes = (8, 4, 4, 8, 8)
    with pytest.raises(
        error,
        match=f"^parameter {index} of kernel 'raw' takes {sizes[index]} bytes of unknown type; {message}",
    ):
        cg.launch(stream, ONE, raw, *args)
    g = cg.GraphDef()
    with pytest.raises(error, match=message):
        g.launch(ONE, raw, *args)
    assert g.nodes() == set()


def test_types_of_the_language_make_values_of_the_host():
    made = [cg.i8(-1), cg.u64(3), cg.f16(0.5), cg.f32(1), cg.f64(0.1), cg.bool_(1)]
    assert [type(each) for each in made] == [np.int8, np.uint64, np.float16, np.float32, np.float64, np.bool_]
    assert [each.item() for each in made] == [-1, 3, 0.5, 1.0, 0.1, True]
    with pytest.raises(OverflowError):
        cg.i8(200)
    with pytest.raises(TypeError, match="NumPy has no bf16"):
        cg.bf16(1)
