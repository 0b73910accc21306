// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks of everything that a manifest says: the rules of saving/schema.py. Rows know their place, for messages. `fail`
// is the word for failure, as there.
#ifndef CUDA_GRAPHS_LOADER_MANIFEST_HPP
#define CUDA_GRAPHS_LOADER_MANIFEST_HPP

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/graphs/named_parameter.hpp"
#include "formats/json.hpp"

namespace cgr {

using cgf::Json;

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

// A place in the manifest: "node 3 of graph 0". Its text is made for messages only.
struct Where {
    const char* what;
    std::size_t number = kNone;
    const Where* of = nullptr;

    static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
    std::string text() const;
};

[[noreturn]] void fail(const Where& where, const std::string& why);

// Return what stands at a place, which may be null for nothing. Each fails for any other value.
std::int64_t check_int(const Json* value, const Where& where, std::int64_t least = 0, std::int64_t most = kLargest);
std::size_t check_index(const Json* value, const Where& where, std::size_t count);
const std::vector<Json>& check_list(const Json* value, const Where& where, std::optional<std::size_t> length = {});
cg::ParameterType check_type(const Json* value, const Where& where);
// Returns the number, if it is an int that fits 64 bits without a sign.
std::optional<std::uint64_t> as_uint(const Json& value) noexcept;

// An object of the manifest, and its place.
class Row {
  public:
    Row(const Json* data, const Where& where);

    const Where where;

    // Returns the value of a name; null for a missing one and for null.
    const Json* get(std::string_view name) const noexcept;
    const Json& data() const noexcept { return *data_; }

    std::int64_t number(const char* name, std::int64_t least = 0, std::int64_t most = kLargest) const;
    std::size_t index(const char* name, std::size_t count) const;
    const std::vector<Json>& items(const char* name, std::optional<std::size_t> length = {}) const;
    std::vector<std::int64_t> numbers(const char* name, std::size_t length, std::int64_t least = 0,
                                      std::int64_t most = kLargest) const;
    bool flag(const char* name) const;
    const std::string& text(const char* name) const;
    const std::string* optional_text(const char* name) const;
    // Returns the number of the text among `choices`.
    std::size_t choice(const char* name, std::initializer_list<std::string_view> choices) const;

  private:
    const Json* data_;
};

}  // namespace cgr

#endif
