// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The named parameters of one executable: their present values, and the nodes that use them (executable_node.hpp).
// Setting a value writes it into the nodes that use it and makes one driver call for each of these nodes. It runs no
// Python, allocates nothing, and costs nothing for other nodes.
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
#include "executable_node.hpp"
#include "named_parameter.hpp"

namespace cg {

// A new value. ExecParameters::set exchanges it with the previous value.
struct ParameterChange {
    std::size_t index = 0;                    // index when the caller looked it up; locate() updates it
    const ParameterRef* parameter = nullptr;  // parameter of this name and type; the caller keeps it
    ParameterValue value;
    bool was_set = true;
    bool has_form = false;  // the previous value is known and has the same extents; set by ExecParameters
    // Number of the parameter's leading slots to write; set by ExecParameters.
    std::size_t affected = 0;
};

using ParameterChanges = std::vector<ParameterChange>;

// Causes for which values could not be set or a launch could not be made.
enum class ParameterFault {
    kNone,
    kDropped,    // an update dropped the parameter
    kMissing,    // a parameter has no value
    kDestroyed,  // a node that uses it was destroyed in the definition
    kPageable,   // a memcpy node cannot copy the memory
    kExtent,     // the value is no valid size or count
    kLength,     // a copy or fill would go beyond the end of an operand
    kShape,      // a node takes only arrays of the shape of the default
    kRefused,    // the kernel of a node does not take the values together
    kEdited,     // the edges of the naming definition were edited
    kDriver,     // the driver refused the new parameters of a node
};

struct ParameterProblem {
    ParameterFault fault = ParameterFault::kNone;
    CUresult status = CUDA_SUCCESS;  // status of the driver call
    ParameterRef parameter;
    NodeHandle node;          // node that the driver refused to set, or whose rules refused the values
    Opaque why;               // the Python exception of a rule, if it raised one
    bool is_updated = false;  // the executable has the nodes of another definition since an update
};

struct ParameterSlot {
    std::uint32_t node;
    ParameterUse use;
};

struct ExecParameter {
    ParameterRef parameter;
    ParameterValue value;
    std::vector<ParameterSlot> slots;  // first those that another array of the same extents affects
    std::size_t first = 0;             // number of those
    bool was_set = false;              // the value was set, so it is not the default
    bool is_declared = false;          // the definition that the executable is about to match declares the parameter
};

// The name, type and present value of one parameter, for display.
struct PresentParameter {
    ParameterRef parameter;
    ParameterValue value;
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
    // Returns true when the present value has the owner of the change.
    bool has_owner(const ParameterChange& change) const noexcept;

    // Sets the index of each change. Returns false when the executable lacks one of their parameters.
    bool locate(ParameterChange* changes, std::size_t count, ParameterProblem* problem) const;
    // Returns true when each parameter that a node uses would have a value after the changes.
    bool is_complete(const ParameterChange* changes, std::size_t count, ParameterProblem* problem) const noexcept;
    // Sets new values: all, or none on failure.
    bool set(const ExecTarget& exec, ParameterChange* changes, std::size_t count, ParameterProblem* problem);
    // Restores the previous values, which `set` stored in `changes`.
    void undo(const ExecTarget& exec, ParameterChange* changes, std::size_t count);
    // Returns true when the rules of the nodes allow the values that settle() will set.
    bool may_settle(ParameterProblem* problem);
    // Sets the nodes whose values differ from those of the definition that the executable matches. A node that the
    // driver refuses loses its values; the others have theirs.
    bool settle(const ExecTarget& exec, ParameterProblem* problem);

    // Writes present values into `node` and `params`, the parameters that a node of the executable is about to get.
    // Fails with a `problem` when the rules of the node refuse them.
    CUresult fill(ExecNode& node, NodeSpec& spec, ParameterProblem* problem);
    // Returns a place or temporary of `spec` that the node does not use, or uses with other code; null if there is
    // none.
    ParameterRef find_unplanned(const NodeRecord& node, const NodeSpec& spec) const;
    // Replaces the entry of a node that was set. `uses` may be empty.
    void replace(ExecNode&& fresh, const std::vector<ParameterUse>& uses);

  private:
    explicit ExecParameters(const NodeHandle& definition) : definition_(definition) {}

    void inherit(const ExecParameters& previous);
    void drop_undeclared();
    std::size_t find(const NamedParameter& parameter) const;
    std::uint32_t declare(const ParameterRef& parameter);
    CUresult add_node(NodeRecord& named, const NodeRecord& source);
    void add_uses(std::uint32_t node, const std::vector<ParameterUse>& uses);
    void mark_pending(std::uint32_t node);
    void add_slot(ExecParameter& entry, const ParameterSlot& slot);
    void watch(ExecNode& node, const NodeRules& rules, const std::vector<ParameterUse>& uses);
    ParameterFault follow_rules(ExecNode& node, Opaque* why) const;
    bool follow_pending_rules(std::uint32_t node, ParameterProblem* problem);
    bool follow_rules_of_pending(ParameterProblem* problem, std::size_t* failed);
    bool apply_node(std::uint32_t node, const ExecTarget& exec, ParameterProblem* problem);
    void compare(ParameterChange& change) const noexcept;
    bool may_change(const ParameterChange& change, ParameterProblem* problem) const;
    void exchange(ParameterChange& change);
    void count_unknown(const ExecParameter& entry, const ParameterValue& before);
    const ParameterRef& user_of(std::uint32_t node) const;
    const ParameterRef& ruled_user_of(std::uint32_t node) const;
    bool apply_pending(const ExecTarget& exec, ParameterProblem* problem, std::size_t* done);
    void exchange_back(ParameterChange* changes, std::size_t count);
    void take_back(const ExecTarget& exec, std::size_t done);
    void mark_unknown(std::uint32_t node);
    void count_missing() noexcept;

    NodeHandle definition_;
    std::vector<ExecParameter> all_;
    std::vector<ExecNode> nodes_;
    std::vector<std::uint32_t> pending_;  // nodes with values that the executable lacks
    std::size_t missing_ = 0;             // number of parameters that are used and have no value
};

}  // namespace cg

#endif
