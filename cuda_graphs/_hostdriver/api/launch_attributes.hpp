// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The attributes of a launch, of cuLaunchKernelEx and of a graph's kernel nodes.
#ifndef CUDA_GRAPHS_HOSTDRIVER_API_LAUNCH_ATTRIBUTES_HPP
#define CUDA_GRAPHS_HOSTDRIVER_API_LAUNCH_ATTRIBUTES_HPP

#include <cuda.h>

#include "../objects/kernel.hpp"

namespace cgh {

// Applies one attribute. Those that only make a GPU faster are accepted and change nothing; those that would need
// what is not offered are CUDA_ERROR_NOT_SUPPORTED.
CUresult apply_attribute(CUlaunchAttributeID id, const CUlaunchAttributeValue& value, LaunchShape* shape);

CUresult shape_of(const CUlaunchConfig& config, LaunchShape* out);

}  // namespace cgh

#endif
