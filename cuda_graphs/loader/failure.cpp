// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "failure.hpp"

#include "core/driver/table.hpp"
#include "core/handles/error.hpp"

namespace cgr {

namespace {

std::string words_of(CUresult status) {
    const char *name = nullptr, *text = nullptr;
    cg::driver().cuGetErrorName(status, &name);
    cg::driver().cuGetErrorString(status, &text);
    return std::string(name != nullptr ? name : "an unknown error") + (text != nullptr ? std::string(": ") + text : "");
}

}  // namespace

void check(CUresult status, const std::string& attempt) {
    if (status == CUDA_SUCCESS) return;
    const bool is_memory = status == CUDA_ERROR_OUT_OF_MEMORY;
    throw Failure(is_memory ? CG_ERROR_OUT_OF_MEMORY : CG_ERROR_DRIVER,
                  "cannot " + attempt + ": the driver returned " + words_of(status));
}

void fail_noted(const std::string& attempt) {
    const cg::NotedError noted = cg::take_noted_error();
    check(noted.status, attempt + " (" + noted.call + ")");
    throw Failure(CG_ERROR_DRIVER, "cannot " + attempt + ": a call failed without an error");
}

}  // namespace cgr
