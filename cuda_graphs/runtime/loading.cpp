// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "loading.hpp"

#include <algorithm>
#include <string>

#include "nodes.hpp"
#include "tables.hpp"

namespace cgr {

namespace {

// Returns the callbacks in the order of the file. Lists those that are missing.
std::vector<cg_callback> bind_callbacks(const std::vector<Json>& names, const std::vector<cg_callback>& given) {
    std::vector<cg_callback> found;
    std::string missing;
    for (const Json& name : names) {
        if (!name.is_text()) fail({"the table of callbacks"}, "must have names");
        const auto match =
            std::find_if(given.begin(), given.end(), [&](const cg_callback& each) { return name.text() == each.name; });
        if (match == given.end())
            missing += (missing.empty() ? "" : ", ") + name.text();
        else
            found.push_back(*match);
    }
    if (!missing.empty())
        throw Failure(CG_ERROR_INVALID_VALUE, "the file calls functions of the host, which are missing: give callbacks "
                                              "with the names " + missing);
    for (const cg_callback& each : given) {
        const bool is_used =
            std::any_of(names.begin(), names.end(), [&](const Json& name) { return name.text() == each.name; });
        if (!is_used)
            throw Failure(CG_ERROR_INVALID_VALUE, std::string("the file calls no function ") + each.name);
    }
    return found;
}

// Reads the names of inputs or outputs.
void read_roles(const Archive& archive, const char* table, std::int32_t role, std::vector<std::int32_t>& roles) {
    const Row row(archive.manifest().get(table), {table});
    const std::vector<Json>& parameters = archive.table("parameters");
    for (const auto& [name, value] : row.data().members()) {
        const std::size_t number = check_index(&value, {name.c_str(), Where::kNone, &row.where}, parameters.size());
        if (Row(&parameters[number], {"parameter", number}).text("name") != name)
            fail({name.c_str(), Where::kNone, &row.where}, "has another name than its parameter");
        roles[number] |= role;
    }
}

}  // namespace

std::size_t LoadedGraph::find(const char* name) const {
    std::string known;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (parameters[i].parameter->name == name) return i;
        known += (known.empty() ? "" : ", ") + parameters[i].parameter->name;
    }
    throw Failure(CG_ERROR_NOT_FOUND, std::string("the graph has no parameter '") + name +
                                          "'; it has: " + (known.empty() ? "none" : known));
}

LoadedGraph load(const cg::ContextHandle& context, std::string_view file, const std::vector<cg_callback>& callbacks) {
    const Archive archive(file);
    if (archive.table("graphs").empty()) fail({"the table of graphs"}, "is empty");
    const std::vector<cg_callback> bound = bind_callbacks(archive.table("callbacks"), callbacks);
    std::vector<std::int32_t> roles(archive.table("parameters").size());
    read_roles(archive, "inputs", CG_ROLE_INPUT, roles);
    read_roles(archive, "outputs", CG_ROLE_OUTPUT, roles);

    LoadedGraph found;
    found.context = context;
    found.definition = cg::create_graph();
    if (!found.definition) fail_noted("create a graph");
    Tables tables(archive);
    tables.callbacks = bound;
    Parameters parameters(*cg::box_of<cg::NodeRecord>(found.definition)->graph, archive.table("parameters"),
                          tables.memory);
    add_all_nodes(tables, found.definition, parameters);
    for (std::size_t number = 0; number < roles.size(); ++number)
        found.parameters.push_back({parameters.get(number), roles[number]});
    return found;
}

}  // namespace cgr
