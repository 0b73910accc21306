// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "memory_operation.hpp"

#include <algorithm>
#include <atomic>
#include <type_traits>
#include <utility>

#include "hostdriver/entry.hpp"
#include "hostdriver/sanitizer/accesses.hpp"

namespace cgh {
namespace {

constexpr unsigned kMostOperations = 255;  // "Must be less than 256" (cuda.h, cuStreamBatchMemOp)

bool is_wait(CUstreamBatchMemOpType type) {
    return type == CU_STREAM_MEM_OP_WAIT_VALUE_32 || type == CU_STREAM_MEM_OP_WAIT_VALUE_64;
}
bool is_write(CUstreamBatchMemOpType type) {
    return type == CU_STREAM_MEM_OP_WRITE_VALUE_32 || type == CU_STREAM_MEM_OP_WRITE_VALUE_64;
}
bool is_wide(CUstreamBatchMemOpType type) {
    return type == CU_STREAM_MEM_OP_WAIT_VALUE_64 || type == CU_STREAM_MEM_OP_WRITE_VALUE_64;
}

template <class Word>
bool condition_holds(Word found, Word value, unsigned condition) {
    using Signed = std::make_signed_t<Word>;
    switch (condition) {
        case CU_STREAM_WAIT_VALUE_GEQ:
            return static_cast<Signed>(static_cast<Word>(found - value)) >= 0;
        case CU_STREAM_WAIT_VALUE_EQ:
            return found == value;
        case CU_STREAM_WAIT_VALUE_AND:
            return (found & value) != 0;
        default:
            return static_cast<Word>(~(found | value)) != 0;
    }
}

// Returns true if memory operations accept the address. "None of the operations accepts pointers to managed memory
// buffers" (cuda.h). An H200 also refuses memory of pools and of graphs.
bool may_hold_values(CUdeviceptr address, std::size_t bytes) {
    const auto memory = AddressMap::get().find(address);
    return memory && memory->holds(address, bytes) && !memory->is_managed() && memory->kind != MemoryKind::kPool &&
           memory->kind != MemoryKind::kGraph;
}

template <class Word>
Word load(CUdeviceptr address) {
    return __atomic_load_n(reinterpret_cast<const Word*>(address), __ATOMIC_ACQUIRE);
}

}  // namespace

CUresult MemoryOperation::make(const CUstreamBatchMemOpParams& params, Checked checked, MemoryOperation* out) {
    *out = MemoryOperation();
    const CUstreamBatchMemOpType type = params.operation;
    if (type == CU_STREAM_MEM_OP_BARRIER) {
        REQUIRE(params.memoryBarrier.flags <= CU_STREAM_MEMORY_BARRIER_TYPE_GPU, CUDA_ERROR_INVALID_VALUE);
        return CUDA_SUCCESS;
    }
    // CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES is 0, as on an H200.
    REQUIRE(type != CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES, CUDA_ERROR_NOT_SUPPORTED);
    REQUIRE(is_wait(type) || is_write(type), CUDA_ERROR_INVALID_VALUE);
    const auto& value = params.writeValue;  // has the layout of waitValue
    if (is_wait(type)) {
        REQUIRE((value.flags & CU_STREAM_WAIT_VALUE_FLUSH) == 0, CUDA_ERROR_NOT_SUPPORTED);
        REQUIRE(value.flags <= CU_STREAM_WAIT_VALUE_NOR, CUDA_ERROR_INVALID_VALUE);
    } else {
        // CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER is refused, as by an H200.
        REQUIRE(value.flags == CU_STREAM_WRITE_VALUE_DEFAULT, CUDA_ERROR_INVALID_VALUE);
    }
    out->kind_ = is_wait(type) ? Kind::kWait : Kind::kWrite;
    out->wide_ = is_wide(type);
    out->flags_ = value.flags;
    out->address_ = value.address;
    out->value_ = out->wide_ ? value.value64 : value.value;
    REQUIRE(value.address % out->bytes() == 0, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(checked == Checked::kWhenRun || may_hold_values(value.address, out->bytes()), CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}

bool MemoryOperation::holds() const {
    return wide_ ? condition_holds<std::uint64_t>(load<std::uint64_t>(address_), value_, flags_)
                 : condition_holds<std::uint32_t>(load<std::uint32_t>(address_), static_cast<std::uint32_t>(value_),
                                                  flags_);
}

// Freed memory is not read, because its pages may be unmapped.
bool MemoryOperation::can_run() const {
    return !waits() || !is_there() || holds();
}

CUresult MemoryOperation::run() const {
    if (kind_ == Kind::kBarrier) {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        return CUDA_SUCCESS;
    }
    const bool gone = !is_there();
    if (!gone && waits() && !holds()) return kSuspended;
    if (settings.any()) TRY(check_memory_operation(*this));
    if (gone) return CUDA_ERROR_ILLEGAL_ADDRESS;
    if (waits()) return CUDA_SUCCESS;
    if (wide_)
        __atomic_store_n(reinterpret_cast<std::uint64_t*>(address_), value_, __ATOMIC_SEQ_CST);
    else
        __atomic_store_n(reinterpret_cast<std::uint32_t*>(address_), static_cast<std::uint32_t>(value_),
                         __ATOMIC_SEQ_CST);
    return CUDA_SUCCESS;
}

CUresult MemoryBatch::make(const CUstreamBatchMemOpParams* params, unsigned count, unsigned flags, Checked checked,
                           MemoryBatch* out) {
    REQUIRE(flags == 0 && count <= kMostOperations && (params != nullptr || count == 0), CUDA_ERROR_INVALID_VALUE);
    MemoryBatch batch;
    batch.operations_.resize(count);
    for (unsigned i = 0; i < count; ++i) TRY(MemoryOperation::make(params[i], checked, &batch.operations_[i]));
    batch.described_.assign(params, params + count);
    *out = std::move(batch);
    return CUDA_SUCCESS;
}

bool MemoryBatch::waits() const {
    return std::any_of(operations_.begin(), operations_.end(), [](const auto& one) { return one.waits(); });
}

bool MemoryBatch::is_possible() const {
    return std::all_of(operations_.begin(), operations_.end(), [](const auto& one) { return one.is_possible(); });
}

CUresult MemoryBatch::run(std::size_t* next) const {
    for (; *next != operations_.size(); ++*next) TRY(operations_[*next].run());
    return CUDA_SUCCESS;
}

}  // namespace cgh
