// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// A graph definition as text in the DOT language. Each graph is a cluster, which contains the clusters of the graphs
// embedded in its nodes.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_GRAPHS_DOT_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_GRAPHS_DOT_HPP

#include <cuda.h>

#include <string>

namespace cgh {

class Graph;

std::string to_dot(const Graph& graph, unsigned flags);
// Writes the text to a file. Returns CUDA_ERROR_OPERATING_SYSTEM if that fails.
CUresult print_dot(const Graph& graph, const char* path, unsigned flags);

}  // namespace cgh

#endif
