// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "fake_driver.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>

#include "core/driver/table.hpp"

namespace {

std::mutex mutex;
std::map<std::string, CUresult> failures;  // guarded by mutex
std::map<std::string, int> counts;         // guarded by mutex
std::set<std::uintptr_t> living;           // guarded by mutex
std::vector<std::string> ends;             // guarded by mutex
std::vector<std::uintptr_t> free_numbers;  // guarded by mutex; raw values are reused, as by a real driver
std::uintptr_t next_number = 16;           // guarded by mutex
thread_local CUcontext current = nullptr;
std::atomic<unsigned> load_options = 0;

// Counts a call. Returns the failure that was requested for this function, once.
CUresult note(const char* function) {
    const std::lock_guard lock(mutex);
    ++counts[function];
    const auto failure = failures.find(function);
    if (failure == failures.end()) return CUDA_SUCCESS;
    const CUresult status = failure->second;
    failures.erase(failure);
    return status;
}

std::uintptr_t make_number() {
    const std::lock_guard lock(mutex);
    std::uintptr_t number = next_number;
    if (free_numbers.empty()) {
        next_number += 16;
    } else {
        number = free_numbers.back();
        free_numbers.pop_back();
    }
    living.insert(number);
    return number;
}

template <class Handle>
CUresult make(const char* function, Handle* made) {
    const CUresult status = note(function);
    if (status == CUDA_SUCCESS) *made = (Handle)make_number();
    return status;
}

template <class Handle>
CUresult end(const char* function, const char* what, Handle handle) {
    const CUresult refusal = note(function);
    if (refusal != CUDA_SUCCESS) return refusal;
    const std::lock_guard lock(mutex);
    const auto number = (std::uintptr_t)handle;
    if (living.erase(number) == 0) return CUDA_ERROR_INVALID_HANDLE;
    free_numbers.push_back(number);
    ends.push_back(what);
    return CUDA_SUCCESS;
}

}  // namespace

namespace fake {

void fail_next(const std::string& function, CUresult status) {
    const std::lock_guard lock(mutex);
    failures[function] = status;
}

int alive() {
    const std::lock_guard lock(mutex);
    return static_cast<int>(living.size());
}

void forget_alive() {
    const std::lock_guard lock(mutex);
    living.clear();
}

int calls(const std::string& function) {
    const std::lock_guard lock(mutex);
    return counts[function];
}

unsigned options_of_last_load() {
    return load_options;
}

std::vector<std::string> destroyed() {
    const std::lock_guard lock(mutex);
    return ends;
}

void reset() {
    {
        const std::lock_guard lock(mutex);
        failures.clear();
        counts.clear();
        ends.clear();
    }
    open_python();
    set_queue_space(32);
    cg::DriverTable& table = cg::detail::table;
    table.cuCtxGetCurrent = [](CUcontext* context) {
        *context = current;
        return CUDA_SUCCESS;
    };
    table.cuCtxPushCurrent = [](CUcontext context) {
        const CUresult status = note("cuCtxPushCurrent");
        if (status == CUDA_SUCCESS) current = context;
        return status;
    };
    table.cuCtxPopCurrent = [](CUcontext* context) {
        note("cuCtxPopCurrent");
        *context = current;
        current = nullptr;
        return CUDA_SUCCESS;
    };
    table.cuCtxGetDevice = [](CUdevice* device) {
        *device = 0;
        return CUDA_SUCCESS;
    };
    table.cuDevicePrimaryCtxRetain = [](CUcontext* context, CUdevice device) {
        *context = (CUcontext)(std::uintptr_t)(4096 + device);
        return note("cuDevicePrimaryCtxRetain");
    };
    table.cuDevicePrimaryCtxRelease = [](CUdevice) { return note("cuDevicePrimaryCtxRelease"); };
    table.cuThreadExchangeStreamCaptureMode = [](CUstreamCaptureMode*) { return CUDA_SUCCESS; };
    // As in drivers before CUDA 12.3.
    table.cuStreamGetCaptureInfo = cg::refusal<CUDA_ERROR_NOT_SUPPORTED>(table.cuStreamGetCaptureInfo);
    table.cuStreamIsCapturing = [](CUstream, CUstreamCaptureStatus* status) {
        *status = CU_STREAM_CAPTURE_STATUS_NONE;
        return CUDA_SUCCESS;
    };
    table.cuStreamCreateWithPriority = [](CUstream* s, unsigned, int) { return make("cuStreamCreateWithPriority", s); };
    table.cuStreamDestroy = [](CUstream s) { return end("cuStreamDestroy", "stream", s); };
    table.cuEventCreate = [](CUevent* e, unsigned) { return make("cuEventCreate", e); };
    table.cuEventDestroy = [](CUevent e) { return end("cuEventDestroy", "event", e); };
    table.cuMemPoolCreate = [](CUmemoryPool* p, const CUmemPoolProps*) { return make("cuMemPoolCreate", p); };
    table.cuMemPoolSetAttribute = [](CUmemoryPool, CUmemPool_attribute, void*) {
        return note("cuMemPoolSetAttribute");
    };
    table.cuMemPoolDestroy = [](CUmemoryPool p) { return end("cuMemPoolDestroy", "pool", p); };
    table.cuMemAllocFromPoolAsync = [](CUdeviceptr* p, std::size_t, CUmemoryPool, CUstream) {
        return make("cuMemAllocFromPoolAsync", p);
    };
    table.cuMemFreeAsync = [](CUdeviceptr p, CUstream) { return end("cuMemFreeAsync", "memory", p); };
    table.cuMemAlloc = [](CUdeviceptr* p, std::size_t) { return make("cuMemAlloc", p); };
    table.cuMemFree = [](CUdeviceptr p) { return end("cuMemFree", "memory", p); };
    table.cuMemHostAlloc = [](void** p, std::size_t, unsigned) { return make("cuMemHostAlloc", p); };
    table.cuMemFreeHost = [](void* p) { return end("cuMemFreeHost", "memory", p); };
    table.cuLibraryLoadData = [](CUlibrary* l, const void*, CUjit_option*, void**, unsigned options, CUlibraryOption*,
                                 void**, unsigned) {
        load_options = options;
        return make("cuLibraryLoadData", l);
    };
    table.cuLibraryUnload = [](CUlibrary l) { return end("cuLibraryUnload", "library", l); };
    table.cuGraphCreate = [](CUgraph* g, unsigned) { return make("cuGraphCreate", g); };
    table.cuGraphGetNodes = [](CUgraph, CUgraphNode*, size_t* count) {
        *count = 0;
        return CUDA_SUCCESS;
    };
    table.cuGraphDestroy = [](CUgraph g) { return end("cuGraphDestroy", "graph", g); };
    table.cuGraphInstantiateWithParams = [](CUgraphExec* e, CUgraph, CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
        params->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
        return make("cuGraphInstantiateWithParams", e);
    };
    table.cuGraphExecNodeSetParams = [](CUgraphExec, CUgraphNode, CUgraphNodeParams*) {
        return note("cuGraphExecNodeSetParams");
    };
    table.cuGraphLaunch = [](CUgraphExec, CUstream) { return note("cuGraphLaunch"); };
    table.cuGraphUpload = [](CUgraphExec, CUstream) { return note("cuGraphUpload"); };
    table.cuGraphExecDestroy = [](CUgraphExec e) { return end("cuGraphExecDestroy", "executable", e); };
    table.cuLibraryGetKernel = [](CUkernel* k, CUlibrary l, const char* name) {
        *k = (CUkernel)((std::uintptr_t)l + 1 + (std::uintptr_t)(name[0] - 'a'));
        return note("cuLibraryGetKernel");
    };
    table.cuKernelGetParamInfo = [](CUkernel, std::size_t index, std::size_t* offset, std::size_t* size) {
        *offset = 8 * index;
        *size = 8;
        const CUresult status = note("cuKernelGetParamInfo");
        return status != CUDA_SUCCESS ? status : index < 3 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    };
}

}  // namespace fake
