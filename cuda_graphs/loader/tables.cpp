// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "tables.hpp"

#include <algorithm>

#include "device.hpp"

namespace cgr {

namespace {

constexpr std::int64_t kMostGrid = 0x7fffffff, kMostLine = 0x7fffffff;

Config read_config(const Json& row, std::size_t number) {
    const Where where{"config", number};
    const std::vector<Json>& values = check_list(&row, where);
    if (values.size() != 8 && values.size() != 11) fail(where, "must have 8 or 11 numbers");
    std::vector<unsigned> read;
    for (const Json& value : values) read.push_back(static_cast<unsigned>(check_int(&value, where, 0, kMostGrid)));
    const std::size_t sizes = values.size() - 2;
    if (std::count(read.begin(), read.begin() + static_cast<std::ptrdiff_t>(sizes), 0U) != 0)
        fail(where, "has a size of 0");
    Config found{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        found.shape.cluster[axis] = sizes == 9 ? read[6 + axis] : 0;
        found.size.block[axis] = read[3 + axis];
        // The file counts clusters.
        const std::uint64_t blocks = std::uint64_t{read[axis]} * (sizes == 9 ? read[6 + axis] : 1);
        if (blocks > static_cast<std::uint64_t>(kMostGrid)) fail(where, "has too many blocks");
        found.size.grid[axis] = static_cast<unsigned>(blocks);
    }
    found.size.shared = read[sizes];
    found.shape.cooperative = read[sizes + 1] != 0;
    return found;
}

// Reads a line of the program that saved the graph.
cg::Opaque read_line(const Json& row, std::size_t number, Program& program) {
    const Where where{"source", number};
    const std::vector<Json>& parts = check_list(&row, where, 2);
    const auto line = static_cast<int>(check_int(&parts[1], where, 0, kMostLine));
    if (!parts[0].is_text() || parts[0].text().find('\0') != std::string::npos)
        fail(where, "must have a text as its file");
    return program.line_of(parts[0].text(), line);
}

std::vector<cg::EventHandle> load_events(const std::vector<Json>& table) {
    std::vector<cg::EventHandle> found;
    for (std::size_t number = 0; number < table.size(); ++number) {
        const Row row(&table[number], {"event", number});
        const bool timing = row.flag("timing"), blocking = row.flag("blocking");
        found.push_back(without_lock([&] { return cg::create_event(cg::current_context(), timing, blocking); }));
        if (!found.back()) fail_noted("create an event");
    }
    return found;
}

}  // namespace

Tables::Tables(const Archive& file, Program& around)
    : archive(file),
      program(around),
      memory(load_memory(file, file.table("parameters").size(), around)),
      kernels(load_kernels(file, around)),
      events(load_events(file.table("events"))) {
    const std::vector<Json>&rows = file.table("configs"), &sources = file.table("sources");
    for (std::size_t number = 0; number < rows.size(); ++number) configs.push_back(read_config(rows[number], number));
    for (std::size_t number = 0; number < sources.size(); ++number)
        lines.push_back(read_line(sources[number], number, around));
    const Json* const driver = file.manifest().get("driver");
    const char* const here = around.is_on_host() ? "host" : "cuda";
    computes_sizes = driver == nullptr || !driver->is_text() || driver->text() != here;
}

cg::SourceLocation Tables::find_line(const Json* source, cg::GraphBox& graph, const Where& where) const {
    if (source == nullptr || source->is_null()) return {};
    const cg::Opaque& line = lines[check_index(source, {"the source", Where::kNone, &where}, lines.size())];
    if (!line) return {};
    cg::SourceLocation found;
    found.instruction = -1;  // the first line of the code (objects/source.pyx)
    found.code = graph.sources->find(line.get());
    if (found.code == 0) found.code = graph.sources->add(line);
    return found;
}

}  // namespace cgr
