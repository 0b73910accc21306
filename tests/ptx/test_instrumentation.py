# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: instrumented code reports each access with its site and its thread, runs its threads in the given order, and
computes the same results as other code."""

import numpy as np
import pytest

from cuda_graphs.hostdriver.ptx.lowering.instrumentation import ACCESSES, ORDER
from cuda_graphs.native.access_sites import AFTER, FENCE, READ, SHARED, STRONG, WRITE
from tests.ptx.rig import Services, compile_cuda, load

SOURCE = """
extern "C" __global__ void touch(int* a, int4* b) {
    __shared__ int s[4];
    s[threadIdx.x] = a[threadIdx.x];
    __threadfence();
    atomicAdd(a + 4, 1);
    int4 v = b[0];
    a[threadIdx.x] = s[threadIdx.x] + v.x + v.w;
}
extern "C" __global__ void sum(const int* a, int* out, int n) {
    __shared__ int partial[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = i < n ? a[i] : 0;
    for (int step = 16; step; step /= 2) x += __shfl_down_sync(0xffffffff, x, step);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = x;
    __syncthreads();
    if (threadIdx.x == 0) {
        int total = 0;
        for (int w = 0; w < blockDim.x / 32; ++w) total += partial[w];
        atomicAdd(out, total);
    }
}
extern "C" __global__ void turn(int* a) {
    __shared__ int s[64];
    int i = threadIdx.y * blockDim.x + threadIdx.x, last = blockDim.x * blockDim.y - 1;
    s[i] = a[i];
    __syncthreads();
    a[i] = s[last - i];
}
extern "C" __global__ void ticket(int* next, int* who) {
    who[atomicAdd(next, 1)] = threadIdx.y * blockDim.x + threadIdx.x;
}
"""


@pytest.fixture(scope="module")
def ptx() -> str:
    return compile_cuda(SOURCE, "-lineinfo")


def test_each_access_is_told_with_its_site_and_thread(ptx):
    services = Services(ACCESSES)
    a, b = np.arange(8, dtype=np.int32), np.ones(8, np.int32)
    b = b[(-(b.ctypes.data // 4)) % 4 :][:4]  # int4 needs 16 bytes
    load(ptx, services).launch("touch", 1, 1, a, b)
    accesses = [
        (address, line, instruction.split(".")[0], size, flags)
        for address, (_, line, _, instruction, size, flags), _, _ in services.accesses
    ]
    first, start = a.ctypes.data, accesses[1][0]
    strong = READ | WRITE | STRONG
    assert accesses == [
        (first, 4, "ld", 4, READ),
        (start, 4, "st", 4, WRITE | SHARED),
        (0, 5, "membar", 0, FENCE),
        (first + 16, 6, accesses[3][2], 4, strong),
        (first + 16, 6, accesses[3][2], 4, strong | AFTER),
        (b.ctypes.data, 7, "ld", 16, READ),
        (start, 8, "ld", 4, READ | SHARED),
        (first, 8, "st", 4, WRITE),
    ]
    assert {(thread, block) for *_, thread, block in services.accesses} == {((0, 0, 0), (0, 0, 0))}
    assert services.accesses[0][1][0].endswith(b"test.cu")


@pytest.mark.parametrize("wants", [0, ACCESSES, ORDER, ACCESSES | ORDER])
def test_instrumented_code_computes_the_same_results(ptx, wants):
    program = load(ptx, Services(wants))
    a, out = np.arange(200, dtype=np.int32), np.zeros(1, np.int32)
    program.launch("sum", 3, 96, a, out, np.int32(200))
    assert out[0] == a.sum()
    turned = np.arange(24, dtype=np.int32)
    program.launch("turn", 1, (6, 4), turned)
    assert (turned == np.arange(24)[::-1]).all()


def test_threads_run_in_the_order_that_is_given(ptx):
    next_one, who = np.zeros(1, np.int32), np.zeros(12, np.int32)
    load(ptx, Services(ORDER)).launch("ticket", 1, (4, 3), next_one, who)
    assert who.tolist() == list(range(12))[::-1]  # the rig's order


def test_accesses_know_the_block_and_thread(ptx):
    services = Services(ACCESSES)
    load(ptx, services).launch("ticket", (2, 2), (2, 3), np.zeros(1, np.int32), np.zeros(24, np.int32))
    places = {(thread, block) for *_, thread, block in services.accesses}
    assert places == {
        ((x, y, 0), (i, j, 0)) for x in range(2) for y in range(3) for i in range(2) for j in range(2)
    }
