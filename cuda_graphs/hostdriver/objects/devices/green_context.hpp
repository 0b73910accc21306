// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// A green context: a subset of a device's multiprocessors with its own streams. It has its own CUcontext, which can be
// made current. Memory, events, code and errors belong to the primary context. Its streams also belong to the primary
// context but store a reference to the green context. Its kernels may use every worker: "it is possible for the
// workload to run on more SMs than was provisioned (but never less)" (cuda.h).
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_DEVICES_GREEN_CONTEXT_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_DEVICES_GREEN_CONTEXT_HPP

#include <cuda.h>

namespace cgh {

class Context;

// Multiprocessors from which a program may create a green context.
struct ResourceDescription {
    CUdevice device;
    unsigned multiprocessors;
};

class GreenContext {
  public:
    GreenContext(Context& primary, Context& inner, unsigned multiprocessors)
        : primary_(primary), inner_(inner), multiprocessors_(multiprocessors) {}

    CUgreenCtx handle() { return reinterpret_cast<CUgreenCtx>(this); }
    Context& primary() const { return primary_; }
    Context& inner() const { return inner_; }  // the context that is made current
    unsigned multiprocessors() const { return multiprocessors_; }
    CUresult status() const;
    // Ends the context. The object stays in memory, because streams and threads may refer to it.
    void destroy();

  private:
    Context& primary_;
    Context& inner_;
    const unsigned multiprocessors_;
};

class Stream;
// Returns the green context of a stream. For the default streams it is the current green context.
GreenContext* green_of(const Stream& stream);

}  // namespace cgh

#endif
