// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The loaded tables of a file, which its nodes refer to.
#ifndef CUDA_GRAPHS_LOADER_TABLES_HPP
#define CUDA_GRAPHS_LOADER_TABLES_HPP

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "archive.hpp"
#include "core/graphs/definition.hpp"
#include "core/graphs/node_spec.hpp"
#include "core/resources/event.hpp"
#include "failure.hpp"
#include "kernels.hpp"
#include "memory.hpp"
#include "program.hpp"

namespace cgr {

// The size of a launch, from the table of configs.
struct Config {
    cg::LaunchSize size;  // its grid counts blocks, with clusters too
    cg::KernelShape shape{};
};

struct LoadedCondition {
    CUgraphConditionalHandle handle;
    std::uint64_t hierarchy;  // number of the definition that it belongs to
};

struct LoadedAlloc {
    CUdeviceptr address;
    std::size_t size;
};

struct Tables {
    Tables(const Archive& file, Program& around);

    // Returns the line of a row of the table of sources for a node or condition of a graph; null: no line.
    cg::SourceLocation find_line(const Json* source, cg::GraphBox& graph, const Where& where) const;

    const Archive& archive;
    Program& program;
    std::vector<LoadedMemory> memory;
    std::vector<LoadedKernel> kernels;
    std::vector<cg::EventHandle> events;
    std::vector<cg::Opaque> lines;  // the program's objects for the table of sources
    std::vector<Config> configs;
    bool computes_sizes;  // the sizes of launches of kernels of Python are those of another driver

    // Filled while the nodes are added.
    std::map<std::pair<std::size_t, std::size_t>, LoadedCondition> conditions;  // by graph and number
    std::vector<LoadedAlloc> allocs;
    cg::PointerHandle stop_word;  // a word that stays 0; made when a loop needs it
};

}  // namespace cgr

#endif
