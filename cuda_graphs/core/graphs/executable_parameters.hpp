// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The named parameters of one executable: their present values, and a recipe for each node that uses any. A recipe
// holds the node's parameters as they are in the executable now. Setting a value writes it into the recipes of the
// nodes that use it and makes one driver call for each of these nodes. It runs no Python, allocates nothing, and costs
// nothing for other nodes.
//
// The driver identifies the nodes of an executable by those of the definition it was instantiated from, also after an
// update with another definition (tests/conformance/driver, patch/names_after_an_update). Therefore that definition is
// kept.
#ifndef CUDA_GRAPHS_CORE_GRAPHS_EXECUTABLE_PARAMETERS_HPP
#define CUDA_GRAPHS_CORE_GRAPHS_EXECUTABLE_PARAMETERS_HPP

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "definition.hpp"
#include "executable_memsets.hpp"
#include "named_parameter.hpp"

namespace cg {

// The parameters of one node of the executable, into which new values are written.
class Recipe {
  public:
    // `named` is the node of the first definition that names the executable's node.
    explicit Recipe(NodeRecord& named) noexcept : node_(&named), raw_(named.raw), deaths_(named.deaths) {}
    Recipe(Recipe&&) noexcept = default;  // its parameters point into members that keep their addresses
    Recipe& operator=(Recipe&&) noexcept = default;

    // Loads the parameters of a node with the same parameters: the naming node, or its partner in another definition.
    CUresult load(const NodeRecord& source);
    CUresult load(const CUgraphNodeParams& params);

    NodeRecord* node() const noexcept { return node_; }
    // Returns true when the naming node was destroyed.
    bool is_lost() const noexcept { return node_->deaths != deaths_; }

    CUgraphNodeParams& params() noexcept { return params_; }
    const CUgraphNodeParams& params() const noexcept { return params_; }

    // Sets the node in the executable. Makes no driver call while a memset or memcpy node lacks a value.
    CUresult apply(const ExecTarget& exec);

    std::uint32_t unknown = 0;  // number of missing values
    bool touched = false;

  private:
    CUresult keep_arguments();

    NodeRecord* node_;
    CUgraphNode raw_;
    std::uint32_t deaths_;
    CUgraphNodeParams params_{};
    std::vector<std::uint64_t> words_;  // argument values of a kernel node
    std::vector<void*> pointers_;       // pointers to `words_`
};

// A new value. ExecParameters::set exchanges it with the previous value.
struct ParameterChange {
    std::size_t index = 0;   // index when the caller looked it up; locate() updates it
    ParameterRef parameter;  // parameter of this name and type
    ParameterValue value;
    bool was_set = true;
};

using ParameterChanges = std::vector<ParameterChange>;

// Causes for which values could not be set or a launch could not be made.
enum class ParameterFault {
    kNone,
    kGone,      // an update dropped the parameter
    kMissing,   // a parameter has no value
    kLost,      // a node that uses it was destroyed in the definition
    kPageable,  // a memcpy node cannot copy the memory
    kExtent,    // the value is no valid size or count
    kEdited,    // the edges of the naming definition were edited
    kDriver,    // the driver refused the new parameters of a node
};

struct ParameterProblem {
    ParameterFault fault = ParameterFault::kNone;
    CUresult status = CUDA_SUCCESS;  // status of the driver call
    ParameterRef parameter;
    NodeHandle node;  // node that the driver refused to set
};

struct ParameterSlot {
    std::uint32_t recipe;
    ParameterUse use;
};

struct ExecParameter {
    ParameterRef parameter;
    ParameterValue value;
    std::vector<ParameterSlot> slots;
    bool was_set = false;      // the value was set, so it is not the default
    bool is_declared = false;  // the definition that the executable is about to match declares the parameter
};

// The name, type and present value of one parameter, for display.
struct PresentParameter {
    ParameterRef parameter;
    std::uint64_t bits;
    bool is_known;
};

// The parameters of one executable. Indices change with updates, which drop the parameters that the new definition
// lacks.
class ExecParameters {
  public:
    // Creates the parameters of an executable that was instantiated from `first` and matches, or is about to match,
    // `graph`. Copies the values that were set in `previous` (may be null) for parameters of equal name and type.
    // Returns null with a noted error on failure.
    static std::unique_ptr<ExecParameters> create(const NodeHandle& first, GraphBox& graph,
                                                  const ExecParameters* previous);

    // copy_values() returns the values without the nodes, as `previous` for another executable; catch_up() adds values
    // set since then.
    std::unique_ptr<ExecParameters> copy_values() const;
    void catch_up(const ExecParameters& other);

    const NodeHandle& definition() const noexcept { return definition_; }
    void list(std::vector<PresentParameter>& values) const;
    void list_owners(std::vector<Opaque>& owners) const;

    // Sets the index of each change. Returns false when the executable lacks one of their parameters.
    bool locate(ParameterChange* changes, std::size_t count, ParameterProblem* problem) const;
    // Returns true when each parameter that a node uses would have a value after the changes.
    bool is_complete(const ParameterChange* changes, std::size_t count, ParameterProblem* problem) const noexcept;
    // Sets new values: all, or none on failure.
    bool set(const ExecTarget& exec, ParameterChange* changes, std::size_t count, ParameterProblem* problem);
    // Restores the previous values, which `set` stored in `changes`.
    void undo(const ExecTarget& exec, ParameterChange* changes, std::size_t count);
    // Sets the nodes whose values differ from those of the definition that the executable matches.
    bool settle(const ExecTarget& exec, ParameterProblem* problem);

    // Writes present values into the parameters that a node of the executable is about to get.
    void fill(CUgraphNodeParams& params, const std::vector<ParameterUse>& uses);
    // Replaces the recipe of a node that was set. `uses` may be empty.
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
    std::vector<std::uint32_t> touched_;  // recipes with values that the executable lacks
    std::size_t missing_ = 0;             // number of parameters that are used and have no value
};

}  // namespace cg

#endif
