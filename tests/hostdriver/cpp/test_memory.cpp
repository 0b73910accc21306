// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory: allocations, queries about them, copies in every direction, fills, pools.
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <numeric>
#include <vector>

#include "runtime_rig.hpp"

using namespace rig;

namespace {

// Guard words around the memory that a call writes.
struct Guarded {
    std::uint32_t before = 0xabababab;
    std::uint32_t values[64] = {};
    std::uint32_t after = 0xcdcdcdcd;
    bool intact() const { return before == 0xabababab && after == 0xcdcdcdcd; }
};

CUmemorytype type_of(const void* address) {
    CUmemorytype type = static_cast<CUmemorytype>(0);
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, reinterpret_cast<CUdeviceptr>(address)));
    return type;
}

CUdeviceptr address(const void* pointer) {
    return reinterpret_cast<CUdeviceptr>(pointer);
}

}  // namespace

LAW(Memory, IsOfTheKindItWasAllocatedAs) {
    context();
    CUdeviceptr device = 0, managed = 0;
    void* pinned = nullptr;
    static std::uint32_t registered[1024];
    OK(cuMemAlloc(&device, 1000));
    OK(cuMemAllocManaged(&managed, 1000, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemAllocHost(&pinned, 1000));
    OK(cuMemHostRegister(registered, sizeof registered, 0));
    EQUAL(device % 256, 0u);
    EQUAL(type_of(reinterpret_cast<void*>(device)), CU_MEMORYTYPE_DEVICE);
    EQUAL(type_of(reinterpret_cast<void*>(device + 999)), CU_MEMORYTYPE_DEVICE);
    EQUAL(type_of(reinterpret_cast<void*>(managed)), CU_MEMORYTYPE_DEVICE);
    EQUAL(type_of(pinned), CU_MEMORYTYPE_HOST);
    EQUAL(type_of(registered + 1023), CU_MEMORYTYPE_HOST);
    CUdeviceptr base = 0;
    std::size_t size = 0;
    OK(cuMemGetAddressRange(&base, &size, device + 10));
    EQUAL(base, device);
    EQUAL(size, 1000u);
    int ordinal = 9;
    unsigned is_managed = 9;
    CUmemorytype type{};
    CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                   CU_POINTER_ATTRIBUTE_IS_MANAGED};
    void* values[] = {&type, &ordinal, &is_managed};
    OK(cuPointerGetAttributes(3, names, values, managed));
    EQUAL(type, CU_MEMORYTYPE_DEVICE);
    EQUAL(ordinal, 0);
    EQUAL(is_managed, 1u);
    int local = 0;
    OK(cuPointerGetAttributes(3, names, values, address(&local)));  // pageable: no error, default values
    EQUAL(static_cast<int>(type), 0);
    EQUAL(ordinal, -2);
    EQUAL(is_managed, 0u);
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&type, names[0], address(&local)));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&type, names[0], device + 1000));
    OK(cuMemFree(device));
    OK(cuMemFree(managed));
    OK(cuMemFreeHost(pinned));
    OK(cuMemHostUnregister(registered));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&type, names[0], device));
}

LAW(Memory, MisuseIsAnErrorAndNothingElse) {
    context();
    CUdeviceptr device = 0;
    void* pinned = nullptr;
    int local = 0;
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(nullptr, 4));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&device, 0));
    ANSWERS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&device, std::size_t{1} << 60));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemAllocManaged(&device, 4, 0));
    OK(cuMemAlloc(&device, 64));
    OK(cuMemAllocHost(&pinned, 64));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemFree(device + 4));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemFree(address(&local)));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemFree(address(pinned)));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(reinterpret_cast<void*>(device)));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(&local));
    ANSWERS(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(&local));
    ANSWERS(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(pinned, 64, 0));
    OK(cuMemFree(device));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemFree(device));
    OK(cuMemFreeHost(pinned));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(pinned));
    OK(cuMemFree(0));
}

LAW(Memory, FreeWaitsForTheWorkInFlight) {
    context();
    const Stream stream;
    const Buffer<std::uint32_t> done(1);
    CUdeviceptr memory = 0;
    OK(cuMemAlloc(&memory, 1 << 22));
    OK(launch("slow", 1, 1, stream, done.data(), 3000u));
    OK(cuMemsetD8Async(memory, 1, 1 << 22, stream));
    OK(cuMemFree(memory));
    EQUAL(*done.data(), 1u);
}

LAW(Memory, LargeAndSmallBlocksHoldTheirBytes) {
    context();
    for (const std::size_t bytes : {1ul, 511ul, 512ul, (1ul << 20) - 1, 1ul << 20, (1ul << 21) + 1, 5ul << 20}) {
        CUdeviceptr memory = 0;
        OK(cuMemAlloc(&memory, bytes));
        OK(cuMemsetD8(memory, 0x5a, bytes));
        unsigned char last = 0;
        OK(cuMemcpyDtoH(&last, memory + bytes - 1, 1));
        EQUAL(last, 0x5a);
        ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(memory, 0, bytes + 1));
        OK(cuMemFree(memory));
    }
}

// The first range of a device's addresses has 4 GiB, the next has 16 GiB. The test touches only the first page.
LAW(Memory, OfMoreThanOneRangeHoldsItsBytesAndIsUsedAgain) {
    context();
    constexpr std::size_t kEach = std::size_t{1} << 30;
    for (int round = 0; round < 2; ++round) {
        std::vector<CUdeviceptr> all(7);
        for (std::size_t i = 0; i < all.size(); ++i) {
            OK(cuMemAlloc(&all[i], kEach));
            OK(cuMemsetD32(all[i], static_cast<unsigned>(i), 1));
        }
        for (std::size_t i = 0; i < all.size(); ++i) {
            unsigned found = 99;
            OK(cuMemcpyDtoH(&found, all[i], sizeof found));
            EQUAL(found, i);
            CUdeviceptr base = 0;
            OK(cuMemGetAddressRange(&base, nullptr, all[i] + kEach - 1));
            EQUAL(base, all[i]);
        }
        for (const CUdeviceptr one : all) OK(cuMemFree(one));
        for (const CUdeviceptr one : all) EQUAL(cuMemFree(one), CUDA_ERROR_INVALID_VALUE);
    }
}

LAW_ALONE(Memory, IsGivenUpToTheLimitOfAddresses) {
    context();
    constexpr std::size_t kRoom = std::size_t{512} << 20, kEach = std::size_t{8} << 20;
    CUdeviceptr one = 0;
    rlimit limit{};
    EQUAL(getrlimit(RLIMIT_AS, &limit), 0);
    unsigned long pages = 0;
    std::FILE* const file = std::fopen("/proc/self/statm", "r");
    CHECK(file != nullptr && std::fscanf(file, "%lu", &pages) == 1);
    std::fclose(file);
    const rlimit low{pages * 4096 + kRoom, limit.rlim_max};
    EQUAL(setrlimit(RLIMIT_AS, &low), 0);
    std::vector<CUdeviceptr> all;
    CUresult last = CUDA_SUCCESS;
    while ((last = cuMemAlloc(&one, kEach)) == CUDA_SUCCESS) all.push_back(one);
    EQUAL(last, CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(all.size() * kEach > kRoom / 2);
    for (const CUdeviceptr each : all) OK(cuMemFree(each));
    for (CUdeviceptr& each : all) OK(cuMemAlloc(&each, kEach));
    EQUAL(setrlimit(RLIMIT_AS, &limit), 0);
    OK(cuMemAlloc(&one, kEach));
}

LAW(Copy, MovesEveryByteInEveryDirection) {
    context();
    const Buffer<std::uint32_t> device(64), second(64);
    CUdeviceptr managed = 0;
    void* pinned = nullptr;
    OK(cuMemAllocManaged(&managed, 256, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemAllocHost(&pinned, 256));
    Guarded in, out;
    std::iota(std::begin(in.values), std::end(in.values), 1u);
    const CUdeviceptr places[] = {device, second, managed, address(pinned), address(&in.values)};
    const Stream stream;
    for (const CUdeviceptr from : places)
        for (const CUdeviceptr to : places) {
            if (from == to) continue;
            for (const bool async : {false, true}) {
                OK(cuMemcpy(from, address(in.values), from == address(in.values) ? 0 : 256));
                if (async)
                    OK(cuMemcpyAsync(to, from, 256, stream));
                else
                    OK(cuMemcpy(to, from, 256));
                OK(cuCtxSynchronize());
                std::memset(out.values, 0, 256);
                OK(cuMemcpy(address(out.values), to, 256));
                CHECK(std::memcmp(out.values, in.values, 256) == 0 && in.intact() && out.intact());
            }
        }
    OK(cuMemcpyHtoD(device, in.values, 256));
    OK(cuMemcpyDtoD(second, device, 256));
    OK(cuMemcpyDtoH(out.values, second, 256));
    CHECK(std::memcmp(out.values, in.values, 256) == 0);
    OK(cuMemcpyHtoDAsync(device, pinned, 256, stream));
    OK(cuMemcpyDtoDAsync(second, device, 256, stream));
    OK(cuMemcpyDtoHAsync(out.values, second, 256, stream));
    OK(cuStreamSynchronize(stream));
    CHECK(std::memcmp(out.values, pinned, 256) == 0 && out.intact());
    OK(cuMemFree(managed));
    OK(cuMemFreeHost(pinned));
}

LAW(Copy, OfPageableMemoryTakesTheBytesAtTheCall) {
    if (check::workers() == 0) return;
    Gate gate;
    const Stream stream;
    const Buffer<std::uint32_t> device(1);
    std::uint32_t value = 1;
    OK(launch("spin", 1, 1, stream, gate.flag()));
    OK(cuMemcpyHtoDAsync(device, &value, 4, stream));
    value = 2;  // too late
    gate.open();
    OK(cuStreamSynchronize(stream));
    EQUAL(*device.data(), 1u);
}

LAW(Copy, ToPageableMemoryIsDoneAtReturn) {
    const Stream stream;
    const Buffer<std::uint32_t> device(1), done(1);
    OK(cuMemsetD32(device, 9, 1));
    OK(cuStreamSynchronize(nullptr));
    OK(launch("slow", 1, 1, stream, done.data(), 2000u));
    std::uint32_t value = 0;
    OK(cuMemcpyDtoHAsync(&value, device, 4, stream));
    EQUAL(value, 9u);
    EQUAL(*done.data(), 1u);
}

LAW(Copy, RefusesWhatIsNoDeviceMemoryOrTooLong) {
    const Buffer<std::uint32_t> device(16);
    std::uint32_t local[16] = {};
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(address(local), local, 4));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(local, address(local), 4));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoD(device, address(local), 4));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(device, local, 65));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(device + 4, local, 64));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(device, nullptr, 4));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(nullptr, device, 4));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemcpy(0, device, 4));
    OK(cuMemcpyHtoD(0, nullptr, 0));
}

LAW(Copy, OfRowsAndPlanesFollowsThePitches) {
    // A 2 x 3 x 4-byte box out of a 4 x 5 x 8-byte box.
    const Buffer<unsigned char> from(4 * 5 * 8), to(2 * 3 * 4);
    std::vector<unsigned char> bytes(4 * 5 * 8);
    std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(0));
    OK(cuMemcpyHtoD(from, bytes.data(), bytes.size()));
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = from;
    copy.srcPitch = 8;
    copy.srcHeight = 5;
    copy.srcXInBytes = 2;
    copy.srcY = 1;
    copy.srcZ = 1;
    copy.dstDevice = to;
    copy.dstPitch = 4;
    copy.dstHeight = 3;
    copy.WidthInBytes = 4;
    copy.Height = 3;
    copy.Depth = 2;
    OK(cuMemcpy3D(&copy));
    const auto result = to.read();
    for (std::size_t z = 0; z < 2; ++z)
        for (std::size_t y = 0; y < 3; ++y)
            for (std::size_t x = 0; x < 4; ++x)
                EQUAL(int{result[(z * 3 + y) * 4 + x]}, static_cast<int>((z + 1) * 40 + (y + 1) * 8 + x + 2));
    copy.srcZ = 3;  // past the end
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D(&copy));
    copy.srcZ = 0;
    copy.srcPitch = 5;  // less than x + width
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DAsync(&copy, nullptr));
    CUDA_MEMCPY2D flat{};
    flat.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    flat.srcDevice = from;
    flat.srcPitch = 8;
    flat.dstMemoryType = CU_MEMORYTYPE_HOST;
    unsigned char rows[2][4] = {};
    flat.dstHost = rows;
    flat.dstPitch = 4;
    flat.WidthInBytes = 3;
    flat.Height = 2;
    OK(cuMemcpy2D(&flat));
    EQUAL(int{rows[1][2]}, 10);
    EQUAL(int{rows[0][3]}, 0);
    flat.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    ANSWERS(CUDA_ERROR_NOT_SUPPORTED, cuMemcpy2D(&flat));
}

LAW(Fill, WritesItsElementsAndNoOthers) {
    const Buffer<std::uint32_t> device(16);
    OK(cuMemsetD32(device + 4, 0x01020304, 3));
    OK(cuMemsetD16(device + 20, 0x0506, 1));
    OK(cuMemsetD8(device + 24, 7, 1));
    OK(cuMemsetD2D32(device + 32, 16, 9, 1, 2));
    const auto values = device.read();
    const std::uint32_t expected[] = {0, 0x01020304, 0x01020304, 0x01020304, 0, 0x0506, 7, 0, 9, 0, 0, 0, 9, 0, 0, 0};
    CHECK(std::equal(values.begin(), values.end(), expected));
    const Stream stream;
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemsetD32Async(device + 2, 0, 1, stream));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemsetD16Async(device + 1, 0, 1, stream));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemsetD8Async(device, 0, 65, stream));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D32Async(device, 6, 0, 1, 2, stream));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D8Async(device, 60, 0, 8, 2, stream));
    OK(cuMemsetD8Async(0, 0, 0, stream));
}

LAW(Pool, GivesMemoryInStreamOrder) {
    context();
    const Stream stream;
    for (int i = 0; i < 200; ++i) {
        CUdeviceptr memory = 0;
        OK(cuMemAllocAsync(&memory, 4096, stream));
        OK(cuMemsetD32Async(memory, static_cast<unsigned>(i), 1024, stream));
        std::uint32_t value = 0;
        if (i % 10 == 0) {
            OK(cuMemcpyDtoHAsync(&value, memory + 4092, 4, stream));
            EQUAL(value, static_cast<unsigned>(i));
        }
        OK(cuMemFreeAsync(memory, stream));
        ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(memory, stream));
    }
    OK(cuStreamSynchronize(stream));
}

LAW(Pool, CountsWhatItGaveAndKeepsUpToItsThreshold) {
    context();
    CUmemPoolProps props{};
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
    CUmemoryPool pool = nullptr;
    OK(cuMemPoolCreate(&pool, &props));
    const Stream stream;
    const auto number = [&](CUmemPool_attribute which) {
        cuuint64_t value = 99;
        OK(cuMemPoolGetAttribute(pool, which, &value));
        return value;
    };
    cuuint64_t threshold = 1 << 20;
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    CUdeviceptr one = 0, two = 0;
    OK(cuMemAllocFromPoolAsync(&one, 1 << 20, pool, stream));
    OK(cuMemAllocFromPoolAsync(&two, 1 << 20, pool, stream));
    EQUAL(number(CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 2u << 20);
    OK(cuMemFreeAsync(one, stream));
    OK(cuMemFreeAsync(two, stream));
    OK(cuStreamSynchronize(stream));
    EQUAL(number(CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0u);
    EQUAL(number(CU_MEMPOOL_ATTR_USED_MEM_HIGH), 2u << 20);
    EQUAL(number(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 1u << 20);
    OK(cuMemPoolTrimTo(pool, 0));
    EQUAL(number(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0u);
    cuuint64_t zero = 0, one_byte = 1;
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &one_byte));
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &zero));
    EQUAL(number(CU_MEMPOOL_ATTR_USED_MEM_HIGH), 0u);
    // If the device's current pool is destroyed while it has allocations, it ends when they are freed.
    OK(cuDeviceSetMemPool(0, pool));
    OK(cuMemAllocAsync(&one, 64, stream));
    EQUAL(number(CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 64u);
    OK(cuMemPoolDestroy(pool));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemPoolTrimTo(pool, 0));
    CUmemoryPool current = nullptr, standard = nullptr;
    OK(cuDeviceGetMemPool(&current, 0));
    OK(cuDeviceGetDefaultMemPool(&standard, 0));
    EQUAL(current, standard);
    OK(cuMemsetD8Async(one, 1, 64, stream));
    OK(cuMemFreeAsync(one, stream));
    OK(cuStreamSynchronize(stream));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(standard));
}

// Pools on an H200 grow by 32 MiB; the host driver does the same.
LAW(Pool, MaximumSizeIsALimitOfWholeChunks) {
    constexpr std::size_t kChunk = std::size_t{32} << 20;
    context();
    CUmemPoolProps props{};
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
    props.maxSize = 4096;
    CUmemoryPool pool = nullptr;
    OK(cuMemPoolCreate(&pool, &props));
    CUdeviceptr memory = 0;
    ANSWERS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAllocFromPoolAsync(&memory, kChunk + 1, pool, nullptr));
    OK(cuMemAllocFromPoolAsync(&memory, kChunk, pool, nullptr));
    OK(cuMemFree(memory));
    OK(cuMemPoolDestroy(pool));
}

LAW(Pool, IsUsedByManyThreadsAtOnce) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([t] {
            context();
            const Stream stream;
            std::vector<CUdeviceptr> held;
            for (unsigned i = 0; i < 300; ++i) {
                CUdeviceptr memory = 0;
                OK(cuMemAllocAsync(&memory, 64u << (i % 8), stream));
                OK(cuMemsetD8Async(memory, static_cast<unsigned char>(t), 64u << (i % 8), stream));
                held.push_back(memory);
                if (held.size() > 10) {
                    OK(cuMemFreeAsync(held.front(), stream));
                    held.erase(held.begin());
                }
            }
            for (const CUdeviceptr memory : held) OK(cuMemFreeAsync(memory, stream));
            OK(cuStreamSynchronize(stream));
        });
    for (std::thread& thread : threads) thread.join();
}

namespace {

struct LateCase {
    CUmemAllocationType type = CU_MEM_ALLOCATION_TYPE_PINNED;
    CUmemLocationType place = CU_MEM_LOCATION_TYPE_DEVICE;
    CUmemAllocationHandleType handles = CU_MEM_HANDLE_TYPE_NONE;
    bool imported = false;  // the memory is used through an import of the pool into the same process
};

CUmemoryPool make_pool(const LateCase& of) {
    CUmemPoolProps props{};
    props.allocType = of.type;
    props.location.type = of.place;
    props.handleTypes = of.handles;
    CUmemoryPool pool = nullptr;
    OK(cuMemPoolCreate(&pool, &props));
    if (of.place != CU_MEM_LOCATION_TYPE_HOST) return pool;
    CUmemAccessDesc access{};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    OK(cuMemPoolSetAccess(pool, &access, 1));
    return pool;
}

CUmemoryPool import_pool(CUmemoryPool pool, CUdeviceptr memory, CUdeviceptr* imported_memory) {
    int descriptor = -1;
    OK(cuMemPoolExportToShareableHandle(&descriptor, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CUmemoryPool imported = nullptr;
    void* const handle = reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor));
    OK(cuMemPoolImportFromShareableHandle(&imported, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    close(descriptor);
    CUmemPoolPtrExportData data{};
    OK(cuMemPoolExportPointer(&data, memory));
    OK(cuMemPoolImportPointer(imported_memory, imported, &data));
    return imported;
}

// Frees memory in the order of the legacy stream, and destroys the pool, while a copy and a fill of the memory wait in
// a non-blocking stream. Returns the result of that stream's synchronisation. Memory that the program allocates
// meanwhile at the freed addresses keeps its bytes.
CUresult free_before_use(const LateCase& of, std::size_t bytes) {
    context();
    const Stream stream;
    const Buffer<std::uint8_t> copied(bytes);
    Gate gate;
    const CUmemoryPool pool = make_pool(of);
    CUdeviceptr memory = 0, imported_memory = 0;
    OK(cuMemAllocFromPoolAsync(&memory, bytes, pool, nullptr));
    const CUmemoryPool imported = of.imported ? import_pool(pool, memory, &imported_memory) : nullptr;
    const CUdeviceptr used = of.imported ? imported_memory : memory;
    OK(launch("spin", 1, 1, stream, gate.flag()));
    OK(cuMemcpyAsync(copied, used, bytes, stream));
    OK(cuMemsetD8Async(used, 7, bytes, stream));
    if (of.imported) {
        OK(cuMemFreeAsync(used, nullptr));
        OK(cuMemPoolDestroy(imported));
    }
    OK(cuMemFreeAsync(memory, nullptr));
    OK(cuMemPoolDestroy(pool));
    OK(cuStreamSynchronize(nullptr));
    std::vector<std::vector<std::uint8_t>> others(16, std::vector<std::uint8_t>(bytes, 1));
    gate.open();
    const CUresult answer = cuStreamSynchronize(stream);
    for (const auto& other : others) CHECK(other == std::vector<std::uint8_t>(bytes, 1));
    return answer;
}

constexpr LateCase kHostPool{CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_HOST};
constexpr LateCase kManagedPool{CU_MEM_ALLOCATION_TYPE_MANAGED, CU_MEM_LOCATION_TYPE_DEVICE};
constexpr LateCase kSharedPool{CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_DEVICE,
                               CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR};
constexpr LateCase kImportedPool{CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_DEVICE,
                                 CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, true};
constexpr std::size_t kSmallBlock = 64 << 10, kLargeBlock = 8 << 20;

bool works_or_is_illegal(CUresult answer) {
    return answer == CUDA_SUCCESS || answer == CUDA_ERROR_ILLEGAL_ADDRESS;
}

}  // namespace

LAW_ALONE(Pool, SmallMemoryFreedBeforeItsUseHarmsNothing) {
    for (const LateCase& of : {LateCase{}, kHostPool, kManagedPool}) OK(free_before_use(of, kSmallBlock));
}

LAW_ALONE(Pool, LargeMemoryFreedBeforeItsUseIsAnErrorOfTheStream) {
    CHECK(works_or_is_illegal(free_before_use({}, kLargeBlock)));
}

LAW_ALONE(Pool, LargeHostMemoryFreedBeforeItsUseIsAnErrorOfTheStream) {
    CHECK(works_or_is_illegal(free_before_use(kHostPool, kLargeBlock)));
}

LAW_ALONE(Pool, LargeManagedMemoryFreedBeforeItsUseIsAnErrorOfTheStream) {
    CHECK(works_or_is_illegal(free_before_use(kManagedPool, kLargeBlock)));
}

// The heap of a shared pool stays until the work that was queued before the pool's end is complete.
LAW_ALONE(Pool, SharedPoolEndsAfterTheWorkThatUsesIt) {
    for (const LateCase& of : {kSharedPool, kImportedPool})
        for (const std::size_t bytes : {kSmallBlock, kLargeBlock}) OK(free_before_use(of, bytes));
}
