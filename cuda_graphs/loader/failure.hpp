// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// How functions of this package fail: they raise a Failure. The C interface turns it into a status, and keeps its text
// for cg_last_error.
#ifndef CUDA_GRAPHS_LOADER_FAILURE_HPP
#define CUDA_GRAPHS_LOADER_FAILURE_HPP

#include <cuda.h>

#include <stdexcept>
#include <string>

#include "objects/code/include/cuda_graphs_runtime.h"

namespace cgr {

struct Failure : std::runtime_error {
    Failure(cg_status code, const std::string& text) : std::runtime_error(text), status(code) {}
    cg_status status;
};

// Raises the failure of a driver call unless it succeeded. `attempt` is a phrase: "cannot `attempt`".
void check(CUresult status, const std::string& attempt);

// Raises the failure that the core has noted for this thread.
[[noreturn]] void fail_noted(const std::string& attempt);

}  // namespace cgr

#endif
