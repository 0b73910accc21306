// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The number of devices of the loaded driver. Code that concerns several devices asks here first, so that it costs
// nothing on machines with one device.
#ifndef CUDA_GRAPHS_CORE_DRIVER_DEVICE_COUNT_HPP
#define CUDA_GRAPHS_CORE_DRIVER_DEVICE_COUNT_HPP

namespace cg {

namespace detail {
extern int device_count;  // set when a driver is loaded; 0 before
}

inline bool has_several_devices() noexcept {
    return detail::device_count > 1;
}

}  // namespace cg

#endif
