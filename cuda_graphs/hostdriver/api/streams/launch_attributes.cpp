// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads launch attributes.
#include "hostdriver/api/streams/launch_attributes.hpp"

#include "hostdriver/entry.hpp"

namespace cgh {

CUresult apply_attribute(CUlaunchAttributeID id, const CUlaunchAttributeValue& value, LaunchShape* shape) {
    switch (id) {
        case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
            REQUIRE(value.cooperative == 0 || value.cooperative == 1, CUDA_ERROR_INVALID_VALUE);
            shape->cooperative = value.cooperative != 0;
            return CUDA_SUCCESS;
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
            shape->dims.cluster[0] = value.clusterDim.x;
            shape->dims.cluster[1] = value.clusterDim.y;
            shape->dims.cluster[2] = value.clusterDim.z;
            return CUDA_SUCCESS;
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
            REQUIRE(
                value.programmaticStreamSerializationAllowed == 0 || value.programmaticStreamSerializationAllowed == 1,
                CUDA_ERROR_INVALID_VALUE);
            return CUDA_SUCCESS;
        case CU_LAUNCH_ATTRIBUTE_IGNORE:
        case CU_LAUNCH_ATTRIBUTE_PRIORITY:  // any value: libcuda clamps it
        case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
        case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
            return CUDA_SUCCESS;
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
            return CUDA_ERROR_NOT_SUPPORTED;
        default:
            return CUDA_ERROR_INVALID_VALUE;  // attributes of streams only, and unknown attributes
    }
}

CUresult shape_of(const CUlaunchConfig& config, LaunchShape* out) {
    REQUIRE(config.numAttrs == 0 || config.attrs != nullptr, CUDA_ERROR_INVALID_VALUE);
    out->dims = {{config.gridDimX, config.gridDimY, config.gridDimZ},
                 {config.blockDimX, config.blockDimY, config.blockDimZ},
                 {1, 1, 1},
                 config.sharedMemBytes,
                 nullptr};
    for (unsigned i = 0; i < config.numAttrs; ++i) TRY(apply_attribute(config.attrs[i].id, config.attrs[i].value, out));
    return CUDA_SUCCESS;
}

}  // namespace cgh
