// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels that report their accesses, for the tests of the checks. Each block has one thread.
#ifndef HOSTDRIVER_TESTS_CHECK_RIG_HPP
#define HOSTDRIVER_TESTS_CHECK_RIG_HPP

#include <string>
#include <thread>

#include "graph_rig.hpp"

extern "C" const char* cghFindings(CUresult status);

namespace rig {

inline constexpr cgh_site kPuts{"rig.cu", "st.global.u32", 1, 10, CGH_SITE_WRITE, 0};
inline constexpr cgh_site kTakes{"rig.cu", "ld.global.u32", 2, 20, CGH_SITE_READ, 0};
inline constexpr cgh_site kCounts{
    "rig.cu", "atom.global.add.u32", 3, 30, CGH_SITE_READ | CGH_SITE_WRITE | CGH_SITE_STRONG, 0};

inline void tell(const std::uint32_t* address, const cgh_site& site, std::uint64_t block) {
    cghGetServices()->access(address, sizeof *address, &site, 0, 0, 0, static_cast<std::uint32_t>(block), 0, 0);
}

// Deliberate races are reported as plain accesses but done by atomics, so that the thread sanitizer checks the driver
// alone.
inline std::atomic<std::uint32_t>& word(std::uint32_t* p) {
    return *reinterpret_cast<std::atomic<std::uint32_t>*>(p);
}

// p[block] = block
inline void put(const cgh_launch*, const void* params, void*, std::uint64_t first, std::uint64_t end) {
    auto* p = Args(params).next<std::uint32_t*>();
    for (std::uint64_t block = first; block < end; ++block) {
        tell(p + block, kPuts, block);
        word(p + block).store(static_cast<std::uint32_t>(block), std::memory_order_relaxed);
    }
}

// out[block] = in[block]
inline void take(const cgh_launch*, const void* params, void*, std::uint64_t first, std::uint64_t end) {
    Args args(params);
    auto* out = args.next<std::uint32_t*>();
    auto* in = args.next<std::uint32_t*>();
    for (std::uint64_t block = first; block < end; ++block) {
        tell(in + block, kTakes, block);
        tell(out + block, kPuts, block);
        word(out + block).store(word(in + block).load(std::memory_order_relaxed), std::memory_order_relaxed);
    }
}

// ++*p, by each block
inline void count(const cgh_launch*, const void* params, void*, std::uint64_t first, std::uint64_t end) {
    auto* p = Args(params).next<std::uint32_t*>();
    for (std::uint64_t block = first; block < end; ++block) {
        tell(p, kCounts, block);
        word(p).fetch_add(1);
    }
}

inline const native::Kernels instrumented_kernels{
    {"put", put, {8}, 0, 1024, {0, 0, 0}, true},
    {"take", take, {8, 8}, 0, 1024, {0, 0, 0}, true},
    {"count", count, {8}, 0, 1024, {0, 0, 0}, true},
};

inline CUfunction instrumented(const char* name) {
    context();
    static auto* all = new native::Library("put take count");
    return all->function(name);
}

template <class... Arguments>
void run(const char* name, unsigned blocks, CUstream stream, Arguments... arguments) {
    void* params[] = {static_cast<void*>(&arguments)..., nullptr};
    OK(cuLaunchKernel(instrumented(name), blocks, 1, 1, 1, 1, 1, 0, stream, params, nullptr));
}

// Returns the findings that a wait for all work reports, "" when there are none.
inline std::string findings() {
    const CUresult status = cuCtxSynchronize();
    return status == CUDA_SUCCESS ? "" : cghFindings(status);
}

inline bool tells(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
}

}  // namespace rig

#endif
