// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Conditional handles. A handle names a cell that holds one 32-bit value; kernels write it (cudaGraphSetConditional),
// conditional nodes read it.
//
// Kernels pass the handle as a plain number, so any number can arrive. The cells live in a slab that is never freed,
// and
//
//     handle = generation << 32 | index + 1
//
// so that a stale or made-up handle is told from a live one by two loads, without a lock.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_CONDITION_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_CONDITION_HPP

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace cgh {

class Condition;

struct ConditionCell {
    std::atomic<uint32_t> generation{0};  // odd while a handle uses the cell
    std::atomic<uint32_t> value{0};
    std::weak_ptr<Condition> condition;  // guarded by the slab's mutex
};

// One conditional handle. Shared by the graph that made it and by the programs that read it; the handle goes stale when
// the last of them is gone.
class Condition {
  public:
    // `graph_uid`: of the root of the hierarchy that it may be used in.
    static std::shared_ptr<Condition> create(CUcontext context, uint32_t default_value, bool assigns_default,
                                             uint64_t graph_uid);
    // Null when no live handle has this value.
    static std::shared_ptr<Condition> find(CUgraphConditionalHandle handle);
    ~Condition();
    Condition(const Condition&) = delete;
    Condition& operator=(const Condition&) = delete;

    CUgraphConditionalHandle handle() const { return handle_; }
    CUcontext context() const { return context_; }
    uint64_t graph_uid() const { return graph_uid_; }
    uint32_t default_value() const { return default_value_; }
    bool assigns_default() const { return assigns_default_; }

    uint32_t value() const { return cell_->value.load(std::memory_order_acquire); }

    // "Applied at the beginning of each graph execution if CU_GRAPH_COND_ASSIGN_DEFAULT is set in flags" (cuda.h): of
    // the outermost graph, as measured on an H200; a body that starts again does not assign it.
    void assign_default() const {
        if (assigns_default_) cell_->value.store(default_value_, std::memory_order_release);
    }

    // "Use one node per handle": whether a conditional node of the definition has taken it.
    bool attached = false;

  private:
    Condition(ConditionCell* cell, CUgraphConditionalHandle handle, CUcontext context, uint32_t default_value,
              bool assigns_default, uint64_t graph_uid)
        : cell_(cell),
          handle_(handle),
          context_(context),
          default_value_(default_value),
          assigns_default_(assigns_default),
          graph_uid_(graph_uid) {}

    ConditionCell* cell_;
    CUgraphConditionalHandle handle_;
    CUcontext context_;
    uint32_t default_value_;
    bool assigns_default_;
    uint64_t graph_uid_;
};

using ConditionPtr = std::shared_ptr<Condition>;

// cudaGraphSetConditional by the kernel that runs on the calling thread. False when no live handle has this value, or
// the kernel does not run in a graph: an H200 answers both with CUDA_ERROR_ILLEGAL_ADDRESS.
bool set_condition(CUgraphConditionalHandle handle, uint32_t value);

}  // namespace cgh

#endif
