// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "context.hpp"

#include <memory>
#include <mutex>
#include <unordered_map>

#include "core/driver/table.hpp"
#include "core/handles/error.hpp"
#include "core/handles/lock.hpp"
#include "core/handles/registry.hpp"

namespace cg {

namespace {

Registry<CUcontext>& contexts() {
    return registry_of_process<CUcontext>();
}

struct PrimaryContexts {
    std::mutex mutex;
    std::unordered_map<CUdevice, ContextHandle> of_device;  // guarded by mutex; strong: kept until the process ends
};

PrimaryContexts& primary_contexts() {
    static auto& primaries = *new PrimaryContexts;
    return primaries;
}

ContextHandle make_context(CUcontext raw, CUdevice device) {
    return contexts().get_or_create(raw, [&] {
        auto box = std::make_shared<ContextBox>();
        box->raw = raw;
        box->device = device;
        return handle_of(std::move(box));
    });
}

// Tries twice, since a failure cannot be reported and would leave the next call in the wrong context.
void pop_context() noexcept {
    CUcontext popped = nullptr;
    if (driver().cuCtxPopCurrent(&popped) != CUDA_SUCCESS) driver().cuCtxPopCurrent(&popped);
}

// Finds the device of a context that need not be current.
CUresult ask_device(CUcontext raw, CUdevice* device) {
    CUresult status = driver().cuCtxPushCurrent(raw);
    if (status != CUDA_SUCCESS) return status;
    status = driver().cuCtxGetDevice(device);
    pop_context();
    return status;
}

}  // namespace

ContextBox::~ContextBox() {
    if (raw != nullptr) contexts().remove(raw);
}

ContextHandle primary_context(CUdevice device) {
    PrimaryContexts& primaries = primary_contexts();
    {
        const Lock lock(primaries.mutex);
        if (!lock) return note_error(CUDA_ERROR_NOT_INITIALIZED, "primary_context"), ContextHandle{};
        if (const auto known = primaries.of_device.find(device); known != primaries.of_device.end())
            return known->second;
    }
    // Outside the lock, since creating a context is slow. A thread that loses the race releases its reference.
    CUcontext raw = nullptr;
    CU_TRY(driver().cuDevicePrimaryCtxRetain(&raw, device));
    ContextHandle made = make_context(raw, device);
    const Lock lock(primaries.mutex);
    const auto [entry, first] = primaries.of_device.emplace(device, std::move(made));
    if (!first) driver().cuDevicePrimaryCtxRelease(device);
    return entry->second;
}

ContextHandle create_context_ref(CUcontext raw) {
    if (ContextHandle known = contexts().find(raw)) return known;
    CUdevice device = -1;
    CU_TRY(ask_device(raw, &device));
    return make_context(raw, device);
}

ContextHandle current_context() {
    CUcontext raw = nullptr;
    CU_TRY(driver().cuCtxGetCurrent(&raw));
    return raw == nullptr ? (note_error(CUDA_SUCCESS, ""), ContextHandle{}) : create_context_ref(raw);
}

CUresult why_no_context() noexcept {
    const CUresult status = take_noted_error().status;
    return status == CUDA_SUCCESS ? CUDA_ERROR_INVALID_CONTEXT : status;
}

ContextScope::ContextScope(const ContextHandle& context) noexcept {
    if (!context) return;
    CUcontext current = nullptr;
    status_ = driver().cuCtxGetCurrent(&current);
    if (status_ != CUDA_SUCCESS || current == raw_of(context)) return;
    status_ = driver().cuCtxPushCurrent(raw_of(context));
    pushed_ = status_ == CUDA_SUCCESS;
}

ContextScope::~ContextScope() {
    if (pushed_) pop_context();
}

RelaxedCapture::RelaxedCapture() noexcept : status_(driver().cuThreadExchangeStreamCaptureMode(&mode_)) {}

// Tries twice, like pop_context: after a failure the thread's captures would lack the protection that they requested.
RelaxedCapture::~RelaxedCapture() {
    if (status_ == CUDA_SUCCESS && driver().cuThreadExchangeStreamCaptureMode(&mode_) != CUDA_SUCCESS)
        driver().cuThreadExchangeStreamCaptureMode(&mode_);
}

}  // namespace cg
