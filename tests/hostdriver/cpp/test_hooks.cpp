// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Laws of the test hooks: every entry point counts and fails under its own name, and under no other name.
#include "hostdriver/test_hooks.h"

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "runtime_rig.hpp"

using namespace rig;

namespace {

std::map<std::string, std::uint64_t> counts() {
    std::map<std::string, std::uint64_t> all;
    const char* name = nullptr;
    std::uint64_t count = 0;
    // A function of several versions has several rows.
    for (std::uint32_t i = 0; cghCallCount(i, &name, &count) == CUDA_SUCCESS; ++i) all[name] += count;
    return all;
}

struct Counting {
    Counting() { cghCountCalls(1); }
    ~Counting() { cghCountCalls(0); }
};

// Calls a function with zeros only. Its result does not matter.
template <auto kFunction>
struct Caller;
template <class... Parameters, CUresult (*kFunction)(Parameters...)>
struct Caller<kFunction> {
    static CUresult call() { return kFunction(Parameters{}...); }
};

struct Call {
    const char* name;
    CUresult (*call)();
};

// Both macros are spelled out: an argument that is passed on would be expanded by the macros of cuda.h.
const Call kCalls[] = {
#define CG_REQUIRED(base, symbol, version) {#base, Caller<&symbol>::call},
#define CG_OPTIONAL(base, symbol, version) {#base, Caller<&symbol>::call},
#include "core/driver/functions.def"
};

}  // namespace

LAW(TestHooks, EveryFunctionFailsUnderItsOwnNameAndDoesNothing) {
    context();
    const Counting counting;
    for (const Call& call : kCalls) {
        const auto before = counts();
        OK(cghFailCall(call.name, 1, "CUDA_ERROR_EXTERNAL_DEVICE"));
        // Numbers are compared, because the name of a status would need another driver call.
        const int answer = static_cast<int>(call.call());
        EQUAL(std::string(call.name) + " " + std::to_string(answer), std::string(call.name) + " 911");
        const auto after = counts();
        for (const auto& [name, count] : after) EQUAL(count - before.at(name), std::uint64_t{name == call.name});
    }
}

LAW(TestHooks, OnlyTheNthCallFails) {
    context();
    CUevent event = nullptr;
    OK(cghFailCall("cuEventCreate", 3, nullptr));
    const std::uint64_t failed = cghFailedCalls("cuEventCreate");
    for (int i = 1; i <= 5; ++i) {
        const CUresult made = cuEventCreate(&event, 0);
        EQUAL(made, i == 3 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS);
        if (made == CUDA_SUCCESS) OK(cuEventDestroy(event));
    }
    EQUAL(cghFailedCalls("cuEventCreate") - failed, 1u);
}

LAW(TestHooks, AFailureCanBeTakenBack) {
    context();
    OK(cghFailCall("cuEventCreate", 1, "2"));
    OK(cghFailCall("cuEventCreate", 0, nullptr));
    const Event event;
}

LAW(TestHooks, UnknownFunctionsAreRefused) {
    ANSWERS(CUDA_ERROR_NOT_FOUND, cghFailCall("cuNothing", 1, nullptr));
    ANSWERS(CUDA_ERROR_NOT_FOUND, cghFailCall("cuMemAlloc_v2", 1, nullptr));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cghFailCall("cuMemAlloc", 1, "CUDA_ERROR_NOTHING"));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cghFailCall("cuMemAlloc", 1, "31415"));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cghFailCall(nullptr, 1, nullptr));
    EQUAL(cghFailedCalls("cuNothing"), 0u);
}

LAW(TestHooks, OfManyThreadsExactlyOneMeetsTheFailure) {
    context();
    OK(cghFailCall("cuStreamQuery", 100, "CUDA_ERROR_EXTERNAL_DEVICE"));
    const Stream stream;
    std::atomic<int> met{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            for (int k = 0; k < 100; ++k) met += cuStreamQuery(stream) == CUDA_ERROR_EXTERNAL_DEVICE;
        });
    for (std::thread& thread : threads) thread.join();
    EQUAL(met.load(), 1);
}
