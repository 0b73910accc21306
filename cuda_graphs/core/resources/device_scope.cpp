// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "device_scope.hpp"

#include "core/driver/driver_facts.hpp"
#include "core/driver/table.hpp"
#include "core/handles/error.hpp"

namespace cg {

CUresult DeviceScope::enter(CUdevice device) {
    leave();
    if (device == kNoDevice || !has_several_devices() || current_device() == device) return CUDA_SUCCESS;
    const ContextHandle wanted = primary_context(device);
    if (!wanted) return take_noted_error().status;
    const CUresult status = driver().cuCtxPushCurrent(raw_of(wanted));
    pushed_ = status == CUDA_SUCCESS;
    return status;
}

// Tries twice: a failure cannot be reported, and would leave the next call on the wrong device.
void DeviceScope::leave() noexcept {
    CUcontext popped = nullptr;
    if (pushed_ && driver().cuCtxPopCurrent(&popped) != CUDA_SUCCESS) driver().cuCtxPopCurrent(&popped);
    pushed_ = false;
}

CUdevice current_device() {
    const ContextHandle current = current_context();
    if (current) return box_of<ContextBox>(current)->device;
    take_noted_error();
    return kNoDevice;
}

bool has_current_context() noexcept {
    CUcontext raw = nullptr;
    return driver().cuCtxGetCurrent(&raw) != CUDA_SUCCESS || raw != nullptr;
}

CUcontext context_on(CUdevice device) {
    const ContextHandle current = current_context();
    if (current && box_of<ContextBox>(current)->device == device) return raw_of(current);
    const ContextHandle primary = primary_context(device);
    return primary ? raw_of(primary) : nullptr;
}

CUdevice device_of(CUcontext context) {
    const ContextHandle found = context == nullptr ? ContextHandle() : create_context_ref(context);
    if (found) return box_of<ContextBox>(found)->device;
    take_noted_error();
    return kNoDevice;
}

CUdevice device_of(const StreamHandle& stream) noexcept {
    const ContextHandle& context = box_of<StreamBox>(stream)->context;
    return context ? box_of<ContextBox>(context)->device : kNoDevice;
}

CUresult find_device(CUdeviceptr address, CUdevice* device) {
    *device = kNoDevice;
    CUmemorytype type{};
    CUresult status = driver().cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
    if (status == CUDA_ERROR_INVALID_VALUE) return CUDA_SUCCESS;  // memory that the driver does not know
    if (status != CUDA_SUCCESS || type != CU_MEMORYTYPE_DEVICE) return status;
    return driver().cuPointerGetAttribute(device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address);
}

}  // namespace cg
