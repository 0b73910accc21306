// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The settings of the process, read when the library is loaded: the enabled checks (CUDA_GRAPHS_HOST_CHECK), whether
// work runs in a random order (CUDA_GRAPHS_HOST_SCHEDULE), and whether functions of PTX may have other bits than those
// of a GPU (CUDA_GRAPHS_HOST_MATH). They are constant, so a test of a setting is one load.
#ifndef CUDA_GRAPHS_HOSTDRIVER_SANITIZER_SETTINGS_HPP
#define CUDA_GRAPHS_HOSTDRIVER_SANITIZER_SETTINGS_HPP

#include <cstdint>
#include <string>

namespace cgh {

struct CheckSettings {
    bool memory = false;  // accesses outside of live memory
    bool race = false;    // unordered accesses
    bool init = false;    // reads of unwritten bytes
    bool random_order = false;
    std::uint64_t seed = 0;
    bool fast_math = false;
    std::string wrong;  // error in the variables; empty if they are valid

    bool any() const { return memory || race || init; }
};

extern const CheckSettings settings;

}  // namespace cgh

#endif
