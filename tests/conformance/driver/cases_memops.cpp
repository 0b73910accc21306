// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory operations of streams: waits for values, writes of values, batches of both, the values that release a wait,
// and their captures.
#include <vector>

#include "capture_rig.hpp"
#include "cases.hpp"
#include "memory_operations.hpp"

namespace conf {

namespace {

// Device memory of one 64-bit word.
class Word {
  public:
    explicit Word(uint64_t value) {
        context();
        must(drv.cuMemAlloc(&address_, 8), "alloc");
        must(drv.cuMemcpyHtoD(address_, &value, 8), "set");
        wait_for_what_was_copied();
    }
    Word(const Word&) = delete;
    ~Word() { drv.cuMemFree(address_); }
    operator CUdeviceptr() const { return address_; }  // NOLINT(google-explicit-constructor): as Owned
    uint64_t get() const {
        uint64_t value = 0;
        must(drv.cuMemcpyDtoH(&value, address_, 8), "get");
        return value;
    }

  private:
    CUdeviceptr address_ = 0;
};

// Queues a wait for `value` on a word that contains `held`, which satisfies it.
template <class T, class Push>
void ask_pass(Record& r, const std::string& label, T held, const Push& push) {
    const Stream stream = new_stream();
    Pinned word(2);
    *static_cast<volatile T*>(word.data()) = held;
    const CUresult pushed = push(stream, word.address());
    r(label, pushed != CUDA_SUCCESS ? pushed : drv.cuStreamSynchronize(stream));
}

// Queues a wait that is satisfied only when the word contains `release`.
template <class T, class Push>
void ask_wait(Record& r, const std::string& label, T held, T release, const Push& push) {
    const Stream stream = new_stream(), other = new_stream();
    Pinned word(2);
    Word far(0);
    *static_cast<volatile T*>(word.data()) = held;
    const CUresult pushed = push(stream, word.address());
    if (pushed != CUDA_SUCCESS) return r(label, pushed);
    must(drv.cuStreamWriteValue32(other, far, 1, 0), "write");  // gives the device time to run the wait
    must(drv.cuStreamSynchronize(other), "sync");
    r(label + ", before", drv.cuStreamQuery(stream));
    *static_cast<volatile T*>(word.data()) = release;
    r(label + ", after", drv.cuStreamSynchronize(stream));
}

auto wait_of_32(uint32_t value, unsigned flags) {
    return [=](CUstream stream, CUdeviceptr at) { return drv.cuStreamWaitValue32(stream, at, value, flags); };
}
auto wait_of_64(uint64_t value, unsigned flags) {
    return [=](CUstream stream, CUdeviceptr at) { return drv.cuStreamWaitValue64(stream, at, value, flags); };
}

void pass32(Record& r, const std::string& label, uint32_t held, uint32_t value, unsigned flags) {
    ask_pass<uint32_t>(r, label, held, wait_of_32(value, flags));
}
void hold32(Record& r, const std::string& label, uint32_t held, uint32_t value, unsigned flags, uint32_t release) {
    ask_wait<uint32_t>(r, label, held, release, wait_of_32(value, flags));
}
void pass64(Record& r, const std::string& label, uint64_t held, uint64_t value, unsigned flags) {
    ask_pass<uint64_t>(r, label, held, wait_of_64(value, flags));
}
void hold64(Record& r, const std::string& label, uint64_t held, uint64_t value, unsigned flags, uint64_t release) {
    ask_wait<uint64_t>(r, label, held, release, wait_of_64(value, flags));
}

void add_value_cases(Cases& cases) {
    cases.add("stream_memory/writes", [](Record& r) {
        const Stream stream = new_stream();
        Word word(0x1111111122222222);
        r("32", drv.cuStreamWriteValue32(stream, word, 0x33333333, 0));
        r("sync 32", drv.cuStreamSynchronize(stream));
        r("high half", drv.cuStreamWriteValue32(stream, word + 4, 0x44444444, 0));
        r("without barrier",
          drv.cuStreamWriteValue32(stream, word, 0x55555555, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
        r("sync halves", drv.cuStreamSynchronize(stream));
        r("64", drv.cuStreamWriteValue64(stream, word, 0x6666666677777777, 0));
        r("sync 64", drv.cuStreamSynchronize(stream));
        r("word 64", word.get() == 0x6666666677777777);
        Pinned pinned;
        r("pinned", drv.cuStreamWriteValue32(stream, pinned.address(), 5, 0));
        r("sync pinned", drv.cuStreamSynchronize(stream));
        r("pinned word", static_cast<int>(pinned[0]));
        r("legacy stream", drv.cuStreamWriteValue32(nullptr, word, 1, 0));
        r("own stream", drv.cuStreamWriteValue32(CU_STREAM_PER_THREAD, word, 2, 0));
        r("sync all", drv.cuCtxSynchronize());
    });
    cases.add("stream_memory/conditions_of_32_bits", [](Record& r) {
        pass32(r, "geq equal", 5, 5, CU_STREAM_WAIT_VALUE_GEQ);
        pass32(r, "geq above", 6, 5, CU_STREAM_WAIT_VALUE_GEQ);
        hold32(r, "geq below", 4, 5, CU_STREAM_WAIT_VALUE_GEQ, 5);
        pass32(r, "geq around the end", 3, 0xfffffff0, CU_STREAM_WAIT_VALUE_GEQ);
        hold32(r, "geq half way round", 0x80000005, 4, CU_STREAM_WAIT_VALUE_GEQ, 4);
        pass32(r, "eq equal", 5, 5, CU_STREAM_WAIT_VALUE_EQ);
        hold32(r, "eq above", 6, 5, CU_STREAM_WAIT_VALUE_EQ, 5);
        pass32(r, "and common", 6, 5, CU_STREAM_WAIT_VALUE_AND);
        hold32(r, "and none", 6, 1, CU_STREAM_WAIT_VALUE_AND, 1);
        pass32(r, "nor some clear", 6, 1, CU_STREAM_WAIT_VALUE_NOR);
        hold32(r, "nor none clear", 0xfffffff0, 0xf, CU_STREAM_WAIT_VALUE_NOR, 0);
    });
    cases.add("stream_memory/conditions_of_64_bits", [](Record& r) {
        pass64(r, "geq equal", 5, 5, CU_STREAM_WAIT_VALUE_GEQ);
        pass64(r, "geq in the high half", 1ull << 40, 5, CU_STREAM_WAIT_VALUE_GEQ);
        hold64(r, "geq below", 4, 1ull << 40, CU_STREAM_WAIT_VALUE_GEQ, 1ull << 40);
        hold64(r, "geq half way round", (1ull << 63) + 5, 4, CU_STREAM_WAIT_VALUE_GEQ, 4);
        hold64(r, "eq low half only", 5, (1ull << 40) + 5, CU_STREAM_WAIT_VALUE_EQ, (1ull << 40) + 5);
        pass64(r, "and in the high half", 1ull << 40, 3ull << 40, CU_STREAM_WAIT_VALUE_AND);
        hold64(r, "and none", 1ull << 40, 3ull, CU_STREAM_WAIT_VALUE_AND, 1);
        pass64(r, "nor some clear", ~0ull << 4, 7, CU_STREAM_WAIT_VALUE_NOR);
        hold64(r, "nor none clear", ~0ull << 4, 15, CU_STREAM_WAIT_VALUE_NOR, 0);
    });
    cases.add("stream_memory/bad_flags", [](Record& r) {
        const Stream stream = new_stream();
        Word word(0);
        r("wait 4", drv.cuStreamWaitValue32(stream, word, 0, 4));
        r("wait flush", drv.cuStreamWaitValue32(stream, word, 0, CU_STREAM_WAIT_VALUE_FLUSH));
        r("wait 1 << 29", drv.cuStreamWaitValue32(stream, word, 0, 1u << 29));
        r("write 2", drv.cuStreamWriteValue32(stream, word, 0, 2));
        r("write 4", drv.cuStreamWriteValue64(stream, word, 0, 4));
        r("sync", drv.cuStreamSynchronize(stream));
    });
    cases.alone("stream_memory/bad_addresses", [](Record& r) {
        const Stream stream = new_stream();
        Word word(0);
        r("wait null", drv.cuStreamWaitValue32(stream, 0, 0, 0));
        r("write null", drv.cuStreamWriteValue32(stream, 0, 0, 0));
        r("wait at 1", drv.cuStreamWaitValue32(stream, word + 1, 0, 0));
        r("wait at 2", drv.cuStreamWaitValue32(stream, word + 2, 0, 0));
        r("write at 2", drv.cuStreamWriteValue32(stream, word + 2, 0, 0));
        r("wait 64 at 4", drv.cuStreamWaitValue64(stream, word + 4, 0, 0));
        r("write 64 at 4", drv.cuStreamWriteValue64(stream, word + 4, 0, 0));
        r("write garbage", drv.cuStreamWriteValue32(stream, kGarbage, 0, 0));
        r("wait garbage", drv.cuStreamWaitValue32(stream, kGarbage, 0, 0));
        static uint64_t pageable = 0;
        r("write pageable", drv.cuStreamWriteValue32(stream, reinterpret_cast<CUdeviceptr>(&pageable), 0, 0));
        r("wait pageable", drv.cuStreamWaitValue32(stream, reinterpret_cast<CUdeviceptr>(&pageable), 0, 0));
        CUdeviceptr managed = 0;
        must(drv.cuMemAllocManaged(&managed, 8, CU_MEM_ATTACH_GLOBAL), "managed");
        r("write managed", drv.cuStreamWriteValue32(stream, managed, 1, 0));
        r("wait managed", drv.cuStreamWaitValue32(stream, managed, 1, 0));
        CUdeviceptr freed = 0;
        must(drv.cuMemAlloc(&freed, 8 << 20), "alloc");
        must(drv.cuMemFree(freed), "free");
        r("write freed", drv.cuStreamWriteValue32(stream, freed, 0, 0));
        r("sync", drv.cuStreamSynchronize(stream));
    });
    cases.add("stream_memory/other_memory", [](Record& r) {
        const Stream stream = new_stream();
        static uint64_t pageable[512];
        must(drv.cuMemHostRegister(pageable, sizeof pageable, 0), "register");
        CUdeviceptr registered = 0;
        must(drv.cuMemHostGetDevicePointer(&registered, pageable, 0), "pointer");
        r("registered", drv.cuStreamWriteValue32(stream, registered, 1, 0));
        r("sync", drv.cuStreamSynchronize(stream));
        must(drv.cuMemHostUnregister(pageable), "unregister");
        CUDA_MEM_ALLOC_NODE_PARAMS params = alloc_params(64);
        const Graph graph = new_graph();
        CUgraphNode node = nullptr;
        must(drv.cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &params), "alloc node");
        const Exec exec = new_exec(graph);
        must(drv.cuGraphLaunch(exec, stream), "launch");
        r("of a graph", drv.cuStreamWriteValue32(stream, params.dptr, 1, 0));
        must(drv.cuMemFreeAsync(params.dptr, stream), "free");
        r("sync of a graph", drv.cuStreamSynchronize(stream));
    });
    cases.add("stream_memory/memory_of_pools", [](Record& r) {
        const Stream stream = new_stream();
        CUdeviceptr pooled = 0;
        must(drv.cuMemAllocAsync(&pooled, 64, stream), "alloc");
        r("write", drv.cuStreamWriteValue32(stream, pooled, 7, 0));
        r("wait", drv.cuStreamWaitValue32(stream, pooled, 7, CU_STREAM_WAIT_VALUE_EQ));
        r("free", drv.cuMemFreeAsync(pooled, stream));
        r("sync", drv.cuStreamSynchronize(stream));
    });
}

void add_batch_cases(Cases& cases) {
    cases.add("stream_memory/batches_run_in_order", [](Record& r) {
        const Stream stream = new_stream();
        Word first(0), second(0);
        Pinned flag;
        std::vector<CUstreamBatchMemOpParams> batch{write32(first, 1), wait32(flag.address(), 1), write32(second, 2),
                                                    barrier(), write64(first, 3)};
        r("batch", drv.cuStreamBatchMemOp(stream, 5, batch.data(), 0));
        r("waits", drv.cuStreamQuery(stream));
        flag[0] = 1;
        r("sync", drv.cuStreamSynchronize(stream));
        r("first", first.get() == 3);
        r("second", second.get() == 2);
    });
    cases.add("stream_memory/bad_batches", [](Record& r) {
        const Stream stream = new_stream();
        Word word(0);
        std::vector<CUstreamBatchMemOpParams> many(300, write32(word, 1));
        r("none", drv.cuStreamBatchMemOp(stream, 0, many.data(), 0));
        r("none of null", drv.cuStreamBatchMemOp(stream, 0, nullptr, 0));
        r("255", drv.cuStreamBatchMemOp(stream, 255, many.data(), 0));
        r("256", drv.cuStreamBatchMemOp(stream, 256, many.data(), 0));
        r("257", drv.cuStreamBatchMemOp(stream, 257, many.data(), 0));
        r("flags", drv.cuStreamBatchMemOp(stream, 1, many.data(), 1));
        for (const int type : {0, 3, 6, 7, 99}) {
            CUstreamBatchMemOpParams odd{};
            odd.operation = static_cast<CUstreamBatchMemOpType>(type);
            r("type " + std::to_string(type), drv.cuStreamBatchMemOp(stream, 1, &odd, 0));
        }
        CUstreamBatchMemOpParams fence = barrier();
        fence.memoryBarrier.flags = CU_STREAM_MEMORY_BARRIER_TYPE_GPU;
        r("barrier of the device", drv.cuStreamBatchMemOp(stream, 1, &fence, 0));
        fence.memoryBarrier.flags = 2;
        r("barrier 2", drv.cuStreamBatchMemOp(stream, 1, &fence, 0));
        CUstreamBatchMemOpParams flush{};
        flush.operation = CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES;
        flush.flushRemoteWrites.flags = 1;
        r("flush with flags", drv.cuStreamBatchMemOp(stream, 1, &flush, 0));
        must(drv.cuStreamSynchronize(stream), "sync");
        // The first operation is valid, the second is not. The case records whether the first ran.
        must(drv.cuStreamWriteValue64(stream, word, 0, 0), "clear");
        CUstreamBatchMemOpParams half[2] = {write32(word, 9), write32(word + 1, 9)};
        r("one good, one bad", drv.cuStreamBatchMemOp(stream, 2, half, 0));
        must(drv.cuStreamSynchronize(stream), "sync");
        r("the good one is done", word.get() == 9);
    });
}

CUresult launch_set_int(CUdeviceptr target, int value, CUstream stream) {
    void* arguments[] = {&target, &value};
    return drv.cuLaunchKernel(kernel("set_int"), 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr);
}

void run_set_int(CUdeviceptr target, int value, CUstream stream) {
    must(launch_set_int(target, value, stream), "launch");
    must(drv.cuStreamSynchronize(stream), "sync");
}

void add_release_cases(Cases& cases) {
    cases.add("stream_memory/what_releases_a_wait", [](Record& r) {
        const Stream waiting = new_stream(), other = new_stream();
        Word flag(0), result(0);
        run_set_int(flag, 0, other);  // libcuda loads a kernel at its first launch and then waits for all work
        r("wait", drv.cuStreamWaitValue32(waiting, flag, 1, CU_STREAM_WAIT_VALUE_EQ));
        r("behind it", drv.cuStreamWriteValue32(waiting, result, 5, 0));
        r("write elsewhere", drv.cuStreamWriteValue32(other, flag, 1, 0));
        r("sync", drv.cuStreamSynchronize(waiting));
        r("result", result.get() == 5);
        r("wait for a fill", drv.cuStreamWaitValue32(waiting, flag, 2, CU_STREAM_WAIT_VALUE_EQ));
        r("fill", drv.cuMemsetD32Async(flag, 2, 1, other));
        r("sync 2", drv.cuStreamSynchronize(waiting));
        r("wait for a kernel", drv.cuStreamWaitValue32(waiting, flag, 3, CU_STREAM_WAIT_VALUE_EQ));
        r("kernel", launch_set_int(flag, 3, other));
        r("sync 3", drv.cuStreamSynchronize(waiting));
    });
    cases.add("stream_memory/events_behind_a_wait", [](Record& r) {
        const Stream waiting = new_stream(), other = new_stream();
        const Event event = new_event();
        Pinned flag;
        r("wait", drv.cuStreamWaitValue32(waiting, flag.address(), 1, CU_STREAM_WAIT_VALUE_GEQ));
        r("record", drv.cuEventRecord(event, waiting));
        r("event", drv.cuEventQuery(event));
        r("other waits for the event", drv.cuStreamWaitEvent(other, event, 0));
        r("other", drv.cuStreamQuery(other));
        flag[0] = 1;
        r("sync event", drv.cuEventSynchronize(event));
        r("sync other", drv.cuStreamSynchronize(other));
    });
    // Eight streams wait in a ring, each for a value that the previous stream writes. The host writes the first value.
    cases.add("stream_memory/a_ring_of_streams", [](Record& r) {
        constexpr size_t kStreams = 8;
        Pinned flags(kStreams + 1);
        std::vector<Stream> streams;
        for (size_t i = kStreams; i-- > 0;) {
            streams.push_back(new_stream());
            const CUdeviceptr at = flags.address() + 4 * i;
            must(drv.cuStreamWaitValue32(streams.back(), at, 1, CU_STREAM_WAIT_VALUE_EQ), "wait");
            must(drv.cuStreamWriteValue32(streams.back(), at + 4, 1, 0), "write");
        }
        r("waits", drv.cuStreamQuery(streams.front()));
        flags[0] = 1;
        r("sync", drv.cuStreamSynchronize(streams.front()));
        r("all", drv.cuCtxSynchronize());
        r("last", static_cast<int>(flags[kStreams]));
    });
    cases.add("stream_memory/destroyed_while_it_waits", [](Record& r) {
        Pinned flag, result;
        CUstream stream = nullptr;
        must(drv.cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0), "stream");
        must(drv.cuStreamWaitValue32(stream, flag.address(), 1, CU_STREAM_WAIT_VALUE_EQ), "wait");
        must(drv.cuStreamWriteValue32(stream, result.address(), 7, 0), "write");
        r("destroy", drv.cuStreamDestroy(stream));
        r("result before", static_cast<int>(result[0]));
        flag[0] = 1;
        r("result after", eventually([&] { return result[0] == 7; }));
    });
}

void add_captured_cases(Cases& cases) {
    cases.add("stream_memory/captured", [](Record& r) {
        Word word(0);
        const Capturing stream;
        r("write", drv.cuStreamWriteValue32(stream, word, 1, 0));
        r("wait", drv.cuStreamWaitValue32(stream, word, 1, CU_STREAM_WAIT_VALUE_EQ));
        CUstreamBatchMemOpParams batch[3] = {write64(word, 2), barrier(), wait64(word, 2)};
        r("batch", drv.cuStreamBatchMemOp(stream, 3, batch, 0));
        r("empty batch", drv.cuStreamBatchMemOp(stream, 0, batch, 0));
        end_and_show(r, "end", stream);
    });
    cases.add("stream_memory/captured_parameters", [](Record& r) {
        Word word(0);
        const Capturing stream;
        must(drv.cuStreamWaitValue32(stream, word, 1, CU_STREAM_WAIT_VALUE_EQ), "wait");
        const CUgraph graph = graph_of(stream);
        CUgraphNode node = nullptr;
        size_t count = 1;
        must(drv.cuGraphGetNodes(graph, &node, &count), "nodes");
        CUDA_BATCH_MEM_OP_NODE_PARAMS back{};
        r("get", drv.cuGraphBatchMemOpNodeGetParams(node, &back));
        r("ctx", back.ctx == context());
        r("count", back.count);
        r("flags", back.flags);
        if (back.paramArray != nullptr) record_operation(r, "operation", back.paramArray[0], word);
    });
    cases.add("stream_memory/bad_calls_in_a_capture", [](Record& r) {
        Word word(0);
        const Capturing stream;
        r("flags", drv.cuStreamWriteValue32(stream, word, 1, 8));
        r("status after flags", status(stream));
        r("unaligned", drv.cuStreamWriteValue32(stream, word + 1, 1, 0));
        r("status after unaligned", status(stream));
        CUstreamBatchMemOpParams odd{};
        odd.operation = static_cast<CUstreamBatchMemOpType>(99);
        r("unknown type", drv.cuStreamBatchMemOp(stream, 1, &odd, 0));
        r("status after unknown type", status(stream));
        r("garbage", drv.cuStreamWriteValue32(stream, kGarbage, 1, 0));
        r("status after garbage", status(stream));
        r("many",
          drv.cuStreamBatchMemOp(stream, 256, std::vector<CUstreamBatchMemOpParams>(256, write32(word, 1)).data(), 0));
        r("status after many", status(stream));
        end_and_show(r, "end", stream);
    });
}

}  // namespace

void add_memory_operation_cases(Cases& cases) {
    add_value_cases(cases);
    add_batch_cases(cases);
    add_release_cases(cases);
    add_captured_cases(cases);
}

}  // namespace conf
