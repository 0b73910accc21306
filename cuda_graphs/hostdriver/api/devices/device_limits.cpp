// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Features that the devices lack: linear textures and graphics.
#include <cuda.h>

#include "hostdriver/entry.hpp"
#include "hostdriver/objects/devices/device.hpp"

using namespace cgh;

// The device has no graphics, as an H200 on Linux.
CGH_API CUresult cuDeviceGetLuid(char* luid, unsigned int* deviceNodeMask, CUdevice dev) {
    return entry("cuDeviceGetLuid", [&]() -> CUresult {
        Device* device = nullptr;
        TRY(find_device(dev, &device));
        REQUIRE(luid != nullptr && deviceNodeMask != nullptr, CUDA_ERROR_INVALID_VALUE);
        return CUDA_ERROR_NOT_SUPPORTED;
    });
}

// The devices have no textures.
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
