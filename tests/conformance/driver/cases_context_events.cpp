// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Events that record all the work of a context, and contexts that wait for events.
#include "capture_rig.hpp"
#include "cases.hpp"

namespace conf {

void add_context_event_cases(Cases& cases) {
    cases.add("context_event/records_all_streams", [](Record& r) {
        const Stream waiting = new_stream(), idle = new_stream();
        const Event event = new_event();
        Pinned flag;
        must(drv.cuStreamWaitValue32(waiting, flag.address(), 1, CU_STREAM_WAIT_VALUE_EQ), "wait");
        r("record", drv.cuCtxRecordEvent(context(), event));
        r("event", drv.cuEventQuery(event));
        r("idle stream", drv.cuStreamQuery(idle));
        flag[0] = 1;
        r("sync", drv.cuEventSynchronize(event));
        r("stream", drv.cuStreamQuery(waiting));
        const Event later = new_event();
        r("record later", drv.cuCtxRecordEvent(context(), later));
        r("sync later", drv.cuEventSynchronize(later));
        float ms = -1;
        r("elapsed", drv.cuEventElapsedTime(&ms, event, later));
        r("a time is written", ms > -1);
    });
    cases.add("context_event/waits_in_all_streams", [](Record& r) {
        const Stream slow = new_stream(), before = new_stream();
        const Event event = new_event();
        Pinned flag, word;
        must(drv.cuStreamWaitValue32(slow, flag.address(), 1, CU_STREAM_WAIT_VALUE_EQ), "wait");
        must(drv.cuEventRecord(event, slow), "record");
        r("wait", drv.cuCtxWaitEvent(context(), event));
        const Stream after = new_stream();
        r("write before", drv.cuStreamWriteValue32(before, word.address(), 1, 0));
        r("write after", drv.cuStreamWriteValue32(after, word.address(), 1, 0));
        r("stream before", drv.cuStreamQuery(before));
        r("stream of later", drv.cuStreamQuery(after));
        r("legacy stream", drv.cuStreamQuery(nullptr));
        flag[0] = 1;
        r("sync", drv.cuCtxSynchronize());
        r("word", static_cast<int>(word[0]));
    });
    cases.add("context_event/of_an_event_never_recorded", [](Record& r) {
        const Event event = new_event();
        r("wait", drv.cuCtxWaitEvent(context(), event));
        r("sync", drv.cuCtxSynchronize());
    });
    cases.add("context_event/null", [](Record& r) {
        const Event event = new_event();
        r("record of null", drv.cuCtxRecordEvent(nullptr, event));
        r("wait of null", drv.cuCtxWaitEvent(nullptr, event));
        r("record null", drv.cuCtxRecordEvent(context(), nullptr));
        r("wait for null", drv.cuCtxWaitEvent(context(), nullptr));
    });
    cases.add("context_event/of_another_context", [](Record& r) {
        const Event ours = new_event();
        const CUcontext primary = context();
        CUcontext own = nullptr;
        must(drv.cuCtxCreate(&own, nullptr, 0, device()), "context");
        const Event theirs = new_event();
        r("record theirs in ours", drv.cuCtxRecordEvent(primary, theirs));
        r("record ours in theirs", drv.cuCtxRecordEvent(own, ours));
        r("record theirs", drv.cuCtxRecordEvent(own, theirs));
        r("we wait for theirs", drv.cuCtxWaitEvent(primary, theirs));
        r("they wait for ours", drv.cuCtxWaitEvent(own, ours));
        must(drv.cuCtxSetCurrent(primary), "current");
        r("destroy", drv.cuCtxDestroy(own));
        r("sync", drv.cuCtxSynchronize());
    });
    cases.add("context_event/record_in_a_capture", [](Record& r) {
        const Event event = new_event();
        for (const auto mode : {kGlobal, kLocal, kRelaxed}) {
            const std::string name = "mode " + std::to_string(mode);
            const Capturing stream(mode);
            must(launch_empty(stream), "launch");
            r(name + " record", drv.cuCtxRecordEvent(context(), event));
            r(name + " status", status(stream));
            end(r, name + " end", stream);
        }
    });
    cases.add("context_event/wait_in_a_capture", [](Record& r) {
        const Event event = new_event();
        for (const auto mode : {kGlobal, kLocal, kRelaxed}) {
            const std::string name = "mode " + std::to_string(mode);
            const Capturing stream(mode);
            must(launch_empty(stream), "launch");
            r(name + " wait", drv.cuCtxWaitEvent(context(), event));
            r(name + " status", status(stream));
            end(r, name + " end", stream);
        }
    });
    cases.add("context_event/wait_for_a_captured_event", [](Record& r) {
        const Event event = untimed();
        CUcontext own = nullptr;
        const Capturing stream;
        must(launch_empty(stream), "launch");
        must(drv.cuEventRecord(event, stream), "record");
        const CUcontext primary = context();
        must(drv.cuCtxCreate(&own, nullptr, 0, device()), "context");
        r("wait", drv.cuCtxWaitEvent(own, event));
        must(drv.cuCtxSetCurrent(primary), "current");
        r("status", status(stream));
        end(r, "end", stream);
        r("destroy", drv.cuCtxDestroy(own));
    });
}

}  // namespace conf
