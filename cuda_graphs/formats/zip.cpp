// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "zip.hpp"

#include <array>
#include <cstring>

#include "error.hpp"
#include "inflate.hpp"

namespace cgf {

namespace {

constexpr std::uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50;
constexpr std::uint32_t kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;
constexpr std::size_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22, kEnd64Bytes = 56, kLocator64Bytes = 20;
constexpr std::size_t kLongestComment = 0xffff;
constexpr std::uint16_t kStored = 0, kDeflated = 8;
constexpr std::uint16_t kUnreadable = 0x61;  // flags: encrypted, a patch, or strongly encrypted
constexpr std::uint64_t kMostRatio = 1032;  // of bytes to compressed bytes: what deflate can reach

// Reads a number of the file, little endian. Raises FormatError beyond the end.
template <class T>
T number_at(std::string_view bytes, std::size_t at) {
    if (at > bytes.size() || sizeof(T) > bytes.size() - at) throw FormatError("the zip file ends inside a header");
    T found{};
    std::memcpy(&found, bytes.data() + at, sizeof found);
    return found;
}

std::string_view part_of(std::string_view bytes, std::uint64_t at, std::uint64_t size, const char* what) {
    if (at > bytes.size() || size > bytes.size() - at) throw FormatError(std::string("the zip file ends inside ") + what);
    return bytes.substr(static_cast<std::size_t>(at), static_cast<std::size_t>(size));
}

std::uint32_t crc32(std::string_view bytes) noexcept {
    static const auto table = [] {
        std::array<std::uint32_t, 256> made{};
        for (std::uint32_t i = 0; i < made.size(); ++i) {
            std::uint32_t value = i;
            for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0xedb88320 : 0);
            made[i] = value;
        }
        return made;
    }();
    std::uint32_t crc = ~0U;
    for (const char byte : bytes) crc = crc >> 8 ^ table[(crc ^ static_cast<unsigned char>(byte)) & 0xff];
    return ~crc;
}

}  // namespace

Zip::Zip(std::string_view file) : file_(file) {
    read_directory(find_directory(find_end()));
}

// The record lies before a comment, whose length it has.
std::size_t Zip::find_end() const {
    if (file_.size() >= kEndBytes) {
        const std::size_t last = file_.size() - kEndBytes;
        const std::size_t first = last > kLongestComment ? last - kLongestComment : 0;
        for (std::size_t at = last + 1; at-- > first;)
            if (number_at<std::uint32_t>(file_, at) == kEnd) return at;
    }
    throw FormatError("the file is no zip file");
}

Zip::Directory Zip::find_directory(std::size_t end) const {
    Directory found{number_at<std::uint32_t>(file_, end + 16), number_at<std::uint32_t>(file_, end + 12),
                    number_at<std::uint16_t>(file_, end + 10)};
    if (end >= kLocator64Bytes && number_at<std::uint32_t>(file_, end - kLocator64Bytes) == kLocator64) {
        const auto at = number_at<std::uint64_t>(file_, end - kLocator64Bytes + 8);
        const std::string_view large = part_of(file_, at, kEnd64Bytes, "its directory");
        if (number_at<std::uint32_t>(large, 0) != kEnd64) throw FormatError("the zip file has no directory");
        found = {number_at<std::uint64_t>(large, 48), number_at<std::uint64_t>(large, 40),
                 number_at<std::uint64_t>(large, 32)};
    }
    return found;
}

void Zip::read_directory(const Directory& directory) {
    const std::string_view all = part_of(file_, directory.offset, directory.size, "its directory");
    std::size_t at = 0;
    while (at < all.size()) {
        if (number_at<std::uint32_t>(all, at) != kCentral) throw FormatError("the zip file has a damaged directory");
        Entry entry;
        entry.flags = number_at<std::uint16_t>(all, at + 8);
        entry.method = number_at<std::uint16_t>(all, at + 10);
        entry.crc = number_at<std::uint32_t>(all, at + 16);
        entry.packed = number_at<std::uint32_t>(all, at + 20);
        entry.size = number_at<std::uint32_t>(all, at + 24);
        entry.offset = number_at<std::uint32_t>(all, at + 42);
        const std::size_t name = number_at<std::uint16_t>(all, at + 28), extra = number_at<std::uint16_t>(all, at + 30);
        const std::size_t comment = number_at<std::uint16_t>(all, at + 32);
        const std::string_view names = part_of(all, at + kCentralBytes, name + extra + comment, "its directory");
        read_large(entry, names.substr(name, extra));
        entries_[std::string(names.substr(0, name))] = entry;
        at += kCentralBytes + name + extra + comment;
    }
}

// The extra field 1 of Zip64 has the numbers that do not fit the entry, in this order.
void Zip::read_large(Entry& entry, std::string_view extra) {
    while (extra.size() >= 4) {
        const auto id = number_at<std::uint16_t>(extra, 0), size = number_at<std::uint16_t>(extra, 2);
        std::string_view field = part_of(extra, 4, size, "its directory");
        for (std::uint64_t* const value : {&entry.size, &entry.packed, &entry.offset}) {
            if (id != 1 || *value != 0xffffffff) continue;
            *value = number_at<std::uint64_t>(field, 0);
            field.remove_prefix(sizeof *value);
        }
        extra.remove_prefix(4U + size);
    }
}

const Zip::Entry& Zip::find(const std::string& name) const {
    const auto found = entries_.find(name);
    if (found == entries_.end()) throw FormatError(name + " is missing");
    return found->second;
}

// Returns the bytes of an entry in the file, behind its local header.
std::string_view Zip::packed(const std::string& name, const Entry& entry) const {
    const std::string_view head = part_of(file_, entry.offset, kLocalBytes, name.c_str());
    if (number_at<std::uint32_t>(head, 0) != kLocal) throw FormatError(name + " has a damaged header");
    const std::uint64_t length = number_at<std::uint16_t>(head, 26), extra = number_at<std::uint16_t>(head, 28);
    if (part_of(file_, entry.offset + kLocalBytes, length, name.c_str()) != name)
        throw FormatError(name + " has another name in its header");
    return part_of(file_, entry.offset + kLocalBytes + length + extra, entry.packed, name.c_str());
}

std::string Zip::read(const std::string& name) const {
    const Entry& entry = find(name);
    if ((entry.flags & kUnreadable) != 0) throw FormatError(name + " is encrypted");
    const std::string_view bytes = packed(name, entry);
    if (entry.size / kMostRatio > bytes.size()) throw FormatError(name + " is larger than the file can hold");
    std::string found;
    if (entry.method == kStored)
        found = bytes;
    else if (entry.method == kDeflated)
        found = inflate(bytes, static_cast<std::size_t>(entry.size));
    else
        throw FormatError(name + " is compressed by a method that is not read here");
    if (found.size() != entry.size) throw FormatError(name + " has another size than the directory says");
    if (crc32(found) != entry.crc) throw FormatError(name + " has a wrong checksum");
    return found;
}

}  // namespace cgf
