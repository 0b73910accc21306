// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The limit of a process's addresses (RLIMIT_AS, ulimit -v), which ranges that are reserved ahead must leave room
// under.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_ADDRESS_LIMIT_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_ADDRESS_LIMIT_HPP

#include <cstddef>

namespace cgh {

// `wanted` bytes, or less: an eighth of the addresses that the limit leaves to the process.
std::size_t within_limit(std::size_t wanted);

}  // namespace cgh

#endif
