// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// What devices can do beside their attributes: atomic operations, linear textures, graphics.
#include <cuda.h>

#include <array>

#include "../objects/device.hpp"
#include "entry.hpp"

using namespace cgh;

namespace {

constexpr unsigned kReduces = CU_ATOMIC_CAPABILITY_REDUCTION;
constexpr unsigned k32 = CU_ATOMIC_CAPABILITY_SCALAR_32, k64 = CU_ATOMIC_CAPABILITY_SCALAR_64,
                   k128 = CU_ATOMIC_CAPABILITY_SCALAR_128;
constexpr unsigned kUnsigned = CU_ATOMIC_CAPABILITY_UNSIGNED, kAnySign = kUnsigned | CU_ATOMIC_CAPABILITY_SIGNED;

// Host and devices share memory and its atomics (CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED): what kernels have.
constexpr std::array<unsigned, CU_ATOMIC_OPERATION_MAX> kAtomics = {
    kAnySign | kReduces | k32 | k64,   // integer add
    kAnySign | kReduces | k32 | k64,   // integer min
    kAnySign | kReduces | k32 | k64,   // integer max
    kUnsigned | kReduces | k32,        // integer increment
    kUnsigned | kReduces | k32,        // integer decrement
    kUnsigned | kReduces | k32 | k64,  // and
    kUnsigned | kReduces | k32 | k64,  // or
    kUnsigned | kReduces | k32 | k64,  // xor
    kUnsigned | k32 | k64 | k128,      // exchange
    kUnsigned | k32 | k64 | k128,      // compare and swap
    kReduces | k32 | k64,              // float add
    0,                                 // float min
    0,                                 // float max
};

CUresult tell_atomics(unsigned* capabilities, const CUatomicOperation* operations, unsigned count) {
    REQUIRE(capabilities != nullptr && operations != nullptr && count != 0, CUDA_ERROR_INVALID_VALUE);
    for (unsigned i = 0; i < count; ++i) REQUIRE(operations[i] < CU_ATOMIC_OPERATION_MAX, CUDA_ERROR_INVALID_VALUE);
    for (unsigned i = 0; i < count; ++i) capabilities[i] = kAtomics[operations[i]];
    return CUDA_SUCCESS;
}

}  // namespace

CGH_API CUresult cuDeviceGetHostAtomicCapabilities(unsigned int* capabilities, const CUatomicOperation* operations,
                                                   unsigned int count, CUdevice dev) {
    return entry("cuDeviceGetHostAtomicCapabilities", [&]() -> CUresult {
        Device* device = nullptr;
        TRY(find_device(dev, &device));
        return tell_atomics(capabilities, operations, count);
    });
}

CGH_API CUresult cuDeviceGetP2PAtomicCapabilities(unsigned int* capabilities, const CUatomicOperation* operations,
                                                  unsigned int count, CUdevice srcDevice, CUdevice dstDevice) {
    return entry("cuDeviceGetP2PAtomicCapabilities", [&]() -> CUresult {
        Device *from = nullptr, *to = nullptr;
        TRY(find_device(srcDevice, &from));
        TRY(find_device(dstDevice, &to));
        REQUIRE(from != to, CUDA_ERROR_INVALID_DEVICE);
        return tell_atomics(capabilities, operations, count);
    });
}

// Of a device without graphics, as an H200 in Linux.
CGH_API CUresult cuDeviceGetLuid(char* luid, unsigned int* deviceNodeMask, CUdevice dev) {
    return entry("cuDeviceGetLuid", [&]() -> CUresult {
        Device* device = nullptr;
        TRY(find_device(dev, &device));
        REQUIRE(luid != nullptr && deviceNodeMask != nullptr, CUDA_ERROR_INVALID_VALUE);
        return CUDA_ERROR_NOT_SUPPORTED;
    });
}

// There are no textures.
CGH_API CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t* maxWidthInElements, CUarray_format format,
                                                    unsigned numChannels, CUdevice dev) {
    return entry("cuDeviceGetTexture1DLinearMaxWidth", [&]() -> CUresult {
        Device* device = nullptr;
        TRY(find_device(dev, &device));
        const bool known = format == CU_AD_FORMAT_UNSIGNED_INT8 || format == CU_AD_FORMAT_UNSIGNED_INT16 ||
                           format == CU_AD_FORMAT_UNSIGNED_INT32 || format == CU_AD_FORMAT_SIGNED_INT8 ||
                           format == CU_AD_FORMAT_SIGNED_INT16 || format == CU_AD_FORMAT_SIGNED_INT32 ||
                           format == CU_AD_FORMAT_HALF || format == CU_AD_FORMAT_FLOAT;
        const bool channels = numChannels == 1 || numChannels == 2 || numChannels == 4;
        REQUIRE(maxWidthInElements != nullptr && known && channels, CUDA_ERROR_INVALID_VALUE);
        *maxWidthInElements = 0;
        return CUDA_SUCCESS;
    });
}
