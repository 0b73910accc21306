// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "peer_access.hpp"

#include <mutex>
#include <set>
#include <utility>

#include "core/driver/table.hpp"
#include "core/handles/error.hpp"
#include "core/handles/lock.hpp"

namespace cg {

namespace {

struct Pairs {
    std::mutex mutex;
    std::set<std::pair<CUdevice, CUdevice>> enabled;  // (device, owner of the memory); guarded by mutex
};

Pairs& pairs() {
    static auto& all = *new Pairs;
    return all;
}

bool is_enabled(CUdevice device, CUdevice owner) {
    const Lock lock(pairs().mutex);
    return lock && pairs().enabled.count({device, owner}) != 0;
}

CUresult enable_contexts(CUdevice device, CUdevice owner) {
    int offered = 0;
    CUresult status = driver().cuDeviceCanAccessPeer(&offered, device, owner);
    if (status != CUDA_SUCCESS) return status;
    if (offered == 0) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    const ContextHandle mine = primary_context(device), theirs = primary_context(owner);
    if (!mine || !theirs) return take_noted_error().status;
    const ContextScope scope(mine);
    status = scope.status();
    if (status == CUDA_SUCCESS) status = driver().cuCtxEnablePeerAccess(raw_of(theirs), 0);
    return status == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED ? CUDA_SUCCESS : status;  // by other code
}

// Gives the device access to the pool of the memory, if it is of a pool.
CUresult enable_pool(CUdevice device, CUdeviceptr address) {
    CUmemoryPool pool = nullptr;
    CUresult status = driver().cuPointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address);
    if (status != CUDA_SUCCESS || pool == nullptr) return status;
    CUmemAccessDesc access{};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.location.id = device;
    status = driver().cuMemPoolGetAccess(&access.flags, pool, &access.location);
    if (status != CUDA_SUCCESS || access.flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE) return status;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return driver().cuMemPoolSetAccess(pool, &access, 1);
}

}  // namespace

CUresult enable_peer_access(CUdevice device, CUdevice owner, CUdeviceptr address) {
    const RelaxedCapture relaxed;
    CUresult status = relaxed.status();
    if (status == CUDA_SUCCESS && !is_enabled(device, owner)) {
        status = enable_contexts(device, owner);
        const Lock lock(pairs().mutex);
        if (status == CUDA_SUCCESS && lock) pairs().enabled.emplace(device, owner);
    }
    return status == CUDA_SUCCESS ? enable_pool(device, address) : status;
}

CUresult copy_between_devices(CUdeviceptr to, CUdevice to_device, CUdeviceptr from, CUdevice from_device,
                              std::size_t size, CUstream stream) {
    const ContextHandle target = primary_context(to_device), source = primary_context(from_device);
    if (!target || !source) return take_noted_error().status;
    return driver().cuMemcpyPeerAsync(to, raw_of(target), from, raw_of(source), size, stream);
}

}  // namespace cg
