// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "hostdriver/objects/streams/shared_records.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>

#include "hostdriver/entry.hpp"

namespace cgh {
namespace {

constexpr std::uint64_t kMagic = 0x74766e652d686763;  // "cgh-envt"
constexpr std::size_t kPageBytes = 4096;

struct Handle {
    std::uint64_t magic;
    SharedFile::Locator file;
};
static_assert(sizeof(Handle) <= sizeof(CUipcEventHandle));

// Returns whether a process has ended. This includes a zombie, which has "Z" after the name in parentheses (proc(5)).
bool has_ended(std::int32_t process) {
    if (process == 0) return false;
    const int file = open(("/proc/" + std::to_string(process) + "/stat").c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return errno == ENOENT;
    char text[512];
    const ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    if (length <= 0) return length < 0 && errno == ESRCH;
    text[length] = '\0';
    const char* const name_end = std::strrchr(text, ')');
    return name_end != nullptr && (std::strncmp(name_end, ") Z", 3) == 0 || std::strncmp(name_end, ") X", 3) == 0);
}

}  // namespace

struct SharedRecords::Page {
    static constexpr std::size_t kSlots =
        // Number of records in the page. An older record counts as reached once the newer record in its slot is
        // reached.
        128;
    std::uint64_t magic;
    std::atomic<std::uint64_t> latest;
    struct Slot {
        std::atomic<std::uint64_t> begun, reached;
        std::atomic<std::int32_t> process;
    } slots[kSlots];
};

CUresult SharedRecords::make(std::shared_ptr<SharedRecords>* out) {
    static_assert(sizeof(Page) <= kPageBytes && std::atomic<std::uint64_t>::is_always_lock_free);
    SharedFile file;
    TRY(SharedFile::make(kPageBytes, &file));
    auto* const page = static_cast<Page*>(file.map(0, kPageBytes));
    REQUIRE(page != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
    page->magic = kMagic;
    out->reset(new SharedRecords(std::move(file), page, /*opened=*/false));
    return CUDA_SUCCESS;
}

CUresult SharedRecords::open(const CUipcEventHandle& data, std::shared_ptr<SharedRecords>* out) {
    Handle handle{};
    std::memcpy(&handle, &data, sizeof handle);
    REQUIRE(handle.magic == kMagic, CUDA_ERROR_MAP_FAILED);
    REQUIRE(handle.file.process != getpid(), CUDA_ERROR_INVALID_CONTEXT);
    SharedFile file;
    REQUIRE(SharedFile::at(handle.file, &file) == CUDA_SUCCESS && file.size() == kPageBytes, CUDA_ERROR_MAP_FAILED);
    auto* const page = static_cast<Page*>(file.map(0, kPageBytes));
    REQUIRE(page != nullptr, CUDA_ERROR_MAP_FAILED);
    std::shared_ptr<SharedRecords> found(new SharedRecords(std::move(file), page, /*opened=*/true));
    REQUIRE(page->magic == kMagic, CUDA_ERROR_MAP_FAILED);
    *out = std::move(found);
    return CUDA_SUCCESS;
}

SharedRecords::~SharedRecords() {
    munmap(page_, kPageBytes);
}

CUipcEventHandle SharedRecords::handle() const {
    const Handle handle{kMagic, file_.locator()};
    CUipcEventHandle data{};
    std::memcpy(&data, &handle, sizeof handle);
    return data;
}

std::uint64_t SharedRecords::latest() const {
    return page_->latest.load(std::memory_order_acquire);
}

std::uint64_t SharedRecords::begin() {
    const std::uint64_t record = page_->latest.fetch_add(1, std::memory_order_acq_rel) + 1;
    Page::Slot& slots = page_->slots[record % Page::kSlots];
    slots.process.store(getpid(), std::memory_order_relaxed);
    slots.begun.store(record, std::memory_order_release);
    return record;
}

void SharedRecords::reach(std::uint64_t record) {
    page_->slots[record % Page::kSlots].reached.store(record, std::memory_order_release);
}

bool SharedRecords::is_reached(std::uint64_t record) const {
    const Page::Slot& slots = page_->slots[record % Page::kSlots];
    if (slots.reached.load(std::memory_order_acquire) >= record) return true;
    return slots.begun.load(std::memory_order_acquire) == record &&
           has_ended(slots.process.load(std::memory_order_relaxed));
}

}  // namespace cgh
