// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Conditional handles. A handle names a cell with a 32-bit value. Kernels write the value (cudaGraphSetConditional) and
// conditional nodes read it.
//
// Kernels pass the handle as a plain number, so any number can arrive. The cells are in a slab that is never freed, and
//
//     handle = generation << 32 | index + 1
//
// so two loads, without a lock, distinguish a live handle from a stale or invalid one.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_GRAPHS_CONDITION_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_GRAPHS_CONDITION_HPP

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

// A conditional handle. The graph that created it and the executables that read it share it. The handle becomes stale
// when the last of them is destroyed.
class Condition {
  public:
    // Creates a handle. `graph_uid` is the uid of the root of the hierarchy in which it may be used.
    static std::shared_ptr<Condition> create(CUcontext context, uint32_t default_value, bool assigns_default,
                                             uint64_t graph_uid);
    // Returns null if no live handle has this value.
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

    // "Applied at the beginning of each graph execution if CU_GRAPH_COND_ASSIGN_DEFAULT is set in flags" (cuda.h). On
    // an H200 this means the outermost graph: a body that starts again does not assign the default.
    void assign_default() const {
        if (assigns_default_) cell_->value.store(default_value_, std::memory_order_release);
    }

    // True if a conditional node of the definition uses the handle ("Use one node per handle").
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

// Implements cudaGraphSetConditional for the kernel that runs on the calling thread. Returns false if no live handle
// has this value or the kernel does not run in a graph. An H200 reports both as CUDA_ERROR_ILLEGAL_ADDRESS.
bool set_condition(CUgraphConditionalHandle handle, uint32_t value);

}  // namespace cgh

#endif
