// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The launch attributes of cuLaunchKernelEx and of a graph's kernel nodes.
#ifndef CUDA_GRAPHS_HOSTDRIVER_API_STREAMS_LAUNCH_ATTRIBUTES_HPP
#define CUDA_GRAPHS_HOSTDRIVER_API_STREAMS_LAUNCH_ATTRIBUTES_HPP

#include <cuda.h>

#include "hostdriver/objects/code/kernel.hpp"

namespace cgh {

// Applies one attribute. Attributes that only make a GPU faster are accepted and change nothing. Returns
// CUDA_ERROR_NOT_SUPPORTED for an attribute whose effect is not offered.
CUresult apply_attribute(CUlaunchAttributeID id, const CUlaunchAttributeValue& value, LaunchShape* shape);

CUresult shape_of(const CUlaunchConfig& config, LaunchShape* out);

}  // namespace cgh

#endif
