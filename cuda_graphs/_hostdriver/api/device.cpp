// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Device queries and primary contexts.
#include "../objects/device.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "../objects/memory.hpp"
#include "entry.hpp"

using namespace cgh;

namespace {

CUresult copy_text(const std::string& text, char* out, int length) {
    REQUIRE(out != nullptr && length > 0, CUDA_ERROR_INVALID_VALUE);
    const std::size_t size = std::min(text.size(), static_cast<std::size_t>(length) - 1);
    std::memcpy(out, text.data(), size);
    out[size] = '\0';
    return CUDA_SUCCESS;
}

}  // namespace

CGH_API CUresult cuDeviceGet(CUdevice* device, int ordinal) {
    return entry("cuDeviceGet", [&]() -> CUresult {
        REQUIRE(device != nullptr, CUDA_ERROR_INVALID_VALUE);
        Device* found = nullptr;
        TRY(find_device(ordinal, &found));
        *device = found->ordinal();
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuDeviceGetCount(int* count) {
    return entry("cuDeviceGetCount", [&]() -> CUresult {
        REQUIRE(count != nullptr, CUDA_ERROR_INVALID_VALUE);
        *count = device_count();
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuDeviceGetName(char* name, int len, CUdevice dev) {
    return entry("cuDeviceGetName", [&]() -> CUresult {
        Device* device = nullptr;
        TRY(find_device(dev, &device));
        return copy_text(device->name(), name, len);
    });
}

CGH_API CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice dev) {
    return entry("cuDeviceGetUuid", [&]() -> CUresult {
        REQUIRE(uuid != nullptr, CUDA_ERROR_INVALID_VALUE);
        Device* device = nullptr;
        TRY(find_device(dev, &device));
        *uuid = device->uuid();
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuDeviceGetAttribute(int* pi, CUdevice_attribute attrib, CUdevice dev) {
    return entry("cuDeviceGetAttribute", [&]() -> CUresult {
        REQUIRE(pi != nullptr, CUDA_ERROR_INVALID_VALUE);
        Device* device = nullptr;
        TRY(find_device(dev, &device));
        return device->attribute(attrib, pi);
    });
}

CGH_API CUresult cuDeviceGetPCIBusId(char* pciBusId, int len, CUdevice dev) {
    return entry("cuDeviceGetPCIBusId", [&]() -> CUresult {
        Device* device = nullptr;
        TRY(find_device(dev, &device));
        // A name may be cut, an address may not.
        REQUIRE(len > static_cast<int>(device->pci_bus_id().size()), CUDA_ERROR_INVALID_VALUE);
        return copy_text(device->pci_bus_id(), pciBusId, len);
    });
}

CGH_API CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice dev) {
    return entry("cuDeviceTotalMem", [&]() -> CUresult {
        REQUIRE(bytes != nullptr, CUDA_ERROR_INVALID_VALUE);
        Device* device = nullptr;
        TRY(find_device(dev, &device));
        *bytes = machine_memory();
        return CUDA_SUCCESS;
    });
}

// The virtual devices share one memory.
CGH_API CUresult cuDeviceCanAccessPeer(int* canAccessPeer, CUdevice dev, CUdevice peerDev) {
    return entry("cuDeviceCanAccessPeer", [&]() -> CUresult {
        REQUIRE(canAccessPeer != nullptr, CUDA_ERROR_INVALID_VALUE);
        Device* device = nullptr;
        TRY(find_device(dev, &device));
        TRY(find_device(peerDev, &device));
        *canAccessPeer = dev != peerDev;
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuDevicePrimaryCtxRetain(CUcontext* pctx, CUdevice dev) {
    return entry("cuDevicePrimaryCtxRetain", [&]() -> CUresult {
        REQUIRE(pctx != nullptr, CUDA_ERROR_INVALID_VALUE);
        Device* device = nullptr;
        TRY(find_device(dev, &device));
        return device->retain_primary(pctx);
    });
}

CGH_API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev) {
    return entry("cuDevicePrimaryCtxRelease", [&]() -> CUresult {
        Device* device = nullptr;
        TRY(find_device(dev, &device));
        return device->release_primary();
    });
}

CGH_API CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags) {
    return entry("cuDevicePrimaryCtxSetFlags", [&]() -> CUresult {
        Device* device = nullptr;
        TRY(find_device(dev, &device));
        return device->set_primary_flags(flags);
    });
}

CGH_API CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int* flags, int* active) {
    return entry("cuDevicePrimaryCtxGetState", [&]() -> CUresult {
        REQUIRE(flags != nullptr && active != nullptr, CUDA_ERROR_INVALID_VALUE);
        Device* device = nullptr;
        TRY(find_device(dev, &device));
        device->primary_state(flags, active);
        return CUDA_SUCCESS;
    });
}

// Ends the work of the context. Streams, memory and modules stay, unlike with libcuda: their handles keep working,
// which no correct program can tell apart.
CGH_API CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev) {
    return entry("cuDevicePrimaryCtxReset", [&]() -> CUresult {
        Device* device = nullptr;
        TRY(find_device(dev, &device));
        return device->reset_primary();
    });
}
