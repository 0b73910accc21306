// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels of test_blocks_together.py. blocks_together.ptx is what NVRTC makes of this for compute_90, as PTX 9.0 and
// without the constants of cooperative_groups.h that nothing names: that header needs one of another package (nv/target).
#include <cooperative_groups.h>
namespace groups = cooperative_groups;

extern "C" __global__ void steps_of_a_grid(int* a, int* b, int steps) {
    auto grid = groups::this_grid();
    int i = grid.thread_rank(), n = grid.size();
    for (int s = 0; s < steps; ++s) {
        b[i] = a[(i + n / 2 + 1) % n] + s;
        grid.sync();
        int* t = a; a = b; b = t;
    }
}
extern "C" __global__ void one_block(int* out) {
    auto grid = groups::this_grid();
    for (int i = 0; i < 3; ++i) grid.sync();
    out[grid.thread_rank()] = grid.is_valid() + grid.num_blocks();
}
extern "C" __global__ void swap_halves(int* x) {
    auto grid = groups::this_grid();
    int i = grid.thread_rank(), other = x[(i + 128) % 256];
    grid.sync();
    x[i] = other + 1;
}
extern "C" __global__ void steps_of_a_cluster(int* out, int steps) {
    __shared__ int mine[32];
    auto cluster = groups::this_cluster();
    int rank = cluster.block_rank(), n = cluster.num_blocks(), t = threadIdx.x;
    int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    mine[t] = block * 32 + t;
    cluster.sync();
    for (int s = 0; s < steps; ++s) {
        int v = cluster.map_shared_rank(mine, (rank + 1) % n)[31 - t];
        cluster.barrier_arrive();
        cluster.barrier_wait();
        mine[t] = v + s;
        cluster.sync();
    }
    atomicAdd(cluster.map_shared_rank(&mine[0], n - 1), 1000);
    cluster.sync();
    out[block * 32 + t] = mine[t] + 1000000 * rank;
}
extern "C" __global__ void __cluster_dims__(4, 1, 1) clusters_of_four(int* out) {
    __shared__ int s;
    auto cluster = groups::this_cluster();
    if (threadIdx.x == 0) s = 0;
    cluster.sync();
    for (int r = 0; r < cluster.num_blocks(); ++r)
        atomicAdd(cluster.map_shared_rank(&s, r), cluster.block_rank() + 1);
    cluster.sync();
    out[blockIdx.x * blockDim.x + threadIdx.x] = s + cluster.query_shared_rank(&s);
}
extern "C" __global__ void some_threads_end(int* out) {
    auto cluster = groups::this_cluster();
    if (threadIdx.x >= 8 * (1 + cluster.block_rank())) return;
    for (int i = 0; i < 4; ++i) cluster.sync();
    out[blockIdx.x * 32 + threadIdx.x] = 1;
}
