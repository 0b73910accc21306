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
    std::set<std::pair<std::uint32_t, const void*>> known;
    Identify identify = nullptr;
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

void begin_watching(Identify identify) {
    take_all();
    {
        const std::lock_guard lock(watch().mutex);
        watch().identify = identify;
    }
    launches_are_watched.store(true, std::memory_order_relaxed);
}

std::vector<WatchedLaunch> end_watching() {
    launches_are_watched.store(false, std::memory_order_relaxed);
    return take_all();
}

void note_watched_launch(const GraphExecBox& box) {
    NodeHandle definition = box.definition.lock();
    const std::lock_guard lock(watch().mutex);
    std::uint32_t number = 0;
    if (watch().identify != nullptr && watch().identify(box.raw, &number) != 0) number = 0;
    if (watch().known.emplace(number, definition.get()).second)
        watch().launches.push_back({number, std::move(definition)});
}

}  // namespace cg
