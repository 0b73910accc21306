// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "error.hpp"

#include <utility>

namespace cg {

namespace {

// The pointer of a string literal is enough: noting an error allocates nothing and cannot fail.
thread_local CUresult noted_status = CUDA_SUCCESS;
thread_local const char* noted_call = "";

}  // namespace

void note_error(CUresult status, const char* call) noexcept {
    noted_status = status;
    noted_call = call;
}

NotedError take_noted_error() {
    std::string call = noted_call;
    for (const char* prefix : {"driver().", "cg::driver()."})
        if (call.rfind(prefix, 0) == 0) call.erase(0, std::char_traits<char>::length(prefix));
    call.resize(call.find('(') == std::string::npos ? call.size() : call.find('('));
    return {std::exchange(noted_status, CUDA_SUCCESS), std::move(call)};
}

}  // namespace cg
