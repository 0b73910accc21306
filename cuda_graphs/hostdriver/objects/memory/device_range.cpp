// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "hostdriver/objects/memory/device_range.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <utility>

#include "hostdriver/entry.hpp"
#include "hostdriver/execution/page_move.hpp"
#include "hostdriver/objects/base/address_limit.hpp"
#include "hostdriver/objects/devices/device.hpp"
#include "hostdriver/objects/memory/memory.hpp"

namespace cgh {
namespace {

constexpr std::size_t kChunk = std::size_t{4} << 20;
constexpr std::size_t kSystemPage = 4096;
constexpr std::uint64_t kSlots = std::uint64_t{1} << 20;
constexpr std::size_t kNumbersBytes = kSlots * sizeof(std::uint64_t);

constexpr std::size_t kFirstRange = std::size_t{4} << 30;
constexpr std::size_t kGrowth = 4;  // size of a device's next range relative to the one before
constexpr std::size_t kLargestRange = std::size_t{1} << 40;
constexpr std::size_t kMostRanges = 16 * (kMostDevices + 1);

// The ranges of all devices and of the host, in the order of their reservation. Never destroyed, because the process
// uses memory until it ends.
std::array<std::atomic<DeviceRange*>, kMostRanges> ranges;
std::atomic<std::size_t> range_count{0};

// Returns the size of the block for `bytes`. There are eight sizes for each power of two, so a freed block fits
// requests of nearly its size.
std::size_t small_size(std::size_t bytes) {
    std::size_t unit = kMemoryAlignment;
    while (unit * 16 < bytes) unit *= 2;
    return rounded_up(bytes, unit);
}

void* mapped(std::uintptr_t start, std::size_t size, int rights) {
    void* const found = mmap(reinterpret_cast<void*>(start), size, rights,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (start != 0 ? MAP_FIXED : 0), -1, 0);
    return found != MAP_FAILED ? found : nullptr;
}

}  // namespace

DeviceRange* DeviceRange::holding(const void* address) {
    const std::size_t count = range_count.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < count; ++i) {
        DeviceRange* const range = ranges[i].load(std::memory_order_relaxed);
        if (reinterpret_cast<std::uintptr_t>(address) - range->start_ < range->size_) return range;
    }
    return nullptr;
}

DeviceRange::DeviceRange(CUdevice device, std::uintptr_t start, std::size_t size)
    : device_(device), start_(start), size_(size) {
    const std::uintptr_t first = rounded_up(start_, kHugePage);
    free_.add(first, start_ + size_ - first);
}

template <class From>
void* DeviceRange::first_of(CUdevice device, std::size_t bytes, From from) {
    for (std::size_t i = 0;; ++i) {
        if (i == range_count.load(std::memory_order_acquire) && !reserve_more(device, bytes, i)) return nullptr;
        DeviceRange& range = *ranges[i].load(std::memory_order_relaxed);
        if (range.device_ != device) continue;
        if (void* const found = from(range); found != nullptr) return found;
    }
}

// Reserves another range for the device. Also returns true if another thread has added a range since the caller read
// the count `known`.
bool DeviceRange::reserve_more(CUdevice device, std::size_t bytes, std::size_t known) {
    static std::mutex growing;
    const std::lock_guard<std::mutex> lock(growing);
    const std::size_t count = range_count.load(std::memory_order_relaxed);
    if (count != known) return true;
    if (count == kMostRanges || bytes > kLargestRange) return false;
    std::size_t last = 0;
    for (std::size_t i = 0; i < count; ++i)
        if (const DeviceRange* const one = ranges[i].load(std::memory_order_relaxed); one->device_ == device)
            last = one->size_;
    const std::size_t least = rounded_up(std::max(bytes, kChunk), kHugePage) + kHugePage;
    const std::size_t wanted = within_limit(std::min(last == 0 ? kFirstRange : last * kGrowth, kLargestRange));
    for (std::size_t size = std::max(least, rounded_up(wanted, kHugePage));;
         size = std::max(least, rounded_up(size / kGrowth, kHugePage))) {
        void* const found = mapped(0, size, PROT_NONE);
        if (found != nullptr) {
            ranges[count].store(new DeviceRange(device, reinterpret_cast<std::uintptr_t>(found), size));
            range_count.store(count + 1, std::memory_order_release);
            return true;
        }
        if (size == least) return false;
    }
}

void* DeviceRange::take(CUdevice device, std::size_t bytes) {
    return first_of(device, bytes, [=](DeviceRange& range) { return range.take(bytes); });
}

void* DeviceRange::map(CUdevice device, std::size_t bytes) {
    return first_of(device, bytes, [=](DeviceRange& range) { return range.map(bytes, kPage); });
}

void* DeviceRange::map(std::size_t bytes, std::size_t alignment) {
    const std::size_t size = rounded_up(bytes, kPage);
    if (size < bytes) return nullptr;
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto at = free_.take(size, alignment);
    if (!at) return nullptr;
    void* const found = mapped(*at, size, PROT_READ | PROT_WRITE);
    if (found == nullptr) free_.add(*at, size);
    return found;
}

void DeviceRange::unmap(void* address, std::size_t bytes) {
    const auto start = reinterpret_cast<std::uintptr_t>(address);
    const std::lock_guard<std::mutex> lock(mutex_);
    mapped(start, rounded_up(bytes, kPage), PROT_NONE);
    if (forget_shared(start, rounded_up(bytes, kPage))) free_.add(start, rounded_up(bytes, kPage));
}

void* DeviceRange::take(std::size_t bytes) {
    if (bytes < kOwnPages) return take_small(small_size(bytes));
    const std::size_t size = rounded_up(bytes, kHugePage);
    void* const found = size >= bytes ? map(size, kHugePage) : nullptr;
    if (found != nullptr) madvise(found, size, MADV_HUGEPAGE);
    return found;
}

void* DeviceRange::take_small(std::size_t size) {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        auto& kept = small_[size];
        if (!kept.empty()) {
            void* const found = kept.back();
            kept.pop_back();
            return found;
        }
        if (chunk_end_ - chunk_ >= size) {
            chunk_ += size;
            return reinterpret_cast<void*>(chunk_ - size);
        }
    }
    void* const chunk = map(kChunk, kPage);
    if (chunk == nullptr) return nullptr;
    const std::lock_guard<std::mutex> lock(mutex_);
    chunk_ = reinterpret_cast<std::uintptr_t>(chunk) + size;
    chunk_end_ = chunk_ - size + kChunk;
    return chunk;
}

void DeviceRange::give_back(void* address, std::size_t bytes) {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        forget_number(address);
        if (bytes < kOwnPages) return small_[small_size(bytes)].push_back(address);
    }
    unmap(address, rounded_up(bytes, kHugePage));
}

// Creates the file. It is as large as the range but holds only the shared blocks. The array of numbers follows at its
// end.
CUresult DeviceRange::open_file() {
    if (file_) return CUDA_SUCCESS;
    SharedFile made;
    TRY(SharedFile::make(size_ + kNumbersBytes, &made));
    void* const numbers = made.map(size_, kNumbersBytes);
    REQUIRE(numbers != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
    numbers_ = static_cast<std::atomic<std::uint64_t>*>(numbers);
    file_ = std::move(made);
    return CUDA_SUCCESS;
}

CUresult DeviceRange::number(void* address, Shared* out) {
    const auto known = slot_of_.find(address);
    if (known != slot_of_.end()) {
        out->slot = known->second;
        out->number = numbers_[out->slot].load(std::memory_order_relaxed);
        return CUDA_SUCCESS;
    }
    if (!free_slots_.empty()) {
        out->slot = free_slots_.back();
        free_slots_.pop_back();
    } else {
        REQUIRE(slots_ < kSlots, CUDA_ERROR_OUT_OF_MEMORY);
        out->slot = slots_++;
    }
    out->number = ++last_number_;
    numbers_[out->slot].store(out->number, std::memory_order_release);
    slot_of_[address] = out->slot;
    return CUDA_SUCCESS;
}

void DeviceRange::forget_number(void* address) {
    const auto known = slot_of_.find(address);
    if (known == slot_of_.end()) return;
    numbers_[known->second].store(0, std::memory_order_release);
    free_slots_.push_back(known->second);
    slot_of_.erase(known);
}

bool DeviceRange::is_still_shared(const SharedFile& file, std::uint64_t number, std::uint64_t slot) {
    if (slot >= kSlots || file.size() < kNumbersBytes) return false;
    std::uint64_t found = 0;
    return file.read(file.size() - kNumbersBytes + slot * sizeof found, &found, sizeof found) && found == number;
}

CUresult DeviceRange::share(void* address, std::size_t bytes, Shared* out) {
    const auto start = reinterpret_cast<std::uintptr_t>(address);
    const std::lock_guard<std::mutex> lock(mutex_);
    TRY(open_file());
    TRY(move_shared(start / kSystemPage * kSystemPage, rounded_up(start + bytes, kSystemPage)));
    TRY(number(address, out));
    out->file = file_.locator();
    out->offset = start - start_;
    return CUDA_SUCCESS;
}

// Moves pages to the file. A page that two blocks share may be in the file already.
CUresult DeviceRange::move_shared(std::uintptr_t start, std::uintptr_t end) {
    for (std::uintptr_t at = start; at < end;) {
        auto next = shared_.upper_bound(at);
        const std::uintptr_t before = next != shared_.begin() ? std::prev(next)->first + std::prev(next)->second : 0;
        if (before > at) {
            at = before;
            continue;
        }
        const std::uintptr_t stop = next != shared_.end() ? std::min(next->first, end) : end;
        TRY(move_pages(at, stop - at, file_, at - start_));
        shared_[at] = stop - at;
        at = stop;
    }
    return CUDA_SUCCESS;
}

bool DeviceRange::forget_shared(std::uintptr_t start, std::size_t size) {
    auto at = shared_.lower_bound(start);
    if (at == shared_.end() || at->first >= start + size) return true;
    while (at != shared_.end() && at->first < start + size) at = shared_.erase(at);
    return file_.clear(start - start_, size);
}

}  // namespace cgh
