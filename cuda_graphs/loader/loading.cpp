// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "loading.hpp"

#include <string>

#include "nodes.hpp"
#include "tables.hpp"

namespace cgr {

namespace {

std::vector<std::string> read_names(const std::vector<Json>& table) {
    std::vector<std::string> found;
    for (const Json& name : table) {
        if (!name.is_text()) fail({"the table of callbacks"}, "must have names");
        found.push_back(name.text());
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

Loaded load(const cg::NodeHandle& definition, std::string_view file, Program& program) {
    const Archive archive(file);
    if (archive.table("graphs").empty()) fail({"the table of graphs"}, "is empty");
    program.bind_callbacks(read_names(archive.table("callbacks")));
    std::vector<std::int32_t> roles(archive.table("parameters").size());
    read_roles(archive, "inputs", CG_ROLE_INPUT, roles);
    read_roles(archive, "outputs", CG_ROLE_OUTPUT, roles);
    Tables tables(archive, program);
    Parameters parameters(*cg::box_of<cg::NodeRecord>(definition)->graph, archive.table("parameters"), tables.memory);
    add_all_nodes(tables, definition, parameters);
    Loaded found;
    for (std::size_t number = 0; number < roles.size(); ++number)
        found.parameters.push_back({parameters.get(number), roles[number]});
    found.memory = std::move(tables.memory);
    return found;
}

}  // namespace cgr
