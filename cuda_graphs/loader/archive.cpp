// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "archive.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "failure.hpp"
#include "formats/error.hpp"
#include "formats/sha256.hpp"

namespace cgr {

namespace {

constexpr const char* kManifest = "manifest.json";
constexpr const char* kFormat = "cuda_graphs definition";
constexpr std::int64_t kSchema = 1;  // the newest that this library reads
constexpr const char* kTables[] = {"blobs",  "sources", "kernels",   "configs", "parameters",
                                   "memory", "events",  "callbacks", "graphs"};

// Calls a reader of formats/, and makes its error a Failure.
template <class Read>
auto read_sound(Read read) {
    try {
        return read();
    } catch (const cgf::FormatError& error) {
        throw Failure(CG_ERROR_DAMAGED,
                      std::string("the file is damaged, or was not written by cuda_graphs: ") + error.what());
    }
}

}  // namespace

std::string read_file(const std::string& path) {
    const auto refuse = [&] { return Failure(CG_ERROR_FILE, path + " cannot be read: " + std::strerror(errno)); };
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), std::fclose);
    if (!file) throw refuse();
    std::string found;
    char part[1 << 16];
    while (const std::size_t got = std::fread(part, 1, sizeof part, file.get())) found.append(part, got);
    if (std::ferror(file.get()) != 0) throw refuse();
    return found;
}

Archive::Archive(std::string_view file)
    : zip_(read_sound([&] { return cgf::Zip(file); })),
      manifest_(read_sound([&] { return Json::read(zip_.read(kManifest)); })) {
    const Row all = manifest();
    const std::string* const format = all.optional_text("format");
    if (format == nullptr || *format != kFormat) fail(all.where, std::string("must have the format '") + kFormat + "'");
    if (const std::int64_t schema = all.number("schema", 1); schema > kSchema)
        throw Failure(CG_ERROR_DAMAGED, "the file has the schema " + std::to_string(schema) +
                                            "; this version of cuda_graphs reads up to " + std::to_string(kSchema) +
                                            ": use a later version");
    for (const char* const name : kTables) all.items(name);
}

std::string Archive::blob(std::size_t number) const {
    const Where where{"blob", number};
    const std::vector<Json>& row = check_list(&table("blobs").at(number), where, 2);
    const std::string name = "blobs/" + std::to_string(number);
    const auto size = static_cast<std::uint64_t>(check_int(&row[0], {"the size", Where::kNone, &where}));
    if (const std::uint64_t found = read_sound([&] { return zip_.size_of(name); }); found != size)
        fail({name.c_str()}, "has " + std::to_string(found) + " bytes instead of " + std::to_string(size));
    std::string data = read_sound([&] { return zip_.read(name); });
    if (!row[1].is_text() || row[1].text() != cgf::hexadecimal(cgf::sha256(data.data(), data.size())))
        fail(where, "has other contents than were written");
    return data;
}

}  // namespace cgr
