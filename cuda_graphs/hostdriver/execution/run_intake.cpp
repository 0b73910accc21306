// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The intake of streams that are not captured: it adds operations to the stream's queue.
#include <cstring>
#include <memory>

#include "hostdriver/entry.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/graphs/graph_exec.hpp"
#include "hostdriver/objects/memory/memory.hpp"
#include "hostdriver/objects/memory/pool.hpp"
#include "hostdriver/objects/streams/capture.hpp"
#include "hostdriver/objects/streams/event.hpp"
#include "hostdriver/objects/streams/intake.hpp"
#include "hostdriver/sanitizer/findings.hpp"
#include "operations.hpp"

namespace cgh {
namespace {

// The driver API page "API synchronization behavior" says that asynchronous copies from pageable host memory are staged
// at the call. This driver stages copies up to this size; it waits for larger copies.
constexpr std::size_t kStaged = 64 << 10;

class StagedCopy final : public Operation {
  public:
    explicit StagedCopy(const Copy& copy) : copy_(copy), bytes_(new std::byte[copy.linear_bytes()]) {
        std::memcpy(bytes_.get(), copy.source(), copy.linear_bytes());
        copy_.set_source(bytes_.get());
    }
    void run(Stream& stream) override { run_value(copy_, stream); }

  private:
    Copy copy_;
    std::unique_ptr<std::byte[]> bytes_;
};

CUresult push_and_wait(Stream& stream, const Copy& copy) {
    stream.wait_for(stream.push(new ValueOperation<Copy>(copy)));
    return outcome_of(stream.context());
}

class RunIntake final : public Intake {
  public:
    CUresult refuse(Stream&, CUresult why) const override { return why; }
    CUresult inspect(Stream&, Inspection) const override { return CUDA_SUCCESS; }

    CUresult kernel(Stream& stream, const KernelRequest& request) const override {
        std::unique_ptr<KernelOperation> operation(new KernelOperation);  // make_unique would first fill it with zeros
        TRY(KernelLaunch::make(request.kernel, request.shape, request.params, request.extra, &operation->launch));
        stream.push(operation.release());
        return CUDA_SUCCESS;
    }

    CUresult copy(Stream& stream, const CopyRequest& request, Wait wait) const override {
        Copy copy;
        TRY(request.make(stream.context().device(), &copy));
        // The same page: copies to pageable host memory return once they are complete.
        if (wait == Wait::kYes || copy.to_pageable()) return push_and_wait(stream, copy);
        if (!copy.from_pageable()) {
            stream.push(new ValueOperation<Copy>(copy));
            return CUDA_SUCCESS;
        }
        if (copy.linear_bytes() == 0 || copy.linear_bytes() > kStaged) return push_and_wait(stream, copy);
        stream.push(new StagedCopy(copy));
        return CUDA_SUCCESS;
    }

    CUresult fill(Stream& stream, const FillRequest& request, Wait wait) const override {
        Fill fill;
        TRY(Fill::make(request.dst, request.pitch, request.value, request.element_size, request.width, request.height,
                       stream.context().device(), &fill));
        const std::uint64_t position = stream.push(new ValueOperation<Fill>(fill));
        if (wait == Wait::kNo) return CUDA_SUCCESS;
        const auto target = AddressMap::get().find(request.dst);
        if (!target || !(target->on_host() || target->is_managed() || target->is_synchronous))
            return stream.context().status();
        stream.wait_for(position);
        return outcome_of(stream.context());
    }

    CUresult memory_operations(Stream& stream, const BatchRequest& request) const override {
        MemoryBatch batch;
        TRY(MemoryBatch::make(request.operations, request.count, request.flags, Checked::kNow, &batch));
        if (!batch.empty()) stream.push(new BatchOperation(stream.context(), std::move(batch)));
        return CUDA_SUCCESS;
    }

    CUresult host_function(Stream& stream, CUhostFn function, void* data) const override {
        stream.push(new HostOperation(function, data));
        return CUDA_SUCCESS;
    }

    CUresult record(Stream& stream, Event& event, External external) const override {
        // cuda.h, CU_EVENT_RECORD_EXTERNAL: "This flag is invalid when used outside of capture."
        REQUIRE(external == External::kNo, CUDA_ERROR_ILLEGAL_STATE);
        return event.record(stream);
    }

    CUresult wait(Stream& stream, Event* event, External external) const override {
        REQUIRE(event != nullptr, CUDA_ERROR_INVALID_HANDLE);
        // cuda.h, CU_EVENT_WAIT_EXTERNAL: "This flag is invalid when used outside of capture."
        REQUIRE(external == External::kNo, CUDA_ERROR_ILLEGAL_STATE);
        const Ref<Milestone> latest = event->latest();
        if (latest && latest->captured() != nullptr) return Capture::join(stream, *latest->captured());
        return event->wait_on(stream);
    }

    CUresult allocate(Stream&, MemoryPool& pool, std::size_t bytes, CUdeviceptr* out) const override {
        TRY(Capture::check_unsafe_call());
        return pool.allocate(bytes, out);
    }
    CUresult free(Stream& stream, CUdeviceptr address) const override {
        TRY(Capture::check_unsafe_call());
        return free_in_stream_order(address, stream);
    }
    CUresult graph(Stream& stream, GraphExec* exec) const override {
        return exec != nullptr ? exec->launch(stream) : CUDA_ERROR_INVALID_VALUE;
    }
    CUresult upload(Stream&, GraphExec* exec) const override {
        return exec != nullptr ? exec->upload() : CUDA_ERROR_INVALID_VALUE;
    }
    CUresult synchronize(Stream& stream, WaitLimit* limit) const override {
        TRY(Capture::check_unsafe_call());
        TRY(stream.synchronize(limit));
        return outcome_of(stream.context());
    }
    CUresult query(Stream& stream) const override {
        TRY(Capture::check_unsafe_call());
        return stream.query();
    }
};

}  // namespace

const Intake& run_intake() {
    static constexpr RunIntake intake;
    return intake;
}

}  // namespace cgh
