// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Floats as the bits of a parameter, of 2, 4 or 8 bytes.
#ifndef CUDA_GRAPHS_LOADER_HALF_HPP
#define CUDA_GRAPHS_LOADER_HALF_HPP

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/graphs/value_type.hpp"

namespace cgr {

// Rounds to the nearest f16; ties go to even. IEEE 754: 1 bit of sign, 5 of exponent, 10 of fraction.
inline std::uint16_t to_f16(double value) noexcept {
    const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    const double size = std::fabs(value);
    if (std::isnan(value)) return sign | 0x7e00;
    if (size >= 65520) return sign | 0x7c00;  // rounds to infinity
    int exponent = 0;
    std::frexp(size, &exponent);  // size = fraction * 2^exponent, fraction from 0.5 to 1
    // Steps of the format there: 2^-24 below the normal numbers.
    const int step = size < 6.103515625e-05 ? -24 : exponent - 11;
    const auto count = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(size, -step)));
    const std::uint32_t bits = step == -24 ? count : (static_cast<std::uint32_t>(step + 24) << 10) + count;
    return static_cast<std::uint16_t>(sign | bits);
}

// Writes the bits of a float of `size` bytes. Returns false for another size, and if a finite value becomes infinite.
inline bool encode_float(double value, std::size_t size, bool is_brain, std::uint64_t* bits) noexcept {
    const auto single = static_cast<float>(value);
    bool is_infinite = false;
    if (size == 8) {
        std::memcpy(bits, &value, sizeof value);
        is_infinite = std::isinf(value);
    } else if (size == 4) {
        std::memcpy(bits, &single, sizeof single);
        is_infinite = std::isinf(single);
    } else if (size == 2) {
        *bits = is_brain ? cg::to_bf16(value) : to_f16(value);
        is_infinite = (*bits & 0x7fff) == (is_brain ? 0x7f80U : 0x7c00U);
    } else {
        return false;
    }
    return !is_infinite || std::isinf(value);
}

}  // namespace cgr

#endif
