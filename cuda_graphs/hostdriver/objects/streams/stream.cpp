// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The queue of a stream, and the functions with which waiting threads run it.
#include "hostdriver/objects/streams/stream.hpp"

#include <algorithm>
#include <new>

#include "hostdriver/entry.hpp"
#include "hostdriver/execution/scheduler.hpp"
#include "hostdriver/execution/thread_state.hpp"
#include "hostdriver/execution/thread_store.hpp"
#include "hostdriver/execution/wait_limit.hpp"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/devices/green_context.hpp"
#include "hostdriver/objects/streams/capture.hpp"
#include "hostdriver/objects/streams/intake.hpp"
#include "hostdriver/sanitizer/accesses.hpp"
#include "hostdriver/sanitizer/random_order.hpp"

namespace cgh {
namespace {

std::atomic<std::uint64_t> last_stream_id{0};

// Orders a stream after a position of another one, for the default-stream rules.
class PositionWait final : public Operation {
  public:
    PositionWait(Stream& stream, std::uint64_t position) : target_{Ref<Stream>(&stream), position} {}
    void run(Stream&) override {}
    bool ready() const override { return target_.stream->reached(target_.position); }
    Target blocked_on() const override { return target_; }
    bool runs_after_failure() const override { return true; }

  private:
    Target target_;
};

}  // namespace

Stream::Stream(Context& context, Kind kind, unsigned flags, int priority, GreenContext* green)
    : context_(context),
      kind_(kind),
      flags_(flags),
      priority_(priority),
      id_(last_stream_id.fetch_add(1, std::memory_order_relaxed) + 1),
      green_(green),
      intake_(&run_intake()) {
    context_.add_stream(this);
}

Stream::~Stream() {
    if (&intake() == &record_intake()) Capture::forget(*this);  // for a per-thread stream at the end of its thread
    context_.remove_stream(this);
    // Operations are left only without workers, at the end of a thread that never synchronised.
    for (Operation* operation = first(); operation != nullptr; operation = first()) complete(operation);
}

void Stream::dispose(Stream* stream) {
    arena<Stream>.recycle(stream);
}

std::uint64_t Stream::push(Operation* operation) {
    if (context_.awaits_events()) context_.push_awaited(*this);
    // The CUDA driver API's page "Stream synchronization behavior": the legacy default stream and every blocking stream
    // of its context wait for each other's earlier work.
    if (kind_ == Kind::kLegacy) {
        if (context_.has_blocking_streams()) {
            for (const Ref<Stream>& other : context_.busy_streams(/*blocking_only=*/true, settings.race))
                append(new PositionWait(*other, other->pushed()));
        }
    } else if (is_blocking()) {
        Stream& legacy = context_.legacy_stream();
        if (settings.race || !legacy.idle()) append(new PositionWait(legacy, legacy.pushed()));
    }
    return append(operation);
}

void Stream::wait_behind(Stream& other) {
    append(new PositionWait(other, other.pushed()));
}

std::uint64_t Stream::append(Operation* operation) {
    std::uint64_t position;
    {
        std::lock_guard<SpinLock> lock(queue_lock_);
        (incoming_last_ != nullptr ? incoming_last_->next_ : incoming_) = operation;
        incoming_last_ = operation;
        position = pushed_.load(std::memory_order_relaxed) + 1;
        if (settings.any()) note_pushed(*this, position, *operation);
        pushed_.store(position, std::memory_order_seq_cst);
    }
    Scheduler::get().notify(*this);
    return position;
}

Operation* Stream::first() {
    if (batch_ == nullptr) {
        std::lock_guard<SpinLock> lock(queue_lock_);
        batch_ = incoming_;
        incoming_ = incoming_last_ = nullptr;
    }
    return batch_;
}

void Stream::complete(Operation* operation) {
    batch_ = operation->next_;
    completed_.store(completed_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
    Scheduler::get().progress.notify();
    operation->finish();
}

bool Stream::runnable() {
    if (claimed() || idle()) return false;
    std::lock_guard<SpinLock> lock(queue_lock_);
    return parked_ == nullptr || parked_->ready();
}

void Stream::run(Operation& operation) {
    if (!settings.any()) return operation.run(*this);
    const TaskScope task(begin_operation(*this, completed_.load(std::memory_order_relaxed) + 1));
    operation.run(*this);
    end_operation();
}

namespace {

// Returns true if a thread with this limit may run the operation now.
bool may_run(const Operation& operation, WaitLimit* limit) {
    if (limit == nullptr) return !Scheduler::stops_this_thread();
    if (Scheduler::get().can_take_over() && (limit->is_query() || !operation.is_brief())) return false;
    return limit->count_operation();
}

}  // namespace

Stream::Advance Stream::advance(std::uint64_t position, WaitLimit* limit) {
    if (reached(position)) return {Advance::kReached, {}};
    if (claimed() || claimed_.exchange(true, std::memory_order_seq_cst)) return {Advance::kBusy, {}};
    {
        std::lock_guard<SpinLock> lock(queue_lock_);
        parked_ = nullptr;
    }
    Advance result{Advance::kReached, {}};
    while (!reached(position)) {
        Operation* operation = first();
        if (operation == nullptr) {
            result.kind = Advance::kEmpty;
            break;
        }
        if (!operation->ready()) {
            result = {Advance::kBlocked, operation->blocked_on()};
            std::lock_guard<SpinLock> lock(queue_lock_);
            parked_ = operation;
            break;
        }
        if (!may_run(*operation, limit)) {
            result.kind = Advance::kLeft;
            break;
        }
        if (context_.status() == CUDA_SUCCESS || operation->runs_after_failure()) {
            run(*operation);
            if (!operation->complete()) continue;
        }
        complete(operation);
    }
    claimed_.store(false, std::memory_order_seq_cst);
    Scheduler::get().progress.notify();
    if (!idle()) Scheduler::get().notify(*this);
    return result;
}

namespace {

// The reason why run_towards() stopped.
struct Stop {
    enum { kProgress, kBusy, kStalled, kLeft } why = kProgress;
    // kBusy: the stream that another thread runs and the position it must reach. kStalled: the stream that waits for a
    // value in memory. kLeft: the stream whose first operation this thread leaves to a worker.
    Target at;
};

// Runs the work up to `position`. If a stream is blocked, runs the work that it waits for.
Stop run_towards(Stream& stream, std::uint64_t position, WaitLimit* limit) {
    Target at;
    Stream* current = &stream;
    for (;;) {
        Stream::Advance advance = current->advance(position, limit);
        if (advance.kind == Stream::Advance::kBlocked) {
            if (!advance.blocked_on.stream) return {Stop::kStalled, {Ref<Stream>(current), position}};
            at = std::move(advance.blocked_on);
            current = at.stream.get();
            position = at.position;
            continue;
        }
        if (advance.kind == Stream::Advance::kBusy) return {Stop::kBusy, {Ref<Stream>(current), position}};
        if (advance.kind == Stream::Advance::kLeft) return {Stop::kLeft, {Ref<Stream>(current), position}};
        return {};
    }
}

}  // namespace

bool run_any_stream() {
    std::vector<Ref<Stream>> able;
    for (Context* const context : Context::all())
        for (Ref<Stream>& stream : context->busy_streams(/*blocking_only=*/false))
            if (stream->runnable()) able.push_back(std::move(stream));
    if (able.empty()) return false;
    const std::size_t chosen = order_is_random() ? draw_below(able.size()) : 0;
    able[chosen]->advance(UINT64_MAX);
    return true;
}

bool wait_helping(Stream& stream, std::uint64_t position, bool (*done)(const void*), const void* argument,
                  WaitLimit* limit) {
    Scheduler& scheduler = Scheduler::get();
    const auto has_passed = [&] { return limit != nullptr && limit->has_passed(); };
    while (!done(argument)) {
        const Stop stop = run_towards(stream, position, limit);
        if (stop.why == Stop::kProgress) continue;
        if (limit != nullptr && limit->is_query()) {
            if (stop.why == Stop::kLeft) scheduler.demand_worker();
            return done(argument);
        }
        Stream& at = *stop.at.stream;
        if (stop.why == Stop::kLeft) {
            scheduler.take_over();
            if (!scheduler.progress.wait([&] { return done(argument) || at.reached(stop.at.position) || at.claimed(); },
                                         has_passed))
                return false;
            continue;
        }
        if (stop.why == Stop::kStalled) {
            // The operation waits for a value in memory. Without workers any other stream may have to run to write it.
            if (scheduler.workers() == 0 && !has_passed() && run_any_stream()) continue;
            if (!scheduler.progress.wait(
                    [&] { return done(argument) || at.reached(stop.at.position) || at.claimed() || at.runnable(); },
                    has_passed))
                return false;
            continue;
        }
        // The thread runs only work that it waits for, because other kernels may wait for the caller's next action.
        // With a limit it helps nobody, because a piece of work may be long.
        if (limit == nullptr && scheduler.help(&at)) continue;
        if (!scheduler.progress.wait(
                [&] {
                    return done(argument) || at.reached(stop.at.position) || !at.claimed() ||
                           (limit == nullptr && scheduler.help_wanted(&at));
                },
                has_passed))
            return false;
    }
    return true;
}

void run_ready_operations(Stream& stream, std::uint64_t position) {
    while (!stream.reached(position)) {
        const Stop stop = run_towards(stream, position, nullptr);
        if (stop.why == Stop::kBusy || (stop.why == Stop::kStalled && !run_any_stream())) return;
    }
}

bool Stream::wait_for(std::uint64_t position, WaitLimit* limit) {
    if (!wait_until_reached(position, limit)) return false;
    if (settings.any()) note_host_waited(*this, position);
    return true;
}

bool Stream::wait_until_reached(std::uint64_t position, WaitLimit* limit) {
    if (reached(position)) return true;
    struct Wait {
        Stream* stream;
        std::uint64_t position;
    } wait{this, position};
    return wait_helping(
        *this, position,
        [](const void* argument) {
            const auto* wait = static_cast<const Wait*>(argument);
            return wait->stream->reached(wait->position);
        },
        &wait, limit);
}

CUresult Stream::synchronize(WaitLimit* limit) {
    return wait_for(pushed(), limit) ? context_.status() : CUDA_ERROR_NOT_READY;
}

void Stream::demand_runner() const {
    if (!claimed()) Scheduler::get().demand_worker();
}

CUresult Stream::query() {
    if (Scheduler::get().workers() == 0) run_ready_operations(*this, pushed());
    if (context_.status() != CUDA_SUCCESS) return context_.status();
    const std::uint64_t all = pushed();
    if (!reached(all)) {
        demand_runner();
        return CUDA_ERROR_NOT_READY;
    }
    if (settings.any()) note_host_waited(*this, all);
    return CUDA_SUCCESS;
}

CUresult find_stream(CUstream handle, Stream** out) {
    if (reinterpret_cast<std::uintptr_t>(handle) <= reinterpret_cast<std::uintptr_t>(CU_STREAM_PER_THREAD)) {
        Context* context = nullptr;
        if (CUresult error = current_context(&context); error != CUDA_SUCCESS) return error;
        const bool own = handle == CU_STREAM_PER_THREAD || (handle == nullptr && thread_state.stream_zero_is_own);
        *out = own ? &context->per_thread_stream() : &context->legacy_stream();
        return CUDA_SUCCESS;
    }
    auto* stream = cast<Stream>(handle);
    if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    *out = stream;
    if (stream->green() != nullptr) TRY(stream->green()->status());
    return stream->context().status();
}

}  // namespace cgh
