// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of types that a named parameter of a graph can have. A value of any of these types fits 64 bits and is
// stored so: the low bytes are the value as a kernel reads it.
#ifndef CUDA_GRAPHS_CORE_GRAPHS_VALUE_TYPE_HPP
#define CUDA_GRAPHS_CORE_GRAPHS_VALUE_TYPE_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cg {

enum class ValueKind : std::uint8_t { kInt, kUint, kFloat, kBool, kPointer };

struct ValueType {
    const char* name;
    ValueKind kind;
    std::size_t size;
};

// Returns the type of that name, or null when there is no such type. Each type has one address.
const ValueType* find_value_type(const char* name) noexcept;

// Rounds to the nearest bfloat16, the upper half of a float; ties go to even, and a NaN stays a NaN. Takes a double,
// since a float argument would already be rounded once.
inline std::uint16_t to_bf16(double value) noexcept {
    float single = static_cast<float>(value);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &single, sizeof bits);
    if (value != value) return static_cast<std::uint16_t>((bits >> 16) | 0x40);
    const double back = static_cast<double>(single);
    if (back != value) {  // rounded: truncate instead and set the last bit as a sticky bit
        const bool away = (back < 0 ? -back : back) > (value < 0 ? -value : value);
        bits = (bits - (away ? 1 : 0)) | 1;
    }
    return static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

inline double from_bf16(std::uint16_t value) noexcept {
    const std::uint32_t bits = static_cast<std::uint32_t>(value) << 16;
    float single = 0;
    std::memcpy(&single, &bits, sizeof single);
    return static_cast<double>(single);
}

}  // namespace cg

#endif
