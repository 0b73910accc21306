# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Warps in programs of CUDA C++: lanes meet where the mask says, whatever other warps do meanwhile."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cuda_graphs.hostdriver.ptx import code_generation, loader
from tests.ptx.rig import HEADER, compile_cuda, load

ROOT = Path(__file__).resolve().parents[2]


def run(source, threads, *args, count=None, dtype=np.int32, blocks=1):
    out = np.full(threads * blocks if count is None else count, -7, dtype)
    load(compile_cuda('extern "C" __global__ void k' + source)).launch("k", blocks, threads, out, *args)
    return out


def test_shuffles_sum_a_warp_in_cuda():
    source = r"""(int* out) { int v = threadIdx.x;
        for (int d = 16; d; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
        out[blockIdx.x * blockDim.x + threadIdx.x] = v; }"""
    found = run(source, 96, blocks=2).reshape(2, 3, 32)
    assert (found == np.arange(96).reshape(3, 32).sum(1)[:, None]).all()


def test_reductions_votes_and_matches_of_cuda():
    source = r"""(int* out) { int t = threadIdx.x; unsigned all = 0xffffffff;
        int sum = __reduce_add_sync(all, t), most = __reduce_max_sync(all, t % 7);
        unsigned odd = __ballot_sync(all, t & 1), same = __match_any_sync(all, t % 5);
        int any = __any_sync(all, t == 40), every = __all_sync(all, t < 64);
        out[t] = sum * 1000 + most * 100 + (odd == 0xaaaaaaaa) * 40 + __popc(same) * 4 + any * 2 + every; }"""
    threads = np.arange(64)
    lanes = threads.reshape(2, 32)
    same = [sum(1 for other in row if other % 5 == t % 5) for row in lanes for t in row]
    any_ = (lanes == 40).any(1).repeat(32)
    wanted = lanes.sum(1).repeat(32) * 1000 + 600 + 40 + np.array(same) * 4 + any_ * 2 + 1
    np.testing.assert_array_equal(run(source, 64), wanted)


def test_warps_that_shuffle_a_different_number_of_times_meet_at_barriers():
    source = r"""(int* out) { __shared__ int s[128]; int t = threadIdx.x, warp = t / 32, v = t;
        for (int turn = 0; turn < 3; ++turn) {
            for (int i = 0; i <= warp * turn; ++i) v = __shfl_sync(0xffffffff, v, (t + 1) & 31);
            s[t] = v; __syncthreads(); v = s[(t + 32) & 127]; __syncthreads();
        }
        out[t] = v; }"""
    threads = np.arange(128)
    v = threads.copy()
    for turn in range(3):
        for warp in range(4):
            part = v[warp * 32 : warp * 32 + 32]
            for _ in range(warp * turn + 1):
                part[:] = np.roll(part, -1)
        v = np.roll(v, -32)
    np.testing.assert_array_equal(run(source, 128), v)


def test_first_warp_shuffles_while_the_others_wait_at_a_barrier():
    """The sum of a block as textbooks have it."""
    source = r"""(float* out, const float* in) { __shared__ float sums[32]; int t = threadIdx.x;
        float v = in[t];
        for (int d = 16; d; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
        if (t % 32 == 0) sums[t / 32] = v;
        __syncthreads();
        if (t < 32) {
            v = t < blockDim.x / 32 ? sums[t] : 0.f;
            for (int d = 16; d; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
            if (t == 0) sums[0] = v;
        }
        __syncthreads();
        out[t] = sums[0]; }"""
    x = np.arange(256, dtype=np.float32)
    np.testing.assert_array_equal(run(source, 256, x, dtype=np.float32), np.full(256, x.sum()))


def test_groups_of_a_warp_meet_by_themselves_in_branches():
    source = r"""(int* out) { int t = threadIdx.x, lane = t & 31, v = t;
        if (lane < 8) { for (int i = 0; i < 5; ++i) v = __shfl_xor_sync(0xff, v, 1) + 1; }
        else if (lane < 20) v = __shfl_sync(0xfff00, v, 8);
        else v = __reduce_add_sync(0xfff00000, v);
        __syncwarp();
        out[t] = v + 10000 * __shfl_sync(0xffffffff, v, 31); }"""
    lanes = np.arange(32)
    v = np.where(lanes < 8, (lanes ^ 1) + 5, np.where(lanes < 20, 8, lanes[20:].sum()))
    np.testing.assert_array_equal(run(source, 32), v + 10000 * v[31])


def test_lanes_that_have_ended_and_that_there_are_not_are_not_waited_for():
    source = r"""(int* out) { int t = threadIdx.x;
        if (t % 3 == 2) return;
        unsigned there = __ballot_sync(0xffffffff, 1);
        __syncthreads();
        out[t] = __popc(there) * 100 + __reduce_add_sync(0xffffffff, 1); }"""
    threads = np.arange(40)
    wanted = (
        np.where(threads < 32, sum(t % 3 != 2 for t in range(32)), sum(t % 3 != 2 for t in range(32, 40)))
        * 101
    )
    np.testing.assert_array_equal(run(source, 40), np.where(threads % 3 == 2, -7, wanted))


@pytest.mark.parametrize("size", [4, 16, 32])
def test_tiles_of_cooperative_groups(size, tmp_path):
    source = r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(int* out) {
    auto tile = cg::tiled_partition<SIZE>(cg::this_thread_block());
    int v = threadIdx.x;
    for (int d = tile.size() / 2; d; d /= 2) v += tile.shfl_xor(v, d);
    tile.sync();
    unsigned odd = tile.ballot(threadIdx.x & 1);
    out[threadIdx.x] = v * 100 + tile.thread_rank() + 10000000 * (tile.any(threadIdx.x == 5)) + 0 * odd;
}""".replace("SIZE", str(size))
    # A header of CCCL, which need not be installed; NVRTC has what is in it built in.
    (tmp_path / "nv").mkdir()
    (tmp_path / "nv" / "target").write_text("")
    options = ("--std=c++17", "-D_CG_LIMIT_INCLUDED_DEPENDENCIES", f"-I{tmp_path}")
    out = np.zeros(64, np.int32)
    load(compile_cuda(source, *options)).launch("k", 1, 64, out)
    threads = np.arange(64)
    sums = threads.reshape(-1, size).sum(1).repeat(size)
    np.testing.assert_array_equal(
        out, sums * 100 + threads % size + 10000000 * (threads // size == 5 // size)
    )


def test_a_group_of_the_active_lanes_counts_itself():
    source = r"""(int* out) { int t = threadIdx.x; int v = 0;
        if (t % 4 == 1) { unsigned here = __activemask(); v = __popc(here) * 100 + __reduce_add_sync(here, 1); }
        out[t] = v; }"""
    np.testing.assert_array_equal(run(source, 64), np.where(np.arange(64) % 4 == 1, 808, 0))


def test_shapes_of_blocks_with_several_dimensions_have_warps_of_32_threads():
    source = r"""(int* out) { int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
        out[t] = __reduce_add_sync(0xffffffff, t); }"""
    out = np.zeros(60, np.int32)
    load(compile_cuda('extern "C" __global__ void k' + source)).launch("k", 1, (5, 4, 3), out)
    np.testing.assert_array_equal(out, np.where(np.arange(60) < 32, sum(range(32)), sum(range(32, 60))))


STUCK = f"""
import numpy as np
from tests.ptx.rig import load
text = '''{HEADER}.visible .entry k() {{
  .reg .pred %p; .reg .b32 %r<3>;
  mov.u32 %r1, %tid.x; setp.lt.u32 %p, %r1, 16;
  @%p bra LOW;
  bar.warp.sync 0xFFFF0001;
LOW:
  bar.sync 0;
  ret;
}}'''
load(text).launch("k", 1, 32)
"""


def test_threads_that_wait_for_ever_end_the_kernel():
    """The trap of the rig ends the process with 42."""
    found = subprocess.run([sys.executable, "-c", STUCK], cwd=ROOT, capture_output=True, timeout=120)
    assert found.returncode == 42, found.stderr.decode()


SUM_OF_SUMS = """
.visible .entry k(.param .u64 p) {{
  .reg .b32 %r<4>; .reg .f32 %f<4>; .reg .b64 %rd<3>; .reg .pred %q;
  ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; setp.lt.u32 %q, %r1, 7;
  mul.wide.u32 %rd2, %r1, 8; add.u64 %rd1, %rd1, %rd2; cvt.rn.f32.u32 %f1, %r1;
  {steps}
  st.global.u32 [%rd1], %r1; st.global.f32 [%rd1+4], %f1; ret;
}}
"""
STEP = """shfl.sync.bfly.b32 %r2, %r1, {mask}, 31, -1; add.u32 %r1, %r1, %r2; @%q xor.b32 %r1, %r1, 5;
  mov.b32 %r3, %f1; shfl.sync.bfly.b32 %r3, %r3, {mask}, 31, -1; mov.b32 %f2, %r3;
  fma.rn.f32 %f1, %f2, 0f3E800000, %f1;"""


def sums_of_sums(steps):
    return HEADER + SUM_OF_SUMS.format(steps="\n  ".join(STEP.format(mask=1 << k % 5) for k in range(steps)))


def test_sums_over_many_stops_are_right():
    steps, lanes = 40, np.arange(32)
    out, value, real = np.zeros((32, 2), np.uint32), lanes.astype(np.uint32), lanes.astype(np.float32)
    for k in range(steps):
        value = value + value[lanes ^ (1 << k % 5)]
        value[:7] ^= 5
        quarter = real[lanes ^ (1 << k % 5)].astype(np.float64) / 4
        real = (real.astype(np.float64) + quarter).astype(np.float32)
    load(sums_of_sums(steps)).launch("k", 1, 32, out)
    np.testing.assert_array_equal(out[:, 0], value)
    np.testing.assert_allclose(out[:, 1].view(np.float32), real, rtol=1e-5)


def test_code_grows_as_its_text_does_however_often_a_thread_stops():
    few, many = (len(code_generation.object_code(loader.translate(sums_of_sums(n))[1])) for n in (20, 80))
    assert many < 5 * few
