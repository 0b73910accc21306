// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory operations of streams: waits for values, writes of values, and batches. A single operation is a batch of one.
#include "hostdriver/entry.hpp"
#include "hostdriver/objects/streams/intake.hpp"
#include "hostdriver/objects/streams/stream.hpp"

using namespace cgh;

namespace {

CUresult operate(CUstream handle, const BatchRequest& request) {
    Stream* stream = nullptr;
    TRY(find_stream(handle, &stream));
    return stream->intake().memory_operations(*stream, request);
}

CUresult operate(CUstream handle, CUstreamBatchMemOpType type, CUdeviceptr address, cuuint64_t value, unsigned flags) {
    CUstreamBatchMemOpParams one{};
    one.writeValue.operation = type;  // waits have the layout of writes
    one.writeValue.address = address;
    one.writeValue.value64 = value;
    one.writeValue.flags = flags;
    return operate(handle, {&one, 1, 0});
}

}  // namespace

CGH_API CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags) {
    return entry("cuStreamWaitValue32",
                 [&]() -> CUresult { return operate(stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, addr, value, flags); });
}

CGH_API CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags) {
    return entry("cuStreamWaitValue64",
                 [&]() -> CUresult { return operate(stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, addr, value, flags); });
}

CGH_API CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags) {
    return entry("cuStreamWriteValue32",
                 [&]() -> CUresult { return operate(stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, addr, value, flags); });
}

CGH_API CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags) {
    return entry("cuStreamWriteValue64",
                 [&]() -> CUresult { return operate(stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, addr, value, flags); });
}

CGH_API CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count, CUstreamBatchMemOpParams* paramArray,
                                       unsigned int flags) {
    return entry("cuStreamBatchMemOp", [&]() -> CUresult { return operate(stream, {paramArray, count, flags}); });
}
