// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "settings.hpp"

#include <cstdlib>

#include "hostdriver/entry.hpp"

namespace cgh {
namespace {

std::string variable(const char* name) {
    const char* text = std::getenv(name);
    return text != nullptr ? text : "";
}

void refuse(CheckSettings* out, const char* name, const std::string& value, const char* expected) {
    if (!out->wrong.empty()) out->wrong += "; ";
    out->wrong += std::string(name) + " is '" + value + "'; expected " + expected;
}

void read_checks(CheckSettings* out) {
    constexpr const char* kName = "CUDA_GRAPHS_HOST_CHECK";
    const std::string value = variable(kName);
    std::string left = value;
    while (!left.empty()) {
        const std::size_t comma = left.find(',');
        const std::string word = left.substr(0, comma);
        left = comma == std::string::npos ? "" : left.substr(comma + 1);
        bool* const wish = word == "memory" ? &out->memory
                           : word == "race" ? &out->race
                           : word == "init" ? &out->init
                                            : nullptr;
        if (wish == nullptr || (comma != std::string::npos && left.empty()))
            return refuse(out, kName, value, "some of memory, race, init, separated by commas");
        *wish = true;
    }
}

void read_schedule(CheckSettings* out) {
    constexpr const char* kName = "CUDA_GRAPHS_HOST_SCHEDULE";
    const std::string value = variable(kName), prefix = "random:";
    if (value.empty()) return;
    const std::string seed = value.compare(0, prefix.size(), prefix) == 0 ? value.substr(prefix.size()) : "";
    if (seed.empty() || seed.size() > 18 || seed.find_first_not_of("0123456789") != std::string::npos)
        return refuse(out, kName, value, "random:<seed>, a seed of up to 18 digits");
    out->random_order = true;
    out->seed = std::strtoull(seed.c_str(), nullptr, 10);
}

void read_mathematics(CheckSettings* out) {
    constexpr const char* kName = "CUDA_GRAPHS_HOST_MATH";
    const std::string value = variable(kName);
    if (!value.empty() && value != "exact" && value != "fast") refuse(out, kName, value, "exact or fast");
    out->fast_math = value == "fast";
}

CheckSettings read() {
    CheckSettings found;
    read_checks(&found);
    read_schedule(&found);
    read_mathematics(&found);
    return found;
}

}  // namespace

const CheckSettings settings = read();

}  // namespace cgh

CGH_API const char* cghWrongSettings(void) {
    return cgh::settings.wrong.c_str();
}
