// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Access of one device to the memory of another one. It is enabled for a pair of devices at the first use, and stays
// enabled. Memory of a pool has its own setting (cuda.h, cuMemPoolSetAccess), which cuCtxEnablePeerAccess does not
// change.
#ifndef CUDA_GRAPHS_CORE_RESOURCES_PEER_ACCESS_HPP
#define CUDA_GRAPHS_CORE_RESOURCES_PEER_ACCESS_HPP

#include "context.hpp"

namespace cg {

// Lets kernels and copies of `device` use the device memory of `owner` at an address. Returns
// CUDA_ERROR_PEER_ACCESS_UNSUPPORTED when the machine offers no access between the two devices.
CUresult enable_peer_access(CUdevice device, CUdevice owner, CUdeviceptr address);

// Copies device memory between two devices in the order of a stream. The driver copies through the host where the
// devices have no access to each other.
CUresult copy_between_devices(CUdeviceptr to, CUdevice to_device, CUdeviceptr from, CUdevice from_device,
                              std::size_t size, CUstream stream);

}  // namespace cg

#endif
