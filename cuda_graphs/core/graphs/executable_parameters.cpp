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

CUresult Recipe::load(const NodeRecord& source) {
    const NodeParameters& parameters = *source.facts->parameters;
    if (source.kind != NodeKind::kKernel) return load(parameters.wanted);
    NodeSpec spec;
    spec.begin(source.kind);
    const CUresult status = load_node(source.raw, spec);
    if (status != CUDA_SUCCESS) return status;
    return load(spec.params);
}

CUresult Recipe::load(const CUgraphNodeParams& params) {
    params_ = params;
    if (params.type != CU_GRAPH_NODE_TYPE_KERNEL) return CUDA_SUCCESS;
    // With a function, or without a context, the driver uses the current context of the thread that sets the node.
    // Therefore a kernel is set by its CUkernel and a context. A function of a module has no CUkernel.
    if (params.kernel.kern != nullptr) params_.kernel.func = nullptr;
    const CUresult status = params.kernel.ctx == nullptr ? current_context(&params_.kernel.ctx) : CUDA_SUCCESS;
    return status == CUDA_SUCCESS ? keep_arguments() : status;
}

// Copies the argument values that the parameters point to.
CUresult Recipe::keep_arguments() {
    CUDA_KERNEL_NODE_PARAMS_v3& kernel = params_.kernel;
    const KernelHandle code = kernel_of_node(kernel.func, kernel.kern);
    const std::vector<Parameter>* sizes = kernel_parameters(code);
    if (sizes == nullptr) return take_noted_error().status;
    const auto words = [](const Parameter& p) { return (p.size + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t); };
    std::size_t count = 0;
    for (const Parameter& parameter : *sizes) count += words(parameter);
    std::vector<std::uint64_t> copy(count);
    std::vector<void*> pointers;
    std::uint64_t* place = copy.data();
    for (std::size_t i = 0; i < sizes->size(); ++i) {
        std::memcpy(place, kernel.kernelParams[i], (*sizes)[i].size);
        pointers.push_back(place);
        place += words((*sizes)[i]);
    }
    words_ = std::move(copy);  // moving a vector keeps the addresses of its elements
    pointers_ = std::move(pointers);
    kernel.kernelParams = pointers_.data();
    return CUDA_SUCCESS;
}

CUresult Recipe::apply(const ExecTarget& exec) {
    if (params_.type != CU_GRAPH_NODE_TYPE_KERNEL && unknown != 0) return CUDA_SUCCESS;
    return exec.set(raw_, params_);
}

std::unique_ptr<ExecParameters> ExecParameters::create(const NodeHandle& first, GraphBox& graph,
                                                       const ExecParameters* previous) {
    std::unique_ptr<ExecParameters> made(new ExecParameters(first));
    if (previous != nullptr) made->inherit(*previous);
    for (const ParameterRef& parameter : parameters_of(graph).all()) made->declare(parameter);
    std::vector<NodePair> pairs;
    GraphBox& named = *box_of<NodeRecord>(first)->graph;
    if (!pair_parameter_nodes(named, graph, pairs)) return nullptr;
    const GilRelease released;
    for (const NodePair& pair : pairs) CU_TRY(made->add_recipe(*pair.first, *pair.other));
    made->drop_undeclared();
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
        if (i == all_.size() || (all_[i].value.known && all_[i].value.bits == theirs.value.bits)) continue;
        ParameterChange change{i, theirs.parameter, theirs.value, true};
        exchange(change);
    }
}

// Removes the parameters that the new definition lacks. No node uses them, because recipes declare the parameters that
// they use. If the names of all earlier definitions stayed, each update would take longer.
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

CUresult ExecParameters::add_recipe(NodeRecord& named, const NodeRecord& source) {
    const auto index = static_cast<std::uint32_t>(recipes_.size());
    Recipe& recipe = recipes_.emplace_back(named);
    const CUresult status = recipe.load(source);
    if (status == CUDA_SUCCESS) add_uses(index, source.facts->parameters->uses);
    return status;
}

// Writes the known values into the recipe, and touches it if that changed it.
void ExecParameters::add_uses(std::uint32_t index, const std::vector<ParameterUse>& uses) {
    Recipe& recipe = recipes_[index];
    for (const ParameterUse& use : uses) {
        ExecParameter& entry = all_[declare(use.parameter)];
        entry.slots.push_back({index, use});
        if (!entry.value.known) {
            ++recipe.unknown;
        } else if (!has_value(recipe.params(), use, entry.value.bits)) {
            write_value(recipe.params(), use, entry.value.bits);
            touch(index);
        }
    }
}

void ExecParameters::list(std::vector<PresentParameter>& values) const {
    for (const ExecParameter& entry : all_) values.push_back({entry.parameter, entry.value.bits, entry.value.known});
}

void ExecParameters::list_owners(std::vector<Opaque>& owners) const {
    for (const ExecParameter& entry : all_)
        if (entry.value.owner) owners.push_back(entry.value.owner);
}

void ExecParameters::touch(std::uint32_t index) {
    if (!std::exchange(recipes_[index].touched, true)) touched_.push_back(index);
}

namespace {

bool is_missing(const ExecParameter& entry) noexcept {
    return !entry.value.known && !entry.slots.empty();
}

bool fail(ParameterProblem* problem, ParameterFault fault, ParameterRef parameter, CUresult status = CUDA_SUCCESS,
          NodeHandle node = {}) {
    *problem = {fault, status, std::move(parameter), std::move(node)};
    return false;
}

}  // namespace

bool ExecParameters::locate(ParameterChange* changes, std::size_t count, ParameterProblem* problem) const {
    for (std::size_t i = 0; i < count; ++i) {
        ParameterChange& change = changes[i];
        if (change.index < all_.size() && is_same(*all_[change.index].parameter, *change.parameter)) continue;
        change.index = find(*change.parameter);  // another thread has updated the executable
        if (change.index == all_.size()) return fail(problem, ParameterFault::kGone, change.parameter);
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

bool is_operand(const CUgraphNodeParams& params, const ParameterUse& use) noexcept {
    return params.type == CU_GRAPH_NODE_TYPE_MEMCPY && use.parameter->type->kind == ValueKind::kPointer;
}

// Returns true for a valid size or count. libcuda does not refuse a count of 2**64 - 1 in a memset node.
bool is_extent(const ValueType& type, std::uint64_t bits) noexcept {
    const std::size_t extent = as_extent(type, bits);
    return extent != 0 && extent <= std::numeric_limits<std::ptrdiff_t>::max();
}

}  // namespace

// Makes all checks that are possible before anything is changed.
bool ExecParameters::may_change(const ParameterChange& change, ParameterProblem* problem) const {
    const ExecParameter& entry = all_[change.index];
    if (entry.value.known && entry.value.bits == change.value.bits) return true;
    bool copied = false;
    for (const ParameterSlot& slot : entry.slots) {
        const Recipe& recipe = recipes_[slot.recipe];
        if (recipe.is_lost()) return fail(problem, ParameterFault::kLost, entry.parameter);
        copied |= is_operand(recipe.params(), slot.use);
        if (slot.use.field == Field::kExtent && !is_extent(*entry.parameter->type, change.value.bits))
            return fail(problem, ParameterFault::kExtent, entry.parameter);
    }
    if (!copied) return true;
    int type = kUnknownMemory;
    const CUresult status = find_memory_type(change.value.bits, &type);
    if (status != CUDA_SUCCESS) return fail(problem, ParameterFault::kDriver, entry.parameter, status);
    return type != kUnknownMemory || fail(problem, ParameterFault::kPageable, entry.parameter);
}

// Swaps the value and the change, and writes the new value into the recipes. A second exchange undoes the first.
void ExecParameters::exchange(ParameterChange& change) {
    ExecParameter& entry = all_[change.index];
    std::swap(entry.value, change.value);
    std::swap(entry.was_set, change.was_set);
    const bool became_known = entry.value.known && !change.value.known;
    const bool became_unknown = !entry.value.known && change.value.known;
    if (entry.value.bits == change.value.bits && !became_known && !became_unknown) return;
    for (const ParameterSlot& slot : entry.slots) {
        Recipe& recipe = recipes_[slot.recipe];
        if (became_known) --recipe.unknown;
        if (became_unknown) ++recipe.unknown;
        write_value(recipe.params(), slot.use, entry.value.bits);
        touch(slot.recipe);
    }
    if (entry.slots.empty()) return;
    if (became_known) --missing_;
    if (became_unknown) ++missing_;
}

namespace {

bool uses(const ExecParameter& entry, std::uint32_t recipe) {
    return std::any_of(entry.slots.begin(), entry.slots.end(),
                       [&](const ParameterSlot& slot) { return slot.recipe == recipe; });
}

}  // namespace

// Returns a parameter that the node of the recipe uses.
const ParameterRef& ExecParameters::user_of(std::uint32_t recipe) const {
    return std::find_if(all_.begin(), all_.end(), [&](const ExecParameter& e) { return uses(e, recipe); })->parameter;
}

// Applies the touched recipes up to the first one that the driver refuses. `done` is the number of recipes applied.
bool ExecParameters::apply_touched(const ExecTarget& exec, ParameterProblem* problem, std::size_t* done) {
    for (*done = 0; *done < touched_.size(); ++*done) {
        Recipe& recipe = recipes_[touched_[*done]];
        const CUresult status = recipe.is_lost() ? CUDA_ERROR_INVALID_HANDLE : recipe.apply(exec);
        if (status != CUDA_SUCCESS)
            return fail(problem, ParameterFault::kDriver, user_of(touched_[*done]), status,
                        node_handle(definition_, *recipe.node()));
    }
    for (const std::uint32_t index : touched_) recipes_[index].touched = false;
    touched_.clear();
    return true;
}

bool ExecParameters::set(const ExecTarget& exec, ParameterChange* changes, std::size_t count,
                         ParameterProblem* problem) {
    for (std::size_t i = 0; i < count; ++i)
        if (!may_change(changes[i], problem)) return false;
    for (std::size_t i = 0; i < count; ++i) exchange(changes[i]);
    std::size_t done = 0;
    if (apply_touched(exec, problem, &done)) return true;
    const auto uses_it = [&](const ParameterChange& change) { return uses(all_[change.index], touched_[done]); };
    problem->parameter = all_[std::find_if(changes, changes + count, uses_it)->index].parameter;
    for (std::size_t i = 0; i < count; ++i) exchange(changes[i]);
    take_back(exec, done);
    return false;
}

// Applies the first `done` touched recipes with their previous values. If the driver refuses these, the state of the
// node is unknown: the values are marked unknown, so that no launch is made without new values.
void ExecParameters::take_back(const ExecTarget& exec, std::size_t done) {
    for (std::size_t i = 0; i < touched_.size(); ++i) {
        Recipe& recipe = recipes_[touched_[i]];
        recipe.touched = false;
        if (i < done && recipe.apply(exec) != CUDA_SUCCESS) forget_values(touched_[i]);
    }
    touched_.clear();
}

void ExecParameters::undo(const ExecTarget& exec, ParameterChange* changes, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) exchange(changes[i]);
    take_back(exec, touched_.size());
}

bool ExecParameters::settle(const ExecTarget& exec, ParameterProblem* problem) {
    std::size_t done = 0;
    if (apply_touched(exec, problem, &done)) return true;
    for (; done < touched_.size(); ++done) forget_values(touched_[done]);
    for (const std::uint32_t index : touched_) recipes_[index].touched = false;
    touched_.clear();
    return false;
}

void ExecParameters::forget_values(std::uint32_t recipe) {
    for (ExecParameter& entry : all_) {
        if (!uses(entry, recipe) || !entry.value.known) continue;
        entry.value.known = false;  // its owner is kept until the next value
        for (const ParameterSlot& slot : entry.slots) ++recipes_[slot.recipe].unknown;
        ++missing_;
    }
}

void ExecParameters::count_missing() noexcept {
    missing_ = static_cast<std::size_t>(std::count_if(all_.begin(), all_.end(), is_missing));
}

void ExecParameters::fill(CUgraphNodeParams& params, const std::vector<ParameterUse>& uses) {
    for (const ParameterUse& use : uses) {
        const ParameterValue& value = all_[declare(use.parameter)].value;
        if (value.known) write_value(params, use, value.bits);
    }
}

void ExecParameters::replace(Recipe&& fresh, const std::vector<ParameterUse>& uses) {
    const auto names_it = [&](const Recipe& recipe) { return recipe.node() == fresh.node() && !recipe.is_lost(); };
    auto recipe = std::find_if(recipes_.begin(), recipes_.end(), names_it);
    if (recipe == recipes_.end() && uses.empty()) return;
    if (recipe == recipes_.end())
        recipe = recipes_.insert(recipes_.end(), std::move(fresh));
    else
        *recipe = std::move(fresh);
    const auto index = static_cast<std::uint32_t>(recipe - recipes_.begin());
    for (ExecParameter& entry : all_) {
        const auto is_of_it = [&](const ParameterSlot& slot) { return slot.recipe == index; };
        entry.slots.erase(std::remove_if(entry.slots.begin(), entry.slots.end(), is_of_it), entry.slots.end());
    }
    add_uses(index, uses);
    count_missing();
}

}  // namespace cg
