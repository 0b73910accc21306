// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Primary contexts and contexts that programs create. A primary context lives as long as the process; retaining and
// releasing it makes it active and inactive.
#include "hostdriver/objects/devices/context.hpp"

#include <algorithm>
#include <new>

#include "hostdriver/entry.hpp"
#include "hostdriver/execution/thread_state.hpp"
#include "hostdriver/execution/thread_store.hpp"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/devices/green_context.hpp"
#include "hostdriver/objects/streams/event.hpp"
#include "hostdriver/objects/streams/intake.hpp"
#include "hostdriver/objects/streams/stream.hpp"
#include "hostdriver/sanitizer/accesses.hpp"

namespace cgh {
namespace {
std::atomic<std::uint64_t> last_context_id{0};

struct AllContexts {
    std::mutex mutex;  // guards `list`
    std::vector<Context*> list;
};
// Never destroyed, because work may run until the process ends.
AllContexts& all_contexts() {
    static auto* const all = new AllContexts;
    return *all;
}

Stream* create_stream(Context& context, Stream::Kind kind, unsigned flags) {
    Stream* stream = arena<Stream>.create(context, kind, flags, 0);
    if (stream == nullptr) throw std::bad_alloc();
    return stream;
}
// The initial limits of a context, in bytes or launches.
const std::map<CUlimit, std::size_t> kLimits = {
    {CU_LIMIT_STACK_SIZE, 1024},
    {CU_LIMIT_PRINTF_FIFO_SIZE, 7 << 20},
    {CU_LIMIT_MALLOC_HEAP_SIZE, 8 << 20},
    {CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 2048},
    {CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 64},
    {CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0},
};
}  // namespace

Context::Context(CUdevice device)
    : device_(device),
      id_(last_context_id.fetch_add(1, std::memory_order_relaxed) + 1),
      legacy_stream_(nullptr),
      heap_(device) {
    legacy_stream_ = create_stream(*this, Stream::Kind::kLegacy, CU_STREAM_DEFAULT);
    const std::lock_guard<std::mutex> lock(all_contexts().mutex);
    all_contexts().list.push_back(this);
}

std::vector<Context*> Context::all() {
    const std::lock_guard<std::mutex> lock(all_contexts().mutex);
    return all_contexts().list;
}

Stream& Context::per_thread_stream() {
    auto& streams = thread_store().streams;
    for (auto& [context, stream] : streams)
        if (context == this) return *stream;
    streams.emplace_back(this, Ref<Stream>::adopt(create_stream(*this, Stream::Kind::kPerThread, CU_STREAM_DEFAULT)));
    return *streams.back().second;
}

void Context::fail(CUresult error) {
    CUresult none = CUDA_SUCCESS;
    status_.compare_exchange_strong(none, error, std::memory_order_acq_rel);
}

void Context::invalidate() {
    status_.store(CUDA_ERROR_INVALID_CONTEXT, std::memory_order_release);
}

void Context::make_own(unsigned flags) {
    own_ = true;
    set_flags(flags);
}

void Context::destroy() {
    status_.store(CUDA_ERROR_CONTEXT_IS_DESTROYED, std::memory_order_release);
}

CUresult Context::limit(CUlimit which, std::size_t* out) {
    if (which >= CU_LIMIT_MAX) return CUDA_ERROR_INVALID_VALUE;
    const auto known = kLimits.find(which);
    if (known == kLimits.end()) return CUDA_ERROR_UNSUPPORTED_LIMIT;
    std::lock_guard<std::mutex> lock(mutex_);
    const auto set = limits_.find(which);
    *out = set != limits_.end() ? set->second : known->second;
    return CUDA_SUCCESS;
}

CUresult Context::set_limit(CUlimit which, std::size_t value) {
    if (which >= CU_LIMIT_MAX) return CUDA_ERROR_INVALID_VALUE;
    if (kLimits.count(which) == 0 || (which == CU_LIMIT_PERSISTING_L2_CACHE_SIZE && value != 0))
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    // cuda.h: setting it "must be performed before launching any kernel that uses the malloc() or free() device system
    // calls, otherwise CUDA_ERROR_INVALID_VALUE will be returned".
    if (which == CU_LIMIT_MALLOC_HEAP_SIZE && heap_.is_in_use()) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard<std::mutex> lock(mutex_);
    limits_[which] = value;
    return CUDA_SUCCESS;
}

void* Context::allocate_in_kernel(std::size_t bytes) {
    std::size_t most = 0;
    limit(CU_LIMIT_MALLOC_HEAP_SIZE, &most);
    return heap_.allocate(bytes, most);
}

CUresult Context::enable_peer(Context& peer) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (std::find(peers_.begin(), peers_.end(), &peer) != peers_.end()) return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    peers_.push_back(&peer);
    return CUDA_SUCCESS;
}

CUresult Context::disable_peer(Context& peer) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = std::find(peers_.begin(), peers_.end(), &peer);
    if (found == peers_.end()) return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    peers_.erase(found);
    return CUDA_SUCCESS;
}

void Context::add_stream(Stream* stream) {
    std::lock_guard<std::mutex> lock(mutex_);
    streams_.push_back(stream);
    if (stream->is_blocking()) blocking_streams_.fetch_add(1, std::memory_order_relaxed);
}

void Context::remove_stream(Stream* stream) {
    std::lock_guard<std::mutex> lock(mutex_);
    streams_.erase(std::find(streams_.begin(), streams_.end(), stream));
    if (stream->is_blocking()) blocking_streams_.fetch_sub(1, std::memory_order_relaxed);
}

std::vector<Ref<Stream>> Context::busy_streams(bool blocking_only, bool idle_too) {
    std::vector<Ref<Stream>> busy;
    std::lock_guard<std::mutex> lock(mutex_);
    for (Stream* stream : streams_) {
        if ((blocking_only && !stream->is_blocking()) || (!idle_too && stream->idle())) continue;
        if (stream->try_retain()) busy.push_back(Ref<Stream>::adopt(stream));
    }
    return busy;
}

void Context::begin_blocking_capture() {
    if (blocking_captures_++ == 0) legacy_stream_->set_intake(rejecting_intake());
}

void Context::end_blocking_capture() {
    if (--blocking_captures_ == 0) legacy_stream_->set_intake(run_intake());
}

CUresult Context::synchronize(const GreenContext* green, WaitLimit* limit) {
    for (const Ref<Stream>& stream : busy_streams(/*blocking_only=*/false))
        if ((green == nullptr || stream->green() == green) && !stream->wait_for(stream->pushed(), limit))
            return CUDA_ERROR_NOT_READY;
    if (settings.any() && green == nullptr) note_host_waited_for_all(*this);
    return status();
}

Context& Context::root() {
    return green_ != nullptr ? green_->primary() : *this;
}

Stream& Context::gathering_stream(const GreenContext* green) {
    std::call_once(gathering_once_, [this] {
        gathering_stream_ = create_stream(*this, Stream::Kind::kCreated, CU_STREAM_NON_BLOCKING);
        arena<Stream>.hide(gathering_stream_);  // programs have no handle of it
    });
    for (const Ref<Stream>& stream : busy_streams(/*blocking_only=*/false, settings.race))
        if (stream.get() != gathering_stream_ && (green == nullptr || stream->green() == green))
            gathering_stream_->wait_behind(*stream);
    return *gathering_stream_;
}

void Context::await(const Ref<Milestone>& milestone, const GreenContext* green) {
    if (milestone->done() && !settings.race) return;
    if (settings.race)  // the race check records this order now, because the milestone may soon be done
        for (const Ref<Stream>& stream : busy_streams(/*blocking_only=*/false, /*idle_too=*/true))
            if (green == nullptr || stream->green() == green) Event::wait_for(milestone, *stream);
    std::lock_guard<std::mutex> lock(mutex_);
    awaited_.push_back({milestone, green});
    awaited_count_.store(awaited_.size(), std::memory_order_release);
}

void Context::push_awaited(Stream& stream) {
    std::vector<AwaitedEvent> awaited;
    {
        std::lock_guard<std::mutex> lock(mutex_);
        const auto done = [](const AwaitedEvent& one) { return one.milestone->done(); };
        awaited_.erase(std::remove_if(awaited_.begin(), awaited_.end(), done), awaited_.end());
        awaited_count_.store(awaited_.size(), std::memory_order_release);
        awaited = awaited_;
    }
    for (const AwaitedEvent& one : awaited)
        if (one.green == nullptr || stream.green() == one.green) Event::wait_for(one.milestone, stream);
}

CUresult any_current_context(Context** out) {
    *out = thread_state.current;
    return *out != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult current_context(Context** out) {
    TRY(any_current_context(out));
    TRY((*out)->status());
    *out = &(*out)->root();
    return (*out)->status();
}

GreenContext* current_green() {
    return thread_state.current != nullptr ? thread_state.current->green() : nullptr;
}

}  // namespace cgh
