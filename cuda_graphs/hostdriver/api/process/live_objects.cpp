// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Returns the number of live objects of each kind. Tests compare the numbers before and after a call, to find leaks.
#include <iterator>

#include "hostdriver/entry.hpp"
#include "hostdriver/loader/library.hpp"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/code/kernel.hpp"
#include "hostdriver/objects/graphs/graph.hpp"
#include "hostdriver/objects/graphs/graph_exec.hpp"
#include "hostdriver/objects/graphs/user_object.hpp"
#include "hostdriver/objects/memory/memory.hpp"
#include "hostdriver/objects/memory/pool.hpp"
#include "hostdriver/objects/streams/capture.hpp"
#include "hostdriver/objects/streams/event.hpp"
#include "hostdriver/objects/streams/stream.hpp"
#include "hostdriver/test_hooks.h"

namespace cgh {
namespace {

template <class T>
std::size_t count_of() {
    return arena<T>.live_count();
}

struct ObjectKind {
    const char* name;
    std::size_t (*count)();
};

constexpr ObjectKind kKinds[] = {
    {"stream", count_of<Stream>},
    {"event", count_of<Event>},
    {"library", count_of<Library>},
    {"module", count_of<Module>},
    {"kernel", count_of<Kernel>},
    {"pool", count_of<MemoryPool>},
    {"allocation", [] { return AddressMap::get().size(); }},
    {"graph", count_of<Graph>},
    {"node", count_of<Node>},
    {"executable", count_of<GraphExec>},
    {"user object", count_of<UserObject>},
    {"capture", Capture::count},
};

}  // namespace
}  // namespace cgh

using namespace cgh;

CGH_API CUresult cghLiveObjects(uint32_t index, const char** kind, uint64_t* count) {
    REQUIRE(index < std::size(kKinds) && kind != nullptr && count != nullptr, CUDA_ERROR_INVALID_VALUE);
    *kind = kKinds[index].name;
    *count = kKinds[index].count();
    return CUDA_SUCCESS;
}
