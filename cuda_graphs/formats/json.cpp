// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "json.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include "error.hpp"

namespace cgf {

namespace {

// Returns the bytes of the UTF-8 sequence at the begin of `text`, 0 for a wrong one (RFC 3629, 4).
std::size_t utf8_length(std::string_view text) noexcept {
    const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = at(0);
    const std::size_t length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (length == 0 || first > 0xf4 || length > text.size()) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((at(i) & 0xc0) != 0x80) return 0;
    const bool is_short = (first == 0xe0 && at(1) < 0xa0) || (first == 0xf0 && at(1) < 0x90);
    const bool is_outside = (first == 0xed && at(1) > 0x9f) || (first == 0xf4 && at(1) > 0x8f);
    return is_short || is_outside ? 0 : length;
}

void append_utf8(std::string& out, std::uint32_t code) {
    const auto add = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
    if (code < 0x80) return add(code);
    if (code < 0x800) return add(0xc0 | code >> 6), add(0x80 | (code & 0x3f));
    if (code < 0x10000)
        add(0xe0 | code >> 12);
    else
        add(0xf0 | code >> 18), add(0x80 | (code >> 12 & 0x3f));
    add(0x80 | (code >> 6 & 0x3f)), add(0x80 | (code & 0x3f));
}

}  // namespace

class JsonReader {
  public:
    explicit JsonReader(std::string_view text) : text_(text) {}

    Json run() {
        Json found;
        skip_space();
        read_value(found, 0);
        skip_space();
        if (at_ != text_.size()) fail("there is more text behind the value");
        return found;
    }

  private:
    [[noreturn]] void fail(const char* why) const {
        throw FormatError(std::string(why) + " (byte " + std::to_string(at_) + ")");
    }

    char peek() const noexcept { return at_ < text_.size() ? text_[at_] : '\0'; }

    bool take(char wanted) noexcept {
        if (at_ >= text_.size() || text_[at_] != wanted) return false;
        ++at_;
        return true;
    }

    void skip_space() noexcept {
        while (at_ < text_.size() && std::string_view(" \t\n\r").find(text_[at_]) != std::string_view::npos) ++at_;
    }

    void read_word(std::string_view word) {
        if (text_.substr(at_, word.size()) != word) fail("a value is expected");
        at_ += word.size();
    }

    void read_value(Json& out, int depth) {
        if (depth > Json::kDeepest) fail("values are nested too deeply");
        switch (peek()) {
            case '{':
                return read_object(out, depth);
            case '[':
                return read_list(out, depth);
            case '"':
                out.kind_ = Json::Kind::kText;
                return read_text(out.text_);
            case 't':
                out.kind_ = Json::Kind::kBool, out.bits_ = 1;
                return read_word("true");
            case 'f':
                out.kind_ = Json::Kind::kBool;
                return read_word("false");
            case 'n':
                return read_word("null");
            default:
                return read_number(out);
        }
    }

    void read_list(Json& out, int depth) {
        out.kind_ = Json::Kind::kList;
        ++at_;
        skip_space();
        if (take(']')) return;
        do {
            skip_space();
            read_value(out.items_.emplace_back(), depth + 1);
            skip_space();
        } while (take(','));
        if (!take(']')) fail("a list does not end");
    }

    void read_object(Json& out, int depth) {
        out.kind_ = Json::Kind::kObject;
        ++at_;
        skip_space();
        if (take('}')) return;
        do {
            skip_space();
            if (peek() != '"') fail("the name of a member is expected");
            auto& [name, value] = out.members_.emplace_back();
            read_text(name);
            skip_space();
            if (!take(':')) fail("a colon is expected");
            skip_space();
            read_value(value, depth + 1);
            skip_space();
        } while (take(','));
        if (!take('}')) fail("an object does not end");
    }

    void read_text(std::string& out) {
        ++at_;
        while (!take('"')) {
            if (at_ >= text_.size()) fail("a text does not end");
            if (static_cast<unsigned char>(text_[at_]) < 0x20) fail("a text has a control character");
            if (take('\\')) {
                read_escape(out);
                continue;
            }
            const std::size_t length = utf8_length(text_.substr(at_));
            if (length == 0) fail("the text is not UTF-8");
            out.append(text_.substr(at_, length));
            at_ += length;
        }
    }

    void read_escape(std::string& out) {
        constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
        const std::size_t letter = at_ < text_.size() ? kLetters.find(text_[at_]) : std::string_view::npos;
        if (letter != std::string_view::npos) {
            ++at_;
            out += kMeanings[letter];
            return;
        }
        if (!take('u')) fail("an escape is unknown");
        std::uint32_t code = read_digits();
        if (code >> 10 == 0xd800 >> 10 && text_.substr(at_, 2) == "\\u") {
            const std::size_t before = at_;
            at_ += 2;
            const std::uint32_t low = read_digits();
            if (low >> 10 == 0xdc00 >> 10)
                code = 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff);
            else
                at_ = before;  // two halves that make no pair, as Python keeps them
        }
        append_utf8(out, code);
    }

    std::uint32_t read_digits() {
        const std::string_view digits = text_.substr(at_, 4);
        std::uint32_t code = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
        if (digits.size() < 4 || error != std::errc() || end != digits.data() + 4) fail("an escape is incomplete");
        at_ += 4;
        return code;
    }

    void skip_digits() {
        const std::size_t begin = at_;
        while (peek() >= '0' && peek() <= '9') ++at_;
        if (at_ == begin) fail("a value is expected");
    }

    void read_number(Json& out) {
        const std::size_t begin = at_;
        take('-');
        if (!take('0')) skip_digits();
        bool is_float = false;
        if (peek() == '.') {
            is_float = true;
            ++at_;
            skip_digits();
        }
        if (peek() == 'e' || peek() == 'E') {
            is_float = true;
            ++at_;
            if (!take('+')) take('-');
            skip_digits();
        }
        const std::string_view word = text_.substr(begin, at_ - begin);
        is_float ? read_float(out, word) : read_int(out, word);
    }

    static void read_float(Json& out, std::string_view word) {
        out.kind_ = Json::Kind::kFloat;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out.number_);
        if (error != std::errc::result_out_of_range) return;
        // Python reads a float that is too large as infinity, and one that is too small as 0.
        const std::size_t exponent = word.find_first_of("eE");
        const bool is_small = exponent != std::string_view::npos && word[exponent + 1] == '-';
        out.number_ = std::copysign(is_small ? 0.0 : std::numeric_limits<double>::infinity(), word[0] == '-' ? -1 : 1);
    }

    static void read_int(Json& out, std::string_view word) {
        std::int64_t value = 0;
        const char* const end = word.data() + word.size();
        if (std::from_chars(word.data(), end, value).ec == std::errc()) {
            out.kind_ = Json::Kind::kInt;
            out.bits_ = static_cast<std::uint64_t>(value);
            return;
        }
        const bool fits = word[0] != '-' && std::from_chars(word.data(), end, out.bits_).ec == std::errc();
        out.kind_ = fits ? Json::Kind::kLarge : Json::Kind::kHuge;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

Json Json::read(std::string_view text) {
    return JsonReader(text).run();
}

const Json* Json::find(std::string_view name) const noexcept {
    for (auto member = members_.rbegin(); member != members_.rend(); ++member)
        if (member->first == name) return &member->second;
    return nullptr;
}

}  // namespace cgf
