// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Memset nodes of an executable that can be disabled. libcuda 580 on an H200 loses the order through a memset node that
// it disables: the successors of the node, and the end of the launch, do not wait for its predecessors
// (docs/design/2026-11-libcuda-updates.md). Therefore this library never disables a memset in the driver. Instead a
// disabled memset fills scratch memory: one element of it, or for a two-dimensional memset the unchanged size, since an
// executable cannot change the number of rows. The driver cannot report the parameters that the memset has when
// enabled, so they are recorded here.
#ifndef CUDA_GRAPHS_CORE_GRAPHS_EXECUTABLE_MEMSETS_HPP
#define CUDA_GRAPHS_CORE_GRAPHS_EXECUTABLE_MEMSETS_HPP

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/resources/memory.hpp"
#include "definition.hpp"

namespace cg {

struct MemsetParameters {
    CUgraphNode node;  // node of the definition that names the memset in the executable
    CUDA_MEMSET_NODE_PARAMS_v2 params;
};
using MemsetList = std::vector<MemsetParameters>;

// Lists the parameters of the memset nodes of `graph` and of its inner graphs. Each is named by its partner
// (node_pairing.hpp) in `first`, which may be the same graph. Returns false with a noted error when the shapes differ.
// The caller holds the GIL.
bool list_memsets(GraphBox& first, GraphBox& graph, MemsetList& memsets);

// The memsets of one executable. There is no lock: the caller holds the executable's mutex.
class ExecMemsets {
  public:
    // Records the memsets that the driver has just set, all enabled, and disables again those that were disabled.
    CUresult replace(CUgraphExec exec, const MemsetList& memsets);

    bool contains(CUgraphNode node) const { return entries_.count(node) != 0; }
    bool is_empty() const noexcept { return entries_.empty(); }
    // Records that all memsets are as in `graph` when memset_version() of its hierarchy is `version`.
    void set_source(const GraphBox& graph, std::uint64_t version) noexcept { source_ = {&graph, version}; }
    bool match(const GraphBox& graph, std::uint64_t version) const noexcept {
        return source_.graph == &graph && source_.version == version && !has_disabled();
    }
    bool is_disabled(CUgraphNode node) const;
    bool has_disabled() const noexcept;
    // Drops all entries, after the definition whose nodes name them was destroyed.
    void clear() noexcept { entries_.clear(), source_ = {}; }

    // The scratch memory that the node fills while it is disabled (empty if none was given), and its size in bytes.
    PointerHandle scratch(CUgraphNode node) const;
    std::size_t scratch_size(CUgraphNode node) const;
    void give_scratch(CUgraphNode node, PointerHandle scratch, CUcontext context);
    std::vector<Opaque> all_scratch() const;

    // Enables or disables a node that has scratch memory. Nothing changes on failure.
    CUresult set_enabled(CUgraphExec exec, CUgraphNode node, bool on);
    // Sets the parameters of the enabled memset, from now on or from when it is enabled again.
    CUresult set(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams& params);

  private:
    struct Entry {
        CUDA_MEMSET_NODE_PARAMS_v2 params{};
        PointerHandle scratch;
        CUcontext context = nullptr;  // context, when the driver cannot report the node's
        bool is_disabled = false;
    };

    static CUresult apply(CUgraphExec exec, CUgraphNode node, const Entry& entry, bool on);

    struct Source {
        const GraphBox* graph = nullptr;  // only for comparison, never dereferenced
        std::uint64_t version = 0;
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
