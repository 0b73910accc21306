// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// What the process asked for when the library was loaded: which bugs to look for (CUDA_GRAPHS_HOST_CHECK), and whether
// work runs in an order drawn at random (CUDA_GRAPHS_HOST_SCHEDULE). Constant, so that whoever asks pays one load.
#ifndef CUDA_GRAPHS_HOSTDRIVER_CHECK_SETTINGS_HPP
#define CUDA_GRAPHS_HOSTDRIVER_CHECK_SETTINGS_HPP

#include <cstdint>
#include <string>

namespace cgh {

struct CheckSettings {
    bool memory = false;  // accesses outside of live memory
    bool race = false;    // accesses that nothing orders
    bool init = false;    // reads of what nobody wrote
    bool random_order = false;
    std::uint64_t seed = 0;
    std::string wrong;  // why the variables are not understood; empty when they are

    bool any() const { return memory || race || init; }
};

extern const CheckSettings settings;

}  // namespace cgh

#endif
