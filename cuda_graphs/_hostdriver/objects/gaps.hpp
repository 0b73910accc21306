// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// What is free of a range of addresses: gaps, the first that fits is taken, neighbours become one.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_GAPS_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_GAPS_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace cgh {

constexpr std::size_t rounded_up(std::size_t size, std::size_t unit) {
    return (size + unit - 1) / unit * unit;
}

class Gaps {
  public:
    void add(std::uintptr_t start, std::size_t size);
    // Empty: there is no room. `alignment` is of the address that is found.
    std::optional<std::uintptr_t> take(std::size_t size, std::size_t alignment);

  private:
    std::map<std::uintptr_t, std::size_t> by_start_;
};

}  // namespace cgh

#endif
