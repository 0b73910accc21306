// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The features of this CPU, by LLVM's names, which native images list.
#ifndef CUDA_GRAPHS_HOSTDRIVER_LOADER_CPU_FEATURES_HPP
#define CUDA_GRAPHS_HOSTDRIVER_LOADER_CPU_FEATURES_HPP

#include <string_view>

namespace cgh {

// Returns whether this CPU has a feature, and the system lets programs use it. False for an unknown name.
bool cpu_has(std::string_view feature);

}  // namespace cgh

#endif
