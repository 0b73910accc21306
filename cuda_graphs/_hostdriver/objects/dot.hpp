// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// A graph definition as text in the DOT language: one cluster a graph, with those embedded in its nodes inside it.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_DOT_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_DOT_HPP

#include <cuda.h>

#include <string>

namespace cgh {

class Graph;

std::string to_dot(const Graph& graph, unsigned flags);
// Writes it to a file. CUDA_ERROR_OPERATING_SYSTEM when that fails.
CUresult print_dot(const Graph& graph, const char* path, unsigned flags);

}  // namespace cgh

#endif
