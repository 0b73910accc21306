// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "hostdriver/objects/base/address_limit.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace cgh {
namespace {

constexpr std::size_t kPart = 8;  // share of the remaining addresses; the rest is for threads, heaps and code

// Returns the bytes of address space in use by the process (proc(5), statm), or 0 if unknown.
std::size_t addresses_in_use() {
    std::FILE* const file = std::fopen("/proc/self/statm", "re");
    if (file == nullptr) return 0;
    unsigned long pages = 0;
    if (std::fscanf(file, "%lu", &pages) != 1) pages = 0;
    std::fclose(file);
    return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

std::size_t within_limit(std::size_t wanted) {
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return wanted;
    const std::size_t used = addresses_in_use();
    return std::min(wanted, (limit.rlim_cur - std::min<std::size_t>(used, limit.rlim_cur)) / kPart);
}

}  // namespace cgh
