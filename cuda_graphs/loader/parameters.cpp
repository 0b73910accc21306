// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "parameters.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <limits>
#include <string>

#include "half.hpp"

namespace cgr {

namespace {

using cg::ValueKind;

constexpr std::int64_t kMostExtent = 0x7fffffff;

bool set_bits(cg::ParameterValue* to, std::uint64_t bits) noexcept {
    to->bits = bits;
    to->known = true;
    return true;
}

std::uint64_t mask_of(const cg::ValueType& type) noexcept {
    return type.size == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * type.size)) - 1;
}

// The names that Python takes as keywords of Graph.launch.
bool is_name(const std::string& name) {
    const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c >= 0x80; };
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) return false;
    if (name == "self" || name == "stream") return false;
    for (const char c : name)
        if (!fits(static_cast<unsigned char>(c))) return false;
    return true;
}

// Reads a float as Python writes it.
std::optional<double> read_float(const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || end != text.c_str() + text.size() || text.find_first_of("xX") != std::string::npos) return {};
    return value;
}

}  // namespace

bool encode_int(const cg::ValueType& type, std::int64_t value, cg::ParameterValue* to) {
    if (value >= 0) return encode_uint(type, static_cast<std::uint64_t>(value), to);
    if (type.kind == ValueKind::kFloat) return encode_float(type, static_cast<double>(value), to);
    const std::int64_t least = std::numeric_limits<std::int64_t>::min() >> (64 - 8 * type.size);
    if (type.kind != ValueKind::kInt || value < least) return false;
    return set_bits(to, static_cast<std::uint64_t>(value) & mask_of(type));
}

bool encode_uint(const cg::ValueType& type, std::uint64_t value, cg::ParameterValue* to) {
    switch (type.kind) {
        case ValueKind::kFloat:
            return encode_float(type, static_cast<double>(value), to);
        case ValueKind::kBool:
            return value <= 1 && set_bits(to, value);
        case ValueKind::kInt:
            return value <= mask_of(type) >> 1 && set_bits(to, value);
        case ValueKind::kUint:
            return value <= mask_of(type) && set_bits(to, value);
        case ValueKind::kPointer:
            break;
    }
    return false;
}

bool encode_float(const cg::ValueType& type, double value, cg::ParameterValue* to) {
    std::uint64_t bits = 0;
    return type.kind == ValueKind::kFloat && encode_float(value, type.size, type.name[0] == 'b', &bits) &&
           set_bits(to, bits);
}

const cg::ParameterRef& Parameters::get(std::size_t number) {
    const auto found = known_.find(number);
    if (found != known_.end()) return found->second;
    const Row row(&rows_[number], {"parameter", number});
    auto made = std::make_shared<cg::NamedParameter>();
    made->type = check_type(row.get("type"), {"the type", Where::kNone, &row.where});
    made->initial = read_default(row, number, made->type);
    made->name = row.text("name");
    if (!is_name(made->name)) fail(row.where, "has no name that a parameter can have");
    cg::ParameterTable& table = cg::parameters_of(*graph_);
    const cg::ParameterRef embedded = table.find(made->name);  // an embedded definition has brought it
    if (embedded && (is_known(embedded) || !(embedded->type == made->type)))
        fail(row.where, "has the name of another parameter");
    if (!embedded) table.add(made);
    return known_[number] = embedded ? embedded : made;
}

bool Parameters::is_known(const cg::ParameterRef& parameter) const noexcept {
    return std::any_of(known_.begin(), known_.end(), [&](const auto& each) { return each.second == parameter; });
}

cg::ParameterValue Parameters::read_default(const Row& row, std::size_t number, const cg::ParameterType& type) const {
    for (const LoadedMemory& memory : memory_) {
        if (memory.parameter != number) continue;
        if (!(memory.type == type)) fail(row.where, "has another type than its memory");
        return memory.value();
    }
    if (row.get("default") == nullptr) return {};
    return type.is_memory() ? read_place(row, type) : read_number(row, type);
}

cg::ParameterValue Parameters::read_number(const Row& row, const cg::ParameterType& type) const {
    const Json& value = *row.get("default");
    cg::ParameterValue found;
    bool fits = false;
    if (value.is_text()) {
        const auto number = read_float(value.text());
        fits = number && encode_float(*type.scalar, *number, &found);
    } else if (value.kind() == Json::Kind::kLarge) {
        fits = encode_uint(*type.scalar, value.large(), &found);
    } else if (value.kind() == Json::Kind::kInt || value.kind() == Json::Kind::kBool) {
        fits = encode_int(*type.scalar, value.integer(), &found);
    }
    if (!fits) fail({"the default", Where::kNone, &row.where}, "is no number of its type");
    return found;
}

cg::ParameterValue Parameters::read_place(const Row& row, const cg::ParameterType& type) const {
    const Where where{"the default", Where::kNone, &row.where};
    const std::vector<Json>& parts = check_list(row.get("default"), where, 2);
    const std::vector<Json>& reference = check_list(&parts[0], where, 3);
    if (!reference[0].is_text() || reference[0].text() != "m") fail(where, "is no memory of the file");
    const Place place = memory_[check_index(&reference[1], where, memory_.size())].place(&reference[2], where);
    cg::ParameterValue found;
    found.bits = place.address;
    found.known = true;
    found.owner = place.owner;
    if (!type.is_array()) return found;
    std::vector<std::int64_t> shape;
    for (const Json& extent : check_list(&parts[1], where, static_cast<std::size_t>(type.ndim))) {
        shape.push_back(check_int(&extent, where, 0, kMostExtent));
        found.extents[shape.size() - 1] = static_cast<std::int32_t>(shape.back());
    }
    const auto bytes = bytes_of_array(type, shape);
    if (!bytes || *bytes > place.size) fail(where, "is larger than its memory");
    return found;
}

}  // namespace cgr
