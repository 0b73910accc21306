// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The free parts (gaps) of an address range. take() uses the first gap that fits; add() merges neighbours.
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
    // Returns an address that is a multiple of `alignment`, or nothing if no gap fits.
    std::optional<std::uintptr_t> take(std::size_t size, std::size_t alignment);

  private:
    std::map<std::uintptr_t, std::size_t> by_start_;
};

}  // namespace cgh

#endif
