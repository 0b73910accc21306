// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// How a creator fails: it notes the status and the call for its thread and returns an empty handle. So code without
// the GIL needs no exceptions; who sees the empty handle raises what was noted (seam.pyx, raise_noted).
#ifndef CUDA_GRAPHS_HANDLES_ERROR_HPP
#define CUDA_GRAPHS_HANDLES_ERROR_HPP

#include <cuda.h>

#include <string>

namespace cg {

// `call` is the text of the failed expression, or any words on what was being done; kept up to its first "(".
void note_error(CUresult status, const char* call) noexcept;

struct NotedError {
    CUresult status;   // CUDA_SUCCESS when nothing was noted
    std::string call;  // e.g. "cuStreamCreateWithPriority"
};

// What the calling thread noted last; forgets it.
NotedError take_noted_error();

}  // namespace cg

// In a function that returns a handle or a bool: the checked driver call.
#define CU_TRY(...)                                      \
    do {                                                 \
        const CUresult cu_try_status = (__VA_ARGS__);    \
        if (cu_try_status != CUDA_SUCCESS) {             \
            cg::note_error(cu_try_status, #__VA_ARGS__); \
            return {};                                   \
        }                                                \
    } while (0)

#endif
