// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// From the bytes of a file to a definition. Nothing of the file runs before a launch.
#ifndef CUDA_GRAPHS_RUNTIME_LOADING_HPP
#define CUDA_GRAPHS_RUNTIME_LOADING_HPP

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/graphs/definition.hpp"
#include "core/resources/context.hpp"
#include "failure.hpp"
#include "memory.hpp"

namespace cgr {

// A parameter, and its role in the file.
struct LoadedParameter {
    cg::ParameterRef parameter;
    std::int32_t roles = 0;  // CG_ROLE_...
};

struct LoadedGraph {
    cg::ContextHandle context;
    cg::NodeHandle definition;  // the entry node
    std::vector<LoadedParameter> parameters;

    // Returns the number of a parameter. Raises a Failure that lists the names if there is none.
    std::size_t find(const char* name) const;
};

// Loads a file on a device. `callbacks` has a function for each name of the file. The caller holds the lock of the core,
// and the context is current.
LoadedGraph load(const cg::ContextHandle& context, std::string_view file, const std::vector<cg_callback>& callbacks);

}  // namespace cgr

#endif
