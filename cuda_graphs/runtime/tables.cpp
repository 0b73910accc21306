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

// The lines of the program that saved the graph are not shown here, but checked as everywhere.
void check_source(const Json& row, std::size_t number) {
    const Where where{"source", number};
    const std::vector<Json>& parts = check_list(&row, where, 2);
    check_int(&parts[1], where, 0, kMostLine);
    if (!parts[0].is_text() || parts[0].text().find('\0') != std::string::npos) fail(where, "must have a text as its file");
}

std::vector<cg::EventHandle> load_events(const std::vector<Json>& table) {
    std::vector<cg::EventHandle> found;
    for (std::size_t number = 0; number < table.size(); ++number) {
        const Row row(&table[number], {"event", number});
        const bool timing = row.flag("timing"), blocking = row.flag("blocking");
        found.push_back(cg::create_event(cg::current_context(), timing, blocking));
        if (!found.back()) fail_noted("create an event");
    }
    return found;
}

}  // namespace

Tables::Tables(const Archive& file)
    : archive(file),
      memory(load_memory(file, file.table("parameters").size())),
      kernels(load_kernels(file)),
      events(load_events(file.table("events"))) {
    const std::vector<Json>&rows = file.table("configs"), &sources = file.table("sources");
    for (std::size_t number = 0; number < rows.size(); ++number) configs.push_back(read_config(rows[number], number));
    for (std::size_t number = 0; number < sources.size(); ++number) check_source(sources[number], number);
    const Json* const driver = file.manifest().get("driver");
    const char* const here = driver_kind() == CG_DRIVER_HOST ? "host" : "cuda";
    computes_sizes = driver == nullptr || !driver->is_text() || driver->text() != here;
}

}  // namespace cgr
