// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The node kinds that own graphs, memory or a condition besides their parameters. Their rows in node_kinds.cpp have no
// parser.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_GRAPHS_OWNING_KINDS_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_GRAPHS_OWNING_KINDS_HPP

#include <cuda.h>

#include <vector>

#include "hostdriver/objects/graphs/node.hpp"

namespace cgh {

struct ChildKind {
    static CUresult create(Node& node, CUgraphNodeParams& params);
    static CUresult set(Node& node, CUgraphNodeParams& params);
    static void get(Node& node, CUgraphNodeParams& params);
    static CUresult copy(const Node& from, Node& to);
    static std::vector<Graph*> embedded(const Node& node);
};

struct AllocKind {
    static CUresult create(Node& node, CUgraphNodeParams& params);
    static CUresult set(Node& node, CUgraphNodeParams& params);
    static void get(Node& node, CUgraphNodeParams& params);
};

struct FreeKind {
    static CUresult create(Node& node, CUgraphNodeParams& params);
    static CUresult set(Node& node, CUgraphNodeParams& params);
    static void get(Node& node, CUgraphNodeParams& params);
};

struct ConditionalKind {
    static CUresult create(Node& node, CUgraphNodeParams& params);
    static CUresult set(Node& node, CUgraphNodeParams& params);
    static void get(Node& node, CUgraphNodeParams& params);
    static std::vector<Graph*> embedded(const Node& node);
};

}  // namespace cgh

#endif
