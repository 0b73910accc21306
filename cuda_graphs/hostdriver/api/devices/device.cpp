// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Device queries and primary contexts.
#include "hostdriver/objects/devices/device.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "hostdriver/entry.hpp"
#include "hostdriver/objects/memory/memory.hpp"

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
        // A name may be truncated, an address may not.
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

// The virtual devices share one memory, so each can access the others.
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

// Ends the work of the context. Unlike with libcuda, streams, memory and modules stay and their handles keep working. A
// correct program cannot observe the difference.
CGH_API CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev) {
    return entry("cuDevicePrimaryCtxReset", [&]() -> CUresult {
        Device* device = nullptr;
        TRY(find_device(dev, &device));
        return device->reset_primary();
    });
}

// cuda.h: "This function was deprecated as of CUDA 5.0 and its functionality superseded by cuDeviceGetAttribute()."
CGH_API CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice dev) {
    return entry("cuDeviceComputeCapability", [&]() -> CUresult {
        REQUIRE(major != nullptr && minor != nullptr, CUDA_ERROR_INVALID_VALUE);
        Device* device = nullptr;
        TRY(find_device(dev, &device));
        TRY(device->attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, major));
        return device->attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, minor);
    });
}

CGH_API CUresult cuDeviceGetProperties(CUdevprop* prop, CUdevice dev) {
    return entry("cuDeviceGetProperties", [&]() -> CUresult {
        REQUIRE(prop != nullptr, CUDA_ERROR_INVALID_VALUE);
        Device* device = nullptr;
        TRY(find_device(dev, &device));
        const auto get = [&](CUdevice_attribute which) {
            int value = 0;
            device->attribute(which, &value);
            return value;
        };
        *prop = {get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
                 {get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X), get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
                  get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)},
                 {get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X), get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
                  get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)},
                 get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
                 get(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY),
                 get(CU_DEVICE_ATTRIBUTE_WARP_SIZE),
                 get(CU_DEVICE_ATTRIBUTE_MAX_PITCH),
                 get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
                 get(CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
                 get(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT)};
        return CUDA_SUCCESS;
    });
}

// cuda.h: "[domain]:[bus]:[device].[function] [domain]:[bus]:[device] [bus]:[device].[function] where domain, bus,
// device, and function are all hexadecimal values".
CGH_API CUresult cuDeviceGetByPCIBusId(CUdevice* dev, const char* pciBusId) {
    return entry("cuDeviceGetByPCIBusId", [&]() -> CUresult {
        REQUIRE(dev != nullptr && pciBusId != nullptr, CUDA_ERROR_INVALID_VALUE);
        unsigned domain = 0, bus = 0, slot = 0, function = 0;
        int end = 0;
        const auto all_read = [&] { return end != 0 && pciBusId[end] == '\0'; };
        const bool is_one =
            (std::sscanf(pciBusId, "%x:%x:%x.%x%n", &domain, &bus, &slot, &function, &end) == 4 && all_read()) ||
            (end = 0, std::sscanf(pciBusId, "%x:%x:%x%n", &domain, &bus, &slot, &end) == 3 && all_read()) ||
            (end = 0, domain = 0, std::sscanf(pciBusId, "%x:%x.%x%n", &bus, &slot, &function, &end) == 3 && all_read());
        REQUIRE(is_one, CUDA_ERROR_INVALID_VALUE);
        const bool there = domain == 0 && slot == 0 && function == 0 && bus < static_cast<unsigned>(device_count());
        REQUIRE(there, CUDA_ERROR_INVALID_DEVICE);
        *dev = static_cast<CUdevice>(bus);
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attrib, CUdevice srcDevice,
                                         CUdevice dstDevice) {
    return entry("cuDeviceGetP2PAttribute", [&]() -> CUresult {
        REQUIRE(value != nullptr, CUDA_ERROR_INVALID_VALUE);
        Device* device = nullptr;
        TRY(find_device(srcDevice, &device));
        TRY(find_device(dstDevice, &device));
        // cuda.h: "Returns CUDA_ERROR_INVALID_DEVICE if srcDevice or dstDevice are not valid or if they represent the
        // same device."
        REQUIRE(srcDevice != dstDevice, CUDA_ERROR_INVALID_DEVICE);
        switch (attrib) {
            case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
            case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
                *value = 1;
                return CUDA_SUCCESS;
            case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
            case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
            case CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED:
                *value = 0;
                return CUDA_SUCCESS;
            default:
                return CUDA_ERROR_INVALID_VALUE;
        }
    });
}

CGH_API CUresult cuDeviceGetExecAffinitySupport(int* pi, CUexecAffinityType type, CUdevice dev) {
    return entry("cuDeviceGetExecAffinitySupport", [&]() -> CUresult {
        REQUIRE(pi != nullptr && type < CU_EXEC_AFFINITY_TYPE_MAX, CUDA_ERROR_INVALID_VALUE);
        Device* device = nullptr;
        TRY(find_device(dev, &device));
        *pi = 0;
        return CUDA_SUCCESS;
    });
}

// There is no profiler to start or stop. cuda.h: "CUDA_ERROR_INVALID_CONTEXT" without a context.
CGH_API CUresult cuProfilerStart(void) {
    return entry("cuProfilerStart", [&]() -> CUresult {
        Context* context = nullptr;
        return current_context(&context);
    });
}

CGH_API CUresult cuProfilerStop(void) {
    return entry("cuProfilerStop", [&]() -> CUresult {
        Context* context = nullptr;
        return current_context(&context);
    });
}
