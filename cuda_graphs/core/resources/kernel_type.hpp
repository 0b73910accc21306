// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The types of kernel parameters, as far as they are known. The source of a kernel tells them, or the mangled name, or
// the PTX (objects/code/signature.py). The driver reports offsets and sizes only.
#ifndef CUDA_GRAPHS_CORE_RESOURCES_KERNEL_TYPE_HPP
#define CUDA_GRAPHS_CORE_RESOURCES_KERNEL_TYPE_HPP

#include <cstddef>
#include <cstdint>
#include <string>

namespace cg {

// The kind of a value. objects/code/signature.py has the same names in the same order.
enum class ValueForm : std::uint8_t {
    kUnknown,
    kInt,
    kUint,
    kInteger,  // int or uint
    kWord,     // integer of 8 bytes that may be an address
    kFloat,
    kBfloat,
    kBool,
    kPointer,
    kComplex,
    kClass,  // any other type; as an element also void
    kByte,   // element only: char and unsigned char, through which C++ accesses objects of any type
};

struct KernelType {
    ValueForm form = ValueForm::kUnknown;
    std::size_t size = 0;  // bytes; 0 if unknown
    // Of a pointer: what it points to, and whether that is const and holds no addresses of other memory.
    ValueForm element = ValueForm::kUnknown;
    std::size_t element_size = 0;
    bool is_read_only = false;
    std::string text;  // in C++, or in words
};

// The ints that a parameter takes: from `low` to `high`; none if `high` is less. Floats take further ints.
struct IntRange {
    std::int64_t low = INT64_MAX;
    std::uint64_t high = 0;
};

inline IntRange ints_of(ValueForm form, std::size_t size) noexcept {
    if (size != 1 && size != 2 && size != 4 && size != 8) return {};
    const unsigned bits = static_cast<unsigned>(size) * 8;
    const std::int64_t low = INT64_MIN >> (64 - bits);
    const std::uint64_t high = UINT64_MAX >> (64 - bits);
    switch (form) {
        case ValueForm::kInt:
            return {low, high >> 1};
        case ValueForm::kUint:
        case ValueForm::kPointer:
            return {0, high};
        case ValueForm::kInteger:
        case ValueForm::kWord:
            return {low, high};
        case ValueForm::kBool:
            return {0, 1};
        case ValueForm::kUnknown:  // 8 bytes may be an address
            return size == 8 ? IntRange{0, high} : IntRange{};
        default:
            return {};
    }
}

struct Parameter {
    std::size_t offset = 0;  // bytes, in the parameter block
    std::size_t size = 0;    // bytes
    IntRange ints;
    KernelType type;

    bool takes_addresses() const noexcept {
        return size == 8 && (type.form == ValueForm::kPointer || type.form == ValueForm::kWord ||
                             type.form == ValueForm::kUint || type.form == ValueForm::kUnknown);
    }
};

}  // namespace cg

#endif
