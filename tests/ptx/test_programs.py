# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Whole programs, compiled from CUDA C++ by NVRTC, give what NumPy gives."""

import ctypes
import struct
import subprocess
import sys

import numpy as np
import pytest

from tests.ptx.rig import HEADER, compile_cuda, load

SAXPY = r"""
extern "C" __global__ void saxpy(int n, float a, const float* __restrict__ x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = a * x[i] + y[i];
}
"""


@pytest.mark.parametrize(("n", "block"), [(1, 1), (1000, 256), (1024, 256), (77, 32), (5000, 1024)])
def test_saxpy_touches_each_element_once_and_no_other(n, block):
    program = load(compile_cuda(SAXPY))
    x, y = np.arange(n, dtype="f"), np.ones(n + 64, "f")
    program.launch("saxpy", -(-n // block), block, np.int32(n), np.float32(2), x, y)
    np.testing.assert_array_equal(y[:n], 2 * x + 1)
    np.testing.assert_array_equal(y[n:], 1)


REDUCE = r"""
extern "C" __global__ void reduce(const float* x, float* out, int n) {
    __shared__ float part[256];
    int t = threadIdx.x;
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    part[t] = sum;
    __syncthreads();
    for (int k = blockDim.x / 2; k; k >>= 1) {
        if (t < k) part[t] += part[t + k];
        __syncthreads();
    }
    if (t == 0) atomicAdd(out, part[0]);
}
"""


@pytest.mark.parametrize("block", [1, 2, 32, 256])
@pytest.mark.parametrize("grid", [1, 7])
def test_reduction_with_barriers_adds_everything_up(block, grid):
    program = load(compile_cuda(REDUCE))
    x, out = np.arange(1000, dtype="f"), np.zeros(1, "f")
    program.launch("reduce", grid, block, x, out, np.int32(x.size))
    assert out[0] == x.sum()
    assert program.kernels["reduce"].uses_barrier
    assert program.kernels["reduce"].static_shared_bytes == 1024


def test_every_thread_of_a_three_dimensional_launch_sees_its_place():
    source = r"""
    extern "C" __global__ void place(unsigned* out) {
        unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
        unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
        unsigned i = block * blockDim.x * blockDim.y * blockDim.z + thread;
        out[i] += 1 + thread + 1000 * block;
    }"""
    program = load(compile_cuda(source))
    out = np.zeros(3 * 4 * 5 * 2 * 3 * 4, np.uint32)
    program.launch("place", (3, 4, 5), (2, 3, 4), out)
    index = np.arange(out.size)
    np.testing.assert_array_equal(out, 1 + index % 24 + 1000 * (index // 24))
    out[:] = 0
    for first in range(0, 60, 7):  # ranges that begin in the middle of a row
        program.launch("place", (3, 4, 5), (2, 3, 4), out, first=first, end=min(first + 7, 60))
    np.testing.assert_array_equal(out, 1 + index % 24 + 1000 * (index // 24))


FUNCTIONS = {
    "sinf": (np.sin, 2, (-100, 100)),
    "cosf": (np.cos, 2, (-100, 100)),
    "tanf": (np.tan, 4, (-1.5, 1.5)),
    "expf": (np.exp, 2, (-80, 80)),
    "logf": (np.log, 2, (1e-30, 1e30)),
    "log1pf": (np.log1p, 2, (-0.9, 5)),
    "sqrtf": (np.sqrt, 0.5, (0, 1e30)),
    "cbrtf": (np.cbrt, 1, (-1e10, 1e10)),
    "tanhf": (np.tanh, 2, (-10, 10)),
    "asinf": (np.arcsin, 4, (-1, 1)),
    "atanf": (np.arctan, 3, (-50, 50)),
    "exp2f": (np.exp2, 2, (-100, 100)),
    "floorf": (np.floor, 0, (-1e4, 1e4)),
    "rintf": (np.rint, 0, (-1e4, 1e4)),
    "sin": (np.sin, 2, (-1e6, 1e6)),
    "cos": (np.cos, 2, (-1e6, 1e6)),
    "exp": (np.exp, 1, (-700, 700)),
    "log": (np.log, 1, (1e-300, 1e300)),
    "sqrt": (np.sqrt, 0, (0, 1e300)),
    "cbrt": (np.cbrt, 1, (-1e10, 1e10)),
    "tanh": (np.tanh, 2, (-10, 10)),
    "expm1": (np.expm1, 1, (-5, 5)),
    "atan": (np.arctan, 2, (-50, 50)),
    "trunc": (np.trunc, 0, (-1e4, 1e4)),
}


@pytest.fixture(scope="module")
def mathematics():
    parts = []
    for name in FUNCTIONS:
        t = "float" if name.endswith("f") else "double"
        parts.append(
            f'extern "C" __global__ void k_{name}(int n, const {t}* x, {t}* y)'
            f"{{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = {name}(x[i]); }}"
        )
    return load(compile_cuda("\n".join(parts)))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_mathematics_of_libdevice_is_within_its_stated_error(mathematics, name):
    function, ulps, (low, high) = FUNCTIONS[name]
    dtype = np.float32 if name.endswith("f") else np.float64
    random = np.random.default_rng(1)
    x = random.uniform(low, high, 3000).astype(dtype)
    if low > 0:
        x = np.exp(random.uniform(np.log(low), np.log(high), 3000)).astype(dtype)
    y = np.zeros_like(x)
    mathematics.launch(f"k_{name}", 24, 128, np.int32(x.size), x, y)
    exact = function(x.astype(np.longdouble))
    error = np.abs((y - exact) / np.spacing(np.abs(exact.astype(dtype)))).astype(float)
    assert error.max() <= ulps + 0.51, (name, x[error.argmax()])


def test_powf_and_fmodf_follow_numpy():
    source = r"""extern "C" __global__ void k(const float* a, const float* b, float* p, float* m) {
        int i = blockIdx.x * blockDim.x + threadIdx.x; p[i] = powf(a[i], b[i]); m[i] = fmodf(a[i], b[i]); }"""
    random = np.random.default_rng(1)
    a, b = random.uniform(0, 10, 1024).astype("f"), random.uniform(-5, 5, 1024).astype("f")
    p, m = np.zeros_like(a), np.zeros_like(a)
    load(compile_cuda(source)).launch("k", 4, 256, a, b, p, m)
    np.testing.assert_allclose(p, np.power(a.astype(float), b.astype(float)), rtol=1e-6)
    np.testing.assert_array_equal(m, np.fmod(a, b))


def test_atomics_of_many_blocks_lose_nothing():
    source = r"""extern "C" __global__ void count(unsigned* hist, const unsigned char* x, int n, float* sum,
        unsigned long long* top) {
        int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
        atomicAdd(&hist[x[i]], 1); atomicAdd(sum, 1.0f); atomicMax(top, (unsigned long long) i * x[i]);
        atomicCAS(&hist[256], 0, 77); atomicInc(&hist[257], 9); atomicExch(&hist[258], 5); }"""
    x = np.random.default_rng(1).integers(0, 256, 5000, np.uint8)
    hist, total, top = np.zeros(259, np.uint32), np.zeros(1, "f"), np.zeros(1, np.uint64)
    load(compile_cuda(source)).launch("count", 20, 256, hist, x, np.int32(x.size), total, top)
    np.testing.assert_array_equal(hist[:256], np.bincount(x, minlength=256))
    assert list(hist[256:]) == [77, 5000 % 10, 5]
    assert total[0] == 5000
    assert top[0] == (np.arange(5000) * x.astype(np.int64)).max()


def test_structs_arrive_by_value():
    source = r"""
    struct Inner { char tag; double weight; };
    struct Outer { int n; float v[3]; Inner inner[2]; };
    __device__ __noinline__ double weigh(Outer o, int which) { return o.inner[which].weight * o.v[which] + o.n; }
    extern "C" __global__ void k(Outer o, double* out) { out[threadIdx.x] = weigh(o, threadIdx.x) + o.inner[1].tag; }"""
    packed = (
        struct.pack("i3f", 7, 1.5, 2.5, 3.5) + struct.pack("b7xd", 1, 10.0) + struct.pack("b7xd", 4, 20.0)
    )
    out = np.zeros(2)
    load(compile_cuda(source)).launch("k", 1, 2, packed, out)
    np.testing.assert_array_equal(out, [10.0 * 1.5 + 7 + 4, 20.0 * 2.5 + 7 + 4])


def test_struct_results_and_recursion():
    source = r"""
    struct Pair { long long a; float b; int c; };
    __device__ __noinline__ Pair make(int i) { Pair p; p.a = i * 3ll; p.b = i * .5f; p.c = -i; return p; }
    __device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    extern "C" __global__ void k(double* out) { Pair p = make(threadIdx.x);
        out[threadIdx.x] = p.a + p.b + p.c + fib(threadIdx.x); }"""
    out = np.zeros(12)
    load(compile_cuda(source)).launch("k", 1, 12, out)
    fib = [0, 1]
    while len(fib) < 12:
        fib.append(fib[-1] + fib[-2])
    np.testing.assert_array_equal(out, [3 * i + i / 2 - i + fib[i] for i in range(12)])


def test_function_pointers_and_virtual_functions():
    source = r"""
    typedef int (*Op)(int, int);
    __device__ int add(int a, int b) { return a + b; }
    __device__ int mul(int a, int b) { return a * b; }
    __device__ Op table[2] = {add, mul};
    struct Shape { __device__ virtual int area(int s) = 0; };
    struct Square : Shape { __device__ int area(int s) { return s * s; } };
    struct Line : Shape { __device__ int area(int s) { return -s; } };
    extern "C" __global__ void k(int* out) {
        int i = threadIdx.x; Square q; Line l; Shape* s = i & 2 ? (Shape*) &q : (Shape*) &l;
        out[i] = table[i & 1](i, 10) * 1000 + s->area(i); }"""
    out = np.zeros(8, np.int32)
    load(compile_cuda(source)).launch("k", 1, 8, out)
    expected = [(i * 10 if i & 1 else i + 10) * 1000 + (i * i if i & 2 else -i) for i in range(8)]
    np.testing.assert_array_equal(out, expected)


def test_switches_and_local_arrays():
    source = r"""extern "C" __global__ void k(int* out, const int* x) {
        int i = threadIdx.x, a[16];
        for (int j = 0; j < 16; ++j) a[j] = x[j] * (i + 1);
        switch (x[i]) { case 0: out[i] = a[i & 15]; break; case 1: out[i] = a[3] - 1; break;
            case 2: out[i] = a[1] * a[2]; break;
          case 3: out[i] = __popc(a[5]); break; case 4: out[i] = a[a[4] & 15]; break; case 5: out[i] = i; break;
          case 6: out[i] = a[6] / 3; break; case 7: out[i] = 70; break; default: out[i] = -1; } }"""
    x = np.arange(32, dtype=np.int32) % 11
    out = np.zeros(32, np.int32)
    load(compile_cuda(source)).launch("k", 1, 32, out, x)
    for i in range(32):
        a = [int(x[j]) * (i + 1) for j in range(16)]
        cases = [a[i & 15], a[3] - 1, a[1] * a[2], a[5].bit_count(), a[a[4] & 15], i, a[6] // 3, 70]
        assert out[i] == (cases[x[i]] if x[i] < 8 else -1), i


def test_local_memory_through_generic_pointers_belongs_to_one_thread():
    source = r"""
    __device__ __noinline__ void put(int* p, int v) { p[v & 3] = v; }
    extern "C" __global__ void k(int* out) {
        int a[4] = {0, 0, 0, 0}; int i = blockIdx.x * blockDim.x + threadIdx.x;
        put(a, i); int* p = a + (out[i] & 1); p[1] += 100; out[i] = a[0] + 2 * a[1] + 3 * a[2] + 4 * a[3]; }"""
    out = np.zeros(256, np.int32)
    load(compile_cuda(source)).launch("k", 2, 128, out)
    expected = []
    for i in range(256):
        a = [0] * 4
        a[i & 3] = i
        a[1] += 100
        expected.append(a[0] + 2 * a[1] + 3 * a[2] + 4 * a[3])
    np.testing.assert_array_equal(out, expected)


def test_dynamic_shared_memory_follows_the_static_one():
    source = r"""extern "C" __global__ void k(int* out) {
        extern __shared__ int dyn[]; __shared__ int fixed[5];
        int t = threadIdx.x; if (t < 5) fixed[t] = 100 + t; dyn[t] = t; __syncthreads();
        out[t] = dyn[blockDim.x - 1 - t] + fixed[t % 5]; }"""
    out = np.zeros(64, np.int32)
    load(compile_cuda(source)).launch("k", 1, 64, out, shared=256)
    t = np.arange(64)
    np.testing.assert_array_equal(out, 63 - t + 100 + t % 5)


def test_shared_memory_of_device_functions_and_kernels_does_not_overlap():
    source = r"""
    __device__ __noinline__ int turn(int v) { __shared__ int s[32]; s[threadIdx.x] = v; __syncthreads();
        return s[31 - threadIdx.x]; }
    extern "C" __global__ void one(int* out) { __shared__ int mine[32]; mine[threadIdx.x] = threadIdx.x;
        int r = turn(threadIdx.x * 2);
        out[threadIdx.x] = mine[threadIdx.x] * 1000 + r; }
    extern "C" __global__ void two(int* out) { __shared__ double other[40]; other[threadIdx.x] = .5;
        out[threadIdx.x] = turn(7) + 2 * other[threadIdx.x]; }
    extern "C" __global__ void none(int* out) { __shared__ int x[3]; if (threadIdx.x < 3) x[threadIdx.x] = 1;
        out[threadIdx.x] = 5; }"""
    program = load(compile_cuda(source))
    out, t = np.zeros(32, np.int32), np.arange(32)
    program.launch("one", 1, 32, out)
    np.testing.assert_array_equal(out, t * 1000 + 2 * (31 - t))
    program.launch("two", 1, 32, out)
    np.testing.assert_array_equal(out, 8)
    assert program.kernels["one"].static_shared_bytes == 256


def test_half_precision():
    source = r"""#include <cuda_fp16.h>
    #include <cuda_bf16.h>
    extern "C" __global__ void k(const __half* a, const __half* b, __half* out, const __half2* c, __half2* d,
        __nv_bfloat16* e) {
        int i = threadIdx.x;
        out[i] = __hfma(a[i], b[i], __hadd(a[i], __float2half(0.5f)));
        d[i] = __hmul2(c[i], __hadd2(c[i], c[i]));
        e[i] = __float2bfloat16(__half2float(a[i])) + __float2bfloat16(1.0f); }"""
    random = np.random.default_rng(1)
    a, b, c = (random.normal(size=n).astype(np.float16) for n in (64, 64, 128))
    out, d, e = np.zeros(64, np.float16), np.zeros(128, np.float16), np.zeros(64, np.uint16)
    load(compile_cuda(source)).launch("k", 1, 64, a, b, out, c, d, e)
    sums = (a + np.float16(0.5)).astype(np.float64)
    np.testing.assert_array_equal(
        out, (a.astype(np.float64) * b.astype(np.float64) + sums).astype(np.float16)
    )
    np.testing.assert_array_equal(d, c * (c + c))
    assert np.abs((e.astype(np.uint32) << 16).view(np.float32) - (a.astype(np.float32) + 1)).max() < 2e-2


def test_printf_gets_the_packed_arguments():
    program = load(
        compile_cuda(
            r'extern "C" __global__ void k(int a, double b) { printf("%d %f\n", a + threadIdx.x, b); }'
        )
    )
    seen = []
    program.services.vprintf = None
    program.services.printed.clear()

    def vprintf(text, args):
        seen.append(
            (text, ctypes.c_int.from_address(args).value, ctypes.c_double.from_address(args + 8).value)
        )
        return 2

    callback = program.services.KINDS[1][1](vprintf)
    program.services.callbacks[1] = callback
    ctypes.c_void_p.from_address(program.image._code["cgh.services"] + 8).value = ctypes.cast(
        callback, ctypes.c_void_p
    ).value
    program.launch("k", 1, 2, np.int32(40), np.float64(2.5))
    assert seen == [(b"%d %f\n", 40, 2.5), (b"%d %f\n", 41, 2.5)]


def test_conditional_handles_are_set():
    source = r"""extern "C" __device__ void cudaGraphSetConditional(unsigned long long, unsigned);
    extern "C" __global__ void k(unsigned long long handle,
        int n) { if (threadIdx.x == 0) cudaGraphSetConditional(handle, n > 3); }"""
    program = load(compile_cuda(source))
    program.launch("k", 1, 32, np.uint64(0x123456789A), np.int32(5))
    program.launch("k", 1, 32, np.uint64(0x123456789B), np.int32(3))
    assert program.services.conditionals == [(0x123456789A, 1), (0x123456789B, 0)]


def run_apart(source: str) -> subprocess.CompletedProcess:
    """In a process of its own, which the kernel ends."""
    code = f"""
import sys; sys.path[:0] = {sys.path!r}
from tests.ptx.rig import compile_cuda, load
load(compile_cuda({source!r})).launch("k", 3, (4, 2))
"""
    return subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60)


def test_a_failed_assertion_names_its_place_and_thread():
    found = run_apart(
        'extern "C" __global__ void k() { assert(!(blockIdx.x == 1 && threadIdx.x == 3 && threadIdx.y == 1)); }'
    )
    assert found.returncode == 43, found.stderr
    assert "test.cu:1 in void k()" in found.stderr
    assert found.stderr.endswith("block [1, 0, 0] thread [3, 1, 0]")


def test_trap_ends_the_launch():
    assert run_apart('extern "C" __global__ void k() { if (blockIdx.x == 2) __trap(); }').returncode == 42


def test_clocks_go_forward():
    source = r"""extern "C" __global__ void k(long long* out) { out[0] = clock64(); out[1] = clock64();
        out[2] = clock();
        unsigned long long t; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t)); out[3] = t; }"""
    out = np.zeros(4, np.int64)
    load(compile_cuda(source)).launch("k", 1, 1, out)
    assert out[0] < out[1]
    assert out[3] > 0


def test_a_kernel_that_spins_sees_what_the_host_sets():
    import threading

    source = 'extern "C" __global__ void k(volatile int* flag, int* out) { while (!*flag) {} *out = *flag; }'
    program = load(compile_cuda(source))
    flag, out = np.zeros(1, np.int32), np.zeros(1, np.int32)
    thread = threading.Thread(target=program.launch, args=("k", 1, 1, flag, out))
    thread.start()
    assert not out[0]
    flag[0] = 9
    thread.join(30)
    assert not thread.is_alive()
    assert out[0] == 9


SPECIAL = (
    HEADER
    + """
.visible .entry k(.param .u64 p) {
  .reg .b64 %rd<3>; .reg .b32 %r<8>;
  ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r1, %r2, %r3, %r1; mul.wide.u32 %rd2, %r1, 48; add.u64 %rd1, %rd1, %rd2;
  mov.u32 %r4, %laneid; st.global.u32 [%rd1], %r4;
  mov.u32 %r4, %warpid; st.global.u32 [%rd1+4], %r4;
  mov.u32 %r4, %nwarpid; st.global.u32 [%rd1+8], %r4;
  mov.u32 %r4, %lanemask_eq; st.global.u32 [%rd1+12], %r4;
  mov.u32 %r4, %lanemask_lt; st.global.u32 [%rd1+16], %r4;
  mov.u32 %r4, %lanemask_le; st.global.u32 [%rd1+20], %r4;
  mov.u32 %r4, %lanemask_gt; st.global.u32 [%rd1+24], %r4;
  mov.u32 %r4, %lanemask_ge; st.global.u32 [%rd1+28], %r4;
  mov.u32 %r4, %dynamic_smem_size; st.global.u32 [%rd1+32], %r4;
  mov.u32 %r4, %cluster_nctaid.x; st.global.u32 [%rd1+36], %r4;
  mov.u32 %r4, WARP_SZ; st.global.u32 [%rd1+40], %r4;
  mov.u32 %r4, %smid; st.global.u32 [%rd1+44], %r4;
  ret;
}
"""
)


def test_special_registers():
    out = np.zeros((90, 12), np.uint32)
    load(SPECIAL).launch("k", 1, (9, 10), out, shared=48)
    for t in range(90):
        lane = t % 32
        bit, below = 1 << lane, (1 << lane) - 1
        masks = [bit, below, bit | below, ~(bit | below) & 0xFFFFFFFF, ~below & 0xFFFFFFFF]
        assert list(out[t]) == [lane, t // 32, 3, *masks, 48, 1, 32, 0]


CLUSTER = (
    HEADER
    + """
.visible .entry k(.param .u64 p) {
  .reg .b64 %rd<3>; .reg .b32 %r<6>; .reg .pred %q;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %nctaid.x;
  mad.lo.u32 %r1, %r2, %r3, %r1; mov.u32 %r2, %ctaid.z; mov.u32 %r4, %nctaid.y; mul.lo.u32 %r4, %r3, %r4;
  mad.lo.u32 %r1, %r2, %r4, %r1; mul.wide.u32 %rd2, %r1, 60; add.u64 %rd1, %rd1, %rd2;
"""
    + "".join(
        f"  mov.u32 %r5, %{name}; st.global.u32 [%rd1+{4 * i}], %r5;\n"
        for i, name in enumerate(
            [
                *(
                    f"{part}.{axis}"
                    for part in ("clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid")
                    for axis in "xyz"
                ),
                "cluster_ctarank",
                "cluster_nctarank",
            ]
        )
    )
    + "  mov.pred %q, %is_explicit_cluster; selp.u32 %r5, 1, 0, %q; st.global.u32 [%rd1+56], %r5;\n  ret;\n}\n"
)


@pytest.mark.parametrize("cluster", [(1, 1, 1), (2, 1, 1), (2, 2, 1), (3, 2, 4), (1, 4, 2)])
def test_blocks_know_their_places_in_their_clusters(cluster):
    clusters = np.array([2, 3, 2])
    cluster = np.array(cluster)
    grid = clusters * cluster
    out = np.zeros((*grid[::-1], 15), np.uint32)
    load(CLUSTER).launch("k", tuple(grid), 1, out, cluster=tuple(cluster))
    for z, y, x in np.ndindex(*grid[::-1]):
        block = np.array([x, y, z])
        inside = block % cluster
        rank = inside[0] + cluster[0] * (inside[1] + cluster[1] * inside[2])
        expected = [
            *(block // cluster),
            *clusters,
            *inside,
            *cluster,
            rank,
            cluster.prod(),
            cluster.prod() > 1,
        ]
        assert list(out[z, y, x]) == expected


def test_reserved_shared_memory_is_apart_from_the_kernels_own():
    """Static memory, 1 KiB that is reserved, then dynamic memory; each thread writes into all three."""
    text = (
        HEADER
        + """.extern .shared .align 16 .b8 dynamic[];
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<12>; .reg .b64 %o<3>; .shared .align 4 .b8 s[256];
  mov.u32 %r1, %tid.x; mov.u32 %r2, s; mov.u32 %r3, dynamic;
  mov.u32 %r4, %reserved_smem_offset_1; mov.u32 %r5, %reserved_smem_offset_end;
  mad.lo.u32 %r6, %r1, 4, %r2; st.shared.u32 [%r6], %r1;
  mad.lo.u32 %r7, %r1, 4, %r4; st.shared.u32 [%r7], 1000;
  mad.lo.u32 %r8, %r1, 4, %r3; st.shared.u32 [%r8], 2000;
  bar.sync 0;
  ld.shared.u32 %r9, [%r6]; ld.shared.u32 %r10, [%r7]; ld.shared.u32 %r11, [%r8];
  add.u32 %r9, %r9, %r10; add.u32 %r9, %r9, %r11; sub.u32 %r5, %r5, %r4; add.u32 %r9, %r9, %r5;
  ld.param.u64 %o1, [out]; mul.wide.u32 %o2, %r1, 4; add.u64 %o1, %o1, %o2; st.global.u32 [%o1], %r9; ret;
}
"""
    )
    program, out = load(text), np.zeros(64, np.uint32)
    assert program.kernels["k"].static_shared_bytes == 256 + 1024
    program.launch("k", 1, 64, out, shared=256)
    np.testing.assert_array_equal(out, np.arange(64) + 4024)


def test_shared_variables_of_one_name_in_two_scopes_are_two():
    text = (
        HEADER
        + """.visible .entry k(.param .u64 out) {
  .reg .b32 %r<4>; .reg .b64 %o; ld.param.u64 %o, [out];
  { .shared .align 4 .u32 s; st.shared.u32 [s], 1;
    { .shared .align 4 .u32 s; st.shared.u32 [s], 2; ld.shared.u32 %r2, [s]; }
    ld.shared.u32 %r1, [s]; }
  st.global.u32 [%o], %r1; st.global.u32 [%o+4], %r2; ret;
}
"""
    )
    out = np.zeros(2, np.uint32)
    load(text).launch("k", 1, 1, out)
    assert out.tolist() == [1, 2]
