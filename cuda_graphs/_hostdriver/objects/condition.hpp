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

struct ConditionCell {
    std::atomic<uint32_t> generation{0};  // odd while a handle uses the cell
    std::atomic<uint32_t> value{0};
};

// One conditional handle. Shared by the graph that made it and by the programs that read it; the handle goes stale when
// the last of them is gone.
class Condition {
  public:
    static std::shared_ptr<Condition> create(CUcontext context, uint32_t default_value, bool assigns_default);
    ~Condition();
    Condition(const Condition&) = delete;
    Condition& operator=(const Condition&) = delete;

    CUgraphConditionalHandle handle() const { return handle_; }
    CUcontext context() const { return context_; }
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
              bool assigns_default)
        : cell_(cell),
          handle_(handle),
          context_(context),
          default_value_(default_value),
          assigns_default_(assigns_default) {}

    ConditionCell* cell_;
    CUgraphConditionalHandle handle_;
    CUcontext context_;
    uint32_t default_value_;
    bool assigns_default_;
};

using ConditionPtr = std::shared_ptr<Condition>;

// cudaGraphSetConditional. False when no live handle has this value.
bool set_condition(CUgraphConditionalHandle handle, uint32_t value);

}  // namespace cgh

#endif
