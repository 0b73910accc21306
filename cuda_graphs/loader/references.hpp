// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// What operands of nodes refer to: ["m", memory, offset], ["a", alloc node, offset], ["c", graph, condition],
// ["p", parameter], ["e", parameter, axis] and ["s", condition].
#ifndef CUDA_GRAPHS_LOADER_REFERENCES_HPP
#define CUDA_GRAPHS_LOADER_REFERENCES_HPP

#include <cstdint>

#include "parameters.hpp"
#include "tables.hpp"

namespace cgr {

struct Reference {
    enum class Kind { kPlace, kParameter, kExtent, kCondition, kStop };
    Kind kind = Kind::kPlace;
    Place place;
    cg::ParameterRef parameter;  // of kParameter, kExtent and kStop
    std::uint8_t word = 0;       // of kExtent: its axis plus 1
    LoadedCondition condition{};
    bool is_direct = false;  // "p", and no array of the table of memory

    bool is_parameter() const noexcept { return kind == Kind::kParameter; }
};

// Resolves the references in the nodes of one definition.
class References {
  public:
    References(Tables& tables, cg::GraphBox& graph, Parameters& parameters)
        : tables_(tables), graph_(graph), parameters_(parameters) {}

    Reference resolve(const Json* reference, const Where& where);
    // Returns the number of the definition that the nodes belong to.
    std::uint64_t hierarchy() const noexcept { return cg::hierarchy_number(graph_); }
    LoadedCondition condition(const Json& graph, const Json& number, const Where& where) const;

  private:
    Reference memory(const std::vector<Json>& parts, const Where& where);
    Reference alloc(const std::vector<Json>& parts, const Where& where);
    Reference given_condition(const std::vector<Json>& parts, const Where& where);
    Reference parameter(const std::vector<Json>& parts, const Where& where);
    Reference extent(const std::vector<Json>& parts, const Where& where);
    Reference stop(const std::vector<Json>& parts, const Where& where);

    Tables& tables_;
    cg::GraphBox& graph_;
    Parameters& parameters_;
};

}  // namespace cgr

#endif
