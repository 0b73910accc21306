// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Events: a record is a point in a stream. Waits, queries and times use the latest record at the time of their call.
#include "runtime_rig.hpp"

using namespace rig;

LAW(Event, NeverRecordedIsComplete) {
    const Event event;
    const Stream stream;
    OK(cuEventQuery(event));
    OK(cuEventSynchronize(event));
    OK(cuStreamWaitEvent(stream, event, 0));
    OK(cuStreamSynchronize(stream));
}

LAW(Event, IsReadyWhenTheWorkBeforeItIsDone) {
    if (check::workers() == 0) return;
    Gate gate;
    const Stream stream;
    const Event event;
    OK(launch("spin", 1, 1, stream, gate.flag()));
    OK(cuEventRecord(event, stream));
    ANSWERS(CUDA_ERROR_NOT_READY, cuEventQuery(event));
    gate.open();
    OK(cuEventSynchronize(event));
    OK(cuEventQuery(event));
}

LAW(Event, OrdersOneStreamAfterAnother) {
    const Stream streams[3];
    const Buffer<std::uint64_t> out(1);
    std::uint64_t expected = 0;
    const Event events[3];
    for (std::uint64_t i = 1; i < 300; ++i) {
        const CUstream mine = streams[i % 3];
        if (i > 1) OK(cuStreamWaitEvent(mine, events[(i - 1) % 3], 0));
        OK(launch("affine", 1, 1, mine, out.data(), std::uint64_t{3}, i));
        OK(cuEventRecord(events[i % 3], mine));
        expected = expected * 3 + i;
    }
    OK(cuEventSynchronize(events[299 % 3]));
    EQUAL(*out.data(), expected);
}

LAW(Event, WaitingStreamBlocksNoWorker) {
    // There are more waiting streams than workers, and the awaited work still runs.
    if (check::workers() == 0) return;
    Gate gate;
    const Stream first;
    const Event event;
    OK(launch("spin", 1, 1, first, gate.flag()));
    OK(cuEventRecord(event, first));
    const Stream waiting[12];
    const Buffer<std::uint32_t> out(13);
    for (int i = 0; i < 12; ++i) {
        OK(cuStreamWaitEvent(waiting[i], event, 0));
        OK(launch("add", 1, 1, waiting[i], out.data() + i, 1u));
    }
    for (int i = 0; i < 12; ++i) EQUAL(out.data()[i], 0u);
    const Stream other;
    OK(launch("add", 1, 1, other, out.data() + 12, 1u));
    if (check::workers() > 1) CHECK(soon([&] { return cuStreamQuery(other) == CUDA_SUCCESS; }));
    gate.open();
    // No thread synchronises.
    for (int i = 0; i < 12; ++i) CHECK(soon([&] { return cuStreamQuery(waiting[i]) == CUDA_SUCCESS; }));
    for (int i = 0; i < 12; ++i) EQUAL(out.data()[i], 1u);
}

LAW(Event, WaitRefersToTheRecordAtTheCall) {
    if (check::workers() < 2) return;
    Gate gate;
    const Stream producer, consumer;
    const Event event;
    OK(cuEventRecord(event, producer));
    OK(cuEventSynchronize(event));
    OK(cuStreamWaitEvent(consumer, event, 0));  // waits for the first record, which is reached
    OK(launch("spin", 1, 1, producer, gate.flag()));
    OK(cuEventRecord(event, producer));
    OK(cuStreamSynchronize(consumer));
    OK(cuStreamWaitEvent(consumer, event, 0));  // waits for the second record
    ANSWERS(CUDA_ERROR_NOT_READY, cuStreamQuery(consumer));
    gate.open();
    OK(cuStreamSynchronize(consumer));
}

LAW(Event, MayBeDestroyedWhileWorkWaitsForIt) {
    const Stream producer, consumer;
    const Buffer<std::uint32_t> out(2);
    Event event;
    OK(launch("slow", 1, 1, producer, out.data(), 3000u));
    OK(cuEventRecord(event, producer));
    OK(cuStreamWaitEvent(consumer, event, 0));
    const CUevent raw = event;
    event.destroy();
    ANSWERS(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(raw));
    ANSWERS(CUDA_ERROR_INVALID_HANDLE, cuEventDestroy(raw));
    OK(launch("add", 1, 1, consumer, out.data() + 1, 1u));
    OK(cuStreamSynchronize(consumer));
    EQUAL(out.data()[0], 1u);
    EQUAL(out.data()[1], 1u);
}

LAW(Event, OutlivesItsStream) {
    const Event event;
    const Buffer<std::uint32_t> out(1);
    {
        const Stream stream;
        OK(launch("slow", 1, 1, stream, out.data(), 1000u));
        OK(cuEventRecord(event, stream));
    }
    OK(cuEventSynchronize(event));
    EQUAL(*out.data(), 1u);
}

LAW(Event, ElapsedTimeIsThatOfTheWorkBetween) {
    const Stream stream;
    const Event start, end, untimed(CU_EVENT_DISABLE_TIMING);
    const Buffer<std::uint32_t> out(1);
    float milliseconds = -1;
    ANSWERS(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&milliseconds, start, end));
    OK(cuEventRecord(start, stream));
    OK(launch("slow", 1, 1, stream, out.data(), 20'000u));
    OK(cuEventRecord(end, stream));
    OK(cuEventRecord(untimed, stream));
    OK(cuEventSynchronize(end));
    OK(cuEventElapsedTime(&milliseconds, start, end));
    CHECK(milliseconds >= 20 && milliseconds < 20'000);
    OK(cuEventElapsedTime(&milliseconds, end, end));
    EQUAL(milliseconds, 0.0f);
    ANSWERS(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&milliseconds, start, untimed));
    if (check::workers() != 0) {
        Gate gate;
        OK(launch("spin", 1, 1, stream, gate.flag()));
        OK(cuEventRecord(end, stream));
        ANSWERS(CUDA_ERROR_NOT_READY, cuEventElapsedTime(&milliseconds, start, end));
        gate.open();
        OK(cuStreamSynchronize(stream));
    }
}

LAW(Event, RecordedByManyThreadsStaysWhole) {
    const Event event;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            context();
            const Stream mine, other;
            for (int i = 0; i < 300; ++i) {
                OK(cuEventRecord(event, mine));
                OK(cuStreamWaitEvent(other, event, 0));
                const CUresult state = cuEventQuery(event);
                CHECK(state == CUDA_SUCCESS || state == CUDA_ERROR_NOT_READY);
            }
            OK(cuStreamSynchronize(other));
            OK(cuEventSynchronize(event));
        });
    for (std::thread& thread : threads) thread.join();
}
