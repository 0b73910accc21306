// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Managed memory: advice, prefetches, and attachment to streams. There is only one memory, so these calls move no
// bytes. They are checked, and their settings can be read back.
#include <algorithm>
#include <cstring>
#include <vector>

#include "hostdriver/entry.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/devices/device.hpp"
#include "hostdriver/objects/memory/advice.hpp"
#include "hostdriver/objects/streams/intake.hpp"
#include "hostdriver/objects/streams/stream.hpp"

using namespace cgh;

namespace {

CUresult find_managed(CUdeviceptr address, std::size_t bytes, Allocation* out) {
    REQUIRE(bytes != 0, CUDA_ERROR_INVALID_VALUE);
    const auto found = AddressMap::get().find(address);
    REQUIRE(found && found->is_managed() && found->holds(address, bytes), CUDA_ERROR_INVALID_VALUE);
    *out = *found;
    return CUDA_SUCCESS;
}

// Checks a location and normalises it to the form that queries return. The host has one NUMA node.
CUresult check_location(CUmemLocation* location) {
    switch (location->type) {
        case CU_MEM_LOCATION_TYPE_DEVICE: {
            Device* device = nullptr;
            return find_device(location->id, &device);
        }
        case CU_MEM_LOCATION_TYPE_HOST:
            location->id = 0;
            return CUDA_SUCCESS;
        case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
            *location = {CU_MEM_LOCATION_TYPE_HOST_NUMA, 0};
            return CUDA_SUCCESS;
        case CU_MEM_LOCATION_TYPE_HOST_NUMA:
            REQUIRE(location->id == 0, CUDA_ERROR_INVALID_VALUE);
            return CUDA_SUCCESS;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
}

// Returns the location as a device: its number, CU_DEVICE_CPU, or CU_DEVICE_INVALID for no location.
CUdevice device_at(const CUmemLocation& location) {
    if (location.type == CU_MEM_LOCATION_TYPE_DEVICE) return location.id;
    return location.type == CU_MEM_LOCATION_TYPE_INVALID ? CU_DEVICE_INVALID : CU_DEVICE_CPU;
}

bool same(const CUmemLocation& one, const CUmemLocation& other) {
    return one.type == other.type && (one.type == CU_MEM_LOCATION_TYPE_INVALID || one.id == other.id);
}

CUresult advise(const Allocation& found, CUdeviceptr address, std::size_t bytes, CUmem_advise advice,
                CUmemLocation location) {
    const auto set = [&](const std::function<void(Advice&)>& change) {
        AdviceMap::get().change(found, address, bytes, change);
        return CUDA_SUCCESS;
    };
    switch (advice) {
        case CU_MEM_ADVISE_SET_READ_MOSTLY:
        case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
            return set([&](Advice& known) { known.read_mostly = advice == CU_MEM_ADVISE_SET_READ_MOSTLY; });
        case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
            TRY(check_location(&location));
            return set([&](Advice& known) { known.preferred = location; });
        case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
            return set([](Advice& known) { known.preferred = Advice{}.preferred; });
        case CU_MEM_ADVISE_SET_ACCESSED_BY:
        case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
            // "The CUmemLocation::type must be either CU_MEM_LOCATION_TYPE_DEVICE ... or CU_MEM_LOCATION_TYPE_HOST".
            REQUIRE(location.type == CU_MEM_LOCATION_TYPE_DEVICE || location.type == CU_MEM_LOCATION_TYPE_HOST,
                    CUDA_ERROR_INVALID_VALUE);
            TRY(check_location(&location));
            return set([&](Advice& known) {
                if (advice == CU_MEM_ADVISE_SET_ACCESSED_BY)
                    known.accessed_by.insert(device_at(location));
                else
                    known.accessed_by.erase(device_at(location));
            });
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
}

// Returns the location that all pieces of a range share, or no location if they differ.
CUmemLocation common(const std::vector<Advice>& pieces, CUmemLocation Advice::* which) {
    const CUmemLocation first = pieces.front().*which;
    const bool agree =
        std::all_of(pieces.begin(), pieces.end(), [&](const Advice& piece) { return same(piece.*which, first); });
    return agree ? first : CUmemLocation{CU_MEM_LOCATION_TYPE_INVALID, 0};
}

CUresult put(void* data, std::size_t size, int value) {
    REQUIRE(size == sizeof value, CUDA_ERROR_INVALID_VALUE);
    std::memcpy(data, &value, sizeof value);
    return CUDA_SUCCESS;
}

// Writes the device ids. cuda.h: "a list of device ids that had CU_MEM_ADVISE_SET_ACCESSED_BY set for that entire
// memory range".
CUresult put_accessors(void* data, std::size_t size, const std::vector<Advice>& pieces) {
    REQUIRE(size != 0 && size % sizeof(int) == 0, CUDA_ERROR_INVALID_VALUE);
    std::vector<int> devices(size / sizeof(int), CU_DEVICE_INVALID);
    std::size_t count = 0;
    for (const CUdevice device : pieces.front().accessed_by) {
        const bool everywhere = std::all_of(pieces.begin(), pieces.end(),
                                            [&](const Advice& piece) { return piece.accessed_by.count(device) != 0; });
        if (everywhere && count < devices.size()) devices[count++] = device;
    }
    std::memcpy(data, devices.data(), size);
    return CUDA_SUCCESS;
}

CUresult read(void* data, std::size_t size, CUmem_range_attribute attribute, const std::vector<Advice>& pieces) {
    REQUIRE(data != nullptr, CUDA_ERROR_INVALID_VALUE);
    const CUmemLocation preferred = common(pieces, &Advice::preferred), last = common(pieces, &Advice::prefetched);
    switch (attribute) {
        case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
            return put(data, size, std::all_of(pieces.begin(), pieces.end(), [](const Advice& piece) {
                           return piece.read_mostly;
                       }));
        case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
            return put(data, size, device_at(preferred));
        case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
            return put_accessors(data, size, pieces);
        case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
            return put(data, size, device_at(last));
        case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
            return put(data, size, static_cast<int>(preferred.type));
        case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
            return put(data, size, preferred.id);
        case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
            return put(data, size, static_cast<int>(last.type));
        case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
            return put(data, size, last.id);
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
}

void note_prefetch(const Allocation& found, CUdeviceptr address, std::size_t bytes, const CUmemLocation& location) {
    AdviceMap::get().change(found, address, bytes, [&](Advice& known) { known.prefetched = location; });
}

// A batch of ranges, and the target locations if it is a prefetch.
struct Batch {
    CUdeviceptr* addresses;
    std::size_t* sizes;
    std::size_t count;
    CUmemLocation* locations;
    std::size_t* first_of_location;
    std::size_t location_count;

    CUresult check() const {
        REQUIRE(addresses != nullptr && sizes != nullptr && count != 0, CUDA_ERROR_INVALID_VALUE);
        Allocation found;
        for (std::size_t i = 0; i < count; ++i) TRY(find_managed(addresses[i], sizes[i], &found));
        return CUDA_SUCCESS;
    }

    CUresult check_locations() const {
        REQUIRE(locations != nullptr && first_of_location != nullptr, CUDA_ERROR_INVALID_VALUE);
        REQUIRE(location_count != 0 && location_count <= count && first_of_location[0] == 0, CUDA_ERROR_INVALID_VALUE);
        for (std::size_t i = 0; i < location_count; ++i) {
            REQUIRE(first_of_location[i] < count && (i == 0 || first_of_location[i] > first_of_location[i - 1]),
                    CUDA_ERROR_INVALID_VALUE);
            CUmemLocation location = locations[i];
            TRY(check_location(&location));
        }
        return CUDA_SUCCESS;
    }

    CUresult prefetch() const {
        std::size_t place = 0;
        for (std::size_t i = 0; i < count; ++i) {
            if (place + 1 < location_count && first_of_location[place + 1] == i) ++place;
            CUmemLocation location = locations[place];
            TRY(check_location(&location));
            Allocation found;
            TRY(find_managed(addresses[i], sizes[i], &found));
            note_prefetch(found, addresses[i], sizes[i], location);
        }
        return CUDA_SUCCESS;
    }
};

// cuda.h about the batch functions: "hStream - The stream to enqueue the operations in. Must not be legacy NULL
// stream."
CUresult check_batch_stream(CUstream handle, unsigned long long flags) {
    REQUIRE(flags == 0, CUDA_ERROR_INVALID_VALUE);
    Stream* stream = nullptr;
    TRY(find_stream(handle, &stream));
    REQUIRE(!stream->is_legacy(), CUDA_ERROR_INVALID_VALUE);
    return stream->intake().inspect(*stream, Inspection::kForbidden);
}

}  // namespace

CGH_API CUresult cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUmemLocation location) {
    return entry("cuMemAdvise", [&]() -> CUresult {
        Allocation found;
        TRY(find_managed(devPtr, count, &found));
        REQUIRE(found.kind != MemoryKind::kPool, CUDA_ERROR_NOT_SUPPORTED);  // as on an H200
        return advise(found, devPtr, count, advice, location);
    });
}

CGH_API CUresult cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned int flags,
                                       CUstream hStream) {
    return entry("cuMemPrefetchAsync", [&]() -> CUresult {
        Stream* stream = nullptr;
        TRY(find_stream(hStream, &stream));
        REQUIRE(flags == 0, CUDA_ERROR_INVALID_VALUE);
        Allocation found;
        TRY(find_managed(devPtr, count, &found));
        TRY(check_location(&location));
        TRY(stream->intake().inspect(*stream, Inspection::kForbidden));
        note_prefetch(found, devPtr, count, location);
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuMemPrefetchBatchAsync(CUdeviceptr* dptrs, size_t* sizes, size_t count, CUmemLocation* prefetchLocs,
                                         size_t* prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags,
                                         CUstream hStream) {
    return entry("cuMemPrefetchBatchAsync", [&]() -> CUresult {
        const Batch batch{dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs};
        TRY(batch.check());
        TRY(batch.check_locations());
        TRY(check_batch_stream(hStream, flags));
        return batch.prefetch();
    });
}

// cuda.h: discarded memory has indeterminate contents. Unchanged contents satisfy this.
CGH_API CUresult cuMemDiscardBatchAsync(CUdeviceptr* dptrs, size_t* sizes, size_t count, unsigned long long flags,
                                        CUstream hStream) {
    return entry("cuMemDiscardBatchAsync", [&]() -> CUresult {
        TRY((Batch{dptrs, sizes, count, nullptr, nullptr, 0}.check()));
        return check_batch_stream(hStream, flags);
    });
}

CGH_API CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr* dptrs, size_t* sizes, size_t count,
                                                   CUmemLocation* prefetchLocs, size_t* prefetchLocIdxs,
                                                   size_t numPrefetchLocs, unsigned long long flags, CUstream hStream) {
    return entry("cuMemDiscardAndPrefetchBatchAsync", [&]() -> CUresult {
        const Batch batch{dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs};
        TRY(batch.check());
        TRY(batch.check_locations());
        TRY(check_batch_stream(hStream, flags));
        return batch.prefetch();
    });
}

CGH_API CUresult cuMemRangeGetAttribute(void* data, size_t dataSize, CUmem_range_attribute attribute,
                                        CUdeviceptr devPtr, size_t count) {
    return entry("cuMemRangeGetAttribute", [&]() -> CUresult {
        Allocation found;
        TRY(find_managed(devPtr, count, &found));
        return read(data, dataSize, attribute, AdviceMap::get().of(found, devPtr, count));
    });
}

CGH_API CUresult cuMemRangeGetAttributes(void** data, size_t* dataSizes, CUmem_range_attribute* attributes,
                                         size_t numAttributes, CUdeviceptr devPtr, size_t count) {
    return entry("cuMemRangeGetAttributes", [&]() -> CUresult {
        REQUIRE(data != nullptr && dataSizes != nullptr && attributes != nullptr && numAttributes != 0,
                CUDA_ERROR_INVALID_VALUE);
        Allocation found;
        TRY(find_managed(devPtr, count, &found));
        const std::vector<Advice> pieces = AdviceMap::get().of(found, devPtr, count);
        for (std::size_t i = 0; i < numAttributes; ++i) TRY(read(data[i], dataSizes[i], attributes[i], pieces));
        return CUDA_SUCCESS;
    });
}

// cuda.h: "length must be zero or the entire allocation's size"; "It is illegal to specify CU_MEM_ATTACH_SINGLE" with
// the default stream. With CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS every stream may use the memory anyway.
CGH_API CUresult cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length, unsigned int flags) {
    return entry("cuStreamAttachMemAsync", [&]() -> CUresult {
        Stream* stream = nullptr;
        TRY(find_stream(hStream, &stream));
        Allocation found;
        TRY(find_managed(dptr, 1, &found));
        REQUIRE(found.base == dptr && (length == 0 || length == found.size), CUDA_ERROR_INVALID_VALUE);
        REQUIRE(flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST || flags == CU_MEM_ATTACH_SINGLE,
                CUDA_ERROR_INVALID_VALUE);
        REQUIRE(flags != CU_MEM_ATTACH_SINGLE || !stream->is_legacy(), CUDA_ERROR_INVALID_VALUE);
        return stream->intake().inspect(*stream, Inspection::kForbidden);
    });
}
