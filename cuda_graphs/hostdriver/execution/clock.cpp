// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Calibrates the tick clock against the steady clock.
#include "clock.hpp"

namespace cgh {

double ticks_per_microsecond() {
    static const double rate = [] {
        const std::int64_t from = steady_nanoseconds();
        const std::uint64_t first = ticks();
        std::int64_t now = from;
        while (now - from < 50'000) now = steady_nanoseconds();
        return static_cast<double>(ticks() - first) * 1000.0 / static_cast<double>(now - from);
    }();
    return rate;
}

}  // namespace cgh
