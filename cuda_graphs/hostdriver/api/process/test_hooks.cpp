// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts, traces or fails driver calls. Every call reads one flag, and calls this code only if a hook is on.
#include "hostdriver/test_hooks.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>
#include <string>

#include "hostdriver/entry.hpp"
#include "hostdriver/objects/base/error_codes.hpp"

namespace cgh {
namespace {

// Both macros are spelled out: an argument that is passed on would be expanded by the macros of cuda.h.
#define CG_REQUIRED(base, symbol, version) #base,
#define CG_OPTIONAL(base, symbol, version) #base,
#define CGH_OFFERED(base, symbol, version) #base,
#define CGH_REFUSED(base, symbol, version) #base,
constexpr const char* kNames[] = {
#include "core/driver/functions.def"
#include "hostdriver/offered.def"
#include "hostdriver/refused.def"
};
constexpr std::size_t kCount = std::size(kNames);

struct FunctionState {
    std::atomic<std::uint64_t> calls{0};  // number of calls while calls were counted
    std::atomic<std::int64_t> until{0};   // number of the failing call, counted from now; none if 0 or less
    std::atomic<CUresult> code{CUDA_SUCCESS};
    std::atomic<std::uint64_t> failed{0};
};
FunctionState functions[kCount];

std::mutex settings_mutex;  // guards the next five variables
bool environment_read = false;
bool environment_wrong = false;
bool traces = false;
int counters = 0;
bool fails[kCount];  // true while a requested failure has not happened yet

std::atomic<bool> counting{false};

std::size_t index_of(const char* name) {
    const auto* const found = std::find_if(std::begin(kNames), std::end(kNames),
                                           [&](const char* known) { return !std::strcmp(known, name); });
    return static_cast<std::size_t>(found - std::begin(kNames));
}

// Updates the flags. The caller holds settings_mutex.
void settle() {
    counting.store(counters > 0, std::memory_order_relaxed);
    entry_state.trace.store(traces, std::memory_order_relaxed);
    const bool any_fails = std::any_of(std::begin(fails), std::end(fails), [](bool one) { return one; });
    entry_state.intercepted.store(traces || counters > 0 || any_fails || environment_wrong, std::memory_order_release);
}

// Returns the number that the digits of `text` form. Returns 0 for any other text and for more than 18 digits.
std::uint64_t parse_number(const std::string& text) {
    const bool is_one = !text.empty() && text.size() <= 18 && text.find_first_not_of("0123456789") == std::string::npos;
    return is_one ? std::strtoull(text.c_str(), nullptr, 10) : 0;
}

bool parse_code(const char* text, CUresult* out) {
    *out = CUDA_ERROR_OUT_OF_MEMORY;
    if (text == nullptr || find_error(text, out)) return true;
    *out = static_cast<CUresult>(parse_number(text));
    return std::strcmp(text, "0") == 0 || (*out != CUDA_SUCCESS && error_name(*out) != nullptr);
}

// Requests a failure of the nth call from now on. The caller holds settings_mutex.
CUresult fail_call(const char* function, std::uint64_t nth, const char* code) {
    const std::size_t index = index_of(function);
    REQUIRE(index < kCount, CUDA_ERROR_NOT_FOUND);
    CUresult parsed = CUDA_SUCCESS;
    REQUIRE(parse_code(code, &parsed) && nth <= INT64_MAX, CUDA_ERROR_INVALID_VALUE);
    functions[index].code.store(parsed, std::memory_order_relaxed);
    functions[index].until.store(static_cast<std::int64_t>(nth), std::memory_order_release);
    fails[index] = nth != 0;
    settle();
    return CUDA_SUCCESS;
}

// Requests one failure, in the form <function>:<nth>[:<code>].
CUresult fail_call(const std::string& text) {
    const std::size_t first = text.find(':'), second = text.find(':', first == std::string::npos ? first : first + 1);
    REQUIRE(first != std::string::npos, CUDA_ERROR_INVALID_VALUE);
    const std::uint64_t number =
        parse_number(text.substr(first + 1, second == std::string::npos ? second : second - first - 1));
    REQUIRE(number != 0, CUDA_ERROR_INVALID_VALUE);
    return fail_call(text.substr(0, first).c_str(), number,
                     second == std::string::npos ? nullptr : text.c_str() + second + 1);
}

// Reads the environment once. The caller holds settings_mutex.
void read_environment() {
    if (environment_read) return;
    environment_read = true;
    const char* trace = std::getenv("CUDA_GRAPHS_HOST_TRACE");
    traces = trace != nullptr && std::strcmp(trace, "0") != 0 && *trace != '\0';
    const char* failures = std::getenv("CUDA_GRAPHS_HOST_FAIL");
    std::string left = failures != nullptr ? failures : "";
    while (!left.empty()) {
        const std::size_t comma = left.find(',');
        const std::string one = left.substr(0, comma);
        left = comma == std::string::npos ? "" : left.substr(comma + 1);
        if (fail_call(one) == CUDA_SUCCESS) continue;
        std::fprintf(stderr, "cuda_graphs host driver: CUDA_GRAPHS_HOST_FAIL: invalid entry %s; expected %s\n",
                     one.c_str(), "<driver function>:<nth call, from 1>[:<CUresult as name or number>]");
        environment_wrong = true;
    }
    settle();
}

}  // namespace

// The flag is set when the process starts, so the first call runs this function and reads the environment.
bool intercept_call(const char* name, CUresult* answer) {
    const std::size_t index = index_of(name);
    {
        const std::lock_guard<std::mutex> lock(settings_mutex);
        read_environment();
        // cuInit fails if the environment is invalid. Otherwise a test that requested a failure would pass without one.
        if (environment_wrong && !std::strcmp(name, "cuInit")) return *answer = CUDA_ERROR_INVALID_VALUE, true;
    }
    if (index == kCount) return false;
    FunctionState& function = functions[index];
    if (counting.load(std::memory_order_relaxed)) function.calls.fetch_add(1, std::memory_order_relaxed);
    if (function.until.load(std::memory_order_acquire) <= 0) return false;
    if (function.until.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
    *answer = function.code.load(std::memory_order_relaxed);
    function.failed.fetch_add(1, std::memory_order_relaxed);
    return true;
}

void trace_call(const char* name, CUresult result) {
    const char* text = error_name(result);
    std::fprintf(stderr, "cuda_graphs host driver [%ld] %s -> %s\n", syscall(SYS_gettid), name,
                 text != nullptr ? text : "?");
}

}  // namespace cgh

using namespace cgh;

CGH_API CUresult cghFailCall(const char* function, uint64_t nth, const char* code) {
    REQUIRE(function != nullptr, CUDA_ERROR_INVALID_VALUE);
    const std::lock_guard<std::mutex> lock(settings_mutex);
    read_environment();
    return fail_call(function, nth, code);
}

CGH_API uint64_t cghFailedCalls(const char* function) {
    const std::size_t index = function != nullptr ? index_of(function) : kCount;
    return index < kCount ? functions[index].failed.load(std::memory_order_relaxed) : 0;
}

CGH_API void cghCountCalls(int on) {
    const std::lock_guard<std::mutex> lock(settings_mutex);
    read_environment();
    counters += on != 0 ? 1 : -1;
    settle();
}

CGH_API CUresult cghCallCount(uint32_t index, const char** function, uint64_t* count) {
    REQUIRE(index < kCount && function != nullptr && count != nullptr, CUDA_ERROR_INVALID_VALUE);
    *function = kNames[index];
    *count = functions[index].calls.load(std::memory_order_relaxed);
    return CUDA_SUCCESS;
}
