// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory operations of streams as checked values: waits for a value in memory, writes of a value, and barriers. A batch
// is a sequence of operations; streams and graph nodes hold the same type. A thread that reaches a wait that does not
// hold yet leaves it and retries later. So no thread is occupied by a wait that only another stream or the host can
// end.
#ifndef CUDA_GRAPHS_HOSTDRIVER_EXECUTION_MEMORY_OPERATION_HPP
#define CUDA_GRAPHS_HOSTDRIVER_EXECUTION_MEMORY_OPERATION_HPP

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hostdriver/objects/memory/memory.hpp"

namespace cgh {

// The result of an incomplete run. Running it again once the awaited value holds continues it. No driver error of work
// has this value.
constexpr CUresult kSuspended = CUDA_ERROR_NOT_READY;

// The time when addresses are validated: when the operation runs, or when it is made. For nodes an H200 checks only
// their alignment when they are made.
enum class Checked : bool { kWhenRun, kNow };

class MemoryOperation {
  public:
    static CUresult make(const CUstreamBatchMemOpParams& params, Checked checked, MemoryOperation* out);

    bool waits() const { return kind_ == Kind::kWait; }
    bool writes() const { return kind_ == Kind::kWrite; }
    CUdeviceptr address() const { return address_; }
    std::size_t bytes() const { return wide_ ? 8 : 4; }
    // Returns true unless the operation is a wait whose condition does not hold.
    bool can_run() const;
    // Returns true if there is memory at the address, or the operation is a barrier, which needs no memory.
    bool is_possible() const { return kind_ == Kind::kBarrier || is_there(); }
    // Returns CUDA_SUCCESS, kSuspended, or CUDA_ERROR_ILLEGAL_ADDRESS if the memory was freed.
    CUresult run() const;

  private:
    enum class Kind : std::uint8_t { kWait, kWrite, kBarrier };

    bool holds() const;
    bool is_there() const { return AddressMap::get().find(address_, Reserved::kToo).has_value(); }

    Kind kind_ = Kind::kBarrier;
    bool wide_ = false;  // value has 64 bits instead of 32
    unsigned flags_ = 0;
    CUdeviceptr address_ = 0;
    std::uint64_t value_ = 0;
};

// A sequence of operations.
class MemoryBatch {
  public:
    static CUresult make(const CUstreamBatchMemOpParams* params, unsigned count, unsigned flags, Checked checked,
                         MemoryBatch* out);

    bool empty() const { return operations_.empty(); }
    bool waits() const;
    bool is_possible() const;
    // Returns the parameters that the batch was made from, for functions that read them back.
    const std::vector<CUstreamBatchMemOpParams>& described() const { return described_; }
    // Returns true if the batch can proceed after its first `*next` operations.
    bool can_resume(std::size_t next) const { return next == operations_.size() || operations_[next].can_run(); }
    CUresult run(std::size_t* next) const;

  private:
    std::vector<MemoryOperation> operations_;
    std::vector<CUstreamBatchMemOpParams> described_;
};

}  // namespace cgh

#endif
