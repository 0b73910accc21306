// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Fills the table of table.hpp.
#include "table.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace raw {

Table drv;

namespace {
using GetProcAddress = CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);

template <class Function>
void find(GetProcAddress get, Function*& field, const char* name, int version) {
    void* found = nullptr;
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    if (get(name, &found, version, CU_GET_PROC_ADDRESS_LEGACY_STREAM, &status) == CUDA_SUCCESS)
        field = reinterpret_cast<Function*>(found);
}

void demand(const void* function, const char* name) {
    if (function != nullptr) return;
    std::fprintf(stderr, "the driver has no %s\n", name);
    std::exit(2);
}
}  // namespace

void open_driver(const char* path) {
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const auto get =
        library == nullptr ? nullptr : reinterpret_cast<GetProcAddress>(dlsym(library, "cuGetProcAddress_v2"));
    if (get == nullptr) {
        std::fprintf(stderr, "%s: %s\n", path, library == nullptr ? dlerror() : "no cuGetProcAddress_v2");
        std::exit(2);
    }
#define CG_REQUIRED(base, symbol, version) \
    find(get, drv.base, #base, version);   \
    demand(reinterpret_cast<const void*>(drv.base), #base);
#define CG_OPTIONAL(base, symbol, version) find(get, drv.base, #base, version);
#include "../../cuda_graphs/core/driver/functions.def"
    plug_native_kernels(library);
}

void check(CUresult result, const char* what) {
    if (result == CUDA_SUCCESS) return;
    const char* name = nullptr;
    drv.cuGetErrorName(result, &name);
    std::fprintf(stderr, "%s: %s\n", what, name == nullptr ? "unknown error" : name);
    std::exit(1);
}

}  // namespace raw
