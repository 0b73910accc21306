// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The bytes that a node accesses, and a test whether two spans overlap. A span is a run of bytes that is repeated along
// axes. A plain copy is one run; a column of a matrix is many short runs. The test of a run against a span solves one
// integer inequality per axis, from the outermost axis inwards. The test of two tiles of one matrix solves a single
// inequality, for any number of rows.
#ifndef CUDA_GRAPHS_CORE_GRAPHS_SPAN_HPP
#define CUDA_GRAPHS_CORE_GRAPHS_SPAN_HPP

#include <cstdint>
#include <string>
#include <vector>

namespace cg {

struct Axis {
    std::int64_t count;   // 1 or more
    std::int64_t stride;  // bytes, 1 or more

    bool operator==(const Axis& other) const noexcept { return count == other.count && stride == other.stride; }
};

// Size of the memory of a parameter whose size is unknown: more than any memory has.
constexpr std::uint64_t kWhole = std::uint64_t{1} << 62;

struct Span {
    std::uint64_t start = 0;  // address of the first byte, or offset in the memory of the parameter
    std::uint64_t run = 0;    // bytes; 0 for an empty span
    std::vector<Axis> axes;   // innermost first
    std::string parameter;    // name of the parameter that gives the memory; empty for an address

    Span() = default;
    Span(std::uint64_t first, std::uint64_t size) : start(first), run(size) {}

    // Repeats the span. Runs that touch become one run.
    void repeat(std::uint64_t count, std::uint64_t stride);

    // Returns the address after the last byte.
    std::uint64_t end() const noexcept;

    bool operator==(const Span& other) const noexcept {
        return start == other.start && run == other.run && axes == other.axes && parameter == other.parameter;
    }
};

// Returns true when two spans of the same memory, neither of them empty, share a byte.
bool overlap(const Span& one, const Span& other);

}  // namespace cg

#endif
