// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include "driver_facts.hpp"
#include "serial.hpp"

namespace cg {

namespace detail {
DriverTable table;
std::atomic<bool> is_usable{false};
DriverFacts facts;
}  // namespace detail

namespace {

void* library = nullptr;
bool forked = false;  // this process was forked from one that had loaded the driver

using GetProcAddress = decltype(&::cuGetProcAddress_v2);

// Returns the function pointer for one line of the list, or nullptr. An explicit version keeps the ABI
// independent of the symbol that the header of the build machine maps the name to.
void* resolve(GetProcAddress get, const char* name, int version) {
    void* address = nullptr;
    CUdriverProcAddressQueryResult found{};
    const CUresult status = get(name, &address, version, CU_GET_PROC_ADDRESS_DEFAULT, &found);
    return status == CUDA_SUCCESS && found == CU_GET_PROC_ADDRESS_SUCCESS ? address : nullptr;
}

std::string fill(GetProcAddress get, DriverTable& table) {
    void* address = nullptr;
#define CG_REQUIRED(name, symbol, version)                                                                   \
    address = resolve(get, #name, version);                                                                  \
    if (address == nullptr) return "it has no " #symbol ", which CUDA has had since version code " #version; \
    table.name = reinterpret_cast<decltype(table.name)>(address);
#define CG_OPTIONAL(name, symbol, version)                                                                          \
    address = resolve(get, #name, version);                                                                         \
    table.name = address == nullptr ? refusal<CUDA_ERROR_NOT_SUPPORTED>(static_cast<decltype(table.name)>(nullptr)) \
                                    : reinterpret_cast<decltype(table.name)>(address);
#include "functions.def"
    return {};
}

// Makes every call of the child fail, except for two that only return text. No driver survives fork(): its
// threads are gone, and its locks keep their state.
void forget_driver() noexcept {
    const DriverTable before = detail::table;
    detail::table = DriverTable{};
    detail::table.cuGetErrorName = before.cuGetErrorName;
    detail::table.cuGetErrorString = before.cuGetErrorString;
    detail::is_usable = false;
    forked = true;
}

std::string describe(const DriverTable& table, CUresult status) {
    const char* name = nullptr;
    if (table.cuGetErrorName(status, &name) == CUDA_SUCCESS && name != nullptr) return name;
    return "CUresult " + std::to_string(static_cast<int>(status));
}

}  // namespace

std::string load_driver(const char* path) {
    if (library != nullptr) return "a driver is loaded already, and a process has only one";
    void* opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) return std::string("it cannot be opened: ") + dlerror();
    const auto get = reinterpret_cast<GetProcAddress>(dlsym(opened, "cuGetProcAddress_v2"));
    DriverTable filled;
    std::string problem =
        get == nullptr ? "it exports no cuGetProcAddress_v2 (CUDA 12 or newer is needed)" : fill(get, filled);
    if (problem.empty()) {
        const CUresult status = filled.cuInit(0);
        if (status != CUDA_SUCCESS) problem = "its cuInit returns " + describe(filled, status);
    }
    detail::DriverFacts facts;
    if (problem.empty() && (filled.cuDeviceGetCount(&facts.device_count) != CUDA_SUCCESS || facts.device_count == 0))
        problem = "it has no device";
    if (problem.empty() && filled.cuDriverGetVersion(&facts.version) != CUDA_SUCCESS)
        problem = "it does not tell its version";
    if (!problem.empty()) {
        dlclose(opened);
        return problem;
    }
    library = opened;
    serialise(filled);
    detail::table = filled;
    detail::facts = facts;
    pthread_atfork(nullptr, nullptr, forget_driver);
    detail::is_usable = true;
    return {};
}

void* driver_symbol(const char* name) noexcept {
    return library == nullptr ? nullptr : dlsym(library, name);
}

bool is_forked_child() noexcept {
    return forked;
}

}  // namespace cg
