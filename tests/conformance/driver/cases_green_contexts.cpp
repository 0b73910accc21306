// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The multiprocessors of a device as a resource that can be split, and green contexts, each with a partition. Counts
// differ between devices, so the answers are relations.
#include <vector>

#include "capture_rig.hpp"
#include "cases.hpp"

namespace conf {

namespace {

CUdevResource whole() {
    CUdevResource resource{};
    context();
    must(drv.cuDeviceGetDevResource(device(), &resource, CU_DEV_RESOURCE_TYPE_SM), "resource");
    return resource;
}

// The first partition of the device, and the remaining multiprocessors.
struct Parts {
    CUdevResource part{}, rest{};
    Parts() {
        CUdevResource all = whole();
        unsigned count = 1;
        must(drv.cuDevSmResourceSplitByCount(&part, &count, &all, &rest, 0, all.sm.minSmPartitionSize), "split");
    }
};

CUdevResourceDesc description(CUdevResource resource) {
    CUdevResourceDesc made = nullptr;
    must(drv.cuDevResourceGenerateDesc(&made, &resource, 1), "description");
    return made;
}

Owned<CUgreenCtx> new_green() {
    CUgreenCtx made = nullptr;
    must(drv.cuGreenCtxCreate(&made, description(Parts().part), device(), CU_GREEN_CTX_DEFAULT_STREAM), "green");
    return {made, [](CUgreenCtx green) { drv.cuGreenCtxDestroy(green); }};
}

// Makes the context of a green context current for the lifetime of this object.
class Inside {
  public:
    explicit Inside(CUcontext now) : before_(context()) { must(drv.cuCtxSetCurrent(now), "current"); }
    Inside(const Inside&) = delete;
    ~Inside() { drv.cuCtxSetCurrent(before_); }

  private:
    CUcontext before_;
};

CUcontext context_of(CUgreenCtx green) {
    CUcontext made = nullptr;
    must(drv.cuCtxFromGreenCtx(&made, green), "context of green");
    return made;
}

void add_resource_cases(Cases& cases) {
    cases.add("resource/of_a_device", [](Record& r) {
        CUdevResource resource{};
        r("get", drv.cuDeviceGetDevResource(device(), &resource, CU_DEV_RESOURCE_TYPE_SM));
        int count = 0;
        must(drv.cuDeviceGetAttribute(&count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device()), "count");
        r("type", resource.type);
        r("all multiprocessors", resource.sm.smCount == static_cast<unsigned>(count));
        r("smallest part is not zero", resource.sm.minSmPartitionSize != 0);
        r("alignment is not zero", resource.sm.smCoscheduledAlignment != 0);
        CUdevResource of_context{};
        r("of the context", drv.cuCtxGetDevResource(context(), &of_context, CU_DEV_RESOURCE_TYPE_SM));
        r("the same", of_context.sm.smCount == resource.sm.smCount);
        r("null", drv.cuDeviceGetDevResource(device(), nullptr, CU_DEV_RESOURCE_TYPE_SM));
        r("type invalid", drv.cuDeviceGetDevResource(device(), &resource, CU_DEV_RESOURCE_TYPE_INVALID));
        r("type 7", drv.cuDeviceGetDevResource(device(), &resource, static_cast<CUdevResourceType>(7)));
        r("device 99", drv.cuDeviceGetDevResource(99, &resource, CU_DEV_RESOURCE_TYPE_SM));
        r("context null", drv.cuCtxGetDevResource(nullptr, &resource, CU_DEV_RESOURCE_TYPE_SM));
        r("context, null", drv.cuCtxGetDevResource(context(), nullptr, CU_DEV_RESOURCE_TYPE_SM));
        r("context, type 7", drv.cuCtxGetDevResource(context(), &resource, static_cast<CUdevResourceType>(7)));
    });
    cases.add("resource/sizes", [](Record& r) {
        const CUdevResource resource = whole();
        r("count", resource.sm.smCount);
        r("smallest part", resource.sm.minSmPartitionSize);
        r("alignment", resource.sm.smCoscheduledAlignment);
        for (const unsigned flags : {0u, 1u, 2u}) {
            for (const unsigned wanted : {0u, 1u, 2u, 8u, 12u, 16u, 66u, 132u}) {
                CUdevResource input = resource;
                unsigned groups = 0;
                const CUresult answer =
                    drv.cuDevSmResourceSplitByCount(nullptr, &groups, &input, nullptr, flags, wanted);
                const std::string label = "flags " + std::to_string(flags) + ", " + std::to_string(wanted);
                r(label, answer);
                if (answer == CUDA_SUCCESS) r(label + ", groups", groups);
            }
        }
    });
    cases.add("resource/split", [](Record& r) {
        CUdevResource all = whole(), rest{};
        std::vector<CUdevResource> parts(all.sm.smCount);
        unsigned possible = 0;
        const unsigned least = all.sm.minSmPartitionSize;
        r("how many", drv.cuDevSmResourceSplitByCount(nullptr, &possible, &all, nullptr, 0, least));
        unsigned groups = 1;
        r("one", drv.cuDevSmResourceSplitByCount(parts.data(), &groups, &all, &rest, 0, least));
        r("groups", groups);
        r("type", parts[0].type);
        r("at least", parts[0].sm.smCount >= least);
        r("rest type", rest.type);
        r("together all", parts[0].sm.smCount + rest.sm.smCount == all.sm.smCount);
        groups = static_cast<unsigned>(parts.size());
        r("as many as possible", drv.cuDevSmResourceSplitByCount(parts.data(), &groups, &all, &rest, 0, least));
        r("groups as asked", groups == possible);
        unsigned sum = rest.type == CU_DEV_RESOURCE_TYPE_SM ? rest.sm.smCount : 0;
        for (unsigned i = 0; i < groups; ++i) sum += parts[i].sm.smCount;
        r("sum is all", sum == all.sm.smCount);
        groups = 1;
        r("everything", drv.cuDevSmResourceSplitByCount(parts.data(), &groups, &all, &rest, 0, all.sm.smCount));
        r("everything groups", groups);
        r("everything rest type", rest.type);
        groups = 1;
        r("zero", drv.cuDevSmResourceSplitByCount(parts.data(), &groups, &all, &rest, 0, 0));
        r("zero groups", groups);
        groups = 1;
        r("without rest", drv.cuDevSmResourceSplitByCount(parts.data(), &groups, &all, nullptr, 0, least));
    });
    cases.add("resource/bad_splits", [](Record& r) {
        CUdevResource all = whole(), parts[2]{}, rest{};
        const unsigned least = all.sm.minSmPartitionSize;
        unsigned groups = 1;
        r("too many", drv.cuDevSmResourceSplitByCount(parts, &groups, &all, &rest, 0, all.sm.smCount + 1));
        groups = 1;
        r("null count", drv.cuDevSmResourceSplitByCount(parts, nullptr, &all, &rest, 0, least));
        r("null input", drv.cuDevSmResourceSplitByCount(parts, &groups, nullptr, &rest, 0, least));
        groups = 0;
        r("no groups", drv.cuDevSmResourceSplitByCount(parts, &groups, &all, &rest, 0, least));
        groups = 1;
        r("flags 4", drv.cuDevSmResourceSplitByCount(parts, &groups, &all, &rest, 4, least));
        CUdevResource nothing{};
        groups = 1;
        r("an empty input", drv.cuDevSmResourceSplitByCount(parts, &groups, &nothing, &rest, 0, least));
        groups = 1;
        must(drv.cuDevSmResourceSplitByCount(parts, &groups, &all, &rest, 0, least), "split");
        groups = 1;
        r("a part again", drv.cuDevSmResourceSplitByCount(parts + 1, &groups, parts, nullptr, 0, least));
    });
    cases.add("resource/descriptions", [](Record& r) {
        CUdevResource all = whole();
        Parts one;
        CUdevResourceDesc made = nullptr;
        r("of the whole", drv.cuDevResourceGenerateDesc(&made, &all, 1));
        r("is something", made != nullptr);
        r("of a part", drv.cuDevResourceGenerateDesc(&made, &one.part, 1));
        CUdevResource both[2] = {one.part, one.rest};
        r("of a part and its rest", drv.cuDevResourceGenerateDesc(&made, both, 2));
        Parts two;
        CUdevResource mixed[2] = {one.part, two.rest};
        r("of two splits", drv.cuDevResourceGenerateDesc(&made, mixed, 2));
        r("null output", drv.cuDevResourceGenerateDesc(nullptr, &all, 1));
        r("null input", drv.cuDevResourceGenerateDesc(&made, nullptr, 1));
        CUdevResource nothing{};
        r("of nothing", drv.cuDevResourceGenerateDesc(&made, &nothing, 1));
        nothing.type = static_cast<CUdevResourceType>(7);
        r("of type 7", drv.cuDevResourceGenerateDesc(&made, &nothing, 1));
    });
}

void add_life_cases(Cases& cases) {
    cases.add("green/life", [](Record& r) {
        CUgreenCtx green = nullptr;
        const CUdevResourceDesc desc = description(Parts().part);
        r("create", drv.cuGreenCtxCreate(&green, desc, device(), CU_GREEN_CTX_DEFAULT_STREAM));
        unsigned long long id = 0, other = 0, primary = 0;
        r("id", drv.cuGreenCtxGetId(green, &id));
        r("context", drv.cuCtxGetId(context(), &primary));
        r("not that of the context", id != primary);
        CUcontext inside = nullptr;
        r("as a context", drv.cuCtxFromGreenCtx(&inside, green));
        r("not the primary one", inside != context());
        CUcontext again = nullptr;
        r("as a context again", drv.cuCtxFromGreenCtx(&again, green));
        r("the same", inside == again);
        r("its id", drv.cuCtxGetId(inside, &other));
        r("the green one's", other == id);
        CUdevResource resource{};
        r("resource", drv.cuGreenCtxGetDevResource(green, &resource, CU_DEV_RESOURCE_TYPE_SM));
        r("size", resource.sm.smCount == Parts().part.sm.smCount);
        r("resource of the context", drv.cuCtxGetDevResource(inside, &resource, CU_DEV_RESOURCE_TYPE_SM));
        r("size of the context", resource.sm.smCount == Parts().part.sm.smCount);
        CUgreenCtx second = nullptr;
        r("a second one of the description",
          drv.cuGreenCtxCreate(&second, desc, device(), CU_GREEN_CTX_DEFAULT_STREAM));
        if (second != nullptr) drv.cuGreenCtxDestroy(second);
        r("destroy", drv.cuGreenCtxDestroy(green));
    });
    cases.add("green/misuse", [](Record& r) {
        const Owned<CUgreenCtx> green = new_green();
        const CUdevResourceDesc desc = description(Parts().part);
        CUgreenCtx made = nullptr;
        r("flags 0", drv.cuGreenCtxCreate(&made, desc, device(), 0));
        r("flags 3", drv.cuGreenCtxCreate(&made, desc, device(), 3));
        r("null output", drv.cuGreenCtxCreate(nullptr, desc, device(), CU_GREEN_CTX_DEFAULT_STREAM));
        r("null description", drv.cuGreenCtxCreate(&made, nullptr, device(), CU_GREEN_CTX_DEFAULT_STREAM));
        if (made != nullptr) {
            CUdevResource of_none{};
            r("resource without description", drv.cuGreenCtxGetDevResource(made, &of_none, CU_DEV_RESOURCE_TYPE_SM));
            r("is the whole device", of_none.sm.smCount == whole().sm.smCount);
            drv.cuGreenCtxDestroy(made);
        }
        r("device 99", drv.cuGreenCtxCreate(&made, desc, 99, CU_GREEN_CTX_DEFAULT_STREAM));
        CUcontext inside = nullptr;
        r("context, null output", drv.cuCtxFromGreenCtx(nullptr, green));
        r("context of null", drv.cuCtxFromGreenCtx(&inside, nullptr));
        CUdevResource resource{};
        r("resource of null", drv.cuGreenCtxGetDevResource(nullptr, &resource, CU_DEV_RESOURCE_TYPE_SM));
        r("resource to null", drv.cuGreenCtxGetDevResource(green, nullptr, CU_DEV_RESOURCE_TYPE_SM));
        r("resource of type 7", drv.cuGreenCtxGetDevResource(green, &resource, static_cast<CUdevResourceType>(7)));
        unsigned long long id = 0;
        r("id to null", drv.cuGreenCtxGetId(green, nullptr));
        r("id of null", drv.cuGreenCtxGetId(nullptr, &id));
        CUstream stream = nullptr;
        r("stream flags 0", drv.cuGreenCtxStreamCreate(&stream, green, 0, 0));
        r("stream of null", drv.cuGreenCtxStreamCreate(&stream, nullptr, CU_STREAM_NON_BLOCKING, 0));
        r("stream to null", drv.cuGreenCtxStreamCreate(nullptr, green, CU_STREAM_NON_BLOCKING, 0));
        r("destroy null", drv.cuGreenCtxDestroy(nullptr));
        r("destroy its context", drv.cuCtxDestroy(context_of(green)));
    });
    cases.add("green/streams", [](Record& r) {
        const Owned<CUgreenCtx> green = new_green();
        CUstream stream = nullptr;
        r("create", drv.cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
        CUgreenCtx of_stream = nullptr;
        r("green of it", drv.cuStreamGetGreenCtx(stream, &of_stream));
        r("is ours", of_stream == green);
        const Stream plain = new_stream();
        of_stream = green;
        r("green of a plain one", drv.cuStreamGetGreenCtx(plain, &of_stream));
        r("is none", of_stream == nullptr);
        of_stream = green;
        r("green of the legacy stream", drv.cuStreamGetGreenCtx(nullptr, &of_stream));
        r("is none too", of_stream == nullptr);
        r("to null", drv.cuStreamGetGreenCtx(stream, nullptr));
        CUcontext its = nullptr;
        r("context of it", drv.cuStreamGetCtx(stream, &its));
        r("context is the green one's", its == context_of(green));
        unsigned flags = 0;
        r("flags", drv.cuStreamGetFlags(stream, &flags));
        r("non blocking", flags);
        Ints word;
        r("write", drv.cuStreamWriteValue32(stream, word, 4, 0));
        r("launch", launch_empty(stream));
        r("sync", drv.cuStreamSynchronize(stream));
        r("destroy", drv.cuStreamDestroy(stream));
    });
    cases.add("green/as_the_current_context", [](Record& r) {
        const Owned<CUgreenCtx> green = new_green();
        Ints word;
        const Inside now(context_of(green));
        CUcontext current = nullptr;
        r("current", drv.cuCtxGetCurrent(&current));
        r("is the green one's", current == context_of(green));
        CUdevice dev = 9;
        r("device", drv.cuCtxGetDevice(&dev));
        r("device is", dev);
        unsigned flags = 99;
        r("flags", drv.cuCtxGetFlags(&flags));
        r("flags are", flags);
        CUstream stream = nullptr;
        r("stream", drv.cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0));
        CUgreenCtx of_stream = nullptr;
        r("green of it", drv.cuStreamGetGreenCtx(stream, &of_stream));
        r("is ours", of_stream == green);
        r("green of the legacy stream", drv.cuStreamGetGreenCtx(nullptr, &of_stream));
        r("is ours too", of_stream == green);
        r("launch", launch_empty(stream));
        r("launch in the legacy stream", launch_empty(nullptr));
        CUdeviceptr address = 0;
        r("allocate", drv.cuMemAlloc(&address, 64));
        CUcontext of_memory = nullptr;
        drv.cuPointerGetAttribute(&of_memory, CU_POINTER_ATTRIBUTE_CONTEXT, address);
        r("memory is the primary context's", of_memory != current);
        r("free", drv.cuMemFree(address));
        CUevent event = nullptr;
        r("event", drv.cuEventCreate(&event, 0));
        r("record", drv.cuEventRecord(event, stream));
        r("sync event", drv.cuEventSynchronize(event));
        r("destroy event", drv.cuEventDestroy(event));
        r("sync", drv.cuCtxSynchronize());
        unsigned long long id = 0;
        r("id of null", drv.cuGreenCtxGetId(nullptr, &id));
        r("set word", drv.cuMemsetD32Async(word, 3, 1, stream));
        r("destroy stream", drv.cuStreamDestroy(stream));
        r("sync again", drv.cuCtxSynchronize());
        r("word", word.get());
    });
    cases.alone("green/destroyed_before_its_streams", [](Record& r) {
        CUgreenCtx green = new_green().release();
        CUstream stream = nullptr;
        must(drv.cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0), "stream");
        must(launch_empty(stream), "launch");
        r("destroy", drv.cuGreenCtxDestroy(green));
        r("query", drv.cuStreamQuery(stream));
        r("launch", launch_empty(stream));
        r("destroy stream", drv.cuStreamDestroy(stream));
        r("primary", drv.cuCtxSynchronize());
    });
    cases.alone("green/destroyed_while_current", [](Record& r) {
        CUgreenCtx green = new_green().release();
        must(drv.cuCtxSetCurrent(context_of(green)), "current");
        r("destroy", drv.cuGreenCtxDestroy(green));
        CUcontext current = nullptr;
        r("current", drv.cuCtxGetCurrent(&current));
        r("is none", current == nullptr);
        r("sync", drv.cuCtxSynchronize());
    });
    cases.alone("green/keeps_the_primary_context", [](Record& r) {
        CUgreenCtx green = new_green().release();
        must(drv.cuDevicePrimaryCtxRelease(device()), "release");
        unsigned flags = 0;
        int active = 9;
        r("state", drv.cuDevicePrimaryCtxGetState(device(), &flags, &active));
        r("active", active);
        r("destroy", drv.cuGreenCtxDestroy(green));
        r("state after", drv.cuDevicePrimaryCtxGetState(device(), &flags, &active));
        r("active after", active);
    });
}

void add_event_cases(Cases& cases) {
    cases.add("green/events", [](Record& r) {
        const Owned<CUgreenCtx> green = new_green(), other = new_green();
        const Event event = new_event(), second = new_event();
        CUstream inside = nullptr;
        must(drv.cuGreenCtxStreamCreate(&inside, green, CU_STREAM_NON_BLOCKING, 0), "stream");
        const Stream outside = new_stream();
        Pinned inner, outer;
        must(drv.cuStreamWaitValue32(outside, outer.address(), 1, CU_STREAM_WAIT_VALUE_EQ), "wait");
        r("record", drv.cuGreenCtxRecordEvent(green, event));
        r("work outside does not count", drv.cuEventSynchronize(event));
        must(drv.cuStreamWaitValue32(inside, inner.address(), 1, CU_STREAM_WAIT_VALUE_EQ), "wait");
        r("record again", drv.cuGreenCtxRecordEvent(green, event));
        r("work inside does", drv.cuEventQuery(event));
        r("record of all", drv.cuCtxRecordEvent(context(), second));
        r("counts too", drv.cuEventQuery(second));
        r("the other waits", drv.cuGreenCtxWaitEvent(other, event));
        r("by its context", drv.cuCtxWaitEvent(context_of(other), event));
        CUstream later = nullptr;
        must(drv.cuGreenCtxStreamCreate(&later, other, CU_STREAM_NON_BLOCKING, 0), "stream");
        must(launch_empty(later), "launch");
        r("its stream", drv.cuStreamQuery(later));
        inner[0] = 1;
        r("sync its stream", drv.cuStreamSynchronize(later));
        r("event", drv.cuEventQuery(event));
        r("event of all", drv.cuEventQuery(second));
        outer[0] = 1;
        r("sync event of all", drv.cuEventSynchronize(second));
        r("record null", drv.cuGreenCtxRecordEvent(green, nullptr));
        r("record of null", drv.cuGreenCtxRecordEvent(nullptr, event));
        r("wait for null", drv.cuGreenCtxWaitEvent(green, nullptr));
        r("wait of null", drv.cuGreenCtxWaitEvent(nullptr, event));
        must(drv.cuStreamDestroy(later), "destroy");
        must(drv.cuStreamDestroy(inside), "destroy");
    });
    cases.add("green/captured_streams", [](Record& r) {
        const Owned<CUgreenCtx> green = new_green();
        const Event event = new_event();
        CUstream stream = nullptr;
        must(drv.cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0), "stream");
        r("begin", begin(stream));
        r("launch", launch_empty(stream));
        r("record", drv.cuGreenCtxRecordEvent(green, event));
        r("status", status(stream));
        end(r, "end", stream);
        r("begin again", begin(stream));
        r("launch again", launch_empty(stream));
        CUgraph graph = nullptr;
        r("end again", drv.cuStreamEndCapture(stream, &graph));
        if (graph != nullptr) {
            run_graph(graph);
            drv.cuGraphDestroy(graph);
        }
        must(drv.cuStreamDestroy(stream), "destroy");
    });
}

}  // namespace

void add_green_context_cases(Cases& cases) {
    add_resource_cases(cases);
    add_life_cases(cases);
    add_event_cases(cases);
}

}  // namespace conf
