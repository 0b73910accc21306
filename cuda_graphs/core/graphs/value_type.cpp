// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "value_type.hpp"

#include <cstring>

namespace cg {

namespace {

constexpr ValueType kValueTypes[] = {
    {"i8", ValueKind::kInt, 1},     {"i16", ValueKind::kInt, 2},         {"i32", ValueKind::kInt, 4},
    {"i64", ValueKind::kInt, 8},    {"u8", ValueKind::kUint, 1},         {"u16", ValueKind::kUint, 2},
    {"u32", ValueKind::kUint, 4},   {"u64", ValueKind::kUint, 8},        {"f16", ValueKind::kFloat, 2},
    {"bf16", ValueKind::kFloat, 2}, {"f32", ValueKind::kFloat, 4},       {"f64", ValueKind::kFloat, 8},
    {"bool", ValueKind::kBool, 1},  {"pointer", ValueKind::kPointer, 8},
};

}  // namespace

const ValueType* find_value_type(const char* name) noexcept {
    for (const ValueType& type : kValueTypes)
        if (std::strcmp(type.name, name) == 0) return &type;
    return nullptr;
}

}  // namespace cg
