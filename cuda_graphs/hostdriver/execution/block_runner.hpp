// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the blocks of one kernel. A small launch runs on the calling thread. The blocks of a larger launch are handed
// out in order from a cursor, in chunks, to the owner and to the helper threads. The limit is measured: each kernel
// remembers the cost of one of its threads. A kernel of one block can share the iterations of its loops in the same
// way.
#ifndef CUDA_GRAPHS_HOSTDRIVER_EXECUTION_BLOCK_RUNNER_HPP
#define CUDA_GRAPHS_HOSTDRIVER_EXECUTION_BLOCK_RUNNER_HPP

#include <cuda.h>

#include <cstddef>
#include <cstdint>

#include "hostdriver/image_loader.h"

namespace cgh {

class Kernel;
class Stream;

// Runs all blocks and returns the code of the first fault, or CUDA_SUCCESS. Sets thread_state.run_context to
// `run_context` on every participating thread.
CUresult run_blocks(Kernel& kernel, const cgh_launch& launch, const void* params, bool cooperative,
                    const Stream* stream, void* run_context);

// Implements cgh_services.share, for the kernel that runs on the calling thread. A fault of a block ends that kernel.
std::int32_t share_loop(cgh_entry loop, const cgh_launch* launch, const void* params, std::uint32_t blocks,
                        cgh_loop_cost* cost);

// Implements cgh_services.collect.
void* collect(std::size_t bytes, std::uint64_t most_threads, std::uint32_t whole, std::uint32_t* is_new);

}  // namespace cgh

#endif
