// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads two clocks. Ticks measure kernels while they run; they come from the processor's time stamp counter if it has
// one. Nanoseconds of the steady clock are for values that users see.
#ifndef CUDA_GRAPHS_HOSTDRIVER_EXECUTION_CLOCK_HPP
#define CUDA_GRAPHS_HOSTDRIVER_EXECUTION_CLOCK_HPP

#include <atomic>
#include <chrono>
#include <cstdint>

namespace cgh {

inline std::int64_t steady_nanoseconds() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

inline std::uint64_t ticks() {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return static_cast<std::uint64_t>(steady_nanoseconds());
#endif
}

// Returns the rate of the tick clock, measured once, over about 50 us.
double ticks_per_microsecond();

// Chooses the runs of something short that are measured: the first two, and every sixteenth later one. Reading the
// clock costs a tenth of a short run. Racing threads may lose some runs.
class Sampling {
  public:
    bool takes_next() {
        const std::uint32_t run = runs_.load(std::memory_order_relaxed);
        runs_.store(run + 1, std::memory_order_relaxed);
        return run < 2 || run % 16 == 0;
    }

  private:
    std::atomic<std::uint32_t> runs_{0};
};

}  // namespace cgh

#endif
