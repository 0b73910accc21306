// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Memset nodes of an executable, which can be switched off. libcuda (580, on an H200) loses the order through a memset
// node that it disables: what is behind the node, and the end of the launch, do not wait for what is before it
// (docs/design/2026-11-libcuda-updates.md). So no driver is told to disable one. A memset that is off
// fills memory that nobody reads: one element of it, or as many rows as it has, which an executable cannot change. What
// it does when it is on no driver tells; so it is noted here.
#ifndef CUDA_GRAPHS_HANDLES_EXEC_MEMSETS_HPP
#define CUDA_GRAPHS_HANDLES_EXEC_MEMSETS_HPP

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "graph.hpp"
#include "memory.hpp"

namespace cg {

struct NotedMemset {
    CUgraphNode node;  // that names it in the executable
    CUDA_MEMSET_NODE_PARAMS_v2 params;
};
using NotedMemsets = std::vector<NotedMemset>;

// What the memset nodes of `graph` and of the graphs inside it do, each named by its partner (graph_pairs.hpp) in
// `first`, which may be the same graph. False with a noted error when the shapes differ. With the GIL.
bool note_memsets(GraphBox& first, GraphBox& graph, NotedMemsets& noted);

// Not locked: the executable's mutex is held.
class ExecMemsets {
  public:
    // For the driver each of these does that now, and is on. Those that are off become so again.
    CUresult take_over(CUgraphExec exec, const NotedMemsets& noted);

    bool knows(CUgraphNode node) const { return entries_.count(node) != 0; }
    bool is_empty() const noexcept { return entries_.empty(); }
    // They do what those of `graph` did when its hierarchy had that number (memsets_of), all of them.
    void set_source(const GraphBox& graph, std::uint64_t number) noexcept { source_ = {&graph, number}; }
    bool are_as_in(const GraphBox& graph, std::uint64_t number) const noexcept {
        return source_.graph == &graph && source_.number == number && !has_off();
    }
    bool is_off(CUgraphNode node) const;
    bool has_off() const noexcept;
    // When the definition that names them is gone.
    void forget() noexcept { entries_.clear(), source_ = {}; }

    // The memory that the node fills while it is off, if it was given some; and how many bytes it takes.
    PointerHandle scratch(CUgraphNode node) const;
    std::size_t scratch_size(CUgraphNode node) const;
    void give_scratch(CUgraphNode node, PointerHandle scratch, CUcontext context);
    std::vector<Opaque> all_scratch() const;

    // Of a node that has scratch memory. Nothing changes on failure.
    CUresult turn(CUgraphExec exec, CUgraphNode node, bool on);
    // What it does from now on, or when it is on again.
    CUresult set(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams& params);

  private:
    struct Entry {
        CUDA_MEMSET_NODE_PARAMS_v2 params{};
        PointerHandle scratch;
        CUcontext context = nullptr;  // where the driver did not tell that of the node
        bool off = false;
    };

    static CUresult apply(CUgraphExec exec, CUgraphNode node, const Entry& entry, bool on);

    struct Source {
        const GraphBox* graph = nullptr;  // only to be compared
        std::uint64_t number = 0;
    };

    std::unordered_map<CUgraphNode, Entry> entries_;
    Source source_;
};

// An executable whose nodes are about to be set.
struct ExecTarget {
    CUgraphExec raw;
    ExecMemsets& memsets;

    CUresult set(CUgraphNode node, CUgraphNodeParams& params) const;
};

}  // namespace cg

#endif
