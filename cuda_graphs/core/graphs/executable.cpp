// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "executable.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "core/driver/table.hpp"
#include "core/handles/deferred.hpp"
#include "core/handles/error.hpp"
#include "core/handles/gil.hpp"
#include "core/handles/leak_report.hpp"
#include "launch_watch.hpp"
#include "node_order.hpp"

namespace cg {

namespace {

bool has_owners(const GraphExecBox& box) noexcept {
    return !box.owners.empty() || box.parameters;
}

// Moves the owners of values to a user object.
bool hold_values(GraphExecBox& box) noexcept {
    try {
        std::vector<Opaque> present;
        if (box.parameters) box.parameters->list_owners(present);
        if (box.owners.hold_values(std::move(present)) != CUDA_SUCCESS) return false;
        box.parameters.reset();
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

// Keeps all owners of a definition, or none on failure.
CUresult keep(const DetachedOwners& owners, ExecOwners& to) {
    std::vector<CUuserObject> kept;
    const CUresult status = owners.keep(kept);
    to.add(std::move(kept));
    return status;
}

// Returns the status of libcuda 580 on an H200 for a stream that is being captured, but without spoiling the capture.
CUresult refuse_capturing(CUstream stream) noexcept {
    CUstreamCaptureStatus capture{};
    const CUresult status = driver().cuStreamIsCapturing(stream, &capture);
    if (status != CUDA_SUCCESS || capture == CU_STREAM_CAPTURE_STATUS_NONE) return status;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

}  // namespace

bool GraphExecBox::finish() noexcept {
    const GilRelease released;
    const RelaxedCapture relaxed;
    if (must_retry(relaxed.status())) return false;
    if (python_is_open() && !hold_values(*this)) return false;
    if (!owners.outlive()) return false;
    const CUresult status = raw != nullptr ? driver().cuGraphExecDestroy(raw) : CUDA_SUCCESS;
    if (is_passing(status) || !has_ended(status, "cuGraphExecDestroy")) return false;
    owners.release();
    drain_deferred();
    return true;
}

namespace {

// Calls the driver while the edges in `early`, if any, are programmatic.
template <class Call>
CUresult call_with(EarlyEdges* early, Call call) {
    if (early == nullptr) return call();
    const CUresult status = early->begin();
    if (status != CUDA_SUCCESS) return status;
    const CUresult called = call();
    const CUresult ended = early->end();
    return called == CUDA_SUCCESS ? ended : called;
}

}  // namespace

GraphExecHandle instantiate(const NodeHandle& definition, CUDA_GRAPH_INSTANTIATE_PARAMS* params,
                            const StreamHandle& upload_stream, CUresult* status, EarlyEdges* early) {
    auto exec = make_box<GraphExecBox>();
    GraphBox& graph = *box_of<NodeRecord>(definition)->graph;
    exec->definition = definition;
    params->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;  // if the driver is not reached
    const GraphLock lock(graph);
    if (early != nullptr) early->mark();
    *status = restore_order(graph);
    if (*status != CUDA_SUCCESS) return {};
    if (!parameters_of(graph).all().empty()) {
        exec->parameters = ExecParameters::create(definition, graph, nullptr);
        *status = exec->parameters ? CUDA_SUCCESS : take_noted_error().status;
        if (*status != CUDA_SUCCESS) return {};
    }
    MemsetList memsets;
    const std::uint64_t version = memset_version(graph);
    if (!list_memsets(graph, graph, memsets)) {
        *status = take_noted_error().status;
        return {};
    }
    exec->shape = take_snapshot(graph);
    if (early != nullptr) early->mark();
    seal_owners(graph);
    {
        const DetachedOwners owners(graph);
        const GilRelease released;
        *status = keep(owners, exec->owners);
        if (*status != CUDA_SUCCESS) return {};
        const RelaxedCapture relaxed;
        if ((*status = relaxed.status()) != CUDA_SUCCESS) return {};
        if (upload_stream && (*status = refuse_capturing(*upload_stream)) != CUDA_SUCCESS) return {};
        if (upload_stream && has_owners(*exec)) {
            *status = prepare_use({}, upload_stream, &exec->owners.last(Use::kUpload));
            if (*status != CUDA_SUCCESS) return {};
        }
        CUresult made = CUDA_ERROR_UNKNOWN;
        *status = call_with(
            early, [&] { return made = driver().cuGraphInstantiateWithParams(&exec->raw, graph.raw, params); });
        if (upload_stream && *status == CUDA_SUCCESS) mark_end(exec->owners.last(Use::kUpload), upload_stream);
        if (*status != CUDA_SUCCESS && made == CUDA_SUCCESS && params->result_out == CUDA_GRAPH_INSTANTIATE_SUCCESS)
            driver().cuGraphExecDestroy(exec->raw);  // the definition did not get its own edges back
        // Some failures show only in `result_out`. After a failure the driver's handle must not be destroyed.
        if (*status != CUDA_SUCCESS || params->result_out != CUDA_GRAPH_INSTANTIATE_SUCCESS)
            return exec->raw = nullptr, GraphExecHandle();
        *status = exec->memsets.replace(exec->raw, memsets);
        exec->memsets.set_source(graph, version);
        ParameterProblem problem;
        if (exec->parameters && !exec->parameters->settle(exec->target(), &problem)) *status = problem.status;
    }
    return *status == CUDA_SUCCESS ? handle_of(std::move(exec)) : GraphExecHandle();
}

namespace {

// Makes `call` if `prepare` succeeds, and records its end. `undo` reverts the effects of `prepare`.
template <class Prepare, class Call, class Undo>
CUresult make_use(const GraphExecHandle& exec, const StreamHandle& stream, Use which, Prepare prepare, Call call,
                  Undo undo) {
    GraphExecBox& box = *box_of<GraphExecBox>(exec);
    LastUse next;  // later the previous use: dropped after the lock is released, since Python may run
    const std::lock_guard lock(box.mutex);
    CUresult status = CUDA_SUCCESS;
    if (has_owners(box) || may_be_captured(stream)) status = refuse_capturing(*stream);
    if (status == CUDA_SUCCESS) status = prepare(box);
    if (status != CUDA_SUCCESS) return status;

    LastUse& last = box.owners.last(which);
    const bool is_recorded = has_owners(box) && !last.is_of(*stream);
    if (is_recorded) status = prepare_use(last, stream, &next);
    if (status == CUDA_SUCCESS) status = call(box.raw, *stream);
    if (status == CUDA_SUCCESS && which == Use::kLaunch) note_launch(stream, box.raw);
    if (status == CUDA_SUCCESS && which == Use::kLaunch && launches_are_watched.load(std::memory_order_relaxed))
        note_watched_launch(box);
    if (status != CUDA_SUCCESS) undo(box);
    if (status != CUDA_SUCCESS || !is_recorded) return status;
    mark_end(next, stream);
    std::swap(last, next);
    return CUDA_SUCCESS;
}

void do_nothing(GraphExecBox&) noexcept {}

// Marks the kernels of launch_kernels as changed in another way, so that the next launch sets them.
void set_kernels_again(GraphExecBox& box) noexcept {
    for (ExecNode& kernel : box.kernels) kernel.is_pending = true;
}

// Another thread may have updated the executable since the caller looked up the parameters.
bool has_parameters(const GraphExecBox& box, ParameterChanges& changes, ParameterProblem* problem) {
    if (changes.empty()) return true;
    if (box.parameters) return box.parameters->locate(changes.data(), changes.size(), problem);
    *problem = {ParameterFault::kDropped, CUDA_SUCCESS, *changes.front().parameter, {}, {}};
    return false;
}

std::size_t size_of(const ParameterChange& change) noexcept {
    const ParameterType& type = (*change.parameter)->type;
    return type.is_array() ? bytes_of(type, change.value) : kUnbounded;
}

bool set_values(GraphExecBox& box, ParameterChanges& changes, std::vector<Opaque>& gone, ParameterProblem* problem) {
    if (!changes.empty()) {
        set_kernels_again(box);
        if (!box.parameters->set(box.target(), changes.data(), changes.size(), problem)) return false;
    }
    for (const ParameterChange& change : changes)
        if (change.value.owner && !box.parameters->has_owner(change))
            box.owners.park(change.value.owner, size_of(change));
    if (box.owners.has_parked()) box.owners.release_parked(gone);
    return true;
}

}  // namespace

CUresult launch(const GraphExecHandle& exec, const StreamHandle& stream, ParameterChanges& changes,
                ParameterProblem* problem) {
    std::vector<Opaque> gone;
    const auto set = [&](GraphExecBox& box) {
        const bool is_set = has_parameters(box, changes, problem) &&
                            (!box.parameters || (box.parameters->is_complete(changes.data(), changes.size(), problem) &&
                                                 set_values(box, changes, gone, problem)));
        return is_set ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
    };
    const auto undo = [&](GraphExecBox& box) {
        if (box.parameters) box.parameters->undo(box.target(), changes.data(), changes.size());
    };
    return make_use(exec, stream, Use::kLaunch, set, driver().cuGraphLaunch, undo);
}

CUresult upload(const GraphExecHandle& exec, const StreamHandle& stream) {
    const auto nothing = [](GraphExecBox&) { return CUDA_SUCCESS; };
    return make_use(exec, stream, Use::kUpload, nothing, driver().cuGraphUpload, do_nothing);
}

CUresult add_kernel(const GraphExecHandle& exec, NodeRecord& node, const CUgraphNodeParams& params) {
    GraphExecBox& box = *box_of<GraphExecBox>(exec);
    ExecNode kernel(node);
    const CUresult status = kernel.load(params);
    if (status != CUDA_SUCCESS) return status;
    const std::lock_guard lock(box.mutex);
    box.kernels.push_back(std::move(kernel));
    box.kept = box.definition.lock();
    return CUDA_SUCCESS;
}

namespace {

CUresult set_kernels(GraphExecBox& box, const KernelArguments* arguments) {
    for (ExecNode& kernel : box.kernels) {
        kernel.write(*arguments++);
        if (!kernel.is_pending) continue;
        const CUresult status = kernel.apply(box.target());
        if (status != CUDA_SUCCESS) return status;
        kernel.is_pending = false;
    }
    return CUDA_SUCCESS;
}

}  // namespace

CUresult launch_kernels(const GraphExecHandle& exec, const StreamHandle& stream, const KernelArguments* arguments) {
    const auto set = [&](GraphExecBox& box) { return set_kernels(box, arguments); };
    return make_use(exec, stream, Use::kLaunch, set, driver().cuGraphLaunch, do_nothing);
}

bool set_parameters(const GraphExecHandle& exec, ParameterChanges& changes, ParameterProblem* problem) {
    GraphExecBox& box = *box_of<GraphExecBox>(exec);
    std::vector<Opaque> gone;
    const std::lock_guard lock(box.mutex);
    return has_parameters(box, changes, problem) && set_values(box, changes, gone, problem);
}

void list_parameters(const GraphExecHandle& exec, std::vector<PresentParameter>& values) {
    GraphExecBox& box = *box_of<GraphExecBox>(exec);
    const std::lock_guard lock(box.mutex);
    if (box.parameters) box.parameters->list(values);
}

CUresult set_exec_node(const GraphExecHandle& exec, NodeRecord& node, NodeSpec& spec, ParameterProblem* problem) {
    GraphExecBox& box = *box_of<GraphExecBox>(exec);
    Owners dropped;  // dropped after the lock is released, since Python may run
    OwnerSlot slot;
    const std::lock_guard lock(box.mutex);
    CUresult status = box.owners.prepare(spec.owners, &slot);
    ExecNode fresh(node);
    if (box.parameters && status == CUDA_SUCCESS) status = box.parameters->fill(fresh, spec, problem);
    if (status == CUDA_SUCCESS && spec.kind == NodeKind::kMemcpy) {
        CopyTypes types;
        status = set_copy(box.target(), node.raw, spec.params, &types);
        fresh.declare(types);
    } else if (status == CUDA_SUCCESS) {
        status = box.target().set(node.raw, spec.params);
    }
    if (status == CUDA_SUCCESS)
        box.owners.commit(slot);
    else
        dropped = box.owners.rollback(slot);
    if (status == CUDA_SUCCESS && box.parameters) box.parameters->replace(std::move(fresh), spec.uses);
    set_kernels_again(box);
    return status;
}

ParameterRef find_unplanned(const GraphExecHandle& exec, const NodeRecord& node, const NodeSpec& spec) {
    GraphExecBox& box = *box_of<GraphExecBox>(exec);
    const std::lock_guard lock(box.mutex);
    if (box.parameters) return box.parameters->find_unplanned(node, spec);
    const auto is_planned = [](const ParameterUse& use) { return use.parameter->is_planned(); };
    const auto use = std::find_if(spec.uses.begin(), spec.uses.end(), is_planned);
    return use == spec.uses.end() ? ParameterRef() : use->parameter;
}

namespace {

// Returns true when the executable is about to match its own definition in another shape.
bool renames(GraphExecBox& box, GraphBox& graph) {
    const NodeHandle first = box.definition.lock();
    return first && box_of<NodeRecord>(first)->graph->hierarchy == graph.hierarchy && !has_shape(graph, box.shape);
}

}  // namespace

CUresult set_exec_child(const GraphExecHandle& exec, NodeRecord& node, NodeSpec& spec, GraphBox& child) {
    GraphExecBox& box = *box_of<GraphExecBox>(exec);
    MemsetList memsets;
    const GraphLock lock(child, node.graph);
    GraphBox* const inner = child_box(node);
    const bool is_listed = inner != nullptr && list_memsets(*inner, child, memsets);
    if (!is_listed) return take_noted_error().status;
    const bool is_renamed = renames(box, child);
    const DetachedOwners owners(child);
    CUresult status = CUDA_SUCCESS;
    {
        const GilRelease released;
        ExecOwners fresh;
        std::vector<CUuserObject> kept;
        status = owners.keep(kept);
        if (status != CUDA_SUCCESS) return status;
        {
            const std::lock_guard lock(box.mutex);
            status = box.target().set(node.raw, spec.params);
            (status == CUDA_SUCCESS ? box.owners : fresh).add(std::move(kept));
            if (status == CUDA_SUCCESS) {
                status = box.memsets.replace(box.raw, memsets);
                box.memsets.set_source(child, 0);
                box.is_renamed |= is_renamed;
            }
        }
        fresh.release();
    }
    return status;
}

namespace {

// Keeps owners that no node of a definition has.
CUresult keep_further(ExecOwners& owners, std::vector<Opaque> all) {
    if (all.empty()) return CUDA_SUCCESS;
    OwnerSlot slot;
    const CUresult status = owners.prepare({bundle(std::move(all)), {}}, &slot);
    if (status == CUDA_SUCCESS) owners.commit(slot);
    return status;
}

// Lists the scratch memory of disabled memsets and the code of the kernels that launch_kernels sets.
std::vector<Opaque> list_further(const GraphExecBox& box) {
    std::vector<Opaque> all = box.memsets.all_scratch();
    for (const ExecNode& kernel : box.kernels) all.push_back(kernel.kernel());
    return all;
}

// Returns the driver's error for the node, or `known` if the executable contains it.
CUresult find_enabled(CUgraphExec exec, CUgraphNode node, CUresult known) {
    unsigned int answer = 0;
    const CUresult status = driver().cuGraphNodeGetEnabled(exec, node, &answer);
    return status == CUDA_SUCCESS ? known : status;
}

// Allocates memory for a memset that is about to be disabled. Without the lock: the allocation may wait for the device.
CUresult give_scratch(GraphExecBox& box, CUgraphNode node) {
    std::size_t size = 0;
    {
        const std::lock_guard lock(box.mutex);
        if (!box.memsets.contains(node) || box.memsets.scratch(node)) return CUDA_SUCCESS;
        size = box.memsets.scratch_size(node);
    }
    const ContextHandle context = current_context();
    if (!context) return why_no_context();
    const PointerHandle memory = allocate_device(context, size);
    if (!memory) return take_noted_error().status;
    const std::lock_guard lock(box.mutex);
    if (!box.memsets.contains(node) || box.memsets.scratch(node)) return CUDA_SUCCESS;  // another thread was faster
    std::vector<Opaque> all = box.memsets.all_scratch();
    all.push_back(memory);
    const CUresult status = keep_further(box.owners, std::move(all));
    if (status != CUDA_SUCCESS) return status;
    box.kept = box.definition.lock();
    box.memsets.give_scratch(node, memory, *context);
    return CUDA_SUCCESS;
}

}  // namespace

CUresult set_exec_enabled(const GraphExecHandle& exec, const NodeRecord& record, bool enabled) {
    GraphExecBox& box = *box_of<GraphExecBox>(exec);
    const CUgraphNode node = record.raw;
    const CUresult ready = enabled ? CUDA_SUCCESS : give_scratch(box, node);
    if (ready != CUDA_SUCCESS) return ready;
    const std::lock_guard lock(box.mutex);
    if (box.memsets.contains(node)) return box.memsets.set_enabled(box.raw, node, enabled);
    // The driver rejects a node that does not belong to the executable.
    if (record.kind == NodeKind::kMemset && !enabled) return find_enabled(box.raw, node, CUDA_ERROR_NOT_SUPPORTED);
    return driver().cuGraphNodeSetEnabled(box.raw, node, enabled ? 1 : 0);
}

CUresult get_exec_enabled(const GraphExecHandle& exec, CUgraphNode node, bool* enabled) {
    GraphExecBox& box = *box_of<GraphExecBox>(exec);
    unsigned int answer = 0;
    const std::lock_guard lock(box.mutex);
    const CUresult status = driver().cuGraphNodeGetEnabled(box.raw, node, &answer);
    *enabled = answer != 0 && !box.memsets.is_disabled(node);
    return status;
}

namespace {

CUresult refuse_shape(CUgraphExecUpdateResultInfo* info) {
    info->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

// Creates the parameters of an executable that is about to match `graph`. Needs the GIL, so it must not hold the lock:
// catch_up() adds values that are set meanwhile.
CUresult prepare_parameters(GraphExecBox& box, GraphBox& graph, std::unique_ptr<ExecParameters>& fresh,
                            CUgraphExecUpdateResultInfo* info, ParameterProblem* problem) {
    std::unique_ptr<ExecParameters> now;
    {
        const GilRelease released;
        const std::lock_guard lock(box.mutex);
        if (box.parameters) now = box.parameters->copy_values();
    }
    if (!now && parameters_of(graph).all().empty()) return CUDA_SUCCESS;
    const NodeHandle first = now ? now->definition() : box.definition.lock();
    if (!first) return problem->fault = ParameterFault::kDestroyed, CUDA_ERROR_INVALID_HANDLE;
    GraphBox& named = *box_of<NodeRecord>(first)->graph;
    CUresult status = restore_order(named);
    if (status != CUDA_SUCCESS) return status;
    if (!has_shape(named, box.shape)) return problem->fault = ParameterFault::kEdited, refuse_shape(info);
    fresh = ExecParameters::create(first, graph, now.get());
    status = fresh ? CUDA_SUCCESS : take_noted_error().status;
    // The driver is not called in this case, so the result is set here.
    if (status == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE) info->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    return status;
}

bool has_other_memsets(GraphExecBox& box, const GraphBox& graph) {
    const std::uint64_t version = memset_version(graph);
    const GilRelease released;
    const std::lock_guard lock(box.mutex);
    return !box.memsets.is_empty() && !box.memsets.match(graph, version);
}

// Lists the memsets of the executable after an update from `graph`. Sets `known` to false when the definition that
// names the nodes was destroyed or has another shape. The caller holds the GIL. An update never adds a memset to an
// executable. Therefore `graph` is not examined for an executable without memsets, or with memsets that already match
// `graph`.
CUresult prepare_memsets(GraphExecBox& box, GraphBox& graph, MemsetList& memsets, bool* known) {
    if (!has_other_memsets(box, graph)) return CUDA_SUCCESS;
    const NodeHandle first = box.definition.lock();
    *known = false;
    if (!first) return CUDA_SUCCESS;
    GraphBox& named = *box_of<NodeRecord>(first)->graph;
    if (!has_shape(named, box.shape)) return CUDA_SUCCESS;
    *known = list_memsets(named, graph, memsets);
    if (*known) return CUDA_SUCCESS;
    memsets.clear();
    const CUresult status = take_noted_error().status;
    return status == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE ? CUDA_SUCCESS : status;  // from shapes_differ()
}

CUresult record_memsets(GraphExecBox& box, bool are_known, const MemsetList& memsets, const GraphBox& graph,
                        std::uint64_t version) {
    const bool are_listed = !memsets.empty() || box.memsets.is_empty() || box.memsets.match(graph, version);
    if (!are_known || !are_listed) return box.memsets.clear(), CUDA_SUCCESS;  // another thread has set a memset
    box.memsets.set_source(graph, version);
    return box.memsets.replace(box.raw, memsets);
}

}  // namespace

bool names_nodes(const GraphExecHandle& exec) noexcept {
    return !box_of<GraphExecBox>(exec)->is_renamed;
}

bool is_node_of(const GraphExecHandle& exec, const NodeRecord& node) noexcept {
    const NodeHandle definition = box_of<GraphExecBox>(exec)->definition.lock();
    return definition && box_of<NodeRecord>(definition)->graph->hierarchy == node.graph->hierarchy;
}

CUresult update(const GraphExecHandle& exec, GraphBox& graph, CUgraphExecUpdateResultInfo* info,
                ParameterProblem* problem, EarlyEdges* early) {
    GraphExecBox& box = *box_of<GraphExecBox>(exec);
    ExecOwners other;                          // first the definition's owners, then the previous owners of the
                                               // executable
    std::unique_ptr<ExecParameters> replaced;  // first the new parameters, then the previous ones
    std::vector<Opaque> values, gone;
    const NodeHandle first = box.definition.lock();
    const GraphLock lock(graph, first ? box_of<NodeRecord>(first)->graph : nullptr);
    if (early != nullptr) early->mark();
    CUresult status = restore_order(graph);
    if (early != nullptr) early->mark();
    if (status == CUDA_SUCCESS) status = prepare_parameters(box, graph, replaced, info, problem);
    if (status != CUDA_SUCCESS) return status;
    MemsetList memsets;
    const std::uint64_t version = memset_version(graph);
    bool are_known = true;
    status = prepare_memsets(box, graph, memsets, &are_known);
    if (status != CUDA_SUCCESS) return status;
    const bool is_renamed = renames(box, graph);
    bool is_done = false;
    seal_owners(graph);
    {
        const DetachedOwners owners(graph);
        const GilRelease released;
        const std::lock_guard lock(box.mutex);
        const bool has_them = box.owners.are(owners.all());
        if (!has_them) status = keep(owners, other);
        if (status == CUDA_SUCCESS && !has_them) status = keep_further(other, list_further(box));
        if (status == CUDA_SUCCESS && replaced && !replaced->may_settle(problem)) status = problem->status;
        if (status == CUDA_SUCCESS)
            status = are_known || !box.memsets.has_disabled()
                         ? call_with(early, [&] { return driver().cuGraphExecUpdate(box.raw, graph.raw, info); })
                         : refuse_shape(info);
        is_done = status == CUDA_SUCCESS;
        if (is_done) {
            if (!has_them) box.owners.exchange(other);
            set_kernels_again(box);
            status = record_memsets(box, are_known, memsets, graph, version);
            if (replaced && box.parameters) replaced->catch_up(*box.parameters);
            box.parameters.swap(replaced);
            if (replaced) replaced->list_owners(values);
            for (Opaque& value : values) box.owners.park(std::move(value), kUnbounded);
            box.owners.release_parked(gone);
            if (box.parameters && !box.parameters->settle(box.target(), problem)) status = problem->status;
            problem->is_updated = true;
        }
    }
    if (is_done) box.is_renamed = is_renamed;
    release_after_uses(std::move(other));
    return status;
}

}  // namespace cg
