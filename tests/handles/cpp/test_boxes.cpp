// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Law: A resource is destroyed once, after its last handle and before its dependencies. A failure leaves nothing
// behind.
#include <cstdint>
#include <functional>

#include "check.hpp"
#include "core/driver/driver_facts.hpp"
#include "core/driver/table.hpp"
#include "core/handles/error.hpp"
#include "core/handles/registry.hpp"
#include "core/resources/event.hpp"
#include "core/resources/memory.hpp"
#include "core/resources/module.hpp"
#include "fake_driver.hpp"

using namespace cg;

namespace {

ContextHandle context() {
    return primary_context(0);
}

long live() {
    long sum = 0;
    for (int kind = 0; kind < static_cast<int>(Kind::kCount); ++kind)
        if (kind != static_cast<int>(Kind::kContext)) sum += live_boxes(static_cast<Kind>(kind));
    return sum;
}

}  // namespace

TEST(StreamHandle, DestroysOnceAfterTheLastCopy) {
    StreamHandle one = create_stream(context(), 0, 0);
    StreamHandle two = one;
    Opaque owner = two;
    one.reset();
    two.reset();
    CHECK(fake::calls("cuStreamDestroy") == 0);
    CHECK(live() == 1);
    owner.reset();
    CHECK(fake::calls("cuStreamDestroy") == 1);
    CHECK(live() == 0);
}

TEST(StreamHandle, OfARawValueIsTheOneThatWasMade) {
    StreamHandle made = create_stream(context(), 0, 0);
    const CUstream raw = *made;
    StreamHandle found = create_stream_ref(raw);
    CHECK(found.get() == made.get());
    made.reset();
    CHECK(fake::calls("cuStreamDestroy") == 0);
    CHECK(box_of<StreamBox>(found)->owned);
}

TEST(EventHandle, KeepsWhatIsKnownOfIt) {
    EventHandle made = create_event(context(), true, true);
    EventHandle found = create_event_ref(*made);
    made.reset();
    CHECK(box_of<EventBox>(found)->timing && box_of<EventBox>(found)->blocking);
    CHECK(box_of<EventBox>(found)->context == context());
}

TEST(EventHandle, OfAnUnknownRawValueIsNeverDestroyed) {
    EventHandle borrowed = create_event_ref(reinterpret_cast<CUevent>(0x1230));
    CHECK(!box_of<EventBox>(borrowed)->owned);
    borrowed.reset();
    CHECK(fake::calls("cuEventDestroy") == 0);
}

TEST(PointerHandle, IsFreedBeforeItsPoolAndStream) {
    StreamHandle stream = create_stream(context(), 0, 0);
    PoolHandle pool = create_device_pool(0, 0, 0);
    PointerHandle memory = allocate_from_pool(pool, 64, stream);
    stream.reset();
    pool.reset();
    CHECK(fake::alive() == 3);
    memory.reset();
    CHECK(fake::destroyed().at(0) == "memory");
    CHECK(fake::destroyed().size() == 3);
}

TEST(PointerHandle, IsNotFreedWithAWaitOnceTheInterpreterEnds) {
    PointerHandle pinned = allocate_pinned(context(), 64);
    PointerHandle device = allocate_device(context(), 64);
    void* const leaked = reinterpret_cast<void*>(static_cast<std::uintptr_t>(*pinned));
    fake::close_python();
    pinned.reset();
    CHECK(fake::calls("cuMemFreeHost") == 0);
    fake::open_python();
    device.reset();
    CHECK(fake::calls("cuMemFree") == 1);
    cg::driver().cuMemFreeHost(leaked);  // it was leaked on purpose
}

TEST(PointerHandle, GoesBackToItsResourceOnce) {
    static int returned = 0;
    int resource = 0;
    const FreeCallback callback = [](void* self, CUdeviceptr, std::size_t size, const StreamHandle&) {
        ++*static_cast<int*>(self);
        returned += static_cast<int>(size);
    };
    PointerHandle memory = create_pointer_with_resource(64, 10, {}, &resource, callback);
    PointerHandle copy = memory;
    memory.reset();
    CHECK(returned == 0);
    copy.reset();
    CHECK(returned == 10 && resource == 1);
}

TEST(KernelHandle, KeepsItsLibraryAndIsOneBox) {
    LibraryHandle library = load_library("", false);
    KernelHandle kernel = get_kernel(library, "a");
    CHECK(get_kernel(library, "a").get() == kernel.get());
    CHECK(get_kernel(library, "b").get() != kernel.get());
    library.reset();
    CHECK(fake::calls("cuLibraryUnload") == 0);
    KernelHandle again = create_kernel_ref(*kernel, {});
    CHECK(again.get() == kernel.get());
    kernel.reset();
    CHECK(fake::calls("cuLibraryUnload") == 0);
    again.reset();
    CHECK(fake::calls("cuLibraryUnload") == 1);
}

TEST(KernelHandle, ThatWasBorrowedWithoutALibraryGetsOne) {
    LibraryHandle library = load_library("", false);
    CUkernel raw = nullptr;
    cg::driver().cuLibraryGetKernel(&raw, *library, "a");
    KernelHandle borrowed = create_kernel_ref(raw, {});
    KernelHandle keeping = create_kernel_ref(raw, library);
    CHECK(box_of<KernelBox>(keeping)->library == library);
    CHECK(create_kernel_ref(raw, {}).get() == keeping.get());
    borrowed.reset();
    CHECK(create_kernel_ref(raw, {}).get() == keeping.get());
}

TEST(KernelHandle, AsksForItsParametersOnce) {
    LibraryHandle library = load_library("", false);
    KernelHandle kernel = get_kernel(library, "a");
    parallelize(8, [&](int) { CHECK(kernel_parameters(kernel)->size() == 3); });
    CHECK(kernel_parameters(kernel)->at(2).offset == 16);
    CHECK(fake::calls("cuKernelGetParamInfo") == 4);
}

TEST(ContextHandle, OfADeviceIsRetainedOnceByAllThreads) {
    const int before = fake::calls("cuDevicePrimaryCtxRetain");
    parallelize(8, [](int) { CHECK(*primary_context(1) == *primary_context(1)); });
    const int retained = fake::calls("cuDevicePrimaryCtxRetain") - before;
    CHECK(retained - fake::calls("cuDevicePrimaryCtxRelease") == 1);
    CHECK(box_of<ContextBox>(primary_context(1))->device == 1);
}

TEST(Creator, ThatFailsNotesTheCallAndLeavesNothing) {
    StreamHandle stream = create_stream(context(), 0, 0);
    PoolHandle pool = create_device_pool(0, 0, 0);
    LibraryHandle library = load_library("", false);
    const long before = live();
    const int alive = fake::alive();
    const std::vector<std::pair<const char*, std::function<bool()>>> cases = {
        {"cuStreamCreateWithPriority", [] { return bool(create_stream(context(), 0, 0)); }},
        {"cuEventCreate", [] { return bool(create_event(context(), true, false)); }},
        {"cuMemPoolCreate", [] { return bool(create_device_pool(0, 0, 0)); }},
        {"cuMemPoolSetAttribute", [] { return bool(create_device_pool(0, 0, 0)); }},
        {"cuMemAllocFromPoolAsync", [&] { return bool(allocate_from_pool(pool, 64, stream)); }},
        {"cuMemAlloc", [] { return bool(allocate_device(context(), 64)); }},
        {"cuMemHostAlloc", [] { return bool(allocate_pinned(context(), 64)); }},
        {"cuLibraryLoadData", [] { return bool(load_library("", false)); }},
        {"cuLibraryGetKernel", [&] { return bool(get_kernel(library, "a")); }},
        {"cuKernelGetParamInfo", [&] { return kernel_parameters(get_kernel(library, "c")) != nullptr; }},
    };
    for (const auto& [function, create] : cases) {
        fake::fail_next(function, CUDA_ERROR_OUT_OF_MEMORY);
        CHECK(!create());
        const NotedError noted = take_noted_error();
        CHECK(noted.status == CUDA_ERROR_OUT_OF_MEMORY);
        CHECK(noted.call == function);
        CHECK(take_noted_error().status == CUDA_SUCCESS);
        CHECK(live() == before);
        CHECK(fake::alive() == alive);
    }
}

TEST(Library, OfSeveralEntriesIsTranslatedInThreadsByADriverThatKnowsThem) {
    struct Case {
        const char* image;
        int driver;
        unsigned options;
    };
    const std::vector<Case> cases = {
        {"// PTX\n.visible .entry a() {}\n.visible .entry b() {}\n", 13000, 1},
        {".version 8.0\n.entry a() {}\n.entry b() {}\n", 13010, 1},
        {".version 8.0\n.entry a() {}\n.entry b() {}\n", 12090, 0},
        {"// PTX\n.visible .entry a() {}\n", 13000, 0},
        {"\177ELF .entry .entry", 13000, 0},
    };
    for (const Case& each : cases) {
        cg::detail::facts.version = each.driver;
        CHECK(bool(load_library(each.image, false)));
        CHECK(fake::options_of_last_load() == each.options);
    }
    cg::detail::facts.version = 0;
}

TEST(Creator, ThatCannotEnterItsContextMakesNothing) {
    fake::fail_next("cuCtxPushCurrent", CUDA_ERROR_INVALID_CONTEXT);
    CHECK(!create_stream(context(), 0, 0));
    CHECK(take_noted_error().status == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(fake::calls("cuStreamCreateWithPriority") == 0);
}

TEST(Creator, LeavesTheCurrentContextAsItWas) {
    StreamHandle stream = create_stream(context(), 0, 0);
    CUcontext current = nullptr;
    cg::driver().cuCtxGetCurrent(&current);
    CHECK(current == nullptr);
    CHECK(fake::calls("cuCtxPushCurrent") == fake::calls("cuCtxPopCurrent"));
}

TEST(NotedError, IsOfItsThread) {
    parallelize(8, [](int i) {
        const auto status = static_cast<CUresult>(i + 1);
        for (int round = 0; round < 1000; ++round) {
            note_error(status, "cuSomething(x)");
            CHECK(take_noted_error().status == status);
        }
    });
}

TEST(Registry, NeverGivesAHandleOfAnotherLife) {
    // The fake driver reuses raw values at once, so each thread meets values of the other threads.
    parallelize(8, [](int i) {
        for (int round = 0; round < 2000; ++round) {
            const bool timing = (i + round) % 2 == 0;
            EventHandle made = create_event(context(), timing, false);
            EventHandle found = create_event_ref(*made);
            CHECK(found.get() == made.get());
            made.reset();
            CHECK(box_of<EventBox>(found)->timing == timing);
        }
    });
    CHECK(live() == 0);
}

TEST(Registry, HoldsNoEntryOfWhatIsGone) {
    const auto entries = [] {
        return registry_of_process<CUkernel>().size() + registry_of_process<CUevent>().size() +
               registry_of_process<CUstream>().size();
    };
    const std::size_t before = entries();
    LibraryHandle library = load_library("", false);
    KernelHandle kernel = get_kernel(library, "a");
    KernelHandle second = get_kernel(library, "a");
    second.reset();
    CHECK(create_kernel_ref(*kernel, {}).get() == kernel.get());  // the destroyed handle did not remove the entry
    EventHandle event = create_event(context(), true, false);
    StreamHandle stream = create_stream(context(), 0, 0);
    CHECK(entries() == before + 3);
    kernel.reset();
    event.reset();
    stream.reset();
    CHECK(entries() == before);
}
