// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The occupancy calculation of cuOccupancy*: the number of blocks of a kernel that fit on a multiprocessor. It uses the
// limits of compute capability 9.0 and the register count that the image loader estimates.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_CODE_OCCUPANCY_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_CODE_OCCUPANCY_HPP

#include <cstddef>
#include <cstdint>

namespace cgh {

class Kernel;

int blocks_per_multiprocessor(const Kernel& kernel, std::uint32_t threads, std::size_t dynamic_shared);
// Returns the largest cluster of a launch of the kernel, in blocks.
int max_cluster_blocks(const Kernel& kernel);

}  // namespace cgh

#endif
