// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels of test_library_barriers.py: barriers, pipelines and atomics of CUDA's C++ library. library_barriers.ptx is
// what NVRTC makes of this for compute_90, as PTX 9.0 and without the constants that nothing names.
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>

using block_barrier = cuda::barrier<cuda::thread_scope_block>;

extern "C" __global__ void phases(int* out, int turns) {
    __shared__ block_barrier barrier;
    __shared__ int s[128];
    int t = threadIdx.x, n = blockDim.x, v = t;
    if (t == 0) init(&barrier, n);
    __syncthreads();
    for (int i = 0; i < turns; ++i) {
        s[t] = v;
        auto token = barrier.arrive();
        barrier.wait(cuda::std::move(token));
        v = s[(t + 1) % n];
        barrier.arrive_and_wait();
    }
    out[t] = v;
}
extern "C" __global__ void copies(int* out, const int* in) {
    __shared__ block_barrier barrier;
    __shared__ alignas(16) int s[256];
    int t = threadIdx.x;
    if (t == 0) init(&barrier, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(s + t, in + t, sizeof(int), barrier);
    barrier.arrive_and_wait();
    int v = s[255 - t];
    __syncthreads();
    if (t == 0) cuda::memcpy_async(s, in + 256, cuda::aligned_size_t<16>(1024), barrier);
    barrier.arrive_and_wait();
    out[t] = v + 1000 * s[t];
}
extern "C" __global__ void stages(int* out, const int* in, int turns) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ alignas(16) int s[2][64];
    auto group = cooperative_groups::this_thread_block();
    auto pipeline = cuda::make_pipeline(group, &state);
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i <= turns; ++i) {
        if (i < turns) {
            pipeline.producer_acquire();
            cuda::memcpy_async(group, s[i & 1], in + i * 64, cuda::aligned_size_t<16>(256), pipeline);
            pipeline.producer_commit();
        }
        if (i > 0) {
            pipeline.consumer_wait();
            sum = sum * 3 + s[(i - 1) & 1][63 - t];
            pipeline.consumer_release();
        }
    }
    out[t] = sum;
}
__device__ cuda::std::aligned_storage_t<sizeof(cuda::binary_semaphore<cuda::thread_scope_device>), 8> place;
extern "C" __global__ void turns_of_a_semaphore(int* counter, int* order, unsigned* ready) {
    auto* semaphore = reinterpret_cast<cuda::binary_semaphore<cuda::thread_scope_device>*>(&place);
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> flag(*ready);
    if (threadIdx.x == 0) {
        new (semaphore) cuda::binary_semaphore<cuda::thread_scope_device>(1);
        flag.store(1, cuda::std::memory_order_release);
    }
    while (flag.load(cuda::std::memory_order_acquire) == 0) {
    }
    semaphore->acquire();
    int mine = *reinterpret_cast<volatile int*>(counter);
    *reinterpret_cast<volatile int*>(counter) = mine + 1;
    semaphore->release();
    order[threadIdx.x] = mine;
}
extern "C" __global__ void small_atomics(signed char* bytes, short* halves) {
    cuda::atomic_ref<signed char, cuda::thread_scope_device> a(bytes[threadIdx.x % 3]);
    cuda::atomic_ref<short, cuda::thread_scope_block> b(halves[threadIdx.x % 5]);
    a.fetch_add(1);
    b.fetch_xor((short)(1 << threadIdx.x % 13));
}
