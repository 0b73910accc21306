// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Occupancy.
#include "hostdriver/objects/code/occupancy.hpp"

#include <algorithm>

#include "hostdriver/api/streams/launch_attributes.hpp"
#include "hostdriver/entry.hpp"
#include "hostdriver/objects/code/kernel.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/devices/device.hpp"

using namespace cgh;

namespace {

CUresult active_blocks(int* out, CUfunction function, int block_size, std::size_t dynamic_shared) {
    REQUIRE(out != nullptr && block_size > 0, CUDA_ERROR_INVALID_VALUE);
    Kernel* kernel = find_kernel(function);
    REQUIRE(kernel != nullptr, CUDA_ERROR_INVALID_HANDLE);
    *out = blocks_per_multiprocessor(*kernel, static_cast<std::uint32_t>(block_size), dynamic_shared);
    return CUDA_SUCCESS;
}

// The block size with the most resident threads; the largest such size.
struct BestBlockSize {
    int block = 0, blocks = 0;
};
BestBlockSize best_block(const Kernel& kernel, int limit, CUoccupancyB2DSize shared_of, std::size_t dynamic_shared) {
    BestBlockSize best;
    for (int block = limit / kWarpSize * kWarpSize; block >= kWarpSize; block -= kWarpSize) {
        const std::size_t shared = shared_of != nullptr ? shared_of(block) : dynamic_shared;
        const int blocks = blocks_per_multiprocessor(kernel, static_cast<std::uint32_t>(block), shared);
        if (blocks * block > best.blocks * best.block) best = {block, blocks};
    }
    return best;
}

CUresult potential_block(int* grid, int* block, CUfunction function, CUoccupancyB2DSize shared_of,
                         std::size_t dynamic_shared, int block_limit) {
    REQUIRE(grid != nullptr && block != nullptr && block_limit >= 0, CUDA_ERROR_INVALID_VALUE);
    Kernel* kernel = find_kernel(function);
    REQUIRE(kernel != nullptr, CUDA_ERROR_INVALID_HANDLE);
    int limit = static_cast<int>(kernel->code().max_threads_per_block);
    // cuda.h: "If blockSizeLimit is 0, the configurator will use the maximum block size permitted by the device /
    // function instead."
    if (block_limit != 0) limit = std::min(limit, block_limit);
    const BestBlockSize best = best_block(*kernel, limit, shared_of, dynamic_shared);
    *block = best.block;
    *grid = best.blocks * multiprocessors();
    return CUDA_SUCCESS;
}

CUresult cluster_config(CUfunction function, const CUlaunchConfig* config, Kernel** kernel, LaunchShape* shape) {
    *kernel = find_kernel(function);
    REQUIRE(*kernel != nullptr, CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(config != nullptr, CUDA_ERROR_INVALID_VALUE);
    return shape_of(*config, shape);
}

std::uint32_t threads_of(const LaunchShape& shape) {
    return shape.dims.block[0] * shape.dims.block[1] * shape.dims.block[2];
}

}  // namespace

CGH_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, CUfunction func, int blockSize,
                                                             size_t dynamicSMemSize) {
    return entry("cuOccupancyMaxActiveBlocksPerMultiprocessor",
                 [&]() -> CUresult { return active_blocks(numBlocks, func, blockSize, dynamicSMemSize); });
}

CGH_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, CUfunction func, int blockSize,
                                                                      size_t dynamicSMemSize, unsigned int flags) {
    return entry("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", [&]() -> CUresult {
        REQUIRE(flags <= CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE, CUDA_ERROR_INVALID_VALUE);
        return active_blocks(numBlocks, func, blockSize, dynamicSMemSize);
    });
}

CGH_API CUresult cuOccupancyMaxPotentialBlockSize(int* minGridSize, int* blockSize, CUfunction func,
                                                  CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize,
                                                  int blockSizeLimit) {
    return entry("cuOccupancyMaxPotentialBlockSize", [&]() -> CUresult {
        return potential_block(minGridSize, blockSize, func, blockSizeToDynamicSMemSize, dynamicSMemSize,
                               blockSizeLimit);
    });
}

CGH_API CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicSmemSize, CUfunction func, int numBlocks,
                                                         int blockSize) {
    return entry("cuOccupancyAvailableDynamicSMemPerBlock", [&]() -> CUresult {
        REQUIRE(
            dynamicSmemSize != nullptr && numBlocks > 0 && numBlocks <= kMaxBlocksPerMultiprocessor && blockSize > 0,
            CUDA_ERROR_INVALID_VALUE);
        Kernel* kernel = find_kernel(func);
        REQUIRE(kernel != nullptr, CUDA_ERROR_INVALID_HANDLE);
        const std::size_t each = static_cast<std::size_t>(kSharedPerMultiprocessor / numBlocks) / 128 * 128;
        const std::size_t taken = kernel->code().static_shared_bytes + kReservedSharedPerBlock;
        *dynamicSmemSize = std::min<std::size_t>(each > taken ? each - taken : 0, kernel->max_dynamic_shared());
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuOccupancyMaxPotentialClusterSize(int* clusterSize, CUfunction func, const CUlaunchConfig* config) {
    return entry("cuOccupancyMaxPotentialClusterSize", [&]() -> CUresult {
        REQUIRE(clusterSize != nullptr, CUDA_ERROR_INVALID_VALUE);
        Kernel* kernel = nullptr;
        LaunchShape shape;
        TRY(cluster_config(func, config, &kernel, &shape));
        *clusterSize = max_cluster_blocks(*kernel);
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuOccupancyMaxActiveClusters(int* numClusters, CUfunction func, const CUlaunchConfig* config) {
    return entry("cuOccupancyMaxActiveClusters", [&]() -> CUresult {
        REQUIRE(numClusters != nullptr, CUDA_ERROR_INVALID_VALUE);
        Kernel* kernel = nullptr;
        LaunchShape shape;
        TRY(cluster_config(func, config, &kernel, &shape));
        const auto cluster = static_cast<int>(shape.dims.cluster[0] * shape.dims.cluster[1] * shape.dims.cluster[2]);
        REQUIRE(cluster > 0 && cluster <= max_cluster_blocks(*kernel), CUDA_ERROR_INVALID_CLUSTER_SIZE);
        const int resident =
            blocks_per_multiprocessor(*kernel, threads_of(shape), shape.dims.dynamic_shared_bytes) * multiprocessors();
        *numClusters = resident / cluster;
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* minGridSize, int* blockSize, CUfunction func,
                                                           CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                           size_t dynamicSMemSize, int blockSizeLimit,
                                                           unsigned int flags) {
    return entry("cuOccupancyMaxPotentialBlockSizeWithFlags", [&]() -> CUresult {
        REQUIRE(flags <= CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE, CUDA_ERROR_INVALID_VALUE);
        return potential_block(minGridSize, blockSize, func, blockSizeToDynamicSMemSize, dynamicSMemSize,
                               blockSizeLimit);
    });
}
