// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "hostdriver/objects/memory/shared_heap.hpp"

#include <sys/mman.h>

#include <cstring>

#include "hostdriver/entry.hpp"
#include "hostdriver/objects/base/address_limit.hpp"

namespace cgh {
namespace {

constexpr std::uint64_t kHeapMagic = 0x706165682d686763;    // "cgh-heap"
constexpr std::uint64_t kMemoryMagic = 0x796d656d2d686763;  // "cgh-memy"
constexpr std::size_t kHeapPage = 4096;
constexpr std::size_t kHeaderBytes = std::size_t{64} << 10;
constexpr std::size_t kLeastHeap = std::size_t{16} << 20;

// The first page of the file.
struct Header {
    std::uint64_t magic;
    CUdevice device;
    Residence residence;
};

// The contents of CUmemPoolPtrExportData.
struct ExportedPointer {
    std::uint64_t magic;
    std::uint64_t heap;  // token of the heap's file
    std::uint64_t offset;
    std::uint64_t size;
    std::uint64_t id;
};
static_assert(sizeof(ExportedPointer) <= sizeof(CUmemPoolPtrExportData));

}  // namespace

SharedHeap::SharedHeap(SharedFile file, void* start, CUdevice device, Residence residence, bool imported)
    : file_(std::move(file)), start_(start), device_(device), residence_(residence), imported_(imported) {}

SharedHeap::~SharedHeap() {
    munmap(start_, file_.size());
}

// Creates a heap. It is smaller under a limit of the address space (ulimit -v).
CUresult SharedHeap::make(CUdevice device, Residence residence, std::unique_ptr<SharedHeap>* out) {
    SharedFile file;
    void* start = nullptr;
    for (std::size_t bytes = within_limit(machine_memory()); start == nullptr && bytes >= kLeastHeap; bytes /= 4) {
        TRY(SharedFile::make(kHeaderBytes + rounded_up(bytes, kHeapPage), &file));
        start = file.map(0, file.size());
    }
    REQUIRE(start != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
    *static_cast<Header*>(start) = {kHeapMagic, device, residence};
    out->reset(new SharedHeap(std::move(file), start, device, residence, /*imported=*/false));
    SharedHeap& made = **out;
    made.free_.add(reinterpret_cast<std::uintptr_t>(start) + kHeaderBytes, made.file_.size() - kHeaderBytes);
    return CUDA_SUCCESS;
}

CUresult SharedHeap::open(int descriptor, std::unique_ptr<SharedHeap>* out) {
    SharedFile file;
    REQUIRE(SharedFile::from_descriptor(descriptor, &file) == CUDA_SUCCESS, CUDA_ERROR_UNKNOWN);
    REQUIRE(file.size() > kHeaderBytes, CUDA_ERROR_UNKNOWN);
    void* const start = file.map(0, file.size());
    REQUIRE(start != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
    const Header header = *static_cast<const Header*>(start);  // a copy: the other process may change the page
    out->reset(new SharedHeap(std::move(file), start, header.device, header.residence, /*imported=*/true));
    REQUIRE(header.magic == kHeapMagic && header.residence <= Residence::kHost, CUDA_ERROR_UNKNOWN);
    return CUDA_SUCCESS;
}

CUresult SharedHeap::export_descriptor(int* out) {
    TRY(file_.duplicate(out));
    exported_.store(true, std::memory_order_release);
    return CUDA_SUCCESS;
}

void* SharedHeap::take(std::size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = free_.take(rounded_up(bytes, kHeapPage), kHeapPage);
    return found ? reinterpret_cast<void*>(*found) : nullptr;
}

void SharedHeap::give_back(void* address, std::size_t bytes) {
    const std::size_t size = rounded_up(bytes, kHeapPage);
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    if (!file_.clear(at - reinterpret_cast<std::uintptr_t>(start_), size)) return;  // the addresses must not be reused
    const std::lock_guard<std::mutex> lock(mutex_);
    free_.add(at, size);
}

CUmemPoolPtrExportData SharedHeap::describe(const Allocation& allocation) const {
    const ExportedPointer pointer{kMemoryMagic, file_.token(), allocation.base - reinterpret_cast<CUdeviceptr>(start_),
                                  allocation.size, allocation.id};
    CUmemPoolPtrExportData data{};
    std::memcpy(&data, &pointer, sizeof pointer);
    return data;
}

CUresult SharedHeap::locate(const CUmemPoolPtrExportData& data, Allocation* out) const {
    ExportedPointer pointer{};
    std::memcpy(&pointer, &data, sizeof pointer);
    REQUIRE(pointer.magic == kMemoryMagic && pointer.heap == file_.token(), CUDA_ERROR_INVALID_VALUE);
    REQUIRE(pointer.offset >= kHeaderBytes && pointer.offset < file_.size(), CUDA_ERROR_INVALID_VALUE);
    REQUIRE(pointer.size != 0 && pointer.size <= file_.size() - pointer.offset, CUDA_ERROR_INVALID_VALUE);
    out->base = reinterpret_cast<CUdeviceptr>(start_) + pointer.offset;
    out->size = pointer.size;
    return CUDA_SUCCESS;
}

}  // namespace cgh
