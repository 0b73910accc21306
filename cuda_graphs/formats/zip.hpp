// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The entries of a zip file in memory (PKWARE's APPNOTE.TXT): stored and deflated ones, without encryption. Python's
// zipfile writes such files. Those of 4 GiB and more (Zip64) are read too.
#ifndef CUDA_GRAPHS_FORMATS_ZIP_HPP
#define CUDA_GRAPHS_FORMATS_ZIP_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace cgf {

class Zip {
  public:
    // Reads the directory of a file, whose bytes the caller keeps. Raises FormatError.
    explicit Zip(std::string_view file);

    bool has(const std::string& name) const { return entries_.count(name) != 0; }
    // Returns the bytes of an entry when it is decompressed. Raises FormatError for an unknown name.
    std::uint64_t size_of(const std::string& name) const { return find(name).size; }
    // Returns the contents of an entry. Raises FormatError. Takes no more memory than the file can stand for.
    std::string read(const std::string& name) const;

  private:
    struct Entry {
        std::uint16_t flags = 0;
        std::uint16_t method = 0;
        std::uint32_t crc = 0;
        std::uint64_t packed = 0;  // bytes in the file
        std::uint64_t size = 0;    // bytes of the contents
        std::uint64_t offset = 0;  // of the local header
    };

    struct Directory {
        std::uint64_t offset, size, count;
    };

    const Entry& find(const std::string& name) const;
    std::size_t find_end() const;
    Directory find_directory(std::size_t end) const;
    void read_directory(const Directory& directory);
    static void read_large(Entry& entry, std::string_view extra);
    std::string_view packed(const std::string& name, const Entry& entry) const;

    std::string_view file_;
    std::unordered_map<std::string, Entry> entries_;  // the last of a name, as in Python
};

}  // namespace cgf

#endif
