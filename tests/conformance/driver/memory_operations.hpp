// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Entries of batches of memory operations.
#ifndef CONFORMANCE_MEMORY_OPERATIONS_HPP
#define CONFORMANCE_MEMORY_OPERATIONS_HPP

#include <string>

#include "harness.hpp"

namespace conf {

inline CUstreamBatchMemOpParams write64(CUdeviceptr address, cuuint64_t value) {
    CUstreamBatchMemOpParams made{};
    made.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
    made.writeValue.address = address;
    made.writeValue.value64 = value;
    return made;
}

inline CUstreamBatchMemOpParams write32(CUdeviceptr address, cuuint32_t value) {
    CUstreamBatchMemOpParams made = write64(address, value);
    made.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    return made;
}

inline CUstreamBatchMemOpParams wait64(CUdeviceptr address, cuuint64_t value,
                                       unsigned flags = CU_STREAM_WAIT_VALUE_EQ) {
    CUstreamBatchMemOpParams made{};
    made.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_64;
    made.waitValue.address = address;
    made.waitValue.value64 = value;
    made.waitValue.flags = flags;
    return made;
}

inline CUstreamBatchMemOpParams wait32(CUdeviceptr address, cuuint32_t value,
                                       unsigned flags = CU_STREAM_WAIT_VALUE_EQ) {
    CUstreamBatchMemOpParams made = wait64(address, value, flags);
    made.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    return made;
}

inline CUstreamBatchMemOpParams barrier(unsigned flags = CU_STREAM_MEMORY_BARRIER_TYPE_SYS) {
    CUstreamBatchMemOpParams made{};
    made.memoryBarrier.operation = CU_STREAM_MEM_OP_BARRIER;
    made.memoryBarrier.flags = flags;
    return made;
}

// Records the fields of an entry of a batch; waits and writes have the same layout.
inline void record_operation(Record& r, const std::string& label, const CUstreamBatchMemOpParams& one,
                             CUdeviceptr expected) {
    r(label + " type", one.operation);
    r(label + " address kept", one.writeValue.address == expected);
    r(label + " value", one.writeValue.value);
    r(label + " flags", one.writeValue.flags);
}

}  // namespace conf

#endif
