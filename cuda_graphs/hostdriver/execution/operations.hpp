// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The basic operations of a stream: a copy, fill or batch value, a host function, a kernel.
#ifndef CUDA_GRAPHS_HOSTDRIVER_EXECUTION_OPERATIONS_HPP
#define CUDA_GRAPHS_HOSTDRIVER_EXECUTION_OPERATIONS_HPP

#include <cuda.h>

#include <utility>

#include "copy.hpp"
#include "faults.hpp"
#include "host_threads.hpp"
#include "hostdriver/objects/code/kernel.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/streams/stream.hpp"
#include "hostdriver/sanitizer/accesses.hpp"
#include "memory_operation.hpp"
#include "thread_state.hpp"
#include "wait_limit.hpp"

namespace cgh {

inline CUresult check_value(const Copy& copy) {
    return check_copy(copy);
}
inline CUresult check_value(const Fill& fill) {
    return check_fill(fill);
}

// Runs a Copy or a Fill. Returns CUDA_ERROR_ILLEGAL_ADDRESS if its memory was freed after the operation was queued.
template <class Value>
CUresult run_checked(const Value& value) {
    if (settings.any())
        if (const CUresult bad = check_value(value); bad != CUDA_SUCCESS) return bad;
    return run_value_guarded(value);
}
template <class Value>
void run_value(const Value& value, Stream& stream) {
    if (const CUresult bad = run_checked(value); bad != CUDA_SUCCESS) stream.context().fail(bad);
}

template <class Value>
class ValueOperation final : public Operation {
  public:
    explicit ValueOperation(Value value) : value_(std::move(value)) {}
    void run(Stream& stream) override { run_value(value_, stream); }
    bool is_brief() const override { return value_.bytes() <= kBriefBytes; }

  private:
    Value value_;
};

// cuda.h, cuLaunchHostFunc: "the function will not be called in the event of an error in the CUDA context". An
// operation after a failure does not run, so it obeys this.
class HostOperation final : public Operation {
  public:
    HostOperation(CUhostFn function, void* data) : function_(function), data_(data) {}
    void run(Stream&) override {
        if (settings.any()) check_host_function(data_);
        run_host_function([this] { function_(data_); });
    }
    bool is_brief() const override { return false; }  // the function may wait for anything

  private:
    CUhostFn function_;
    void* data_;
};

class BatchOperation final : public Operation {
  public:
    BatchOperation(const Context& context, MemoryBatch batch) : context_(context), batch_(std::move(batch)) {}
    void run(Stream& stream) override {
        const CUresult fault = batch_.run(&next_);
        complete_ = fault != kSuspended;
        if (complete_ && fault != CUDA_SUCCESS) stream.context().fail(fault);
    }
    bool complete() const override { return complete_; }
    bool ready() const override { return batch_.can_resume(next_) || context_.status() != CUDA_SUCCESS; }

  private:
    const Context& context_;
    const MemoryBatch batch_;
    std::size_t next_ = 0;
    bool complete_ = true;
};

class KernelOperation final : public Operation {
  public:
    KernelLaunch launch;
    void run(Stream& stream) override {
        if (const CUresult fault = launch.run(&stream); fault != CUDA_SUCCESS) stream.context().fail(fault);
    }
    bool is_brief() const override { return launch.is_brief(); }
};

}  // namespace cgh

#endif
