// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Law: The last handle may be dropped inside a host function, where driver calls are forbidden. No resource leaks, and
// no resource is destroyed twice.
#include <functional>
#include <map>
#include <string>

#include "check.hpp"
#include "core/driver/table.hpp"
#include "core/graphs/executable.hpp"
#include "core/resources/context.hpp"
#include "core/resources/event.hpp"
#include "core/resources/memory.hpp"
#include "core/resources/module.hpp"
#include "fake_driver.hpp"

using namespace cg;

namespace {

ContextHandle context() {
    return primary_context(0);
}

Opaque make_executable() {
    const NodeHandle entry = create_graph();
    CUDA_GRAPH_INSTANTIATE_PARAMS params{};
    CUresult status = CUDA_SUCCESS;
    return instantiate(entry, &params, {}, &status);
}

// Makes a handle of each kind, by the function that destroys its resource.
const std::map<std::string, std::function<Opaque()>>& resources() {
    static const std::map<std::string, std::function<Opaque()>> all = {
        {"cuStreamDestroy", [] { return create_stream(context(), 0, 0); }},
        {"cuEventDestroy", [] { return create_event(context(), true, true); }},
        {"cuMemPoolDestroy", [] { return create_device_pool(0, 0, 0); }},
        {"cuMemFreeAsync",
         [] { return allocate_from_pool(create_device_pool(0, 0, 0), 64, create_stream(context(), 0, 0)); }},
        {"cuMemFree", [] { return allocate_device(context(), 64); }},
        {"cuMemFreeHost", [] { return allocate_pinned(context(), 64); }},
        {"cuLibraryUnload", [] { return get_kernel(load_library("", false), "a"); }},
        {"cuGraphDestroy", [] { return create_graph(); }},
        {"cuGraphExecDestroy", make_executable},
    };
    return all;
}

}  // namespace

TEST(HostFunction, TheDriverIsNotCalledInOneOfOurs) {
    for (const auto& [function, make] : resources()) {
        Opaque handle = make();
        const int before = fake::calls(function);
        const int alive = fake::alive();
        {
            const HostFunction inside;
            handle.reset();
            drain_deferred();
            fake::run_pending_calls();
        }
        CHECK(fake::calls(function) == before);
        CHECK(fake::alive() == alive);
        fake::run_pending_calls();
        CHECK(fake::calls(function) == before + 1);
        CHECK(fake::alive() == 0);
    }
}

TEST(HostFunction, OfOthersIsKnownByTheRefusalOfTheDriver) {
    for (const auto& [function, make] : resources()) {
        Opaque handle = make();
        const int before = fake::calls(function);
        fake::fail_next(function, CUDA_ERROR_NOT_PERMITTED);
        handle.reset();
        CHECK(fake::calls(function) == before + 1);
        CHECK(fake::alive() > 0);
        fake::fail_next(function, CUDA_ERROR_NOT_PERMITTED);  // the first drain may run inside a host function too
        drain_deferred();
        CHECK(fake::alive() > 0);
        drain_deferred();
        CHECK(fake::calls(function) == before + 3);
        CHECK(fake::alive() == 0);
        drain_deferred();
        CHECK(fake::calls(function) == before + 3);
        fake::run_pending_calls();
    }
}

TEST(HostFunction, AFailureThatWillNotPassIsNotTriedAgain) {
    for (const auto& [function, make] : resources()) {
        const int alive = fake::alive();
        Opaque handle = make();
        const int before = fake::calls(function);
        fake::fail_next(function, CUDA_ERROR_CONTEXT_IS_DESTROYED);
        handle.reset();
        drain_deferred();
        CHECK(fake::calls(function) == before + 1);
        CHECK(fake::alive() == alive + 1);
        fake::forget_alive();
    }
}

TEST(HostFunction, MemoryWaitsWhereItsContextCannotBeEntered) {
    PointerHandle memory = allocate_device(context(), 64);
    fake::fail_next("cuCtxPushCurrent", CUDA_ERROR_NOT_PERMITTED);
    memory.reset();
    CHECK(fake::calls("cuMemFree") == 0);
    drain_deferred();
    CHECK(fake::calls("cuMemFree") == 1);
    fake::run_pending_calls();
}

TEST(HostFunction, MemoryOfAResourceGoesBackLater) {
    int returned = 0;
    const FreeCallback callback = [](void* self, CUdeviceptr, std::size_t, const StreamHandle&) {
        ++*static_cast<int*>(self);
    };
    PointerHandle memory = create_pointer_with_resource(64, 10, {}, &returned, callback);
    {
        const HostFunction inside;
        memory.reset();
    }
    CHECK(returned == 0);
    drain_deferred();
    CHECK(returned == 1);
    fake::run_pending_calls();
}

TEST(HostFunction, ThreadsInsideAndOutsideLoseNothing) {
    parallelize(8, [](int i) {
        for (int round = 0; round < 500; ++round) {
            EventHandle event = create_event(context(), false, false);
            if (i % 2 == 0) {
                const HostFunction inside;
                event.reset();
            }
        }
    });
    drain_deferred();
    CHECK(fake::alive() == 0);
    CHECK(fake::calls("cuEventDestroy") == 8 * 500);
    fake::run_pending_calls();
}
