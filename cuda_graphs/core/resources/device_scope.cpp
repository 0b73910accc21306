// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "device_scope.hpp"

#include "core/driver/device_count.hpp"
#include "core/driver/table.hpp"
#include "core/handles/error.hpp"

namespace cg {

CUresult DeviceScope::enter(CUdevice device) {
    if (device == kNoDevice || !has_several_devices() || current_device() == device) return CUDA_SUCCESS;
    const ContextHandle wanted = primary_context(device);
    if (!wanted) return take_noted_error().status;
    const CUresult status = driver().cuCtxPushCurrent(raw_of(wanted));
    pushed_ = status == CUDA_SUCCESS;
    return status;
}

// Tries twice: a failure cannot be reported, and would leave the next call on the wrong device.
DeviceScope::~DeviceScope() {
    CUcontext popped = nullptr;
    if (pushed_ && driver().cuCtxPopCurrent(&popped) != CUDA_SUCCESS) driver().cuCtxPopCurrent(&popped);
}

CUdevice current_device() {
    const ContextHandle current = current_context();
    if (current) return box_of<ContextBox>(current)->device;
    take_noted_error();
    return kNoDevice;
}

CUdevice device_of(const StreamHandle& stream) noexcept {
    const ContextHandle& context = box_of<StreamBox>(stream)->context;
    return context ? box_of<ContextBox>(context)->device : kNoDevice;
}

}  // namespace cg
