// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// What the loaded driver was asked once, when it was loaded.
#ifndef CUDA_GRAPHS_CORE_DRIVER_DRIVER_FACTS_HPP
#define CUDA_GRAPHS_CORE_DRIVER_DRIVER_FACTS_HPP

namespace cg {

namespace detail {

struct DriverFacts {
    int device_count = 0;
    int version = 0;  // 1,000 times the major number, and 10 times the minor one, of CUDA
};

extern DriverFacts facts;  // zeros before a driver is loaded

}  // namespace detail

// Code that concerns several devices asks here first, so that it costs nothing on machines with one device.
inline bool has_several_devices() noexcept {
    return detail::facts.device_count > 1;
}

// Returns whether the driver takes CU_JIT_SPLIT_COMPILE. Measured with 13.0; older drivers were not at hand.
inline bool can_translate_in_threads() noexcept {
    return detail::facts.version >= 13000;
}

}  // namespace cg

#endif
