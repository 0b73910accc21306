// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Texts of JSON as values (RFC 8259). The reader accepts what Python's `json.loads` accepts, apart from the three
// constants NaN, Infinity and -Infinity, and from values that are nested deeper than kDeepest.
#ifndef CUDA_GRAPHS_FORMATS_JSON_HPP
#define CUDA_GRAPHS_FORMATS_JSON_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cgf {

class Json {
  public:
    enum class Kind : std::uint8_t {
        kNull,
        kBool,
        kInt,    // an int64
        kLarge,  // an int from 2^63 to 2^64 - 1
        kHuge,   // any other int
        kFloat,  // a number with a fraction or an exponent
        kText,
        kList,
        kObject,
    };
    using Member = std::pair<std::string, Json>;

    static constexpr int kDeepest = 200;

    // Reads a whole text of UTF-8. Raises FormatError, with the offset of the byte that is wrong.
    static Json read(std::string_view text);

    Kind kind() const noexcept { return kind_; }
    bool is_null() const noexcept { return kind_ == Kind::kNull; }
    bool is_list() const noexcept { return kind_ == Kind::kList; }
    bool is_text() const noexcept { return kind_ == Kind::kText; }
    bool is_object() const noexcept { return kind_ == Kind::kObject; }

    // Each is for values of its kind only.
    bool flag() const noexcept { return bits_ != 0; }
    std::int64_t integer() const noexcept { return static_cast<std::int64_t>(bits_); }
    std::uint64_t large() const noexcept { return bits_; }
    double number() const noexcept { return number_; }
    const std::string& text() const noexcept { return text_; }
    const std::vector<Json>& items() const noexcept { return items_; }
    const std::vector<Member>& members() const noexcept { return members_; }

    // Returns the value of a name in an object, the last one if there are several; null if there is none.
    const Json* find(std::string_view name) const noexcept;

  private:
    friend class JsonReader;

    Kind kind_ = Kind::kNull;
    std::uint64_t bits_ = 0;
    double number_ = 0;
    std::string text_;
    std::vector<Json> items_;
    std::vector<Member> members_;
};

}  // namespace cgf

#endif
