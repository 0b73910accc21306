// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// From the bytes of a file to a definition. Nothing of the file runs before a launch.
#ifndef CUDA_GRAPHS_LOADER_LOADING_HPP
#define CUDA_GRAPHS_LOADER_LOADING_HPP

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/graphs/definition.hpp"
#include "failure.hpp"
#include "memory.hpp"
#include "program.hpp"

namespace cgr {

// A parameter, and its role in the file.
struct LoadedParameter {
    cg::ParameterRef parameter;
    std::int32_t roles = 0;  // CG_ROLE_...
};

struct Loaded {
    std::vector<LoadedParameter> parameters;  // in the order of the file, as the memory
    std::vector<LoadedMemory> memory;
};

// Adds the nodes of a file to an empty definition, given by its entry node. The caller holds the lock of the core, and
// the context is current.
Loaded load(const cg::NodeHandle& definition, std::string_view file, Program& program);

}  // namespace cgr

#endif
