// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The sizes of launches of kernels of Python, from the description of their tasks: saving/sizes.py and
// kernels/targets.py.
#ifndef CUDA_GRAPHS_LOADER_SIZES_HPP
#define CUDA_GRAPHS_LOADER_SIZES_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/graphs/named_parameter.hpp"
#include "core/resources/module.hpp"
#include "manifest.hpp"

namespace cgr {

// Values of arguments by their numbers. A lacking value is unknown.
using Values = std::map<std::size_t, std::int64_t>;

class TaskSize {
  public:
    // `count`: the arguments of the kernel.
    TaskSize(const Row& row, std::size_t count, bool is_on_host);

    // The numbers of the arguments that decide.
    const std::set<std::size_t>& arguments() const noexcept { return arguments_; }
    // Returns true if all blocks must run at the same time.
    bool is_resident() const noexcept { return !inner_.empty(); }

    // Returns the size of a launch. Asks the driver for what fits the current device.
    cg::LaunchSize compute(const cg::KernelHandle& kernel, const Values& values) const;

  private:
    // A bound of a loop: a number, an argument, or an operation of two bounds.
    struct Bound {
        enum class Kind { kNumber, kArgument, kAdd, kSub, kMul, kFloorDiv, kMin, kMax };
        Kind kind = Kind::kNumber;
        std::int64_t number = 0;  // of an argument too
        std::vector<Bound> operands;
    };
    struct Axis {
        Bound begin, end;
        std::int64_t step;
    };
    struct Loop {
        bool parallel, fixed_block, has_sums, heavy;
        std::optional<std::int64_t> block, threads, iterations;
        std::size_t shared = 0;
        std::int64_t traffic = 0;  // bytes that an iteration accesses; 0 for heavy ones and in older files
        std::optional<std::vector<Axis>> axes;
    };
    struct Shape;

    Loop read_loop(const Row& row, std::size_t count);
    Bound read_bound(const Json& value, std::size_t count, const Where& where, std::size_t* steps);
    static Bound::Kind kind_of(const std::string& name);
    static std::optional<__int128> apply(Bound::Kind kind, __int128 a, __int128 b) noexcept;
    static std::optional<__int128> evaluate(const Bound& bound, const Values& values);
    static std::optional<__int128> count_iterations(const Loop& loop, const Values& values);
    static unsigned count_blocks(const Loop& loop, std::int64_t share, const Values& values, std::int64_t most);
    bool runs_in_one_block(std::int64_t block, const Values& values) const;
    cg::LaunchSize compute_resident(const cg::KernelHandle& kernel, const Values& values) const;
    static unsigned shared_bytes(const cg::KernelHandle& kernel, const Loop& loop);

    bool is_on_host_;
    std::set<std::size_t> arguments_;  // before the loops, whose readers add to it
    Loop loop_;
    std::vector<Loop> inner_;
};

}  // namespace cgr

#endif
