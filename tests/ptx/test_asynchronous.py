# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""mbarrier objects count arrivals and bytes in phases; asynchronous copies have been done when they are waited for."""

import numpy as np
import pytest

from tests.ptx.rig import HEADER, compile_cuda, load

ONE_THREAD = (
    HEADER
    + """.visible .entry k(.param .u64 out) {{
  .reg .pred %p; .reg .b32 %r<20>; .reg .b64 %rd<20>, %o, %s<40>; .shared .align 8 .b8 object[8];
  mov.u32 %r1, object; ld.param.u64 %o, [out];
  {code}
  ret;
}}
"""
)


def words(code, count):
    """Runs one thread, which stores 32-bit words at %o."""
    out = np.full(count, 0xDEAD, np.uint32)
    load(ONE_THREAD.format(code=code)).launch("k", 1, 1, out)
    return out.tolist()


def answer(test, place):
    return f"{test}; selp.u32 %r2, 1, 0, %p; st.global.u32 [%o+{4 * place}], %r2;\n"


class Model:
    """An mbarrier object after the PTX ISA ("Parallel Synchronization and Communication Instructions: mbarrier")."""

    def __init__(self, count):
        self.phase, self.expected, self.pending, self.bytes = 0, count, count, 0

    def change(self, arrivals=0, dropped=0, size=0):
        before = (self.phase, self.pending)
        self.expected -= dropped
        self.pending -= arrivals
        self.bytes += size
        if self.pending == 0 and self.bytes == 0:
            self.phase, self.pending = self.phase + 1, self.expected
        return before


# name -> (PTX with {n} for a number, whether it gives a state, what it changes)
CHANGES = {
    "mbarrier.arrive.shared.b64 {state}, [%r1]": (True, lambda n: {"arrivals": 1}),
    "mbarrier.arrive.release.cta.shared::cta.b64 {state}, [%r1], {n}": (True, lambda n: {"arrivals": n}),
    "mbarrier.arrive_drop.shared.b64 {state}, [%r1]": (True, lambda n: {"arrivals": 1, "dropped": 1}),
    "mbarrier.arrive.expect_tx.shared.b64 {state}, [%r1], {n}": (True, lambda n: {"arrivals": 1, "size": n}),
    "mbarrier.expect_tx.relaxed.cta.shared.b64 [%r1], {n}": (False, lambda n: {"size": n}),
    "mbarrier.complete_tx.relaxed.cta.shared.b64 [%r1], {n}": (False, lambda n: {"size": -n}),
    "cp.async.mbarrier.arrive.noinc.shared.b64 [%r1]": (False, lambda n: {"arrivals": 1}),
    "cp.async.mbarrier.arrive.shared.b64 [%r1]": (False, lambda n: {}),
}


@pytest.mark.parametrize("seed", range(3))
def test_an_object_has_the_phases_of_the_model(seed):
    """Random operations that the ISA allows: no more arrivals than are pending, no more bytes done than expected."""
    random = np.random.default_rng(seed)
    model = Model(int(random.integers(3, 9)))
    code = f"mbarrier.init.shared.b64 [%r1], {model.expected};\n"
    expected, states = [], 0
    for _ in range(60):
        name, (gives, change) = list(CHANGES.items())[random.integers(len(CHANGES))]
        n = int(random.integers(1, 4))
        changed = change(n)
        allowed = (
            changed.get("arrivals", 0) <= model.pending
            and model.bytes + changed.get("size", 0) >= 0
            and model.expected - changed.get("dropped", 0) > 0
        )
        if not allowed or states == 30:
            continue
        before = model.change(**changed)
        state = f"%s{states}"
        code += name.format(state=state, n=n) + ";\n"
        if gives:
            code += f"mbarrier.pending_count.b64 %r2, {state}; st.global.u32 [%o+{4 * len(expected)}], %r2;\n"
            expected.append(before[1])
            code += answer(f"mbarrier.test_wait.shared.b64 %p, [%r1], {state}", len(expected))
            expected.append(int(model.phase != before[0]))
            states += 1
        for parity in (0, 1):
            code += answer(
                f"mbarrier.try_wait.parity.shared::cta.b64 %p, [%r1], {parity}, 100", len(expected)
            )
            expected.append(int(model.phase % 2 != parity))
    code += "mbarrier.inval.shared.b64 [%r1];"
    assert len(expected) > 50
    assert words(code, len(expected)) == expected


def test_generic_addresses_do_as_well():
    code = """cvt.u64.u32 %rd2, %r1; cvta.shared.u64 %rd1, %rd2;
    mbarrier.init.b64 [%rd1], 2; mbarrier.arrive.b64 _, [%rd1+0]; mbarrier.arrive.noComplete.b64 %s1, [%rd1], 0;
    mbarrier.pending_count.b64 %r2, %s1; st.global.u32 [%o], %r2;"""
    assert words(code, 1) == [1]


@pytest.mark.parametrize("wait", ["__mbarrier_test_wait(&b, t)", "__mbarrier_try_wait(&b, t, 1000)"])
def test_threads_of_a_block_wait_for_each_other_at_an_object(wait):
    source = (
        r"""#include <cuda_awbarrier.h>
    extern "C" __global__ void k(int* out, int turns) {
        __shared__ __mbarrier_t b; __shared__ int s[96]; int t_ = threadIdx.x, v = t_;
        if (t_ == 0) __mbarrier_init(&b, blockDim.x);
        __syncthreads();
        for (int i = 0; i < turns; ++i) {
            s[t_] = v; __mbarrier_token_t t = __mbarrier_arrive(&b);
            while (!WAIT) ;
            v = s[(t_ + 1) % 96]; t = __mbarrier_arrive(&b);
            while (!WAIT) ;
        }
        out[t_] = v; }"""
    ).replace("WAIT", wait)
    out = np.zeros(96, np.int32)
    load(compile_cuda(source)).launch("k", 1, 96, out, np.int32(7))
    np.testing.assert_array_equal(out, (np.arange(96) + 7) % 96)


def test_warps_that_produce_and_warps_that_consume_have_two_stages():
    source = r"""#include <cuda_awbarrier.h>
    extern "C" __global__ void k(int* out, const int* in, int turns) {
        __shared__ __mbarrier_t full[2], empty[2]; __shared__ int s[2][32]; int t = threadIdx.x;
        if (t < 2) { __mbarrier_init(&full[t], 32); __mbarrier_init(&empty[t], 32); }
        __syncthreads();
        if (t < 32) for (int i = 0; i < turns; ++i) {
            int k = i & 1; bool parity = (i / 2) & 1;
            while (!__mbarrier_test_wait_parity(&empty[k], !parity)) ;
            s[k][t] = in[i * 32 + t]; __mbarrier_arrive(&full[k]);
        } else for (int i = 0, sum = 0; i < turns; ++i) {
            int k = i & 1; bool parity = (i / 2) & 1;
            while (!__mbarrier_test_wait_parity(&full[k], parity)) ;
            sum = sum * 3 + s[k][63 - t]; __mbarrier_arrive(&empty[k]);
            out[t - 32] = sum;
        } }"""
    turns = 9
    values = np.random.default_rng(1).integers(0, 1000, (turns, 32), np.int32)
    out = np.zeros(32, np.int32)
    load(compile_cuda(source)).launch("k", 1, 64, out, values, np.int32(turns))
    expected = np.zeros(32, np.int32)
    with np.errstate(over="ignore"):
        for row in values:
            expected = expected * np.int32(3) + row[::-1]
    np.testing.assert_array_equal(out, expected)


COPY = (
    HEADER
    + """.visible .entry k(.param .u64 to, .param .u64 from) {{
  .reg .pred %p, %n; .reg .b32 %r<9>; .reg .b64 %rd<9>; .shared .align 16 .b8 s[64];
  ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [to]; mov.u32 %r1, s; mov.u32 %r2, -1;
  st.shared.v4.u32 [s], {{%r2, %r2, %r2, %r2}};
  setp.eq.u32 %p, %r2, -1; setp.ne.u32 %n, %r2, -1; mov.u32 %r3, 5; mov.u64 %rd5, 0;
  {copy}
  cp.async.commit_group; cp.async.wait_group 0; cp.async.wait_all;
  ld.shared.v2.u64 {{%rd3, %rd4}}, [%r1]; st.global.v2.u64 [%rd2], {{%rd3, %rd4}};
  ret;
}}
"""
)


@pytest.mark.parametrize(
    ("copy", "copied", "zeros"),
    [
        ("cp.async.ca.shared.global [%r1], [%rd1], 4;", 4, 0),
        ("cp.async.ca.shared::cta.global.L2::128B [%r1], [%rd1], 8;", 8, 0),
        ("cp.async.cg.shared.global [%r1], [%rd1], 16;", 16, 0),
        ("cp.async.cg.shared.global.L2::cache_hint [%r1], [%rd1], 16, %rd5;", 16, 0),
        ("cp.async.ca.shared.global [%r1], [%rd1], 16, 5;", 5, 11),
        ("cp.async.ca.shared.global [%r1], [%rd1], 8, %r3;", 5, 3),
        ("cp.async.ca.shared.global [%r1], [%rd1], 4, 0;", 0, 4),
        ("cp.async.ca.shared.global [%r1], [%rd1], 4, %r2;", 4, 0),
        ("cp.async.ca.shared.global [%r1], [%rd1], 8, %p;", 0, 8),
        ("cp.async.ca.shared.global [%r1], [%rd1], 8, %n;", 8, 0),
    ],
)
def test_a_copy_brings_what_it_names_and_zeros_for_the_rest(copy, copied, zeros):
    given, out = np.arange(1, 17, dtype=np.uint8), np.zeros(16, np.uint8)
    load(COPY.format(copy=copy)).launch("k", 1, 1, out, given)
    assert out.tolist() == [*given[:copied], *[0] * zeros, *[255] * (16 - copied - zeros)]


def test_bulk_copies_complete_the_bytes_that_an_object_expects():
    text = (
        HEADER
        + """.visible .entry k(.param .u64 to, .param .u64 from, .param .u32 size) {
  .reg .pred %p; .reg .b32 %r<9>; .reg .b64 %rd<9>; .shared .align 128 .b8 s[1024]; .shared .align 8 .b8 object[8];
  ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [to]; ld.param.u32 %r1, [size];
  mov.u32 %r2, s; mov.u32 %r3, object; mov.u32 %r4, %tid.x; mov.u32 %r5, %ntid.x;
  setp.ne.u32 %p, %r4, 0;
  @%p bra READY;
  mbarrier.init.shared::cta.b64 [%r3], %r5;
  fence.mbarrier_init.release.cluster;
READY:
  bar.sync 0;
  @%p bra ARRIVE;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], %r1, [%r3];
  mbarrier.arrive.expect_tx.shared::cta.b64 %rd3, [%r3], %r1;
  bra.uni WAIT;
ARRIVE:
  mbarrier.arrive.shared::cta.b64 %rd3, [%r3];
WAIT:
  mbarrier.try_wait.shared::cta.b64 %p, [%r3], %rd3;
  @!%p bra WAIT;
  mad.lo.u32 %r6, %r4, 4, %r2; ld.shared.u32 %r7, [%r6]; add.u32 %r7, %r7, 1; st.shared.u32 [%r6], %r7;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  setp.ne.u32 %p, %r4, 0;
  @%p bra END;
  cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], %r1;
  cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 0;
END:
  ret;
}
"""
    )
    given, out = np.arange(200, dtype=np.uint32), np.zeros(200, np.uint32)
    load(text).launch("k", 1, 200, out, given, np.uint32(800))
    np.testing.assert_array_equal(out, given + 1)


def test_memory_orders_reach_words_of_128_bits():
    text = (
        HEADER.replace("9.0", "8.4", 1)
        + """.visible .entry k(.param .u64 x) {
  .reg .b64 %rd<9>; .reg .b128 %w<5>;
  ld.param.u64 %rd1, [x];
  ld.relaxed.gpu.b128 %w1, [%rd1]; mov.b128 {%rd2, %rd3}, %w1; add.u64 %rd2, %rd2, 1; mov.b128 %w2, {%rd3, %rd2};
  st.release.sys.b128 [%rd1+16], %w2;
  ld.acquire.gpu.b128 %w3, [%rd1+16];
  atom.exch.relaxed.gpu.b128 %w4, [%rd1+32], %w3;
  st.relaxed.gpu.b128 [%rd1+48], %w4;
  atom.cas.acq_rel.gpu.b128 %w4, [%rd1], %w1, %w2;
  ret;
}
"""
    )
    memory = np.zeros(10, np.uint64)
    x = memory[memory.ctypes.data % 16 // 8 :][:8]
    x[:] = [1, 2, 3, 4, 5, 6, 7, 8]
    load(text).launch("k", 1, 1, x)
    assert x.tolist() == [2, 2, 2, 2, 2, 2, 5, 6]
