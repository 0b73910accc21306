// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The free parts of an address range. take() uses the first part that fits; add() merges neighbours.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_BASE_FREE_RANGES_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_BASE_FREE_RANGES_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace cgh {

constexpr std::size_t rounded_up(std::size_t size, std::size_t unit) {
    return (size + unit - 1) / unit * unit;
}

class FreeRanges {
  public:
    void add(std::uintptr_t start, std::size_t size);
    // Returns an address that is a multiple of `alignment`, or nothing if no part fits.
    std::optional<std::uintptr_t> take(std::size_t size, std::size_t alignment);

  private:
    std::map<std::uintptr_t, std::size_t> by_start_;
};

}  // namespace cgh

#endif
