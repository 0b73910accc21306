// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Attributes of kernel nodes. The attributes that affect execution on the host driver (cluster, cooperative) are stored
// in the launch. The others are stored for queries.
#include <algorithm>
#include <utility>

#include "hostdriver/entry.hpp"
#include "hostdriver/objects/devices/device.hpp"
#include "hostdriver/objects/graphs/node_kinds.hpp"

namespace cgh {
namespace {

// Bits of the attribute ids that cuda.h calls "valid for graph nodes".
constexpr uint32_t bit(int id) {
    return uint32_t{1} << id;
}
constexpr uint32_t kNodeAttributes =
    bit(CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW) | bit(CU_LAUNCH_ATTRIBUTE_COOPERATIVE) |
    bit(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) | bit(CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE) |
    bit(CU_LAUNCH_ATTRIBUTE_PRIORITY) | bit(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP) |
    bit(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN) | bit(CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION) |
    bit(CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE) | bit(CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) |
    bit(CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING);
static_assert(CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING < KernelAttributes::kCount, "room for every id");

void apply(LaunchShape& shape, CUlaunchAttributeID id, const CUlaunchAttributeValue& value) {
    if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) shape.cooperative = value.cooperative != 0;
    if (id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) return;
    const bool unset = value.clusterDim.x == 0 && value.clusterDim.y == 0 && value.clusterDim.z == 0;
    shape.dims.cluster[0] = unset ? 1 : value.clusterDim.x;
    shape.dims.cluster[1] = unset ? 1 : value.clusterDim.y;
    shape.dims.cluster[2] = unset ? 1 : value.clusterDim.z;
}

void note(KernelAttributes& attributes, CUlaunchAttributeID id, const CUlaunchAttributeValue& value) {
    CUlaunchAttributeValue& noted = attributes.values[static_cast<size_t>(id)];
    noted = value;
    if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY)
        noted.priority = std::clamp(noted.priority, kGreatestPriority, kLeastPriority);
}

}  // namespace

const KernelAttributes& attributes_of(const KernelParams& params) {
    static const KernelAttributes none;
    return params.attributes != nullptr ? *params.attributes : none;
}

bool is_node_attribute(CUlaunchAttributeID id) {
    return static_cast<unsigned>(id) < KernelAttributes::kCount && (kNodeAttributes & bit(id)) != 0;
}

CUlaunchAttributeValue get_attribute(const KernelParams& params, CUlaunchAttributeID id) {
    return attributes_of(params).values[static_cast<size_t>(id)];
}

CUresult set_attribute(KernelParams& params, CUlaunchAttributeID id, const CUlaunchAttributeValue& value) {
    REQUIRE(is_node_attribute(id), CUDA_ERROR_INVALID_VALUE);
    // Kernels on the host driver cannot update nodes.
    REQUIRE(
        id != CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE || value.deviceUpdatableKernelNode.deviceUpdatable == 0,
        CUDA_ERROR_NOT_SUPPORTED);
    auto changed = std::make_shared<KernelAttributes>(attributes_of(params));
    note(*changed, id, value);

    const LaunchShape before = params.launch.shape();
    apply(params.launch.shape(), id, value);
    if (CUresult refused = params.launch.validate(); refused != CUDA_SUCCESS) {
        params.launch.shape() = before;
        return refused;
    }
    params.attributes = std::move(changed);
    return CUDA_SUCCESS;
}

std::shared_ptr<const KernelAttributes> node_attributes(const CUlaunchAttribute* attributes, unsigned count,
                                                        int stream_priority) {
    std::shared_ptr<KernelAttributes> noted;
    if (stream_priority != kLeastPriority) {
        noted = std::make_shared<KernelAttributes>();
        noted->values[CU_LAUNCH_ATTRIBUTE_PRIORITY].priority = stream_priority;
    }
    for (unsigned i = 0; i < count; ++i) {
        if (!is_node_attribute(attributes[i].id)) continue;
        if (noted == nullptr) noted = std::make_shared<KernelAttributes>();
        note(*noted, attributes[i].id, attributes[i].value);
    }
    return noted;
}

CUresult copy_attributes(const KernelParams& from, KernelParams& to) {
    const LaunchShape before = to.launch.shape();
    to.launch.shape().cooperative = from.launch.shape().cooperative;
    for (int i = 0; i < 3; ++i) to.launch.shape().dims.cluster[i] = from.launch.shape().dims.cluster[i];
    if (CUresult refused = to.launch.validate(); refused != CUDA_SUCCESS) {
        to.launch.shape() = before;
        return refused;
    }
    to.attributes = from.attributes;
    return CUDA_SUCCESS;
}

}  // namespace cgh
