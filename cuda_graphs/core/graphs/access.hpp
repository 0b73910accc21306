// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// What a node reads and writes. `GraphDef.check` and task flows use this description of a node and no other. It does
// not include the graphs inside a node: callers add the accesses of their nodes.
//
// The kind of most nodes tells everything. The accesses of kernels and host callbacks are declared, or unknown. A
// kernel without a declaration may read and write all memory that its arguments point into. Through
// a pointer to const numbers it only reads. A host callback without a
// declaration, and a node that this library does not know, may access everything. The work before a record of an event
// and after a wait for one is everything too.
#ifndef CUDA_GRAPHS_CORE_GRAPHS_ACCESS_HPP
#define CUDA_GRAPHS_CORE_GRAPHS_ACCESS_HPP

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "core/resources/module.hpp"
#include "span.hpp"

namespace cg {

struct NodeSpec;

enum class Accessed : std::uint8_t { kMemory, kEvent, kCondition };
// kUnknown and kMayRead are possible accesses: the node may also leave the memory alone.
enum class AccessMode : std::uint8_t { kRead, kWrite, kUnknown, kMayRead };

inline bool may_write(AccessMode mode) noexcept {
    return mode == AccessMode::kWrite || mode == AccessMode::kUnknown;
}

// An event or a condition is one byte, whose address is its handle.
struct Access {
    Span span;
    AccessMode mode = AccessMode::kRead;
    Accessed what = Accessed::kMemory;
};

struct NodeAccesses {
    std::vector<Access> all;
    bool is_unknown = false;  // the node may access other memory, or in another way
    bool is_barrier = false;  // the node must stay between all work before it and all work after it
};

// The accesses that the caller of `launch` or `callback` declared, and the conditions among a kernel's arguments.
struct DeclaredAccesses {
    std::vector<Span> reads;
    std::vector<Span> writes;
    std::vector<CUgraphConditionalHandle> conditions;
    bool is_known = false;  // reads and writes were declared, perhaps as empty
};
using DeclaredHandle = std::shared_ptr<const DeclaredAccesses>;

// Appends the accesses of a node. `declared` may be null. `parameters` are those of a kernel, else null. Calls the
// driver for a kernel without a declaration. Called without the GIL.
CUresult add_accesses(const NodeSpec& spec, const DeclaredAccesses* declared, const std::vector<Parameter>* parameters,
                      NodeAccesses& accesses);

}  // namespace cg

#endif
