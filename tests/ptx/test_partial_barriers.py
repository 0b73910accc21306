# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A barrier of a part of a block lets that part go when as many threads have come as its instruction says, whatever the
rest of the block does; bar.arrive does not wait."""

import subprocess
import sys
from pathlib import Path

import numpy as np

from tests.ptx.rig import HEADER, compile_cuda, load

ROOT = Path(__file__).resolve().parents[2]


def run(body, threads, *, blocks=1, shared=1024):
    """Runs a body in which thread %t of a block stores %r1 at out[%t]; `s` is shared memory."""
    text = (
        HEADER
        + f""".visible .entry k(.param .u64 out) {{
  .reg .pred %p, %q; .reg .b32 %r<20>, %t; .reg .b64 %o<4>; .shared .align 8 .b8 s[{shared}];
  mov.u32 %t, %tid.x; mov.u32 %r1, 0;
  {body}
  mov.u32 %r19, %ctaid.x; mov.u32 %r18, %ntid.x; mad.lo.u32 %r18, %r19, %r18, %t;
  ld.param.u64 %o1, [out]; mul.wide.u32 %o2, %r18, 4; add.u64 %o1, %o1, %o2; st.global.u32 [%o1], %r1; ret;
}}
"""
    )
    out = np.full(threads * blocks, 0xDEAD, np.uint32)
    load(text).launch("k", blocks, threads, out)
    return out


def test_halves_of_a_block_meet_at_barriers_of_their_own():
    found = run(
        """
  mov.u32 %r2, s; mad.lo.u32 %r3, %t, 4, %r2; st.shared.u32 [%r3], %t;
  setp.lt.u32 %p, %t, 64;
  @%p bra LOW;
  bar.sync 2, 64;
  bra.uni JOIN;
LOW:
  barrier.sync 1, 64;
JOIN:
  xor.b32 %r4, %t, 63; mad.lo.u32 %r3, %r4, 4, %r2; ld.shared.u32 %r1, [%r3];""",
        128,
        blocks=3,
    )
    np.testing.assert_array_equal(found.reshape(3, 128), [np.arange(128) ^ 63] * 3)


def test_the_number_of_a_barrier_may_be_in_a_register():
    found = run(
        """
  mov.u32 %r2, s; mad.lo.u32 %r3, %t, 4, %r2; st.shared.u32 [%r3], %t;
  shr.u32 %r5, %t, 5; mov.u32 %r6, 32;
  bar.sync %r5, %r6;
  xor.b32 %r4, %t, 31; mad.lo.u32 %r3, %r4, 4, %r2; ld.shared.u32 %r1, [%r3];""",
        160,
    )
    np.testing.assert_array_equal(found, np.arange(160) ^ 31)


def test_producers_arrive_and_go_on_while_consumers_wait():
    """The last two warps hand over 20 values one after the other, with a barrier for full and one for empty."""
    found = run(
        """
  mov.u32 %r2, s; and.b32 %r3, %t, 63; mad.lo.u32 %r3, %r3, 4, %r2; mov.u32 %r5, 0;
  setp.lt.u32 %p, %t, 64;
  @%p bra CONSUME;
PRODUCE:
  bar.sync 1, 128;
  mad.lo.u32 %r6, %t, 1000, %r5; st.shared.u32 [%r3], %r6;
  bar.arrive 0, 128;
  add.u32 %r5, %r5, 1; setp.lt.u32 %q, %r5, 20;
  @%q bra PRODUCE;
  bra.uni JOIN;
CONSUME:
  bar.arrive 1, 128;
NEXT:
  bar.sync 0, 128;
  ld.shared.u32 %r6, [%r3]; mad.lo.u32 %r1, %r1, 7, %r6;
  add.u32 %r5, %r5, 1; setp.lt.u32 %q, %r5, 20;
  @!%q bra JOIN;
  bar.arrive 1, 128;
  bra.uni NEXT;
JOIN:""",
        128,
    )
    expected = np.zeros(64, np.uint32)
    with np.errstate(over="ignore"):
        for turn in range(20):
            expected = expected * np.uint32(7) + (
                np.arange(64, 128, dtype=np.uint32) * 1000 + np.uint32(turn)
            )
    np.testing.assert_array_equal(found, np.concatenate([expected, np.zeros(64, np.uint32)]))


def test_threads_that_ended_are_not_waited_for_by_a_barrier_of_all():
    found = run("setp.ge.u32 %p, %t, 40; @%p exit; setp.lt.u32 %q, %t, 7; bar.red.popc.u32 %r1, 0, %q;", 96)
    np.testing.assert_array_equal(found, np.where(np.arange(96) < 40, 7, 0xDEAD))


def test_counts_of_cuda_join_all_threads():
    source = r"""extern "C" __global__ void k(int* out, int n) { int t = threadIdx.x;
        out[t] = __syncthreads_count(t % 3 == 0) * 4 + (__syncthreads_and(t < n) ? 2 : 0)
            + (__syncthreads_or(t == n) != 0); }"""
    program = load(compile_cuda(source))
    for n, rest in ((50, 1), (96, 2), (1000, 2)):
        out = np.zeros(96, np.int32)
        program.launch("k", 1, 96, out, np.int32(n))
        assert (out == 32 * 4 + rest).all(), n


def test_a_thread_that_asks_memory_in_a_loop_lets_the_others_run():
    """Thread t waits for thread t - 1, and the first for the last: by volatile and by acquiring loads."""
    for ask, tell in (
        ("ld.volatile.shared.u32", "st.volatile.shared.u32"),
        ("ld.acquire.cta.shared.u32", "st.release.cta.shared.u32"),
        ("ld.relaxed.gpu.shared.u32", "st.relaxed.gpu.shared.u32"),
    ):
        found = run(
            f"""
  mov.u32 %r2, s; setp.eq.u32 %p, %t, 0;
  @%p st.shared.u32 [%r2], 0;
  bar.sync 0;
  mov.u32 %r3, 0;
TURN:
  add.u32 %r4, %t, %r3;
SPIN:
  {ask} %r5, [%r2];
  setp.ne.u32 %q, %r5, %r4;
  @%q bra SPIN;
  add.u32 %r5, %r5, 1; {tell} [%r2], %r5;
  add.u32 %r3, %r3, 70; setp.lt.u32 %q, %r3, 210;
  @%q bra TURN;
  mov.u32 %r1, %r5;""",
            70,
        )
        np.testing.assert_array_equal(found, np.arange(70) + 141)


def test_a_lock_is_held_across_a_meeting_of_the_warp():
    source = r"""__device__ int lock, sum;
    extern "C" __global__ void k(int* out) { int lane = threadIdx.x & 31;
        if (lane == 0) while (atomicCAS(&lock, 0, 1)) ;
        int seen = __shfl_sync(~0u, *(volatile int*) &sum, 0) + __reduce_add_sync(~0u, threadIdx.x);
        if (lane == 0) { *(volatile int*) &sum = seen; __threadfence(); atomicExch(&lock, 0); }
        __syncthreads(); out[threadIdx.x] = *(volatile int*) &sum; }"""
    out = np.zeros(256, np.int32)
    load(compile_cuda(source)).launch("k", 1, 256, out)
    assert (out == sum(range(256))).all()


STUCK = f"""
from tests.ptx.rig import load
text = '''{HEADER}.visible .entry k() {{ bar.sync 1, 64; ret; }}'''
load(text).launch("k", 1, 32)
"""


def test_a_barrier_to_which_too_few_can_come_ends_the_kernel():
    """The trap of the rig ends the process with 42."""
    found = subprocess.run([sys.executable, "-c", STUCK], cwd=ROOT, capture_output=True, timeout=120)
    assert found.returncode == 42, found.stderr.decode()
