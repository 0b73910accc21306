// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory: allocation, pointers, pools, copies, fills.
#include <cstdlib>

#include "cases.hpp"

namespace conf {

namespace {

// Records the attributes of an address, one per line. Addresses are printed relative to `base`.
void record_pointer(Record& r, const std::string& who, CUdeviceptr address, CUdeviceptr base) {
    unsigned type = 99;
    r(who + " MEMORY_TYPE", drv.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
    r(who + " type", type);
    int ordinal = 99, managed = 99, mapped = 99;
    r(who + " DEVICE_ORDINAL", drv.cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address));
    r(who + " ordinal", ordinal);
    r(who + " IS_MANAGED", drv.cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
    r(who + " managed", managed & 1);
    r(who + " MAPPED", drv.cuPointerGetAttribute(&mapped, CU_POINTER_ATTRIBUTE_MAPPED, address));
    CUdeviceptr device_address = 99;
    r(who + " DEVICE_POINTER",
      drv.cuPointerGetAttribute(&device_address, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address));
    r(who + " device pointer is it", device_address == address);
    void* host_address = nullptr;
    r(who + " HOST_POINTER", drv.cuPointerGetAttribute(&host_address, CU_POINTER_ATTRIBUTE_HOST_POINTER, address));
    CUdeviceptr start = 0;
    r(who + " RANGE_START", drv.cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address));
    r(who + " range start is base", start == base);
    size_t size = 0;
    r(who + " RANGE_SIZE", drv.cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address));
    r(who + " range size", size);
    CUcontext ctx = nullptr;
    r(who + " CONTEXT", drv.cuPointerGetAttribute(&ctx, CU_POINTER_ATTRIBUTE_CONTEXT, address));
    r(who + " context is current", ctx == context());
    unsigned long long id = 0;
    r(who + " BUFFER_ID", drv.cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, address));
    CUmemoryPool pool = nullptr;
    r(who + " MEMPOOL", drv.cuPointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address));
    r(who + " pool is set", pool != nullptr);
}

// Records the attributes with the plural function, which also succeeds for unknown addresses.
void record_plural(Record& r, const std::string& who, CUdeviceptr address) {
    unsigned type = 99;
    int ordinal = 99, managed = 99;
    CUdeviceptr device_address = 99;
    CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                    CU_POINTER_ATTRIBUTE_IS_MANAGED, CU_POINTER_ATTRIBUTE_DEVICE_POINTER};
    void* outputs[] = {&type, &ordinal, &managed, &device_address};
    r(who + " plural", drv.cuPointerGetAttributes(4, wanted, outputs, address));
    r(who + " plural type", type);
    r(who + " plural ordinal", ordinal);
    r(who + " plural managed", managed & 1);
    r(who + " plural device pointer is it", device_address == address);
    r(who + " plural device pointer is 0", device_address == 0);
}

void add_pointer_cases(Cases& cases) {
    cases.add("pointer/device", [](Record& r) {
        Ints memory(64);
        record_pointer(r, "start", memory, memory);
        record_pointer(r, "inside", memory + 4, memory);
        record_plural(r, "start", memory);
    });
    cases.add("pointer/pinned", [](Record& r) {
        Pinned memory(64);
        record_pointer(r, "pinned", memory.address(), memory.address());
        record_plural(r, "pinned", memory.address());
    });
    cases.add("pointer/managed", [](Record& r) {
        CUdeviceptr address = 0;
        must(drv.cuMemAllocManaged(&address, 64, CU_MEM_ATTACH_GLOBAL), "alloc");
        record_pointer(r, "managed", address, address);
        record_plural(r, "managed", address);
        *reinterpret_cast<int*>(address) = 5;
        Ints out;
        r("copy", drv.cuMemcpyDtoD(out, address, 4));
        r("value", out.get());
        r("free", drv.cuMemFree(address));
    });
    cases.add("pointer/pageable_garbage_null", [](Record& r) {
        int on_stack = 0;
        record_pointer(r, "pageable", reinterpret_cast<CUdeviceptr>(&on_stack), 0);
        record_plural(r, "pageable", reinterpret_cast<CUdeviceptr>(&on_stack));
        record_pointer(r, "garbage", kGarbage, 0);
        record_plural(r, "garbage", kGarbage);
        record_pointer(r, "null", 0, 0);
        record_plural(r, "null", 0);
    });
    cases.add("pointer/pool", [](Record& r) {
        const Stream stream = new_stream();
        CUdeviceptr address = 0;
        must(drv.cuMemAllocAsync(&address, 64, stream), "alloc");
        must(drv.cuStreamSynchronize(stream), "sync");
        record_pointer(r, "pool", address, address);
        record_plural(r, "pool", address);
        drv.cuMemFreeAsync(address, stream);
        drv.cuStreamSynchronize(stream);
    });
    cases.add("pointer/bad_arguments", [](Record& r) {
        Ints memory;
        unsigned value = 0;
        r("attribute 0", drv.cuPointerGetAttribute(&value, static_cast<CUpointer_attribute>(0), memory));
        r("attribute 999", drv.cuPointerGetAttribute(&value, static_cast<CUpointer_attribute>(999), memory));
        r("null output", drv.cuPointerGetAttribute(nullptr, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));
        CUpointer_attribute wanted[] = {static_cast<CUpointer_attribute>(999)};
        void* outputs[] = {&value};
        r("plural 999", drv.cuPointerGetAttributes(1, wanted, outputs, memory));
        r("plural of 0", drv.cuPointerGetAttributes(0, wanted, outputs, memory));
        r("plural null list", drv.cuPointerGetAttributes(1, nullptr, outputs, memory));
    });
    cases.add("pointer/registered", [](Record& r) {
        void* memory = std::aligned_alloc(4096, 8192);
        const auto address = reinterpret_cast<CUdeviceptr>(memory);
        r("register", drv.cuMemHostRegister(memory, 8192, 0));
        r("register again", drv.cuMemHostRegister(memory, 8192, 0));
        record_plural(r, "registered", address);
        record_plural(r, "inside", address + 100);
        unsigned flags = 99;
        r("flags", drv.cuMemHostGetFlags(&flags, memory));
        CUdeviceptr seen = 0;
        r("device pointer", drv.cuMemHostGetDevicePointer(&seen, memory, 0));
        r("is same", seen == address);
        r("free as pinned", drv.cuMemFreeHost(memory));
        r("unregister", drv.cuMemHostUnregister(memory));
        r("unregister again", drv.cuMemHostUnregister(memory));
        record_plural(r, "after", address);
        r("register null", drv.cuMemHostRegister(nullptr, 4096, 0));
        r("register size 0", drv.cuMemHostRegister(memory, 0, 0));
        std::free(memory);
    });
}

void add_allocation_cases(Cases& cases) {
    cases.add("memory/alloc_and_free", [](Record& r) {
        CUdeviceptr address = 0;
        r("size 0", drv.cuMemAlloc(&address, 0));
        r("null output", drv.cuMemAlloc(nullptr, 4));
        r("2^60", drv.cuMemAlloc(&address, size_t{1} << 60));
        r("free 0", drv.cuMemFree(0));
        r("free garbage", drv.cuMemFree(kGarbage));
        r("alloc", drv.cuMemAlloc(&address, 1000));
        r("aligned to 512", address % 512 == 0);
        r("free inside", drv.cuMemFree(address + 256));
        CUdeviceptr base = 0;
        size_t size = 0;
        r("range", drv.cuMemGetAddressRange(&base, &size, address + 10));
        r("base", base == address);
        r("size", size);
        r("range of nothing wanted", drv.cuMemGetAddressRange(nullptr, nullptr, address));
        r("range of garbage", drv.cuMemGetAddressRange(&base, &size, kGarbage));
        r("free", drv.cuMemFree(address));
        r("free twice", drv.cuMemFree(address));
    });
    cases.add("memory/pinned", [](Record& r) {
        void* memory = nullptr;
        r("size 0", drv.cuMemAllocHost(&memory, 0));
        r("null output", drv.cuMemAllocHost(nullptr, 4));
        r("free null", drv.cuMemFreeHost(nullptr));
        int on_stack = 0;
        r("free stack", drv.cuMemFreeHost(&on_stack));
        r("alloc", drv.cuMemAllocHost(&memory, 100));
        r("device free of it", drv.cuMemFree(reinterpret_cast<CUdeviceptr>(memory)));
        unsigned flags = 99;
        r("flags", drv.cuMemHostGetFlags(&flags, memory));
        r("flags value", flags);
        r("free", drv.cuMemFreeHost(memory));
        r("host alloc flags 7", drv.cuMemHostAlloc(&memory, 64, 7));
        r("flags", drv.cuMemHostGetFlags(&flags, memory));
        r("flags value", flags);
        r("free", drv.cuMemFreeHost(memory));
        r("host alloc flags 64", drv.cuMemHostAlloc(&memory, 64, 64));
        Ints device_memory;
        r("free of device memory", drv.cuMemFreeHost(reinterpret_cast<void*>(CUdeviceptr{device_memory})));
    });
    cases.add("memory/managed_arguments", [](Record& r) {
        CUdeviceptr address = 0;
        r("size 0", drv.cuMemAllocManaged(&address, 0, CU_MEM_ATTACH_GLOBAL));
        r("flags 0", drv.cuMemAllocManaged(&address, 64, 0));
        r("flags single", drv.cuMemAllocManaged(&address, 64, CU_MEM_ATTACH_SINGLE));
        r("host attach", drv.cuMemAllocManaged(&address, 64, CU_MEM_ATTACH_HOST));
        r("free", drv.cuMemFree(address));
    });
    cases.add("memory/info", [](Record& r) {
        size_t available = 0, total = 0;
        r("info", drv.cuMemGetInfo(&available, &total));
        r("sane", available > 0 && available <= total);
        r("nulls", drv.cuMemGetInfo(nullptr, nullptr));
    });
}

void add_copy_cases(Cases& cases) {
    cases.add("copy/arguments", [](Record& r) {
        Ints a(4, 1), b(4);
        const Stream stream = new_stream();
        int host[4] = {};
        r("size 0", drv.cuMemcpyDtoD(a, b, 0));
        r("size 0 of null", drv.cuMemcpyDtoD(0, 0, 0));
        r("null", drv.cuMemcpyDtoD(a, 0, 4));
        r("garbage", drv.cuMemcpyDtoD(a, kGarbage, 4));
        r("to host null", drv.cuMemcpyDtoH(nullptr, a, 4));
        r("from garbage to host", drv.cuMemcpyDtoH(host, kGarbage, 4));
        r("from host null", drv.cuMemcpyHtoD(a, nullptr, 4));
        r("to garbage", drv.cuMemcpyHtoD(kGarbage, host, 4));
        r("unified to pageable", drv.cuMemcpy(reinterpret_cast<CUdeviceptr>(host), a, 4));
        r("value", host[0]);
        r("async pageable", drv.cuMemcpyDtoHAsync(host + 1, a, 4, stream));
        r("async size 0", drv.cuMemcpyDtoDAsync(a, b, 0, stream));
        r("device called host", drv.cuMemcpyHtoD(a, reinterpret_cast<const void*>(CUdeviceptr{b}), 4));
        r("host called device", drv.cuMemcpyDtoD(a, reinterpret_cast<CUdeviceptr>(host), 4));
        r("sync", drv.cuStreamSynchronize(stream));
        r("overlap", drv.cuMemcpyDtoD(a, a, 16));
    });
    cases.add("fill/arguments", [](Record& r) {
        Ints a(16);
        const Stream stream = new_stream();
        r("count 0", drv.cuMemsetD8(a, 1, 0));
        r("garbage", drv.cuMemsetD8(kGarbage, 1, 4));
        r("null", drv.cuMemsetD8(0, 1, 4));
        r("unaligned 16", drv.cuMemsetD16(a + 1, 1, 4));
        r("unaligned 32", drv.cuMemsetD32(a + 2, 1, 4));
        r("async garbage", drv.cuMemsetD32Async(kGarbage, 1, 4, stream));
        r("async unaligned", drv.cuMemsetD32Async(a + 2, 1, 4, stream));
        r("2d pitch below width", drv.cuMemsetD2D8(a, 4, 1, 8, 2));
        r("2d width 0", drv.cuMemsetD2D8(a, 16, 1, 0, 2));
        r("2d", drv.cuMemsetD2D32(a, 16, 7, 2, 2));
        r("values", std::to_string(a.get(0)) + " " + std::to_string(a.get(2)) + " " + std::to_string(a.get(4)));
        int pageable[4] = {};
        r("pageable", drv.cuMemsetD8(reinterpret_cast<CUdeviceptr>(pageable), 1, 4));
        drv.cuStreamSynchronize(stream);
    });
    cases.add("copy/2d_and_3d", [](Record& r) {
        Ints a(64, 3), b(64);
        CUDA_MEMCPY2D flat{};
        flat.srcMemoryType = flat.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        flat.srcDevice = a;
        flat.dstDevice = b;
        flat.srcPitch = flat.dstPitch = 32;
        flat.WidthInBytes = 8;
        flat.Height = 2;
        r("2d", drv.cuMemcpy2D(&flat));
        r("values", std::to_string(b.get(1)) + " " + std::to_string(b.get(2)) + " " + std::to_string(b.get(8)));
        flat.srcPitch = 4;
        r("pitch below width", drv.cuMemcpy2D(&flat));
        flat.srcPitch = 32;
        flat.WidthInBytes = 0;
        r("width 0", drv.cuMemcpy2D(&flat));
        r("null", drv.cuMemcpy2D(nullptr));
        CUDA_MEMCPY3D deep = copy_params(b, a, 8);
        deep.Height = 2;
        deep.Depth = 2;
        deep.srcPitch = deep.dstPitch = 16;
        deep.srcHeight = deep.dstHeight = 4;
        b.set(0, 16);
        r("3d", drv.cuMemcpy3D(&deep));
        r("second slice", b.get(16));
        deep.srcHeight = 1;
        r("height below rows", drv.cuMemcpy3D(&deep));
    });
}

void add_pool_cases(Cases& cases) {
    const auto props = [] {
        CUmemPoolProps made{};
        made.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        made.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        made.location.id = device();
        return made;
    };
    cases.add("pool/create", [props](Record& r) {
        CUmemoryPool pool = nullptr;
        CUmemPoolProps wanted = props();
        r("null output", drv.cuMemPoolCreate(nullptr, &wanted));
        r("null props", drv.cuMemPoolCreate(&pool, nullptr));
        wanted.location.id = 999;
        r("device 999", drv.cuMemPoolCreate(&pool, &wanted));
        wanted = props();
        wanted.allocType = CU_MEM_ALLOCATION_TYPE_INVALID;
        r("invalid type", drv.cuMemPoolCreate(&pool, &wanted));
        wanted = props();
        r("create", drv.cuMemPoolCreate(&pool, &wanted));
        r("destroy", drv.cuMemPoolDestroy(pool));
        r("destroy null", drv.cuMemPoolDestroy(nullptr));
        CUmemoryPool standard = nullptr, current = nullptr;
        r("default", drv.cuDeviceGetDefaultMemPool(&standard, device()));
        r("current", drv.cuDeviceGetMemPool(&current, device()));
        r("are same", standard == current);
        r("destroy default", drv.cuMemPoolDestroy(standard));
        r("set null", drv.cuDeviceSetMemPool(device(), nullptr));
        r("default of 999", drv.cuDeviceGetDefaultMemPool(&standard, 999));
    });
    cases.add("pool/attributes", [props](Record& r) {
        CUmemoryPool pool = nullptr;
        const CUmemPoolProps wanted = props();
        must(drv.cuMemPoolCreate(&pool, &wanted), "create");
        for (int i = 1; i <= 8; ++i) {
            cuuint64_t value = 0;
            const auto attribute = static_cast<CUmemPool_attribute>(i);
            r("get " + std::to_string(i), drv.cuMemPoolGetAttribute(pool, attribute, &value));
            r("value " + std::to_string(i), value);
        }
        cuuint64_t value = 4096;
        r("get 99", drv.cuMemPoolGetAttribute(pool, static_cast<CUmemPool_attribute>(99), &value));
        value = 4096;
        r("set threshold", drv.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value));
        value = 0;
        r("get threshold", drv.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value));
        r("threshold", value);
        value = 5;
        r("set used high 5", drv.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &value));
        r("set used current", drv.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value));
        value = 0;
        r("set used high 0", drv.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &value));
        r("null value", drv.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, nullptr));
        r("null pool", drv.cuMemPoolGetAttribute(nullptr, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &value));
        CUmemLocation location = wanted.location;
        CUmemAccess_flags flags{};
        r("access", drv.cuMemPoolGetAccess(&flags, pool, &location));
        r("access value", flags);
        CUmemAccessDesc access{};
        access.location = location;
        access.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
        r("revoke own access", drv.cuMemPoolSetAccess(pool, &access, 1));
        access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        r("grant own access", drv.cuMemPoolSetAccess(pool, &access, 1));
        access.location.id = 999;
        r("grant to 999", drv.cuMemPoolSetAccess(pool, &access, 1));
        r("trim", drv.cuMemPoolTrimTo(pool, 0));
        drv.cuMemPoolDestroy(pool);
    });
    cases.add("pool/counts", [props](Record& r) {
        CUmemoryPool pool = nullptr;
        const CUmemPoolProps wanted = props();
        must(drv.cuMemPoolCreate(&pool, &wanted), "create");
        const Stream stream = new_stream();
        const auto tell = [&](const std::string& when) {
            cuuint64_t used = 0, reserved = 0, high = 0;
            must(drv.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used), "used");
            must(drv.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved), "reserved");
            must(drv.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &high), "high");
            r(when, std::to_string(used) + " of " + std::to_string(reserved) + ", high " + std::to_string(high));
        };
        CUdeviceptr first = 0, second = 0;
        r("alloc", drv.cuMemAllocFromPoolAsync(&first, 1000, pool, stream));
        tell("one of 1000");
        r("alloc", drv.cuMemAllocFromPoolAsync(&second, 1 << 20, pool, stream));
        tell("and one of 2^20");
        r("free", drv.cuMemFreeAsync(first, stream));
        drv.cuStreamSynchronize(stream);
        tell("first freed");
        r("sync free", drv.cuMemFree(second));
        tell("second freed");
        drv.cuMemPoolTrimTo(pool, 0);
        tell("trimmed");
        drv.cuMemPoolDestroy(pool);
    });
    cases.add("pool/stream_ordered_misuse", [](Record& r) {
        const Stream stream = new_stream();
        CUdeviceptr address = 0;
        Ints plain;
        r("size 0", drv.cuMemAllocAsync(&address, 0, stream));
        r("size 0 address is 0", address == 0);
        r("null output", drv.cuMemAllocAsync(nullptr, 64, stream));
        r("null pool", drv.cuMemAllocFromPoolAsync(&address, 64, nullptr, stream));
        r("free 0", drv.cuMemFreeAsync(0, stream));
        r("free garbage", drv.cuMemFreeAsync(kGarbage, stream));
        CUdeviceptr other = 0;
        must(drv.cuMemAlloc(&other, 64), "alloc");
        r("free cuMemAlloc memory", drv.cuMemFreeAsync(other, stream));
        drv.cuStreamSynchronize(stream);
        must(drv.cuMemAllocAsync(&address, 64, stream), "alloc");
        r("free inside", drv.cuMemFreeAsync(address + 16, stream));
        r("free", drv.cuMemFreeAsync(address, stream));
        r("free twice", drv.cuMemFreeAsync(address, stream));
        r("sync", drv.cuStreamSynchronize(stream));
    });
    cases.add("pool/destroyed_with_memory_in_use", [props](Record& r) {
        CUmemoryPool pool = nullptr;
        const CUmemPoolProps wanted = props();
        must(drv.cuMemPoolCreate(&pool, &wanted), "create");
        const Stream stream = new_stream();
        CUdeviceptr address = 0;
        must(drv.cuMemAllocFromPoolAsync(&address, 64, pool, stream), "alloc");
        r("destroy", drv.cuMemPoolDestroy(pool));
        r("use", drv.cuMemsetD32Async(address, 3, 1, stream));
        r("free", drv.cuMemFreeAsync(address, stream));
        r("sync", drv.cuStreamSynchronize(stream));
    });
}

}  // namespace

void add_memory_cases(Cases& cases) {
    add_pointer_cases(cases);
    add_allocation_cases(cases);
    add_copy_cases(cases);
    add_pool_cases(cases);
}

}  // namespace conf
