// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The plain operations of a stream: a value that runs, a host function, a kernel.
#ifndef CUDA_GRAPHS_HOSTDRIVER_EXEC_OPERATIONS_HPP
#define CUDA_GRAPHS_HOSTDRIVER_EXEC_OPERATIONS_HPP

#include <cuda.h>

#include <utility>

#include "../objects/context.hpp"
#include "../objects/kernel.hpp"
#include "../objects/stream.hpp"
#include "thread_state.hpp"

namespace cgh {

// A Copy or a Fill.
template <class Value>
class ValueOperation final : public Operation {
  public:
    explicit ValueOperation(Value value) : value_(std::move(value)) {}
    void run(Stream&) override { value_.run(); }

  private:
    Value value_;
};

// cuda.h, cuLaunchHostFunc: "the function will not be called in the event of an error in the CUDA context", which is
// what an operation does that does not run after a failure.
class HostOperation final : public Operation {
  public:
    HostOperation(CUhostFn function, void* data) : function_(function), data_(data) {}
    void run(Stream&) override {
        CallbackScope scope;
        function_(data_);
    }

  private:
    CUhostFn function_;
    void* data_;
};

class KernelOperation final : public Operation {
  public:
    KernelLaunch launch;
    void run(Stream& stream) override {
        if (const CUresult fault = launch.run(&stream); fault != CUDA_SUCCESS) stream.context().fail(fault);
    }
};

}  // namespace cgh

#endif
