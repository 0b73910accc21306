// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The choice of the driver follows core/driver/choice.py.
#include "device.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>
#include <string>

#include "core/driver/table.hpp"

namespace cgr {

namespace {

constexpr const char* kVariable = "CUDA_GRAPHS_DRIVER";
constexpr const char* kHostLibrary = "/../hostdriver/libcuda_graphs_hostdriver.so";  // from the folder of this library
constexpr const char* kNames[] = {"auto", "cuda", "host"};

std::mutex mutex;                   // guards `loaded`
cg_driver loaded = CG_DRIVER_AUTO;  // the kind of the loaded driver; auto before

cg_driver kind_of_environment() {
    const char* const wanted = std::getenv(kVariable);
    if (wanted == nullptr) return CG_DRIVER_AUTO;
    for (cg_driver kind = CG_DRIVER_AUTO; kind <= CG_DRIVER_HOST; ++kind)
        if (std::string(wanted) == kNames[kind]) return kind;
    throw Failure(CG_ERROR_NO_DRIVER,
                  std::string(kVariable) + " is '" + wanted + "'; expected 'auto', 'cuda' or 'host'");
}

std::string path_of_host_driver() {
    Dl_info here{};
    if (dladdr(reinterpret_cast<const void*>(&path_of_host_driver), &here) == 0 || here.dli_fname == nullptr)
        return "libcuda_graphs_hostdriver.so";
    const std::string path = here.dli_fname;
    const std::size_t slash = path.rfind('/');
    return (slash == std::string::npos ? "." : path.substr(0, slash)) + kHostLibrary;
}

// Returns "" if the driver was loaded, else the reason why not.
std::string load(cg_driver kind, const std::string& path) {
    const std::string problem = cg::load_driver(path.c_str());
    if (!problem.empty()) return path + ": " + problem;
    loaded = kind;
    return {};
}

void choose(cg_driver kind, const char* host_library) {
    std::string problem;
    if (kind != CG_DRIVER_HOST) problem = load(CG_DRIVER_CUDA, "libcuda.so.1");
    if (loaded == CG_DRIVER_AUTO && kind != CG_DRIVER_CUDA) {
        const std::string host = load(CG_DRIVER_HOST, host_library != nullptr ? host_library : path_of_host_driver());
        problem += (problem.empty() || host.empty() ? "" : "; ") + host;
    }
    if (loaded == CG_DRIVER_AUTO)
        throw Failure(CG_ERROR_NO_DRIVER, std::string("no driver can be loaded (") + kNames[kind] + "): " + problem);
}

}  // namespace

void open_driver(cg_driver kind, const char* host_library) {
    if (kind < CG_DRIVER_AUTO || kind > CG_DRIVER_HOST)
        throw Failure(CG_ERROR_INVALID_VALUE, "kind must be one of CG_DRIVER_AUTO, CG_DRIVER_CUDA and CG_DRIVER_HOST");
    const std::lock_guard lock(mutex);
    if (loaded == CG_DRIVER_AUTO) return choose(kind == CG_DRIVER_AUTO ? kind_of_environment() : kind, host_library);
    if (kind != CG_DRIVER_AUTO && kind != loaded)
        throw Failure(CG_ERROR_INVALID_VALUE, std::string("this process runs the ") + kNames[loaded] +
                                                  " driver, and a process has only one: call cg_open_driver before "
                                                  "all other functions");
}

cg_driver driver_kind() {
    open_driver(CG_DRIVER_AUTO, nullptr);
    const std::lock_guard lock(mutex);
    return loaded;
}

cg::ContextHandle context_of_thread() {
    driver_kind();
    if (cg::ContextHandle current = cg::current_context()) return current;
    const CUresult why = cg::why_no_context();
    if (why != CUDA_ERROR_INVALID_CONTEXT) check(why, "find the context of the thread");
    cg::ContextHandle primary = cg::primary_context(0);
    if (!primary) fail_noted("use device 0");
    return primary;
}

}  // namespace cgr
