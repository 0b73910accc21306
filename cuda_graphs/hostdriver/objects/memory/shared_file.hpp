// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// A file in memory that processes share. It has no name in any folder, so the system deletes it after the last process
// that has it open or mapped ends. Its size is sealed, so no process can make a mapping of another process fault.
//
// Another process receives it as a file descriptor or finds it by its locator: the process that has it open, its
// descriptor there, and a random token. The token is part of the file name that the system shows.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_MEMORY_SHARED_FILE_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_MEMORY_SHARED_FILE_HPP

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace cgh {

class SharedFile {
  public:
    struct Locator {
        std::uint64_t token;
        std::int32_t process;
        std::int32_t descriptor;
    };

    SharedFile() = default;
    SharedFile(SharedFile&& other) noexcept { *this = std::move(other); }
    SharedFile& operator=(SharedFile&& other) noexcept;
    SharedFile(const SharedFile&) = delete;
    SharedFile& operator=(const SharedFile&) = delete;
    ~SharedFile();

    // Creates a file of zeros, which take memory on first access. Returns CUDA_ERROR_OUT_OF_MEMORY on failure.
    static CUresult make(std::size_t size, SharedFile* out);
    // Opens the file of a descriptor, which the caller keeps. Returns CUDA_ERROR_INVALID_VALUE for any other kind of
    // file.
    static CUresult from_descriptor(int descriptor, SharedFile* out);
    // Opens the file at a locator. Returns CUDA_ERROR_INVALID_VALUE if the file is gone or this process may not open
    // it.
    static CUresult at(const Locator& locator, SharedFile* out);

    explicit operator bool() const { return descriptor_ >= 0; }
    std::size_t size() const { return size_; }
    std::uint64_t token() const { return token_; }
    Locator locator() const;
    // Writes an additional descriptor, which the caller owns. Like the descriptor of libcuda on an H200 it stays open
    // across exec. Returns CUDA_ERROR_OPERATING_SYSTEM on failure.
    CUresult duplicate(int* out) const;

    // Maps whole pages of the file, at the address `fixed` if it is given, where they replace earlier mappings. Returns
    // nullptr on failure.
    void* map(std::size_t offset, std::size_t bytes, void* fixed = nullptr) const;
    bool read(std::size_t offset, void* bytes, std::size_t count) const;
    bool write(std::size_t offset, const void* bytes, std::size_t count) const;
    // Replaces whole pages by zeros that take no memory. Returns false if the old contents may remain.
    bool clear(std::size_t offset, std::size_t bytes) const;

  private:
    SharedFile(int descriptor, std::size_t size, std::uint64_t token)
        : descriptor_(descriptor), size_(size), token_(token) {}
    // Takes ownership of the descriptor, or closes it on failure.
    static CUresult adopt(int descriptor, SharedFile* out);

    int descriptor_ = -1;
    std::size_t size_ = 0;
    std::uint64_t token_ = 0;
};

}  // namespace cgh

#endif
