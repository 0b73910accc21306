// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The entry points of refused.def. One definition without parameters serves all of them, because the caller removes its
// arguments.
#include "hostdriver/entry.hpp"

using namespace cgh;

// The one body, which is not inlined, for several hundred functions.
[[gnu::noinline]] static CUresult refuse(const char* name) {
    return entry(name, []() -> CUresult { return CUDA_ERROR_NOT_SUPPORTED; });
}

// The C++ name belongs to this project and the symbol to the driver function, so the definitions do not conflict with
// cuda.h.
#define CGH_REFUSED(base, symbol, version)                    \
    CGH_API CUresult cgh_refused_##symbol() __asm__(#symbol); \
    CUresult cgh_refused_##symbol() {                         \
        return refuse(#base);                                 \
    }
#include "hostdriver/refused.def"
