// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The entry points of refused.def: all the same, whatever their parameters are, for the caller takes its arguments
// back.
#include "entry.hpp"

using namespace cgh;

// The C++ name is ours, the symbol that of the driver function, so that no declaration of cuda.h is in the way.
#define CGH_REFUSED(base, symbol, version)                                          \
    CGH_API CUresult cgh_refused_##symbol() __asm__(#symbol);                       \
    CUresult cgh_refused_##symbol() {                                               \
        return entry(#base, []() -> CUresult { return CUDA_ERROR_NOT_SUPPORTED; }); \
    }
#include "../refused.def"
