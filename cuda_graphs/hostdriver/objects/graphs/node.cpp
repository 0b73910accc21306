// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "hostdriver/objects/graphs/node.hpp"

namespace cgh {

bool has_edge(const Node& from, const Node& to) {
    const bool look_at_from = from.dependents.size() <= to.dependencies.size();
    const Edges& edges = look_at_from ? from.dependents : to.dependencies;
    const Node* const other = look_at_from ? &to : &from;
    for (const Edge& edge : edges) {
        if (edge.node == other) return true;
    }
    return false;
}

}  // namespace cgh
