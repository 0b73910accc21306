// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// SHA-256 (FIPS 180-4). It finds damage in files; nothing here keeps a secret.
#ifndef CUDA_GRAPHS_FORMATS_SHA256_HPP
#define CUDA_GRAPHS_FORMATS_SHA256_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace cgf {

std::array<std::uint8_t, 32> sha256(const void* data, std::size_t size);

// Returns the digits of a hash, as Python's hexdigest().
std::string hexadecimal(const std::array<std::uint8_t, 32>& hash);

}  // namespace cgf

#endif
