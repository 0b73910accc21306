// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "inflate.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "error.hpp"

namespace cgf {

namespace {

constexpr unsigned kLongest = 15;  // bits of a code

[[noreturn]] void fail(const char* why) {
    throw FormatError(std::string("the compressed data is damaged: ") + why);
}

// The bits of the data, from the lowest of each byte (RFC 1951, 3.1.1).
class Bits {
  public:
    explicit Bits(std::string_view data) : data_(data) {}

    // Makes at least `count` <= 32 bits available, zeros behind the end.
    void fill(unsigned count) noexcept {
        while (held_ < count) {
            const bool is_left = at_ < data_.size();
            bits_ |= static_cast<std::uint64_t>(is_left ? static_cast<unsigned char>(data_[at_]) : 0) << held_;
            missing_ += is_left ? 0 : 8;
            at_ += is_left ? 1 : 0;
            held_ += 8;
        }
    }
    std::uint32_t peek(unsigned count) const noexcept {
        return static_cast<std::uint32_t>(bits_ & ((std::uint64_t{1} << count) - 1));
    }
    void drop(unsigned count) {
        bits_ >>= count;
        held_ -= count;
        if (missing_ > held_) fail("it ends too early");
    }
    std::uint32_t take(unsigned count) {
        fill(count);
        const std::uint32_t found = peek(count);
        drop(count);
        return found;
    }

    // Skips to the next byte and returns `size` bytes of the data.
    std::string_view take_bytes(std::size_t size) {
        drop(held_ % 8);
        at_ -= (held_ - missing_) / 8;
        bits_ = held_ = missing_ = 0;
        if (size > data_.size() - at_) fail("it ends too early");
        const std::string_view found = data_.substr(at_, size);
        at_ += size;
        return found;
    }

  private:
    std::string_view data_;
    std::size_t at_ = 0;
    std::uint64_t bits_ = 0;
    unsigned held_ = 0;     // bits in `bits_`
    unsigned missing_ = 0;  // of these, the highest that are behind the end
};

// A Huffman code (RFC 1951, 3.2.2): a table of all words of the longest length in use.
class Code {
  public:
    Code(const std::uint8_t* lengths, std::size_t count) {
        std::array<std::uint32_t, kLongest + 1> used{}, next{};
        for (std::size_t i = 0; i < count; ++i) ++used[lengths[i]];
        used[0] = 0;
        for (unsigned bits = 1; bits <= kLongest; ++bits)
            if (used[bits] != 0) longest_ = bits;
        std::uint32_t code = 0;
        for (unsigned bits = 1; bits <= kLongest; ++bits) next[bits] = code = (code + used[bits - 1]) << 1;
        check_lengths(used);
        table_.resize(std::size_t{1} << longest_);
        for (std::size_t symbol = 0; symbol < count; ++symbol)
            if (lengths[symbol] != 0) add(static_cast<std::uint16_t>(symbol), lengths[symbol], next[lengths[symbol]]++);
    }

    std::uint16_t read(Bits& bits) const {
        bits.fill(longest_);
        const Entry& entry = table_[bits.peek(longest_)];
        if (entry.length == 0) fail("a code is unknown");
        bits.drop(entry.length);
        return entry.symbol;
    }

  private:
    struct Entry {
        std::uint16_t symbol = 0;
        std::uint8_t length = 0;  // 0: no code
    };

    // Only a code of at most one word may be incomplete (RFC 1951, 3.2.7).
    void check_lengths(const std::array<std::uint32_t, kLongest + 1>& used) const {
        std::int64_t left = 1, words = 0;
        for (unsigned bits = 1; bits <= kLongest; ++bits) {
            left = 2 * left - used[bits];
            words += used[bits];
            if (left < 0) fail("a code has too many words");
        }
        if (left > 0 && words > 1) fail("a code is incomplete");
    }

    // Codes are read from their highest bit, and other numbers from the lowest.
    void add(std::uint16_t symbol, unsigned length, std::uint32_t code) {
        std::uint32_t turned = 0;
        for (unsigned bit = 0; bit < length; ++bit) turned |= (code >> bit & 1) << (length - 1 - bit);
        for (std::size_t at = turned; at < table_.size(); at += std::size_t{1} << length)
            table_[at] = {symbol, static_cast<std::uint8_t>(length)};
    }

    unsigned longest_ = 0;
    std::vector<Entry> table_;
};

// RFC 1951, 3.2.5.
constexpr std::uint16_t kLengths[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                        31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
constexpr std::uint8_t kLengthBits[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
constexpr std::uint16_t kDistances[30] = {1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
                                          193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
constexpr std::uint8_t kDistanceBits[30] = {0, 0, 0, 0, 1, 1, 2, 2,  3,  3,  4,  4,  5,  5,  6,
                                            6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13};

class Inflater {
  public:
    Inflater(std::string_view data, std::size_t size) : bits_(data), size_(size) { out_.reserve(size); }

    std::string run() {
        bool is_last = false;
        while (!is_last) {
            is_last = bits_.take(1) != 0;
            switch (bits_.take(2)) {
                case 0:
                    read_stored();
                    break;
                case 1:
                    read_fixed();
                    break;
                case 2:
                    read_dynamic();
                    break;
                default:
                    fail("a block has no known type");
            }
        }
        if (out_.size() != size_) fail("it has another size than its entry says");
        return std::move(out_);
    }

  private:
    void make_room(std::size_t count) const {
        if (count > size_ - out_.size()) fail("it is larger than its entry says");
    }

    void read_stored() {
        const auto head = bits_.take_bytes(4);
        std::uint16_t size = 0, complement = 0;
        std::memcpy(&size, head.data(), 2);
        std::memcpy(&complement, head.data() + 2, 2);
        if ((size ^ complement) != 0xffff) fail("a block has a wrong length");
        make_room(size);
        out_.append(bits_.take_bytes(size));
    }

    void read_fixed() {
        std::array<std::uint8_t, 288> lengths{};
        for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
        std::array<std::uint8_t, 32> distances{};
        distances.fill(5);
        read_symbols(Code(lengths.data(), lengths.size()), Code(distances.data(), distances.size()));
    }

    void read_dynamic() {
        constexpr std::uint8_t kOrder[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
        const std::size_t literals = 257 + bits_.take(5), distances = 1 + bits_.take(5), codes = 4 + bits_.take(4);
        if (literals > 286 || distances > 30) fail("a block has too many codes");
        std::array<std::uint8_t, 19> lengths{};
        for (std::size_t i = 0; i < codes; ++i) lengths[kOrder[i]] = static_cast<std::uint8_t>(bits_.take(3));
        const std::vector<std::uint8_t> all = read_lengths(Code(lengths.data(), lengths.size()), literals + distances);
        if (all[256] == 0) fail("a block has no end");
        read_symbols(Code(all.data(), literals), Code(all.data() + literals, distances));
    }

    std::vector<std::uint8_t> read_lengths(const Code& code, std::size_t count) {
        std::vector<std::uint8_t> found;
        while (found.size() < count) {
            const std::uint16_t symbol = code.read(bits_);
            if (symbol < 16) {
                found.push_back(static_cast<std::uint8_t>(symbol));
                continue;
            }
            if (symbol == 16 && found.empty()) fail("a length repeats nothing");
            const std::uint8_t value = symbol == 16 ? found.back() : std::uint8_t{0};
            const std::size_t times = symbol == 16 ? 3 + bits_.take(2) : symbol == 17 ? 3 + bits_.take(3) : 11 + bits_.take(7);
            if (times > count - found.size()) fail("a block has too many lengths");
            found.insert(found.end(), times, value);
        }
        return found;
    }

    void read_symbols(const Code& literals, const Code& distances) {
        for (;;) {
            const std::uint16_t symbol = literals.read(bits_);
            if (symbol == 256) return;
            if (symbol < 256) {
                make_room(1);
                out_ += static_cast<char>(symbol);
            } else {
                copy(symbol - 257U, distances);
            }
        }
    }

    void copy(std::size_t symbol, const Code& distances) {
        if (symbol >= std::size(kLengths)) fail("a length is unknown");
        const std::size_t length = kLengths[symbol] + bits_.take(kLengthBits[symbol]);
        const std::uint16_t far = distances.read(bits_);
        if (far >= std::size(kDistances)) fail("a distance is unknown");
        const std::size_t distance = kDistances[far] + bits_.take(kDistanceBits[far]);
        if (distance > out_.size()) fail("a distance leads to before its begin");
        make_room(length);
        for (std::size_t i = 0; i < length; ++i) out_ += out_[out_.size() - distance];  // they may overlap
    }

    Bits bits_;
    std::size_t size_;
    std::string out_;
};

}  // namespace

std::string inflate(std::string_view data, std::size_t size) {
    return Inflater(data, size).run();
}

}  // namespace cgf
