// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Order: within a stream, between streams by events, and the rules of the default streams. The laws run with several
// numbers of workers. Laws that need a second thread are skipped with 0 workers.
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <cerrno>
#include <numeric>

#include "hostdriver/limited_waits.h"
#include "runtime_rig.hpp"

using namespace rig;

namespace {

std::uint64_t affine_chain(std::uint64_t value, const std::vector<std::uint64_t>& steps) {
    for (const std::uint64_t step : steps) value = value * step + 1;
    return value;
}

void append(void* list) {
    static_cast<std::vector<int>*>(list)->push_back(0);
}

}  // namespace

LAW(Stream, RunsItsWorkInOrder) {
    for (const unsigned flags : {CU_STREAM_DEFAULT, CU_STREAM_NON_BLOCKING}) {
        const Stream stream(flags);
        const Buffer<std::uint64_t> out(1);
        std::vector<std::uint64_t> steps(1000);
        std::iota(steps.begin(), steps.end(), 2);
        for (const std::uint64_t step : steps) OK(launch("affine", 1, 1, stream, out.data(), step, std::uint64_t{1}));
        OK(cuStreamSynchronize(stream));
        EQUAL(*out.data(), affine_chain(0, steps));
        OK(cuStreamQuery(stream));
    }
}

namespace {
void wait_for_release(void* released) {
    while (!static_cast<std::atomic<bool>*>(released)->load()) std::this_thread::yield();
}
}  // namespace

LAW(Stream, LimitedWaitEndsDuringAnOperationThatDoesNotEnd) {
    const Stream stream;
    CUevent event = nullptr;
    OK(cuEventCreate(&event, CU_EVENT_DEFAULT));
    std::atomic<bool> released{false};
    OK(cuLaunchHostFunc(stream, wait_for_release, &released));
    OK(cuEventRecord(event, stream));
    if (check::workers() >= 2) {
        for (const std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{1'000'000}}) {
            EQUAL(cghStreamSynchronize(stream, limit), CUDA_ERROR_NOT_READY);
            EQUAL(cghEventSynchronize(event, limit), CUDA_ERROR_NOT_READY);
            EQUAL(cghCtxSynchronize(limit), CUDA_ERROR_NOT_READY);
        }
    }
    released.store(true);
    OK(cghEventSynchronize(event, UINT64_MAX));
    OK(cghStreamSynchronize(stream, UINT64_MAX));
    OK(cghCtxSynchronize(UINT64_MAX));
    OK(cghStreamSynchronize(stream, 0));
    OK(cuEventDestroy(event));
}

// A GPU runs such kernels side by side.
LAW(Stream, RunsBesideKernelsThatOccupyAllWorkers) {
    if (check::workers() == 0) return;
    Gate gate;
    const std::vector<Stream> occupied(check::workers());
    for (const Stream& stream : occupied) OK(launch("spin", 1, 1, stream, gate.flag()));
    const Stream queried, recorded, awaited;
    for (const Stream* stream : {&queried, &recorded, &awaited}) OK(launch("nothing", 1, 1, *stream));
    CUevent event = nullptr;
    OK(cuEventCreate(&event, CU_EVENT_DEFAULT));
    OK(cuEventRecord(event, recorded));
    CHECK(soon([&] { return cuStreamQuery(queried) == CUDA_SUCCESS; }));
    for (const Stream& stream : occupied) ANSWERS(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
    const Stream another;
    OK(launch("spin", 1, 1, another, gate.flag()));
    CHECK(soon([&] { return cuEventQuery(event) == CUDA_SUCCESS; }));
    CHECK(soon([&] { return cghStreamSynchronize(awaited, 1'000'000) == CUDA_SUCCESS; }));
    gate.open();
    for (const Stream& stream : occupied) OK(cuStreamSynchronize(stream));
    OK(cuStreamSynchronize(another));
    OK(cuEventDestroy(event));
}

LAW(Stream, LimitedWaitsOfNoTimeComeToAnEnd) {
    const Stream stream;
    const Buffer<std::uint64_t> out(1);
    std::vector<std::uint64_t> steps(100);
    std::iota(steps.begin(), steps.end(), 2);
    for (const std::uint64_t step : steps) OK(launch("affine", 1, 1, stream, out.data(), step, std::uint64_t{1}));
    CUresult status = CUDA_ERROR_NOT_READY;
    while (status == CUDA_ERROR_NOT_READY) status = cghStreamSynchronize(stream, 0);
    OK(status);
    EQUAL(*out.data(), affine_chain(0, steps));
}

LAW(Stream, RunsItsWorkInOrderWhileAnotherThreadSynchronises) {
    const Stream stream;
    const Buffer<std::uint64_t> out(1);
    std::atomic<bool> stop{false};
    std::thread other([&] {
        context();
        while (!stop.load()) OK(cuStreamSynchronize(stream));
    });
    std::vector<std::uint64_t> steps(5000);
    std::iota(steps.begin(), steps.end(), 2);
    for (const std::uint64_t step : steps) OK(launch("affine", 1, 1, stream, out.data(), step, std::uint64_t{1}));
    OK(cuStreamSynchronize(stream));
    stop.store(true);
    other.join();
    EQUAL(*out.data(), affine_chain(0, steps));
}

LAW(Stream, KeepsTheOrderOfEachOfManyThreads) {
    constexpr int kThreads = 4, kEach = 500;
    const Stream stream;
    const Buffer<std::uint64_t> out(kThreads);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
        threads.emplace_back([&, t] {
            context();
            for (std::uint64_t i = 0; i < kEach; ++i)
                OK(launch("affine", 1, 1, stream, out.data() + t, std::uint64_t{3}, i));
            OK(cuStreamSynchronize(stream));
        });
    for (std::thread& thread : threads) thread.join();
    std::uint64_t expected = 0;
    for (std::uint64_t i = 0; i < kEach; ++i) expected = expected * 3 + i;
    for (int t = 0; t < kThreads; ++t) EQUAL(out.data()[t], expected);
}

LAW(Stream, LaunchReturnsAtOnceAlsoOfAKernelThatWaitsForTheHost) {
    if (check::workers() == 0) return;
    Gate gate;
    const Stream stream;
    const Buffer<std::uint32_t> done(1);
    OK(launch("spin", 1, 1, stream, gate.flag()));
    OK(launch("add", 1, 1, stream, done.data(), 1u));
    ANSWERS(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
    gate.open();
    // No thread synchronises: a worker has to find the work.
    CHECK(soon([&] { return cuStreamQuery(stream) == CUDA_SUCCESS; }));
    EQUAL(*done.data(), 1u);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(__x86_64__)
namespace {

std::atomic<int> futex_calls{0};

// From here on, futex calls of this thread are only counted. They wake no thread, and a waiting thread polls again.
void count_futex_calls() {
    struct sigaction action{};
    action.sa_sigaction = [](int, siginfo_t*, void* machine) {
        futex_calls.fetch_add(1);
        greg_t* const registers = static_cast<ucontext_t*>(machine)->uc_mcontext.gregs;
        const auto operation = registers[REG_RSI] & FUTEX_CMD_MASK;
        registers[REG_RAX] = operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET ? -EAGAIN : 0;
    };
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSYS, &action, nullptr);
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter{4, program};
    EQUAL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    EQUAL(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

}  // namespace

LAW_ALONE(Stream, LaunchWakesNobodyByASystemCallWhileThereIsActivity) {
    const Stream stream;
    const CUfunction nothing = function("nothing");
    const auto step = [&] {
        OK(cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr));
        OK(cuStreamSynchronize(stream));
    };
    for (int i = 0; i < 1000; ++i) step();
    count_futex_calls();
    for (int i = 0; i < 20'000; ++i) step();
    // On a busy machine this thread may lose its processor until the worker stops polling.
    CHECK(futex_calls.load() < 200);
}
#endif

LAW(Stream, EveryOneOfManySpinningStreamsIsPickedUpWhereThereAreWorkers) {
    if (check::workers() < 2) return;
    Gate gate;
    const Stream one, two;
    struct Both {
        std::atomic<int> inside{0};
        Gate* gate;
    };
    static Both both;
    both.inside = 0;
    const auto meet_other = [](void*) {
        both.inside.fetch_add(1);
        while (both.inside.load() < 2) std::this_thread::yield();
    };
    OK(cuLaunchHostFunc(one, meet_other, nullptr));
    OK(cuLaunchHostFunc(two, meet_other, nullptr));
    CHECK(soon([&] { return both.inside.load() == 2; }));
    OK(cuStreamSynchronize(one));
    OK(cuStreamSynchronize(two));
}

LAW(Stream, QueryRunsTheWorkWithoutWorkers) {
    const Stream stream;
    const Buffer<std::uint32_t> out(1);
    OK(launch("add", 1, 1, stream, out.data(), 5u));
    if (check::workers() == 0)
        OK(cuStreamQuery(stream));
    else
        CHECK(soon([&] { return cuStreamQuery(stream) == CUDA_SUCCESS; }));
    EQUAL(*out.data(), 5u);
}

LAW(Stream, DestroyedWithWorkStillDoesIt) {
    Gate gate;
    const Buffer<std::uint32_t> out(1);
    Stream stream;
    if (check::workers() != 0) OK(launch("spin", 1, 1, stream, gate.flag()));
    OK(launch("add", 1, 1, stream, out.data(), 7u));
    const CUstream raw = stream;
    stream.destroy();
    ANSWERS(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(raw));
    ANSWERS(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(raw));
    gate.open();
    OK(cuCtxSynchronize());
    EQUAL(*out.data(), 7u);
}

LAW(Stream, ManyAreCreatedUsedAndDestroyed) {
    const Buffer<std::uint32_t> out(1);
    for (int i = 0; i < 500; ++i) {
        Stream stream(i % 2 == 0 ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING);
        OK(launch("add", 1, 1, stream, out.data(), 1u));
        if (i % 3 == 0) OK(cuStreamSynchronize(stream));
        if (i % 3 == 1) OK(cuCtxSynchronize());
        // Two launches never add to the number at the same time: each ends before the next begins.
        if (i % 3 == 2) CHECK(soon([&] { return cuStreamQuery(stream) == CUDA_SUCCESS; }));
    }
    OK(cuCtxSynchronize());
    EQUAL(*out.data(), 500u);
}

LAW(Stream, ReportsWhatItWasMadeWith) {
    context();
    int least = 9, greatest = 9;
    OK(cuCtxGetStreamPriorityRange(&least, &greatest));
    EQUAL(least, 0);
    EQUAL(greatest, -5);
    OK(cuCtxGetStreamPriorityRange(nullptr, nullptr));
    const int asked[] = {5, 0, -2, -5, -9}, given[] = {0, 0, -2, -5, -5};
    for (int i = 0; i < 5; ++i) {
        CUstream stream = nullptr;
        OK(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, asked[i]));
        int priority = 9;
        OK(cuStreamGetPriority(stream, &priority));
        EQUAL(priority, given[i]);
        unsigned flags = 9;
        OK(cuStreamGetFlags(stream, &flags));
        EQUAL(flags, unsigned{CU_STREAM_NON_BLOCKING});
        CUcontext of = nullptr, current = nullptr;
        OK(cuStreamGetCtx(stream, &of));
        OK(cuCtxGetCurrent(&current));
        EQUAL(of, current);
        OK(cuStreamDestroy(stream));
    }
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuStreamCreate(nullptr, 0));
    CUstream stream = nullptr;
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuStreamCreate(&stream, 2));
    unsigned long long one = 0, two = 0;
    OK(cuStreamGetId(CU_STREAM_LEGACY, &one));
    OK(cuStreamGetId(nullptr, &two));
    EQUAL(one, two);
}

LAW(DefaultStream, WaitsForBlockingStreamsAndTheyForIt) {
    const Buffer<std::uint64_t> out(1);
    const Stream blocking(CU_STREAM_DEFAULT), other(CU_STREAM_DEFAULT);
    std::uint64_t expected = 0;
    for (std::uint64_t i = 1; i < 200; ++i) {
        const CUstream where = i % 4 == 1   ? static_cast<CUstream>(blocking)
                               : i % 4 == 3 ? static_cast<CUstream>(other)
                                            : nullptr;
        OK(launch("affine", 1, 1, where, out.data(), std::uint64_t{3}, i));
        expected = expected * 3 + i;
    }
    OK(cuStreamSynchronize(nullptr));
    OK(cuCtxSynchronize());
    EQUAL(*out.data(), expected);
}

LAW(DefaultStream, LegacyWaitsForASpinningBlockingStreamOnly) {
    if (check::workers() < 2) return;
    Gate gate;
    const Stream blocking(CU_STREAM_DEFAULT), free_running;
    const Buffer<std::uint32_t> out(3);
    OK(launch("spin", 1, 1, blocking, gate.flag()));
    OK(launch("add", 1, 1, nullptr, out.data(), 1u));           // waits for the spinning stream
    OK(launch("add", 1, 1, free_running, out.data() + 1, 1u));  // does not wait for it
    OK(cuStreamSynchronize(free_running));
    EQUAL(out.data()[1], 1u);
    ANSWERS(CUDA_ERROR_NOT_READY, cuStreamQuery(nullptr));
    gate.open();
    OK(cuStreamSynchronize(nullptr));
    EQUAL(out.data()[0], 1u);
}

LAW(DefaultStream, OfAThreadIsItsOwn) {
    context();
    unsigned long long mine = 0, others = 0, legacy = 0;
    OK(cuStreamGetId(CU_STREAM_PER_THREAD, &mine));
    OK(cuStreamGetId(CU_STREAM_LEGACY, &legacy));
    std::thread([&] {
        context();
        OK(cuStreamGetId(CU_STREAM_PER_THREAD, &others));
        const Buffer<std::uint32_t> out(1);
        OK(launch("add", 1, 1, CU_STREAM_PER_THREAD, out.data(), 3u));
        OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
        EQUAL(*out.data(), 3u);
    }).join();
    // Work that an ended thread left in its stream completes, with and without workers.
    const Buffer<std::uint32_t> left(1);
    std::thread([&] {
        context();
        OK(launch("add", 1, 1, CU_STREAM_PER_THREAD, left.data(), 4u));
    }).join();
    CHECK(soon([&] { return cuCtxSynchronize() == CUDA_SUCCESS && *left.data() == 4; }));
    CHECK(mine != others && mine != legacy && others != legacy);
    ANSWERS(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(CU_STREAM_PER_THREAD));
    ANSWERS(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(CU_STREAM_LEGACY));
    ANSWERS(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(nullptr));
}

LAW(HostFunction, RunsInOrderAndMayNotCallTheDriver) {
    const Stream stream;
    static std::vector<int> calls;
    static std::vector<CUresult> inside;
    calls.clear();
    inside.clear();
    for (int i = 0; i < 10; ++i) OK(cuLaunchHostFunc(stream, append, &calls));
    OK(cuLaunchHostFunc(
        stream,
        [](void* argument) {
            int value = 0;
            CUdeviceptr address = 0;
            auto raw = static_cast<CUstream>(argument);
            inside = {cuStreamQuery(raw),
                      cuMemAlloc(&address, 8),
                      cuDeviceGetCount(&value),
                      cuInit(0),
                      cuLaunchHostFunc(raw, append, &calls),
                      cuDriverGetVersion(&value)};
        },
        static_cast<CUstream>(stream)));
    OK(cuStreamSynchronize(stream));
    EQUAL(calls.size(), 10u);
    for (int i = 0; i < 5; ++i) EQUAL(inside[static_cast<std::size_t>(i)], CUDA_ERROR_NOT_PERMITTED);
    EQUAL(inside[5], CUDA_SUCCESS);
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuLaunchHostFunc(stream, nullptr, nullptr));
}

LAW(HostFunction, NeverRunsOnAThreadOfTheProgram) {
    // Two functions that wait for each other, of two streams. A thread of the program synchronises each stream.
    static std::atomic<int> met;
    met = 0;
    std::vector<std::thread::id> inside(2), outside(2);
    const auto run = [&](std::size_t i) {
        context();
        const Stream stream;
        outside[i] = std::this_thread::get_id();
        OK(cuLaunchHostFunc(
            stream,
            [](void* id) {
                *static_cast<std::thread::id*>(id) = std::this_thread::get_id();
                met.fetch_add(1);
                while (met.load() < 2) std::this_thread::yield();
            },
            &inside[i]));
        OK(cuStreamSynchronize(stream));
    };
    std::thread other(run, 1);
    run(0);
    other.join();
    CHECK(inside[0] != inside[1]);
    for (const std::thread::id id : inside)
        for (const std::thread::id caller : outside) CHECK(id != caller && id != std::thread::id());
}

LAW(HostFunction, CanWaitForAThreadThatCallsTheDriver) {
    // No lock is held while it runs, so every kind of call works meanwhile on another thread.
    const Stream stream, other;
    static std::atomic<int> stage;
    stage = 0;
    std::thread caller([&] {
        context();
        CHECK(soon([&] { return stage.load() == 1; }));
        CUdeviceptr address = 0;
        OK(cuMemAllocAsync(&address, 64, other));
        OK(cuMemFreeAsync(address, other));
        OK(launch("nothing", 1, 1, stream));
        OK(launch("nothing", 1, 1, other));
        OK(cuStreamSynchronize(other));
        OK(cuMemHostRegister(&stage, 4, 0));
        {
            const Stream made(CU_STREAM_DEFAULT);
            const Event event;
            OK(cuEventRecord(event, made));
            OK(cuEventSynchronize(event));
        }
        ANSWERS(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
        stage = 2;
    });
    OK(cuLaunchHostFunc(
        stream,
        [](void*) {
            stage = 1;
            while (stage.load() != 2) std::this_thread::yield();
        },
        nullptr));
    OK(cuStreamSynchronize(stream));
    caller.join();
    OK(cuMemHostUnregister(&stage));
}

LAW(Context, SynchronizeFinishesEveryStream) {
    const Buffer<std::uint32_t> out(3);
    const Stream one(CU_STREAM_DEFAULT), two;
    OK(launch("slow", 1, 1, one, out.data(), 2000u));
    OK(launch("slow", 1, 1, two, out.data() + 1, 1000u));
    OK(launch("slow", 1, 1, CU_STREAM_PER_THREAD, out.data() + 2, 500u));
    OK(cuCtxSynchronize());
    for (int i = 0; i < 3; ++i) EQUAL(out.data()[i], 1u);
}
