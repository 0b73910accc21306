// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "launch_watch.hpp"

#include <mutex>
#include <set>
#include <utility>

#include "executable.hpp"

namespace cg {
namespace {

struct Watch {
    std::mutex mutex;  // guards the members below
    std::vector<WatchedLaunch> launches;
    std::set<std::pair<CUgraphExec, const void*>> known;
};

Watch& watch() {
    static Watch& only = *new Watch;  // never destroyed, because launches may run until the process ends
    return only;
}

std::vector<WatchedLaunch> take_all() {
    const std::lock_guard lock(watch().mutex);
    watch().known.clear();
    return std::exchange(watch().launches, {});
}

}  // namespace

void begin_watching() {
    take_all();
    launches_are_watched.store(true, std::memory_order_relaxed);
}

std::vector<WatchedLaunch> end_watching() {
    launches_are_watched.store(false, std::memory_order_relaxed);
    return take_all();
}

void note_watched_launch(const GraphExecBox& box) {
    NodeHandle definition = box.definition.lock();
    const std::lock_guard lock(watch().mutex);
    if (watch().known.emplace(box.raw, definition.get()).second)
        watch().launches.push_back({box.raw, std::move(definition)});
}

}  // namespace cg
