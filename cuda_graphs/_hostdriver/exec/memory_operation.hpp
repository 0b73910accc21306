// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory operations of streams as checked values: a wait for a value in memory, a write of one, a barrier; and batches
// of them, which streams and graph nodes hold alike. Whoever comes to a wait that does not hold yet does not stay: it
// goes away and comes again, so that no thread is held by what only another stream, or the host, can release.
#ifndef CUDA_GRAPHS_HOSTDRIVER_EXEC_MEMORY_OPERATION_HPP
#define CUDA_GRAPHS_HOSTDRIVER_EXEC_MEMORY_OPERATION_HPP

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../objects/memory.hpp"

namespace cgh {

// Of a run that is not complete: it goes on when it is run again, once what it waits for holds. No driver error of work
// has this value.
constexpr CUresult kComesAgain = CUDA_ERROR_NOT_READY;

// Whether addresses are looked at when an operation is made. In nodes an H200 asks for their alignment only.
enum class Checked : bool { kWhenRun, kNow };

class MemoryOperation {
  public:
    static CUresult make(const CUstreamBatchMemOpParams& params, Checked checked, MemoryOperation* out);

    bool waits() const { return kind_ == Kind::kWait; }
    bool writes() const { return kind_ == Kind::kWrite; }
    CUdeviceptr address() const { return address_; }
    std::size_t bytes() const { return wide_ ? 8 : 4; }
    // Would run() do something: always true but for a wait whose condition does not hold.
    bool can_run() const;
    // Is there memory behind its address, or need there be none.
    bool is_possible() const { return kind_ == Kind::kBarrier || is_there(); }
    // CUDA_SUCCESS, kComesAgain or CUDA_ERROR_ILLEGAL_ADDRESS, for memory that is not there any more.
    CUresult run() const;

  private:
    enum class Kind : std::uint8_t { kWait, kWrite, kBarrier };

    bool holds() const;
    bool is_there() const { return AddressMap::get().find(address_, Reserved::kToo).has_value(); }

    Kind kind_ = Kind::kBarrier;
    bool wide_ = false;  // 64 bits
    unsigned flags_ = 0;
    CUdeviceptr address_ = 0;
    std::uint64_t value_ = 0;
};

// Operations that come one after another.
class MemoryBatch {
  public:
    static CUresult make(const CUstreamBatchMemOpParams* params, unsigned count, unsigned flags, Checked checked,
                         MemoryBatch* out);

    bool empty() const { return operations_.empty(); }
    bool waits() const;
    bool is_possible() const;
    // What was asked for, for whoever asks for it again.
    const std::vector<CUstreamBatchMemOpParams>& described() const { return described_; }
    // Of a batch of which the first `*next` operations are done.
    bool can_go_on(std::size_t next) const { return next == operations_.size() || operations_[next].can_run(); }
    CUresult run(std::size_t* next) const;

  private:
    std::vector<MemoryOperation> operations_;
    std::vector<CUstreamBatchMemOpParams> described_;
};

}  // namespace cgh

#endif
