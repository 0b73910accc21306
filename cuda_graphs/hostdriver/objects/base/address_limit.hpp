// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The limit of the process's address space (RLIMIT_AS, ulimit -v). Address ranges that are reserved in advance must
// leave room below it.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_BASE_ADDRESS_LIMIT_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_BASE_ADDRESS_LIMIT_HPP

#include <cstddef>

namespace cgh {

// Returns `wanted` bytes, or an eighth of the address space that is left under the limit if that is less.
std::size_t within_limit(std::size_t wanted);

}  // namespace cgh

#endif
