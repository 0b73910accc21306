// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "manifest.hpp"

#include <algorithm>

#include "failure.hpp"

namespace cgr {

namespace {

std::string shorten(const Json* value) {
    if (value == nullptr) return "nothing";
    switch (value->kind()) {
        case Json::Kind::kNull:
            return "null";
        case Json::Kind::kBool:
            return value->flag() ? "true" : "false";
        case Json::Kind::kInt:
            return std::to_string(value->integer());
        case Json::Kind::kLarge:
        case Json::Kind::kHuge:
            return "a larger number";
        case Json::Kind::kFloat:
            return std::to_string(value->number());
        case Json::Kind::kText:
            return "'" + value->text().substr(0, 60) + "'";
        case Json::Kind::kList:
            return "a list of " + std::to_string(value->items().size());
        case Json::Kind::kObject:
            return "an object";
    }
    return "an unknown value";
}

bool is_kind(const Json* value, Json::Kind kind) noexcept {
    return value != nullptr && value->kind() == kind;
}

}  // namespace

std::string Where::text() const {
    return std::string(what) + (number == kNone ? "" : " " + std::to_string(number)) +
           (of == nullptr ? "" : " of " + of->text());
}

void fail(const Where& where, const std::string& why) {
    throw Failure(CG_ERROR_DAMAGED,
                  "the file is damaged, or was not written by cuda_graphs: " + where.text() + " " + why);
}

std::int64_t check_int(const Json* value, const Where& where, std::int64_t least, std::int64_t most) {
    if (!is_kind(value, Json::Kind::kInt) || value->integer() < least || value->integer() > most)
        fail(where, "must be an int from " + std::to_string(least) + " to " + std::to_string(most) + ", not " +
                        shorten(value));
    return value->integer();
}

std::size_t check_index(const Json* value, const Where& where, std::size_t count) {
    if (!is_kind(value, Json::Kind::kInt) || value->integer() < 0 ||
        static_cast<std::uint64_t>(value->integer()) >= count)
        fail(where, "must be the number of one of " + std::to_string(count) + " rows, not " + shorten(value));
    return static_cast<std::size_t>(value->integer());
}

const std::vector<Json>& check_list(const Json* value, const Where& where, std::optional<std::size_t> length) {
    if (!is_kind(value, Json::Kind::kList) || (length && value->items().size() != *length))
        fail(where, "must be a list" + (length ? " of " + std::to_string(*length) : "") + ", not " + shorten(value));
    return value->items();
}

cg::ParameterType check_type(const Json* value, const Where& where) {
    constexpr std::int64_t kLargestExtent = 65536;
    const std::vector<Json>& parts = check_list(value, where, 3);
    cg::ParameterType type;
    if (parts[0].is_text()) type.scalar = cg::find_value_type(parts[0].text().c_str());
    if (type.scalar == nullptr || parts[0].text() != type.scalar->name)
        fail(where, "must begin with the name of a type, not " + shorten(&parts[0]));
    const Where dimensions{"the dimensions", Where::kNone, &where};
    type.ndim = static_cast<int>(check_int(&parts[1], dimensions, -1, static_cast<std::int64_t>(cg::kMostAxes)));
    const std::vector<Json>& inner = check_list(&parts[2], where);
    const bool is_pointer = type.scalar->kind == cg::ValueKind::kPointer;
    if (inner.size() > 2 || (type.ndim < 0 && !inner.empty()) || (type.ndim >= 0 && is_pointer))
        fail(where, "is no type");
    for (const Json& extent : inner)
        type.inner.push_back(static_cast<std::int32_t>(check_int(&extent, where, 1, kLargestExtent)));
    return type;
}

std::optional<std::uint64_t> as_uint(const Json& value) noexcept {
    if (value.kind() == Json::Kind::kLarge) return value.large();
    if (value.kind() == Json::Kind::kInt && value.integer() >= 0) return value.large();
    return {};
}

Row::Row(const Json* data, const Where& place) : where(place), data_(data) {
    if (!is_kind(data, Json::Kind::kObject)) fail(where, "must be an object, not " + shorten(data));
}

const Json* Row::get(std::string_view name) const noexcept {
    const Json* const found = data_->find(name);
    return found == nullptr || found->is_null() ? nullptr : found;
}

std::int64_t Row::number(const char* name, std::int64_t least, std::int64_t most) const {
    return check_int(get(name), {name, Where::kNone, &where}, least, most);
}

std::size_t Row::index(const char* name, std::size_t count) const {
    return check_index(get(name), {name, Where::kNone, &where}, count);
}

const std::vector<Json>& Row::items(const char* name, std::optional<std::size_t> length) const {
    return check_list(get(name), {name, Where::kNone, &where}, length);
}

std::vector<std::int64_t> Row::numbers(const char* name, std::size_t length, std::int64_t least,
                                       std::int64_t most) const {
    std::vector<std::int64_t> found;
    for (const Json& value : items(name, length))
        found.push_back(check_int(&value, {name, Where::kNone, &where}, least, most));
    return found;
}

bool Row::flag(const char* name) const {
    const Json* const value = get(name);
    if (!is_kind(value, Json::Kind::kBool))
        fail({name, Where::kNone, &where}, "must be true or false, not " + shorten(value));
    return value->flag();
}

const std::string& Row::text(const char* name) const {
    const Json* const value = get(name);
    if (!is_kind(value, Json::Kind::kText)) fail({name, Where::kNone, &where}, "must be a text, not " + shorten(value));
    return value->text();
}

const std::string* Row::optional_text(const char* name) const {
    return get(name) == nullptr ? nullptr : &text(name);
}

std::size_t Row::choice(const char* name, std::initializer_list<std::string_view> choices) const {
    const Json* const value = get(name);
    const auto* const found = is_kind(value, Json::Kind::kText)
                                  ? std::find(choices.begin(), choices.end(), std::string_view(value->text()))
                                  : choices.end();
    if (found == choices.end()) fail({name, Where::kNone, &where}, "is unknown: " + shorten(value));
    return static_cast<std::size_t>(found - choices.begin());
}

}  // namespace cgr
