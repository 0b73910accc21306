// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Fills. As the CUDA driver API's page "API synchronization behavior" says, the synchronous forms are asynchronous to
// the host but for pinned host memory and managed memory.
#include "../exec/copy.hpp"
#include "../exec/operations.hpp"
#include "../objects/context.hpp"
#include "../objects/memory.hpp"
#include "entry.hpp"

using namespace cgh;

namespace {

struct Shape {
    CUdeviceptr dst;
    std::size_t pitch;
    unsigned value;
    unsigned element_size;
    std::size_t width;
    std::size_t height;
};

CUresult fill(CUstream handle, const Shape& shape, bool asynchronous) {
    Stream* stream = nullptr;
    TRY(find_stream(handle, &stream));
    Fill fill;
    TRY(Fill::make(shape.dst, shape.pitch, shape.value, shape.element_size, shape.width, shape.height, &fill));
    const std::uint64_t position = stream->push(new ValueOperation<Fill>(fill));
    if (asynchronous) return CUDA_SUCCESS;
    const auto target = AddressMap::get().find(shape.dst);
    if (target && (target->on_host() || target->kind == MemoryKind::kManaged)) stream->wait_for(position);
    return stream->context().status();
}

CUresult fill_now(const Shape& shape) {
    return fill(CU_STREAM_LEGACY, shape, false);
}
CUresult fill_later(CUstream stream, const Shape& shape) {
    return fill(stream, shape, true);
}

}  // namespace

CGH_API CUresult cuMemsetD8_v2(CUdeviceptr dstDevice, unsigned char uc, size_t N) {
    return entry("cuMemsetD8", [&]() -> CUresult { return fill_now({dstDevice, 0, uc, 1, N, 1}); });
}

CGH_API CUresult cuMemsetD16_v2(CUdeviceptr dstDevice, unsigned short us, size_t N) {
    return entry("cuMemsetD16", [&]() -> CUresult { return fill_now({dstDevice, 0, us, 2, N, 1}); });
}

CGH_API CUresult cuMemsetD32_v2(CUdeviceptr dstDevice, unsigned int ui, size_t N) {
    return entry("cuMemsetD32", [&]() -> CUresult { return fill_now({dstDevice, 0, ui, 4, N, 1}); });
}

CGH_API CUresult cuMemsetD2D8_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width,
                                 size_t Height) {
    return entry("cuMemsetD2D8", [&]() -> CUresult { return fill_now({dstDevice, dstPitch, uc, 1, Width, Height}); });
}

CGH_API CUresult cuMemsetD2D16_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width,
                                  size_t Height) {
    return entry("cuMemsetD2D16", [&]() -> CUresult { return fill_now({dstDevice, dstPitch, us, 2, Width, Height}); });
}

CGH_API CUresult cuMemsetD2D32_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width,
                                  size_t Height) {
    return entry("cuMemsetD2D32", [&]() -> CUresult { return fill_now({dstDevice, dstPitch, ui, 4, Width, Height}); });
}

CGH_API CUresult cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream) {
    return entry("cuMemsetD8Async", [&]() -> CUresult { return fill_later(hStream, {dstDevice, 0, uc, 1, N, 1}); });
}

CGH_API CUresult cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream) {
    return entry("cuMemsetD16Async", [&]() -> CUresult { return fill_later(hStream, {dstDevice, 0, us, 2, N, 1}); });
}

CGH_API CUresult cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream) {
    return entry("cuMemsetD32Async", [&]() -> CUresult { return fill_later(hStream, {dstDevice, 0, ui, 4, N, 1}); });
}

CGH_API CUresult cuMemsetD2D8Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width,
                                   size_t Height, CUstream hStream) {
    return entry("cuMemsetD2D8Async",
                 [&]() -> CUresult { return fill_later(hStream, {dstDevice, dstPitch, uc, 1, Width, Height}); });
}

CGH_API CUresult cuMemsetD2D16Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width,
                                    size_t Height, CUstream hStream) {
    return entry("cuMemsetD2D16Async",
                 [&]() -> CUresult { return fill_later(hStream, {dstDevice, dstPitch, us, 2, Width, Height}); });
}

CGH_API CUresult cuMemsetD2D32Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width,
                                    size_t Height, CUstream hStream) {
    return entry("cuMemsetD2D32Async",
                 [&]() -> CUresult { return fill_later(hStream, {dstDevice, dstPitch, ui, 4, Width, Height}); });
}
