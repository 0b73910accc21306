// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// How creators fail: a creator notes the status and the call for its thread and returns an empty handle. So code
// without the GIL needs no exceptions. The caller of a creator raises the noted error (seam.pyx, raise_noted).
#ifndef CUDA_GRAPHS_CORE_HANDLES_ERROR_HPP
#define CUDA_GRAPHS_CORE_HANDLES_ERROR_HPP

#include <cuda.h>

#include <string>

namespace cg {

// Notes an error for this thread. `call` is the text of the failed expression or of the operation, and is cut at its
// first "(".
void note_error(CUresult status, const char* call) noexcept;

struct NotedError {
    CUresult status;   // CUDA_SUCCESS when nothing was noted
    std::string call;  // e.g. "cuStreamCreateWithPriority"
};

// Returns the last error that the calling thread noted, and clears it.
NotedError take_noted_error();

}  // namespace cg

// Checks a driver call in a function that returns a handle or a bool: notes a failure and returns an empty value.
#define CU_TRY(...)                                      \
    do {                                                 \
        const CUresult cu_try_status = (__VA_ARGS__);    \
        if (cu_try_status != CUDA_SUCCESS) {             \
            cg::note_error(cu_try_status, #__VA_ARGS__); \
            return {};                                   \
        }                                                \
    } while (0)

#endif
