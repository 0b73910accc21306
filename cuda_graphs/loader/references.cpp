// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "references.hpp"

#include <cstdio>

namespace cgr {

namespace {

constexpr std::size_t kWordBytes = 4;

// The name of the hidden parameter of a stop word (graph/operands/stop_words.pyx).
std::string name_of_stop(CUgraphConditionalHandle condition) {
    char digits[32];
    std::snprintf(digits, sizeof digits, ".stop %llx", static_cast<unsigned long long>(condition));
    return digits;
}

}  // namespace

Reference References::resolve(const Json* reference, const Where& where) {
    using Resolve = Reference (References::*)(const std::vector<Json>&, const Where&);
    struct Way {
        const char* letter;
        std::size_t length;
        Resolve resolve;
    };
    static constexpr Way kWays[] = {
        {"m", 3, &References::memory},    {"a", 3, &References::alloc},  {"c", 3, &References::given_condition},
        {"p", 2, &References::parameter}, {"e", 3, &References::extent}, {"s", 2, &References::stop},
    };
    const std::vector<Json>& parts = check_list(reference, where);
    for (const Way& way : kWays) {
        if (parts.empty() || !parts[0].is_text() || parts[0].text() != way.letter) continue;
        return (this->*way.resolve)(check_list(reference, where, way.length), where);
    }
    fail(where, "names nothing");
}

Reference References::memory(const std::vector<Json>& parts, const Where& where) {
    const LoadedMemory& row = tables_.memory[check_index(&parts[1], where, tables_.memory.size())];
    Reference found;
    found.place = row.place(&parts[2], where);
    if (!row.parameter) return found;
    if (parts[2].integer() != 0) fail(where, "uses a part of an input or output");
    found.kind = Reference::Kind::kParameter;
    found.parameter = parameters_.get(*row.parameter);
    return found;
}

Reference References::alloc(const std::vector<Json>& parts, const Where& where) {
    const LoadedAlloc& node = tables_.allocs[check_index(&parts[1], where, tables_.allocs.size())];
    const auto offset =
        static_cast<std::size_t>(check_int(&parts[2], where, 0, static_cast<std::int64_t>(node.size) - 1));
    Reference found;
    found.place = {node.address + offset, node.size - offset, {}};
    return found;
}

Reference References::given_condition(const std::vector<Json>& parts, const Where& where) {
    Reference found;
    found.kind = Reference::Kind::kCondition;
    found.condition = condition(parts[1], parts[2], where);
    return found;
}

LoadedCondition References::condition(const Json& graph, const Json& number, const Where& where) const {
    const auto as_number = [](const Json& value) {
        return value.kind() == Json::Kind::kInt && value.integer() >= 0 ? static_cast<std::size_t>(value.integer())
                                                                        : Where::kNone;
    };
    const auto found = tables_.conditions.find({as_number(graph), as_number(number)});
    if (found == tables_.conditions.end()) fail(where, "uses a condition before the graph that has it");
    return found->second;
}

Reference References::parameter(const std::vector<Json>& parts, const Where& where) {
    Reference found;
    found.kind = Reference::Kind::kParameter;
    found.is_direct = true;
    found.parameter = parameters_.get(check_index(&parts[1], where, parameters_.count()));
    return found;
}

Reference References::extent(const std::vector<Json>& parts, const Where& where) {
    Reference found = parameter(parts, where);
    const int ndim = found.parameter->type.ndim;
    const std::size_t axis = check_index(&parts[2], where, static_cast<std::size_t>(ndim < 0 ? 0 : ndim));
    found.kind = Reference::Kind::kExtent;
    found.word = static_cast<std::uint8_t>(axis + 1);
    return found;
}

// Nothing ends a loop from outside here, so its word stays 0.
Reference References::stop(const std::vector<Json>& parts, const Where& where) {
    CUgraphConditionalHandle handle = 0;
    if (!parts[1].is_null()) {
        const std::vector<Json>& inner = check_list(&parts[1], where, 3);
        if (!inner[0].is_text() || inner[0].text() != "c") fail(where, "names something else than a condition");
        handle = condition(inner[1], inner[2], where).handle;
    }
    if (!tables_.stop_word) tables_.stop_word = allocate(Space::kDevice, kWordBytes);
    Reference found;
    found.kind = Reference::Kind::kStop;
    cg::ParameterTable& table = cg::parameters_of(graph_);
    const std::string name = name_of_stop(handle);
    found.parameter = table.find(name);
    if (found.parameter) return found;
    found.parameter = std::make_shared<cg::NamedParameter>();
    found.parameter->name = name;
    found.parameter->type.scalar = cg::find_value_type("pointer");
    found.parameter->initial.bits = *tables_.stop_word;
    found.parameter->initial.known = true;
    found.parameter->initial.owner = tables_.stop_word;
    table.add(found.parameter);
    return found;
}

}  // namespace cgr
