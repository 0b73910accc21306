// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The requests that entry points pass to intakes.
#include "hostdriver/objects/streams/intake.hpp"

#include "hostdriver/entry.hpp"
#include "hostdriver/objects/streams/stream.hpp"

namespace cgh {

CopyRequest::CopyRequest(CUdeviceptr dst, CUcontext, CUdeviceptr src, CUcontext, std::size_t bytes)
    : CopyRequest(CU_MEMORYTYPE_DEVICE, reinterpret_cast<void*>(dst), CU_MEMORYTYPE_DEVICE,
                  reinterpret_cast<const void*>(src), bytes) {
    peer_ = between_devices_ = true;
}

CUresult refuse_work(CUstream handle, CUresult why) {
    Stream* stream = nullptr;
    TRY(find_stream(handle, &stream));
    return stream->intake().refuse(*stream, why);
}

CUDA_MEMCPY3D CopyRequest::described() const {
    if (solid_ != nullptr) return *solid_;
    if (plane_ != nullptr) return solid_of(*plane_);
    CUDA_MEMCPY3D solid{};
    solid.srcMemoryType = src_type_;
    solid.srcHost = src_type_ == CU_MEMORYTYPE_HOST ? src_ : nullptr;
    solid.srcDevice = src_type_ == CU_MEMORYTYPE_HOST ? 0 : reinterpret_cast<CUdeviceptr>(src_);
    solid.dstMemoryType = dst_type_;
    solid.dstHost = dst_type_ == CU_MEMORYTYPE_HOST ? dst_ : nullptr;
    solid.dstDevice = dst_type_ == CU_MEMORYTYPE_HOST ? 0 : reinterpret_cast<CUdeviceptr>(dst_);
    solid.WidthInBytes = bytes_;
    solid.Height = solid.Depth = 1;
    return solid;
}

}  // namespace cgh
