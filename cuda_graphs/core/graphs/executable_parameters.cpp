// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "executable_parameters.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <utility>

#include "core/driver/table.hpp"
#include "core/handles/error.hpp"
#include "core/handles/gil.hpp"
#include "core/resources/module.hpp"
#include "graph_memory.hpp"
#include "node_pairing.hpp"
#include "node_spec.hpp"

namespace cg {

std::unique_ptr<ExecParameters> ExecParameters::create(const NodeHandle& first, GraphBox& graph,
                                                       const ExecParameters* previous) {
    std::unique_ptr<ExecParameters> made(new ExecParameters(first));
    if (previous != nullptr) made->inherit(*previous);
    for (const ParameterRef& parameter : parameters_of(graph).all()) made->declare(parameter);
    made->drop_undeclared();
    std::vector<NodePair> pairs;
    GraphBox& named = *box_of<NodeRecord>(first)->graph;
    if (!pair_parameter_nodes(named, graph, pairs)) return nullptr;
    const GilRelease released;
    for (const NodePair& pair : pairs) CU_TRY(made->add_node(*pair.first, *pair.other));
    made->count_missing();
    return made;
}

void ExecParameters::inherit(const ExecParameters& previous) {
    for (const ExecParameter& old : previous.all_) {
        ExecParameter& entry = all_.emplace_back();
        entry.parameter = old.parameter;
        entry.was_set = old.was_set;
        if (old.was_set) entry.value = old.value;
    }
}

std::unique_ptr<ExecParameters> ExecParameters::copy_values() const {
    std::unique_ptr<ExecParameters> copy(new ExecParameters(definition_));
    copy->inherit(*this);
    return copy;
}

void ExecParameters::catch_up(const ExecParameters& other) {
    for (const ExecParameter& theirs : other.all_) {
        const std::size_t i = theirs.was_set ? find(*theirs.parameter) : all_.size();
        if (i == all_.size() || (all_[i].value.known && all_[i].value.has_words_of(theirs.value))) continue;
        ParameterChange change{i, &theirs.parameter, theirs.value};
        compare(change);
        exchange(change);
    }
}

// Removes the parameters that the new definition lacks, before the nodes refer to the others by index. If the names of
// all earlier definitions stayed, each update would take longer.
void ExecParameters::drop_undeclared() {
    const auto is_dropped = [](const ExecParameter& entry) { return !entry.is_declared; };
    all_.erase(std::remove_if(all_.begin(), all_.end(), is_dropped), all_.end());
}

namespace {

bool is_same(const NamedParameter& one, const NamedParameter& other) {
    return &one == &other || (one.name == other.name && one.type == other.type);
}

}  // namespace

// Returns the index of the parameter of that name and type, or all_.size().
std::size_t ExecParameters::find(const NamedParameter& parameter) const {
    const auto is_it = [&](const ExecParameter& entry) { return is_same(*entry.parameter, parameter); };
    return static_cast<std::size_t>(std::find_if(all_.begin(), all_.end(), is_it) - all_.begin());
}

std::uint32_t ExecParameters::declare(const ParameterRef& parameter) {
    const std::size_t index = find(*parameter);
    if (index == all_.size()) all_.emplace_back();
    ExecParameter& entry = all_[index];
    entry.parameter = parameter;
    entry.is_declared = true;
    if (!entry.was_set) entry.value = parameter->initial;
    return static_cast<std::uint32_t>(index);
}

CUresult ExecParameters::add_node(NodeRecord& named, const NodeRecord& source) {
    const auto index = static_cast<std::uint32_t>(nodes_.size());
    ExecNode& node = nodes_.emplace_back(named);
    const CUresult status = node.load(source);
    if (status != CUDA_SUCCESS) return status;
    const NodeParameters& parameters = *source.metadata->parameters;
    watch(node, parameters.rules, parameters.uses);
    add_uses(index, parameters.uses);
    return CUDA_SUCCESS;
}

// Writes the known values into the node, and marks it as pending if that changed it.
void ExecParameters::add_uses(std::uint32_t index, const std::vector<ParameterUse>& uses) {
    ExecNode& node = nodes_[index];
    for (const ParameterUse& use : uses) {
        ExecParameter& entry = all_[declare(use.parameter)];
        add_slot(entry, {index, use});
        if (!entry.value.known) {
            ++node.unknown;
        } else if (!has_value(node.params(), use, entry.value)) {
            write_value(node.params(), use, entry.value);
            mark_pending(index);
            node.must_follow = true;
        }
    }
}

namespace {

// Returns true when a use depends on the number or the address, not only on the extents of an array.
bool depends_on_bits(const ParameterUse& use, const NodeRules& rules) noexcept {
    if (!use.parameter->type.is_array()) return true;
    if (use.field == Field::kSize) return rules.size && rules.size->reads_addresses;
    return use.word == 0 && use.field != Field::kBytes;
}

// Returns true when the rules of a node depend on the number or the address of the use.
bool is_followed(const ParameterUse& use) noexcept {
    return use.field == Field::kSize || use.field == Field::kExtent;
}

}  // namespace

void ExecParameters::add_slot(ExecParameter& entry, const ParameterSlot& slot) {
    const std::size_t place = depends_on_bits(slot.use, nodes_[slot.node].rules) ? entry.first++ : entry.slots.size();
    entry.slots.insert(entry.slots.begin() + static_cast<std::ptrdiff_t>(place), slot);
}

namespace {

// Returns true when the rules of a node depend on the use.
bool is_watched(const ParameterUse& use) noexcept {
    const bool is_array = use.parameter->type.is_array();
    return use.field == Field::kSize || use.field == Field::kBytes || (is_array && (use.is_fixed || is_operand(use)));
}

}  // namespace

// Gives the rules to a node, and the uses that they depend on.
void ExecParameters::watch(ExecNode& node, const NodeRules& rules, const std::vector<ParameterUse>& uses) {
    node.rules = rules;
    for (const ParameterUse& use : uses) {
        if (!is_watched(use)) continue;
        node.watched.push_back({declare(use.parameter), use});
        if (use.field == Field::kSize && use.argument >= node.operands.size()) node.operands.resize(use.argument + 1U);
    }
}

// Computes the size of a kernel node, and checks the values that a node uses against each other. Does nothing while one
// of them is missing.
ParameterFault ExecParameters::follow_rules(ExecNode& node, Opaque* why) const {
    for (const WatchedUse& watched : node.watched) {
        const ParameterValue& value = all_[watched.parameter].value;
        if (!value.known) return ParameterFault::kNone;
        if (watched.use.field == Field::kSize) node.operands[watched.use.argument] = &value;
        if (watched.use.is_fixed && value.extents != watched.use.parameter->initial.extents)
            return ParameterFault::kShape;
    }
    if (node.params().type == CU_GRAPH_NODE_TYPE_KERNEL) {
        if (!node.rules.size) return ParameterFault::kNone;
        const SizeRule& rule = *node.rules.size;
        LaunchSize size = node.size();
        if (!rule.resize(rule.self, node.operands.data(), &size, why)) return ParameterFault::kRefused;
        node.write_size(size);
        return ParameterFault::kNone;
    }
    const std::size_t reach = reach_of(node.params());
    bool fits = reach <= node.rules.most;
    for (const WatchedUse& watched : node.watched) {
        const std::size_t bytes = bytes_of(watched.use.parameter->type, all_[watched.parameter].value);
        if (watched.use.field == Field::kBytes && bytes == 0) return ParameterFault::kExtent;
        fits &= reach <= bytes;
    }
    return fits ? ParameterFault::kNone : ParameterFault::kLength;
}

void ExecParameters::list(std::vector<PresentParameter>& values) const {
    for (const ExecParameter& entry : all_) values.push_back({entry.parameter, entry.value});
}

void ExecParameters::list_owners(std::vector<Opaque>& owners) const {
    for (const ExecParameter& entry : all_)
        if (entry.value.owner) owners.push_back(entry.value.owner);
}

bool ExecParameters::has_owner(const ParameterChange& change) const noexcept {
    return all_[change.index].value.owner.get() == change.value.owner.get();
}

void ExecParameters::mark_pending(std::uint32_t index) {
    if (!std::exchange(nodes_[index].is_pending, true)) pending_.push_back(index);
}

namespace {

bool is_missing(const ExecParameter& entry) noexcept {
    return !entry.value.known && !entry.slots.empty();
}

bool fail(ParameterProblem* problem, ParameterFault fault, ParameterRef parameter, CUresult status = CUDA_SUCCESS,
          NodeHandle node = {}, Opaque why = {}) {
    *problem = {fault, status, std::move(parameter), std::move(node), std::move(why)};
    return false;
}

}  // namespace

bool ExecParameters::locate(ParameterChange* changes, std::size_t count, ParameterProblem* problem) const {
    for (std::size_t i = 0; i < count; ++i) {
        ParameterChange& change = changes[i];
        const NamedParameter& wanted = **change.parameter;
        if (change.index < all_.size() && is_same(*all_[change.index].parameter, wanted)) continue;
        change.index = find(wanted);  // another thread has updated the executable
        if (change.index == all_.size()) return fail(problem, ParameterFault::kDropped, *change.parameter);
    }
    return true;
}

bool ExecParameters::is_complete(const ParameterChange* changes, std::size_t count,
                                 ParameterProblem* problem) const noexcept {
    if (missing_ == 0) return true;
    const auto is_given = [&](std::size_t index) {
        return std::any_of(changes, changes + count, [&](const ParameterChange& c) { return c.index == index; });
    };
    for (std::size_t i = 0; i < all_.size(); ++i)
        if (is_missing(all_[i]) && !is_given(i)) return fail(problem, ParameterFault::kMissing, all_[i].parameter);
    return true;
}

namespace {

// Returns true for a valid size or count. libcuda does not refuse a count of 2**64 - 1 in a memset node.
bool is_extent(const ValueType& type, std::uint64_t bits) noexcept {
    const std::size_t extent = as_extent(type, bits);
    return extent != 0 && extent <= std::numeric_limits<std::ptrdiff_t>::max();
}

}  // namespace

// Compares a change with the present value. Another array of the same extents affects few slots.
void ExecParameters::compare(ParameterChange& change) const noexcept {
    const ExecParameter& entry = all_[change.index];
    change.has_form = entry.value.known && entry.value.has_extents_of(change.value);
    if (!change.has_form)
        change.affected = entry.slots.size();
    else
        change.affected = entry.value.bits == change.value.bits ? 0 : entry.first;
}

// Makes all checks that are possible before anything is changed.
bool ExecParameters::may_change(const ParameterChange& change, ParameterProblem* problem) const {
    const ExecParameter& entry = all_[change.index];
    bool copied = false;
    for (std::size_t i = 0; i < change.affected; ++i) {
        const ParameterSlot& slot = entry.slots[i];
        const ExecNode& node = nodes_[slot.node];
        if (node.is_destroyed()) return fail(problem, ParameterFault::kDestroyed, entry.parameter);
        copied |= node.params().type == CU_GRAPH_NODE_TYPE_MEMCPY && is_operand(slot.use);
        if (slot.use.field == Field::kExtent && !is_extent(*entry.parameter->type.scalar, change.value.bits))
            return fail(problem, ParameterFault::kExtent, entry.parameter);
    }
    if (!copied) return true;
    int type = kUnknownMemory;
    const CUresult status = find_memory_type(change.value.bits, &type);
    if (status != CUDA_SUCCESS) return fail(problem, ParameterFault::kDriver, entry.parameter, status);
    return type != kUnknownMemory || fail(problem, ParameterFault::kPageable, entry.parameter);
}

// Swaps the value and the change, and writes the new value into the nodes. A second exchange undoes the first.
void ExecParameters::exchange(ParameterChange& change) {
    ExecParameter& entry = all_[change.index];
    std::swap(entry.was_set, change.was_set);
    if (change.has_form) {
        std::swap(entry.value.bits, change.value.bits);
        entry.value.owner.swap(change.value.owner);
    } else {
        std::swap(entry.value, change.value);
        count_unknown(entry, change.value);
    }
    for (std::size_t i = 0; i < change.affected; ++i) {
        const ParameterSlot& slot = entry.slots[i];
        ExecNode& node = nodes_[slot.node];
        node.must_follow |= !change.has_form || is_followed(slot.use);
        write_value(node.params(), slot.use, entry.value);
        mark_pending(slot.node);
    }
}

// Counts the missing values again after a value was replaced.
void ExecParameters::count_unknown(const ExecParameter& entry, const ParameterValue& before) {
    if (entry.value.known == before.known || entry.slots.empty()) return;
    for (const ParameterSlot& slot : entry.slots)
        before.known ? ++nodes_[slot.node].unknown : --nodes_[slot.node].unknown;
    before.known ? ++missing_ : --missing_;
}

namespace {

bool uses(const ExecParameter& entry, std::uint32_t node) {
    return std::any_of(entry.slots.begin(), entry.slots.end(),
                       [&](const ParameterSlot& slot) { return slot.node == node; });
}

}  // namespace

// Returns a parameter that the node uses.
const ParameterRef& ExecParameters::user_of(std::uint32_t node) const {
    return std::find_if(all_.begin(), all_.end(), [&](const ExecParameter& e) { return uses(e, node); })->parameter;
}

// Returns a parameter of the node whose value its rules are about; any parameter of it if there is none.
const ParameterRef& ExecParameters::ruled_user_of(std::uint32_t node) const {
    const auto is_ruled = [&](const ParameterSlot& slot) {
        return slot.node == node && (slot.use.field == Field::kExtent || is_watched(slot.use));
    };
    for (const ExecParameter& entry : all_)
        if (std::any_of(entry.slots.begin(), entry.slots.end(), is_ruled)) return entry.parameter;
    return user_of(node);
}

bool ExecParameters::apply_node(std::uint32_t index, const ExecTarget& exec, ParameterProblem* problem) {
    ExecNode& node = nodes_[index];
    const CUresult status = node.apply(exec);
    return status == CUDA_SUCCESS ||
           fail(problem, ParameterFault::kDriver, user_of(index), status, node_handle(definition_, *node.node()));
}

// Applies the pending nodes up to the first one that the driver refuses. `done` is the number of nodes applied.
bool ExecParameters::apply_pending(const ExecTarget& exec, ParameterProblem* problem, std::size_t* done) {
    for (*done = 0; *done < pending_.size(); ++*done)
        if (!apply_node(pending_[*done], exec, problem)) return false;
    for (const std::uint32_t index : pending_) nodes_[index].is_pending = false;
    pending_.clear();
    return true;
}

// Follows the rules of a node whose values changed in a way that they depend on.
bool ExecParameters::follow_pending_rules(std::uint32_t index, ParameterProblem* problem) {
    ExecNode& node = nodes_[index];
    if (!std::exchange(node.must_follow, false)) return true;
    Opaque why;
    const ParameterFault fault = follow_rules(node, &why);
    if (fault == ParameterFault::kNone) return true;
    return fail(problem, fault, ruled_user_of(index), CUDA_ERROR_INVALID_VALUE,
                node.is_destroyed() ? NodeHandle() : node_handle(definition_, *node.node()), std::move(why));
}

// Follows the rules of the pending nodes up to the first one whose rules refuse its values, which is `failed`.
bool ExecParameters::follow_rules_of_pending(ParameterProblem* problem, std::size_t* failed) {
    for (*failed = 0; *failed < pending_.size(); ++*failed)
        if (!follow_pending_rules(pending_[*failed], problem)) return false;
    return true;
}

bool ExecParameters::set(const ExecTarget& exec, ParameterChange* changes, std::size_t count,
                         ParameterProblem* problem) {
    for (std::size_t i = 0; i < count; ++i) {
        compare(changes[i]);
        if (!may_change(changes[i], problem)) return false;
    }
    for (std::size_t i = 0; i < count; ++i) exchange(changes[i]);
    std::size_t done = 0;
    std::size_t failed = 0;
    const bool are_followed = follow_rules_of_pending(problem, &failed);
    if (are_followed && apply_pending(exec, problem, &done)) return true;
    if (are_followed) failed = done;
    const auto uses_it = [&](const ParameterChange& change) { return uses(all_[change.index], pending_[failed]); };
    problem->parameter = all_[std::find_if(changes, changes + count, uses_it)->index].parameter;
    exchange_back(changes, count);
    take_back(exec, done);
    return false;
}

// Exchanges changes a second time.
void ExecParameters::exchange_back(ParameterChange* changes, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) exchange(changes[i]);
    for (const std::uint32_t index : pending_) nodes_[index].restore_size();
}

// Applies the first `done` pending nodes with their previous values. If the driver refuses these, the state of the
// node is unknown: the values are marked unknown, so that no launch is made without new values.
void ExecParameters::take_back(const ExecTarget& exec, std::size_t done) {
    for (std::size_t i = 0; i < pending_.size(); ++i) {
        ExecNode& node = nodes_[pending_[i]];
        node.is_pending = node.must_follow = false;
        if (i < done && node.apply(exec) != CUDA_SUCCESS) mark_unknown(pending_[i]);
    }
    pending_.clear();
}

void ExecParameters::undo(const ExecTarget& exec, ParameterChange* changes, std::size_t count) {
    exchange_back(changes, count);
    take_back(exec, pending_.size());
}

bool ExecParameters::may_settle(ParameterProblem* problem) {
    std::size_t failed = 0;
    return follow_rules_of_pending(problem, &failed);
}

bool ExecParameters::settle(const ExecTarget& exec, ParameterProblem* problem) {
    bool all_set = true;
    for (const std::uint32_t index : pending_) {
        ExecNode& node = nodes_[index];
        node.is_pending = false;
        // Once a node is refused, no rules run: they may raise an exception, and only the first problem leaves the
        // lock.
        const bool may_follow = all_set || !node.must_follow;
        ParameterProblem found;
        const bool is_set = may_follow && follow_pending_rules(index, &found) && apply_node(index, exec, &found);
        node.must_follow = false;
        if (is_set) continue;
        mark_unknown(index);
        if (std::exchange(all_set, false)) *problem = std::move(found);
    }
    pending_.clear();
    return all_set;
}

void ExecParameters::mark_unknown(std::uint32_t node) {
    for (ExecParameter& entry : all_) {
        if (!uses(entry, node) || !entry.value.known) continue;
        entry.value.known = false;  // its owner is kept until the next value
        for (const ParameterSlot& slot : entry.slots) ++nodes_[slot.node].unknown;
        ++missing_;
    }
}

void ExecParameters::count_missing() noexcept {
    missing_ = static_cast<std::size_t>(std::count_if(all_.begin(), all_.end(), is_missing));
}

CUresult ExecParameters::fill(ExecNode& node, NodeSpec& spec, ParameterProblem* problem) {
    const CUresult status = node.load(spec.params);
    if (status != CUDA_SUCCESS) return status;
    // The arguments of a loaded spec are those of the definition's node, so the values go into the copies of `node`.
    for (const ParameterUse& use : spec.uses) {
        const ParameterValue& value = all_[declare(use.parameter)].value;
        if (value.known) write_value(node.params(), use, value);
    }
    if (spec.kind == NodeKind::kKernel)
        spec.params.kernel.kernelParams = node.params().kernel.kernelParams;
    else
        spec.params = node.params();
    watch(node, spec.rules, spec.uses);
    Opaque why;
    const ParameterFault fault = follow_rules(node, &why);
    if (fault != ParameterFault::kNone) {
        fail(problem, fault, spec.uses.front().parameter, CUDA_ERROR_INVALID_VALUE, {}, std::move(why));
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (spec.kind == NodeKind::kKernel) write_size(spec.params.kernel, node.size());
    return CUDA_SUCCESS;
}

ParameterRef ExecParameters::find_unplanned(const NodeRecord& node, const NodeSpec& spec) const {
    const auto names_it = [&](const ExecNode& each) { return each.node() == &node && !each.is_destroyed(); };
    const auto found = std::find_if(nodes_.begin(), nodes_.end(), names_it);
    bool has_code = found != nodes_.end();
    if (has_code && spec.kind == NodeKind::kKernel) {
        const KernelHandle code = kernel_of_node(spec.params.kernel.func, spec.params.kernel.kern);
        has_code = code && *code == *found->kernel();
    }
    const auto index = static_cast<std::uint32_t>(found - nodes_.begin());
    const auto is_unplanned = [&](const ParameterUse& use) {
        if (!use.parameter->is_planned()) return false;
        const std::size_t i = find(*use.parameter);
        return !has_code || i == all_.size() || !uses(all_[i], index);
    };
    const auto use = std::find_if(spec.uses.begin(), spec.uses.end(), is_unplanned);
    return use == spec.uses.end() ? ParameterRef() : use->parameter;
}

void ExecParameters::replace(ExecNode&& fresh, const std::vector<ParameterUse>& uses) {
    const auto names_it = [&](const ExecNode& node) { return node.node() == fresh.node() && !node.is_destroyed(); };
    auto node = std::find_if(nodes_.begin(), nodes_.end(), names_it);
    if (node == nodes_.end() && uses.empty()) return;
    if (node == nodes_.end())
        node = nodes_.insert(nodes_.end(), std::move(fresh));
    else
        *node = std::move(fresh);
    const auto index = static_cast<std::uint32_t>(node - nodes_.begin());
    for (ExecParameter& entry : all_) {
        const auto is_of_it = [&](const ParameterSlot& slot) { return slot.node == index; };
        const auto end = entry.slots.begin() + static_cast<std::ptrdiff_t>(entry.first);
        entry.first -= static_cast<std::size_t>(std::count_if(entry.slots.begin(), end, is_of_it));
        entry.slots.erase(std::remove_if(entry.slots.begin(), entry.slots.end(), is_of_it), entry.slots.end());
    }
    add_uses(index, uses);
    count_missing();
}

}  // namespace cg
