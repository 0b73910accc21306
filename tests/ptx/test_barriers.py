# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A barrier lets no thread pass before all threads have arrived, wherever it stands; exited threads count as
arrived."""

import numpy as np
import pytest

from tests.ptx.rig import HEADER, compile_cuda, load


def test_barriers_in_a_loop_with_a_uniform_count_from_memory():
    source = r"""extern "C" __global__ void k(int* out, const int* turns) {
        __shared__ int s[128]; int t = threadIdx.x, v = t;
        for (int i = 0; i < *turns; ++i) { s[t] = v; __syncthreads(); v = s[(t + 1) % blockDim.x]; __syncthreads(); }
        out[t] = v; }"""
    program = load(compile_cuda(source))
    for n, turns in ((128, 5), (96, 200), (1, 3), (128, 0)):
        out = np.zeros(n, np.int32)
        program.launch("k", 1, n, out, np.array([turns], np.int32))
        np.testing.assert_array_equal(out, (np.arange(n) + turns) % n)


def test_a_barrier_under_a_branch_that_the_whole_block_takes():
    source = r"""extern "C" __global__ void k(int* out) {
        __shared__ int s[64]; int t = threadIdx.x; s[t] = t;
        if (blockIdx.x & 1) { __syncthreads(); out[blockIdx.x * 64 + t] = s[63 - t];
            } else out[blockIdx.x * 64 + t] = -1; }"""
    out = np.zeros((4, 64), np.int32)
    load(compile_cuda(source)).launch("k", 4, 64, out)
    for block in range(4):
        np.testing.assert_array_equal(out[block], 63 - np.arange(64) if block & 1 else -1)


def test_threads_that_left_early_are_not_waited_for():
    source = r"""extern "C" __global__ void k(int* out, int n) {
        __shared__ int s[64]; int t = threadIdx.x; s[t] = 0;
        if (t >= n) return;
        s[t] = t + 1; __syncthreads(); int sum = 0; for (int i = 0; i < 64; ++i) sum += s[i]; __syncthreads();
        if (t & 1) return;
        s[t] = 0; __syncthreads(); out[t] = sum + s[1]; }"""
    for n in (64, 33, 1):
        out = np.zeros(64, np.int32)
        load(compile_cuda(source)).launch("k", 1, 64, out, np.int32(n))
        expected = np.zeros(64, np.int32)
        expected[:n:2] = n * (n + 1) // 2 + (2 if n > 1 else 0)
        np.testing.assert_array_equal(out, expected)


def test_barriers_inside_device_functions_and_their_callees():
    source = r"""
    __device__ __noinline__ void wait() { __syncthreads(); }
    __device__ __noinline__ float swap(float* s, float v) { s[threadIdx.x] = v; wait();
        float r = s[threadIdx.x ^ 1]; wait(); return r; }
    extern "C" __global__ void k(float* out) { __shared__ float s[32]; float v = threadIdx.x;
        for (int i = 0; i < 3; ++i) v = swap(s, v) + 1; out[threadIdx.x] = v; }"""
    out = np.zeros(32, "f")
    load(compile_cuda(source)).launch("k", 1, 32, out)
    v = np.arange(32, dtype="f")
    for _ in range(3):
        v = v[np.arange(32) ^ 1] + 1
    np.testing.assert_array_equal(out, v)


def test_local_arrays_and_many_values_live_across_a_barrier():
    source = r"""extern "C" __global__ void k(int* out, int m) {
        __shared__ int s[64]; int t = threadIdx.x, a[8]; double x = t * .5; long long y = t * 7ll;
        for (int i = 0; i < 8; ++i) a[(i + m) & 7] = t * i;
        for (int r = 0; r < 3; ++r) { s[t] = a[(r + m) & 7]; __syncthreads(); a[r] += s[63 - t]; x += r;
            y ^= s[t]; __syncthreads(); }
        int sum = 0; for (int i = 0; i < 8; ++i) sum += a[(i * m) & 7]; out[t] = sum + (int) x + (int) y; }"""
    out = np.zeros(64, np.int32)
    load(compile_cuda(source)).launch("k", 1, 64, out, np.int32(3))
    m, threads = 3, range(64)
    a = [[0] * 8 for _ in threads]
    x, y = [t * 0.5 for t in threads], [t * 7 for t in threads]
    for t in threads:
        for i in range(8):
            a[t][(i + m) & 7] = t * i
    for r in range(3):
        s = [a[t][(r + m) & 7] for t in threads]
        for t in threads:
            a[t][r] += s[63 - t]
            x[t] += r
            y[t] ^= s[t]
    expected = [sum(a[t][(i * m) & 7] for i in range(8)) + int(x[t]) + y[t] for t in threads]
    np.testing.assert_array_equal(out, expected)


def test_three_dimensional_blocks_and_many_blocks():
    source = r"""extern "C" __global__ void k(int* out) {
        __shared__ int s[60]; int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
        s[t] = t + 100 * (blockIdx.y * gridDim.x + blockIdx.x); __syncthreads();
        out[(blockIdx.y * gridDim.x + blockIdx.x) * 60 + t] = s[59 - t]; }"""
    out = np.zeros((12, 60), np.int32)
    load(compile_cuda(source)).launch("k", (3, 4), (3, 4, 5), out)
    np.testing.assert_array_equal(out, 59 - np.arange(60) + 100 * np.arange(12)[:, None])


def test_exit_inside_a_function_ends_the_thread():
    text = (
        HEADER
        + """
.func maybe(.param .b32 a) { .reg .pred %p; .reg .b32 %r; ld.param.b32 %r, [a]; setp.gt.u32 %p, %r, 3; @%p exit; ret; }
.visible .entry k(.param .u64 out) {
  .reg .b64 %rd<3>; .reg .b32 %r<3>; .param .b32 x;
  mov.u32 %r1, %tid.x; st.param.b32 [x], %r1; call maybe, (x);
  bar.sync 0;
  ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], 1; ret;
}
"""
    )
    out = np.zeros(8, np.uint32)
    load(text).launch("k", 1, 8, out)
    assert list(out) == [1, 1, 1, 1, 0, 0, 0, 0]


@pytest.mark.parametrize(
    "barrier",
    [
        "bar.sync 0",
        "bar.sync 3",
        "barrier.sync 0",
        "barrier.sync.aligned 1",
        "barrier.cta.sync 0",
        "bar.cta.sync 2",
    ],
)
def test_every_spelling_of_a_full_barrier(barrier):
    text = (
        HEADER
        + f"""
.visible .entry k(.param .u64 out) {{
  .reg .b64 %rd<3>; .reg .b32 %r<5>; .shared .align 4 .b8 s[128];
  mov.u32 %r1, %tid.x; mov.u32 %r2, s; mad.lo.u32 %r3, %r1, 4, %r2; st.shared.u32 [%r3], %r1; {barrier};
  sub.u32 %r4, 31, %r1; mad.lo.u32 %r3, %r4, 4, %r2; ld.shared.u32 %r4, [%r3];
  ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r4; ret;
}}
"""
    )
    out = np.zeros(32, np.uint32)
    load(text).launch("k", 1, 32, out)
    np.testing.assert_array_equal(out, 31 - np.arange(32))
