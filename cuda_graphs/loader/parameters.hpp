// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The named parameters of a loaded definition, and of each definition that it embeds. Values of parameters.
#ifndef CUDA_GRAPHS_LOADER_PARAMETERS_HPP
#define CUDA_GRAPHS_LOADER_PARAMETERS_HPP

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/graphs/definition.hpp"
#include "manifest.hpp"
#include "memory.hpp"

namespace cgr {

// Write the value of a number; return false for one that the type does not have.
bool encode_int(const cg::ValueType& type, std::int64_t value, cg::ParameterValue* to);
bool encode_uint(const cg::ValueType& type, std::uint64_t value, cg::ParameterValue* to);
bool encode_float(const cg::ValueType& type, double value, cg::ParameterValue* to);

// The parameters of one definition. Each is declared when it is first asked for.
class Parameters {
  public:
    Parameters(cg::GraphBox& graph, const std::vector<Json>& rows, const std::vector<LoadedMemory>& memory)
        : graph_(&graph), rows_(rows), memory_(memory) {}

    // Returns the parameters of another definition of the file, which have the same rows.
    Parameters of(cg::GraphBox& graph) const { return {graph, rows_, memory_}; }

    // Returns the parameter of a row.
    const cg::ParameterRef& get(std::size_t number);
    std::size_t count() const noexcept { return rows_.size(); }

  private:
    bool is_known(const cg::ParameterRef& parameter) const noexcept;
    cg::ParameterValue read_default(const Row& row, std::size_t number, const cg::ParameterType& type) const;
    cg::ParameterValue read_number(const Row& row, const cg::ParameterType& type) const;
    cg::ParameterValue read_place(const Row& row, const cg::ParameterType& type) const;

    cg::GraphBox* graph_;
    const std::vector<Json>& rows_;
    const std::vector<LoadedMemory>& memory_;
    std::unordered_map<std::size_t, cg::ParameterRef> known_;
};

}  // namespace cgr

#endif
