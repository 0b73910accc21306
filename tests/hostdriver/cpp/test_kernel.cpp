// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels: blocks, shared memory, cooperation, arguments, attributes, images, and faults.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <numeric>

#include "runtime_rig.hpp"

using namespace rig;

LAW(Launch, RunsEveryThreadOfEveryBlockOnce) {
    const Stream stream;
    for (const unsigned grid : {1u, 2u, 7u, 100u, 5000u}) {
        const Buffer<std::uint32_t> out(grid * 33);
        for (int i = 0; i < 5; ++i) OK(launch("add", grid, 33, stream, out.data(), 1u));
        OK(cuStreamSynchronize(stream));
        for (const std::uint32_t value : out.read()) EQUAL(value, 5u);
    }
}

LAW(Launch, GivesEveryBlockItsDynamicSharedMemory) {
    const Stream stream;
    constexpr unsigned kBlocks = 300;
    const Buffer<std::uint64_t> out(kBlocks);
    std::uint64_t* p = out.data();
    void* params[] = {&p};
    for (const unsigned bytes : {4u, 1024u, 48u << 10}) {
        OK(cuLaunchKernel(function("shared_sum"), kBlocks, 1, 1, 1, 1, 1, bytes, stream, params, nullptr));
        OK(cuStreamSynchronize(stream));
        const std::uint64_t n = bytes / 4;
        for (std::uint64_t block = 0; block < kBlocks; ++block) EQUAL(p[block], n * (n - 1) / 2 + n * block);
    }
}

LAW(Launch, SharesALargeKernelAmongThreads) {
    // The blocks take long. With workers they overlap, and every block runs once.
    const Stream stream;
    constexpr unsigned kBlocks = 64;
    static std::atomic<int> ran, inside, most;
    ran = inside = most = 0;
    static const native::Kernels more{
        {"block",
         [](const cgh_launch*, const void*, void*, std::uint64_t first, std::uint64_t end) {
             const int now = inside.fetch_add(1) + 1;
             int known = most.load();
             while (known < now && !most.compare_exchange_weak(known, now)) {
             }
             std::this_thread::sleep_for(std::chrono::microseconds(300));
             ran.fetch_add(static_cast<int>(end - first));
             inside.fetch_sub(1);
         },
         {}}};
    const native::Library blocks("block");
    for (int i = 0; i < 3; ++i)
        OK(cuLaunchKernel(blocks.function("block"), kBlocks, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr));
    OK(cuStreamSynchronize(stream));
    EQUAL(ran.load(), static_cast<int>(3 * kBlocks));
    if (check::workers() >= 2) CHECK(most.load() >= 2);
    CHECK(most.load() <= static_cast<int>(std::max(1u, check::workers())) + 1);
}

namespace {

// A kernel of one block that offers a loop of `blocks` to the driver, and runs it itself if the driver refuses.
struct Offer {
    std::uint32_t blocks = 64;
    void (*body)(std::uint64_t first, std::uint64_t end);  // of the loop
    cgh_loop_cost cost{};
    std::atomic<int> offered{0}, accepted{0};
};

void offered_loop(const cgh_launch* launch, const void* params, void*, std::uint64_t first, std::uint64_t end) {
    const Offer& offer = *native::Args(params).next<Offer*>();
    EQUAL(launch->grid[0], offer.blocks);
    offer.body(first, end);
}

void offer(const cgh_launch* launch, const void* params, void*, std::uint64_t, std::uint64_t) {
    Offer& offer = *native::Args(params).next<Offer*>();
    ++offer.offered;
    if (cghGetServices()->share(offered_loop, launch, params, offer.blocks, &offer.cost) != 0)
        ++offer.accepted;
    else
        offer.body(0, offer.blocks);
}

const native::Kernels offers{{"offer", offer, {8}}};

CUresult run_offers(Offer& offer, int times) {
    const Stream stream;
    static const native::Library library("offer");
    Offer* given = &offer;
    void* params[] = {&given};
    for (int i = 0; i < times; ++i)
        OK(cuLaunchKernel(library.function("offer"), 1, 1, 1, 1, 1, 1, 0, stream, params, nullptr));
    return cuStreamSynchronize(stream);
}

std::atomic<int> ran, inside, most;

}  // namespace

LAW(SharedLoop, RunsEachBlockOnceOnSeveralThreads) {
    ran = inside = most = 0;
    Offer offer;
    offer.body = [](std::uint64_t first, std::uint64_t end) {
        const int now = inside.fetch_add(1) + 1;
        int known = most.load();
        while (known < now && !most.compare_exchange_weak(known, now)) {
        }
        std::this_thread::sleep_for(std::chrono::microseconds(300));
        ran.fetch_add(static_cast<int>(end - first));
        inside.fetch_sub(1);
    };
    OK(run_offers(offer, 3));
    EQUAL(ran.load(), 3 * 64);
    EQUAL(offer.accepted.load(), check::workers() >= 2 ? 3 : 0);
    if (check::workers() >= 2) CHECK(most.load() >= 2);
    CHECK(most.load() <= static_cast<int>(std::max(1u, check::workers())) + 1);
}

LAW(SharedLoop, IsSmallIfOneThreadIsFaster) {
    Offer offer;
    offer.blocks = 4;  // few, since the cost of taking a block is a part of the measured one
    const auto is_small = [&] { return offer.cost.small_blocks >= offer.blocks; };
    offer.body = [](std::uint64_t, std::uint64_t) {};
    for (int i = 0; i < 10000 && !is_small(); ++i) OK(run_offers(offer, 1));
    CHECK(is_small());
    if (check::workers() < 2) return;
    // A loop whose cost grows is measured again, and is large then.
    offer.body = [](std::uint64_t first, std::uint64_t end) {
        std::this_thread::sleep_for(std::chrono::microseconds(100 * (end - first)));
    };
    for (int i = 0; i < 10000 && is_small(); ++i) OK(run_offers(offer, 1));
    CHECK(!is_small());
}

namespace {

// A kernel that counts its blocks in memory of the thread, and adds the count to the sum in the thread's last call.
struct Collection {
    std::uint64_t most_threads = 64;
    std::atomic<std::uint64_t> sum{0}, begun{0}, ended{0}, refused{0};
};

void count_blocks(const cgh_launch* launch, const void* params, void*, std::uint64_t first, std::uint64_t end) {
    Collection& to = *native::Args(params).next<Collection*>();
    const bool whole = end - first == launch->grid[0];
    std::uint32_t is_new = 2;
    auto* const count = static_cast<std::uint64_t*>(
        cghGetServices()->collect(sizeof(std::uint64_t), to.most_threads, whole ? 1 : 0, &is_new));
    if (end > first) std::this_thread::sleep_for(std::chrono::microseconds(50));
    if (count == nullptr) {
        ++to.refused;
        to.sum += end - first;
        return;
    }
    CHECK(is_new <= 1);
    if (is_new == 1) {
        CHECK(end > first);
        *count = 0;
        ++to.begun;
    }
    *count += end - first;
    if (whole || end == first) {
        to.sum += *count;
        ++to.ended;
    }
}

const native::Kernels collecting{{"count_blocks", count_blocks, {8}}};
constexpr unsigned kCounted = 200;

void run_count(Collection& to, bool cooperative, unsigned blocks = kCounted) {
    const Stream stream;
    static const native::Library library("count_blocks");
    Collection* given = &to;
    void* params[] = {&given};
    const CUfunction counts = library.function("count_blocks");
    for (int i = 0; i < 3; ++i)
        OK(cooperative ? cuLaunchCooperativeKernel(counts, blocks, 1, 1, 1, 1, 1, 0, stream, params)
                       : cuLaunchKernel(counts, blocks, 1, 1, 1, 1, 1, 0, stream, params, nullptr));
    OK(cuStreamSynchronize(stream));
    EQUAL(to.sum.load(), std::uint64_t{3} * blocks);
    EQUAL(to.begun.load(), to.ended.load());
}

}  // namespace

LAW(Collection, IsOfOneThreadUntilItsLastCall) {
    Collection to;
    run_count(to, false);
    EQUAL(to.refused.load(), std::uint64_t{0});
    CHECK(to.begun.load() >= 3);
    CHECK(to.begun.load() <= 3 * std::uint64_t{std::max(1u, check::workers()) + 1});
}

LAW(Collection, IsRefusedToMoreThreadsThanItIsGoodFor) {
    Collection to;
    to.most_threads = 1;
    run_count(to, false);
    EQUAL(to.refused.load() == 0, cghConcurrency() == 1);
    Collection none;
    none.most_threads = 0;
    run_count(none, false);
    EQUAL(none.begun.load(), std::uint64_t{0});
}

LAW(Collection, IsRefusedToBlocksThatRunAtTheSameTime) {
    Collection to;
    run_count(to, true, 4);
    EQUAL(to.begun.load(), std::uint64_t{0});
}

LAW(Launch, CooperativeBlocksCanWaitForEachOther) {
    const Stream stream;
    const Buffer<std::uint32_t> arrived(1);
    auto* p = arrived.data();
    void* params[] = {&p};
    OK(cuLaunchCooperativeKernel(function("meet"), 8, 1, 1, 1, 1, 1, 0, stream, params));
    OK(cuStreamSynchronize(stream));
    EQUAL(*p, 8u);
    ANSWERS(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
            cuLaunchCooperativeKernel(function("meet"), 1u << 20, 1, 1, 1024, 1, 1, 0, stream, params));
}

LAW(Launch, RefusesShapesThatNoDeviceRuns) {
    const Stream stream;
    const CUfunction f = function("nothing");
    struct {
        unsigned grid[3], block[3], shared;
        CUresult answer;
    } cases[] = {
        {{1, 1, 1}, {1, 1, 1}, 0, CUDA_SUCCESS},
        {{0, 1, 1}, {1, 1, 1}, 0, CUDA_ERROR_INVALID_VALUE},
        {{1, 1, 1}, {1, 0, 1}, 0, CUDA_ERROR_INVALID_VALUE},
        {{1, 65536, 1}, {1, 1, 1}, 0, CUDA_ERROR_INVALID_VALUE},
        {{0x80000000u, 1, 1}, {1, 1, 1}, 0, CUDA_ERROR_INVALID_VALUE},
        {{1, 1, 1}, {1025, 1, 1}, 0, CUDA_ERROR_INVALID_VALUE},
        {{1, 1, 1}, {32, 32, 2}, 0, CUDA_ERROR_INVALID_VALUE},
        {{1, 1, 1}, {1, 1, 65}, 0, CUDA_ERROR_INVALID_VALUE},
        {{1, 1, 1}, {1, 1, 1}, 48 << 10, CUDA_SUCCESS},
        {{1, 1, 1}, {1, 1, 1}, (48 << 10) + 1, CUDA_ERROR_INVALID_VALUE},
    };
    for (const auto& c : cases)
        ANSWERS(c.answer, cuLaunchKernel(f, c.grid[0], c.grid[1], c.grid[2], c.block[0], c.block[1], c.block[2],
                                         c.shared, stream, nullptr, nullptr));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, launch("at_most_64", 1, 65, stream));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, launch("exactly_32", 1, 31, stream));
    OK(launch("exactly_32", 1, 32, stream));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(function("add"), 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr));
    ANSWERS(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr));
}

LAW(Launch, TakesArgumentsByAddressOrPacked) {
    const Stream stream;
    const Buffer<std::uint32_t> out(4);
    struct {
        std::uint32_t* p;
        std::uint32_t v;
    } packed{out.data(), 5};
    std::size_t size = 12;
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    OK(cuLaunchKernel(function("add"), 2, 1, 1, 2, 1, 1, 0, stream, nullptr, extra));
    packed.v = 100;  // copied at the call
    void* params[] = {&packed.p, &packed.v};
    CUlaunchAttribute attributes[2] = {};
    attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[0].value.clusterDim = {2, 1, 1};
    attributes[1].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attributes[1].value.programmaticStreamSerializationAllowed = 1;
    CUlaunchConfig config{4, 1, 1, 1, 1, 1, 0, stream, attributes, 2};
    OK(cuLaunchKernelEx(&config, function("add"), params, nullptr));
    // A CUkernel in place of the function.
    OK(cuLaunchKernelEx(&config, reinterpret_cast<CUfunction>(library().kernel("add")), params, nullptr));
    OK(cuStreamSynchronize(stream));
    for (const std::uint32_t value : out.read()) EQUAL(value, 205u);
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(function("add"), 1, 1, 1, 1, 1, 1, 0, stream, params, extra));
    attributes[0].value.clusterDim.x = 3;
    ANSWERS(CUDA_ERROR_INVALID_CLUSTER_SIZE, cuLaunchKernelEx(&config, function("add"), params, nullptr));
    attributes[0].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT;
    ANSWERS(CUDA_ERROR_NOT_SUPPORTED, cuLaunchKernelEx(&config, function("add"), params, nullptr));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernelEx(nullptr, function("add"), params, nullptr));
}

LAW(Kernel, SaysWhatItsParametersAndAttributesAre) {
    context();
    const CUkernel kernel = library().kernel("affine");
    std::size_t offset = 9, size = 9;
    for (std::size_t i = 0; i < 3; ++i) {
        OK(cuKernelGetParamInfo(kernel, i, &offset, &size));
        EQUAL(offset, 8 * i);
        EQUAL(size, 8u);
    }
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuKernelGetParamInfo(kernel, 3, &offset, &size));
    OK(cuFuncGetParamInfo(function("add"), 1, &offset, &size));
    EQUAL(offset, 8u);
    EQUAL(size, 4u);
    int value = 0;
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function("static_shared")));
    EQUAL(value, 1024);
    OK(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, library().kernel("static_shared"),
                            0));
    EQUAL(value, 47 << 10);
    OK(cuFuncSetAttribute(function("static_shared"), CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100'000));
    OK(cuLaunchKernel(function("static_shared"), 1, 1, 1, 1, 1, 1, 100'000, nullptr, nullptr, nullptr));
    ANSWERS(CUDA_ERROR_INVALID_VALUE,
            cuFuncSetAttribute(function("static_shared"), CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 227 << 10));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuFuncSetAttribute(function("add"), CU_FUNC_ATTRIBUTE_NUM_REGS, 1));
    const char* name = nullptr;
    OK(cuKernelGetName(&name, kernel));
    EQUAL(std::string(name), "affine");
    // The cuFunc* functions refuse a CUkernel, as in libcuda.
    ANSWERS(CUDA_ERROR_INVALID_HANDLE, cuFuncGetName(&name, reinterpret_cast<CUfunction>(kernel)));
    CUlibrary owner = nullptr;
    OK(cuKernelGetLibrary(&owner, kernel));
    EQUAL(owner, library().handle());
    OK(cuCtxSynchronize());
}

LAW(Kernel, OccupancyFollowsItsResources) {
    context();
    int blocks = 0, grid = 0, block = 0;
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function("nothing"), 1024, 0));
    EQUAL(blocks, 2);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function("nothing"), 32, 0));
    EQUAL(blocks, 32);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function("nothing"), 32, 48 << 10));
    EQUAL(blocks, 4);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, function("at_most_64"), nullptr, 0, 0));
    EQUAL(block, 64);
    CHECK(grid > 0);
    std::size_t shared = 0;
    OK(cuOccupancyAvailableDynamicSMemPerBlock(&shared, function("nothing"), 1, 32));
    EQUAL(shared, 48u << 10);
}

LAW(Library, LivesUntilItsLastLaunchIsOver) {
    context();
    const int before = native::images_alive();
    const Stream stream;
    const Buffer<std::uint32_t> out(1);
    native::Library code("add slow");
    const CUfunction add = code.function("add");
    const CUkernel kernel = code.kernel("add");
    OK(launch("slow", 1, 1, stream, out.data(), 3000u));
    auto* p = out.data();
    std::uint32_t v = 4;
    void* params[] = {&p, &v};
    OK(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, stream, params, nullptr));
    code.unload();
    ANSWERS(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, stream, params, nullptr));
    int value = 0;
    ANSWERS(CUDA_ERROR_INVALID_HANDLE, cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel, 0));
    OK(cuStreamSynchronize(stream));
    EQUAL(*p, 5u);
    CHECK(soon([&] { return native::images_alive() == before; }));
}

LAW(Library, FindsKernelsVariablesAndItsModule) {
    context();
    const native::Library code("add nothing global counter 12");
    CUkernel kernel = nullptr;
    ANSWERS(CUDA_ERROR_NOT_FOUND, cuLibraryGetKernel(&kernel, code.handle(), "absent"));
    unsigned count = 0;
    OK(cuLibraryGetKernelCount(&count, code.handle()));
    EQUAL(count, 2u);
    CUkernel all[3] = {};
    OK(cuLibraryEnumerateKernels(all, 3, code.handle()));
    EQUAL(all[0], code.kernel("add"));
    EQUAL(all[2], nullptr);
    CUdeviceptr variable = 0;
    std::size_t bytes = 0;
    OK(cuLibraryGetGlobal(&variable, &bytes, code.handle(), "counter"));
    EQUAL(bytes, 12u);
    CUmemorytype type{};
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, variable));
    EQUAL(type, CU_MEMORYTYPE_DEVICE);
    OK(cuMemsetD8(variable, 1, 12));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuMemFree(variable));
    ANSWERS(CUDA_ERROR_NOT_FOUND, cuLibraryGetGlobal(&variable, &bytes, code.handle(), "absent"));
    CUmodule module = nullptr, again = nullptr;
    OK(cuLibraryGetModule(&module, code.handle()));
    CUfunction add = nullptr;
    OK(cuModuleGetFunction(&add, module, "add"));
    EQUAL(add, code.function("add"));
    OK(cuFuncGetModule(&again, add));
    EQUAL(again, module);
    ANSWERS(CUDA_ERROR_NOT_PERMITTED, cuModuleUnload(module));
    ANSWERS(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&add, module, "absent"));
}

LAW(Image, ThatCannotRunHereIsRefusedWithItsReason) {
    context();
    CUlibrary library = nullptr;
    CUmodule module = nullptr;
    const auto load = [&](const void* image) {
        return cuLibraryLoadData(&library, image, nullptr, nullptr, 0, nullptr, nullptr, 0);
    };
    ANSWERS(CUDA_ERROR_INVALID_PTX, load("fail because"));
    EQUAL(std::string(cghLastLoadLog()), " because");
    char log[32] = "";
    CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
    ANSWERS(CUDA_ERROR_INVALID_PTX, cuModuleLoadDataEx(&module, "fail loudly", 2, names, values));
    EQUAL(std::string(log), " loudly");
    const unsigned char elf[64] = {0x7f, 'E', 'L', 'F'};
    ANSWERS(CUDA_ERROR_NO_BINARY_FOR_GPU, load(elf));
    ANSWERS(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&module, elf));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, load(nullptr));
    ANSWERS(CUDA_ERROR_FILE_NOT_FOUND,
            cuLibraryLoadFromFile(&library, "/nowhere", nullptr, nullptr, 0, nullptr, nullptr, 0));
}

LAW(Image, OfAFatbinIsItsUncompressedText) {
    context();
    const char text[] = "add nothing";
    struct Entry {
        std::uint16_t kind, version;
        std::uint32_t header_size;
        std::uint64_t size;
        unsigned char rest[24];
        std::uint64_t flags;
        std::uint64_t more[2];
    };
    const auto build = [&](std::uint16_t kind, std::uint64_t flags) {
        Entry entry{kind, 0x101, sizeof(Entry), sizeof text, {}, flags, {}};
        std::vector<std::uint64_t> fatbin(2 + sizeof(Entry) / 8 + 2);
        const std::uint32_t magic = 0xba55ed50;
        const std::uint16_t version = 1, header = 16;
        const std::uint64_t size = sizeof(Entry) + sizeof text;
        auto* at = reinterpret_cast<unsigned char*>(fatbin.data());
        std::memcpy(at, &magic, 4);
        std::memcpy(at + 4, &version, 2);
        std::memcpy(at + 6, &header, 2);
        std::memcpy(at + 8, &size, 8);
        std::memcpy(at + 16, &entry, sizeof entry);
        std::memcpy(at + 16 + sizeof entry, text, sizeof text);
        return fatbin;
    };
    CUlibrary library = nullptr;
    const auto load = [&](const std::vector<std::uint64_t>& fatbin) {
        return cuLibraryLoadData(&library, fatbin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    };
    OK(load(build(1, 0)));
    CUkernel kernel = nullptr;
    OK(cuLibraryGetKernel(&kernel, library, "add"));
    OK(cuLibraryUnload(library));
    ANSWERS(CUDA_ERROR_NO_BINARY_FOR_GPU, load(build(2, 0)));       // machine code
    ANSWERS(CUDA_ERROR_NO_BINARY_FOR_GPU, load(build(1, 0x2000)));  // compressed text
}

namespace {

// After a fault every call that does work returns it. Queries of the process and destructions of graphs do not.
void sticky(const char* kernel, CUresult fault) {
    const Stream stream;
    const Event event;
    CUdeviceptr memory = 0;
    OK(cuMemAlloc(&memory, 64));
    static std::atomic<int> called;
    called = 0;
    const CUfunction f = function("nothing");
    const auto launch_nothing = [&] { return cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr); };
    OK(launch_nothing());
    OK(cuStreamSynchronize(stream));
    OK(launch(kernel, 3, 1, stream));
    const CUresult later = cuLaunchHostFunc(stream, [](void*) { called = 1; }, nullptr);
    CHECK(later == CUDA_SUCCESS || later == fault);
    ANSWERS(fault, cuStreamSynchronize(stream));
    EQUAL(called.load(), 0);  // "the function will not be called in the event of an error in the CUDA context"
    ANSWERS(fault, cuStreamQuery(stream));
    ANSWERS(fault, cuEventQuery(event));
    ANSWERS(fault, cuCtxSynchronize());
    ANSWERS(fault, launch_nothing());
    ANSWERS(fault, cuMemAlloc(&memory, 64));
    ANSWERS(fault, cuMemsetD8(memory, 0, 64));
    CUstream other = nullptr;
    ANSWERS(fault, cuStreamCreate(&other, 0));
    CUcontext current = nullptr;
    OK(cuCtxGetCurrent(&current));
    int count = 0;
    OK(cuDeviceGetCount(&count));
    const CUstream raw = stream;
    ANSWERS(fault, cuStreamDestroy(raw));
    ANSWERS(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(raw));
}

}  // namespace

LAW_ALONE(Fault, OfATrapIsSticky) {
    sticky("trap", CUDA_ERROR_LAUNCH_FAILED);
}
LAW_ALONE(Fault, OfAnAssertIsSticky) {
    sticky("assert_false", CUDA_ERROR_ASSERT);
}
LAW_ALONE(Fault, InASharedLoopEndsTheKernel) {
    Offer offer;
    offer.body = [](std::uint64_t first, std::uint64_t end) {
        if (first <= 40 && 40 < end) cghGetServices()->trap();
    };
    EQUAL(run_offers(offer, 1), CUDA_ERROR_LAUNCH_FAILED);
    EQUAL(offer.accepted.load(), 0);
}
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // the sanitizers handle these signals themselves
LAW_ALONE(Fault, OfAWildPointerIsSticky) {
    sticky("wild", CUDA_ERROR_ILLEGAL_ADDRESS);
}
#endif

LAW_ALONE(Device, ThatFaultedIsLostAlsoAfterAReset) {
    const Stream stream;
    OK(launch("trap", 1, 1, stream));
    ANSWERS(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(stream));
    OK(cuDevicePrimaryCtxReset(0));
    CUcontext context = nullptr;
    ANSWERS(CUDA_ERROR_LAUNCH_FAILED, cuDevicePrimaryCtxRetain(&context, 0));
    ANSWERS(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
}

LAW_ALONE(Process, ThatForksHasNoDriverInTheChild) {
    context();
    const Stream stream;
    OK(launch("nothing", 1, 1, stream));
    OK(cuStreamSynchronize(stream));
    const pid_t child = fork();
    if (child == 0) {
        const bool refused =
            cuStreamSynchronize(stream) == CUDA_ERROR_NOT_INITIALIZED && cuInit(0) == CUDA_ERROR_NOT_INITIALIZED;
        _exit(refused ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    EQUAL(status, 0);
    OK(launch("nothing", 1, 1, stream));
    OK(cuStreamSynchronize(stream));
}

// The child of the law below. At its exit the gate opens, and there is time for what follows the kernel that waits for
// it.
LAW_ALONE(Child, EndsWithWorkInFlight) {
    static const struct Time {
        ~Time() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }
    } time;
    static Gate gate;
    static std::uint32_t sink = 0;
    context();
    CUstream gated = nullptr;
    OK(cuStreamCreate(&gated, CU_STREAM_NON_BLOCKING));
    if (check::workers() > 0) OK(launch("spin", 2, 1, gated, gate.flag()));
    OK(cuLaunchHostFunc(gated, [](void*) { std::puts("too late"); }, nullptr));
    for (int i = 0; i < 3; ++i) {
        CUstream slow = nullptr;
        OK(cuStreamCreate(&slow, CU_STREAM_NON_BLOCKING));
        for (int j = 0; j < 100; ++j) OK(launch("slow", 1, 1, slow, &sink, 10'000u));
    }
}

LAW(Process, MayEndWithWorkInFlightWithoutAWord) {
    char program[4096] = "";
    CHECK(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    for (int i = 0; i < 5; ++i) {
        FILE* child = popen((std::string(program) + " --alone Child.EndsWithWorkInFlight 2>&1").c_str(), "r");
        CHECK(child != nullptr);
        std::string said;
        for (int c = std::fgetc(child); c != EOF; c = std::fgetc(child)) said += static_cast<char>(c);
        EQUAL(pclose(child), 0);
        EQUAL(said, "");
    }
}
