// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The occupancy calculation.
#include "hostdriver/objects/code/occupancy.hpp"

#include <algorithm>

#include "hostdriver/objects/code/kernel.hpp"
#include "hostdriver/objects/devices/device.hpp"

namespace cgh {

int blocks_per_multiprocessor(const Kernel& kernel, std::uint32_t threads, std::size_t dynamic_shared) {
    const cgh_kernel& code = kernel.code();
    // The kernel's own thread limit (.maxntid) has no effect here.
    if (threads == 0 || threads > kMaxThreadsPerBlock || dynamic_shared > kernel.max_dynamic_shared()) return 0;
    // Warps get registers in units of 256, and blocks get shared memory in units of 128 bytes.
    const std::uint32_t warps = (threads + kWarpSize - 1) / kWarpSize;
    const std::uint32_t registers = std::max(1u, warps * ((kernel.registers() * kWarpSize + 255) / 256 * 256));
    const std::size_t shared = (code.static_shared_bytes + dynamic_shared + kReservedSharedPerBlock + 127) / 128 * 128;
    return std::min({kMaxBlocksPerMultiprocessor, static_cast<int>(kMaxThreadsPerMultiprocessor / (warps * kWarpSize)),
                     static_cast<int>((64u << 10) / registers), static_cast<int>(kSharedPerMultiprocessor / shared)});
}

int max_cluster_blocks(const Kernel& kernel) {
    int nonportable = 0;
    kernel.attribute(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, &nonportable);
    return nonportable != 0 ? 2 * kMaxClusterBlocks : kMaxClusterBlocks;
}

}  // namespace cgh
