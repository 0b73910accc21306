// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// A file in memory that processes share: no name in any folder, so that it goes with the last process that has it open
// or mapped, however that process ends. Its size is sealed: no process can make another one's mapping fault.
//
// Another process gets it as a file descriptor, or finds it by its place: the process that has it open, the number
// there, and a random token, which is part of what the system shows as the file's name.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_SHARED_FILE_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_SHARED_FILE_HPP

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace cgh {

class SharedFile {
  public:
    struct Place {
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

    // Zeros, which take memory when they are touched. CUDA_ERROR_OUT_OF_MEMORY.
    static CUresult make(std::size_t size, SharedFile* out);
    // Of a descriptor that stays the caller's. CUDA_ERROR_INVALID_VALUE: it is no such file.
    static CUresult from_descriptor(int descriptor, SharedFile* out);
    // CUDA_ERROR_INVALID_VALUE: there is no such file, any more, or this process may not have it.
    static CUresult at(const Place& place, SharedFile* out);

    explicit operator bool() const { return descriptor_ >= 0; }
    std::size_t size() const { return size_; }
    std::uint64_t token() const { return token_; }
    Place place() const;
    // A further descriptor, the caller's own, which programs that it becomes have as well, as that of libcuda on an
    // H200. CUDA_ERROR_OPERATING_SYSTEM.
    CUresult duplicate(int* out) const;

    // Maps whole pages of it; over what is at `fixed`, if that is given. nullptr: no room.
    void* map(std::size_t offset, std::size_t bytes, void* fixed = nullptr) const;
    bool read(std::size_t offset, void* bytes, std::size_t count) const;
    bool write(std::size_t offset, const void* bytes, std::size_t count) const;
    // Whole pages of zeros again, which take no memory. false: what was there may still be.
    bool clear(std::size_t offset, std::size_t bytes) const;

  private:
    SharedFile(int descriptor, std::size_t size, std::uint64_t token)
        : descriptor_(descriptor), size_(size), token_(token) {}
    // Takes the descriptor over, or closes it.
    static CUresult adopt(int descriptor, SharedFile* out);

    int descriptor_ = -1;
    std::size_t size_ = 0;
    std::uint64_t token_ = 0;
};

}  // namespace cgh

#endif
