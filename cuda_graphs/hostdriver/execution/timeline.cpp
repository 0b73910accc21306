// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "timeline.hpp"

#include <deque>
#include <mutex>
#include <string>
#include <utility>

#include "clock.hpp"
#include "graph_runner.hpp"
#include "hostdriver/entry.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/graphs/node_kinds.hpp"
#include "hostdriver/objects/streams/stream.hpp"
#include "hostdriver/sanitizer/accesses.hpp"
#include "hostdriver/test_hooks.h"
#include "thread_state.hpp"

namespace cgh {
namespace {

struct NodeRecord {
    std::string name;
    cgh_node_record values;  // `name` is set when the record is read
};

std::atomic<bool> timeline_wanted{false};
std::atomic<std::uint64_t> last_run{0};  // number of the last launch, or of the last body run less 1
std::mutex records_mutex;                // guards `records`
// The recorded nodes. A deque keeps the addresses of names stable. Never destroyed, because nodes may run until the
// process ends.
std::deque<NodeRecord>& records = *new std::deque<NodeRecord>;

std::string name_of(const ExecNode& node) {
    const auto* const kernel = std::get_if<KernelParams>(&node.params);
    return kernel != nullptr ? kernel->launch.kernel()->code().name : node.kind->name;
}

// Adds a record, with the thread, the stream and the device filled in.
void add_record(std::string name, cgh_node_record values, const Stream& stream) {
    values.thread = this_thread_number();
    values.stream = stream.id();
    values.device = stream.context().device();
    const std::lock_guard<std::mutex> lock(records_mutex);
    records.push_back({std::move(name), values});
}

}  // namespace

std::uint64_t next_recorded_launch() {
    return timeline_wanted.load(std::memory_order_relaxed) ? last_run.fetch_add(2) + 2 : 0;
}

SectionRun begin_section() {
    if (!nodes_are_recorded.load(std::memory_order_relaxed)) return {};
    const bool checked = settings.any();
    return {checked ? thread_state.task : nullptr, checked ? next_section_run() : 0, thread_state.recorded_run};
}

void BodyScope::begin(std::uint32_t branch, std::uint64_t iteration, const LaunchState& launch) {
    if ((number_ = next_recorded_launch()) == 0) return;
    ++number_;
    launch_ = &launch;
    branch_ = branch;
    iteration_ = iteration;
    around_ = std::exchange(thread_state.recorded_run, number_);
    start_ = steady_nanoseconds();
}

void BodyScope::end() {
    const std::int64_t now = steady_nanoseconds();
    thread_state.recorded_run = around_;
    cgh_node_record values{};
    values.kind = "body";
    values.node = thread_state.recorded_node;
    values.around = around_;
    values.number = number_;
    values.iteration = iteration_;
    values.branch = branch_;
    values.start = start_;
    values.end = now;
    add_record("body", values, *launch_->stream);
}

CUresult run_recorded(const Section& section, const ExecNode& node, LaunchState& launch, const SectionRun& run) {
    if (!node.enabled) return node.run(node, launch);
    const TaskScope task(run.around != nullptr ? begin_node(*run.around, section, node, run.number) : nullptr);
    if (run.recorded == 0) return node.run(node, launch);
    cgh_node_record values{};
    values.kind = node.kind->name;
    values.node = section.structure->sources[static_cast<std::size_t>(&node - section.nodes.data())];
    values.around = run.recorded;
    const RunScope scope(run.recorded, values.node);
    values.start = steady_nanoseconds();
    const CUresult result = node.run(node, launch);
    if (result == kSuspended) return result;
    values.end = steady_nanoseconds();
    if (timeline_wanted.load(std::memory_order_relaxed)) add_record(name_of(node), values, *launch.stream);
    return result;
}

}  // namespace cgh

using namespace cgh;

CGH_API void cghRecordNodes(int on) {
    const std::lock_guard<std::mutex> lock(records_mutex);
    if (on != 0) records.clear();
    timeline_wanted.store(on != 0, std::memory_order_relaxed);
    nodes_are_recorded.store(on != 0 || settings.any(), std::memory_order_relaxed);
}

CGH_API CUresult cghNodeRecord(uint64_t index, cgh_node_record* out) {
    const std::lock_guard<std::mutex> lock(records_mutex);
    REQUIRE(out != nullptr && index < records.size(), CUDA_ERROR_INVALID_VALUE);
    *out = records[index].values;
    out->name = records[index].name.c_str();
    return CUDA_SUCCESS;
}
