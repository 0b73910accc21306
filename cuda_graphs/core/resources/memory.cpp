// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include <cstdint>

#include "core/driver/table.hpp"
#include "core/handles/deferred.hpp"
#include "core/handles/error.hpp"
#include "core/handles/gil.hpp"
#include "core/handles/leak_report.hpp"

namespace cg {

namespace {

void* host_address(CUdeviceptr raw) {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(raw));
}

// Frees memory that is not freed in stream order. cuMemFree and cuMemFreeHost wait for the device. At interpreter exit
// that wait could be for work that only Python can finish. The process then returns all its memory anyway, so nothing
// is freed with a wait.
CUresult free_now(const PointerBox& box) {
    if (!python_is_open()) return CUDA_SUCCESS;
    if (box.how == Free::kOpened) return driver().cuIpcCloseMemHandle(box.raw);
    return box.how == Free::kDevice ? driver().cuMemFree(box.raw) : driver().cuMemFreeHost(host_address(box.raw));
}

CUresult free_memory(const PointerBox& box) {
    if (box.how == Free::kAsync || box.how == Free::kGraph) return driver().cuMemFreeAsync(box.raw, raw_of(box.stream));
    return free_now(box);
}

const char* name_of_free(Free how) noexcept {
    if (how == Free::kAsync) return "cuMemFreeAsync";
    if (how == Free::kOpened) return "cuIpcCloseMemHandle";
    return how == Free::kDevice ? "cuMemFree" : "cuMemFreeHost";
}

// Returns true when the free would become a node of an unrelated graph, or when that cannot be determined.
bool would_be_captured(const PointerBox& box) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    cuuint64_t id = 0;
    CUresult asked =
        driver().cuStreamGetCaptureInfo(raw_of(box.stream), &status, &id, nullptr, nullptr, nullptr, nullptr);
    if (asked == CUDA_ERROR_NOT_SUPPORTED)  // before CUDA 12.3, where no graph of this library is captured
        asked = driver().cuStreamIsCapturing(raw_of(box.stream), &status);
    // CUDA_ERROR_STREAM_CAPTURE_IMPLICIT: the legacy stream while an ordinary stream captures. Using it would spoil the
    // capture.
    if (asked != CUDA_SUCCESS) return !is_shut_down(asked);
    if (status == CU_STREAM_CAPTURE_STATUS_NONE) return false;
    return box.how == Free::kAsync || status != CU_STREAM_CAPTURE_STATUS_ACTIVE || id != box.capture;
}

}  // namespace

bool PoolBox::finish() noexcept {
    if (raw == nullptr || !owned) return true;
    const GilRelease no_gil;
    const RelaxedCapture relaxed;
    return !must_retry(relaxed.status()) && has_ended(driver().cuMemPoolDestroy(raw), "cuMemPoolDestroy");
}

PoolHandle create_device_pool(CUdevice device, std::size_t max_size, cuuint64_t release_threshold) {
    drain_deferred();
    auto box = make_box<PoolBox>();
    CUmemPoolProps props{};
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    props.location.id = device;
    props.maxSize = max_size;
    const RelaxedCapture relaxed;
    CU_TRY(relaxed.status());
    CU_TRY(driver().cuMemPoolCreate(&box->raw, &props));
    box->owned = true;
    box->device = device;
    CU_TRY(driver().cuMemPoolSetAttribute(box->raw, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &release_threshold));
    return handle_of(std::move(box));
}

PoolHandle current_device_pool(CUdevice device) {
    auto box = make_box<PoolBox>();
    const RelaxedCapture relaxed;
    CU_TRY(relaxed.status());
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

bool PointerBox::finish() noexcept {
    if (how == Free::kNever) return true;
    const GilRelease no_gil;
    const ContextScope scope(context);
    if (must_retry(scope.status())) return false;
    if (how == Free::kCallback) return callback(resource, raw, size, stream), true;
    if ((how == Free::kAsync || how == Free::kGraph) && would_be_captured(*this)) return false;
    const RelaxedCapture relaxed;
    if (must_retry(relaxed.status())) return false;
    const CUresult status = free_memory(*this);
    // Memory of a graph exists only between a launch and a free of it, so a failed free is no leak.
    return how == Free::kGraph ? !is_refused_here(status) : has_ended(status, name_of_free(how));
}

PointerHandle allocate_from_pool(const PoolHandle& pool, std::size_t size, const StreamHandle& stream) {
    drain_deferred();
    auto box = make_box<PointerBox>();
    box->context = box_of<StreamBox>(stream)->context;
    if (!box->context) box->context = current_context();
    if (!box->context) CU_TRY(why_no_context());
    const RelaxedCapture relaxed;
    CU_TRY(relaxed.status());
    CU_TRY(driver().cuMemAllocFromPoolAsync(&box->raw, size, raw_of(pool), raw_of(stream)));
    box->size = size;
    box->how = Free::kAsync;
    box->stream = stream;
    box->owner = pool;
    return handle_of(std::move(box));
}

CUresult allocate_in_graph(std::size_t size, const StreamHandle& stream, PointerHandle* memory) {
    drain_deferred();
    auto box = make_box<PointerBox>();
    CUstreamCaptureStatus now = CU_STREAM_CAPTURE_STATUS_NONE;
    box->context = box_of<StreamBox>(stream)->context;
    if (!box->context) box->context = current_context();
    if (!box->context) return why_no_context();
    CUresult status =
        driver().cuStreamGetCaptureInfo(raw_of(stream), &now, &box->capture, nullptr, nullptr, nullptr, nullptr);
    if (status == CUDA_SUCCESS) status = driver().cuMemAllocAsync(&box->raw, size, raw_of(stream));
    if (status != CUDA_SUCCESS) return status;
    box->size = size;
    box->how = Free::kGraph;
    box->stream = stream;
    *memory = handle_of(std::move(box));
    return CUDA_SUCCESS;
}

CUresult find_running_capture(const PointerHandle& memory, bool* runs) noexcept {
    const PointerBox& box = *box_of<PointerBox>(memory);
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    cuuint64_t id = 0;
    const CUresult asked =
        driver().cuStreamGetCaptureInfo(raw_of(box.stream), &status, &id, nullptr, nullptr, nullptr, nullptr);
    *runs = asked == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_ACTIVE && id == box.capture;
    return asked;
}

namespace {

// Allocates memory that is usable at once, without stream order. `call` is the driver call that allocates it.
template <class Call>
PointerHandle allocate_now(const ContextHandle& context, std::size_t size, Free how, const char* function, Call call) {
    drain_deferred();
    auto box = make_box<PointerBox>();
    const RelaxedCapture relaxed;
    CU_TRY(relaxed.status());
    const ContextScope scope(context);
    CU_TRY(scope.status());
    const CUresult status = call(&box->raw);
    if (status != CUDA_SUCCESS) return note_error(status, function), PointerHandle();
    box->size = size;
    box->how = how;
    box->context = context;
    return handle_of(std::move(box));
}

}  // namespace

PointerHandle allocate_device(const ContextHandle& context, std::size_t size) {
    return allocate_now(context, size, Free::kDevice, "cuMemAlloc",
                        [&](CUdeviceptr* address) { return driver().cuMemAlloc(address, size); });
}

PointerHandle allocate_pinned(const ContextHandle& context, std::size_t size) {
    return allocate_now(context, size, Free::kHost, "cuMemHostAlloc", [&](CUdeviceptr* address) {
        void* memory = nullptr;
        const CUresult status = driver().cuMemHostAlloc(&memory, size, CU_MEMHOSTALLOC_PORTABLE);
        *address = static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(memory));
        return status;
    });
}

PointerHandle allocate_managed(const ContextHandle& context, std::size_t size) {
    return allocate_now(context, size, Free::kDevice, "cuMemAllocManaged", [&](CUdeviceptr* address) {
        return driver().cuMemAllocManaged(address, size, CU_MEM_ATTACH_GLOBAL);
    });
}

CUresult share_device(const PointerHandle& memory, CUipcMemHandle* out) {
    const RelaxedCapture relaxed;
    if (relaxed.status() != CUDA_SUCCESS) return relaxed.status();
    const ContextScope scope(box_of<PointerBox>(memory)->context);
    if (scope.status() != CUDA_SUCCESS) return scope.status();
    return driver().cuIpcGetMemHandle(out, raw_of(memory));
}

PointerHandle open_shared(const ContextHandle& context, const CUipcMemHandle& shared, std::size_t size) {
    return allocate_now(context, size, Free::kOpened, "cuIpcOpenMemHandle", [&](CUdeviceptr* address) {
        return driver().cuIpcOpenMemHandle(address, shared, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    });
}

PointerHandle create_pointer_ref(CUdeviceptr raw, std::size_t size, Opaque owner) {
    auto box = make_box<PointerBox>();
    box->raw = raw;
    box->size = size;
    box->owner = std::move(owner);
    return handle_of(std::move(box));
}

PointerHandle create_pointer_with_resource(CUdeviceptr raw, std::size_t size, Opaque owner, void* resource,
                                           FreeCallback callback) {
    auto box = make_box<PointerBox>();
    box->raw = raw;
    box->size = size;
    box->how = Free::kCallback;
    box->owner = std::move(owner);
    box->resource = resource;
    box->callback = callback;
    return handle_of(std::move(box));
}

}  // namespace cg
