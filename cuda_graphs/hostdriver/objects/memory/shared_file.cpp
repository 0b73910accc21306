// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "hostdriver/objects/memory/shared_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string>

#include "hostdriver/entry.hpp"

namespace cgh {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

std::string path_of(int process, int descriptor) {
    return "/proc/" + std::to_string(process) + "/fd/" + std::to_string(descriptor);
}

// scanf format of the name that /proc shows for such a file.
constexpr char kShownName[] = "/memfd:cuda_graphs %16" SCNx64 " ";

bool read_token(const std::string& path, std::uint64_t* out) {
    char name[128];
    const ssize_t length = readlink(path.c_str(), name, sizeof name - 1);
    if (length <= 0) return false;
    name[length] = '\0';
    return std::sscanf(name, kShownName, out) == 1;
}

}  // namespace

SharedFile& SharedFile::operator=(SharedFile&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(size_, other.size_);
    std::swap(token_, other.token_);
    return *this;
}

SharedFile::~SharedFile() {
    if (descriptor_ >= 0) close(descriptor_);
}

CUresult SharedFile::make(std::size_t size, SharedFile* out) {
    std::uint64_t token = 0;
    REQUIRE(getrandom(&token, sizeof token, 0) == sizeof token, CUDA_ERROR_OPERATING_SYSTEM);
    char name[64];
    std::snprintf(name, sizeof name, "cuda_graphs %016" PRIx64, token);
    const int descriptor = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    REQUIRE(descriptor >= 0, CUDA_ERROR_OUT_OF_MEMORY);
    SharedFile made(descriptor, size, token);
    REQUIRE(ftruncate(descriptor, static_cast<off_t>(size)) == 0, CUDA_ERROR_OUT_OF_MEMORY);
    REQUIRE(fcntl(descriptor, F_ADD_SEALS, kSeals) == 0, CUDA_ERROR_OPERATING_SYSTEM);
    *out = std::move(made);
    return CUDA_SUCCESS;
}

CUresult SharedFile::adopt(int descriptor, SharedFile* out) {
    SharedFile found(descriptor, 0, 0);
    struct stat status{};
    REQUIRE(fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode), CUDA_ERROR_INVALID_VALUE);
    REQUIRE(fcntl(descriptor, F_GET_SEALS) == kSeals, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(read_token(path_of(getpid(), descriptor), &found.token_), CUDA_ERROR_INVALID_VALUE);
    found.size_ = static_cast<std::size_t>(status.st_size);
    *out = std::move(found);
    return CUDA_SUCCESS;
}

CUresult SharedFile::from_descriptor(int descriptor, SharedFile* out) {
    const int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    REQUIRE(own >= 0, CUDA_ERROR_INVALID_VALUE);
    return adopt(own, out);
}

CUresult SharedFile::at(const Locator& locator, SharedFile* out) {
    const std::string path = path_of(locator.process, locator.descriptor);
    std::uint64_t token = 0;
    // The token is checked before the file is opened, because opening another file at that descriptor may have side
    // effects.
    REQUIRE(read_token(path, &token) && token == locator.token, CUDA_ERROR_INVALID_VALUE);
    const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(descriptor >= 0, CUDA_ERROR_INVALID_VALUE);
    SharedFile found;
    TRY(adopt(descriptor, &found));
    REQUIRE(found.token_ == locator.token, CUDA_ERROR_INVALID_VALUE);
    *out = std::move(found);
    return CUDA_SUCCESS;
}

SharedFile::Locator SharedFile::locator() const {
    return {token_, getpid(), descriptor_};
}

CUresult SharedFile::duplicate(int* out) const {
    const int further = fcntl(descriptor_, F_DUPFD, 0);
    REQUIRE(further >= 0, CUDA_ERROR_OPERATING_SYSTEM);
    *out = further;
    return CUDA_SUCCESS;
}

void* SharedFile::map(std::size_t offset, std::size_t bytes, void* fixed) const {
    if (offset > size_ || bytes > size_ - offset) return nullptr;
    void* const found =
        mmap(fixed, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | (fixed != nullptr ? MAP_FIXED : 0),
             descriptor_, static_cast<off_t>(offset));
    return found != MAP_FAILED ? found : nullptr;
}

bool SharedFile::read(std::size_t offset, void* bytes, std::size_t count) const {
    return pread(descriptor_, bytes, count, static_cast<off_t>(offset)) == static_cast<ssize_t>(count);
}

bool SharedFile::write(std::size_t offset, const void* bytes, std::size_t count) const {
    return pwrite(descriptor_, bytes, count, static_cast<off_t>(offset)) == static_cast<ssize_t>(count);
}

bool SharedFile::clear(std::size_t offset, std::size_t bytes) const {
    constexpr int kHole = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    int status = 0;
    do {
        status = fallocate(descriptor_, kHole, static_cast<off_t>(offset), static_cast<off_t>(bytes));
    } while (status != 0 && errno == EINTR);
    return status == 0;
}

}  // namespace cgh
