// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// A driver library that is the host driver (ODD_DRIVER_OF) but for one function (ODD_DRIVER_FUNCTION): it is missing,
// or fails, or finds no device (ODD_DRIVER_HOW).
#include <cuda.h>
#include <dlfcn.h>

#include <cstdlib>
#include <string_view>

namespace {

CUresult fail(...) {
    return CUDA_ERROR_UNKNOWN;
}

CUresult find_no_device(int* count) {
    *count = 0;
    return CUDA_SUCCESS;
}

}  // namespace

extern "C" CUresult cuGetProcAddress_v2(const char* name, void** address, int version, cuuint64_t flags,
                                        CUdriverProcAddressQueryResult* found) {
    static void* library = dlopen(std::getenv("ODD_DRIVER_OF"), RTLD_NOW | RTLD_LOCAL);
    static const auto real = reinterpret_cast<decltype(&cuGetProcAddress_v2)>(dlsym(library, "cuGetProcAddress_v2"));
    if (std::string_view(name) != std::getenv("ODD_DRIVER_FUNCTION")) return real(name, address, version, flags, found);
    const std::string_view how = std::getenv("ODD_DRIVER_HOW");
    *found = how == "missing" ? CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND : CU_GET_PROC_ADDRESS_SUCCESS;
    *address = how == "no device" ? reinterpret_cast<void*>(find_no_device) : reinterpret_cast<void*>(fail);
    return how == "missing" ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}
