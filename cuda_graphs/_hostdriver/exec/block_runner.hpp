// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the blocks of one kernel. Small launches run where they are; of larger ones the blocks are handed out in order
// from a cursor, in chunks, to the owner and to the threads that help. How large is large is learned: each kernel
// remembers what a thread of it costs.
#ifndef CUDA_GRAPHS_HOSTDRIVER_EXEC_BLOCK_RUNNER_HPP
#define CUDA_GRAPHS_HOSTDRIVER_EXEC_BLOCK_RUNNER_HPP

#include <cuda.h>

#include "../image_loader.h"

namespace cgh {

class Kernel;
class Stream;

// `run_context` is thread_state.run_context of every thread that takes part. Returns the fault, if any.
CUresult run_blocks(Kernel& kernel, const cgh_launch& launch, const void* params, bool cooperative,
                    const Stream* stream, void* run_context);

}  // namespace cgh

#endif
