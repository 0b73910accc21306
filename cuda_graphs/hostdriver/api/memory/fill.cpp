// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Fills. The CUDA driver API page "API synchronization behavior" says that the synchronous forms are asynchronous to
// the host, except for pinned host memory and managed memory.
#include "hostdriver/entry.hpp"
#include "hostdriver/objects/streams/intake.hpp"
#include "hostdriver/objects/streams/stream.hpp"

using namespace cgh;

namespace {

CUresult fill(CUstream handle, const FillRequest& request, Wait wait) {
    Stream* stream = nullptr;
    TRY(find_stream(handle, &stream));
    return stream->intake().fill(*stream, request, wait);
}

CUresult fill_now(const FillRequest& request) {
    return fill(nullptr, request, Wait::kYes);
}
CUresult fill_later(CUstream stream, const FillRequest& request) {
    return fill(stream, request, Wait::kNo);
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
