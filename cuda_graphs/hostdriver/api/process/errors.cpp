// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Entry points that return the name and the text of an error code.
#include "hostdriver/entry.hpp"
#include "hostdriver/objects/base/error_codes.hpp"

using namespace cgh;

// cuda.h, cuGetErrorString: "If the error code is not recognized, CUDA_ERROR_INVALID_VALUE will be returned and *pStr
// will be set to the NULL address."
CGH_API CUresult cuGetErrorString(CUresult error, const char** pStr) {
    return entry_anytime("cuGetErrorString", [&]() -> CUresult {
        REQUIRE(pStr != nullptr, CUDA_ERROR_INVALID_VALUE);
        *pStr = error_text(error);
        return *pStr != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    });
}

CGH_API CUresult cuGetErrorName(CUresult error, const char** pStr) {
    return entry_anytime("cuGetErrorName", [&]() -> CUresult {
        REQUIRE(pStr != nullptr, CUDA_ERROR_INVALID_VALUE);
        *pStr = error_name(error);
        return *pStr != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    });
}
