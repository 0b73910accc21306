// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The parameters of one executable: their present values, and for each node that uses some a recipe, the parameters of
// the node as they are in the executable now. A new value is written into the recipes of the nodes that use it, and
// each of these makes one driver call. No Python, no allocation, nothing for nodes that do not use it.
//
// The driver knows the nodes of an executable by those of the definition it was instantiated from, also after an update
// with another one (tests/conformance/driver, patch/names_after_an_update). So that definition is kept.
#ifndef CUDA_GRAPHS_HANDLES_EXEC_PARAMETERS_HPP
#define CUDA_GRAPHS_HANDLES_EXEC_PARAMETERS_HPP

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exec_memsets.hpp"
#include "graph.hpp"
#include "named_parameter.hpp"

namespace cg {

// What a node of the executable does, with room for new values.
class Recipe {
  public:
    // `named` is the node of the first definition that names it.
    explicit Recipe(NodeRecord& named) noexcept : node_(&named), raw_(named.raw), deaths_(named.deaths) {}
    Recipe(Recipe&&) noexcept = default;  // its parameters point into what moves along
    Recipe& operator=(Recipe&&) noexcept = default;

    // From a node that is like it: the one that names it, or its partner in another definition.
    CUresult load(const NodeRecord& source);
    CUresult load(const CUgraphNodeParams& params);

    NodeRecord* node() const noexcept { return node_; }
    // The node that names it was destroyed.
    bool is_lost() const noexcept { return node_->deaths != deaths_; }

    CUgraphNodeParams& params() noexcept { return params_; }
    const CUgraphNodeParams& params() const noexcept { return params_; }

    // Asks the driver, unless a memset or memcpy node lacks a value.
    CUresult apply(const ExecTarget& exec);

    std::uint32_t unknown = 0;  // values that are missing
    bool touched = false;

  private:
    CUresult keep_arguments();

    NodeRecord* node_;
    CUgraphNode raw_;
    std::uint32_t deaths_;
    CUgraphNodeParams params_{};
    std::vector<std::uint64_t> words_;  // of a kernel: its arguments
    std::vector<void*> pointers_;       // to them
};

// A new value; afterwards, the one before.
struct ParameterChange {
    std::size_t index = 0;   // of the parameter when the caller looked; locate() finds the present one
    ParameterRef parameter;  // of the same name and type
    ParameterValue value;
    bool was_set = true;
};

using ParameterChanges = std::vector<ParameterChange>;

// Why values could not be set, or a launch be made.
enum class ParameterFault {
    kNone,
    kGone,      // an update dropped the parameter
    kMissing,   // a parameter has no value
    kLost,      // a node that uses it was destroyed in the definition
    kPageable,  // a memcpy node cannot copy the memory
    kExtent,    // no size or count
    kEdited,    // the definition whose nodes name those of the executable has other edges by now
    kDriver,    // refused the new parameters of a node
};

struct ParameterProblem {
    ParameterFault fault = ParameterFault::kNone;
    CUresult status = CUDA_SUCCESS;  // of the driver
    ParameterRef parameter;
    NodeHandle node;  // of the driver's refusal: which node was to get its value
};

struct ParameterSlot {
    std::uint32_t recipe;
    ParameterUse use;
};

struct ExecParameter {
    ParameterRef parameter;
    ParameterValue value;
    std::vector<ParameterSlot> slots;
    bool was_set = false;      // the value is more than the default
    bool is_declared = false;  // in the definition that the executable is about to be like
};

// What there is to see of one.
struct PresentParameter {
    ParameterRef parameter;
    std::uint64_t bits;
    bool is_known;
};

// Indices change with updates, which drop the parameters that the new definition does not have.
class ExecParameters {
  public:
    // Of an executable that was made of `first` and is, or is about to be, like `graph`. From `previous` (may be null)
    // come values that were set, where name and type are the same. Null with a noted error.
    static std::unique_ptr<ExecParameters> create(const NodeHandle& first, GraphBox& graph,
                                                  const ExecParameters* previous);

    // The values without the nodes, to create others from; and what was set since then.
    std::unique_ptr<ExecParameters> copy_values() const;
    void catch_up(const ExecParameters& other);

    const NodeHandle& definition() const noexcept { return definition_; }
    void list(std::vector<PresentParameter>& values) const;
    void list_owners(std::vector<Opaque>& owners) const;

    // Sets the index of each change. Returns false when the executable lacks one of their parameters.
    bool locate(ParameterChange* changes, std::size_t count, ParameterProblem* problem) const;
    // Whether each parameter that a node uses would have a value, given the changes.
    bool is_complete(const ParameterChange* changes, std::size_t count, ParameterProblem* problem) const noexcept;
    // New values, all or none.
    bool set(const ExecTarget& exec, ParameterChange* changes, std::size_t count, ParameterProblem* problem);
    // The values that `set` put into `changes` again.
    void undo(const ExecTarget& exec, ParameterChange* changes, std::size_t count);
    // Brings to the executable what is not as in the definition it is like.
    bool settle(const ExecTarget& exec, ParameterProblem* problem);

    // Present values into what a node of the executable is about to get.
    void fill(CUgraphNodeParams& params, const std::vector<ParameterUse>& uses);
    // It got what is loaded in `fresh`; `uses` may be empty.
    void replace(Recipe&& fresh, const std::vector<ParameterUse>& uses);

  private:
    explicit ExecParameters(const NodeHandle& definition) : definition_(definition) {}

    void inherit(const ExecParameters& previous);
    void drop_undeclared();
    std::size_t find(const NamedParameter& parameter) const;
    std::uint32_t declare(const ParameterRef& parameter);
    CUresult add_recipe(NodeRecord& named, const NodeRecord& source);
    void add_uses(std::uint32_t recipe, const std::vector<ParameterUse>& uses);
    void touch(std::uint32_t recipe);
    bool may_change(const ParameterChange& change, ParameterProblem* problem) const;
    void exchange(ParameterChange& change);
    const ParameterRef& user_of(std::uint32_t recipe) const;
    bool apply_touched(const ExecTarget& exec, ParameterProblem* problem, std::size_t* done);
    void take_back(const ExecTarget& exec, std::size_t done);
    void forget_values(std::uint32_t recipe);
    void count_missing() noexcept;

    NodeHandle definition_;
    std::vector<ExecParameter> all_;
    std::vector<Recipe> recipes_;
    std::vector<std::uint32_t> touched_;  // recipes with values that the executable does not have yet
    std::size_t missing_ = 0;             // parameters that are used and have no value
};

}  // namespace cg

#endif
