// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Fills the table of driver.hpp.
#include "driver.hpp"

#include <dlfcn.h>

namespace conf {

Driver drv;

namespace {
using GetProcAddress = CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);

void* find(GetProcAddress get, const char* name, int version) {
    void* function = nullptr;
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    const CUresult result = get(name, &function, version, CU_GET_PROC_ADDRESS_LEGACY_STREAM, &status);
    return result == CUDA_SUCCESS && status == CU_GET_PROC_ADDRESS_SUCCESS ? function : nullptr;
}
}  // namespace

std::string Driver::open(const char* path) {
    library_ = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) return dlerror();
    const auto get = reinterpret_cast<GetProcAddress>(dlsym(library_, "cuGetProcAddress_v2"));
    if (get == nullptr) return "no cuGetProcAddress_v2";
    // `#base` is the name in functions.def. Without `#`, cuda.h replaces `base` by its current version, here and in
    // every call.
#define CG_REQUIRED(base, symbol, version) base.bind(#base, find(get, #base, version));
#define CG_OPTIONAL(base, symbol, version) base.bind(#base, find(get, #base, version));
#include "../../../cuda_graphs/core/driver/functions.def"
#define CONF_ASKED(base, symbol, version) base.bind(#base, find(get, #base, version));
#include "asked.def"
    return "";
}

void* Driver::symbol(const char* name) const {
    return dlsym(library_, name);
}

std::string Driver::name(CUresult result) const {
    const char* text = nullptr;
    if (!cuGetErrorName || cuGetErrorName(result, &text) != CUDA_SUCCESS || text == nullptr)
        return "CUresult " + std::to_string(static_cast<int>(result));
    return text;
}

}  // namespace conf
