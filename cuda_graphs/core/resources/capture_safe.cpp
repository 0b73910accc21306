// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "capture_safe.hpp"

#include <mutex>

#include "context.hpp"
#include "core/handles/leak_report.hpp"

namespace cg {

bool is_complete(CUevent event) noexcept {
    const RelaxedCapture relaxed;
    return relaxed.status() == CUDA_SUCCESS && driver().cuEventQuery(event) != CUDA_ERROR_NOT_READY;
}

CUresult query_stream(CUstream stream) noexcept {
    const RelaxedCapture relaxed;
    if (relaxed.status() != CUDA_SUCCESS) return CUDA_ERROR_NOT_READY;
    CUstreamCaptureStatus now{};
    const CUresult status = driver().cuStreamIsCapturing(stream, &now);
    if (status != CUDA_SUCCESS) return status;
    return now == CU_STREAM_CAPTURE_STATUS_NONE ? driver().cuStreamQuery(stream)
                                                : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

namespace {

// Makes a call on a stream of its own and waits for its work, also while streams are captured.
template <class Call>
CUresult run_alone(Call call) noexcept {
    const RelaxedCapture relaxed;
    if (relaxed.status() != CUDA_SUCCESS) return relaxed.status();
    CUstream stream = nullptr;
    CUresult status = driver().cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0);
    if (status != CUDA_SUCCESS) return status;
    status = call(stream);
    if (status == CUDA_SUCCESS) status = driver().cuStreamSynchronize(stream);
    report_leak(driver().cuStreamDestroy(stream), "cuStreamDestroy");
    return status;
}

}  // namespace

CUresult write_zeros(CUdeviceptr memory, std::size_t size) noexcept {
    return run_alone([=](CUstream stream) { return driver().cuMemsetD8Async(memory, 0, size, stream); });
}

CUresult write_word(CUdeviceptr memory, std::uint32_t value) noexcept {
    return run_alone([=](CUstream stream) { return driver().cuMemcpyHtoDAsync(memory, &value, sizeof value, stream); });
}

CUresult reserve_stack(std::size_t size) noexcept {
    static std::mutex mutex;  // a thread that needs less must not lower the limit that another one has just raised
    const RelaxedCapture relaxed;
    if (relaxed.status() != CUDA_SUCCESS) return relaxed.status();
    const std::lock_guard lock(mutex);
    std::size_t has = 0;
    const CUresult status = driver().cuCtxGetLimit(&has, CU_LIMIT_STACK_SIZE);
    if (status != CUDA_SUCCESS || has >= size) return status;
    return driver().cuCtxSetLimit(CU_LIMIT_STACK_SIZE, size);
}

CUresult read_memory(void* to, CUdeviceptr memory, std::size_t size) noexcept {
    return run_alone([=](CUstream stream) { return driver().cuMemcpyDtoHAsync(to, memory, size, stream); });
}

}  // namespace cg
