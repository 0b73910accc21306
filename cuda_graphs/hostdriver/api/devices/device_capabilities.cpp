// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Capabilities of devices over the links to each other and to the host, and callbacks for device notifications.
#include <cstddef>

#include "hostdriver/entry.hpp"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/devices/device.hpp"

using namespace cgh;

namespace {

constexpr unsigned kIntegers = CU_ATOMIC_CAPABILITY_SIGNED | CU_ATOMIC_CAPABILITY_UNSIGNED;
constexpr unsigned kWords = CU_ATOMIC_CAPABILITY_REDUCTION | CU_ATOMIC_CAPABILITY_SCALAR_32;
constexpr unsigned kBoth = kWords | CU_ATOMIC_CAPABILITY_SCALAR_64;
constexpr unsigned kExchange =
    CU_ATOMIC_CAPABILITY_SCALAR_32 | CU_ATOMIC_CAPABILITY_SCALAR_64 | CU_ATOMIC_CAPABILITY_SCALAR_128;

// Capabilities by CUatomicOperation. There is one memory, so every atomic instruction works on all of it.
constexpr unsigned kAtomics[CU_ATOMIC_OPERATION_MAX] = {
    kIntegers | kBoth,                       // add
    kIntegers | kBoth,                       // min
    kIntegers | kBoth,                       // max
    CU_ATOMIC_CAPABILITY_UNSIGNED | kWords,  // increment
    CU_ATOMIC_CAPABILITY_UNSIGNED | kWords,  // decrement
    kIntegers | kBoth,                       // and
    kIntegers | kBoth,                       // or
    kIntegers | kBoth,                       // xor
    kIntegers | kExchange,                   // exchange
    kIntegers | kExchange,                   // compare and swap
    CU_ATOMIC_CAPABILITY_SIGNED | kBoth,     // add of floats
    0,                                       // minimum and maximum of floats: PTX has no such instruction
    0,
};

CUresult put_atomics(const CUatomicOperation* operations, unsigned count, unsigned* out) {
    REQUIRE(out != nullptr && operations != nullptr && count != 0, CUDA_ERROR_INVALID_VALUE);
    for (unsigned i = 0; i < count; ++i) REQUIRE(operations[i] < CU_ATOMIC_OPERATION_MAX, CUDA_ERROR_INVALID_VALUE);
    for (unsigned i = 0; i < count; ++i) out[i] = kAtomics[operations[i]];
    return CUDA_SUCCESS;
}

// A registered callback. It is never called: the only kind of notification concerns a budget that cannot be set here.
struct Listener {
    CUdevice device;
};

}  // namespace

CGH_API CUresult cuDeviceGetHostAtomicCapabilities(unsigned int* capabilities, const CUatomicOperation* operations,
                                                   unsigned int count, CUdevice dev) {
    return entry("cuDeviceGetHostAtomicCapabilities", [&]() -> CUresult {
        Device* device = nullptr;
        TRY(find_device(dev, &device));
        return put_atomics(operations, count, capabilities);
    });
}

CGH_API CUresult cuDeviceGetP2PAtomicCapabilities(unsigned int* capabilities, const CUatomicOperation* operations,
                                                  unsigned int count, CUdevice srcDevice, CUdevice dstDevice) {
    return entry("cuDeviceGetP2PAtomicCapabilities", [&]() -> CUresult {
        Device* device = nullptr;
        TRY(find_device(srcDevice, &device));
        TRY(find_device(dstDevice, &device));
        REQUIRE(srcDevice != dstDevice, CUDA_ERROR_INVALID_DEVICE);
        return put_atomics(operations, count, capabilities);
    });
}

CGH_API CUresult cuDeviceRegisterAsyncNotification(CUdevice dev, CUasyncCallback callbackFunc, void*,
                                                   CUasyncCallbackHandle* callback) {
    return entry("cuDeviceRegisterAsyncNotification", [&]() -> CUresult {
        Device* device = nullptr;
        TRY(find_device(dev, &device));
        REQUIRE(callbackFunc != nullptr && callback != nullptr, CUDA_ERROR_INVALID_VALUE);
        Listener* const listener = arena<Listener>.create(Listener{dev});
        REQUIRE(listener != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
        *callback = reinterpret_cast<CUasyncCallbackHandle>(listener);
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuDeviceUnregisterAsyncNotification(CUdevice dev, CUasyncCallbackHandle callback) {
    return entry("cuDeviceUnregisterAsyncNotification", [&]() -> CUresult {
        Device* device = nullptr;
        TRY(find_device(dev, &device));
        auto* const listener = cast<Listener>(callback);
        REQUIRE(listener != nullptr && listener->device == dev, CUDA_ERROR_INVALID_VALUE);
        REQUIRE(arena<Listener>.kill(listener), CUDA_ERROR_INVALID_VALUE);
        arena<Listener>.recycle(listener);
        return CUDA_SUCCESS;
    });
}
