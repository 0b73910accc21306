# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: malloc and free of device code give and take memory of the context's heap, which lives across launches, from
CUDA C++ and from PTX. A context has as much of it as CU_LIMIT_MALLOC_HEAP_SIZE says."""

import ctypes

import numpy as np
import pytest

import cuda_graphs as cg
from tests.conformance.ptx_differential import Bench

MALLOC_HEAP_SIZE = 2  # CU_LIMIT_MALLOC_HEAP_SIZE

# Thread i: put allocates and writes, take reads what the thread behind it in the block was given and frees it.
CUDA = r"""
extern "C" __global__ void put(unsigned long long* at, int bytes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int* p = (int*)malloc(bytes);
    if (p) p[0] = p[bytes / 4 - 1] = i;
    at[i] = (unsigned long long)p;
}
extern "C" __global__ void take(unsigned long long* at, int* found, int bytes) {
    int i = blockIdx.x * blockDim.x + (threadIdx.x + 1) % blockDim.x;
    int* p = (int*)at[i];
    found[i] = p ? p[bytes / 4 - 1] : -1;
    free(p);
}
"""

PTX = """.version 8.0
.target sm_70
.address_size 64
.extern .func (.param .b64 result) malloc (.param .b64 size);
.extern .func free (.param .b64 address);
.visible .entry put(.param .u64 at, .param .u32 bytes) {
    .reg .pred %q; .reg .b32 %i, %b, %n; .reg .b64 %at, %p, %e, %size;
    ld.param.u64 %at, [at]; ld.param.u32 %b, [bytes]; cvt.u64.u32 %size, %b;
    mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %b, %tid.x; mad.lo.u32 %i, %i, %n, %b;
    mad.wide.u32 %at, %i, 8, %at;
    { .param .b64 a; .param .b64 r; st.param.b64 [a], %size; call.uni (r), malloc, (a); ld.param.b64 %p, [r]; }
    st.global.u64 [%at], %p;
    setp.eq.u64 %q, %p, 0; @%q ret;
    add.u64 %e, %p, %size; st.u32 [%e+-4], %i; st.u32 [%p], %i;
    ret;
}
.visible .entry take(.param .u64 at, .param .u64 found, .param .u32 bytes) {
    .reg .pred %q; .reg .b32 %i, %b, %n, %t, %v; .reg .b64 %at, %p, %f, %size, %e;
    ld.param.u64 %at, [at]; ld.param.u64 %f, [found]; ld.param.u32 %b, [bytes]; cvt.u64.u32 %size, %b;
    mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %t, %tid.x; add.u32 %t, %t, 1; rem.u32 %t, %t, %n;
    mad.lo.u32 %i, %i, %n, %t; mad.wide.u32 %at, %i, 8, %at; mad.wide.u32 %f, %i, 4, %f;
    ld.global.u64 %p, [%at]; mov.u32 %v, -1; setp.eq.u64 %q, %p, 0; add.u64 %e, %p, %size;
    @!%q ld.u32 %v, [%e+-4];
    st.global.u32 [%f], %v;
    { .param .b64 a; st.param.b64 [a], %p; call.uni free, (a); }
    ret;
}
"""
BLOCKS, THREADS = 4, 32


@pytest.fixture(params=["CUDA C++", "PTX"])
def code(request):
    if request.param == "PTX":
        return cg.ObjectCode.from_ptx(PTX.encode())
    return cg.Program(CUDA, code_type="c++").compile("cubin")


@pytest.fixture
def put_and_take(device, code):
    """put_and_take(bytes): the addresses that `put` was given, and what `take` found there."""
    bench, config = Bench(device), cg.LaunchConfig(grid=BLOCKS, block=THREADS)
    put, take = code.get_kernel("put"), code.get_kernel("take")

    def run(size):
        (at,) = bench.run(config, put, [np.zeros(BLOCKS * THREADS, np.uint64)], np.int32(size))
        return at, bench.run(config, take, [at, np.zeros(at.size, np.int32)], np.int32(size))[1]

    return run


@pytest.mark.parametrize("size", [4, 20, 256, 4096])
def test_memory_of_malloc_is_the_threads_own_until_another_thread_frees_it(put_and_take, size):
    at, found = put_and_take(size)
    assert found.tolist() == list(range(BLOCKS * THREADS))
    assert not (at % 16).any()
    assert (np.diff(np.sort(at)) >= size).all()


def test_freed_memory_comes_again(put_and_take):
    """Each turn takes a fourth of a heap of 8 MB."""
    for _ in range(12):
        at, found = put_and_take((2 << 20) // (BLOCKS * THREADS))
        assert at.all() and found.tolist() == list(range(BLOCKS * THREADS))


class Context:
    """A context with a heap of its own, by calls of the driver."""

    def __init__(self, device, heap):
        self.driver = ctypes.CDLL(cg.driver_info().path)
        self.handle = ctypes.c_void_p()
        self.ok("cuCtxCreate_v2", ctypes.byref(self.handle), 0, device.device_id)
        self.ok("cuCtxSetLimit", MALLOC_HEAP_SIZE, ctypes.c_size_t(heap))
        self.module = ctypes.c_void_p()
        self.ok("cuModuleLoadData", ctypes.byref(self.module), PTX.encode())

    def ok(self, name, *arguments):
        assert getattr(self.driver, name)(*arguments) == 0, name

    def limit(self):
        found = ctypes.c_size_t()
        self.ok("cuCtxGetLimit", ctypes.byref(found), MALLOC_HEAP_SIZE)
        return found.value

    def put(self, threads, size):
        """The addresses that so many threads are given."""
        function, at, out = ctypes.c_void_p(), ctypes.c_uint64(), np.zeros(threads, np.uint64)
        self.ok("cuModuleGetFunction", ctypes.byref(function), self.module, b"put")
        self.ok("cuMemAlloc_v2", ctypes.byref(at), ctypes.c_size_t(out.nbytes))
        number = ctypes.c_uint32(size)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(at), ctypes.addressof(number))
        self.ok("cuLaunchKernel", function, 1, 1, 1, threads, 1, 1, 0, None, values, None)
        self.ok("cuMemcpyDtoH_v2", ctypes.c_void_p(out.ctypes.data), at, ctypes.c_size_t(out.nbytes))
        return out

    def close(self):
        result = self.driver.cuCtxDestroy_v2(self.handle)
        assert result in (0, self.failure)

    failure = 0


@pytest.fixture
def context(device, request):
    found = Context(device, request.param)
    yield found
    found.close()
    device.set_current()


@pytest.mark.parametrize("context", [16 << 20, 64 << 20], indirect=True)
def test_malloc_gives_no_more_than_the_heap_of_the_context_has(context):
    limit = context.limit()
    assert context.put(1, limit + 4).tolist() == [0]
    given = context.put(128, 1 << 20)
    assert 0 < np.count_nonzero(given) << 20 <= limit < 128 << 20
    assert context.put(1, 1 << 20).tolist() == [0]  # the launch before has taken it all, and keeps it


@pytest.mark.parametrize("context", [16 << 20], indirect=True)
def test_free_of_memory_that_malloc_did_not_give_ends_the_kernel(context):
    """CUDA leaves that undefined; the host driver fails the launch."""
    if cg.driver_info().kind != "host":
        pytest.skip("the host driver's decision")
    function, at = ctypes.c_void_p(), ctypes.c_uint64()
    context.ok("cuModuleGetFunction", ctypes.byref(function), context.module, b"take")
    context.ok("cuMemAlloc_v2", ctypes.byref(at), ctypes.c_size_t(512))
    where, size = ctypes.c_uint64(at.value + 256), ctypes.c_uint32(4)
    context.ok("cuMemcpyHtoD_v2", where, ctypes.byref(at), ctypes.c_size_t(8))  # the address of no malloc
    values = (ctypes.c_void_p * 3)(*map(ctypes.addressof, (where, at, size)))
    context.ok("cuLaunchKernel", function, 1, 1, 1, 1, 1, 1, 0, None, values, None)
    context.failure = 719  # CUDA_ERROR_LAUNCH_FAILED
    assert context.driver.cuCtxSynchronize() == context.failure


@pytest.mark.parametrize("context", [16 << 20], indirect=True)
def test_heap_has_its_size_once_a_kernel_has_used_it(context):
    assert context.put(1, 64).all()
    before = context.limit()
    set_limit = context.driver.cuCtxSetLimit
    assert set_limit(MALLOC_HEAP_SIZE, ctypes.c_size_t(2 * before)) == 1  # CUDA_ERROR_INVALID_VALUE
    assert context.limit() == before
