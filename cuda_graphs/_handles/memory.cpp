// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include <cstdint>

#include "_driver/table.hpp"
#include "deferred.hpp"
#include "error.hpp"
#include "gil.hpp"

namespace cg {

namespace {

void* host_address(CUdeviceptr raw) {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(raw));
}

// cuMemFree and cuMemFreeHost wait for the device. At the interpreter's end that could wait for work that only Python
// could finish, and the process gives all its memory back anyway: so from then on nothing is freed with a wait.
void free_now(const PointerBox& box) {
    if (!python_is_open()) return;
    const RelaxedCapture relaxed;
    if (box.how == Free::kDevice)
        driver().cuMemFree(box.raw);
    else
        driver().cuMemFreeHost(host_address(box.raw));
}

}  // namespace

PoolBox::~PoolBox() {
    if (raw == nullptr || !owned) return;
    const GilRelease no_gil;
    driver().cuMemPoolDestroy(raw);
}

PoolHandle create_device_pool(CUdevice device, std::size_t max_size, cuuint64_t release_threshold) {
    drain_deferred();
    auto box = std::make_shared<PoolBox>();
    CUmemPoolProps props{};
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    props.location.id = device;
    props.maxSize = max_size;
    CU_TRY(driver().cuMemPoolCreate(&box->raw, &props));
    box->owned = true;
    box->device = device;
    CU_TRY(driver().cuMemPoolSetAttribute(box->raw, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &release_threshold));
    return handle_of(std::move(box));
}

PoolHandle current_device_pool(CUdevice device) {
    auto box = std::make_shared<PoolBox>();
    const RelaxedCapture relaxed;
    CU_TRY(driver().cuDeviceGetMemPool(&box->raw, device));
    box->device = device;
    cuuint64_t threshold = 0;
    CU_TRY(driver().cuMemPoolGetAttribute(box->raw, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    if (threshold == 0) {
        threshold = UINT64_MAX;
        CU_TRY(driver().cuMemPoolSetAttribute(box->raw, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    }
    return handle_of(std::move(box));
}

PointerBox::~PointerBox() {
    if (how == Free::kNever) return;
    const GilRelease no_gil;
    const ContextScope scope(context);
    if (how == Free::kCallback)
        callback(resource, raw, size, stream);
    else if (how == Free::kAsync)
        driver().cuMemFreeAsync(raw, raw_of(stream));
    else
        free_now(*this);
}

PointerHandle allocate_from_pool(const PoolHandle& pool, std::size_t size, const StreamHandle& stream) {
    drain_deferred();
    auto box = std::make_shared<PointerBox>();
    box->context = box_of<StreamBox>(stream)->context;
    if (!box->context) box->context = current_context();
    CU_TRY(driver().cuMemAllocFromPoolAsync(&box->raw, size, raw_of(pool), raw_of(stream)));
    box->size = size;
    box->how = Free::kAsync;
    box->stream = stream;
    box->owner = pool;
    return handle_of(std::move(box));
}

PointerHandle allocate_device(const ContextHandle& context, std::size_t size) {
    drain_deferred();
    auto box = std::make_shared<PointerBox>();
    const RelaxedCapture relaxed;
    const ContextScope scope(context);
    CU_TRY(scope.status());
    CU_TRY(driver().cuMemAlloc(&box->raw, size));
    box->size = size;
    box->how = Free::kDevice;
    box->context = context;
    return handle_of(std::move(box));
}

PointerHandle allocate_pinned(const ContextHandle& context, std::size_t size) {
    drain_deferred();
    auto box = std::make_shared<PointerBox>();
    const RelaxedCapture relaxed;
    const ContextScope scope(context);
    CU_TRY(scope.status());
    void* address = nullptr;
    CU_TRY(driver().cuMemHostAlloc(&address, size, CU_MEMHOSTALLOC_PORTABLE));
    box->raw = static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(address));
    box->size = size;
    box->how = Free::kHost;
    box->context = context;
    return handle_of(std::move(box));
}

PointerHandle create_pointer_ref(CUdeviceptr raw, std::size_t size, Opaque owner) {
    auto box = std::make_shared<PointerBox>();
    box->raw = raw;
    box->size = size;
    box->owner = std::move(owner);
    return handle_of(std::move(box));
}

PointerHandle create_pointer_with_resource(CUdeviceptr raw, std::size_t size, Opaque owner, void* resource,
                                           FreeCallback callback) {
    auto box = std::make_shared<PointerBox>();
    box->raw = raw;
    box->size = size;
    box->how = Free::kCallback;
    box->owner = std::move(owner);
    box->resource = resource;
    box->callback = callback;
    return handle_of(std::move(box));
}

}  // namespace cg
