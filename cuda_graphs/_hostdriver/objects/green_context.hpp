// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// A green context: a part of a device's multiprocessors, with streams of its own. It has a CUcontext of its own to be
// current by; memory, events, code and errors are those of the primary context, and so are its streams, which only know
// that they belong here. Its kernels may use every worker: "it is possible for the workload to run on more SMs than was
// provisioned (but never less)" (cuda.h).
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_GREEN_CONTEXT_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_GREEN_CONTEXT_HPP

#include <cuda.h>

namespace cgh {

class Context;

// Multiprocessors that a program may make a green context of.
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
    Context& inner() const { return inner_; }  // what is current
    unsigned multiprocessors() const { return multiprocessors_; }
    CUresult status() const;
    // Like contexts it stays in memory, as streams and threads may name it.
    void destroy();

  private:
    Context& primary_;
    Context& inner_;
    const unsigned multiprocessors_;
};

class Stream;
// The green context of a stream; of the default streams, the one that is current.
GreenContext* green_of(const Stream& stream);

}  // namespace cgh

#endif
