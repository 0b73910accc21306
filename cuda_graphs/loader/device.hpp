// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The device of the context that is current while a file is loaded, and calls of its driver.
#ifndef CUDA_GRAPHS_LOADER_DEVICE_HPP
#define CUDA_GRAPHS_LOADER_DEVICE_HPP

#include "core/handles/gil.hpp"
#include "failure.hpp"

namespace cgr {

// An attribute of the device of the current context.
int device_attribute(CUdevice_attribute attribute);

// Makes a driver call without the lock of the core. The call may wait for work whose callbacks wait for other threads,
// and these may need the lock.
template <class Function, class... Args>
auto without_lock(Function function, Args... args) {
    const cg::GilRelease released;
    return function(args...);
}

}  // namespace cgr

#endif
