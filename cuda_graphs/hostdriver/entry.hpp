// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The form of an entry point. Each has at most 15 lines: trace, REQUIRE lines, cast, delegate.
//
//     CGH_API CUresult cuStreamQuery(CUstream hStream) {
//         return entry("cuStreamQuery", [&]() -> CUresult {
//             Stream* stream = nullptr;
//             TRY(find_stream(hStream, &stream));
//             return stream->query();
//         });
//     }
//
// Every call goes through entry(). It refuses calls before initialisation and inside host functions, and turns
// std::bad_alloc into CUDA_ERROR_OUT_OF_MEMORY. While a test hook is on, it passes calls to intercept_call(), which
// counts them, traces them, or makes them fail (test_hooks.h).
#ifndef CUDA_GRAPHS_HOSTDRIVER_ENTRY_HPP
#define CUDA_GRAPHS_HOSTDRIVER_ENTRY_HPP

#include <cuda.h>

#include <atomic>
#include <new>

#include "hostdriver/execution/thread_state.hpp"

// Puts a function into the library's export table; all other symbols are hidden.
#define CGH_API extern "C" __attribute__((visibility("default")))

// The checking macros of the host driver. REQUIRE returns `code` unless `cond` holds. TRY returns any result but
// CUDA_SUCCESS.
#define REQUIRE(cond, code)         \
    do {                            \
        if (!(cond)) return (code); \
    } while (false)
#define TRY(call)                                                                  \
    do {                                                                           \
        if (CUresult try_code = (call); try_code != CUDA_SUCCESS) return try_code; \
    } while (false)

namespace cgh {

enum class Ready : int { kNo, kYes, kForked };

struct EntryState {
    std::atomic<Ready> ready{Ready::kNo};
    // True while a test hook is on, and at first, because the first call reads the environment (intercept_call).
    std::atomic<bool> intercepted{true};
    std::atomic<bool> trace{false};
};
inline EntryState entry_state;

// Counts, traces or fails a call. Returns true if the call must only return `answer`.
bool intercept_call(const char* name, CUresult* answer);
void trace_call(const char* name, CUresult result);

// Returns CUDA_SUCCESS if calls are allowed now, otherwise the error.
inline CUresult check_call_allowed() {
    // cuda.h, cuLaunchHostFunc: "The host function must not make any CUDA API calls. Attempting to use a CUDA API may
    // result in CUDA_ERROR_NOT_PERMITTED, but this is not required."
    if (thread_state.callback_depth != 0) return CUDA_ERROR_NOT_PERMITTED;
    if (entry_state.ready.load(std::memory_order_acquire) != Ready::kYes) return CUDA_ERROR_NOT_INITIALIZED;
    return CUDA_SUCCESS;
}

// Runs the body of an entry point that may be called at any time, also before cuInit and inside host functions.
template <class Body>
inline CUresult entry_anytime(const char* name, Body&& body) {
    CUresult result;
    const bool intercepted = entry_state.intercepted.load(std::memory_order_relaxed);
    if (__builtin_expect(!intercepted, true) || !intercept_call(name, &result)) {
        try {
            result = body();
        } catch (const std::bad_alloc&) {
            result = CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    if (__builtin_expect(intercepted, false) && entry_state.trace.load(std::memory_order_relaxed))
        trace_call(name, result);
    return result;
}

template <class Body>
inline CUresult entry(const char* name, Body&& body) {
    return entry_anytime(name, [&]() -> CUresult {
        TRY(check_call_allowed());
        return body();
    });
}

}  // namespace cgh

#endif
