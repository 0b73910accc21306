// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "timeline.hpp"

#include <deque>
#include <mutex>
#include <string>

#include "clock.hpp"
#include "graph_runner.hpp"
#include "hostdriver/entry.hpp"
#include "hostdriver/objects/graphs/node_kinds.hpp"
#include "hostdriver/objects/streams/stream.hpp"
#include "hostdriver/sanitizer/accesses.hpp"
#include "hostdriver/test_hooks.h"
#include "thread_state.hpp"

namespace cgh {
namespace {

struct NodeRecord {
    std::string name;
    const char* kind;
    std::uint64_t thread, stream;
    std::int64_t start, end;
};

std::atomic<bool> timeline_wanted{false};
std::mutex records_mutex;  // guards `records`
// The recorded nodes. A deque keeps the addresses of names stable. Never destroyed, because nodes may run until the
// process ends.
std::deque<NodeRecord>& records = *new std::deque<NodeRecord>;

std::string name_of(const ExecNode& node) {
    const auto* const kernel = std::get_if<KernelParams>(&node.params);
    return kernel != nullptr ? kernel->launch.kernel()->code().name : node.kind->name;
}

}  // namespace

SectionRun begin_section() {
    return settings.any() ? SectionRun{thread_state.task, next_section_run()} : SectionRun{};
}

CUresult run_recorded(const Section& section, const ExecNode& node, LaunchState& launch, const SectionRun& run) {
    if (!node.enabled) return node.run(node, launch);
    const TaskScope task(run.around != nullptr ? begin_node(*run.around, section, node, run.number) : nullptr);
    if (!timeline_wanted.load(std::memory_order_relaxed)) return node.run(node, launch);
    const std::int64_t start = steady_nanoseconds();
    const CUresult result = node.run(node, launch);
    if (result == kSuspended) return result;
    const std::int64_t end = steady_nanoseconds();
    NodeRecord entry{name_of(node), node.kind->name, this_thread_number(), launch.stream->id(), start, end};
    const std::lock_guard<std::mutex> lock(records_mutex);
    records.push_back(std::move(entry));
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
    const NodeRecord& entry = records[index];
    *out = {entry.name.c_str(), entry.kind, entry.thread, entry.stream, entry.start, entry.end};
    return CUDA_SUCCESS;
}
