// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory by location: virtual memory of devices and of the host with its access rights, pools of the host and of
// managed memory, memory whose copies are synchronous. Also tensor maps, and atomic instructions between locations.
#include "cases.hpp"

namespace conf {

namespace {

constexpr size_t kPage = size_t{2} << 20;

CUmemLocation place(CUmemLocationType type, int id = 0) {
    CUmemLocation location{};
    location.type = type;
    location.id = id;
    return location;
}

const struct {
    const char* name;
    CUmemLocationType type;
} kPlaces[] = {
    {"device", CU_MEM_LOCATION_TYPE_DEVICE},
    {"host", CU_MEM_LOCATION_TYPE_HOST},
    {"node", CU_MEM_LOCATION_TYPE_HOST_NUMA},
    {"current node", CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT},
};

CUmemAllocationProp properties(CUmemLocationType type) {
    CUmemAllocationProp made{};
    made.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    made.location = place(type);
    return made;
}

class Mapped {
  public:
    explicit Mapped(CUmemLocationType type) {
        const CUmemAllocationProp made = properties(type);
        must(drv.cuMemCreate(&memory_, kPage, &made, 0), "cuMemCreate");
        must(drv.cuMemAddressReserve(&start, kPage, 0, 0, 0), "cuMemAddressReserve");
        must(drv.cuMemMap(start, kPage, 0, memory_, 0), "cuMemMap");
    }
    ~Mapped() {
        drv.cuMemUnmap(start, kPage);
        drv.cuMemRelease(memory_);
        drv.cuMemAddressFree(start, kPage);
    }
    Mapped(const Mapped&) = delete;
    Mapped& operator=(const Mapped&) = delete;
    CUresult let(CUmemLocation who, CUmemAccess_flags flags) const {
        CUmemAccessDesc description{};
        description.location = who;
        description.flags = flags;
        return drv.cuMemSetAccess(start, kPage, &description, 1);
    }
    CUdeviceptr start = 0;

  private:
    CUmemGenericAllocationHandle memory_ = 0;
};

void add_virtual_cases(Cases& cases) {
    cases.add("places/virtual_memory", [](Record& r) {
        device();
        for (const auto& [name, type] : kPlaces) {
            const CUmemAllocationProp made = properties(type);
            size_t bytes = 0;
            const CUresult asked = drv.cuMemGetAllocationGranularity(&bytes, &made, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
            r(std::string(name) + " granularity", asked);
            CUmemGenericAllocationHandle memory = 0;
            const CUresult result = drv.cuMemCreate(&memory, kPage, &made, 0);
            r(std::string(name) + " create", result);
            if (result == CUDA_SUCCESS) must(drv.cuMemRelease(memory), "cuMemRelease");
        }
    });
    cases.add("places/virtual_handles", [](Record& r) {
        device();
        for (const auto type :
             {CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, CU_MEM_HANDLE_TYPE_WIN32, CU_MEM_HANDLE_TYPE_FABRIC}) {
            CUmemAllocationProp made = properties(CU_MEM_LOCATION_TYPE_DEVICE);
            made.requestedHandleTypes = type;
            CUmemGenericAllocationHandle memory = 0;
            const CUresult result = drv.cuMemCreate(&memory, kPage, &made, 0);
            r("type " + std::to_string(type), result);
            if (result == CUDA_SUCCESS) must(drv.cuMemRelease(memory), "cuMemRelease");
        }
    });
    for (const CUmemLocationType at : {CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_LOCATION_TYPE_HOST}) {
        const std::string name = at == CU_MEM_LOCATION_TYPE_DEVICE ? "device" : "host";
        cases.add("places/access_to_memory_of_the_" + name, [at](Record& r) {
            device();
            const Mapped mapped(at);
            for (const auto& [who, type] : kPlaces)
                for (const auto flags : {CU_MEM_ACCESS_FLAGS_PROT_READ, CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
                                         CU_MEM_ACCESS_FLAGS_PROT_NONE}) {
                    const std::string label = std::string(who) + " " + std::to_string(flags);
                    r(label, mapped.let(place(type), flags));
                    unsigned long long found = 99;
                    const CUmemLocation location = place(type);
                    r(label + " asked", drv.cuMemGetAccess(&found, &location, mapped.start));
                    r(label + " found", found);
                }
        });
        cases.add("places/work_on_memory_of_the_" + name, [at](Record& r) {
            device();
            const Mapped mapped(at);
            unsigned word = 7;
            r("fill without access", drv.cuMemsetD8(mapped.start, 1, 16));
            must(mapped.let(place(CU_MEM_LOCATION_TYPE_DEVICE), CU_MEM_ACCESS_FLAGS_PROT_READWRITE), "access");
            r("fill", drv.cuMemsetD32(mapped.start, 5, 1));
            r("copy to the host", drv.cuMemcpyDtoH(&word, mapped.start, 4));
            r("word", word);
            unsigned type = 0;
            r("type", drv.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, mapped.start));
            r("is of", type);
            must(mapped.let(place(CU_MEM_LOCATION_TYPE_DEVICE), CU_MEM_ACCESS_FLAGS_PROT_READ), "access to read");
            r("copy from what is read only", drv.cuMemcpyDtoH(&word, mapped.start, 4));
        });
    }
    cases.add("places/reservations", [](Record& r) {
        device();
        CUdeviceptr start = 0;
        r("wish that is no page", drv.cuMemAddressReserve(&start, kPage, 0, 12345, 0));
        r("half a page", drv.cuMemAddressReserve(&start, kPage / 2, 0, 0, 0));
        r("flags", drv.cuMemAddressReserve(&start, kPage, 0, 0, 1));
    });
}

CUmemoryPool new_pool(CUmemAllocationType type, CUmemLocation location, size_t limit = 0) {
    CUmemPoolProps made{};
    made.allocType = type;
    made.location = location;
    made.maxSize = limit;
    CUmemoryPool pool = nullptr;
    must(drv.cuMemPoolCreate(&pool, &made), "cuMemPoolCreate");
    return pool;
}

void add_place_pool_cases(Cases& cases) {
    cases.add("places/pool_of_the_host", [](Record& r) {
        device();
        const Stream stream;
        const CUmemoryPool pool = new_pool(CU_MEM_ALLOCATION_TYPE_PINNED, place(CU_MEM_LOCATION_TYPE_HOST));
        CUdeviceptr memory = 0;
        must(drv.cuMemAllocFromPoolAsync(&memory, 64, pool, stream), "cuMemAllocFromPoolAsync");
        must(drv.cuStreamSynchronize(stream), "cuStreamSynchronize");
        for (const bool with_access : {false, true}) {
            const std::string when = with_access ? ", with access of the device" : "";
            if (with_access) {
                CUmemAccessDesc description{};
                description.location = place(CU_MEM_LOCATION_TYPE_DEVICE);
                description.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
                r("access of the device", drv.cuMemPoolSetAccess(pool, &description, 1));
            }
            unsigned word = 3;
            r("fill in a stream" + when, drv.cuMemsetD8Async(memory, 1, 64, stream));
            r("fill" + when, drv.cuMemsetD8(memory, 1, 64));
            r("copy there" + when, drv.cuMemcpyHtoDAsync(memory, &word, 4, stream));
            r("copy" + when, drv.cuMemcpy(memory, reinterpret_cast<CUdeviceptr>(&word), 4));
        }
        must(drv.cuMemFreeAsync(memory, stream), "cuMemFreeAsync");
        must(drv.cuStreamSynchronize(stream), "cuStreamSynchronize");
        r("destroy", drv.cuMemPoolDestroy(pool));
    });
    cases.add("places/limit_of_a_pool", [](Record& r) {
        device();
        const Stream stream;
        const CUmemoryPool pool =
            new_pool(CU_MEM_ALLOCATION_TYPE_PINNED, place(CU_MEM_LOCATION_TYPE_DEVICE), size_t{1} << 20);
        for (const size_t megabytes : {1u, 4u, 32u, 33u, 64u}) {
            CUdeviceptr memory = 0;
            const CUresult result = drv.cuMemAllocFromPoolAsync(&memory, megabytes << 20, pool, stream);
            r(std::to_string(megabytes) + " MiB", result);
            if (result == CUDA_SUCCESS) must(drv.cuMemFreeAsync(memory, stream), "cuMemFreeAsync");
            must(drv.cuStreamSynchronize(stream), "cuStreamSynchronize");
        }
        r("destroy", drv.cuMemPoolDestroy(pool));
    });
    cases.add("places/advice_on_managed_pools", [](Record& r) {
        device();
        const Stream stream;
        const CUmemoryPool pool = new_pool(CU_MEM_ALLOCATION_TYPE_MANAGED, place(CU_MEM_LOCATION_TYPE_NONE));
        CUdeviceptr memory = 0;
        must(drv.cuMemAllocFromPoolAsync(&memory, kPage, pool, stream), "cuMemAllocFromPoolAsync");
        must(drv.cuStreamSynchronize(stream), "cuStreamSynchronize");
        for (const auto advice :
             {CU_MEM_ADVISE_SET_READ_MOSTLY, CU_MEM_ADVISE_UNSET_READ_MOSTLY, CU_MEM_ADVISE_SET_PREFERRED_LOCATION,
              CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, CU_MEM_ADVISE_SET_ACCESSED_BY, CU_MEM_ADVISE_UNSET_ACCESSED_BY})
            r("advice " + std::to_string(advice),
              drv.cuMemAdvise(memory, kPage, advice, place(CU_MEM_LOCATION_TYPE_DEVICE)));
        r("prefetch", drv.cuMemPrefetchAsync(memory, kPage, place(CU_MEM_LOCATION_TYPE_DEVICE), 0, stream));
        must(drv.cuMemFreeAsync(memory, stream), "cuMemFreeAsync");
        must(drv.cuStreamSynchronize(stream), "cuStreamSynchronize");
        r("destroy", drv.cuMemPoolDestroy(pool));
    });
    cases.add("places/synchronous_memory", [](Record& r) {
        device();
        CUdeviceptr memory = 0;
        must(drv.cuMemAlloc(&memory, 64), "cuMemAlloc");
        unsigned on = 1, found = 9;
        r("set", drv.cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory));
        r("get", drv.cuPointerGetAttribute(&found, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory));
        r("found", found);
        r("another attribute", drv.cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_IS_MANAGED, memory));
        r("of nothing", drv.cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, 64));
        must(drv.cuMemFree(memory), "cuMemFree");
    });
}

// A 2-D tensor of floats. `change` changes it before it is encoded.
struct Description {
    CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    cuuint32_t rank = 2;
    CUdeviceptr address = 0;
    cuuint64_t dims[5] = {64, 32, 4, 4, 4}, strides[4] = {256, 8192, 32768, 131072};
    cuuint32_t box[5] = {16, 8, 1, 1, 1}, steps[5] = {1, 1, 1, 1, 1};
    CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
    CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
    CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_NONE;
    CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
};

void add_tensor_cases(Cases& cases) {
    cases.add("tensor_map/tiles", [](Record& r) {
        device();
        CUdeviceptr memory = 0;
        must(drv.cuMemAlloc(&memory, size_t{1} << 20), "cuMemAlloc");
        const auto ask = [&](const char* label, auto change) {
            Description d;
            d.address = memory;
            change(d);
            CUtensorMap map;
            r(label,
              drv.cuTensorMapEncodeTiled(&map, d.type, d.rank, reinterpret_cast<void*>(d.address), d.dims, d.strides,
                                         d.box, d.steps, d.interleave, d.swizzle, d.promotion, d.fill));
        };
        ask("right", [](Description&) {});
        ask("rank 5", [](Description& d) { d.rank = 5; });
        ask("rank 1", [](Description& d) { d.rank = 1; });
        ask("rank 0", [](Description& d) { d.rank = 0; });
        ask("rank 6", [](Description& d) { d.rank = 6; });
        ask("address null", [](Description& d) { d.address = 0; });
        ask("address of 8", [](Description& d) { d.address += 8; });
        ask("no elements", [](Description& d) { d.dims[0] = 0; });
        ask("2^32 elements", [](Description& d) { d.dims[1] = cuuint64_t{1} << 32; });
        ask("more elements", [](Description& d) { d.dims[1] = (cuuint64_t{1} << 32) + 1; });
        ask("stride of 8", [](Description& d) { d.strides[0] = 264; });
        ask("stride of 2^40", [](Description& d) { d.strides[0] = cuuint64_t{1} << 40; });
        ask("box of none", [](Description& d) { d.box[0] = 0; });
        ask("box of 256", [](Description& d) { d.box[1] = 256; });
        ask("box of 257", [](Description& d) { d.box[1] = 257; });
        ask("row of 4 bytes", [](Description& d) { d.box[0] = 1; });
        ask("step 0", [](Description& d) { d.steps[1] = 0; });
        ask("step 8", [](Description& d) { d.steps[1] = 8; });
        ask("step 9", [](Description& d) { d.steps[1] = 9; });
        ask("first step 0", [](Description& d) { d.steps[0] = 0; });
        ask("type 99", [](Description& d) { d.type = static_cast<CUtensorMapDataType>(99); });
        ask("swizzle 64 of 64", [](Description& d) { d.swizzle = CU_TENSOR_MAP_SWIZZLE_64B; });
        ask("swizzle 32 of 64", [](Description& d) { d.swizzle = CU_TENSOR_MAP_SWIZZLE_32B; });
        ask("swizzle 99", [](Description& d) { d.swizzle = static_cast<CUtensorMapSwizzle>(99); });
        ask("interleave of rank 2", [](Description& d) { d.interleave = CU_TENSOR_MAP_INTERLEAVE_16B; });
        ask("interleave", [](Description& d) { d.rank = 3, d.interleave = CU_TENSOR_MAP_INTERLEAVE_16B; });
        ask("interleave 32 unswizzled",
            [](Description& d) { d.rank = 3, d.interleave = CU_TENSOR_MAP_INTERLEAVE_32B; });
        ask("nan", [](Description& d) { d.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA; });
        ask("nan of integers", [](Description& d) {
            d.type = CU_TENSOR_MAP_DATA_TYPE_INT32;
            d.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
        });
        ask("promotion 99", [](Description& d) { d.promotion = static_cast<CUtensorMapL2promotion>(99); });
        CUtensorMap map;
        const Description d;
        void* const address = reinterpret_cast<void*>(memory);
        must(drv.cuTensorMapEncodeTiled(&map, d.type, d.rank, address, d.dims, d.strides, d.box, d.steps, d.interleave,
                                        d.swizzle, d.promotion, d.fill),
             "cuTensorMapEncodeTiled");
        r("replace", drv.cuTensorMapReplaceAddress(&map, reinterpret_cast<void*>(memory + 256)));
        r("replace by 8", drv.cuTensorMapReplaceAddress(&map, reinterpret_cast<void*>(memory + 8)));
        must(drv.cuMemFree(memory), "cuMemFree");
    });
    cases.add("atomics/capabilities", [](Record& r) {
        device();
        const CUatomicOperation operations[] = {CU_ATOMIC_OPERATION_INTEGER_ADD, CU_ATOMIC_OPERATION_CAS};
        unsigned found[2] = {};
        r("host", drv.cuDeviceGetHostAtomicCapabilities(found, operations, 2, 0));
        r("null", drv.cuDeviceGetHostAtomicCapabilities(nullptr, operations, 2, 0));
        r("none", drv.cuDeviceGetHostAtomicCapabilities(found, operations, 0, 0));
        r("device 99", drv.cuDeviceGetHostAtomicCapabilities(found, operations, 2, 99));
        const auto wrong = static_cast<CUatomicOperation>(99);
        r("operation 99", drv.cuDeviceGetHostAtomicCapabilities(found, &wrong, 1, 0));
        r("of itself", drv.cuDeviceGetP2PAtomicCapabilities(found, operations, 2, 0, 0));
    });
}

}  // namespace

void add_location_cases(Cases& cases) {
    add_virtual_cases(cases);
    add_place_pool_cases(cases);
    add_tensor_cases(cases);
}

}  // namespace conf
