// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The driver of the process, and the context in which a file is loaded.
#ifndef CUDA_GRAPHS_RUNTIME_DEVICE_HPP
#define CUDA_GRAPHS_RUNTIME_DEVICE_HPP

#include "core/resources/context.hpp"
#include "loader/failure.hpp"

namespace cgr {

// Loads a driver, unless one is loaded. `host_library` may be null.
void open_driver(cg_driver kind, const char* host_library);
// Loads the driver of the environment unless one is loaded, and returns its kind.
cg_driver driver_kind();

// The context that is current on this thread, else the primary context of device 0.
cg::ContextHandle context_of_thread();

// Makes a context current for a scope. Raises a Failure if the driver refuses.
class Current {
  public:
    explicit Current(const cg::ContextHandle& context) : scope_(context) { check(scope_.status(), "use the device"); }

  private:
    cg::ContextScope scope_;
};

}  // namespace cgr

#endif
