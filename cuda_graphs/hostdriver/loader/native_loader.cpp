// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "native_loader.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cpu_features.hpp"
#include "formats/error.hpp"
#include "formats/json.hpp"
#include "formats/sha256.hpp"
#include "native_image.hpp"
#include "object_code.hpp"

namespace cgh {
namespace {

using cgf::FormatError;
using cgf::Json;

constexpr std::size_t kHead = 64, kTextBytesAt = 24, kHashAt = 32;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;
constexpr std::uint32_t kVersion = 90;  // of PTX and of GPUs, as the kernel reports
constexpr std::uint32_t kMostThreads = 1024;

// The image is sound, but not for this machine.
struct ForeignImage : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The memory of a cgh_image.
struct Loaded {
    std::unique_ptr<ObjectCode> code;
    std::deque<std::string> names;
    std::deque<std::vector<cgh_param>> params;
    std::vector<cgh_kernel> kernels;
    std::vector<cgh_global> globals;
    // The symbols of kernels and variables in the object, in the same orders.
    std::vector<std::string> entries, variables;
};

struct Parts {
    Json description;
    std::string_view object;
};

[[noreturn]] void damaged(const std::string& why) {
    throw FormatError("the native image is damaged: " + why + "; compile it again");
}

Parts split(std::string_view image) {
    std::uint32_t text = 0;
    std::array<std::uint8_t, 32> wanted{};
    std::memcpy(&text, image.data() + kTextBytesAt, sizeof text);
    std::memcpy(wanted.data(), image.data() + kHashAt, wanted.size());
    const std::string_view body = image.substr(kHead);
    if (cgf::sha256(body.data(), body.size()) != wanted) damaged("its content is not what was written");
    try {
        return {Json::read(body.substr(0, text)), body.substr(text)};
    } catch (const FormatError& error) {
        damaged(std::string("its description is not JSON: ") + error.what());
    }
}

const Json& member(const Json& object, const char* name, Json::Kind kind) {
    const Json* const found = object.find(name);
    if (found == nullptr || found->kind() != kind)
        damaged(std::string("its description cannot be read: ") + name + " is missing, or of another type");
    return *found;
}

std::uint32_t size_of(const Json& value, const char* negative) {
    if (value.kind() != Json::Kind::kInt || value.integer() > kMostBytes)
        damaged("its description has an impossible size");
    if (value.integer() < 0) damaged(negative);
    return static_cast<std::uint32_t>(value.integer());
}

void check_cpu(const Json& description) {
    const std::string& triple = member(description, "triple", Json::Kind::kText).text();
    const std::string machine = triple.substr(0, triple.find('-'));
    if (machine != "x86_64") throw ForeignImage("the native image is for " + triple + ", this machine is x86_64");
    std::vector<std::string> missing;
    for (const Json& feature : member(description, "features", Json::Kind::kList).items()) {
        if (!feature.is_text()) damaged("its description cannot be read: a feature is no text");
        if (!cpu_has(feature.text())) missing.push_back(feature.text());
    }
    if (missing.empty()) return;
    std::sort(missing.begin(), missing.end());
    std::string listed;
    for (const std::string& each : missing) listed += (listed.empty() ? "" : ", ") + each;
    throw ForeignImage("the native image was compiled for another CPU: this one lacks " + listed +
                       "; compile it again here");
}

// Numbers of an entry that code translated from PTX has: name, member of cgh_kernel, and value of other entries.
struct Number {
    const char* name;
    std::uint32_t cgh_kernel::* member;
    std::uint32_t otherwise;
};
constexpr Number kNumbers[] = {
    {"local_bytes", &cgh_kernel::local_bytes, 0},
    {"const_bytes", &cgh_kernel::const_bytes, 0},
    {"registers", &cgh_kernel::registers, 1},
    {"max_threads_per_block", &cgh_kernel::max_threads_per_block, kMostThreads},
    {"uses_barrier", &cgh_kernel::uses_barrier, 0},
    {"uses_cluster", &cgh_kernel::uses_cluster, 0},
    {"ptx_version", &cgh_kernel::ptx_version, kVersion},
    {"binary_version", &cgh_kernel::binary_version, kVersion},
};

void read_numbers(cgh_kernel& kernel, const Json& entry) {
    constexpr const char* kNegative = "a number of an entry is negative";
    for (const Number& each : kNumbers) {
        const Json* const value = entry.find(each.name);
        kernel.*each.member = value == nullptr ? each.otherwise : size_of(*value, kNegative);
    }
    const auto read_block = [&](const char* name, std::uint32_t (&block)[3]) {
        if (entry.find(name) == nullptr) return;
        const std::vector<Json>& sizes = member(entry, name, Json::Kind::kList).items();
        if (sizes.size() != 3) damaged("a block does not have three sizes");
        for (std::size_t axis = 0; axis < 3; ++axis) block[axis] = size_of(sizes[axis], kNegative);
    };
    read_block("required_block", kernel.required_block);
    read_block("required_cluster", kernel.required_cluster);
}

// Returns the symbol of an entry: its own, or its name.
std::string symbol_of(const Json& entry, const std::string& name) {
    return entry.find("symbol") == nullptr ? name : member(entry, "symbol", Json::Kind::kText).text();
}

bool is_set(const Json& object, const char* name) {
    const Json* const found = object.find(name);
    return found != nullptr && (found->kind() == Json::Kind::kInt || found->kind() == Json::Kind::kBool) &&
           found->integer() != 0;
}

std::vector<cgh_param> read_params(const Json& entry) {
    std::vector<cgh_param> found;
    for (const Json& param : member(entry, "params", Json::Kind::kList).items()) {
        if (!param.is_list() || param.items().size() != 2) damaged("a parameter is no pair");
        constexpr const char* kWrong = "a parameter has a negative offset or no size";
        found.push_back({size_of(param.items()[0], kWrong), size_of(param.items()[1], kWrong)});
        if (found.back().size == 0) damaged(kWrong);
    }
    return found;
}

// Adds a kernel. A block is a piece of a loop, without barriers.
void add_kernel(Loaded& out, const Json& entry, bool is_instrumented) {
    if (!entry.is_object()) damaged("an entry is no object");
    out.names.push_back(member(entry, "name", Json::Kind::kText).text());
    out.params.push_back(read_params(entry));
    cgh_kernel kernel{};
    kernel.name = out.names.back().c_str();
    kernel.params = out.params.back().data();
    kernel.param_count = static_cast<std::uint32_t>(out.params.back().size());
    for (const cgh_param& param : out.params.back())
        kernel.param_bytes = std::max(kernel.param_bytes, param.offset + param.size);
    kernel.static_shared_bytes =
        size_of(member(entry, "shared", Json::Kind::kInt), "the shared memory has a negative size");
    read_numbers(kernel, entry);
    if (const Json* const bytes = entry.find("param_bytes"))
        kernel.param_bytes = std::max(kernel.param_bytes, size_of(*bytes, "the parameters have a negative size"));
    out.entries.push_back(symbol_of(entry, out.names.back()));
    kernel.is_open_ended = is_set(entry, "open_ended");
    kernel.is_instrumented = is_instrumented;
    out.kernels.push_back(kernel);
}

// Adds a variable, [name, symbol, bytes].
void add_variable(Loaded& out, const Json& variable) {
    const bool is_triple = variable.is_list() && variable.items().size() == 3;
    if (!is_triple || !variable.items()[0].is_text() || !variable.items()[1].is_text())
        damaged("a variable is unknown");
    out.names.push_back(variable.items()[0].text());
    out.variables.push_back(variable.items()[1].text());
    out.globals.push_back(
        {out.names.back().c_str(), nullptr, size_of(variable.items()[2], "a variable has a negative size")});
}

// The names of cgh_services in objects, and their addresses.
Addresses imports_of(const cgh_services& services) {
    const auto address = [](auto* function) { return reinterpret_cast<std::uintptr_t>(function); };
    return {
        {"cgh_set_conditional", address(services.set_conditional)},
        {"cgh_vprintf", address(services.vprintf)},
        {"cgh_assert_fail", address(services.assert_fail)},
        {"cgh_trap", address(services.trap)},
        {"cgh_scratch", address(services.scratch)},
        {"cgh_clock64", address(services.clock64)},
        {"cgh_globaltimer", address(services.globaltimer)},
        {"cgh_access", address(services.access)},
        {"cgh_order", address(services.order)},
        {"cgh_allocate", address(services.allocate)},
        {"cgh_release", address(services.release)},
        {"cgh_sleep_until", address(services.sleep_until)},
        {"cgh_share", address(services.share)},
        {"cgh_collect", address(services.collect)},
    };
}

// Returns the memory of a symbol, of at least `size` bytes.
void* find(const Loaded& loaded, const std::string& symbol, std::size_t size, bool writes) {
    void* const found = loaded.code->find(symbol, size, writes);
    if (found == nullptr) throw FormatError("the object does not define " + symbol + ", or not as it should");
    return found;
}

// `table` is the symbol of a table of the services, in their order; null for an object that imports them by name.
void link(Loaded& out, std::string_view object, const Json* table) {
    try {
        const cgh_services& services = *cghGetServices();
        out.code = std::make_unique<ObjectCode>(object, imports_of(services));
        for (std::size_t i = 0; i < out.kernels.size(); ++i)
            out.kernels[i].entry = reinterpret_cast<cgh_entry>(find(out, out.entries[i], 1, false));
        for (std::size_t i = 0; i < out.globals.size(); ++i)
            out.globals[i].address = find(out, out.variables[i], out.globals[i].bytes, false);
        constexpr std::size_t kTableBytes = offsetof(cgh_services, wants);
        if (table != nullptr && !table->is_text()) damaged("the table of services is unknown");
        if (table != nullptr) std::memcpy(find(out, table->text(), kTableBytes, true), &services, kTableBytes);
    } catch (const FormatError& error) {
        throw FormatError(std::string("the native image cannot be linked: ") + error.what());
    }
}

std::unique_ptr<Loaded> load(std::string_view image) {
    const Parts parts = split(image);
    if (!parts.description.is_object()) damaged("its description is not an object of JSON");
    check_cpu(parts.description);
    auto made = std::make_unique<Loaded>();
    const bool is_instrumented = is_set(parts.description, "instrumented");
    for (const Json& entry : member(parts.description, "entries", Json::Kind::kList).items())
        add_kernel(*made, entry, is_instrumented);
    if (parts.description.find("globals") != nullptr)
        for (const Json& variable : member(parts.description, "globals", Json::Kind::kList).items())
            add_variable(*made, variable);
    link(*made, parts.object, parts.description.find("services"));
    return made;
}

CUresult refuse(const char* why, CUresult status, char* log, std::size_t log_size) {
    if (log_size == 0) return status;
    std::strncpy(log, why, log_size - 1);
    log[log_size - 1] = '\0';
    return status;
}

CUresult load_image(void*, const void* image, std::size_t size, cgh_image* out, char* log, std::size_t log_size) {
    try {
        auto made = load({static_cast<const char*>(image), size});
        *out = {made->kernels.data(), made->globals.data(), static_cast<std::uint32_t>(made->kernels.size()),
                static_cast<std::uint32_t>(made->globals.size()), made.get()};
        made.release();
        return CUDA_SUCCESS;
    } catch (const ForeignImage& error) {
        return refuse(error.what(), CUDA_ERROR_NO_BINARY_FOR_GPU, log, log_size);
    } catch (const FormatError& error) {
        return refuse(error.what(), CUDA_ERROR_INVALID_IMAGE, log, log_size);
    }
}

void unload_image(void*, cgh_image* image) {
    delete static_cast<Loaded*>(image->owner);
}

}  // namespace

cgh_loader native_loader() noexcept {
    return {nullptr, load_image, unload_image};
}

}  // namespace cgh
