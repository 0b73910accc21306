// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The driver of the process, and the context in which a file is loaded.
#ifndef CUDA_GRAPHS_RUNTIME_DEVICE_HPP
#define CUDA_GRAPHS_RUNTIME_DEVICE_HPP

#include "core/handles/gil.hpp"
#include "core/resources/context.hpp"
#include "failure.hpp"

namespace cgr {

// Loads a driver, unless one is loaded. `host_library` may be null.
void open_driver(cg_driver kind, const char* host_library);
// Loads the driver of the environment unless one is loaded, and returns its kind.
cg_driver driver_kind();

// The context that is current on this thread, else the primary context of device 0.
cg::ContextHandle context_of_thread();

// An attribute of the device of the current context.
int device_attribute(CUdevice_attribute attribute);

// Makes a context current for a scope. Raises a Failure if the driver refuses.
class Current {
  public:
    explicit Current(const cg::ContextHandle& context) : scope_(context) { check(scope_.status(), "use the device"); }

  private:
    cg::ContextScope scope_;
};

// Makes a driver call without the lock of the core. The call may wait for work whose callbacks wait for other threads,
// and these may need the lock.
template <class Function, class... Args>
CUresult without_lock(Function function, Args... args) {
    const cg::GilRelease released;
    return function(args...);
}

}  // namespace cgr

#endif
